// SPDX-License-Identifier: Apache-2.0
//! The parts of a run, one per target. Each part is compared and shown separately.

use crate::{Block, Id, IdVec, Plan, PointId, Proof, Run, SubjectId, TargetId, TargetKind};

/// One target's part of a run, as a separate run with its own subject and point indices.
#[derive(Clone, Debug)]
pub struct Part {
    /// The target, or `None` if the run has no targets.
    pub kind: Option<TargetKind>,
    /// The run, restricted to this target.
    pub run: Run,
}

/// Splits a run into one part per target, in the experiment's order. Targets without points or
/// subjects have no part. For a run without targets, returns a single part that contains the whole
/// run.
pub fn parts(run: &Run) -> Vec<Part> {
    let Some(plan) = run.plan().filter(|plan| !plan.targets.is_empty()) else {
        return vec![Part {
            kind: None,
            run: run.clone(),
        }];
    };
    let all = plan.targets.enumerated().map(|(target, t)| Part {
        kind: Some(t.kind),
        run: part(run, target),
    });
    all.filter(|part| {
        part.run
            .plan()
            .is_some_and(|p| !p.points.is_empty() && !p.subjects.is_empty())
    })
    .collect()
}

/// For each subject and point of the run, its index in the part, or `None` if the part does not
/// contain it.
struct Numbers {
    subjects: IdVec<SubjectId, Option<SubjectId>>,
    points: IdVec<PointId, Option<PointId>>,
}

impl Numbers {
    fn new(plan: &Plan, target: TargetId) -> Numbers {
        Numbers {
            subjects: renumbered(plan.subjects.iter().map(|s| s.target == target)),
            points: renumbered(plan.points.iter().map(|p| p.target == target)),
        }
    }

    /// Updates the index of a subject. Returns true if the part contains the subject.
    fn subject(&self, subject: &mut SubjectId) -> bool {
        replace(subject, &self.subjects)
    }

    fn subject_and_point(&self, subject: &mut SubjectId, point: &mut PointId) -> bool {
        self.subject(subject) && replace(point, &self.points)
    }

    /// Updates the indices of a subject and an optional point. Returns true if the part contains
    /// both.
    ///
    /// A missing point means any point of the subject's target.
    fn subject_and_any_point(&self, subject: &mut SubjectId, point: &mut Option<PointId>) -> bool {
        self.subject(subject) && point.as_mut().is_none_or(|p| replace(p, &self.points))
    }
}

/// Returns the new index of each item that stays, counted from 0, and `None` for other items.
fn renumbered<I: Id>(stays: impl Iterator<Item = bool>) -> IdVec<I, Option<I>> {
    let mut next = 0;
    let number = |stays: bool| {
        next += usize::from(stays);
        stays.then(|| I::from_index(next - 1))
    };
    stays.map(number).collect()
}

/// Replaces an index with its new value. Returns false if the item has no new index.
fn replace<I: Id>(number: &mut I, by: &IdVec<I, Option<I>>) -> bool {
    let new = by.get(*number).copied().flatten();
    *number = new.unwrap_or(*number);
    new.is_some()
}

fn part(run: &Run, target: TargetId) -> Run {
    let mut run = run.clone();
    let Some(plan) = run.plan_mut() else {
        return run;
    };
    let numbers = Numbers::new(plan, target);
    *plan = plan_part(std::mem::take(plan), target, &numbers);
    run.pilots
        .retain_mut(|p| numbers.subject_and_point(&mut p.subject, &mut p.point));
    run.settings
        .retain_mut(|s| numbers.subject_and_any_point(&mut s.subject, &mut s.point));
    run.failures
        .retain_mut(|f| numbers.subject_and_any_point(&mut f.subject, &mut f.point));
    run.log.retain_mut(|l| numbers.subject(&mut l.subject));
    run.services
        .retain_mut(|s| std::mem::take(&mut s.target) == target);
    run.blocks
        .iter_mut()
        .for_each(|block| block_part(block, &numbers));
    run
}

fn block_part(block: &mut Block, numbers: &Numbers) {
    block
        .processes
        .retain_mut(|p| numbers.subject(&mut p.subject));
    block
        .resources
        .retain_mut(|r| numbers.subject_and_point(&mut r.subject, &mut r.point));
    block
        .samples
        .retain_mut(|s| numbers.subject_and_point(&mut s.subject, &mut s.point));
    block
        .exits
        .retain_mut(|e| numbers.subject_and_point(&mut e.subject, &mut e.point));
    block
        .latencies
        .retain_mut(|l| numbers.subject_and_point(&mut l.subject, &mut l.point));
    block
        .timelines
        .retain_mut(|t| numbers.subject_and_point(&mut t.subject, &mut t.point));
    block
        .readings
        .retain_mut(|r| numbers.subject_and_point(&mut r.subject, &mut r.point));
}

fn plan_part(mut plan: Plan, target: TargetId, numbers: &Numbers) -> Plan {
    let mut baseline = plan.baseline_for(target);
    numbers.subject(&mut baseline);
    plan.baseline = baseline;
    plan.subjects.retain_mut(|s| {
        let stays = s.target == target;
        if let Some(original) = &mut s.control_of {
            numbers.subject(original);
        }
        s.target = TargetId(0);
        stays
    });
    plan.points
        .retain_mut(|p| std::mem::take(&mut p.target) == target);
    let cases = renumbered(
        plan.cases
            .ids()
            .map(|case| plan.points.iter().any(|p| p.case == case)),
    );
    plan.points.iter_mut().for_each(|p| {
        replace(&mut p.case, &cases);
    });
    let mut stays = cases.iter().map(Option::is_some);
    plan.cases.retain(|_| stays.next().unwrap_or(false));
    let target_part = plan.targets[target].clone();
    let Proof { equal, conditions } = target_part.proof.clone();
    plan.proof.equal.extend(equal);
    plan.proof.conditions.extend(conditions);
    plan.targets = [target_part].into();
    plan
}
