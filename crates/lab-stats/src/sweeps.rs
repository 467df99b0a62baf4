// SPDX-License-Identifier: Apache-2.0
//! What a sweep says about each subject: the fixed cost of an operation and the marginal cost of
//! one more of what is swept, fitted through the levels of its points.

use crate::analysis::{Fit, Interval};
use crate::table::Table;
use crate::{bootstrap, fit, order, refusals};
use lab_model::{Plan, PointId, Run, SubjectId};

/// One fit for each subject, case with a sweep and choice of factors that has two points or more.
///
/// Blocks that lack one of the points are left out. Intervals are individual, at the plan's level.
pub fn fits(run: &Run, plan: &Plan, table: &Table) -> Vec<Fit> {
    let mut fits = Vec::new();
    for sweep in sweeps(plan) {
        for subject in 0..plan.subjects.len() {
            fits.extend(fit(run, plan, table, &sweep, subject));
        }
    }
    fits
}

/// The points of a case that differ only in what is swept.
struct Sweep {
    case: usize,
    factors: Vec<(String, String)>,
    points: Vec<(PointId, f64)>,
}

fn sweeps(plan: &Plan) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for (id, point) in plan.points.iter().enumerate() {
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

fn fit(run: &Run, plan: &Plan, table: &Table, sweep: &Sweep, subject: SubjectId) -> Option<Fit> {
    let points: Vec<(PointId, f64)> = sweep
        .points
        .iter()
        .copied()
        .filter(|&(point, _)| !refusals::failed(run, subject, point))
        .collect();
    let x: Vec<f64> = points.iter().map(|&(_, x)| x).collect();
    let blocks = blocks(table, subject, &points);
    let line = |chosen: &[usize]| fit::line(&x, &levels(&blocks, chosen, x.len()));
    let all: Vec<usize> = (0..blocks.len()).collect();
    let residuals = line(&all)?.residuals;
    let intervals = bootstrap::intervals(blocks.len(), plan.seed, plan.measure.alpha, |chosen| {
        line(chosen).map(|line| [line.fixed, line.marginal])
    });
    let [fixed_ns, marginal_ns] = intervals?;
    let worst_residual = residuals
        .iter()
        .fold(0.0, |worst: f64, r| worst.max(r.abs()));
    let curved = worst_residual > plan.measure.margin && bends(&x, &blocks, plan.measure.alpha);
    let (case, factors) = (sweep.case, sweep.factors.clone());
    Some(Fit {
        subject,
        case,
        factors,
        fixed_ns,
        marginal_ns,
        worst_residual,
        curved,
    })
}

/// The typical times at all the points, for each block that has them all.
fn blocks(table: &Table, subject: SubjectId, points: &[(PointId, f64)]) -> Vec<Vec<f64>> {
    let mut visits: Vec<_> = points
        .iter()
        .map(|&(point, _)| table.visits(subject, point))
        .collect();
    let block = |_| {
        visits
            .iter_mut()
            .map(|visits| Some(visits.next()??.wall_ns))
            .collect::<Vec<_>>()
    };
    (0..table.blocks())
        .map(block)
        .filter_map(|times| times.into_iter().collect())
        .collect()
}

/// The median over the chosen blocks, for each point.
fn levels(blocks: &[Vec<f64>], chosen: &[usize], points: usize) -> Vec<f64> {
    let times = |point: usize| {
        chosen
            .iter()
            .map(|&b| blocks[b][point])
            .collect::<Vec<f64>>()
    };
    (0..points)
        .map(|point| order::median(&times(point)).unwrap_or(f64::NAN))
        .collect()
}

/// Whether some point lies off the line by more than noise: each block is fitted on its own, and
/// the median of a point's residuals over blocks differs from 0, at a level that holds for all
/// points together. Residuals are relative, so that a block's speed does not enter.
fn bends(x: &[f64], blocks: &[Vec<f64>], alpha: f64) -> bool {
    let residuals: Vec<Vec<f64>> = blocks
        .iter()
        .filter_map(|times| Some(fit::line(x, times)?.residuals))
        .collect();
    let off_line = |point: usize| {
        let values: Vec<f64> = residuals.iter().map(|block| block[point]).collect();
        let interval = order::median_interval(&values, alpha / x.len() as f64);
        interval.is_some_and(|i: Interval| {
            1.0 - i.level <= alpha / x.len() as f64 && (i.low > 0.0 || i.high < 0.0)
        })
    };
    x.len() > 2 && (0..x.len()).any(off_line)
}
