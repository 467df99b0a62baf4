// SPDX-License-Identifier: Apache-2.0
//! Intervals of derived values: whole blocks drawn again with replacement. The draws come from a
//! seed, so the same run always has the same intervals.

use crate::normal;
use lab_model::Interval;

/// The least number of draws.
const MIN_DRAWS: usize = 2000;

/// The least number of draws beyond each bound.
const MIN_BEYOND_BOUND: f64 = 20.0;

/// The greatest number of draws.
const MAX_DRAWS: usize = 50_000;

/// The number of draws for bounds that leave the part `tail` of them beyond each.
pub(crate) fn draws(tail: f64) -> usize {
    if tail > 0.0 {
        ((MIN_BEYOND_BOUND / tail) as usize).clamp(MIN_DRAWS, MAX_DRAWS)
    } else {
        MIN_DRAWS
    }
}

/// How often each block counts in the next draw.
fn draw(random: &mut SplitMix64, counts: &mut [u32]) {
    counts.fill(0);
    (0..counts.len()).for_each(|_| counts[random.below(counts.len())] += 1);
}

/// The interval of each value of `statistic` at level `1 - alpha`. The statistic gets, for each
/// block, how often it counts; it is first computed from each of the `blocks` once, which is the
/// estimate. Draws of which it makes nothing are left out. `None` if it makes nothing of the blocks
/// themselves, or of all draws.
///
/// Source: percentile interval, with the percentiles moved outwards for few blocks as Student's t
/// asks (Hesterberg, *What Teachers Should Know About the Bootstrap*, The American Statistician
/// 69, 2015, section 4.4: expanded percentile interval).
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

/// The least and the greatest value after the part `tail` of the values is cut off at each end; `None` without values.
/// Reorders `values`.
pub(crate) fn bounds(values: &mut [f64], tail: f64) -> Option<(f64, f64)> {
    let last = values.len().checked_sub(1)?;
    let rank = ((tail * values.len() as f64) as usize).min(last / 2);
    let mut at = |rank| *values.select_nth_unstable_by(rank, f64::total_cmp).1;
    Some((at(rank), at(last - rank)))
}

/// The part of the draws that is cut off at each end.
fn tail(blocks: usize, alpha: f64) -> f64 {
    if blocks < 2 {
        return 0.0;
    }
    let n = blocks as f64;
    let t = normal::student_upper_quantile(n - 1.0, alpha / 2.0);
    normal::cdf(-t * (n / (n - 1.0)).sqrt())
}

/// Draws do not leave the range of the blocks, so the level is no higher than that of the range.
fn level(blocks: usize, alpha: f64) -> f64 {
    (1.0 - alpha)
        .min(1.0 - 2.0 * 0.5_f64.powf(blocks as f64))
        .max(0.0)
}

/// Steele, Lea & Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014. Written
/// out here because run files must give the same intervals with every version of a library.
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

    /// A number below `bound`, by the high half of a product (Lemire 2019, without its rejection:
    /// for the number of blocks the bias is below 2^-50).
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}
