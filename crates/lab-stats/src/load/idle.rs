// SPDX-License-Identifier: Apache-2.0
//! Exclusions of servers: which, where and why.

use super::peaks::{Peak, Peaks};
use super::visits::{Visit, Visits};
use crate::analysis::{Refusal, RefusalKind};
use crate::refusals::{self, refused};
use crate::results::{ServerAge, age_refusals};
use lab_model::{Plan, PointId, Run, SubjectId};

/// The exclusions: failures, servers that were not at their steady level, and servers that served nothing in
/// some block, for which there is no ratio.
pub fn refusals(run: &Run, plan: &Plan, visits: &Visits, ages: &[ServerAge]) -> Vec<Refusal> {
    let mut all = refusals::refusals(run, plan);
    for refusal in age_refusals(plan, ages) {
        let point = refusal.point.unwrap_or_default();
        if !refused(&all, refusal.subject, point) {
            all.push(refusal);
        }
    }
    let peaks = Peaks::of(plan, run);
    for point in 0..plan.points.len() {
        let idle = |subject| {
            without_peak(plan, &peaks, subject, point).or_else(|| {
                let reason = idle(visits, subject, point)?;
                Some([reason.clone(), reason])
            })
        };
        let baseline = idle(plan.baseline);
        for subject in 0..plan.subjects.len() {
            let reason = match (idle(subject), &baseline) {
                (Some([reason, _]), _) => reason,
                (None, Some([_, reason]))
                    if visits.of(subject, point).flatten().next().is_some() =>
                {
                    let name = &plan.subjects[plan.baseline].name;
                    format!("there is nothing to compare it with: the baseline {name} {reason}")
                }
                _ => continue,
            };
            if !refused(&all, subject, point) {
                all.push(Refusal {
                    subject,
                    point: Some(point),
                    why: reason,
                    kind: RefusalKind::Subject,
                });
            }
        }
    }
    all.sort_by_key(|refusal| (refusal.subject, refusal.point));
    refusals::gathered(all, plan)
}

/// Where no part of a server's peak is offered, in words: by itself, and behind the server's name.
fn without_peak(
    plan: &Plan,
    peaks: &Peaks,
    subject: SubjectId,
    point: PointId,
) -> Option<[String; 2]> {
    plan.part_of_peak(point)?;
    let is_limited = peaks.at(plan, subject, point) == Some(Peak::Generator);
    (is_limited && plan.takes_part(subject, point)).then(|| {
        let reason = "for the generator was the limit";
        ["no peak is known", "has no known peak"].map(|state| format!("{state}, {reason}"))
    })
}

/// Where a server served nothing, in words.
fn idle(visits: &Visits, subject: SubjectId, point: PointId) -> Option<String> {
    let blocks: Vec<&Visit> = visits.of_blocks(subject, point).flatten().collect();
    let idle: Vec<&&Visit> = blocks.iter().filter(|v| v.served == 0).collect();
    let errors = idle.iter().flat_map(|v| &v.errors);
    let most = errors.max_by_key(|(_, count)| **count);
    let errors = most.map_or(String::new(), |(kind, _)| {
        format!(" (mostly {})", kind.name())
    });
    match (idle.len(), blocks.len()) {
        (0, _) => None,
        (idle, all) if idle == all => Some(format!("served nothing{errors}")),
        (idle, all) => Some(format!("served nothing in {idle} of {all} blocks{errors}")),
    }
}
