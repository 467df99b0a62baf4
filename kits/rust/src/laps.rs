// SPDX-License-Identifier: Apache-2.0
//! The latencies of concurrent operations.

use crate::clock;
use std::fmt;

/// The number of buckets. Every `u64` has a bucket, so that no bounds have to be checked while
/// measuring.
const BUCKETS: usize = 59 * 32 + 32;

/// The latencies of the operations of one connection or thread, with their start and end.
///
/// The clock is read once per operation: the end of an operation is the start of the next one. Nothing is allocated
/// after [`Laps::default`].
#[derive(Clone)]
pub struct Laps {
    start: u64,
    end: u64,
    counts: Box<[u64; BUCKETS]>,
}

impl Default for Laps {
    fn default() -> Self {
        Self {
            start: 0,
            end: 0,
            counts: Box::new([0; BUCKETS]),
        }
    }
}

impl Laps {
    /// Starts the first operation.
    pub fn start(&mut self) {
        self.start = clock::now();
        self.end = self.start;
    }

    /// Ends an operation, and starts the next one.
    pub fn lap(&mut self) {
        let now = clock::now();
        self.counts[bucket(now - self.end)] += 1;
        self.end = now;
    }

    /// Ends an operation that was due at `due`, in ns of CLOCK_MONOTONIC.
    ///
    /// Use this for operations at a fixed rate, whose latencies count from the time when they are
    /// due.
    pub fn lap_since(&mut self, due: u64) {
        let now = clock::now();
        self.counts[bucket(now.saturating_sub(due))] += 1;
        self.end = now;
    }

    /// Ends the last operation, unless the last lap has ended it.
    pub fn finish(&mut self) {
        if self.end == self.start {
            self.end = clock::now();
        }
    }

    /// Returns true if no operation was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Merges the concurrent operations of another connection or thread.
    pub(crate) fn join(&mut self, other: &Laps) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count += more;
        }
    }

    /// Returns the start of the first operation and the end of the last one, as CLOCK_MONOTONIC in ns.
    pub fn span(&self) -> (u64, u64) {
        (self.start, self.end)
    }
}

/// Formats the argument `latencies`: `INDEX:COUNT,INDEX:COUNT,…`, ascending, without empty buckets.
impl fmt::Display for Laps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        for (place, (index, count)) in counted.enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{index}:{count}")?;
        }
        Ok(())
    }
}

/// Returns the bucket of a latency in ns, in HdrHistogram's layout with 64 sub-buckets.
fn bucket(ns: u64) -> usize {
    let exponent = 58_u32.saturating_sub(ns.leading_zeros());
    exponent as usize * 32 + (ns >> exponent) as usize
}

impl fmt::Debug for Laps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Laps({} to {}: {self})", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_those_of_the_protocol() {
        let table = [
            (0, 0),
            (63, 63),
            (64, 64),
            (65, 64),
            (66, 65),
            (127, 95),
            (128, 96),
            (1_000, 190),
            (1_000_000, 509),
            (4_294_967_296, 896),
        ];
        for (ns, index) in table {
            assert_eq!(bucket(ns), index, "{ns} ns");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn a_bucket_is_at_most_a_32nd_as_wide_as_what_it_counts(bits in 0..64_u32, any: u64) {
            let ns = any >> bits;
            let width = (0..63).map(|e| 1_u64 << e).take_while(|w| {
                bucket(ns & !(w * 2 - 1)) == bucket(ns | (w * 2 - 1))
            }).last().map_or(1, |w| w * 2);
            prop_assert!(width == 1 || width <= ns / 32, "{} ns in a bucket of {} ns", ns, width);
        }

        #[test]
        fn buckets_ascend(bits in 0..64_u32, any: u64) {
            let ns = any >> bits;
            let more = bucket(ns.saturating_add(1)) - bucket(ns);
            prop_assert!(more <= 1);
        }
    }

    #[test]
    fn merges_concurrent_operations() {
        let mut first = Laps {
            start: 20,
            end: 90,
            ..Laps::default()
        };
        let mut other = Laps {
            start: 10,
            end: 50,
            ..Laps::default()
        };
        first.counts[bucket(70)] = 1;
        other.counts[bucket(70)] = 2;
        other.counts[bucket(5)] = 3;
        first.join(&other);
        assert_eq!(first.span(), (10, 90));
        assert_eq!(first.to_string(), "5:3,67:3");
    }

    #[test]
    fn counts_every_lap_by_the_clock() {
        let mut laps = Laps::default();
        assert_eq!(laps.to_string(), "");
        let before = clock::now();
        laps.start();
        for _ in 0..1000 {
            laps.lap();
        }
        let (start, end) = laps.span();
        assert!(before <= start && start <= end && end <= clock::now());
        assert_eq!(laps.counts.iter().sum::<u64>(), 1000);
    }
}
