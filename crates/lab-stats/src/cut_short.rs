// SPDX-License-Identifier: Apache-2.0
//! Excludes subjects with a JIT compiler whose pilots ran out of time before the subjects could
//! become steady.
//!
//! When these subjects were measured, they may have run code that was not compiled yet, so they are
//! not compared.

use crate::analysis::{Exclusion, ExclusionReason, FirstPoint};
use crate::helpers;
use crate::pilot_time::sufficient_budget;
use lab_model::{Batch, Pilot, Plan, PointId, Run, SubjectId, WarmUp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The proposed time budget is the estimate multiplied by this factor.
const SPARE: f64 = 1.25;

/// Returns the exclusions due to pilots that were cut short.
///
/// If the baseline's pilot was cut short at a point, nothing is compared at that point.
pub(crate) fn exclusions(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    let planned = run.pilots.iter().filter(|pilot| is_planned(plan, pilot));
    let cut = planned.filter(|pilot| {
        // A control has the class of its original.
        pilot.class == WarmUp::CutShort && plan.subjects[pilot.subject].control_of.is_none()
    });
    let mut by_subject: BTreeMap<SubjectId, Vec<&Pilot>> = BTreeMap::new();
    for pilot in cut {
        by_subject.entry(pilot.subject).or_default().push(pilot);
    }
    let budget_s = needed_budget_s(run, plan);
    let mut exclusions = Vec::new();
    for (subject, pilots) in by_subject {
        let max_pilot_ns = pilots.iter().map(|p| wall_ns(p.own_batches())).max();
        let reason = |baseline| ExclusionReason::PilotCutShort {
            baseline,
            at: FirstPoint {
                first: plan.label(pilots[0].point),
                more: pilots.len() - 1,
            },
            pilot_ns: max_pilot_ns.unwrap_or(0),
            budget_s,
        };
        for pilot in &pilots {
            let mut exclude = |subject: SubjectId, reason: ExclusionReason| {
                exclusions.push(Exclusion {
                    subject,
                    point: Some(pilot.point),
                    reason,
                })
            };
            if subject == plan.baseline_for(plan.points[pilot.point].target) {
                let name = &plan.subjects[subject].name;
                for other in others(plan, subject, pilot.point) {
                    exclude(other, reason(Some(name.clone())));
                }
            } else if !has_cold_baseline(run, plan, pilot.point) {
                exclude(subject, reason(None));
            }
        }
    }
    exclusions
}

/// Returns true if the baseline's pilot was cut short at a point.
///
/// All other subjects are then excluded at this point.
fn has_cold_baseline(run: &Run, plan: &Plan, point: PointId) -> bool {
    let baseline = plan.baseline_for(plan.points[point].target);
    let mut pilots = run.pilots.iter();
    pilots.any(|p| (p.subject, p.point, p.class) == (baseline, point, WarmUp::CutShort))
}

fn others(plan: &Plan, subject: SubjectId, point: PointId) -> impl Iterator<Item = SubjectId> + '_ {
    let all = plan.subjects.ids();
    all.filter(move |&other| other != subject && plan.takes_part(other, point))
}

/// Returns the minimum time budget, in s, that would let all pilots finish, or `None` if the run
/// had no budget.
///
/// The budget is estimated from the number of missing batches.
fn needed_budget_s(run: &Run, plan: &Plan) -> Option<f64> {
    let budget_ns = plan.measure.budget_ns? as f64;
    let pilots = run.pilots.iter().filter(|pilot| is_planned(plan, pilot));
    let pilots: Vec<&Pilot> = pilots.collect();
    let batches_ns: u64 = pilots.iter().map(|p| wall_ns(&p.batches)).sum();
    // The rest of the pilots' time: process starts and checks of the work.
    let others_ns = run.pilots_ns.unwrap_or(0).saturating_sub(batches_ns);
    let others_ns = others_ns / pilots.len().max(1) as u64;
    let needed_ns = |p: &Pilot| wall_ns(&p.batches) + lacking_ns(plan, p) + others_ns;
    let spare = |ns: f64| Duration::from_nanos((SPARE * ns) as u64);
    let needed = pilots.into_iter().map(|p| spare(needed_ns(p) as f64));
    Some(sufficient_budget(spare(budget_ns), needed.collect()).as_secs_f64())
}

fn is_planned(plan: &Plan, pilot: &Pilot) -> bool {
    plan.subjects.has_id(pilot.subject) && plan.points.has_id(pilot.point)
}

/// Returns the total time of the batches that a pilot lacks, in ns.
///
/// The pilot of the control lacks no batches, because it is short even if there is enough time.
fn lacking_ns(plan: &Plan, pilot: &Pilot) -> u64 {
    if pilot.class != WarmUp::CutShort || plan.subjects[pilot.subject].control_of.is_some() {
        return 0;
    }
    let own = pilot.own_batches();
    let batch_ns = own.last().map_or(0, |batch| batch.wall_ns);
    let most = plan.min_pilot_with_helpers();
    let needed = if helpers::are_busy(own, plan.workers(pilot.point)) {
        most
    } else {
        // A subject that uses a server waits most of the time, even while it compiles.
        let fitting = plan.max_pilot_ns(pilot.point) / batch_ns.max(1);
        (fitting as usize).clamp(Pilot::MIN_BATCHES.min(most), most)
    };
    needed.saturating_sub(own.len()) as u64 * batch_ns
}

fn wall_ns(batches: &[Batch]) -> u64 {
    batches.iter().map(|b| b.wall_ns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pilot_time::PilotTime;
    use lab_model::{Measure, Point, Subject};

    const MS: u64 = 1_000_000;

    /// Returns a run at one point with a budget of 3 s, two subjects, and a control of the first
    /// subject.
    ///
    /// `pilots` contains the number of batches of each pilot, the time of a batch in ms, the number
    /// of cores used, and the class.
    fn run_of(pilots: [(usize, u64, f64, WarmUp); 3]) -> (Plan, Run) {
        let subject = |control_of| Subject {
            control_of,
            ..Subject::default()
        };
        let plan = Plan {
            subjects: [None, None, Some(SubjectId(0))].map(subject).into(),
            points: [Point::default()].into(),
            cases: [lab_model::Case::default()].into(),
            measure: Measure {
                budget_ns: Some(3_000 * MS),
                turn_ns: MS,
                max_warmup: 480,
                ..Measure::default()
            },
            ..Plan::default()
        };
        let pilot = |(subject, (count, ms, cores, class))| {
            let batch = Batch {
                operations: 1,
                wall_ns: ms * MS,
                cpu_ns: (cores * (ms * MS) as f64) as u64,
                ..Batch::default()
            };
            Pilot {
                subject,
                point: PointId(0),
                operations: 1,
                warmup_batches: 1,
                class,
                cold_ns: 1,
                batches: vec![batch; count],
                ages: Vec::new(),
            }
        };
        let run = Run {
            pilots: (0..).map(SubjectId).zip(pilots).map(pilot).collect(),
            ..Run::default()
        };
        (plan, run)
    }

    /// Asserts that the proposed budget suffices for pilots that need the times `needed_ms`, in
    /// this order, and that a third of the budget does not suffice.
    fn assert_is_enough(pilots: [(usize, u64, f64, WarmUp); 3], needed_ms: [u64; 3]) {
        let (plan, run) = run_of(pilots);
        let budget = Duration::from_secs_f64(needed_budget_s(&run, &plan).unwrap());
        let needed = needed_ms.map(Duration::from_millis);
        let fits = |budget| PilotTime::new(budget, needed.len()).suffices(&needed);
        assert!(fits(budget), "{budget:?}");
        assert!(!fits(budget / 3), "{budget:?}");
    }

    #[test]
    fn the_named_budget_is_enough_and_not_far_too_much() {
        let cut = WarmUp::CutShort;
        // A subject that compiles needs 120 batches of 10 ms.
        assert_is_enough(
            [
                (60, 1, 1.0, WarmUp::Flat),
                (8, 10, 1.8, cut),
                (4, 1, 1.0, WarmUp::Flat),
            ],
            [60, 1200, 4],
        );
        // A subject that does not compile needs ten batches of 100 ms. The control is cut short
        // like its original, but lacks no batches.
        assert_is_enough(
            [(4, 100, 1.0, cut), (4, 100, 1.0, cut), (4, 100, 1.0, cut)],
            [1000, 1000, 400],
        );
    }

    #[test]
    fn starts_and_checks_need_time_too() {
        let pilots = [(8, 10, 1.8, WarmUp::CutShort); 3];
        let (plan, mut run) = run_of(pilots);
        let without = needed_budget_s(&run, &plan).unwrap();
        run.pilots_ns = Some(30_000 * MS);
        assert!(needed_budget_s(&run, &plan).unwrap() > 2.0 * without);
    }
}
