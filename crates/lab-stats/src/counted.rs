// SPDX-License-Identifier: Apache-2.0
//! Very many values that are counted and never listed (means or differences of all pairs), and the
//! estimate, interval and p-value that the ranks among them give.

use lab_model::Interval;

/// A rank-based estimate of the center of some values, or of the shift between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centre {
    /// Hodges-Lehmann estimate with the interval.
    pub interval: Interval,
    /// Two-sided p-value of 0.
    pub p: f64,
}

/// Values by how many of them are at most a limit.
pub struct CountedValues<F> {
    /// How many there are, at least 1.
    pub total: u64,
    /// The least and the greatest of them.
    pub span: (f64, f64),
    /// How many are at most so much.
    pub at_most: F,
}

impl<F: Fn(f64) -> u64> CountedValues<F> {
    /// The median of the values, the interval at a level of at least `1 - alpha` between two of
    /// them, and the p-value of 0. `chance(t)` is the chance that at most `t` of the values lie
    /// below the truth; it is symmetric. Where the level cannot be had, the widest interval and
    /// its level.
    ///
    /// Values of just 0 count for both sides, so that 0 lies outside the interval just when
    /// p <= alpha.
    pub fn centre(&self, chance: impl Fn(u64) -> f64, alpha: f64) -> Centre {
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
        Centre {
            interval,
            p: (2.0 * chance(not_above.min(not_below))).min(1.0),
        }
    }

    /// The `rank`-th smallest value, from 1: bisection over the doubles of the span, so that it
    /// takes 64 counts and no memory.
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

/// The rank from 1, among `total` sorted values, of the lower bound at level `1 - alpha`; 1 if
/// the level cannot be had.
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

/// An integer that orders as the double does.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// The double that [`key`] was made from.
fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 {
        key & !(1 << 63)
    } else {
        !key
    })
}
