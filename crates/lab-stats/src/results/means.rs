// SPDX-License-Identifier: Apache-2.0
//! Geometric means over points: means of comparisons with the baseline, and means of the effects of
//! factors.

use super::compare::{ComparisonFamily, RankedBy};
use super::judge::{Basis, noise_floor};
use super::levels::{Blocks, log_ratios};
use super::{Effect, Overall};
use crate::exclusions::failed;
use crate::factors;
use crate::ratio::{Level, ratio};
use crate::sign_flip;
use lab_model::{CaseId, Metric, PointId, SubjectId, TargetId};

/// The points over which a mean is computed.
pub(crate) struct MeanScope {
    pub metric: Metric,
    pub case: Option<CaseId>,
    pub keep_alive: Option<bool>,
    pub points: Vec<PointId>,
    /// True if the list of means begins with the control.
    pub with_control: bool,
}

/// Adds the mean over points of every subject that is compared at some point.
///
/// `logs` returns the logarithms of subject / baseline at a point, by block.
///
/// Each block yields one value: the mean of its log ratios over the points. These values are
/// treated like the values of a single point, so the dependence between points does not matter.
/// Points at which a subject is not compared are ignored. Blocks that lack a point are ignored,
/// too. Subjects are ranked over the points that all subjects have. If these points are fewer than
/// half of all points, only subjects with all points are ranked.
pub(crate) fn overall(
    family: &mut ComparisonFamily,
    scope: &MeanScope,
    logs: impl Fn(SubjectId, PointId) -> Blocks,
) {
    let basis = family.basis;
    let points = |subject: SubjectId| -> Vec<(PointId, Blocks)> {
        let compared = |&&point: &&PointId| {
            basis.plan.takes_part(subject, point) && basis.compares(subject, Some(point))
        };
        let all = scope.points.iter().filter(compared);
        let all = all.map(|&point| (point, logs(subject, point)));
        all.filter(|(_, logs)| logs.iter().any(Option::is_some))
            .collect()
    };
    let candidates = basis.candidates().map(|s| (s, points(s)));
    let candidates: Vec<_> = candidates.filter(|(_, p)| !p.is_empty()).collect();
    let most = candidates.iter().map(|(_, points)| points.len()).max();
    let has = |points: &[(PointId, Blocks)], point| points.iter().any(|(p, _)| *p == point);
    let shared = |point: &PointId| candidates.iter().all(|(_, points)| has(points, *point));
    let common = scope.points.iter().copied().filter(shared);
    let common: Vec<PointId> = common.collect();
    let ranked = |points: &[(PointId, Blocks)]| match common.len() {
        n if points.len() == n => RankedBy::AsItIs,
        n if 2 * n >= most.unwrap_or(0) => {
            let of_common = points.iter().filter(|(point, _)| common.contains(point));
            RankedBy::By(means(of_common.map(|(_, logs)| logs)))
        }
        _ if Some(points.len()) == most => RankedBy::AsItIs,
        _ => RankedBy::Not,
    };
    let of = |subject: SubjectId, points: usize, margin: f64| Overall {
        subject,
        metric: scope.metric.clone(),
        target: TargetId(0),
        case: scope.case,
        keep_alive: scope.keep_alive,
        points: points as u32,
        ratio: sign_flip::UNKNOWN,
        p: None,
        verdict: None,
        margin,
    };
    let control = basis.plan.control().map(|c| (c, points(c)));
    let floor = control.as_ref().and_then(|(_, points)| {
        let means_of_blocks = means(points.iter().map(|(_, logs)| logs));
        let means_of_blocks: Vec<f64> = means_of_blocks.into_iter().flatten().collect();
        noise_floor(&means_of_blocks, basis.plan)
    });
    let margin = basis.margin(floor.as_ref());
    let shown_control = control.zip(floor).filter(|_| scope.with_control);
    if let Some(((control, points), floor)) = shown_control {
        let overall = of(control, points.len(), floor.margin);
        family.add_mean(Overall {
            ratio: floor.ratio.interval,
            p: Some(floor.ratio.p),
            verdict: Some(floor.verdict(basis.plan.measure.margin)),
            ..overall
        });
    }
    let compared = candidates.into_iter().map(|(subject, points)| {
        let overall = of(subject, points.len(), margin.wide);
        let by_block = means(points.iter().map(|(_, logs)| logs));
        (overall, by_block, ranked(&points))
    });
    family.add_means(compared.collect(), margin);
}

/// Returns the mean over all points in each block. Blocks that lack a point have no mean.
fn means<'b>(points: impl Iterator<Item = &'b Blocks> + Clone) -> Blocks {
    let count = points.clone().count() as f64;
    let blocks = points.clone().map(Vec::len).min().unwrap_or(0);
    let sum = |block: usize| points.clone().map(|logs| logs[block]).sum::<Option<f64>>();
    (0..blocks).map(|block| Some(sum(block)? / count)).collect()
}

/// Returns the mean effect of a factor on a subject over pairs of points.
///
/// The values of a pair are compared within each block. The interval is unadjusted, at the plan's
/// level. `values` returns the subject's values at a point, by block.
pub(crate) fn effect(
    basis: &Basis,
    (subject, metric): (SubjectId, &Metric),
    (factor, case): (&str, Option<CaseId>),
    pairs: Vec<(PointId, PointId)>,
    values: impl Fn(PointId) -> Blocks,
) -> Option<Effect> {
    let level = Level {
        alpha: basis.plan.measure.alpha,
        family: 1,
    };
    let logs = pairs
        .iter()
        .map(|&(from, to)| log_ratios(&values(to), &values(from)));
    let logs: Vec<Blocks> = logs.collect();
    Some(Effect {
        subject,
        metric: metric.clone(),
        factor: factor.to_string(),
        ratio: ratio(
            &means(logs.iter())
                .into_iter()
                .flatten()
                .collect::<Vec<f64>>(),
            level,
        )?
        .interval,
        pairs,
        case,
    })
}

/// Returns the effect of each factor on each subject in a metric, by subject, then pair of points.
///
/// Subjects that measure an overhead are skipped. `values` returns a subject's values at a point,
/// by block.
pub(crate) fn effects(
    basis: &Basis,
    metric: &Metric,
    values: impl Fn(SubjectId, PointId) -> Blocks,
) -> Vec<Effect> {
    let plan = basis.plan;
    let has_figures = |subject, point| !failed(basis.run, subject, point);
    let subjects = plan.subjects.ids().filter(|&s| !plan.subjects[s].overhead);
    let of = |subject| {
        let pairs = factors::pairs(plan).into_iter();
        let pairs = pairs
            .filter(move |&(from, to, _)| has_figures(subject, from) && has_figures(subject, to));
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
