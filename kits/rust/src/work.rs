// SPDX-License-Identifier: Apache-2.0
//! What a batch of operations yields.

use crate::Laps;
use std::collections::BTreeMap;

/// What operations yielded: the sum of every value, and how many rows or bytes they were.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Every value that the operations produced, added up modulo 2^64.
    pub check: u64,
    /// What they produced: rows, bytes.
    pub units: u64,
    /// The latencies, if the case does several operations at once.
    pub laps: Option<Laps>,
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
        self.metrics.extend(other.metrics);
        self
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
}
