// SPDX-License-Identifier: Apache-2.0
//! What a reader must know of the agents that put a load on.

use super::{list, percent};
use crate::load::agents::{AgentResult, AgentTrouble, MissingLoad, agents, missing};
use crate::results::{Warning, WarningKind};
use lab_model::{Agent, Plan, Run, grouped};

/// All warnings about agents, the gravest first.
pub fn of_agents(run: &Run, plan: &Plan) -> Vec<Warning> {
    let results = agents(run, plan.measure.alpha);
    let texts = [
        lost(run, plan, &results),
        left_out(run),
        unfit(run.machines_elsewhere().into_iter()),
        disturbed_agents(run, &results),
    ];
    let texts = texts.into_iter().flatten();
    texts
        .map(|text| Warning::new(WarningKind::Agents, text))
        .collect()
}

/// Only requests of an open loop are due.
fn lost(run: &Run, plan: &Plan, results: &[AgentResult]) -> Option<String> {
    let lost = results
        .iter()
        .filter(|r| r.marks.contains(&AgentTrouble::Lost));
    let each = lost.map(|r| {
        let agent = &run.agents[r.agent];
        let reason = agent.lost.as_deref().unwrap_or_default();
        let not_sent = match r.not_sent {
            0 => String::new(),
            n => format!(
                "; {} requests that were due were not sent, or sent in its last slice, of which nothing is known",
                grouped(n)
            ),
        };
        format!("{} ({reason}{not_sent})", run.agent_name(r.agent))
    });
    let each: Vec<String> = each.collect();
    if let Some(MissingLoad { blocks, due }) = missing(run, plan) {
        let due = match due {
            0 => String::new(),
            n => format!(
                " {} requests that were due after that were not sent.",
                grouped(n)
            ),
        };
        let (complete, planned) = blocks;
        return Some(format!(
            "All agents were lost: {}. The load ended there, after {complete} of {planned} blocks.{due}",
            list(each)
        ));
    }
    (!each.is_empty()).then(|| {
        format!(
            "Agents were lost: {}. From then on the load was smaller than what was asked for; percentiles are those of \
             what was sent.",
            list(each)
        )
    })
}

fn left_out(run: &Run) -> Option<String> {
    let names = run.left_out();
    let (are, them) = match names.len() {
        0 => return None,
        1 => ("is", "it"),
        _ => ("are", "them"),
    };
    let names = list(names.into_iter().map(String::from));
    Some(format!(
        "By the reader's wish {names} {are} in no figure of the load; the server served {them} all the same."
    ))
}

/// Machines that are not fit to measure, each by its agent; in `of_agents` those elsewhere.
pub(super) fn unfit<'a>(agents: impl Iterator<Item = &'a Agent>) -> Option<String> {
    let each = agents.filter_map(|agent| {
        let unfit = agent.host.findings.iter().filter(|finding| finding.unfit);
        let unfit: Vec<&str> = unfit.map(|finding| finding.what.as_str()).collect();
        (!unfit.is_empty()).then(|| format!("{} ({})", agent.name, unfit.join("; ")))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Hosts are not fit to measure: {}.", list(each)))
}

fn disturbed_agents(run: &Run, results: &[AgentResult]) -> Option<String> {
    let describe = |r: &AgentResult, mark: &AgentTrouble| match mark {
        AgentTrouble::Lost => None,
        AgentTrouble::BeganLate => Some(format!("began {:.0} ms late", r.late_ns as f64 / 1e6)),
        AgentTrouble::Behind => Some("looked late at what was due".to_string()),
        AgentTrouble::Limit => Some(format!(
            "was the limit (its busiest thread had a core {} of the time)",
            percent(r.busy)
        )),
        AgentTrouble::Path => r.path.as_ref().map(|path| {
            format!(
                "waited longer for answers, {:.2} times as long as the others ({:.2} to {:.2})",
                path.estimate, path.low, path.high
            )
        }),
        AgentTrouble::Errors => Some(format!(
            "failed in {} of its requests, and the others in {}",
            percent(r.fail()),
            percent(r.others_fail)
        )),
    };
    let each = results.iter().filter_map(|r| {
        let texts: Vec<String> = r
            .marks
            .iter()
            .filter_map(|mark| describe(r, mark))
            .collect();
        let name = run.agent_name(r.agent);
        (!texts.is_empty()).then(|| format!("{name} {}", list(texts)))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Agents were unlike the others: {}. `benchlab report --without NAME` leaves one out.",
            list(each)
        )
    })
}
