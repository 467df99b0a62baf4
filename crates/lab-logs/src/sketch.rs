// SPDX-License-Identifier: Apache-2.0
//! A compact distribution of durations: each power of two is divided into 32 buckets of equal
//! width.
//!
//! A percentile is the middle of its bucket, so its error is at most 1/64, or 1.6 %. Each value
//! below 32 ns has its own bucket. There are 1,200 buckets up to one hour. A sketch stores only the
//! buckets between its minimum and its maximum.

use crate::registers;
use lab_model::Counts;
use serde::{Deserialize, Serialize};

/// The binary logarithm of the number of buckets per power of two.
const BITS: u32 = 5;
/// The value, in ns, below which each value has its own bucket.
const SINGLE: u64 = 1 << BITS;
const BUCKETS: usize = ((41 - BITS + 2) as usize) << BITS;

/// The maximum relative error of a percentile.
pub const ERROR: f64 = 1.0 / 64.0;

/// The maximum carry of a bucket, in units of 2^16 values.
///
/// Because of this maximum, the count of a bucket fits into 64 bits.
const MAX_CARRY: u64 = u64::MAX >> 16;

/// The maximum value in ns. Larger values count as this value.
pub const MAX_NS: u64 = Counts::MAX_NS;

/// Returns the bucket of a value in ns.
#[inline]
pub fn bucket(ns: u64) -> u16 {
    let ns = ns.min(MAX_NS);
    if ns < SINGLE {
        return ns as u16;
    }
    let exponent = 63 - ns.leading_zeros();
    let within = (ns >> (exponent - BITS)) as u32 & ((1 << BITS) - 1);
    (((exponent - BITS + 1) << BITS) + within) as u16
}

/// Returns the middle of a bucket, in ns.
pub fn middle(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    let Some(doublings) = (bucket >> BITS).checked_sub(1) else {
        return bucket;
    };
    let width = 1_u64 << doublings;
    (SINGLE + (bucket & (SINGLE - 1))) * width + width / 2
}

/// Returns the natural logarithms of the middles of all buckets.
///
/// A value of 0 is below the resolution of the log's clock and counts as half a µs.
pub fn logarithms() -> Vec<f64> {
    let value = |bucket| match middle(bucket) {
        0 => 512.0,
        ns => ns as f64,
    };
    (0..BUCKETS as u16).map(|b| value(b).ln()).collect()
}

/// The number of values in each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u64)>", into = "Vec<(u16, u64)>")]
pub struct Sketch {
    /// The bucket of the first element in `counts`.
    first: u16,
    counts: Vec<u16>,
    /// The buckets whose counts exceed 16 bits, each with its carry in units of 2^16 values.
    carries: Vec<(u16, u64)>,
}

impl Sketch {
    /// Prefetches the count to which a value will be added.
    #[inline]
    pub fn fetch(&self, bucket: u16) {
        if let Some(count) = self.counts.get(bucket.wrapping_sub(self.first) as usize) {
            registers::fetch(count);
        }
    }

    /// Adds a value, given its bucket.
    #[inline]
    pub fn add(&mut self, bucket: u16) {
        let index = bucket.wrapping_sub(self.first) as usize;
        match self.counts.get_mut(index) {
            Some(count) if *count < u16::MAX => *count += 1,
            _ => self.add_many(bucket, 1),
        }
    }

    /// Adds `n` values to a bucket.
    #[cold]
    pub fn add_many(&mut self, bucket: u16, n: u64) {
        if n == 0 {
            return;
        }
        self.reach(bucket);
        let count = &mut self.counts[(bucket - self.first) as usize];
        let sum = u64::from(*count).saturating_add(n);
        *count = sum as u16;
        let carry = sum >> 16;
        match self.carries.iter_mut().find(|(b, _)| *b == bucket) {
            Some((_, carried)) => *carried = (*carried + carry).min(MAX_CARRY),
            None if carry > 0 => self.carries.push((bucket, carry)),
            None => {}
        }
    }

    /// Extends the range of stored buckets to `bucket` and a few buckets next to it.
    fn reach(&mut self, bucket: u16) {
        if self.counts.is_empty() {
            self.first = bucket;
            self.counts = vec![0];
        } else if bucket < self.first {
            let first = bucket.saturating_sub(4);
            let empty = vec![0; usize::from(self.first - first)];
            self.counts.splice(0..0, empty);
            self.first = first;
        } else if usize::from(bucket - self.first) >= self.counts.len() {
            let length = usize::from(bucket - self.first) + 1;
            if length > self.counts.capacity() {
                self.counts.reserve_exact(length + 8 - self.counts.len());
            }
            self.counts.resize(length, 0);
        }
    }

    /// Adds all values of another sketch.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, count) in other.buckets() {
            self.add_many(bucket, count);
        }
    }

    /// Returns the nonempty buckets in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = (u16, u64)> {
        let counted = self.counts.iter().enumerate().map(|(i, count)| {
            let bucket = self.first + i as u16;
            let carried = self
                .carries
                .iter()
                .find(|(b, _)| *b == bucket)
                .map_or(0, |(_, n)| *n);
            (bucket, u64::from(*count).saturating_add(carried << 16))
        });
        counted.filter(|(_, count)| *count > 0)
    }

    /// Returns the values with their counts.
    pub fn counts(&self) -> Counts {
        Counts(self.buckets().map(|(b, n)| (middle(b), n)).collect())
    }

    /// Returns the heap memory in bytes.
    pub fn memory(&self) -> usize {
        2 * self.counts.capacity() + 16 * self.carries.capacity()
    }
}

impl From<Sketch> for Vec<(u16, u64)> {
    fn from(sketch: Sketch) -> Self {
        sketch.buckets().collect()
    }
}

impl From<Vec<(u16, u64)>> for Sketch {
    fn from(buckets: Vec<(u16, u64)>) -> Sketch {
        let mut sketch = Sketch::default();
        for (bucket, count) in buckets {
            sketch.add_many(bucket.min(BUCKETS as u16 - 1), count);
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_is_off_by_at_most_a_64th() {
        let mut value = 1_u64;
        while value < MAX_NS {
            let middle = middle(bucket(value));
            assert!(
                middle.abs_diff(value) as f64 <= ERROR * value as f64,
                "{value}"
            );
            value += 1 + value / 97;
        }
        assert_eq!(bucket(u64::MAX), bucket(MAX_NS));
        assert!((bucket(MAX_NS) as usize) < BUCKETS);
        for ns in 0..64 {
            assert_eq!((bucket(ns), middle(bucket(ns))), (ns as u16, ns));
        }
        assert!((1..BUCKETS as u16).all(|b| bucket(middle(b)) == b || middle(b) > MAX_NS));
    }

    #[test]
    fn nothing_is_lost_whatever_the_order() {
        let values = [5_u64, 3_000_000, 2_000, 3_600_000_000_001, 70_000, 2_000];
        let (mut one, mut other) = (Sketch::default(), Sketch::default());
        values.iter().for_each(|v| one.add(bucket(*v)));
        values.iter().rev().for_each(|v| other.add(bucket(*v)));
        assert_eq!(one.counts(), other.counts());
        one.merge(&other);
        assert_eq!(one.counts().total(), 12);
        one.add_many(bucket(2_000), 10_000_000_000);
        one.add(bucket(2_000));
        assert_eq!(one.counts().total(), 10_000_000_013);
    }

    proptest! {
        /// A sum is exact up to 2^64 - 1 and is never less than any of its terms.
        #[test]
        fn huge_counts_add_up(counts in prop::collection::vec((0..3_u16, any::<u64>(), 0..64_u32), 0..40)) {
            let mut sketch = Sketch::default();
            let mut sums = [0_u64; 3];
            for (bucket, count, shift) in counts {
                let count = count >> shift;
                sketch.add_many(bucket, count);
                sums[usize::from(bucket)] = sums[usize::from(bucket)].saturating_add(count);
            }
            for (bucket, count) in sketch.buckets() {
                let sum = sums[usize::from(bucket)];
                // A count beyond 64 bits loses at most the count of one bucket without its carries.
                prop_assert!(count == sum || (sum == u64::MAX && count >= u64::MAX - 0xffff), "{count} {sum}");
            }
            let again: Sketch = Vec::from(sketch.clone()).into();
            prop_assert_eq!(again.counts(), sketch.counts());
        }
    }
}
