// SPDX-License-Identifier: Apache-2.0
//! Wilcoxon's signed-rank statistic: Hodges-Lehmann estimate, exact interval and exact p-value.
//!
//! Everything is based on counts of Walsh averages: the means of all pairs of values, including
//! each value paired with itself. Averages that are exactly 0 count for both sides. With ties and
//! zeros, the p-value and the closed interval are therefore conservative. They are always
//! consistent: 0 lies outside the interval at level 1 - alpha if and only if p <= alpha.

use crate::counted::{Center, CountedValues};
use crate::{normal, order};

/// The maximum number of values for the exact distribution. With more values, the normal
/// distribution approximates it.
const MAX_EXACT: usize = 200;

/// Returns the Hodges-Lehmann estimate, its interval at level `1 - alpha` or higher, and the
/// p-value.
///
/// With too few values for the level, the interval is the widest possible interval, and its level
/// is lower. Values that are not finite are ignored. Returns `None` without values.
///
/// Source: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., sections 3.1
/// to 3.3. Without ties, the result equals R's `wilcox.test(x, conf.int = TRUE, exact = TRUE)`.
pub fn center(values: &[f64], alpha: f64) -> Option<Center> {
    let sorted = order::sorted(values);
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let distribution = SignedRank::new(n);
    let averages = CountedValues {
        total: (n as u64) * (n as u64 + 1) / 2,
        span: (sorted[0], sorted[n - 1]),
        at_most: |limit| walsh_at_most(&sorted, limit),
    };
    Some(averages.center(|t| distribution.at_most(t), alpha))
}

/// Returns the minimum number of values whose widest interval has a level of at least `1 - alpha`.
///
/// Returns `None` if more than 1000 are needed, as with `alpha` = 0.
pub fn values_needed(alpha: f64) -> Option<u32> {
    (1..=1000)
        .find(|&n| 2.0 * 0.5_f64.powi(n) <= alpha)
        .map(|n| n as u32)
}

/// The distribution of the statistic over `n` values whose center is 0.
pub struct SignedRank {
    n: u64,
    /// For t = 0, 1, …, the probability that the statistic is at most t. Empty if the normal
    /// approximation is used.
    cumulative: Vec<f64>,
}

impl SignedRank {
    /// Computes the distribution for `n` values.
    ///
    /// Up to 200 values, the distribution is exact. It is computed by a recurrence over ranks: the
    /// rank n is counted with probability 1/2, so p_n(t) = (p_{n-1}(t) + p_{n-1}(t - n)) / 2. For
    /// more values, the normal approximation with continuity correction is used.
    pub fn new(n: usize) -> SignedRank {
        let mut masses = vec![1.0];
        for rank in 1..=if n <= MAX_EXACT { n } else { 0 } {
            let mut next = vec![0.0; masses.len() + rank];
            next[..masses.len()].copy_from_slice(&masses);
            next[rank..]
                .iter_mut()
                .zip(&masses)
                .for_each(|(to, from)| *to += from);
            next.iter_mut().for_each(|mass| *mass *= 0.5);
            masses = next;
        }
        let accumulate = |sum: &mut f64, mass: f64| {
            *sum += mass;
            Some(*sum)
        };
        let cumulative = match n {
            ..=MAX_EXACT => masses.into_iter().scan(0.0, accumulate).collect(),
            _ => Vec::new(),
        };
        SignedRank {
            n: n as u64,
            cumulative,
        }
    }

    /// Returns the probability that the statistic is at most `t`.
    pub fn at_most(&self, t: u64) -> f64 {
        if let Some(last) = self.cumulative.len().checked_sub(1) {
            return self.cumulative[(t as usize).min(last)].min(1.0);
        }
        let n = self.n as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
        normal::cdf((t as f64 + 0.5 - n * (n + 1.0) / 4.0) / variance.sqrt())
    }
}

/// Counts the Walsh averages that are at most `limit`.
fn walsh_at_most(sorted: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut end = sorted.len();
    for (i, a) in sorted.iter().enumerate() {
        while end > i && 0.5 * (a + sorted[end - 1]) > limit {
            end -= 1;
        }
        if end <= i {
            break;
        }
        count += (end - i) as u64;
    }
    count
}
