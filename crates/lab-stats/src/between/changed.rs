// SPDX-License-Identifier: Apache-2.0
//! The changes from one run to another, keyed by subject, point and metric.

use super::caveat::{Caveat, NotCompared};
use super::facts::{Differing, ProgramMatch};
use crate::analysis::Verdict;
use lab_model::{Interval, Metric};
use serde::Serialize;

/// The changes from one run to another.
#[derive(Clone, Debug, Serialize)]
pub struct Between {
    /// The name of the baseline, if both runs have the same, on each target.
    pub baseline: Option<String>,
    /// The match of the baseline's programs, over all targets.
    pub baseline_program: ProgramMatch,
    /// Complete blocks of each.
    pub blocks: [u32; 2],
    /// The level that the changes at one point were asked to have together, 0 to 1.
    pub level: f64,
    /// The level that each change without a verdict was asked to have, 0 to 1.
    pub times_level: f64,
    /// Changes within 1 ± this count as equivalent.
    pub margin: f64,
    /// By point, then subject, then metric, in the order of the first run: ratios to the baseline, then times.
    pub changes: Vec<Changed>,
    /// The changes of the control's ratio to the baseline, by point; the truth is 1.
    pub controls: Vec<ControlChange>,
    /// The parts that are in one run alone, or were not compared in one of them.
    pub apart: Vec<NotCompared>,
    /// The differences between the runs.
    pub differences: Vec<Differing>,
    /// Caveats that limit the conclusions, the gravest first.
    pub caveats: Vec<Caveat>,
}

/// How something of a subject at a point changed.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// The subject's name, with the target if there is more than one.
    pub subject: String,
    /// The point's label.
    pub point: String,
    /// The metric.
    pub metric: Metric,
    /// The values are ratios to the baseline, in which the machine's speed is not; else they are in the metric's
    /// unit.
    pub relative: bool,
    /// True if it is the same program in both runs; of servers that is not known.
    pub program: ProgramMatch,
    /// It is the baseline.
    pub baseline: bool,
    /// It is the baseline or its second copy: if the program is the same, only the machine and the system can have
    /// changed it.
    pub reference: bool,
    /// The values in the first run and in the second.
    pub values: [Interval; 2],
    /// The second / the first; below 1 is better. The intervals of all changes that have a verdict at the point hold
    /// together.
    pub change: Interval,
    /// The verdict; `None` where the machine's speed is in the values. Its `blocks_needed` are blocks of each run.
    pub verdict: Option<Verdict>,
    /// The margin used.
    pub margin: f64,
    /// Adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// How the ratio of the second copy of the baseline changed at a point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlChange {
    /// The point's label.
    pub point: String,
    /// Ratio in the second run / ratio in the first.
    pub change: Interval,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The margin used at this point: the plans', or the bound of this where it is not met.
    pub margin: f64,
}

impl Between {
    /// Changes that have a verdict: of ratios, or of loads.
    pub fn judged(&self) -> impl Iterator<Item = &Changed> + Clone {
        self.changes.iter().filter(|c| c.verdict.is_some())
    }

    /// Changes of times that have none.
    pub fn times(&self) -> impl Iterator<Item = &Changed> + Clone {
        self.changes.iter().filter(|c| c.verdict.is_none())
    }

    /// True if these are runs of a load, whose figures are compared by themselves.
    pub fn is_of_loads(&self) -> bool {
        self.judged().any(|c| !c.relative)
    }

    /// Adds what changed on a further target.
    pub(crate) fn add(&mut self, other: Between) {
        if self.baseline != other.baseline {
            self.baseline = None;
        }
        self.baseline_program = self.baseline_program.max(other.baseline_program);
        self.changes.extend(other.changes);
        self.controls.extend(other.controls);
        self.apart.extend(other.apart);
        self.differences.extend(other.differences);
        for caveat in other.caveats {
            if !self.caveats.contains(&caveat) {
                self.caveats.push(caveat);
            }
        }
    }
}
