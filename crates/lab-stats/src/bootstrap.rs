// SPDX-License-Identifier: Apache-2.0
//! Bootstrap intervals of derived values, by resampling whole blocks with replacement.
//!
//! The draws are seeded, so that the same run always has the same intervals.

use crate::normal;
use lab_model::Interval;

/// The minimum number of draws.
const MIN_DRAWS: usize = 2000;

/// The minimum number of draws beyond each bound.
const MIN_BEYOND_BOUND: f64 = 20.0;

/// The maximum number of draws.
const MAX_DRAWS: usize = 50_000;

/// Returns the number of draws for an interval that cuts off the fraction `tail` of the draws at
/// each end.
pub(crate) fn draws(tail: f64) -> usize {
    if tail > 0.0 {
        ((MIN_BEYOND_BOUND / tail) as usize).clamp(MIN_DRAWS, MAX_DRAWS)
    } else {
        MIN_DRAWS
    }
}

/// Draws the blocks and stores how often each block was drawn.
fn draw(random: &mut SplitMix64, counts: &mut [u32]) {
    counts.fill(0);
    (0..counts.len()).for_each(|_| counts[random.next_below(counts.len())] += 1);
}

/// Returns the interval of each value of `statistic` at level `1 - alpha`.
///
/// The statistic receives the weight of each block, which is the number of times that the block was
/// drawn. The estimate is the statistic with a weight of 1 for each of the `blocks`. Draws for
/// which the statistic returns `None` are ignored. Returns `None` if the statistic returns `None`
/// for the blocks themselves or for all draws.
///
/// Source: percentile interval, with the percentiles moved outwards for few blocks according to
/// Student's t (Hesterberg, *What Teachers Should Know About the Bootstrap*, The American
/// Statistician 69, 2015, section 4.4: expanded percentile interval).
pub fn intervals<const K: usize>(
    blocks: usize,
    seed: u64,
    alpha: f64,
    statistic: impl Fn(&[u32]) -> Option<[f64; K]>,
) -> Option<[Interval; K]> {
    let mut counts = vec![1; blocks];
    let estimate = statistic(&counts)?;
    let mut random = SplitMix64::new(seed);
    let tail = tail(blocks, alpha);
    let draws: Vec<[f64; K]> = (0..draws(tail))
        .filter_map(|_| {
            draw(&mut random, &mut counts);
            statistic(&counts)
        })
        .collect();
    let mut intervals = [Interval {
        estimate: 0.0,
        low: 0.0,
        high: 0.0,
        level: 0.0,
    }; K];
    for (i, interval) in intervals.iter_mut().enumerate() {
        let mut values: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
        let (low, high) = bounds(&mut values, tail)?;
        *interval = Interval {
            estimate: estimate[i],
            low: low.min(estimate[i]),
            high: high.max(estimate[i]),
            level: level(blocks, alpha),
        };
    }
    Some(intervals)
}

/// Returns the smallest and the largest value after cutting off a fraction `tail` of the values at
/// each end.
///
/// Reorders `values`. Returns `None` if there are no values.
pub(crate) fn bounds(values: &mut [f64], tail: f64) -> Option<(f64, f64)> {
    let last = values.len().checked_sub(1)?;
    let rank = ((tail * values.len() as f64) as usize).min(last / 2);
    let mut at = |rank| *values.select_nth_unstable_by(rank, f64::total_cmp).1;
    Some((at(rank), at(last - rank)))
}

/// Returns the fraction of the draws to cut off at each end.
fn tail(blocks: usize, alpha: f64) -> f64 {
    if blocks < 2 {
        return 0.0;
    }
    let n = blocks as f64;
    let t = normal::student_upper_quantile(n - 1.0, alpha / 2.0);
    normal::cdf(-t * (n / (n - 1.0)).sqrt())
}

/// Returns the confidence level of the interval.
///
/// Draws stay within the range of the blocks, so the interval's level cannot exceed the level of
/// the whole range.
fn level(blocks: usize, alpha: f64) -> f64 {
    (1.0 - alpha)
        .min(1.0 - 2.0 * 0.5_f64.powf(blocks as f64))
        .max(0.0)
}

/// The random number generator of Steele, Lea & Flood, *Fast Splittable Pseudorandom Number
/// Generators*, OOPSLA 2014.
///
/// The generator is implemented here because run files must give the same intervals regardless of
/// library versions.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, computed from the high half of a product.
    ///
    /// The method is Lemire's (2019) without its rejection step. For the number of blocks, the bias
    /// is below 2^-50.
    pub fn next_below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}
