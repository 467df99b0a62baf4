// SPDX-License-Identifier: Apache-2.0
//! The peak rate of each subject over a sweep, such as a sweep over numbers of connections, and the
//! ranking of these peaks.

use super::compare::ComparisonFamily;
use super::judge::{Basis, noise_floor};
use super::levels::{Blocks, log_ratios};
use super::load_means::by_block;
use super::{Best, Over, Ranking};
use crate::load::visits::Visits;
use crate::order;
use crate::sweeps::{Sweep, sweeps};
use lab_model::{Metric, PointId, SubjectId};
use std::collections::HashSet;

/// Adds the peak of each subject over the points of a sweep, and the ranking of the peaks.
///
/// `metric` is the metric in which the points are compared. `rate` returns the operations per
/// second of a subject at a point, by block.
pub(crate) fn add_bests(
    family: &mut ComparisonFamily,
    (sweep, metric): (&Sweep, &Metric),
    rate: impl Fn(SubjectId, PointId) -> Blocks,
) {
    let basis = family.basis;
    let Some(&(first, _)) = sweep.points.first() else {
        return;
    };
    let peak = |subject| halved_peak(basis, sweep, subject, &rate);
    let control = basis.plan.control().and_then(peak);
    let subjects = basis.plan.compared().filter_map(|s| Some((s, peak(s)?)));
    let subjects: Vec<(SubjectId, HalvedPeak)> = subjects.collect();
    let base = subjects.iter().find(|(s, _)| *s == basis.plan.baseline);
    if let Some((_, base)) = base {
        let floor = control.and_then(|peak| {
            let logs: Vec<f64> = logs(&peak, base).into_iter().flatten().collect();
            noise_floor(&logs, basis.plan)
        });
        let others = subjects.iter().filter(|(s, _)| *s != basis.plan.baseline);
        let others = others.map(|(s, peak)| (*s, logs(peak, base))).collect();
        let margin = basis.margin(floor.as_ref());
        family.ranked_by(Over::Best(first), metric, margin, others);
    }
    let best = subjects.into_iter().filter_map(|(subject, peak)| {
        let values: Vec<f64> = peak.by_block.into_iter().flatten().collect();
        Some(Best {
            subject,
            first,
            point: peak.point,
            rate: order::median_interval(&values, basis.plan.measure.alpha)?,
        })
    });
    family.bests.extend(best);
}

struct HalvedPeak {
    /// The point at which the subject peaks over all blocks.
    point: PointId,
    /// For each block, the rate per second at the point at which the other half of the blocks
    /// peaks.
    by_block: Blocks,
}

/// Returns the peak of a subject.
///
/// The blocks are split into even and odd blocks. The rate of a block is taken at the point that is
/// best in the other half, so that random variation of a block does not affect the choice of its
/// point. (Leaving out only the block itself would favor points at which the block happens to be
/// slow.)
fn halved_peak(
    basis: &Basis,
    sweep: &Sweep,
    subject: SubjectId,
    rate: impl Fn(SubjectId, PointId) -> Blocks,
) -> Option<HalvedPeak> {
    let points = sweep.points.iter().map(|&(point, _)| point);
    let points = points.filter(|&p| basis.compares(subject, Some(p)));
    let by_point: Vec<(PointId, Blocks)> = points.map(|p| (p, rate(subject, p))).collect();
    let best = |counts: &dyn Fn(usize) -> bool| {
        let median = |rates: &Blocks| {
            let some = rates.iter().enumerate().filter(|(block, _)| counts(*block));
            let some: Vec<f64> = some.filter_map(|(_, rate)| *rate).collect();
            order::median(&some).filter(|rate| *rate > 0.0)
        };
        let medians = by_point
            .iter()
            .filter_map(|(p, rates)| Some((p, rates, median(rates)?)));
        medians.max_by(|a, b| a.2.total_cmp(&b.2))
    };
    let (&point, all, _) = best(&|_| true)?;
    let halves = [1, 0].map(|other| best(&|block| block % 2 == other));
    let rate_in_block = |block: usize| {
        let rates = halves[block % 2].map_or(all, |(_, rates, _)| rates);
        rates[block].filter(|rate| *rate > 0.0)
    };
    Some(HalvedPeak {
        point,
        by_block: (0..all.len()).map(rate_in_block).collect(),
    })
}

/// Returns the logarithm of the subject's time divided by the baseline's, by block.
fn logs(subject: &HalvedPeak, base: &HalvedPeak) -> Blocks {
    log_ratios(&base.by_block, &subject.by_block)
}

/// Drops pairs in which the generator was the bottleneck at the second server's peak, because the
/// second server's true peak may exceed the first server's peak.
pub(super) fn drop_uncertain_orders(
    ranking: &mut Ranking,
    bests: &[Best],
    limited: &HashSet<(SubjectId, PointId)>,
) {
    if let Over::Best(first) = ranking.over {
        let of_sweep = bests.iter().filter(|b| b.first == first);
        let limited = of_sweep.filter(|b| limited.contains(&(b.subject, b.point)));
        let limited: HashSet<SubjectId> = limited.map(|b| b.subject).collect();
        ranking
            .apart
            .retain(|(_, behind)| !limited.contains(behind));
    }
}

/// Adds the peak throughput of each server over each closed-loop sweep.
pub(super) fn of_load(family: &mut ComparisonFamily, visits: &Visits) {
    let plan = family.basis.plan;
    let is_closed = |sweep: &Sweep| !sweep.points.iter().any(|&(p, _)| plan.is_open(p));
    let closed = sweeps(plan).into_iter().filter(is_closed);
    let rate =
        |subject, point| by_block(visits, (subject, point), |v| Some(v.per_second(v.served)));
    closed.for_each(|sweep| add_bests(family, (&sweep, &Metric::THROUGHPUT), rate));
}
