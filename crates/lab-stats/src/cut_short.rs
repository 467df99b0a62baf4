// SPDX-License-Identifier: Apache-2.0
//! Excludes subjects with a JIT compiler whose pilots ran out of time before they could show a
//! steady state.
//!
//! Their times may be those of cold code, so they are not compared.

use crate::analysis::{ExclusionReason, FirstPoint, Refusal};
use lab_model::{Batch, Pilot, Plan, PointId, Run, SubjectId, WarmUp};
use std::collections::BTreeMap;

/// The proposed time budget is the estimate multiplied by this factor.
const SPARE: f64 = 1.1;

/// Returns the exclusions.
///
/// If the baseline's pilot was cut short at a point, nothing is compared at that point.
pub(crate) fn refusals(run: &Run, plan: &Plan) -> Vec<Refusal> {
    let is_planned = |p: &&Pilot| p.subject < plan.subjects.len() && p.point < plan.points.len();
    let cut = run.pilots.iter().filter(is_planned).filter(|pilot| {
        // A control has the class of its original.
        pilot.class == WarmUp::CutShort && plan.subjects[pilot.subject].control_of.is_none()
    });
    let mut by_subject: BTreeMap<SubjectId, Vec<&Pilot>> = BTreeMap::new();
    for pilot in cut {
        by_subject.entry(pilot.subject).or_default().push(pilot);
    }
    let budget_s = needed_budget_s(run, plan);
    let mut refusals = Vec::new();
    for (subject, pilots) in by_subject {
        let longest_ns = pilots.iter().map(|p| wall_ns(p.own_batches())).max();
        let reason = |baseline| ExclusionReason::PilotCutShort {
            baseline,
            at: FirstPoint {
                first: plan.label(pilots[0].point),
                more: pilots.len() - 1,
            },
            pilot_ns: longest_ns.unwrap_or(0),
            budget_s,
        };
        for pilot in &pilots {
            let mut refuse = |subject: SubjectId, reason: ExclusionReason| {
                refusals.push(Refusal {
                    subject,
                    point: Some(pilot.point),
                    reason,
                })
            };
            if subject == plan.baseline_on(plan.points[pilot.point].target) {
                let name = &plan.subjects[subject].name;
                for other in others(plan, subject, pilot.point) {
                    refuse(other, reason(Some(name.clone())));
                }
            } else if !has_cold_baseline(run, plan, pilot.point) {
                refuse(subject, reason(None));
            }
        }
    }
    refusals
}

/// Returns true if the baseline's pilot was cut short at a point.
///
/// All other subjects are then excluded there.
fn has_cold_baseline(run: &Run, plan: &Plan, point: PointId) -> bool {
    let baseline = plan.baseline_on(plan.points[point].target);
    let mut pilots = run.pilots.iter();
    pilots.any(|p| (p.subject, p.point, p.class) == (baseline, point, WarmUp::CutShort))
}

fn others(plan: &Plan, subject: SubjectId, point: PointId) -> impl Iterator<Item = SubjectId> + '_ {
    let all = 0..plan.subjects.len();
    all.filter(move |&other| other != subject && plan.takes_part(other, point))
}

/// Returns the time budget in s with which all pilots would have been long enough, or `None` if the
/// run had no budget.
///
/// The budget is estimated from the number of missing batches.
fn needed_budget_s(run: &Run, plan: &Plan) -> Option<f64> {
    let budget_s = plan.measure.budget_ns? as f64 / 1e9;
    let spent_ns: u64 = run.pilots.iter().map(|p| wall_ns(p.own_batches())).sum();
    let cut = run.pilots.iter().filter(|p| p.class == WarmUp::CutShort);
    let lacking = cut.map(|p| {
        let own = p.own_batches();
        let missing = plan.min_pilot_with_helpers().saturating_sub(own.len()) as f64;
        missing * own.last().map_or(0, |b| b.wall_ns) as f64
    });
    let spent_ns = spent_ns.max(1) as f64;
    Some(SPARE * budget_s * (spent_ns + lacking.sum::<f64>()) / spent_ns)
}

fn wall_ns(batches: &[Batch]) -> u64 {
    batches.iter().map(|b| b.wall_ns).sum()
}
