// SPDX-License-Identifier: Apache-2.0
//! What servers hold after the load with the most connections, and how long they take to start.

use crate::analysis::Refusal;
use crate::compare::{candidates, noise_floor};
use crate::load::analysis::ServerFootprint;
use crate::load::judge::judge;
use crate::load::visits::{Visit, Visits};
use crate::order;
use lab_model::{Plan, PointId, Run, SubjectId};

/// Of every server of which a complete block has a slice. Levels are individual, at the plan's level; ratios
/// are simultaneous over the servers at a level of `1 - alpha`.
pub fn footprints(
    run: &Run,
    plan: &Plan,
    visits: &Visits,
    refusals: &[Refusal],
    alpha: f64,
) -> Vec<ServerFootprint> {
    let most = (0..plan.points.len())
        .map(|point| plan.connections(point))
        .max();
    let Some(connections) = most else {
        return Vec::new();
    };
    let crowded: Vec<PointId> = (0..plan.points.len())
        .filter(|&point| plan.connections(point) == connections)
        .collect();
    let held: Vec<Vec<Option<f64>>> = (0..plan.subjects.len())
        .map(|subject| held(visits, subject, &crowded))
        .collect();
    // Who is refused everywhere did not do the same work.
    let out = |subject| {
        refusals
            .iter()
            .any(|r| r.subject == subject && r.point.is_none())
    };
    let logs = |subject: SubjectId| -> Vec<f64> {
        let both = held[subject].iter().zip(&held[plan.baseline]);
        let both = both.filter_map(|(a, b)| Some((*a)? / (*b)?));
        both.filter(|_| !out(subject)).map(f64::ln).collect()
    };
    let control = plan.control().and_then(|control| {
        let floor = noise_floor(&logs(control), plan)?;
        Some((control, floor))
    });
    let margin = control
        .as_ref()
        .map_or(plan.measure.margin, |(_, floor)| floor.margin);
    let others = candidates(plan).map(|subject| (subject, logs(subject)));
    let others = others.filter(|(_, logs)| !logs.is_empty()).collect();
    let judged = judge(others, alpha, |_| margin).into_iter();
    let judged = judged.map(|(subject, judged)| (subject, judged.ratio.interval, judged.verdict));
    let control = control.map(|(control, floor)| {
        let verdict = floor.verdict(plan.measure.margin);
        (control, floor.ratio.interval, verdict)
    });
    let ratios: Vec<_> = control.into_iter().chain(judged).collect();
    let measured = |&subject: &SubjectId| {
        (0..plan.points.len()).any(|point| visits.of(subject, point).flatten().next().is_some())
    };
    let subjects = (0..plan.subjects.len()).filter(measured);
    subjects
        .map(|subject| {
            let ratio = ratios.iter().find(|(known, ..)| *known == subject);
            let bytes: Vec<f64> = held[subject].iter().copied().flatten().collect();
            ServerFootprint {
                subject,
                connections: connections as u32,
                bytes: order::median_interval(&bytes, plan.measure.alpha),
                ratio: ratio.map(|(_, ratio, _)| *ratio),
                verdict: ratio.map(|(.., verdict)| *verdict),
                margin,
                threads: threads(plan, visits, subject),
                startup_ns: startup_ns(run, plan, subject),
            }
        })
        .collect()
}

/// The most memory in each block at any of the points.
fn held(visits: &Visits, subject: SubjectId, points: &[PointId]) -> Vec<Option<f64>> {
    let bytes = |visit: Option<&Visit>| visit.and_then(|v| v.server_bytes);
    let at = |&point: &PointId| visits.of(subject, point).map(bytes).collect();
    let all: Vec<Vec<Option<u64>>> = points.iter().map(at).collect();
    let blocks = all.first().map_or(0, Vec::len);
    let most = |block: usize| all.iter().filter_map(|at| at[block]).max();
    let known = |bytes: Option<u64>| bytes.filter(|n| *n > 0).map(|n| n as f64);
    (0..blocks).map(most).map(known).collect()
}

fn threads(plan: &Plan, visits: &Visits, subject: SubjectId) -> Option<u32> {
    let points = 0..plan.points.len();
    let visits = points.flat_map(|point| visits.of(subject, point).flatten());
    visits.filter_map(|visit| visit.server_threads).max()
}

fn startup_ns(run: &Run, plan: &Plan, subject: SubjectId) -> Option<crate::analysis::Interval> {
    let processes = run.complete_blocks().flat_map(|block| &block.processes);
    let mine = processes.filter(|process| process.subject == subject);
    let times: Vec<f64> = mine.map(|process| process.startup_ns as f64).collect();
    order::median_interval(&times, plan.measure.alpha)
}
