// SPDX-License-Identifier: Apache-2.0
//! What a reader must know of the hosts that measured blocks.

use super::agents::unfit;
use super::{label, list};
use crate::hosts::{HostEffect, effects, hosts, kinds};
use crate::results::{Warning, WarningKind};
use lab_model::{Interval, Plan, Run};

/// Ratios of hosts that differ, in one sentence, at most.
const MAX_SHOWN: usize = 3;

/// All warnings about hosts, the gravest first.
pub fn of_hosts(run: &Run, plan: &Plan) -> Vec<Warning> {
    let effects = effects(run);
    let texts = [
        lost(run),
        left_out(run),
        unfit(hosts(run).iter().map(|host| host.agent)),
        differ(run, plan, &effects),
        kinds_differ(run, plan, &effects),
    ];
    let texts = texts.into_iter().flatten();
    texts
        .map(|text| Warning::new(WarningKind::Agents, text))
        .collect()
}

fn lost(run: &Run) -> Option<String> {
    let hosts = hosts(run);
    let each = hosts.iter().filter_map(|host| {
        let reason = host.agent.lost.as_ref()?;
        let name = &host.agent.name;
        let redone = host.lost.iter().map(|number| (number + 1).to_string());
        let redone: Vec<String> = redone.collect();
        Some(match redone.len() {
            0 => format!("{name} ({reason})"),
            1 => format!(
                "{name} ({reason}; its block {} was measured elsewhere)",
                list(redone)
            ),
            _ => format!(
                "{name} ({reason}; its blocks {} were measured elsewhere)",
                list(redone)
            ),
        })
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Hosts were lost: {}.", list(each)))
}

fn left_out(run: &Run) -> Option<String> {
    let names = run.left_out().into_iter().map(String::from);
    let names = list(names);
    (!names.is_empty())
        .then(|| format!("By the reader's wish blocks that {names} measured are in no figure."))
}

fn differ(run: &Run, plan: &Plan, effects: &[HostEffect]) -> Option<String> {
    let mut differ: Vec<&HostEffect> = effects.iter().filter(|effect| effect.differ).collect();
    differ.sort_by(|a, b| a.between.p.total_cmp(&b.between.p));
    let hosts = hosts(run);
    let names: Vec<&str> = hosts.iter().map(|host| host.agent.name.as_str()).collect();
    let text = first_of(&differ, |effect| {
        extremes(plan, effect, &effect.ratios, &names)
    })?;
    Some(format!(
        "Hosts differ by more than chance: {text}. Intervals are for these hosts; others may differ as much."
    ))
}

fn kinds_differ(run: &Run, plan: &Plan, effects: &[HostEffect]) -> Option<String> {
    let mut differ: Vec<&HostEffect> = effects.iter().filter(|e| e.kinds_differ).collect();
    differ.sort_by(|a, b| {
        a.kinds_p
            .unwrap_or(1.0)
            .total_cmp(&b.kinds_p.unwrap_or(1.0))
    });
    let kinds = kinds(&hosts(run));
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let text = first_of(&differ, |effect| {
        extremes(plan, effect, &effect.on_kinds, &names)
    })?;
    Some(format!(
        "Kinds of hosts differ by more than hosts of one kind: {text}."
    ))
}

/// The first effects in words, and how many there are besides.
fn first_of(
    effects: &[&HostEffect],
    describe: impl Fn(&HostEffect) -> Option<String>,
) -> Option<String> {
    let texts: Vec<String> = effects
        .iter()
        .take(MAX_SHOWN)
        .filter_map(|e| describe(e))
        .collect();
    let more = match effects.len().saturating_sub(texts.len()) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    (!texts.is_empty()).then(|| format!("{}{more}", texts.join("; ")))
}

/// Where a subject's ratio is least, and where it is greatest.
fn extremes(
    plan: &Plan,
    effect: &HostEffect,
    ratios: &[Option<Interval>],
    names: &[&str],
) -> Option<String> {
    let ratios = ratios.iter().zip(names);
    let ratios = ratios.filter_map(|(ratio, name)| Some((ratio.as_ref()?.estimate, name)));
    let least = ratios.clone().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = ratios.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let at = effect
        .point
        .map_or(String::new(), |p| format!(" at {}", label(plan, p)));
    Some(format!(
        "{}'s ratio{at} is {:.2} on {} and {:.2} on {}",
        plan.subject_label(effect.subject),
        least.0,
        least.1,
        most.0,
        most.1
    ))
}
