// SPDX-License-Identifier: Apache-2.0
//! Ratios of means over blocks, pauses and all: a pause that one block in ten has counts in full, and widens the
//! interval towards its side.

use crate::analysis::Interval;
use crate::bootstrap::{self, SplitMix64};
use crate::normal;
use std::iter::Sum;

/// With fewer blocks their draws would say little: Student's t takes the place of the draws' own.
const FEWEST: usize = 6;

/// The mean of `above` / the mean of `below`, which have a value for each block, with an interval at a level of
/// `1 - alpha`; of values above 0. `None` without a block; of one block there is no interval.
///
/// Source: bootstrap-t of the ratio's logarithm with the delta method's standard error, which follows the skew of the
/// blocks (Hall, *The Bootstrap and Edgeworth Expansion*, 1992; Davison & Hinkley, *Bootstrap Methods and their
/// Application*, 1997, section 5.2.2).
pub fn ratio_of_means(above: &[f64], below: &[f64], seed: u64, alpha: f64) -> Option<Interval> {
    let blocks = Blocks::new(above, below);
    let own = blocks.estimate(blocks.moments.iter().sum())?;
    let level = Interval::level_of(alpha);
    let known = |low: f64, high: f64, level: f64| Interval {
        estimate: own.log.exp(),
        low: (own.log - low * own.error).exp().min(own.log.exp()),
        high: (own.log - high * own.error).exp().max(own.log.exp()),
        level,
    };
    let count = blocks.moments.len();
    if count < 2 {
        return Some(known(0.0, 0.0, 0.0));
    }
    if count < FEWEST {
        let t = normal::student_upper_quantile(count as u32 - 1, alpha / 2.0);
        return Some(known(t, -t, level));
    }
    if own.error == 0.0 {
        return Some(known(0.0, 0.0, level));
    }
    let mut random = SplitMix64::new(seed);
    let draws = bootstrap::draws(alpha / 2.0);
    let mut apart: Vec<f64> = (0..draws)
        .filter_map(|_| {
            let drawn = (0..count).map(|_| &blocks.moments[random.below(count)]);
            let drawn = blocks.estimate(drawn.sum())?;
            (drawn.error > 0.0).then(|| (drawn.log - own.log) / drawn.error)
        })
        .collect();
    let last = apart.len().checked_sub(1)?;
    let rank = ((alpha / 2.0 * apart.len() as f64) as usize).min(last / 2);
    let mut at = |rank| *apart.select_nth_unstable_by(rank, f64::total_cmp).1;
    Some(known(at(last - rank), at(rank), level))
}

/// What the blocks are to an estimate.
struct Blocks {
    /// The ratio of the means of all.
    ratio: f64,
    moments: Vec<Moments>,
}

/// What a block, or the sum of several, adds to an estimate. Deviations are from the ratio of all blocks, so that no
/// error is a small difference of large sums.
#[derive(Clone, Copy, Default)]
struct Moments {
    below: f64,
    /// `above - ratio * below`.
    deviation: f64,
    below_squared: f64,
    deviation_squared: f64,
    product: f64,
}

/// The logarithm of a ratio of means and its standard error.
struct Estimate {
    log: f64,
    error: f64,
}

impl Blocks {
    fn new(above: &[f64], below: &[f64]) -> Blocks {
        let blocks: Vec<(f64, f64)> = above.iter().copied().zip(below.iter().copied()).collect();
        let [a, b] = blocks
            .iter()
            .fold([0.0; 2], |[a, b], block| [a + block.0, b + block.1]);
        let ratio = a / b;
        let moments = blocks.iter().map(|(a, b)| Moments::new(*b, a - ratio * b));
        Blocks {
            ratio,
            moments: moments.collect(),
        }
    }

    /// Of as many blocks as there are, each counted any number of times.
    fn estimate(&self, sum: Moments) -> Option<Estimate> {
        let above = self.ratio * sum.below + sum.deviation;
        if !(above > 0.0 && sum.below > 0.0 && above.is_finite() && sum.below.is_finite()) {
            return None;
        }
        let further = sum.deviation / sum.below;
        let squares =
            sum.deviation_squared - further * (2.0 * sum.product - further * sum.below_squared);
        let n = self.moments.len() as f64;
        let error = (squares.max(0.0) * n / (n - 1.0).max(1.0)).sqrt() / above;
        // What rounding leaves of equal blocks is no scatter.
        let error = if error < 1e-12 { 0.0 } else { error };
        Some(Estimate {
            log: (above / sum.below).ln(),
            error,
        })
    }
}

impl Moments {
    fn new(below: f64, deviation: f64) -> Moments {
        Moments {
            below,
            deviation,
            below_squared: below * below,
            deviation_squared: deviation * deviation,
            product: deviation * below,
        }
    }
}

impl<'a> Sum<&'a Moments> for Moments {
    fn sum<I: Iterator<Item = &'a Moments>>(each: I) -> Moments {
        each.fold(Moments::default(), |sum, one| Moments {
            below: sum.below + one.below,
            deviation: sum.deviation + one.deviation,
            below_squared: sum.below_squared + one.below_squared,
            deviation_squared: sum.deviation_squared + one.deviation_squared,
            product: sum.product + one.product,
        })
    }
}
