// SPDX-License-Identifier: Apache-2.0
//! Checks that the parts of a run that was read fit together: every id refers to something that exists, so
//! that callers may index with ids.

use lab_model::{Plan, PointId, Run, SubjectId};

/// The first reference to a subject, point or agent that does not exist, in words.
pub fn misfit(run: &Run) -> Option<String> {
    let plan = run.plan();
    let subjects = plan.map_or(0, |p| p.subjects.len());
    let points = plan.map_or(0, |p| p.points.len());
    let agents = run.agents.len();
    let slices = run.blocks.iter().flat_map(|block| &block.slices);
    let mut parts = slices.flat_map(|slice| &slice.agents);
    if let Some(part) = parts.find(|part| part.agent >= agents) {
        let agent = part.agent;
        return Some(format!(
            "a slice is of agent {agent}, and there are {agents}"
        ));
    }
    let mut measured_by = run.blocks.iter().filter_map(|block| block.agent);
    if let Some(agent) = measured_by.find(|agent| *agent >= agents) {
        return Some(format!(
            "a block is of agent {agent}, and there are {agents}"
        ));
    }
    plan.and_then(plan_misfit).or_else(|| {
        ids(run).find_map(|(row_kind, subject, point)| {
            if subject >= subjects {
                Some(format!(
                    "{row_kind} is of subject {subject}, and there are {subjects}"
                ))
            } else {
                let point = point.filter(|&p| p >= points)?;
                Some(format!(
                    "{row_kind} is of point {point}, and there are {points}"
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

/// The subject, and for most rows the point, of each row, with the kind of the row.
fn ids(run: &Run) -> impl Iterator<Item = (&'static str, SubjectId, Option<PointId>)> {
    // Each kind of row, and what it belongs to.
    macro_rules! ids {
        ($rows:expr, $what:literal, $row:ident: $point:expr) => {
            $rows.iter().map(|$row| ($what, $row.subject, $point))
        };
    }
    let in_blocks = run.blocks.iter().flat_map(|block| {
        ids!(block.processes, "a process", r: None)
            .chain(ids!(block.resources, "a resource", r: Some(r.point)))
            .chain(ids!(block.samples, "a sample", r: Some(r.point)))
            .chain(ids!(block.exits, "an exit", r: Some(r.point)))
            .chain(ids!(block.latencies, "a latency", r: Some(r.point)))
            .chain(ids!(block.timelines, "a timeline", r: Some(r.point)))
            .chain(ids!(block.slices, "a slice", r: Some(r.point)))
            .chain(ids!(block.readings, "a reading", r: Some(r.point)))
    });
    ids!(run.pilots, "a pilot", r: Some(r.point))
        .chain(ids!(run.settings, "a setting", r: r.point))
        .chain(ids!(run.failures, "a failure", r: r.point))
        .chain(ids!(run.log, "a log line", r: None))
        .chain(in_blocks)
}
