// SPDX-License-Identifier: Apache-2.0
//! Warnings about the hosts that measured blocks.

use super::agents::unfit;
use super::basis::label;
use crate::hosts::{HostEffect, effects, hosts, kinds};
use crate::results::warning::{CellName, LostHost, RatioOn, RatioSpread};
use crate::results::{Warning, WarningFact};
use lab_model::{Interval, Plan, Run};

/// Returns all warnings about hosts, most serious first.
pub fn of_hosts(run: &Run, plan: &Plan) -> Vec<Warning> {
    let effects = effects(run);
    let facts = [
        lost(run),
        excluded_by_user(run),
        unfit(hosts(run).iter().map(|host| host.agent)),
        differ(run, plan, &effects),
        kinds_differ(run, plan, &effects),
    ];
    facts.into_iter().flatten().map(Warning::new).collect()
}

fn lost(run: &Run) -> Option<WarningFact> {
    let hosts = hosts(run);
    let lost = hosts.iter().filter_map(|host| {
        Some(LostHost {
            name: host.agent.name.clone(),
            reason: host.agent.lost.clone()?,
            moved_blocks: host.lost.iter().map(|number| number + 1).collect(),
        })
    });
    let hosts: Vec<LostHost> = lost.collect();
    (!hosts.is_empty()).then_some(WarningFact::HostsLost { hosts })
}

fn excluded_by_user(run: &Run) -> Option<WarningFact> {
    let hosts: Vec<String> = run
        .excluded_agents()
        .into_iter()
        .map(String::from)
        .collect();
    (!hosts.is_empty()).then_some(WarningFact::HostsLeftOut { hosts })
}

fn differ(run: &Run, plan: &Plan, effects: &[HostEffect]) -> Option<WarningFact> {
    let mut differ: Vec<&HostEffect> = effects.iter().filter(|effect| effect.differ).collect();
    differ.sort_by(|a, b| a.between.p.total_cmp(&b.between.p));
    let hosts = hosts(run);
    let names: Vec<&str> = hosts.iter().map(|host| host.agent.name.as_str()).collect();
    let ratios = differ
        .iter()
        .filter_map(|effect| spread(plan, effect, &effect.ratios, &names));
    let ratios: Vec<RatioSpread> = ratios.collect();
    (!ratios.is_empty()).then_some(WarningFact::HostsDiffer { ratios })
}

fn kinds_differ(run: &Run, plan: &Plan, effects: &[HostEffect]) -> Option<WarningFact> {
    let mut differ: Vec<&HostEffect> = effects.iter().filter(|e| e.kinds_differ).collect();
    differ.sort_by(|a, b| {
        a.kinds_p
            .unwrap_or(1.0)
            .total_cmp(&b.kinds_p.unwrap_or(1.0))
    });
    let kinds = kinds(&hosts(run));
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let ratios = differ
        .iter()
        .filter_map(|effect| spread(plan, effect, &effect.on_kinds, &names));
    let ratios: Vec<RatioSpread> = ratios.collect();
    (!ratios.is_empty()).then_some(WarningFact::HostKindsDiffer { ratios })
}

fn spread(
    plan: &Plan,
    effect: &HostEffect,
    ratios: &[Option<Interval>],
    names: &[&str],
) -> Option<RatioSpread> {
    let ratios = ratios.iter().zip(names);
    let ratios = ratios.filter_map(|(ratio, name)| Some((ratio.as_ref()?.estimate, *name)));
    let on = |(ratio, name): (f64, &str)| RatioOn {
        host: name.into(),
        ratio,
    };
    Some(RatioSpread {
        place: CellName {
            subject: Some(plan.subject_label(effect.subject)),
            point: effect.point.map(|point| label(plan, point)),
        },
        least: on(ratios.clone().min_by(|a, b| a.0.total_cmp(&b.0))?),
        greatest: on(ratios.max_by(|a, b| a.0.total_cmp(&b.0))?),
    })
}
