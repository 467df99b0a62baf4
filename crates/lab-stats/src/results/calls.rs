// SPDX-License-Identifier: Apache-2.0
//! Results of calls that may fail.
//!
//! The results are totals over all blocks, because a median over blocks would hide errors that
//! occur in only a few blocks.

use super::judge::Basis;
use super::levels::{BlockSummary, Blocks, Levels, key};
use super::observed::{Observation, Observed, readings};
use super::{Cell, Value};
use crate::binomial;
use crate::latencies::{self, Histograms};
use lab_model::{Case, Check, Metric, Plan, PointId, Run, SubjectId};

/// The number of metrics in [`Metric::EFFECTS`].
const KINDS: usize = 5;

/// The reported differences between a subject's percentiles and the baseline's, with the number of
/// calls in 10,000 that do not exceed the percentile.
const ADDED: [(Metric, u32); 3] = [
    (Metric::ADDED_P50, 5000),
    (Metric::ADDED_P99, 9900),
    (Metric::ADDED_P999, 9990),
];

/// Returns true if a metric counts calls.
pub(crate) fn is_total(metric: &Metric) -> bool {
    Metric::EFFECTS.contains(metric)
}

/// Returns the latency metrics in which a case is compared. Calls are compared by time and latency.
/// Operations at a fixed rate are compared only by latency.
pub(crate) fn judged(case: &Case) -> &'static [Metric] {
    static OF_CALLS: [Metric; 1] = [Metric::P99];
    if case.check == Check::Effects || case.rate.is_some() {
        &OF_CALLS
    } else {
        &[]
    }
}

/// Returns the values that were read in a run's turns, and the latencies that are compared.
pub(crate) fn observed(run: &Run) -> Observed {
    let observations = readings(run).into_iter().chain(p99s(run));
    let observations = observations.map(|o| (o.key, o.block, o.value));
    Observed::new(run.complete_blocks().count(), observations)
}

/// Returns the 99th percentile of the latency of calls or operations in each block.
fn p99s(run: &Run) -> Vec<Observation> {
    let (plan, mut found) = (run.plan(), Vec::new());
    for (block, data) in run.complete_blocks().enumerate() {
        for ((subject, point), counted) in latencies::histograms(data) {
            let case = plan.and_then(|plan| plan.cases.get(plan.points.get(point)?.case));
            let is_judged = case.is_some_and(|case| !judged(case).is_empty());
            let p99 = counted.quantile(9900).filter(|_| is_judged);
            found.extend(p99.map(|value| Observation {
                key: key(subject, Some(point), &Metric::P99),
                block,
                value,
            }));
        }
    }
    found
}

/// Returns the method by which the values of a metric are summarized over blocks.
pub(crate) fn summary(metric: &Metric) -> BlockSummary {
    if is_total(metric) {
        BlockSummary::Sum
    } else {
        BlockSummary::Median
    }
}

/// Adds the differences between the latencies of a subject's calls and of the baseline's calls, if
/// the subject is compared with the baseline.
pub(crate) fn add_latencies(
    basis: &Basis,
    blocks: &[Histograms],
    (subject, point): (SubjectId, PointId),
    levels: &mut Levels,
) {
    let is_asked = basis.plan.case(point).check == Check::Effects;
    let is_compared = basis.candidates().any(|s| s == subject);
    if !is_asked || !is_compared || !basis.compares(subject, Some(point)) {
        return;
    }
    for (metric, per_10_000) in ADDED {
        let added = |block: &Histograms| {
            let quantile = |s| block.get(&(s, point))?.quantile(per_10_000);
            Some(quantile(subject)? - quantile(basis.plan.baseline)?)
        };
        let differences: Blocks = blocks.iter().map(added).collect();
        levels.add(
            key(subject, Some(point), &metric),
            BlockSummary::Center,
            &differences,
        );
    }
}

/// Adds the totals of a subject over all points, and the fraction of wrong calls, both in total and
/// at each point.
pub(crate) fn add(subject: SubjectId, plan: &Plan, levels: &mut Levels) {
    let level = 1.0 - plan.measure.alpha;
    let (mut total, mut total_level) = ([0.0; KINDS], Some(level));
    let mut blocks = 0;
    for point in plan.points.ids() {
        let Some(counts) = counts(&levels.cells, subject, point) else {
            continue;
        };
        for (total, cell) in total.iter_mut().zip(counts) {
            *total += cell.1;
            blocks = blocks.max(cell.0);
        }
        // An outage, a lock or a cut connection may hit multiple calls at once, so that the number of wrong calls is
        // not binomial.
        let level = Some(level).filter(|_| plan.has_independent_faults(point));
        total_level = total_level.and(level);
        let counts = counts.map(|c| c.1);
        add_wrong(subject, Some(point), (blocks, &counts), level, levels);
    }
    if total[0] == 0.0 {
        return;
    }
    for (metric, total) in Metric::EFFECTS.iter().zip(total) {
        levels.push(key(subject, None, metric), blocks, Value::Reading(total));
    }
    add_wrong(subject, None, (blocks, &total), total_level, levels);
}

/// Adds the fraction of wrong calls. `level` is the confidence level of its interval if calls fail
/// independently of each other. Otherwise, `level` is `None`, and there is no interval.
fn add_wrong(
    subject: SubjectId,
    point: Option<PointId>,
    (blocks, counts): (u32, &[f64; KINDS]),
    level: Option<f64>,
    levels: &mut Levels,
) {
    let [calls, lost, doubled, unreported, _] = counts;
    let wrong = lost + doubled + unreported;
    let wrong = match level {
        // A call may be wrong in two ways, so there may be more errors than calls.
        Some(level) if wrong <= *calls => {
            Value::Estimate(binomial::interval(wrong as u64, *calls as u64, level))
        }
        _ => Value::Reading(wrong / calls),
    };
    let of = key(subject, point, &Metric::WRONG_CALLS);
    levels.push(of, blocks, wrong);
}

/// Returns the number of blocks and the count of each metric in [`Metric::EFFECTS`], or `None` if
/// there were no calls.
fn counts(cells: &[Cell], subject: SubjectId, point: PointId) -> Option<[(u32, f64); KINDS]> {
    let mut counts = [(0, 0.0); KINDS];
    for (slot, metric) in counts.iter_mut().zip(&Metric::EFFECTS) {
        let key = key(subject, point, metric);
        let cell = cells.iter().find(|cell| cell.key == key)?;
        if let Value::Reading(count) = cell.value {
            *slot = (cell.blocks, count);
        }
    }
    (counts[0].1 > 0.0).then_some(counts)
}
