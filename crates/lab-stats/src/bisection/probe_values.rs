// SPDX-License-Identifier: Apache-2.0
//! The ratios of neighboring commits in each block of a probe.

use crate::order;
use crate::table::{BatchTable, sound_plan};
use lab_model::{Block, Metric, PointId, Run, SubjectId};
use serde::{Deserialize, Serialize};

/// A metric that a bisection can compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BisectedMetric {
    /// Wall time.
    #[default]
    Wall,
    /// CPU time.
    Cpu,
    /// Instructions, counted by the processor.
    Instructions,
    /// Peak memory.
    Memory,
}

/// The logarithms of the ratios of neighboring commits in one run, by block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeValues {
    /// The logarithm of the second subject's value divided by the first subject's value, for each
    /// block.
    pub first: Vec<f64>,
    /// The logarithm of the third subject's value divided by the second subject's value. Empty if
    /// there are two subjects.
    pub second: Vec<f64>,
}

/// Returns the ratios in the complete blocks of a run in which neighboring commits took turns.
///
/// `subjects` contains two or three commits in their order. Blocks that lack a value are omitted.
pub fn probe_values(run: &Run, subjects: &[SubjectId], metric: BisectedMetric) -> ProbeValues {
    let pairs: Vec<Vec<Option<f64>>> = subjects
        .windows(2)
        .map(|pair| log_ratios(run, pair[1], pair[0], metric))
        .collect();
    let blocks = pairs.iter().map(Vec::len).min().unwrap_or(0);
    let complete = (0..blocks).filter(|&i| pairs.iter().all(|pair| pair[i].is_some()));
    let complete: Vec<usize> = complete.collect();
    let values = |pair: Option<&Vec<Option<f64>>>| {
        let pair = pair.map_or(&[][..], Vec::as_slice);
        complete.iter().filter_map(|&i| *pair.get(i)?).collect()
    };
    ProbeValues {
        first: values(pairs.first()),
        second: values(pairs.get(1)),
    }
}

fn log_ratios(
    run: &Run,
    subject: SubjectId,
    baseline: SubjectId,
    metric: BisectedMetric,
) -> Vec<Option<f64>> {
    let Some(plan) = sound_plan(run) else {
        return Vec::new();
    };
    let finite = |ratio: Option<f64>| ratio.filter(|ratio| ratio.is_finite());
    if metric == BisectedMetric::Wall {
        let logs = BatchTable::new(run, plan).log_ratios(subject, baseline, PointId(0));
        return logs.into_iter().map(finite).collect();
    }
    let ratio = |block: &Block| {
        let level = |s| order::interquartile_mean(&values(block, s, metric));
        finite(Some((level(subject)? / level(baseline)?).ln()))
    };
    run.complete_blocks().map(ratio).collect()
}

/// Returns the values of a subject's turns in a block.
fn values(block: &Block, subject: SubjectId, metric: BisectedMetric) -> Vec<f64> {
    match metric {
        BisectedMetric::Wall | BisectedMetric::Cpu => {
            let samples = block.samples.iter().filter(|s| s.subject == subject);
            let per_operation = samples.map(|s| match metric {
                BisectedMetric::Wall => s.batch.wall_ns as f64 / s.batch.operations as f64,
                _ => s.batch.cpu_ns as f64 / s.batch.operations as f64,
            });
            per_operation.collect()
        }
        BisectedMetric::Instructions => {
            let readings = block.readings.iter().filter(|r| r.subject == subject);
            let counted = readings.filter(|r| r.metric == Metric::INSTRUCTIONS.id);
            counted.map(|r| r.value).collect()
        }
        BisectedMetric::Memory => {
            let exits = block.exits.iter().filter(|e| e.subject == subject);
            exits.map(|e| e.peak_rss_bytes as f64).collect()
        }
    }
}
