// SPDX-License-Identifier: Apache-2.0
//! Geometric means over several points: of a subject against the baseline, and of a factor within one subject.

use super::judge::{Basis, judge};
use super::levels::Blocks;
use super::{Effect, Overall};
use crate::factors;
use crate::ratio::{Level, Ratio, ratio};
use crate::refusals::failed;
use lab_model::{Metric, PointId, SubjectId};
use std::iter::zip;

/// Over what a mean is.
pub(crate) struct Scope {
    pub metric: Metric,
    pub case: Option<usize>,
    pub keep_alive: Option<bool>,
    pub points: Vec<PointId>,
    /// There is a verdict, and the control is shown first; else there is the ratio alone.
    pub judged: bool,
}

/// Every subject that is compared somewhere, simultaneous over the subjects at a level of `1 - alpha`. `logs`:
/// the logarithm of subject / baseline at a point, by block.
///
/// Each block gives one value, the mean of its log ratios over the points, and these values are
/// treated as those of a single point are: so the interval is exact, however the points depend on
/// each other. Points where a subject is not compared, and blocks that lack another point, are left out.
pub(crate) fn overall(
    basis: &Basis,
    scope: &Scope,
    logs: impl Fn(SubjectId, PointId) -> Blocks,
) -> Vec<Overall> {
    let points = |subject: SubjectId| -> Vec<Blocks> {
        let compared = |&&point: &&PointId| {
            basis.plan.takes_part(subject, point) && basis.compares(subject, Some(point))
        };
        let all = scope.points.iter().filter(compared);
        let all = all.map(|&point| logs(subject, point));
        all.filter(|logs| logs.iter().any(Option::is_some))
            .collect()
    };
    let subjects = 0..basis.plan.subjects.len();
    let by_point: Vec<Vec<Blocks>> = subjects.map(points).collect();
    let metrics = std::slice::from_ref(&scope.metric);
    let (floors, judged) = judge(basis, metrics, |subject, _| means(&by_point[subject]));
    let of = |subject: SubjectId, ratio: &Ratio| Overall {
        subject,
        metric: scope.metric.clone(),
        target: 0,
        case: scope.case,
        keep_alive: scope.keep_alive,
        points: by_point[subject].len() as u32,
        ratio: ratio.interval,
        p: None,
        verdict: None,
        margin: basis.plan.measure.margin,
    };
    let control = zip(basis.plan.control(), floors).filter(|_| scope.judged);
    let control = control.map(|(control, (_, floor))| Overall {
        p: Some(floor.ratio.p),
        verdict: Some(floor.verdict(basis.plan.measure.margin)),
        margin: floor.margin,
        ..of(control, &floor.ratio)
    });
    let others = judged.into_iter().map(|j| {
        let ratio = of(j.subject, &j.ratio);
        if !scope.judged {
            return ratio;
        }
        Overall {
            p: Some(j.p),
            verdict: Some(j.verdict),
            margin: j.margin,
            ..ratio
        }
    });
    control.chain(others).collect()
}

/// The mean over the points, for each block that has them all.
fn means(points: &[Blocks]) -> Vec<f64> {
    let blocks = points.iter().map(Vec::len).min().unwrap_or(0);
    let sum = |block: usize| points.iter().map(|logs| logs[block]).sum::<Option<f64>>();
    let sums = (0..blocks).filter_map(sum);
    sums.map(|sum| sum / points.len() as f64).collect()
}

/// What a factor costs a subject, over some pairs of points: individually at the plan's level, paired by block.
/// `values`: of the subject at a point, by block.
pub(crate) fn effect(
    basis: &Basis,
    (subject, metric): (SubjectId, &Metric),
    (factor, case): (&str, Option<usize>),
    pairs: Vec<(PointId, PointId)>,
    values: impl Fn(PointId) -> Blocks,
) -> Option<Effect> {
    let level = Level {
        alpha: basis.plan.measure.alpha,
        family: 1,
    };
    let logs = |&(from, to): &(PointId, PointId)| -> Blocks {
        let both = zip(values(from), values(to));
        both.map(|(from, to)| Some((to? / from?).ln())).collect()
    };
    let logs: Vec<Blocks> = pairs.iter().map(logs).collect();
    Some(Effect {
        subject,
        metric: metric.clone(),
        factor: factor.to_string(),
        ratio: ratio(&means(&logs), level)?.interval,
        pairs,
        case,
    })
}

/// What each factor costs each subject in a metric, by subject, then pair of points; nothing of those that show
/// an overhead. `values`: of a subject at a point, by block.
pub(crate) fn effects(
    basis: &Basis,
    metric: &Metric,
    values: impl Fn(SubjectId, PointId) -> Blocks,
) -> Vec<Effect> {
    let plan = basis.plan;
    let able = |subject, point| !failed(basis.run, subject, point);
    let subjects = (0..plan.subjects.len()).filter(|&s| !plan.subjects[s].overhead);
    let of = |subject| {
        let pairs = factors::pairs(plan).into_iter();
        let pairs = pairs.filter(move |&(from, to, _)| able(subject, from) && able(subject, to));
        let values = &values;
        pairs.filter_map(move |(from, to, factor)| {
            let case = Some(plan.points[to].case);
            let pairs = vec![(from, to)];
            let values = |point| values(subject, point);
            effect(basis, (subject, metric), (&factor, case), pairs, values)
        })
    };
    subjects.flat_map(of).collect()
}
