// SPDX-License-Identifier: Apache-2.0
//! The result of a batch of operations.

use crate::Laps;
use std::collections::BTreeMap;

/// The result of operations: the sum of all values, and the number of rows or bytes.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The sum of all values that the operations produced, modulo 2^64.
    pub check: u64,
    /// The amount that the operations produced, such as rows or bytes.
    pub units: u64,
    /// The latencies, if the case does concurrent operations.
    pub laps: Option<Laps>,
    /// The maximum latency in ns of the operations that were due in each tenth of a second since
    /// the batch's start. Empty unless operations have a fixed rate.
    pub timeline: Vec<u64>,
    /// Metrics of the experiment by name, finite and less than 10^17.
    pub metrics: BTreeMap<&'static str, f64>,
}

impl Work {
    /// Adds the result of an operation: the number of units, and the sum of their values. A negative sum counts as
    /// its two's complement.
    pub fn add(&mut self, units: u64, sum: impl Into<i64>) {
        self.units += units;
        self.check = self.check.wrapping_add(sum.into() as u64);
    }

    /// Merges the concurrent work of another connection or thread. If both contain a metric, the value of `other` is
    /// used.
    pub fn join(mut self, other: Work) -> Work {
        self.units += other.units;
        self.check = self.check.wrapping_add(other.check);
        self.laps = match (self.laps, other.laps) {
            (Some(mut laps), Some(more)) => {
                laps.join(&more);
                Some(laps)
            }
            (laps, more) => laps.or(more),
        };
        let steps = self.timeline.len().max(other.timeline.len());
        self.timeline.resize(steps, 0);
        for (longest, more) in self.timeline.iter_mut().zip(other.timeline) {
            *longest = more.max(*longest);
        }
        self.metrics.extend(other.metrics);
        self
    }

    /// Records an operation in the timeline, given the time in ns from the batch's start to its due time, and its
    /// latency in ns.
    pub fn note(&mut self, due: u64, took: u64) {
        const STEP: u64 = 100_000_000;
        let step = (due / STEP) as usize;
        self.timeline.resize(self.timeline.len().max(step + 1), 0);
        self.timeline[step] = took.max(self.timeline[step]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_wrap() {
        let mut work = Work::default();
        work.add(1, -3);
        work.add(2, 1_i32);
        assert_eq!((work.check, work.units), (u64::MAX - 1, 3));
        let work = work.clone().join(work);
        assert_eq!((work.check, work.units), (u64::MAX - 3, 6));
    }

    #[test]
    fn a_timeline_has_the_maximum_of_each_tenth_of_a_second() {
        let mut work = Work::default();
        work.note(0, 7);
        work.note(99_999_999, 5);
        work.note(300_000_000, 2);
        let mut other = Work::default();
        other.note(100_000_000, 4);
        other.note(310_000_000, 1);
        assert_eq!(work.join(other).timeline, [7, 4, 0, 2]);
    }
}
