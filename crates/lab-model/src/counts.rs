// SPDX-License-Identifier: Apache-2.0
//! Distributions of times.

use serde::{Deserialize, Serialize};

/// A distribution of times as (value, count) pairs, ascending by value.
///
/// Each value represents one bucket, in ns. The distribution of a load has the buckets of an
/// HdrHistogram with three significant digits, and each value is the upper bound of its bucket. The
/// distribution of a log has wider buckets, and each value is the middle of its bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts(pub Vec<(u64, u64)>);

impl Counts {
    /// The longest time that is distinguished from longer times: one hour, in ns.
    pub const MAX_NS: u64 = 3_600_000_000_000;

    /// The number of significant decimal digits of a time in the distributions of a load.
    pub const DIGITS: u8 = 3;

    /// Returns the total count.
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Adds another distribution with the same buckets.
    pub fn add(&mut self, other: &Counts) {
        let (mine, theirs) = (std::mem::take(&mut self.0), &other.0);
        let (mut i, mut j) = (0, 0);
        self.0.reserve(mine.len().max(theirs.len()));
        loop {
            let (a, b) = (mine.get(i), theirs.get(j));
            let Some(value) = a.into_iter().chain(b).map(|(value, _)| *value).min() else {
                break;
            };
            let mut sum = 0_u64;
            for (side, at) in [(a, &mut i), (b, &mut j)] {
                if let Some((_, count)) = side.filter(|(v, _)| *v == value) {
                    sum = sum.saturating_add(*count);
                    *at += 1;
                }
            }
            self.0.push((value, sum));
        }
    }

    /// Returns this distribution without the values of `part`, whose values must all be in this
    /// distribution.
    pub fn subtract(&self, part: &Counts) -> Counts {
        let mut parts = part.0.iter().peekable();
        let left = self.0.iter().map(|&(value, count)| {
            while parts.next_if(|(v, _)| *v < value).is_some() {}
            let taken = parts.next_if(|(v, _)| *v == value);
            (value, count.saturating_sub(taken.map_or(0, |(_, n)| *n)))
        });
        Counts(left.filter(|(_, count)| *count > 0).collect())
    }

    /// Returns the median: the smallest value that is at least as large as half of the values.
    pub fn median(&self) -> Option<u64> {
        self.value_at_rank(self.total().div_ceil(2))
    }

    /// Returns a quantile, given as a fraction from 0 to 1.
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        let rank = (self.total() as f64 * fraction).ceil() as u64;
        self.value_at_rank(rank.max(1))
    }

    /// Returns the value at a rank, counted from 1 in ascending order.
    fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let mut cumulative = 0_u64;
        let value = self.0.iter().find(|(_, count)| {
            cumulative = cumulative.saturating_add(*count);
            cumulative >= rank
        });
        value.map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_add_up() {
        let mut sum = Counts(vec![(1, 2), (5, 1)]);
        sum.add(&Counts(vec![(0, 1), (5, 4), (9, 3)]));
        assert_eq!(sum, Counts(vec![(0, 1), (1, 2), (5, 5), (9, 3)]));
        sum.add(&Counts::default());
        assert_eq!(sum.total(), 11);
    }

    #[test]
    fn a_distribution_without_a_part_is_the_rest() {
        let (one, other) = (Counts(vec![(1, 2), (5, 1)]), Counts(vec![(0, 1), (5, 4)]));
        let mut sum = one.clone();
        sum.add(&other);
        assert_eq!((sum.subtract(&one), sum.subtract(&other)), (other, one));
    }
}
