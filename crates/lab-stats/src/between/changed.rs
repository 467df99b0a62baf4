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
    /// The name of the baseline, if all targets have the same baseline in both runs.
    pub baseline: Option<String>,
    /// The comparison of the baseline's programs in the two runs, over all targets.
    pub baseline_program: ProgramMatch,
    /// The number of complete blocks of each run.
    pub blocks: [u32; 2],
    /// The requested confidence level, from 0 to 1, at which all changes with a verdict hold
    /// simultaneously.
    pub level: f64,
    /// The requested confidence level of each single change without a verdict, from 0 to 1.
    pub times_level: f64,
    /// The equivalence margin: changes within 1 ± margin count as equivalent.
    pub margin: f64,
    /// The changes. On each target, ratios to the baseline come before times. Both are ordered by
    /// point, then subject, then metric, as in the first run.
    pub changes: Vec<Changed>,
    /// The changes of the control's ratio to the baseline, by point. The true value is 1.
    pub controls: Vec<ControlChange>,
    /// Items that only one of the runs has, or that one of the runs did not compare.
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
    /// The metric of the values or, if `relative` is true, of the ratios.
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
    /// The values in the first and in the second run.
    pub values: [Interval; 2],
    /// The second value divided by the first. Below 1 is better. The intervals of all changes with
    /// a verdict are simultaneous.
    pub change: Interval,
    /// The verdict. `None` means that the values depend on the speed of the machine.
    /// `blocks_needed` in the verdict is the number of blocks that each run needs.
    pub verdict: Option<Verdict>,
    /// The equivalence margin of the verdict.
    pub margin: f64,
    /// True if adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// The change of the ratio between the second copy of the baseline and the baseline, at one point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlChange {
    /// The point's label.
    pub point: String,
    /// The ratio in the second run divided by the ratio in the first.
    pub change: Interval,
    /// True if the interval contains 1, or if there are too few blocks to decide.
    pub met: bool,
    /// The margin at this point: the plan's margin, or a wider margin that covers this change if
    /// the interval excludes 1.
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

    /// Returns true if the compared runs are load runs, whose values are compared directly instead
    /// of as ratios.
    pub fn is_of_loads(&self) -> bool {
        self.judged().any(|c| !c.relative)
    }

    /// Adds the changes of another target.
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
