// SPDX-License-Identifier: Apache-2.0
//! Wilcoxon's rank-sum statistic (Mann & Whitney's U): the Hodges-Lehmann estimate of the shift
//! between two unpaired samples, with its exact interval and p-value.
//!
//! The statistic counts the differences between all pairs of values that contain one value from
//! each sample. Ties are treated as in [`crate::signed_rank`]: the p-value and the closed interval
//! are conservative and consistent.

use crate::counted::{Center, CountedValues};
use crate::{normal, order};

/// Returns the shift of the values of `second` relative to `first`: the estimate, its interval, and
/// the p-value of the hypothesis that there is no shift.
///
/// The interval is at level `1 - alpha` or higher. With too few values for the level, the interval
/// is the widest possible interval, and its level is lower. Values that are not finite are ignored.
/// Returns `None` if a sample has no finite values. The two distributions are assumed to be equal
/// except for the shift.
///
/// Source: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., sections 4.1
/// to 4.3. Without ties, the result equals R's `wilcox.test(second, first, conf.int = TRUE, exact =
/// TRUE)`.
pub fn shift(first: &[f64], second: &[f64], alpha: f64) -> Option<Center> {
    let (first, second) = (order::sorted(first), order::sorted(second));
    let (least, most) = (first.first()?, first.last()?);
    let span = (second.first()? - most, second.last()? - least);
    let distribution = RankSum::new(first.len(), second.len());
    let differences = CountedValues {
        total: first.len() as u64 * second.len() as u64,
        span,
        at_most: |limit| differences_at_most(&first, &second, limit),
    };
    Some(differences.center(|t| distribution.at_most(t), alpha))
}

/// The distribution of the statistic for samples of `m` and `n` values without a shift.
pub struct RankSum {
    m: f64,
    n: f64,
    /// For t = 0, 1, …, the probability that the statistic is at most t. Empty if the normal
    /// approximation is used.
    cumulative: Vec<f64>,
}

impl RankSum {
    /// Computes the distribution.
    ///
    /// The distribution is exact while the number of ways to interleave the samples fits into 128
    /// bits (such as 64 values in each sample, or 8 in one sample and many thousands in the other).
    /// For larger samples, the normal approximation with continuity correction is used.
    pub fn new(m: usize, n: usize) -> RankSum {
        let cumulative = match ways(m.min(n), m.max(n)) {
            Some(all) => cumulative(&frequencies(m.min(n), m.max(n)), all),
            None => Vec::new(),
        };
        RankSum {
            m: m as f64,
            n: n as f64,
            cumulative,
        }
    }

    /// Returns the probability that the statistic is at most `t`.
    pub fn at_most(&self, t: u64) -> f64 {
        if let Some(last) = self.cumulative.len().checked_sub(1) {
            return self.cumulative[(t as usize).min(last)].min(1.0);
        }
        let pairs = self.m * self.n;
        let variance = pairs * (self.m + self.n + 1.0) / 12.0;
        normal::cdf((t as f64 + 0.5 - pairs / 2.0) / variance.sqrt())
    }
}

/// Returns the number of ways to interleave samples of `few` and `many` values, which is a binomial
/// coefficient, or `None` if it exceeds 128 bits.
///
/// Each step is `ways * (many + i) / i`. The division comes first, so that no intermediate value
/// exceeds the result.
fn ways(few: usize, many: usize) -> Option<u128> {
    let many = many as u128;
    (1..=few as u128).try_fold(1u128, |ways, i| {
        let rest = (ways % i) * (many + i) / i;
        (ways / i).checked_mul(many + i)?.checked_add(rest)
    })
}

/// Returns, for t = 0, 1, … `few * many`, the number of interleavings with t pairs of values in
/// which the value of the first sample is below the value of the second.
///
/// The numbers are the coefficients of the Gaussian binomial (Andrews, *The Theory of Partitions*,
/// section 3.2): the product of `(1 - q^(many + i)) / (1 - q^i)` over i = 1 … `few`. Intermediate
/// steps may overflow 2^128. Because the arithmetic wraps and the result is below 2^128, the result
/// is correct.
fn frequencies(few: usize, many: usize) -> Vec<u128> {
    let mut ways = vec![0u128; few * many + 1];
    ways[0] = 1;
    for i in 1..=few {
        for t in (many + i..ways.len()).rev() {
            ways[t] = ways[t].wrapping_sub(ways[t - many - i]);
        }
        for t in i..ways.len() {
            ways[t] = ways[t].wrapping_add(ways[t - i]);
        }
    }
    ways
}

fn cumulative(frequencies: &[u128], all: u128) -> Vec<f64> {
    let accumulate = |sum: &mut u128, ways: &u128| {
        *sum += ways;
        Some(*sum as f64 / all as f64)
    };
    frequencies.iter().scan(0, accumulate).collect()
}

/// Counts the pairs in which the value of `second` minus the value of `first` is at most `limit`.
fn differences_at_most(first: &[f64], second: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut begin = 0;
    for b in second {
        while begin < first.len() && b - first[begin] > limit {
            begin += 1;
        }
        count += (first.len() - begin) as u64;
    }
    count
}
