// SPDX-License-Identifier: Apache-2.0
//! Exclusions of servers from comparison.

use super::peaks::{Peak, Peaks};
use super::visits::{Visit, Visits};
use crate::analysis::{Exclusion, ExclusionReason};
use crate::exclusions::{self, is_excluded};
use crate::results::{ServerAge, age_exclusions};
use lab_model::{Plan, PointId, Run, SubjectId};

/// Returns the exclusions: servers that failed, were not at their steady level, or served no
/// requests in some block.
///
/// A block without served requests has no ratio.
pub fn exclusions(run: &Run, plan: &Plan, visits: &Visits, ages: &[ServerAge]) -> Vec<Exclusion> {
    let mut all = exclusions::exclusions(run, plan);
    for exclusion in age_exclusions(plan, ages) {
        let point = exclusion.point.unwrap_or_default();
        if !is_excluded(&all, exclusion.subject, point) {
            all.push(exclusion);
        }
    }
    let peaks = Peaks::from_blocks(plan, run);
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
                (None, Some(reason))
                    if visits
                        .by_replicate(subject, point)
                        .flatten()
                        .next()
                        .is_some() =>
                {
                    reason.clone()
                }
                _ => continue,
            };
            if !is_excluded(&all, subject, point) {
                all.push(Exclusion {
                    subject,
                    point: Some(point),
                    reason,
                });
            }
        }
    }
    all.sort_by_key(|exclusion| (exclusion.subject, exclusion.point));
    exclusions::gathered(all, plan)
}

/// Returns the reason to exclude a server whose peak is unknown. No load at a fraction of its peak
/// can be offered.
///
/// `baseline` is the server's name if it is the baseline.
fn without_peak(
    plan: &Plan,
    peaks: &Peaks,
    subject: SubjectId,
    point: PointId,
    baseline: Option<&String>,
) -> Option<ExclusionReason> {
    plan.fraction_of_peak(point)?;
    let is_limited = peaks.peak(plan, subject, point) == Some(Peak::Generator);
    (is_limited && plan.takes_part(subject, point)).then(|| ExclusionReason::PeakUnknown {
        baseline: baseline.cloned(),
    })
}

/// Returns the reason to exclude a server that served no requests in some block.
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
