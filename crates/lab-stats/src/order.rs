// SPDX-License-Identifier: Apache-2.0
//! Robust location of a few values: the interquartile mean, the median, and the exact interval of
//! the median.
//!
//! All functions ignore values that are not finite.

use crate::normal;
use lab_model::Interval;

/// The maximum number of values for the exact binomial distribution. With more values, the normal
/// distribution approximates it.
const MAX_EXACT: usize = 1000;

/// Returns the mean of the middle half of the values, or `None` if there are no values.
///
/// A quarter of the values is trimmed at each end. If a quarter is not a whole number, each of the
/// two values at the cuts is weighted by the fraction that remains.
///
/// Source: the 25% trimmed mean (Tukey's midmean), with the usual interpolation at the cuts.
pub fn interquartile_mean(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let n = sorted.len() as f64;
    let (from, to) = (n / 4.0, 3.0 * n / 4.0);
    let weight = |i: usize| ((i as f64 + 1.0).min(to) - (i as f64).max(from)).max(0.0);
    let sum: f64 = sorted
        .iter()
        .enumerate()
        .map(|(i, value)| weight(i) * value)
        .sum();
    (!sorted.is_empty()).then(|| sum / (n / 2.0))
}

/// Returns the squared standard error of [`interquartile_mean`], or `None` for fewer than four
/// values.
///
/// Each value in the outer quarters is replaced by the nearest value of the middle half
/// (winsorized). The result is the variance of the values after this replacement, divided by the
/// number of values in the middle half.
///
/// Source: Tukey & McLaughlin, Sankhya A 25 (1963); Yuen, Biometrika 61 (1974).
pub fn error_squared(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let n = sorted.len();
    if n < 4 {
        return None;
    }
    let (low, high) = (sorted[n / 4], sorted[n - 1 - n / 4]);
    let moved: Vec<f64> = sorted.iter().map(|v| v.clamp(low, high)).collect();
    let mean = moved.iter().sum::<f64>() / n as f64;
    let squares: f64 = moved.iter().map(|v| (v - mean) * (v - mean)).sum();
    let middle = (n - 2 * (n / 4)) as f64;
    Some(squares / (middle * (middle - 1.0)))
}

/// Returns the median, or `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    (!sorted.is_empty()).then(|| middle(&sorted))
}

/// Returns the scale of the noise in values whose level seldom changes, or 0 for one value.
///
/// The estimate is based on the median difference between neighboring values.
pub fn scatter_of_steps(values: &[f64]) -> f64 {
    let steps = values.windows(2).map(|two| (two[1] - two[0]).abs());
    let steps: Vec<f64> = steps.collect();
    // 0.6745 is the median of |z| for a standard normal z. A difference has twice the variance.
    median(&steps).unwrap_or(0.0) / (0.6745 * std::f64::consts::SQRT_2)
}

/// Returns the median with its exact interval at level `1 - alpha` or higher, for any distribution.
///
/// With too few values for the level, the interval is the whole range of the values, and its level
/// is the level of this range. Returns `None` if there are no values.
///
/// Source: order statistics and the binomial distribution; Conover, *Practical Nonparametric
/// Statistics*, 3rd ed., section 3.2. Above 1000 values, the normal approximation is used.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    let sorted = sorted(values);
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let (rank, outside) = lower_rank(n, alpha);
    let (low, high) = (sorted[rank], sorted[n - 1 - rank]);
    Some(Interval {
        estimate: middle(&sorted),
        low,
        high,
        level: (1.0 - outside).max(0.0),
    })
}

/// Returns the rank of a quantile among `total` values, counted from 1.
///
/// At least `per_10_000` in 10,000 values do not exceed the quantile. Returns `None` if there are
/// too few values for any value to exceed the quantile. The maximum (10,000 in 10,000) always has a
/// rank.
pub(crate) fn quantile_rank(per_10_000: u32, total: u64) -> Option<u64> {
    let (part, total) = (u128::from(per_10_000), u128::from(total));
    let beyond = total * 10_000_u128.saturating_sub(part);
    let enough = total > 0 && (part >= 10_000 || beyond >= 10_000);
    enough.then(|| (total * part).div_ceil(10_000).clamp(1, total) as u64)
}

/// Returns the finite values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the median of values that are sorted and not empty.
pub(crate) fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    // Halves are added instead of halving a sum, so that nothing overflows. Equal halves stay
    // exact.
    if n % 2 == 1 {
        sorted[n / 2]
    } else {
        0.5 * sorted[n / 2 - 1] + 0.5 * sorted[n / 2]
    }
}

/// Returns the index of the lower bound among `n` sorted values, and the probability that the
/// median lies outside of the bounds.
///
/// The index, counted from 0, is the largest index for which this probability is at most `alpha`.
/// If there is no such index, index 0 is used.
fn lower_rank(n: usize, alpha: f64) -> (usize, f64) {
    let mut best = (0, 2.0 * below_median(n).next().unwrap_or(0.5));
    for (rank, tail) in below_median(n).take(n.div_ceil(2)).enumerate() {
        if 2.0 * tail > alpha {
            break;
        }
        best = (rank, 2.0 * tail);
    }
    best
}

/// Returns, for k = 0, 1, …, the probability that at most k of n values lie below the median.
fn below_median(n: usize) -> Box<dyn Iterator<Item = f64>> {
    let size = n as f64;
    if n > MAX_EXACT {
        let z = move |k: usize| (k as f64 + 0.5 - size / 2.0) / (size.sqrt() / 2.0);
        return Box::new((0..n).map(move |k| normal::cdf(z(k))));
    }
    let first = 0.5_f64.powi(n as i32);
    Box::new((0..n).scan((first, 0.0), move |(mass, sum), k| {
        *sum += *mass;
        *mass *= (size - k as f64) / (k as f64 + 1.0);
        Some(*sum)
    }))
}
