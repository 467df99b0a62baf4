// SPDX-License-Identifier: Apache-2.0
//! The change of a quantity from one run to another that was not interleaved with it, from the logarithms of
//! the values of their blocks.

use crate::outlook::Certainty;
use crate::rank_sum;
use crate::ratio::{Level, Ratio, exponentiate, merged, ratio};
use lab_model::Interval;

/// The ratio of the values whose logarithms are `second` to those of `first`: the two-sample Hodges-Lehmann
/// estimate, after merging blocks that depend on each other. `None` if a run has no finite value.
///
/// The interval is the hull of two. The exact rank-sum interval assumes that both runs scatter alike; where
/// the run with fewer blocks scatters more, it is too narrow. The other one combines the two runs' own
/// signed-rank intervals, which need no such assumption. Where the runs do scatter alike, both are about as
/// wide. A verdict needs as many blocks of each run as a verdict within a single run.
///
/// [`Ratio::values`] is the number of values of two equal runs whose interval would have this width.
pub fn change(first: &[f64], second: &[f64], level: Level) -> Option<Ratio> {
    let ratios = [ratio(first, level)?, ratio(second, level)?];
    let values = [first, second].map(|logs| merged(logs, level).values);
    let shift = rank_sum::shift(&values[0], &values[1], level.each())?;
    let apart = quotient(&ratios[0].interval, &ratios[1].interval, 0.0);
    let assumed = ratios.iter().any(|run| run.assumed);
    // With few blocks the rank-sum interval does not have the level.
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
        certainty: Certainty::of_interval(&interval, values, family, level.alpha),
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

/// `second` / `first` of two ratios with this correlation, 0 to 1: the distances of their bounds from their
/// estimates are added as standard errors are, in logarithms.
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
