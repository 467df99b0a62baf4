// SPDX-License-Identifier: Apache-2.0
//! Fits each subject's fixed cost per operation and marginal cost per unit of the swept parameter.
//!
//! The line is fitted to the medians of the sweep's points.

use crate::analysis::Fit;
use crate::table::{BatchFigures, BatchTable};
use crate::{bootstrap, exclusions, fit, order};
use lab_model::{CaseId, Cores, Interval, Metric, Plan, PointId, Run, SubjectId};

/// Fits a line for each subject, each case with a sweep, and each combination of factors with at
/// least two points.
///
/// Subjects that measure an overhead are skipped, because they take no parameters. Cases with
/// concurrent operations are also skipped, because a unit of their sweep has no cost of its own.
/// See [`crate::scaling`].
///
/// Blocks without values at all points are ignored. Intervals are not adjusted for multiple
/// comparisons, and have the plan's level.
pub fn fits(run: &Run, plan: &Plan, table: &BatchTable) -> Vec<Fit> {
    let mut fits = Vec::new();
    let all = sweeps(plan);
    for sweep in all
        .iter()
        .filter(|s| plan.cases[s.case].cores == Cores::One)
    {
        let subjects = plan.subjects.ids();
        for subject in subjects.filter(|&s| !plan.subjects[s].overhead) {
            fits.extend(fit(run, plan, table, sweep, subject));
        }
    }
    fits
}

/// Points of a case that differ only in the swept value.
#[derive(Clone)]
pub(crate) struct Sweep {
    /// The index into the plan's cases.
    pub case: CaseId,
    /// The values of the factors, which are the same at all points.
    pub factors: Vec<(String, String)>,
    /// The points with their swept values.
    pub points: Vec<(PointId, f64)>,
}

pub(crate) fn sweeps(plan: &Plan) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for (id, point) in plan.points.enumerated() {
        let Some(x) = point.x else { continue };
        let factors: Vec<_> = point.factors(&plan.cases[point.case]).cloned().collect();
        match sweeps
            .iter_mut()
            .find(|s| s.case == point.case && s.factors == factors)
        {
            Some(sweep) => sweep.points.push((id, x)),
            None => sweeps.push(Sweep {
                case: point.case,
                factors,
                points: vec![(id, x)],
            }),
        }
    }
    sweeps
}

fn fit(
    run: &Run,
    plan: &Plan,
    table: &BatchTable,
    sweep: &Sweep,
    subject: SubjectId,
) -> Option<Fit> {
    let measured = OneSubject::typical(run, plan, table, sweep, subject)?;
    let over = plan.cases[sweep.case].sweep.clone().unwrap_or_default();
    line(plan, sweep, subject, measured, (Metric::WALL, over))
}

/// Fits a line through a subject's medians of a metric over the swept values.
pub(crate) fn line(
    plan: &Plan,
    sweep: &Sweep,
    subject: SubjectId,
    OneSubject { x, blocks }: OneSubject,
    (metric, over): (Metric, String),
) -> Option<Fit> {
    let ranked: Vec<RankedTimes> = (0..x.len())
        .map(|point| RankedTimes::new(&blocks, point))
        .collect();
    let through = |counts: &[u32]| {
        let levels: Vec<f64> = ranked.iter().map(|times| times.median(counts)).collect();
        fit::line(&x, &levels)
    };
    let residuals = through(&vec![1; blocks.len()])?.residuals;
    let intervals = bootstrap::intervals(blocks.len(), plan.seed, plan.measure.alpha, |counts| {
        through(counts).map(|line| [line.fixed, line.marginal])
    });
    let [fixed_ns, marginal_ns] = intervals?;
    let worst_residual = worst(&residuals);
    let curved = worst_residual > plan.measure.margin && bends(&x, &blocks, plan.measure.alpha);
    let (case, factors) = (sweep.case, sweep.factors.clone());
    Some(Fit {
        subject,
        case,
        factors,
        metric,
        over,
        fixed_ns,
        marginal_ns,
        points: x.len(),
        worst_residual,
        curved,
    })
}

/// A subject's times in each block of a sweep.
pub(crate) struct OneSubject {
    /// The swept values at which the plan measures the subject and the subject did not fail.
    pub x: Vec<f64>,
    /// The times at these swept values, for each block that contains all of them.
    pub blocks: Vec<Vec<f64>>,
}

impl OneSubject {
    /// Collects the subject's typical times; see [`OneSubject::new`].
    pub fn typical(
        run: &Run,
        plan: &Plan,
        table: &BatchTable,
        sweep: &Sweep,
        subject: SubjectId,
    ) -> Option<OneSubject> {
        let time = |visit: Option<&BatchFigures>| visit.map(|v| v.wall_ns);
        OneSubject::new(run, plan, sweep, subject, |point| {
            table.visits(subject, point).map(time).collect()
        })
    }

    /// Collects the subject's times from `times`, which returns the time at a point in every block
    /// of the run.
    ///
    /// Returns `None` if fewer than two points are left, or if no block contains all points.
    pub fn new(
        run: &Run,
        plan: &Plan,
        sweep: &Sweep,
        subject: SubjectId,
        times: impl Fn(PointId) -> Vec<Option<f64>>,
    ) -> Option<OneSubject> {
        let is_measured =
            |&&(point, _): &&(PointId, f64)| exclusions::is_measured(run, plan, subject, point);
        let points: Vec<(PointId, f64)> =
            sweep.points.iter().filter(is_measured).copied().collect();
        let at_points: Vec<_> = points.iter().map(|&(point, _)| times(point)).collect();
        let all = at_points.iter().map(Vec::len).min().unwrap_or(0);
        let block = |i: usize| at_points.iter().map(|times| times[i]).collect();
        let blocks: Vec<Vec<f64>> = (0..all).filter_map(block).collect();
        (points.len() > 1 && !blocks.is_empty()).then(|| OneSubject {
            x: points.iter().map(|&(_, x)| x).collect(),
            blocks,
        })
    }
}

/// Returns the largest absolute value of the residuals.
pub(crate) fn worst(residuals: &[f64]) -> f64 {
    residuals.iter().fold(0.0, |worst, r| worst.max(r.abs()))
}

/// The times at one point, each with the index of its block, in ascending order of time.
///
/// The times are sorted once, so that the median of each bootstrap draw needs no sorting.
pub(crate) struct RankedTimes(Vec<(f64, usize)>);

impl RankedTimes {
    pub fn new(blocks: &[Vec<f64>], point: usize) -> RankedTimes {
        let times = blocks.iter().enumerate();
        let mut ranked: Vec<(f64, usize)> = times.map(|(block, t)| (t[point], block)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        RankedTimes(ranked)
    }

    /// Returns the median, with each block weighted by its count, or NaN if all counts are 0.
    pub fn median(&self, counts: &[u32]) -> f64 {
        let n: u32 = counts.iter().sum();
        0.5 * self.time_at_rank(counts, n.saturating_sub(1) / 2)
            + 0.5 * self.time_at_rank(counts, n / 2)
    }

    /// Returns the time with the given rank, counted from 0.
    fn time_at_rank(&self, counts: &[u32], rank: u32) -> f64 {
        let mut passed = 0;
        let found = self.0.iter().find(|(_, block)| {
            passed += counts[*block];
            passed > rank
        });
        found.map_or(f64::NAN, |(time, _)| *time)
    }
}

/// Returns true if some point deviates from the line by more than noise.
///
/// Each block is fitted separately. A point deviates if the median of its residuals over the blocks
/// differs from 0, at a simultaneous level over all points. Residuals are relative, so that the
/// speed of a block does not matter.
fn bends(x: &[f64], blocks: &[Vec<f64>], alpha: f64) -> bool {
    let residuals: Vec<Vec<f64>> = blocks
        .iter()
        .filter_map(|times| Some(fit::line(x, times)?.residuals))
        .collect();
    x.len() > 2 && has_deviating_point(&residuals, alpha)
}

/// Returns true if the median of the residuals of some point differs from 0, at a simultaneous
/// level over all points.
///
/// `residuals` contains the residuals of all points for each block.
pub(crate) fn has_deviating_point(residuals: &[Vec<f64>], alpha: f64) -> bool {
    let points = residuals.first().map_or(0, Vec::len);
    let each = alpha / points.max(1) as f64;
    let deviates = |point: usize| {
        let values: Vec<f64> = residuals.iter().map(|block| block[point]).collect();
        let interval = order::median_interval(&values, each);
        interval.is_some_and(|i: Interval| 1.0 - i.level <= each && (i.low > 0.0 || i.high < 0.0))
    };
    (0..points).any(deviates)
}
