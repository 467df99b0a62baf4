// SPDX-License-Identifier: Apache-2.0
//! Whether a run that was read fits together: what its rows point at is there. So whoever uses a
//! loaded run may index with its ids.

use lab_model::{Plan, PointId, Run, SubjectId};

/// What points to nowhere, in words.
pub fn misfit(run: &Run) -> Option<String> {
    let plan = run.plan.as_ref();
    let subjects = plan.map_or(0, |p| p.subjects.len());
    let points = plan.map_or(0, |p| p.points.len());
    plan.and_then(plan_misfit).or_else(|| {
        ids(run).find_map(|(what, subject, point)| {
            if subject >= subjects {
                Some(format!(
                    "{what} is of subject {subject}, and there are {subjects}"
                ))
            } else {
                let point = point.filter(|&p| p >= points)?;
                Some(format!(
                    "{what} is of point {point}, and there are {points}"
                ))
            }
        })
    })
}

fn plan_misfit(plan: &Plan) -> Option<String> {
    let subjects = plan.subjects.len();
    let controls = plan.subjects.iter().filter_map(|s| s.control_of);
    let subject = [plan.baseline]
        .into_iter()
        .chain(controls)
        .find(|&s| s >= subjects);
    let case = plan
        .points
        .iter()
        .map(|p| p.case)
        .find(|&c| c >= plan.cases.len());
    let targets = plan.targets.len().max(1);
    let of_subjects = plan.subjects.iter().map(|s| s.target);
    let target = of_subjects
        .chain(plan.points.iter().map(|p| p.target))
        .find(|&t| t >= targets);
    if let Some(target) = target {
        return Some(format!("its plan speaks of target {target} of {targets}"));
    }
    let of_subject = subject.map(|s| format!("its plan speaks of subject {s} of {subjects}"));
    of_subject.or(case.map(|c| format!("its plan speaks of case {c} of {}", plan.cases.len())))
}

/// All that belongs to a subject and, for most, a point.
fn ids(run: &Run) -> impl Iterator<Item = (&'static str, SubjectId, Option<PointId>)> {
    let pilots = run
        .pilots
        .iter()
        .map(|p| ("a pilot", p.subject, Some(p.point)));
    let settings = run
        .settings
        .iter()
        .map(|s| ("a setting", s.subject, s.point));
    let failures = run
        .failures
        .iter()
        .map(|f| ("a failure", f.subject, f.point));
    let lines = run.log.iter().map(|l| ("a log line", l.subject, None));
    let in_blocks = run.blocks.iter().flat_map(|block| {
        let processes = block
            .processes
            .iter()
            .map(|p| ("a process", p.subject, None));
        let resources = block
            .resources
            .iter()
            .map(|r| ("a resource", r.subject, Some(r.point)));
        let samples = block
            .samples
            .iter()
            .map(|s| ("a sample", s.subject, Some(s.point)));
        let exits = block
            .exits
            .iter()
            .map(|e| ("an exit", e.subject, Some(e.point)));
        let latencies = block
            .latencies
            .iter()
            .map(|l| ("a latency", l.subject, Some(l.point)));
        let slices = block
            .slices
            .iter()
            .map(|s| ("a slice", s.subject, Some(s.point)));
        let readings = block
            .readings
            .iter()
            .map(|r| ("a reading", r.subject, Some(r.point)));
        let measured = processes.chain(resources).chain(samples);
        measured
            .chain(exits)
            .chain(latencies)
            .chain(slices)
            .chain(readings)
    });
    pilots
        .chain(settings)
        .chain(failures)
        .chain(lines)
        .chain(in_blocks)
}
