// SPDX-License-Identifier: Apache-2.0
//! Ratios to the baseline whose intervals hold together, and the second copy of the baseline that shows the
//! run's own noise: the same for every metric of every kind of run.

use crate::analysis::{Refusal, Verdict};
use crate::family;
use crate::ratio::{Level, Ratio, ratio};
use crate::verdict::verdict;
use lab_model::{Metric, Plan, PointId, Run, SubjectId};

/// What the figures of a run on one target rest on.
pub(crate) struct Basis<'r> {
    pub run: &'r Run,
    pub plan: &'r Plan,
    /// What is not compared.
    pub refusals: Vec<Refusal>,
    /// 1 - the level at which the intervals of a family hold together.
    pub alpha: f64,
}

impl Basis<'_> {
    /// Whether a subject is compared at a point; without a point, anywhere.
    pub fn compares(&self, subject: SubjectId, point: Option<PointId>) -> bool {
        let refused = |r: &Refusal| r.subject == subject && (r.point.is_none() || r.point == point);
        let uncompared = point.is_some_and(|point| self.plan.case(point).uncompared);
        !uncompared && !self.refusals.iter().any(refused)
    }

    /// The subjects that are compared with the baseline, before refusals.
    pub fn candidates(&self) -> impl Iterator<Item = SubjectId> {
        candidates(self.plan)
    }
}

/// The subjects that are compared with the baseline, before refusals.
pub fn candidates(plan: &Plan) -> impl Iterator<Item = SubjectId> {
    plan.compared().filter(|&s| s != plan.baseline)
}

/// A subject's ratio to the baseline in one metric, and what it supports.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub subject: SubjectId,
    pub metric: Metric,
    pub ratio: Ratio,
    /// How sure the ratio was asked to be.
    pub level: Level,
    /// Holm-adjusted p-value of ratio = 1.
    pub p: f64,
    pub verdict: Verdict,
    /// The plan's, or the control's bound where its noise floor was not met.
    pub margin: f64,
}

/// What the logarithms of ratios to the baseline say, of which `logs` gives one for each block that has both;
/// none where a subject cannot be compared. First of the control, metric by metric, individually at the plan's
/// level; then of the candidates, by subject, then metric, at a level of `1 - alpha` for all of them together
/// (Bonferroni).
pub(crate) fn judge(
    basis: &Basis,
    metrics: &[Metric],
    logs: impl Fn(SubjectId, &Metric) -> Vec<f64>,
) -> (Vec<(Metric, NoiseFloor)>, Vec<Judged>) {
    let floor = |metric: &Metric| {
        let logs = logs(basis.plan.control()?, metric);
        Some((metric.clone(), noise_floor(&logs, basis.plan)?))
    };
    let floors: Vec<_> = metrics.iter().filter_map(floor).collect();
    let margin = |metric: &Metric| {
        let floor = floors.iter().find(|(known, _)| known == metric);
        floor.map_or(basis.plan.measure.margin, |(_, floor)| floor.margin)
    };
    let pairs = basis
        .candidates()
        .flat_map(|subject| metrics.iter().map(move |metric| (subject, metric)));
    let all: Vec<_> = pairs
        .map(|(subject, metric)| (subject, metric, logs(subject, metric)))
        .filter(|(.., logs)| !logs.is_empty())
        .collect();
    let level = Level {
        alpha: basis.alpha,
        family: all.len(),
    };
    let judged = all.into_iter().filter_map(|(subject, metric, logs)| {
        let ratio = ratio(&logs, level)?;
        let margin = margin(metric);
        Some(Judged {
            subject,
            metric: metric.clone(),
            p: ratio.p,
            verdict: verdict(&ratio, level, margin),
            ratio,
            level,
            margin,
        })
    });
    let mut judged: Vec<Judged> = judged.collect();
    let p: Vec<f64> = judged.iter().map(|j| j.p).collect();
    let adjusted = judged.iter_mut().zip(family::holm(&p));
    adjusted.for_each(|(judged, p)| judged.p = p);
    (floors, judged)
}

/// What a second copy of the baseline says of a run's noise.
pub(crate) struct NoiseFloor {
    /// Its ratio, individually at the plan's level; the truth is 1.
    pub ratio: Ratio,
    /// How sure it was asked to be.
    pub level: Level,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The plan's margin, or the interval's far end where that is not met.
    pub margin: f64,
}

impl NoiseFloor {
    /// What the control's ratio supports with a margin; the truth is that the two are equivalent.
    pub fn verdict(&self, margin: f64) -> Verdict {
        verdict(&self.ratio, self.level, margin)
    }
}

/// What the logarithms of the control's ratios say, by block. `None` without any.
pub(crate) fn noise_floor(logs: &[f64], plan: &Plan) -> Option<NoiseFloor> {
    let level = Level {
        alpha: plan.measure.alpha,
        family: 1,
    };
    let ratio = ratio(logs, level)?;
    let interval = ratio.interval;
    // With too few blocks for the level an interval that excludes 1 says nothing yet.
    let met = !ratio.sufficient || (interval.low <= 1.0 && interval.high >= 1.0);
    let bound = (interval.high - 1.0).max(1.0 - interval.low);
    let margin = if met {
        plan.measure.margin
    } else {
        plan.measure.margin.max(bound)
    };
    Some(NoiseFloor {
        ratio,
        level,
        met,
        margin,
    })
}
