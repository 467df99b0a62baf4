// SPDX-License-Identifier: Apache-2.0
//! Changes from one run to another, keyed by subject, point and metric.

use super::caveat::{Caveat, NotCompared};
use super::facts::{Differing, ProgramMatch};
use crate::analysis::Verdict;
use lab_model::{Interval, Metric};
use serde::Serialize;

/// The changes from one run to another.
#[derive(Clone, Debug, Serialize)]
pub struct Between {
    /// The name of the baseline, if it is the same in both runs on every target.
    pub baseline: Option<String>,
    /// The comparison of the baseline's programs, over all targets.
    pub baseline_program: ProgramMatch,
    /// The number of complete blocks of each run.
    pub blocks: [u32; 2],
    /// The requested simultaneous level of the changes that have a verdict, from 0 to 1.
    pub level: f64,
    /// The requested level of each change without a verdict, from 0 to 1.
    pub times_level: f64,
    /// The equivalence margin: changes within 1 ± margin count as equivalent.
    pub margin: f64,
    /// The changes by point, then subject, then metric, in the order of the first run: ratios to
    /// the baseline, then times.
    pub changes: Vec<Changed>,
    /// The changes of the control's ratio to the baseline, by point. The true value is 1.
    pub controls: Vec<ControlChange>,
    /// Items that only one run has, or that were not compared in one of the runs.
    pub apart: Vec<NotCompared>,
    /// The differences between the runs.
    pub differences: Vec<Differing>,
    /// Caveats that limit the conclusions, most serious first.
    pub caveats: Vec<Caveat>,
}

/// The change of a metric of a subject at a point.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// The subject's name, with the target if there is more than one.
    pub subject: String,
    /// The point's label.
    pub point: String,
    /// The metric.
    pub metric: Metric,
    /// True if the values are ratios to the baseline, which do not depend on the speed of the
    /// machine. Otherwise they are in the metric's unit.
    pub relative: bool,
    /// The comparison of the subject's programs in the two runs.
    pub program: ProgramMatch,
    /// True if the subject is the baseline.
    pub baseline: bool,
    /// True if the subject is the baseline or its second copy. If its program is the same in both
    /// runs, the change must come from the machine or the system.
    pub reference: bool,
    /// The values in the first and the second run.
    pub values: [Interval; 2],
    /// The second value divided by the first, so a value below 1 is better. The intervals of all
    /// changes with a verdict are simultaneous.
    pub change: Interval,
    /// The verdict. `None` means that the values depend on the speed of the machine.
    /// `blocks_needed` is the number of blocks of each run.
    pub verdict: Option<Verdict>,
    /// The equivalence margin of the verdict.
    pub margin: f64,
    /// True if adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// The change of the ratio of the baseline's second copy at a point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlChange {
    /// The point's label.
    pub point: String,
    /// The ratio in the second run divided by the ratio in the first.
    pub change: Interval,
    /// True if the interval contains 1. Also true if there are too few blocks to decide.
    pub met: bool,
    /// The margin used at this point: the plans' margin, or the bound of this change if the
    /// interval excludes 1.
    pub margin: f64,
}

impl Between {
    /// Returns the changes that have a verdict: changes of ratios or of loads.
    pub fn judged(&self) -> impl Iterator<Item = &Changed> + Clone {
        self.changes.iter().filter(|c| c.verdict.is_some())
    }

    /// Returns the changes without a verdict: changes of times.
    pub fn times(&self) -> impl Iterator<Item = &Changed> + Clone {
        self.changes.iter().filter(|c| c.verdict.is_none())
    }

    /// Returns true if these are load runs, whose values are compared directly instead of as
    /// ratios.
    pub fn is_of_loads(&self) -> bool {
        self.judged().any(|c| !c.relative)
    }

    /// Adds the changes on another target.
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
