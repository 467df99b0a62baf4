// SPDX-License-Identifier: Apache-2.0
//! The ratio of a metric between two runs that were not interleaved, from the logarithms of their
//! block values.

use crate::outlook::Certainty;
use crate::rank_sum;
use crate::ratio::{Level, Ratio, exponentiate, merged, ratio};
use lab_model::Interval;

/// Returns the ratio of the second run's values to the first run's, from the logarithms of the
/// values.
///
/// The estimate is the two-sample Hodges-Lehmann estimate, computed after dependent blocks are
/// merged. Returns `None` if a run has no finite value.
///
/// The interval is the smallest interval that contains two other intervals. The first of these
/// intervals is the exact rank-sum interval, which assumes that both runs have the same spread. It
/// is too narrow if the run with fewer blocks has the larger spread. The second combines the
/// signed-rank intervals of the two runs, which need no such assumption. If the spreads are equal,
/// both intervals have about the same width. A verdict needs as many blocks from each run as a
/// verdict within a single run.
///
/// [`Ratio::values`] is the effective sample size: two runs with that many values each would give
/// an interval of this width.
pub fn change(first: &[f64], second: &[f64], level: Level) -> Option<Ratio> {
    let ratios = [ratio(first, level)?, ratio(second, level)?];
    let values = [first, second].map(|logs| merged(logs, level).values);
    let shift = rank_sum::shift(&values[0], &values[1], level.each())?;
    let apart = quotient(&ratios[0].interval, &ratios[1].interval, 0.0);
    let assumed = ratios.iter().any(|run| run.assumed);
    // With few blocks, the rank-sum interval cannot reach the level.
    let joint = if assumed {
        apart
    } else {
        exponentiate(shift.interval, level)
    };
    let width = ratios[0].width.max(ratios[1].width);
    let blocks = ratios.map(|run| f64::from(run.values * run.width));
    let equal = 2.0 / (1.0 / blocks[0] + 1.0 / blocks[1]);
    let interval = Interval {
        estimate: joint.estimate,
        low: joint.low.min(apart.low),
        high: joint.high.max(apart.high),
        level: joint.level.min(apart.level),
    };
    let values = ((equal / f64::from(width)) as u32).max(1);
    let family = level.family.max(1) as u32;
    Some(Ratio {
        interval,
        certainty: Certainty::for_interval(&interval, values, family, level.alpha),
        p: shift.p,
        values,
        width,
        dependent: ratios.iter().any(|run| run.dependent),
        unresolved: ratios.iter().any(|run| run.unresolved),
        sufficient: ratios.iter().all(|run| run.sufficient),
        assumed,
        needed: ratios
            .iter()
            .map(|run| run.needed)
            .max()
            .unwrap_or(u32::MAX),
    })
}

/// Returns `second` / `first` of two ratios with the given correlation, from 0 to 1.
///
/// The distances of the bounds from the estimates are combined in the same way as standard errors,
/// in logarithms.
///
/// Source: Zou & Donner, *Construction of confidence limits about effect measures: a general
/// approach*, Statistics in Medicine 27 (2008).
pub(crate) fn quotient(first: &Interval, second: &Interval, correlation: f64) -> Interval {
    let log = |value: f64| value.max(f64::MIN_POSITIVE).ln();
    let below = |i: &Interval| log(i.estimate) - log(i.low);
    let above = |i: &Interval| log(i.high) - log(i.estimate);
    let joined = |a: f64, b: f64| (a * a + b * b - 2.0 * correlation * a * b).max(0.0).sqrt();
    let estimate = log(second.estimate) - log(first.estimate);
    Interval {
        estimate: estimate.exp(),
        low: (estimate - joined(below(second), above(first))).exp(),
        high: (estimate + joined(above(second), below(first))).exp(),
        level: first.level.min(second.level),
    }
}
