// SPDX-License-Identifier: Apache-2.0
//! The data that comparisons are based on, including the second copy of the baseline, which shows
//! the noise of the run.

use crate::analysis::{Exclusion, Verdict};
use crate::exclusions::exclusions;
use crate::outlook::{Outlook, SAME_ALPHA};
use crate::ratio::{Level, Ratio, ratio};
use crate::verdict::{Margin, verdict};
use lab_model::{Plan, PointId, Run, SubjectId};

/// A run, its plan, and the level at which its values are compared.
pub(crate) struct Basis<'r> {
    pub run: &'r Run,
    pub plan: &'r Plan,
    /// The subjects and points that are not compared.
    pub exclusions: Vec<Exclusion>,
    /// 1 minus the simultaneous level of all comparisons of the run.
    pub alpha: f64,
}

impl<'r> Basis<'r> {
    /// Creates a basis with a simultaneous confidence level of `1 - alpha` for all comparisons.
    pub fn new(run: &'r Run, plan: &'r Plan, alpha: f64) -> Basis<'r> {
        Basis {
            run,
            plan,
            exclusions: exclusions(run, plan),
            alpha,
        }
    }
}

impl Basis<'_> {
    /// Returns true if a subject is compared at a point. If the point is `None`, returns true if
    /// the subject is compared at any point.
    pub fn compares(&self, subject: SubjectId, point: Option<PointId>) -> bool {
        let excludes =
            |r: &Exclusion| r.subject == subject && (r.point.is_none() || r.point == point);
        let uncompared = point.is_some_and(|point| self.plan.case(point).uncompared);
        !uncompared && !self.exclusions.iter().any(excludes)
    }

    /// Returns the subjects that are compared with the baseline, before exclusions.
    pub fn candidates(&self) -> impl Iterator<Item = SubjectId> {
        candidates(self.plan)
    }

    /// Returns the plan's margin, or a wider margin if the control requires it.
    pub fn margin(&self, floor: Option<&NoiseFloor>) -> Margin {
        let requested = self.plan.measure.margin;
        let wide = floor.map_or(requested, |floor| floor.margin);
        Margin { wide, requested }
    }
}

/// Returns the subjects that are compared with the baseline, before exclusions.
pub fn candidates(plan: &Plan) -> impl Iterator<Item = SubjectId> {
    plan.compared().filter(|&s| s != plan.baseline)
}

/// The noise of a run, as measured by a second copy of the baseline.
pub(crate) struct NoiseFloor {
    /// The ratio of the two copies, with an unadjusted interval at the plan's level. The true ratio
    /// is 1.
    pub ratio: Ratio,
    /// True if the interval contains 1, or if there are too few blocks to decide.
    pub met: bool,
    /// The plan's margin or, if the interval excludes 1, a margin that covers the whole interval.
    pub margin: f64,
}

impl NoiseFloor {
    /// Computes the noise floor from the control's ratio and the requested margin.
    pub fn new(ratio: Ratio, margin: f64) -> NoiseFloor {
        let interval = ratio.interval;
        // Without an interval, the noise is not known yet.
        let met = !ratio.sufficient || (interval.low <= 1.0 && interval.high >= 1.0);
        let bound = (interval.high - 1.0).max(1.0 - interval.low);
        let margin = if met { margin } else { margin.max(bound) };
        NoiseFloor { ratio, met, margin }
    }

    /// Returns the verdict on the control's ratio for a margin.
    ///
    /// The true verdict is "equivalent".
    pub fn verdict(&self, margin: f64) -> Verdict {
        verdict(
            &self.ratio,
            Margin::plain(margin),
            &Outlook::new(SAME_ALPHA),
        )
    }
}

/// Returns the noise floor from the logarithms of the control's ratio in each block, or `None` if
/// there are no logarithms.
pub(crate) fn noise_floor(logs: &[f64], plan: &Plan) -> Option<NoiseFloor> {
    let level = Level {
        alpha: plan.measure.alpha,
        family: 1,
    };
    Some(NoiseFloor::new(ratio(logs, level)?, plan.measure.margin))
}
