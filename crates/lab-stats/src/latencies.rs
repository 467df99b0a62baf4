// SPDX-License-Identifier: Apache-2.0
//! Latency quantiles of concurrent operations, computed from the histograms that subjects report.
//!
//! The buckets are defined in docs/protocol.md.

use crate::order;
use lab_model::{Block, PointId, SubjectId};
use std::collections::BTreeMap;

/// The number of buckets that contain a single latency each, starting at 0 ns.
///
/// For longer latencies, there are [`BUCKETS_PER_WIDTH`] buckets of each width.
const SINGLE_VALUE_BUCKETS: u32 = 64;

/// The number of buckets of each width. Widths are powers of 2.
const BUCKETS_PER_WIDTH: u32 = 32;

/// Returns the lowest and the highest latency of a bucket, in ns.
pub fn bucket(index: u32) -> (u64, u64) {
    if index < SINGLE_VALUE_BUCKETS {
        return (u64::from(index), u64::from(index));
    }
    let width = index / BUCKETS_PER_WIDTH - 1;
    let step = u64::from(index - width * BUCKETS_PER_WIDTH);
    // Valid buckets end at 64 bits. A run file with a higher index was tampered with.
    if width > 64 - 6 {
        return (u64::MAX, u64::MAX);
    }
    let low = step << width;
    (low, low + ((1 << width) - 1))
}

/// The number of operations in each bucket.
#[derive(Default)]
pub(crate) struct Histogram(BTreeMap<u32, u64>);

pub(crate) type Histograms = BTreeMap<(SubjectId, PointId), Histogram>;

pub(crate) fn histograms(block: &Block) -> Histograms {
    let mut histograms = Histograms::new();
    for batch in &block.latencies {
        let Histogram(counts) = histograms.entry((batch.subject, batch.point)).or_default();
        for &(index, count) in &batch.counts {
            let sum = counts.entry(index).or_insert(0);
            *sum = sum.saturating_add(count);
        }
    }
    histograms
}

impl Histogram {
    pub fn total(&self) -> u64 {
        self.0
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns a quantile of the latencies in ns, rounded up to the highest value of its bucket.
    ///
    /// At least `per_10_000` in 10,000 operations do not exceed the result. Returns `None` if the
    /// quantile would be the maximum, because there are too few operations.
    pub fn quantile(&self, per_10_000: u32) -> Option<f64> {
        let rank = order::quantile_rank(per_10_000, self.total())?;
        let mut passed = 0u64;
        let found = self.0.iter().find(|(_, count)| {
            passed = passed.saturating_add(**count);
            passed >= rank
        });
        found.map(|(&index, _)| bucket(index).1 as f64)
    }
}
