// SPDX-License-Identifier: Apache-2.0
//! Compares two runs of one experiment that were not interleaved.
//!
//! Within a run, subjects take turns, so the speed of the machine cancels out of the ratio to the
//! baseline. The change of this ratio between the runs can therefore have a verdict. A time also
//! depends on the speed of the machine, so its change has no verdict.

mod batches;
mod caveat;
mod caveats;
mod changed;
mod differing;
pub(crate) mod facts;
mod incomparable;
mod load;
mod side;
mod work;

pub use caveat::{Caveat, CaveatKind, NotCompared, WhichRun};
pub use changed::{Between, Changed, ControlChange};
pub use facts::{Differing, ProgramMatch};
pub use incomparable::Incomparable;
pub use side::Recorded;

use crate::kind::{BetweenMethod, kind_of};
use incomparable::{checked_plan, one_experiment, same_work};
use lab_model::{IdVec, Part, PointId, parts};
use side::{RunSide, Sides};
use std::collections::HashSet;

/// Compares two runs of one experiment, target by target, relative to `first`.
///
/// If the runs have more than one target in common, subjects and points are named by
/// [`lab_model::Plan::subject_label`] and [`lab_model::Plan::label`].
///
/// # Errors
/// Returns an error if the runs have nothing to compare.
pub fn compare_runs(first: Recorded, second: Recorded) -> Result<Between, Incomparable> {
    let mut found: Option<Between> = None;
    let apart = each_target([first, second], |sides| {
        match (&mut found, on_target(sides)) {
            (Some(found), Some(more)) => found.add(more),
            (found @ None, first) => *found = first,
            (Some(_), None) => {}
        }
    })?;
    let mut between = found.ok_or(Incomparable::NothingCommon)?;
    between.differences = differing::differing(first.run, second.run, between.differences);
    between.apart.extend(apart);
    Ok(between)
}

/// Calls `visit` for each target that both runs have. Returns the targets that only one of the runs
/// has.
fn each_target(
    [first, second]: [Recorded; 2],
    mut visit: impl FnMut(&Sides),
) -> Result<Vec<NotCompared>, Incomparable> {
    one_experiment(
        [checked_plan(first.run)?, checked_plan(second.run)?],
        [first.run, second.run],
    )?;
    let mut parts = [first, second].map(|recorded| parts(recorded.run));
    give_one_name(&mut parts);
    let common = common_parts(&parts);
    for [a, b] in &common {
        let sides = Sides([
            RunSide::new(first, a, common.len())?,
            RunSide::new(second, b, common.len())?,
        ]);
        same_work(sides.0[0].plan, sides.0[1].plan)?;
        visit(&sides);
    }
    Ok(targets_of_one_run(&parts))
}

/// Pairs the parts of both runs on the same target.
fn common_parts([first, second]: &[Vec<Part>; 2]) -> Vec<[&Part; 2]> {
    let twin = |part: &Part| second.iter().find(|other| other.kind == part.kind);
    first
        .iter()
        .filter_map(|part| Some([part, twin(part)?]))
        .collect()
}

/// Gives the second run's server the first run's name if both runs have one server, which is named
/// after its address.
///
/// The addresses of the servers may differ. The servers count as the same because the requests are
/// the same.
fn give_one_name(parts: &mut [Vec<Part>; 2]) {
    let [first, second] = parts.each_mut().map(|parts| match parts.as_mut_slice() {
        [only] => {
            let plan = only.run.plan_mut();
            plan.filter(|plan| kind_of(plan).is_named_by_address())
        }
        _ => None,
    });
    let (Some(first), Some(second)) = (first, second) else {
        return;
    };
    if let ([server], [other]) = (first.subjects.as_ref(), second.subjects.as_mut()) {
        other.name = server.name.clone();
    }
}

/// The changes between two runs on one target.
#[derive(Default)]
struct Changes {
    changes: Vec<Changed>,
    controls: Vec<ControlChange>,
}

/// Returns the changes of the ratios to the baseline, and of the times, of batches or whole
/// commands. Returns `None` if there are none.
fn changes_of_batches(sides: &Sides, points: &[[PointId; 2]]) -> Option<Changes> {
    let batches = batches::Batches::new(sides);
    let mut found = Changes::default();
    if sides.have_one_baseline() {
        (found.changes, found.controls) = batches.ratios(points);
    }
    let times = batches.times(points);
    if times.is_empty() {
        return None;
    }
    found.changes.extend(times);
    Some(found)
}

/// Returns the changes on one target, or `None` if the runs have no subject and point in common on
/// it.
fn on_target(sides: &Sides) -> Option<Between> {
    let points = sides.points();
    let baseline = &sides.0[0].baseline().name;
    let plan = sides.0[0].plan;
    let found = match kind_of(plan).between() {
        BetweenMethod::Ratios => changes_of_batches(sides, &points)?,
        BetweenMethod::Values { closed, open } => {
            let metrics = |point| if plan.is_open(point) { open } else { closed };
            Changes {
                changes: load::changes(sides, &points, metrics),
                controls: Vec::new(),
            }
        }
    };
    if found.changes.is_empty() {
        return None;
    }
    let mut between = Between {
        baseline: sides.have_one_baseline().then(|| baseline.clone()),
        baseline_program: sides.program(baseline),
        blocks: sides
            .0
            .each_ref()
            .map(|side| side.run.complete_blocks().count() as u32),
        level: 1.0 - sides.alpha(),
        times_level: 1.0 - sides.level_without_verdict().alpha,
        margin: sides.margin(),
        changes: found.changes,
        controls: found.controls,
        apart: not_compared(sides, &points),
        differences: differing::on_target(sides),
        caveats: Vec::new(),
    };
    between.caveats = caveats::caveats(&between, sides);
    Some(between)
}

/// Returns the targets that only one of the runs has.
fn targets_of_one_run(parts: &[Vec<Part>; 2]) -> Vec<NotCompared> {
    let of_run = |(i, run): (usize, WhichRun)| {
        let others: &[Part] = &parts[1 - i];
        let is_in_other = |part: &&Part| others.iter().any(|other| other.kind == part.kind);
        let alone = parts[i].iter().filter(|part| !is_in_other(part));
        let names = alone.filter_map(|part| Some(part.kind?.title().to_string()));
        unless_empty(names.collect(), |names| NotCompared::Targets { run, names })
    };
    let runs = WhichRun::BOTH.into_iter().enumerate();
    runs.filter_map(of_run).collect()
}

/// Returns the subjects and points that exist in only one of the runs, or that cannot be compared
/// for another reason.
fn not_compared(sides: &Sides, points: &[[PointId; 2]]) -> Vec<NotCompared> {
    let mut apart = Vec::new();
    for (i, run) in WhichRun::BOTH.into_iter().enumerate() {
        let (side, other) = (&sides.0[i], &sides.0[1 - i]);
        let subjects = side.plan.subjects.iter();
        let alone = subjects.filter(|s| other.find(&s.name).is_none());
        let alone = alone.map(|s| side.subject_label(&s.name)).collect();
        apart.extend(unless_empty(alone, |names| NotCompared::Subjects {
            run,
            names,
        }));
        let labels = |side: &RunSide| -> IdVec<PointId, String> {
            let points = side.plan.points.ids();
            points.map(|point| side.label(point)).collect()
        };
        let other_labels: HashSet<String> = labels(other).into_iter().collect();
        let compared: HashSet<PointId> = points.iter().map(|common| common[i]).collect();
        let labels = labels(side);
        let uncompared = labels
            .enumerated()
            .filter(|(point, _)| !compared.contains(point));
        let (same_name, alone): (Vec<String>, Vec<String>) = uncompared
            .map(|(_, label)| label.clone())
            .partition(|label| other_labels.contains(label));
        apart.extend(unless_empty(alone, |names| NotCompared::Points {
            run,
            names,
        }));
        if run == WhichRun::First {
            apart.extend(unless_empty(same_name, |names| NotCompared::OtherWork {
                names,
            }));
        }
        apart.extend(
            side.exclusions
                .iter()
                .map(|exclusion| NotCompared::Excluded {
                    run,
                    subject: side.subject_label(&side.plan.subjects[exclusion.subject].name),
                    point: exclusion.point.map(|point| side.plan.label(point)),
                    reason: exclusion.reason.clone(),
                }),
        );
    }
    apart
}

fn unless_empty(
    names: Vec<String>,
    make: impl FnOnce(Vec<String>) -> NotCompared,
) -> Option<NotCompared> {
    (!names.is_empty()).then(|| make(names))
}
