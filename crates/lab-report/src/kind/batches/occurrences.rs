// SPDX-License-Identifier: Apache-2.0
//! The blocks in which a loss happened.
//!
//! The value of a loss is the median over blocks, which is 0 for a loss that happens in fewer than
//! half of the blocks.

use crate::parts::measured::SubjectScope;
use crate::parts::scope::Scope;
use crate::wording;
use lab_document::say;
use lab_model::Metric;
use lab_stats::results::{Key, readings};
use std::collections::{BTreeMap, HashMap};

/// The readings of a run's complete blocks.
pub struct Occurrences {
    /// The sum and the number of readings, by block.
    blocks: HashMap<Key, BTreeMap<usize, (f64, f64)>>,
}

/// A loss of a subject at a point that happened in at least one block.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence {
    /// The number of blocks with a reading other than 0.
    blocks: usize,
    /// The number of blocks.
    all: usize,
    /// The maximum over blocks of the mean reading of a block, in the metric's unit.
    pub max: f64,
}

impl Occurrences {
    /// Collects the readings of a run.
    pub fn new(scope: &Scope) -> Occurrences {
        let mut blocks: HashMap<Key, BTreeMap<usize, (f64, f64)>> = HashMap::new();
        for reading in readings(scope.run) {
            let of_key = blocks.entry(reading.key).or_default();
            let (sum, count) = of_key.entry(reading.block).or_default();
            *sum += reading.value;
            *count += 1.0;
        }
        Occurrences { blocks }
    }

    /// Returns the occurrence of a loss, or `None` if every reading of every complete block is 0.
    pub fn find(&self, (subject, point): SubjectScope, metric: &Metric) -> Option<Occurrence> {
        let metric = metric.clone();
        let blocks = self.blocks.get(&Key {
            subject,
            point,
            metric,
        })?;
        let means = blocks.values().map(|(sum, count)| sum / count);
        let happened: Vec<f64> = means.filter(|mean| *mean != 0.0).collect();
        (!happened.is_empty()).then(|| Occurrence {
            blocks: happened.len(),
            all: blocks.len(),
            max: happened.iter().copied().fold(0.0, f64::max),
        })
    }
}

impl Occurrence {
    /// Describes the loss, such as `up to 41 % in 3 of 10 blocks`.
    pub fn text(&self, metric: &Metric) -> String {
        let max = say::reading(self.max, &metric.unit);
        wording::rare_loss(&max, self.blocks, self.all)
    }
}
