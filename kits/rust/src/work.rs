// SPDX-License-Identifier: Apache-2.0
//! The result of a batch of operations.

use crate::Laps;
use std::collections::BTreeMap;

/// The result of operations: the sum of every value, and the number of rows or bytes.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Every value that the operations produced, added up modulo 2^64.
    pub check: u64,
    /// The amount that they produced, such as rows or bytes.
    pub units: u64,
    /// The latencies, if the case does several operations at once.
    pub laps: Option<Laps>,
    /// For operations at a fixed rate, else empty: the longest latency, in ns, of those that were due in each
    /// tenth of a second from the batch's start on.
    pub timeline: Vec<u64>,
    /// The experiment's own metrics by their names, finite and of less than 10^17.
    pub metrics: BTreeMap<&'static str, f64>,
}

impl Work {
    /// Adds what an operation produced: so many units, with this sum of their values. A negative
    /// one counts as its two's complement.
    pub fn add(&mut self, units: u64, sum: impl Into<i64>) {
        self.units += units;
        self.check = self.check.wrapping_add(sum.into() as u64);
    }

    /// Takes in what another connection or thread did at the same time. Of a metric of both, `other`'s
    /// counts.
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

    /// Notes an operation of the timeline: so long after the batch's start it was due, and it took so long, in ns.
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
    fn a_timeline_has_the_longest_of_each_tenth_of_a_second() {
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
