// SPDX-License-Identifier: Apache-2.0
//! Ratios of means over blocks, pauses and all: a pause that one block in ten has counts in full, and widens the
//! interval towards its side.

use crate::analysis::Interval;
use crate::bootstrap::{self, SplitMix64};
use crate::normal;

/// With fewer blocks their draws would say little: Student's t takes the place of the draws' own.
const FEWEST: usize = 6;

/// The mean of `above` / the mean of `below`, which have a value for each block, with an interval at a level of
/// `1 - alpha`; of values above 0. `None` without a block; of one block there is no interval.
///
/// Source: bootstrap-t of the ratio's logarithm with the delta method's standard error, which follows the skew of the
/// blocks (Hall, *The Bootstrap and Edgeworth Expansion*, 1992; Davison & Hinkley, *Bootstrap Methods and their
/// Application*, 1997, section 5.2.2).
pub fn ratio_of_means(above: &[f64], below: &[f64], seed: u64, alpha: f64) -> Option<Interval> {
    let blocks: Vec<(f64, f64)> = above.iter().copied().zip(below.iter().copied()).collect();
    let all: Vec<u32> = vec![1; blocks.len()];
    let own = Estimate::new(&blocks, &all)?;
    let level = Interval::level_of(alpha);
    let known = |low: f64, high: f64, level: f64| Interval {
        estimate: own.log.exp(),
        low: (own.log - low * own.error).exp().min(own.log.exp()),
        high: (own.log - high * own.error).exp().max(own.log.exp()),
        level,
    };
    if blocks.len() < 2 {
        return Some(known(0.0, 0.0, 0.0));
    }
    if blocks.len() < FEWEST {
        let t = normal::student_upper_quantile(blocks.len() as u32 - 1, alpha / 2.0);
        return Some(known(t, -t, level));
    }
    if own.error == 0.0 {
        return Some(known(0.0, 0.0, level));
    }
    let mut random = SplitMix64::new(seed);
    let mut counts = all;
    let draws = bootstrap::draws(alpha / 2.0);
    let mut apart: Vec<f64> = (0..draws)
        .filter_map(|_| {
            bootstrap::draw(&mut random, &mut counts);
            let drawn = Estimate::new(&blocks, &counts)?;
            (drawn.error > 0.0).then(|| (drawn.log - own.log) / drawn.error)
        })
        .collect();
    apart.sort_unstable_by(f64::total_cmp);
    let last = apart.len().checked_sub(1)?;
    let rank = ((alpha / 2.0 * apart.len() as f64) as usize).min(last / 2);
    Some(known(apart[last - rank], apart[rank], level))
}

/// The logarithm of a ratio of means and its standard error.
struct Estimate {
    log: f64,
    error: f64,
}

impl Estimate {
    /// Each block counts as often as `counts` says; `counts` sum to the number of blocks.
    fn new(blocks: &[(f64, f64)], counts: &[u32]) -> Option<Estimate> {
        let weighted = || blocks.iter().zip(counts).map(|(b, n)| (b, f64::from(*n)));
        let n = blocks.len() as f64;
        let [above, below] = weighted()
            .fold([0.0; 2], |[above, below], ((a, b), w)| {
                [above + a * w, below + b * w]
            })
            .map(|sum| sum / n);
        if !(above > 0.0 && below > 0.0 && above.is_finite() && below.is_finite()) {
            return None;
        }
        let ratio = above / below;
        let squares = weighted().map(|((a, b), w)| w * (a - ratio * b).powi(2));
        let error = (squares.sum::<f64>() / (n - 1.0).max(1.0) / n).sqrt() / above;
        // What rounding leaves of equal blocks is no scatter.
        let error = if error < 1e-12 { 0.0 } else { error };
        Some(Estimate {
            log: ratio.ln(),
            error,
        })
    }
}
