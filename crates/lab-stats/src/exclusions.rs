// SPDX-License-Identifier: Apache-2.0
//! Exclusions from comparison: subjects that failed, or that did not run with the baseline's
//! settings.
//!
//! Only subjects that did the same work are compared.

use crate::analysis::{Exclusion, ExclusionReason, StatusCount};
use crate::kind::kind_of;
use crate::settings;
use lab_model::{Failure, Plan, PointId, Run, SubjectId};
use std::collections::BTreeMap;

/// Returns all exclusions, sorted by subject, then point.
///
/// A reason that applies to all points is listed once, without a point.
pub fn exclusions(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let mut reasons = failures(run, plan);
    reasons.extend(without_baseline(run, plan));
    reasons.extend(different_settings(run, plan));
    let cut_short = crate::cut_short::exclusions(run, plan).into_iter();
    let cut_short: Vec<Exclusion> = cut_short.filter(|r| is_new(&reasons, r)).collect();
    reasons.extend(cut_short);
    let of_kind = kind_of(plan).exclusions(run, plan).into_iter();
    let of_kind: Vec<Exclusion> = of_kind.filter(|r| is_new(&reasons, r)).collect();
    reasons.extend(of_kind);
    reasons.sort_by_key(|reason| (reason.subject, reason.point));
    gathered(reasons, plan)
}

/// Returns true if `reasons` does not yet exclude the subject of `reason` at the same point or at
/// all points.
fn is_new(reasons: &[Exclusion], reason: &Exclusion) -> bool {
    let excludes = |r: &Exclusion| {
        r.subject == reason.subject && (r.point.is_none() || r.point == reason.point)
    };
    !reasons.iter().any(excludes)
}

/// Returns true if `subject` is excluded at `point`.
pub fn is_excluded(exclusions: &[Exclusion], subject: SubjectId, point: PointId) -> bool {
    exclusions
        .iter()
        .any(|r| r.subject == subject && r.point.is_none_or(|p| p == point))
}

/// Returns true if `subject` failed at `point`.
pub fn failed(run: &Run, subject: SubjectId, point: PointId) -> bool {
    run.spoiling_failures()
        .any(|f| f.subject == subject && f.point.is_none_or(|p| p == point))
}

/// Returns true if `subject` takes part in `point` and did not fail there.
pub(crate) fn is_measured(run: &Run, plan: &Plan, subject: SubjectId, point: PointId) -> bool {
    plan.takes_part(subject, point) && !failed(run, subject, point)
}

/// Returns true if failures left fewer than two subjects at every point at which the plan compares
/// subjects.
///
/// Subjects on different targets are counted separately, and a second copy of the baseline does not
/// count.
pub fn nothing_left(run: &Run, plan: &Plan) -> bool {
    if is_alone(run, plan) {
        let mut points = plan
            .points
            .ids()
            .filter(|&p| plan.takes_part(plan.baseline, p));
        return points.all(|point| failed(run, plan.baseline, point));
    }
    let compared = |point| {
        let subjects = plan.compared();
        subjects.filter(move |&subject| plan.takes_part(subject, point))
    };
    let not_failed = |point| compared(point).filter(move |&subject| !failed(run, subject, point));
    let mut shared_points = plan
        .points
        .ids()
        .filter(|&point| compared(point).count() > 1)
        .peekable();
    shared_points.peek().is_some() && shared_points.all(|point| not_failed(point).count() < 2)
}

/// Returns true if the baseline is the only subject whose requirements this host meets.
///
/// The baseline is then measured as if it had been requested alone.
pub fn is_alone(run: &Run, plan: &Plan) -> bool {
    let lacks = |subject| {
        let mut failures = run.failures.iter();
        failures.any(|failure| failure.subject == subject && failure.is_lack())
    };
    plan.compared().all(|s| lacks(s) != (s == plan.baseline))
}

fn failures(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let is_planned = |f: &&Failure| {
        plan.subjects.has_id(f.subject) && f.point.is_none_or(|p| plan.points.has_id(p))
    };
    let exclusion = |f: &Failure| Exclusion {
        subject: f.subject,
        point: f.point,
        reason: ExclusionReason::Failed {
            kind: f.kind.clone(),
            message: f.message.clone(),
        },
    };
    run.spoiling_failures()
        .filter(is_planned)
        .map(exclusion)
        .collect()
}

/// Excludes the other subjects at the points at which the baseline failed, because there is nothing
/// to compare them with.
fn without_baseline(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let name = &plan.subjects[plan.baseline].name;
    let others = || plan.subjects.ids().filter(|&s| s != plan.baseline);
    plan.points
        .ids()
        .filter(|&point| failed(run, plan.baseline, point))
        .flat_map(|point| others().map(move |subject| (subject, point)))
        .filter(|&(subject, point)| plan.takes_part(subject, point))
        .filter(|&(subject, point)| !failed(run, subject, point))
        .map(|(subject, point)| Exclusion {
            subject,
            point: Some(point),
            reason: ExclusionReason::BaselineFailed {
                baseline: name.clone(),
            },
        })
        .collect()
}

fn different_settings(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let can_compare =
        |subject, point| !failed(run, subject, point) && !failed(run, plan.baseline, point);
    settings::differences(plan, &run.settings, &plan.proof.equal)
        .into_iter()
        .filter(|difference| can_compare(difference.subject, difference.point))
        .map(|difference| Exclusion {
            subject: difference.subject,
            point: Some(difference.point),
            reason: ExclusionReason::SettingDiffers {
                key: difference.key,
                value: difference.value,
                baseline_value: difference.baseline,
                baseline: plan.subjects[plan.baseline].name.clone(),
            },
        })
        .collect()
}

/// Excludes subjects whose runs did not all return the same exit status as the baseline's runs.
pub(crate) fn different_exits(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let mut statuses: BTreeMap<(SubjectId, PointId), ExitStatuses> = BTreeMap::new();
    for exit in run.blocks.iter().flat_map(|block| &block.exits) {
        let counts = statuses.entry((exit.subject, exit.point)).or_default();
        *counts.0.entry(exit.status).or_default() += 1;
    }
    let baseline = plan.baseline;
    let name = &plan.subjects[baseline].name;
    let others = statuses
        .iter()
        .filter(|((subject, _), _)| *subject != baseline && !plan.subjects[*subject].overhead);
    let exclusions = others.filter_map(|(&(subject, point), own)| {
        let of_baseline = statuses.get(&(baseline, point))?;
        if own.is_same_single(of_baseline) || failed(run, subject, point) {
            return None;
        }
        Some(Exclusion {
            subject,
            point: Some(point),
            reason: ExclusionReason::ExitStatus {
                own: own.counts(),
                baseline: name.clone(),
                of_baseline: of_baseline.counts(),
            },
        })
    });
    exclusions.collect()
}

/// The number of runs of a command for each exit status.
#[derive(Default)]
struct ExitStatuses(BTreeMap<i32, usize>);

impl ExitStatuses {
    /// Returns true if all runs of both commands returned the same status.
    fn is_same_single(&self, other: &ExitStatuses) -> bool {
        self.0.len() == 1 && self.0.keys().eq(other.0.keys())
    }

    /// Returns the counts, failures first.
    fn counts(&self) -> Vec<StatusCount> {
        let counts = self.0.iter();
        let counts = counts.map(|(&status, &runs)| StatusCount { status, runs });
        let mut counts: Vec<StatusCount> = counts.collect();
        counts.sort_by_key(|count| count.status == 0);
        counts
    }
}

/// Removes duplicate exclusions. If a reason applies to all points, keeps a single exclusion
/// without a point.
pub(crate) fn gathered(reasons: Vec<Exclusion>, plan: &Plan) -> Vec<Exclusion> {
    let mut gathered: Vec<Exclusion> = Vec::new();
    for reason in &reasons {
        let same = |r: &&Exclusion| r.subject == reason.subject && r.reason == reason.reason;
        let points = reasons
            .iter()
            .filter(same)
            .filter(|r| r.point.is_some())
            .count();
        let mut reason = reason.clone();
        let all = plan
            .points
            .ids()
            .filter(|&p| plan.takes_part(reason.subject, p));
        if points > 1 && points == all.count() {
            reason.point = None;
        }
        if !gathered.contains(&reason) {
            gathered.push(reason);
        }
    }
    gathered
}
