// SPDX-License-Identifier: Apache-2.0
//! How long single operations take where several are done at once: quantiles of the latencies that
//! subjects counted in the buckets of docs/protocol.md.

use crate::analysis::{Interval, LatencyQuantiles};
use crate::order;
use crate::refusals::failed;
use lab_model::{Block, Plan, PointId, Run, SubjectId};
use std::collections::BTreeMap;

/// Buckets of one value each; from there on, so many of each width.
const EXACT: u32 = 64;

/// Buckets of one width.
const STEPS: u32 = 32;

/// The quantiles of every subject at every point that has latencies, by point, then subject. In each
/// block those of all its batches together; over blocks the median, with its individual interval at
/// the plan's level.
pub fn latencies(run: &Run, plan: &Plan) -> Vec<LatencyQuantiles> {
    let blocks: Vec<Histograms> = run.complete_blocks().map(histograms).collect();
    (0..plan.points.len())
        .flat_map(|point| (0..plan.subjects.len()).map(move |subject| (subject, point)))
        .filter(|&(subject, point)| !failed(run, subject, point))
        .filter_map(|place| {
            let found: Vec<&Histogram> = blocks.iter().filter_map(|b| b.get(&place)).collect();
            quantiles(place, &found, plan.measure.alpha)
        })
        .collect()
}

/// The lowest and the highest latency that a bucket counts, ns.
pub fn bucket(index: u32) -> (u64, u64) {
    if index < EXACT {
        return (u64::from(index), u64::from(index));
    }
    let width = index / STEPS - 1;
    let step = u64::from(index - width * STEPS);
    // Beyond the last bucket of 64 bits there is none: a file that names one was tampered with.
    if width > 64 - 6 {
        return (u64::MAX, u64::MAX);
    }
    let low = step << width;
    (low, low + ((1 << width) - 1))
}

/// How many operations fell into each bucket.
#[derive(Default)]
struct Histogram(BTreeMap<u32, u64>);

type Histograms = BTreeMap<(SubjectId, PointId), Histogram>;

fn histograms(block: &Block) -> Histograms {
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

fn quantiles(
    (subject, point): (SubjectId, PointId),
    blocks: &[&Histogram],
    alpha: f64,
) -> Option<LatencyQuantiles> {
    let over_blocks = |per_10_000: u32| -> Option<Interval> {
        let quantiles = blocks.iter().filter_map(|b| b.quantile(per_10_000));
        let values: Vec<f64> = quantiles.collect();
        order::median_interval(&values, alpha)
    };
    Some(LatencyQuantiles {
        subject,
        point,
        operations: blocks.iter().map(|block| block.total()).sum(),
        p50_ns: over_blocks(5000)?,
        p90_ns: over_blocks(9000),
        p99_ns: over_blocks(9900),
        p999_ns: over_blocks(9990),
        max_ns: over_blocks(10_000)?,
    })
}

impl Histogram {
    fn total(&self) -> u64 {
        self.0
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The least latency that at least so many in 10,000 operations do not exceed, ns: the highest of
    /// its bucket, so that it is never too low. `None` where the operations are so few that it would
    /// be their greatest.
    fn quantile(&self, per_10_000: u32) -> Option<f64> {
        let rank = order::quantile_rank(per_10_000, self.total())?;
        let mut passed = 0u64;
        let found = self.0.iter().find(|(_, count)| {
            passed = passed.saturating_add(**count);
            passed >= rank
        });
        found.map(|(&index, _)| bucket(index).1 as f64)
    }
}
