// SPDX-License-Identifier: Apache-2.0
//! Exclusions of servers from comparison.

use super::peaks::{Peak, Peaks};
use super::visits::{Visit, Visits};
use crate::analysis::{ExclusionReason, Refusal};
use crate::refusals::{self, refused};
use crate::results::{ServerAge, age_refusals};
use lab_model::{Plan, PointId, Run, SubjectId};

/// Returns the exclusions: servers that failed, were not at their steady level or served nothing in
/// some block.
///
/// A block without served requests has no ratio.
pub fn refusals(run: &Run, plan: &Plan, visits: &Visits, ages: &[ServerAge]) -> Vec<Refusal> {
    let mut all = refusals::refusals(run, plan);
    for refusal in age_refusals(plan, ages) {
        let point = refusal.point.unwrap_or_default();
        if !refused(&all, refusal.subject, point) {
            all.push(refusal);
        }
    }
    let peaks = Peaks::of(plan, run);
    for point in plan.points.ids() {
        let reason = |subject, baseline: Option<&String>| {
            without_peak(plan, &peaks, subject, point, baseline)
                .or_else(|| idle(visits, subject, point, baseline))
        };
        let name = &plan.subjects[plan.baseline].name;
        let of_baseline = reason(plan.baseline, Some(name));
        for subject in plan.subjects.ids() {
            let reason = match (reason(subject, None), &of_baseline) {
                (Some(reason), _) => reason,
                (None, Some(reason)) if visits.of(subject, point).flatten().next().is_some() => {
                    reason.clone()
                }
                _ => continue,
            };
            if !refused(&all, subject, point) {
                all.push(Refusal {
                    subject,
                    point: Some(point),
                    reason,
                });
            }
        }
    }
    all.sort_by_key(|refusal| (refusal.subject, refusal.point));
    refusals::gathered(all, plan)
}

/// Returns the reason for an exclusion if the server's peak is unknown, so that no fraction of it
/// is offered.
///
/// `baseline` is the server's name if it is the baseline.
fn without_peak(
    plan: &Plan,
    peaks: &Peaks,
    subject: SubjectId,
    point: PointId,
    baseline: Option<&String>,
) -> Option<ExclusionReason> {
    plan.part_of_peak(point)?;
    let is_limited = peaks.at(plan, subject, point) == Some(Peak::Generator);
    (is_limited && plan.takes_part(subject, point)).then(|| ExclusionReason::PeakUnknown {
        baseline: baseline.cloned(),
    })
}

/// Returns the reason for an exclusion if the server served nothing in some block.
///
/// `baseline` is the server's name if it is the baseline.
fn idle(
    visits: &Visits,
    subject: SubjectId,
    point: PointId,
    baseline: Option<&String>,
) -> Option<ExclusionReason> {
    let blocks: Vec<&Visit> = visits.of_blocks(subject, point).flatten().collect();
    let idle: Vec<&&Visit> = blocks.iter().filter(|v| v.served == 0).collect();
    let errors = idle.iter().flat_map(|v| &v.errors);
    let most = errors.max_by_key(|(_, count)| **count);
    (!idle.is_empty()).then(|| ExclusionReason::ServedNothing {
        baseline: baseline.cloned(),
        idle: idle.len(),
        blocks: blocks.len(),
        mostly: most.map(|(kind, _)| *kind),
    })
}
