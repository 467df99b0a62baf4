// SPDX-License-Identifier: Apache-2.0
//! What a reader of the figures must know, in sentences.

mod agents;
mod batches;
mod hosts;
mod load;
mod reference;
mod server;
mod servers;

pub(super) use batches::of_batches;
pub(super) use hosts::of_hosts;
pub(super) use load::of_load;

use super::compare::Pair;
use super::judge::Basis;
use super::{Cell, Control, ServerAge, Warning, WarningKind};
use crate::family;
use crate::load::quantiles;
use crate::load::visits::per_10_000;
use crate::ratio::Ratio;
use lab_model::{
    BlockState, ErrorKind, Metric, Plan, PointId, RESPONSE_TIMES, Run, SubjectId, trimmed,
};
use std::collections::BTreeSet;

/// What warnings are found in.
pub(super) struct WarningBasis<'e> {
    pub basis: &'e Basis<'e>,
    /// By point, then subject.
    pub cells: &'e [Cell],
    pub controls: &'e [Control],
    pub pairs: &'e [Pair],
    pub depending: &'e [Depending],
    /// Requests that failed.
    pub errors: &'e [(SubjectId, PointId, ErrorKind, u64)],
    /// How old servers were.
    pub ages: &'e [ServerAge],
}

/// Whether the blocks of a subject's own figures depend on each other.
pub(super) struct Depending {
    pub subject: SubjectId,
    pub point: PointId,
    /// They do, by more than chance explains.
    pub dependent: bool,
    /// They do, and are too few to be merged.
    pub unresolved: bool,
}

/// Of the comparisons with fewer blocks than they need, the one with the fewest.
fn fewest<'p>(pairs: impl IntoIterator<Item = &'p Pair>) -> Option<&'p Pair> {
    let short = pairs.into_iter().filter(|pair| pair.ratio.assumed);
    short.min_by_key(|pair| pair.ratio.values)
}

/// What its few blocks mean for a comparison, without a full stop.
fn shortfall(run: &Run, pair: &Pair) -> String {
    let Ratio { values, needed, .. } = pair.ratio;
    let blocks = if run.replicate_count() < run.complete_blocks().count() {
        "sets of processes"
    } else {
        "blocks"
    };
    match values {
        0 | 1 if run.complete_blocks().count() > 1 => {
            "One set of processes says nothing of how processes differ: no comparison has an interval, and no winner is named"
                .into()
        }
        0 | 1 => "One block says nothing of how blocks scatter: no comparison has an interval, and no winner is named"
            .into(),
        n => format!(
            "There are {n} {blocks}: intervals of comparisons assume that {blocks} scatter normally. From {needed} {blocks} \
             on they do not"
        ),
    }
}

/// The percentiles of which some have no interval, and why.
fn tails(cells: &[Cell]) -> Option<Warning> {
    let without = |metric: &Metric| {
        let of_metric = cells.iter().filter(|c| c.key.metric == *metric);
        let mut intervals = of_metric.filter_map(|c| Some((c.blocks, c.value.interval()?.level)));
        intervals.find(|(blocks, level)| *blocks > 1 && *level == 0.0)
    };
    let found: Vec<(&Metric, u32)> = RESPONSE_TIMES
        .iter()
        .filter_map(|m| Some((m, without(m)?.0)))
        .collect();
    let (_, blocks) = found.first()?;
    let names = list(found.iter().map(|(metric, _)| metric.title.to_string()));
    let needed = found.iter().map(|(metric, _)| match **metric {
        ref metric if *metric == Metric::P99 => ("p99 and beyond".to_string(), 9900),
        ref metric => (metric.title.to_string(), per_10_000(metric).unwrap_or(9999)),
    });
    let needed = needed.filter(|(_, part)| *part <= 9900);
    let needed =
        list(needed.map(|(name, part)| format!("{} for {name}", quantiles::blocks_needed(part))));
    let text = format!(
        "There is no interval for {names}. The run has {blocks} blocks. An interval takes {needed}, and requests \
         that slow in 6 of them. Give the run more time (--for)."
    );
    Some(Warning::new(WarningKind::Tails, text))
}

/// The blocks that single figures would need where nothing is compared, without a full stop.
fn alone(run: &Run, plan: &Plan, nothing_compared: bool) -> Option<String> {
    let needed = family::blocks_needed(plan.measure.alpha, 1)?;
    let blocks = run.complete_blocks().count();
    let few = nothing_compared && blocks > 0 && blocks < needed as usize;
    few.then(|| {
        format!(
            "Intervals at {} need {needed} blocks, and there are {blocks}: each says what level it has",
            percent(1.0 - plan.measure.alpha)
        )
    })
}

pub(super) fn failed(run: &Run, plan: &Plan) -> Vec<Warning> {
    let failing: BTreeSet<SubjectId> = run.failures.iter().map(|f| f.subject).collect();
    let planned = failing
        .into_iter()
        .filter_map(|subject| Some((subject, plan.subjects.get(subject)?)));
    planned
        .map(|(subject, planned_subject)| {
            let failures = || run.failures.iter().filter(|f| f.subject == subject);
            let first = failures()
                .next()
                .map_or(String::new(), |f| f.message.clone());
            let everywhere = failures().any(|f| f.point.is_none());
            let points: BTreeSet<PointId> = failures().filter_map(|f| f.point).collect();
            let name = &planned_subject.name;
            let places: Vec<_> = failures().map(|f| (subject, f.point)).collect();
            let warning = |text| Warning::about(WarningKind::Failed, text, places);
            if one_place(plan) {
                return warning(format!("{name} failed and is not compared: {first}"));
            }
            let at = match points.len() {
                _ if everywhere => "everywhere".to_string(),
                1 => format!("at {}", list(points.into_iter().map(|p| label(plan, p)))),
                n => format!("at {n} points"),
            };
            warning(format!(
                "{name} failed {at} and is not compared there: {first}"
            ))
        })
        .collect()
}

pub(super) fn unfit(run: &Run) -> Vec<Warning> {
    let findings = run.host.findings.iter().filter(|finding| finding.unfit);
    findings
        .map(|f| format!("{}: {}.", f.what, f.advice))
        .map(|text| Warning::new(WarningKind::Host, text))
        .collect()
}

pub(super) fn disturbances(run: &Run) -> Option<Warning> {
    let most = |part: fn(&lab_model::Disturbance) -> f64| {
        let parts = run.blocks.iter().map(|block| part(&block.disturbance));
        percent(parts.fold(0.0, f64::max))
    };
    let disturbed = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Disturbed);
    let text = match disturbed.count() {
        0 => return None,
        n => format!(
            "{n} block{} redone because the host disturbed {}: up to {} of the cores' time was \
             stolen, and {} went to other programs. Let nothing else run meanwhile.",
            if n == 1 { " was" } else { "s were" },
            if n == 1 { "it" } else { "them" },
            most(|d| d.steal),
            most(|d| d.foreign),
        ),
    };
    Some(Warning::new(WarningKind::Disturbed, text))
}

fn places<'p>(
    pairs: impl IntoIterator<Item = &'p Pair>,
) -> impl Iterator<Item = (SubjectId, Option<PointId>)> {
    pairs
        .into_iter()
        .map(|pair| (pair.comparison.key.subject, pair.comparison.key.point))
}

/// Whole commands without parameters: where something is goes without saying.
fn one_place(plan: &Plan) -> bool {
    plan.commands().is_some() && plan.points.len() == 1
}

fn label(plan: &Plan, point: PointId) -> String {
    if point < plan.points.len() {
        plan.label(point)
    } else {
        format!("point {point}")
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    if items.len() > 4 {
        let more = items.len() - 3;
        items.truncate(3);
        items.push(format!("{more} more"));
    }
    match items.pop() {
        Some(last) if !items.is_empty() => format!("{} and {last}", items.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// `95 %`, `99.38 %`.
pub(super) fn percent(part: f64) -> String {
    let text = format!("{:.2}", 100.0 * part);
    format!("{} %", trimmed(&text))
}
