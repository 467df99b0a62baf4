// SPDX-License-Identifier: Apache-2.0
//! Ratios of means over blocks.
//!
//! Unlike robust estimates, means include pauses in full. A pause in one block of ten widens the
//! interval in the direction in which pauses move the ratio.

use crate::bootstrap::{self, SplitMix64};
use crate::normal;
use lab_model::Interval;
use std::iter::Sum;

/// The minimum number of blocks for an interval.
///
/// If one block in 20 has a pause, 1.7% of runs with this many blocks contain no pause.
const MIN_BLOCKS: usize = 80;

/// The minimum number of blocks for the bootstrap. With fewer blocks, the draws would be too
/// coarse, so Student's t is used instead.
const MIN_DRAWN_BLOCKS: usize = 6;

/// Returns the mean of `above` divided by the mean of `below`, with an interval at level `1 -
/// alpha`.
///
/// `above` and `below` contain one value per block, greater than 0. Returns `None` without blocks.
/// With fewer blocks than [`MIN_BLOCKS`] there is no interval, because a rare pause may be missing
/// from all blocks and still affect the true mean.
pub fn ratio_of_means(above: &[f64], below: &[f64], seed: u64, alpha: f64) -> Option<Interval> {
    if above.len().min(below.len()) < MIN_BLOCKS {
        let blocks = moments(above, below);
        let estimate = Estimate::new(blocks.iter().sum(), blocks.len())?;
        return Some(Interval::from_single_block(estimate.log.exp()));
    }
    ratio_of_means_seen(above, below, seed, alpha)
}

/// Returns the same ratio as [`ratio_of_means`], for at least two blocks, with an interval that
/// reflects only the pauses in these blocks.
///
/// The lower bound is valid if missing pauses would increase the ratio.
///
/// Source: bootstrap-t of the ratio's logarithm with the delta method's standard error, which
/// follows the skew of the blocks (Hall, *The Bootstrap and Edgeworth Expansion*, 1992; Davison &
/// Hinkley, *Bootstrap Methods and their Application*, 1997, section 5.2.2).
pub fn ratio_of_means_seen(
    above: &[f64],
    below: &[f64],
    seed: u64,
    alpha: f64,
) -> Option<Interval> {
    let blocks = moments(above, below);
    let count = blocks.len();
    let estimate = Estimate::new(blocks.iter().sum(), count)?;
    let level = Interval::confidence_level(alpha);
    let interval = |low: f64, high: f64, level: f64| Interval {
        estimate: estimate.log.exp(),
        low: (estimate.log - low * estimate.error)
            .exp()
            .min(estimate.log.exp()),
        high: (estimate.log - high * estimate.error)
            .exp()
            .max(estimate.log.exp()),
        level,
    };
    if count < 2 {
        return Some(interval(0.0, 0.0, 0.0));
    }
    if count < MIN_DRAWN_BLOCKS {
        let t = normal::student_upper_quantile(count as f64 - 1.0, alpha / 2.0);
        return Some(interval(t, -t, level));
    }
    if estimate.error == 0.0 {
        return Some(interval(0.0, 0.0, level));
    }
    let mut random = SplitMix64::new(seed);
    let draws = bootstrap::draws(alpha / 2.0);
    let mut apart: Vec<f64> = (0..draws)
        .filter_map(|_| {
            let drawn = (0..count).map(|_| &blocks[random.next_below(count)]);
            let drawn = Estimate::new(drawn.sum(), count)?;
            (drawn.error > 0.0).then(|| (drawn.log - estimate.log) / drawn.error)
        })
        .collect();
    let (low, high) = bootstrap::bounds(&mut apart, alpha / 2.0)?;
    Some(interval(high, low, level))
}

/// The sums over one or more blocks from which a ratio of means is estimated.
///
/// Deviations are relative to the ratio of all blocks, so that no digits are lost in differences of
/// large sums.
#[derive(Default)]
struct Moments {
    above: f64,
    below: f64,
    /// The sum of `above - ratio * below`, where `ratio` is the ratio of all blocks.
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

impl Estimate {
    /// Computes the estimate from the sums over `blocks` blocks.
    ///
    /// A block may be counted multiple times.
    fn new(sum: Moments, blocks: usize) -> Option<Estimate> {
        let n = blocks as f64;
        let [above, below] = [sum.above / n, sum.below / n];
        if !(above > 0.0 && below > 0.0 && above.is_finite() && below.is_finite()) {
            return None;
        }
        let further = sum.deviation / sum.below;
        let squares =
            sum.deviation_squared - further * (2.0 * sum.product - further * sum.below_squared);
        let error = (squares.max(0.0) / (n - 1.0).max(1.0) / n).sqrt() / above;
        // Rounding errors of equal blocks do not count as variation.
        let error = if error < 1e-12 { 0.0 } else { error };
        Some(Estimate {
            log: (above / below).ln(),
            error,
        })
    }
}

/// Returns the moments of each block.
fn moments(above: &[f64], below: &[f64]) -> Vec<Moments> {
    let blocks = || above.iter().copied().zip(below.iter().copied());
    let [a, b] = blocks().fold([0.0; 2], |[a, b], block| [a + block.0, b + block.1]);
    let moments = blocks().map(|(above, below)| {
        let deviation = above - a / b * below;
        Moments {
            above,
            below,
            deviation,
            below_squared: below * below,
            deviation_squared: deviation * deviation,
            product: deviation * below,
        }
    });
    moments.collect()
}

impl<'a> Sum<&'a Moments> for Moments {
    fn sum<I: Iterator<Item = &'a Moments>>(each: I) -> Moments {
        each.fold(Moments::default(), |sum, one| Moments {
            above: sum.above + one.above,
            below: sum.below + one.below,
            deviation: sum.deviation + one.deviation,
            below_squared: sum.below_squared + one.below_squared,
            deviation_squared: sum.deviation_squared + one.deviation_squared,
            product: sum.product + one.product,
        })
    }
}
