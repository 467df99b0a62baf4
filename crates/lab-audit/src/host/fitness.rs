// SPDX-License-Identifier: Apache-2.0
//! The suitability of a machine for measurements, judged by the rules whose violation affects
//! measurements.

use super::audit::{CLASSES, observe, rules};
use super::machine::AuditedMachine;
use crate::judge::judge;
use crate::rule::{Measuring, Rule};
use lab_model::Host;
use lab_model::audit::{Fix, State};
use lab_model::host::HostFinding;

/// Describes the machine, and the problems that would disturb a measurement on `cores_needed`
/// cores.
///
/// Observes the activity of other programs for 0.3 s.
pub fn inspect(cores_needed: usize) -> Host {
    let machine = AuditedMachine::live();
    let has_cores = machine
        .watched
        .cores
        .is_some_and(|cores| cores >= cores_needed as u64);
    let mut findings = findings(&machine);
    if has_cores {
        findings.retain(|(rule, _)| rule != "cpu-cores");
    }
    Host {
        findings: findings.into_iter().map(|(_, finding)| finding).collect(),
        ..lab_host::describe()
    }
}

/// Returns the findings of the rules that affect measurements, with the rule names.
fn findings(machine: &AuditedMachine) -> Vec<(String, HostFinding)> {
    let mut rules = rules().expect("a test parses all built-in rules");
    rules.retain(|rule| rule.measuring != Measuring::Nothing);
    let judged = judge(&rules, &observe(machine), &CLASSES);
    let objections = judged
        .into_iter()
        .filter(|f| matches!(f.state, State::Bad | State::Advice));
    let unfit = |id: &str| {
        let has_id = |rule: &&Rule| rule.id == id;
        rules.iter().find(has_id).map(|rule| rule.measuring) == Some(Measuring::Unfit)
    };
    objections
        .map(|judgment| {
            let finding = HostFinding {
                unfit: unfit(&judgment.rule),
                what: clause(&judgment.seen),
                advice: advice(&judgment.fixes),
            };
            (judgment.rule, finding)
        })
        .collect()
}

/// Converts a sentence to a clause by removing the capital letter and the period.
fn clause(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Formats fixes as one line.
fn advice(fixes: &[Fix]) -> String {
    let lines = fixes.iter().flat_map(|fix| &fix.lines);
    let lines: Vec<&str> = lines
        .map(|line| line.trim_start_matches("# ").trim_end_matches(':'))
        .collect();
    lines.join("; ")
}
