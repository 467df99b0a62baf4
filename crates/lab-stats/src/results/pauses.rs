// SPDX-License-Identifier: Apache-2.0
//! The cost of pauses: the difference between the mean and the typical time of an operation, as a
//! fraction of the typical time.

use super::judge::Basis;
use super::{Cell, Key};
use crate::mean;
use crate::table::{BatchFigures, BatchTable};
use lab_model::{Interval, Metric};

/// Returns the number of blocks that contain the point, and the cost of pauses over these blocks
/// with an interval at level `1 - alpha`.
pub(crate) fn cost(
    visits: &[Option<&BatchFigures>],
    seed: u64,
    alpha: f64,
) -> Option<(u32, Interval)> {
    let [means, typical] = times(visits);
    let ratio = mean::ratio_of_means(&means, &typical, seed, alpha)?;
    let cost = Interval {
        estimate: ratio.estimate - 1.0,
        low: ratio.low - 1.0,
        high: ratio.high - 1.0,
        level: ratio.level,
    };
    Some((means.len() as u32, cost))
}

/// Returns the mean times and the typical times of blocks.
fn times(visits: &[Option<&BatchFigures>]) -> [Vec<f64>; 2] {
    let measured = visits.iter().flatten();
    let times = measured.map(|visit| (visit.mean_wall_ns, visit.wall_ns));
    let (means, typical) = times.unzip();
    [means, typical]
}

/// Returns the subject and the point whose pauses cost the most, provided that the cost
/// significantly exceeds the margin.
///
/// The level is simultaneous over all subjects and points.
pub(crate) fn most(basis: &Basis, table: &BatchTable, cells: &[Cell]) -> Option<Key> {
    let plan = basis.plan;
    let is_compared = |key: &Key| plan.compared().any(|s| s == key.subject);
    let all = cells
        .iter()
        .filter(|cell| cell.key.metric == Metric::PAUSES);
    let all: Vec<&Cell> = all.filter(|cell| is_compared(&cell.key)).collect();
    let alpha = plan.measure.alpha / all.len().max(1) as f64;
    let may_exceed = all
        .iter()
        .filter(|cell| cell.value.value() > plan.measure.margin);
    // Pauses missing from all blocks would only increase the cost.
    let sure = may_exceed.filter(|cell| {
        let Some(point) = cell.key.point else {
            return false;
        };
        let visits: Vec<Option<&BatchFigures>> = table.visits(cell.key.subject, point).collect();
        let [means, typical] = times(&visits);
        let ratio = mean::ratio_of_means_seen(&means, &typical, plan.seed, alpha);
        ratio.is_some_and(|ratio| ratio.level > 0.0 && ratio.low > 1.0 + plan.measure.margin)
    });
    let most = sure.max_by(|a, b| a.value.value().total_cmp(&b.value.value()));
    most.map(|cell| cell.key.clone())
}
