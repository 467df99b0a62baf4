// SPDX-License-Identifier: Apache-2.0
//! Values of individual subjects, summarized over their blocks, without the baseline.

use super::{Cell, Key, Value};
use crate::dependence::{self, Merged};
use crate::{family, mean, order, signed_rank};
use lab_model::{Interval, Metric, PointId, SubjectId};

/// A value for each block, in chronological order.
///
/// `None` means that the block has no value.
pub(crate) type Blocks = Vec<Option<f64>>;

/// Returns the logarithm of `above` / `below` in each block that contains both values.
pub(crate) fn log_ratios(above: &Blocks, below: &Blocks) -> Blocks {
    let pairs = above.iter().zip(below);
    pairs.map(|(a, b)| Some(((*a)? / (*b)?).ln())).collect()
}

/// The method by which the values of blocks are summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockSummary {
    /// The median, with its exact interval at the plan's level.
    Median,
    /// The median after merging neighbors that depend on each other.
    Merged,
    /// The mean, including pauses, with an interval that follows the skew of the values.
    Mean,
    /// The median, without an interval.
    Middle,
    /// The Hodges-Lehmann estimate with its exact interval, for differences between two subjects.
    Center,
    /// The maximum of the blocks' values.
    Max,
    /// The sum of the blocks' values.
    Sum,
}

/// Collects the summarized values of a run.
pub(crate) struct Levels {
    /// 1 minus the level of each interval.
    pub alpha: f64,
    pub seed: u64,
    pub cells: Vec<Cell>,
}

impl Levels {
    /// Adds the summary of the values of blocks, if at least one block has a value.
    ///
    /// Returns how the blocks were merged.
    pub fn add(
        &mut self,
        key: Key,
        summary: BlockSummary,
        blocks: &[Option<f64>],
    ) -> Option<Merged> {
        let values: Vec<f64> = blocks.iter().copied().flatten().collect();
        let (value, merged) = self.summarized(summary, &values)?;
        self.cells.push(Cell {
            key,
            blocks: values.len() as u32,
            value,
        });
        merged
    }

    /// Adds a value that belongs to the whole run instead of a block.
    pub fn push(&mut self, key: Key, blocks: u32, value: Value) {
        self.cells.push(Cell { key, blocks, value });
    }

    /// Returns the mean, or the median if the mean is 0 and has no ratio.
    fn mean(&self, values: &[f64]) -> Option<Interval> {
        let ones = vec![1.0; values.len()];
        mean::ratio_of_means(values, &ones, self.seed, self.alpha)
            .or_else(|| order::median_interval(values, self.alpha))
    }

    fn summarized(&self, summary: BlockSummary, values: &[f64]) -> Option<(Value, Option<Merged>)> {
        let most = || values.iter().copied().reduce(f64::max);
        let value = match summary {
            BlockSummary::Median => Value::Estimate(order::median_interval(values, self.alpha)?),
            BlockSummary::Merged => {
                let enough = family::blocks_needed(self.alpha, 1).unwrap_or(u32::MAX);
                let merged = dependence::merge(values, enough);
                let interval = order::median_interval(&merged.values, self.alpha)?;
                return Some((Value::Estimate(interval), Some(merged)));
            }
            BlockSummary::Mean => Value::Estimate(self.mean(values)?),
            BlockSummary::Center => {
                Value::Estimate(signed_rank::center(values, self.alpha)?.interval)
            }
            BlockSummary::Middle => Value::Reading(order::median(values)?),
            BlockSummary::Max => Value::Reading(most()?),
            BlockSummary::Sum => Value::Reading(most().map(|_| values.iter().sum())?),
        };
        Some((value, None))
    }
}

pub(crate) fn key(subject: SubjectId, point: impl Into<Option<PointId>>, metric: &Metric) -> Key {
    Key {
        subject,
        point: point.into(),
        metric: metric.clone(),
    }
}
