// SPDX-License-Identifier: Apache-2.0
//! Judges the gates of `--fail-if`, `--warn-if` and `diff --fail-if`, and writes the status line
//! for Nagios.

use crate::analysis::between::{SlowerPages, slower_pages};
use crate::analysis::gate::{Gate as LogGate, GateResult};
use crate::wording;
use lab_document::{Gate, Quantity, clean};
use lab_model::{
    Comparison, ConditionError, ConditionProblem, Decision, Dimension, Interval, LogAnalysis,
    Relation, Unit,
};
use std::str::FromStr;

/// A condition on the change from one log to another: `mean>+5%` for any page, or
/// `mean(/search)>+5%` for one page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageChange {
    text: String,
    page: Option<String>,
    /// The maximum increase, as a fraction of the duration in the first log.
    change: f64,
}

impl FromStr for PageChange {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<PageChange, ConditionError> {
        Comparison::resolve(text, |condition| {
            if condition.name != "mean" {
                return Err(condition.unknown_name("mean"));
            }
            if condition.relation != Relation::Above {
                return Err(ConditionProblem::Form);
            }
            Ok(PageChange {
                text: text.trim().into(),
                page: condition.argument.map(str::to_owned),
                change: Dimension::Change.parse(condition.bound)?,
            })
        })
    }
}

/// The status of a Nagios check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NagiosStatus {
    /// The line for standard output, including its line feed.
    pub line: String,
    /// The exit code: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    pub code: u8,
}

/// Judges gates.
///
/// `unread` contains the logs that could not be read to their end, with the reasons. Their missing
/// entries could fail a gate, so a gate that would otherwise pass is inconclusive.
pub fn judge(gates: &[LogGate], analysis: &LogAnalysis, unread: &[String]) -> Vec<Gate> {
    let judged = judge_all(gates, analysis);
    let gate = |result: &GateResult| {
        let (decision, statement) = match (&result.value, unread) {
            (Err(problem), _) => {
                let problem = wording::gate_problem(result.metric, problem);
                (
                    Decision::Inconclusive,
                    format!("{}: {problem}", result.name),
                )
            }
            (Ok(_), [reason, ..]) if !result.is_crossed => {
                let reason = unread_reason(reason);
                (Decision::Inconclusive, format!("{}: {reason}", result.name))
            }
            (Ok(value), _) => {
                let decision = match result.is_crossed {
                    true => Decision::Failed,
                    false => Decision::Passed,
                };
                let value = wording::gate_value(result.metric, *value);
                (decision, format!("{} is {value}", result.name))
            }
        };
        let gate = Gate::new(&result.gate, &result.page, decision, &statement);
        let unit = result.metric.unit();
        match &result.value {
            Ok(value) => gate
                .with_value(Quantity::exact(*value, unit.clone()))
                .with_limit(result.bound, unit),
            Err(_) => gate,
        }
    };
    judged.iter().map(gate).collect()
}

/// Judges the conditions of `diff` on two logs.
pub fn judge_changes(
    conditions: &[PageChange],
    before: &LogAnalysis,
    after: &LogAnalysis,
) -> Vec<Gate> {
    let judged = conditions.iter().flat_map(|condition| {
        let limit = 1.0 + condition.change;
        let only = condition.page.as_deref();
        let name = only.unwrap_or("");
        match slower_pages(before, after, only, condition.change) {
            SlowerPages::Known(slower) if slower.is_empty() => {
                let statement = wording::no_page_slower(only);
                let gate = Gate::new(&condition.text, name, Decision::Passed, &statement);
                vec![gate.with_limit(limit, Unit::Ratio)]
            }
            SlowerPages::Known(slower) => {
                let gate = |(page, ratio): &(String, Interval)| {
                    let statement = wording::slower_page(page, ratio);
                    Gate::new(&condition.text, page, Decision::Failed, &statement)
                        .with_value(Quantity::ratio(ratio))
                        .with_limit(limit, Unit::Ratio)
                };
                slower.iter().map(gate).collect()
            }
            SlowerPages::Unknown(reasons) => {
                let statement = wording::unknown_changes(&reasons);
                vec![Gate::new(
                    &condition.text,
                    name,
                    Decision::Inconclusive,
                    &statement,
                )]
            }
        }
    });
    judged.collect()
}

/// Judges the gates of `--fail-if` and `--warn-if` for Nagios. `unread` has the same meaning as in
/// [`judge`].
///
/// Source: Monitoring Plugins Development Guidelines, *plugin output*, *return codes*.
pub fn nagios(
    fail: &[LogGate],
    warn: &[LogGate],
    analysis: &LogAnalysis,
    unread: &[String],
) -> NagiosStatus {
    let (fail, warn) = (judge_all(fail, analysis), judge_all(warn, analysis));
    let is_crossed = |all: &[GateResult]| all.iter().any(|j| j.is_crossed);
    let has_none = analysis.lines.entries == 0;
    let is_unknown =
        has_none || !unread.is_empty() || fail.iter().chain(&warn).any(|j| j.value.is_err());
    let (word, code) = if is_crossed(&fail) {
        ("CRITICAL", 2)
    } else if is_crossed(&warn) {
        ("WARNING", 1)
    } else if is_unknown {
        ("UNKNOWN", 3)
    } else {
        ("OK", 0)
    };
    let listed: Vec<&GateResult> = match code {
        2 => fail.iter().filter(|j| j.is_crossed).collect(),
        1 => warn.iter().filter(|j| j.is_crossed).collect(),
        _ => fail.iter().chain(&warn).collect(),
    };
    let mut text = format!("LOGS {word} - {} requests", analysis.lines.entries);
    for gate in listed {
        text += &format!("; {}: {}", gate.gate, words(gate));
    }
    for reason in unread {
        text += &format!("; {}", unread_reason(reason));
    }
    let line = format!(
        "{} | requests={} {}\n",
        nagios_text(&text),
        analysis.lines.entries,
        figures(&fail, &warn).join(" ")
    );
    NagiosStatus { line, code }
}

/// Returns the status of a check that could not run.
pub fn nagios_unknown(reason: &str) -> NagiosStatus {
    NagiosStatus {
        line: format!("LOGS UNKNOWN - {}\n", nagios_text(reason)),
        code: 3,
    }
}

/// Replaces characters that end the text of a status line. For example, `|` begins the performance
/// data.
fn nagios_text(text: &str) -> String {
    clean(text.trim_end()).replace(['|', '\n'], "/")
}

fn judge_all(gates: &[LogGate], analysis: &LogAnalysis) -> Vec<GateResult> {
    gates.iter().map(|gate| gate.judge(analysis)).collect()
}

/// Formats the value that a gate judged, or explains why no value was judged.
fn words(result: &GateResult) -> String {
    match &result.value {
        Ok(value) => wording::gate_value(result.metric, *value),
        Err(problem) => wording::gate_problem(result.metric, problem),
    }
}

/// Explains why a log that could not be read to its end makes gates inconclusive.
fn unread_reason(reason: &str) -> String {
    wording::unread_log(&clean(reason))
}

/// Formats each metric once as Nagios performance data: `'label'=value;warning;critical`.
fn figures(fail: &[GateResult], warn: &[GateResult]) -> Vec<String> {
    let mut figures: Vec<(String, f64, [String; 2])> = Vec::new();
    for (column, gates) in [warn, fail].into_iter().enumerate() {
        for (gate, value) in gates
            .iter()
            .filter_map(|j| Some((j, *j.value.as_ref().ok()?)))
        {
            let label = label(gate);
            let existing = figures.iter().position(|(other, ..)| *other == label);
            let row = existing.unwrap_or(figures.len());
            if existing.is_none() {
                figures.push((label, value, Default::default()));
            }
            figures[row].2[column] = range(gate);
        }
    }
    let figures = figures.into_iter();
    figures
        .map(|(label, value, [warn, fail])| format!("'{label}'={value};{warn};{fail}"))
        .collect()
}

/// Returns the name of a gate's metric, without the characters that would end a label.
fn label(gate: &GateResult) -> String {
    let label = clean(&gate.name).replace(['\'', '=', '|'], "");
    label.trim().to_string()
}

/// Returns the range of values without an alert: up to a bound (`10`), or at least a bound (`10:`).
fn range(gate: &GateResult) -> String {
    let from = if gate.relation.is_upward() { "" } else { ":" };
    format!("{}{from}", gate.bound)
}
