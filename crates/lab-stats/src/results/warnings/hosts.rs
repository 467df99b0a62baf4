// SPDX-License-Identifier: Apache-2.0
//! What a reader must know of the hosts that measured blocks.

use super::{label, list};
use crate::hosts::{HostEffect, effects, hosts};
use crate::results::{Warning, WarningKind};
use lab_model::{Plan, Run};

/// Ratios of hosts that differ, in one sentence, at most.
const SHOWN: usize = 3;

/// All warnings about hosts, the gravest first.
pub fn of_hosts(run: &Run, plan: &Plan) -> Vec<Warning> {
    let texts = [lost(run), left_out(run), unfit(run), differ(run, plan)];
    let texts = texts.into_iter().flatten();
    texts
        .map(|text| Warning::new(WarningKind::Agents, text))
        .collect()
}

fn lost(run: &Run) -> Option<String> {
    let hosts = hosts(run);
    let each = hosts.iter().filter_map(|host| {
        let why = host.agent.lost.as_ref()?;
        let name = &host.agent.name;
        let redone = host.lost.iter().map(|number| (number + 1).to_string());
        let redone: Vec<String> = redone.collect();
        Some(match redone.len() {
            0 => format!("{name} ({why})"),
            1 => format!(
                "{name} ({why}; its block {} was measured elsewhere)",
                list(redone)
            ),
            _ => format!(
                "{name} ({why}; its blocks {} were measured elsewhere)",
                list(redone)
            ),
        })
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Hosts were lost: {}.", list(each)))
}

fn left_out(run: &Run) -> Option<String> {
    let names = run.agents.iter().filter(|agent| agent.is_left_out);
    let names: Vec<String> = names.map(|agent| agent.name.clone()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "By the reader's wish blocks that {} measured are in no figure.",
            list(names)
        )
    })
}

fn unfit(run: &Run) -> Option<String> {
    let hosts = hosts(run);
    let each = hosts.iter().filter_map(|host| {
        let findings = host.agent.host.findings.iter();
        let unfit: Vec<&str> = findings
            .filter(|finding| finding.unfit)
            .map(|finding| finding.what.as_str())
            .collect();
        (!unfit.is_empty()).then(|| format!("{} ({})", host.agent.name, unfit.join("; ")))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Hosts are not fit to measure: {}.", list(each)))
}

fn differ(run: &Run, plan: &Plan) -> Option<String> {
    let effects = effects(run);
    let mut differ: Vec<&HostEffect> = effects.iter().filter(|effect| effect.differ).collect();
    differ.sort_by(|a, b| a.between.p.total_cmp(&b.between.p));
    let hosts = hosts(run);
    let said = |effect: &&HostEffect| {
        let ratios = effect.ratios.iter().zip(&hosts);
        let ratios = ratios.filter_map(|(ratio, host)| Some((ratio.as_ref()?.estimate, host)));
        let least = ratios.clone().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = ratios.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let at = effect
            .point
            .map_or(String::new(), |p| format!(" at {}", label(plan, p)));
        Some(format!(
            "{}'s ratio{at} is {:.2} on {} and {:.2} on {}",
            plan.subject_label(effect.subject),
            least.0,
            least.1.agent.name,
            most.0,
            most.1.agent.name
        ))
    };
    let shown: Vec<String> = differ.iter().take(SHOWN).filter_map(said).collect();
    (!shown.is_empty()).then(|| {
        let more = match differ.len().saturating_sub(shown.len()) {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        format!(
            "Hosts differ by more than chance: {}{more}. Intervals are for these hosts; others may differ as much.",
            shown.join("; ")
        )
    })
}
