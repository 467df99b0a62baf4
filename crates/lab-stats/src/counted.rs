// SPDX-License-Identifier: Apache-2.0
//! Rank-based estimates, intervals and p-values for very large sets of values, such as the
//! differences of all pairs.
//!
//! The values are counted instead of listed.

use lab_model::Interval;

/// A rank-based estimate of the center of some values, or of the shift between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Center {
    /// The Hodges-Lehmann estimate with its interval.
    pub interval: Interval,
    /// The two-sided p-value of the hypothesis that the center is 0.
    pub p: f64,
}

/// A set of values, represented by a function that counts the values up to a bound.
pub struct CountedValues<F> {
    /// The number of values, at least 1.
    pub total: u64,
    /// The minimum and the maximum value.
    pub span: (f64, f64),
    /// Returns the number of values that do not exceed the argument.
    pub at_most: F,
}

impl<F: Fn(f64) -> u64> CountedValues<F> {
    /// Returns the median of the values, its interval at level `1 - alpha` or higher, and the
    /// p-value of the hypothesis that the median is 0.
    ///
    /// The bounds of the interval are two of the values. `chance(t)` is the probability that at
    /// most `t` of the values lie below the true median. The distribution must be symmetric. If the
    /// level cannot be reached, returns the widest possible interval, whose level is lower.
    ///
    /// Values that are exactly 0 count for both sides, so that 0 lies outside the interval if and
    /// only if p <= alpha.
    pub fn center(&self, chance: impl Fn(u64) -> f64, alpha: f64) -> Center {
        let rank = lower_rank(self.total, alpha, &chance);
        let half = self.total / 2;
        let estimate = if self.total % 2 == 1 {
            self.nth(half + 1)
        } else {
            0.5 * (self.nth(half) + self.nth(half + 1))
        };
        let interval = Interval {
            estimate,
            low: self.nth(rank),
            high: self.nth(self.total + 1 - rank),
            level: (1.0 - 2.0 * chance(rank - 1)).max(0.0),
        };
        let not_above = (self.at_most)(0.0);
        let not_below = self.total - (self.at_most)(0.0_f64.next_down());
        Center {
            interval,
            p: (2.0 * chance(not_above.min(not_below))).min(1.0),
        }
    }

    /// Returns the `rank`-th smallest value, counted from 1.
    ///
    /// The bisection over all doubles of the span needs 64 counts and no memory.
    fn nth(&self, rank: u64) -> f64 {
        let (mut low, mut high) = (key(self.span.0), key(self.span.1));
        while low < high {
            let mid = low + (high - low) / 2;
            if (self.at_most)(value(mid)) >= rank {
                high = mid;
            } else {
                low = mid + 1;
            }
        }
        value(low)
    }
}

/// Returns the rank of the lower bound at level `1 - alpha` among `total` sorted values, counted
/// from 1.
///
/// Returns 1 if the level cannot be reached.
fn lower_rank(total: u64, alpha: f64, chance: impl Fn(u64) -> f64) -> u64 {
    let (mut fits, mut fails) = (0, total / 2 + 1);
    while fits + 1 < fails {
        let mid = fits + (fails - fits) / 2;
        if 2.0 * chance(mid - 1) <= alpha {
            fits = mid;
        } else {
            fails = mid;
        }
    }
    fits.max(1)
}

/// Returns an integer for a double. The integers have the same order as the doubles.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Returns the double from which [`key`] was computed.
fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 {
        key & !(1 << 63)
    } else {
        !key
    })
}
