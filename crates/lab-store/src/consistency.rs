// SPDX-License-Identifier: Apache-2.0
//! Checks that the IDs in a loaded run refer to existing records, so that callers can index with
//! them.

use lab_model::{AgentId, Plan, PointId, Run, SubjectId};

/// Describes the first reference to a subject, point or agent that does not exist.
pub fn find_dangling_reference(run: &Run) -> Option<String> {
    let plan = run.plan();
    let subjects = plan.map_or(0, |p| p.subjects.len());
    let points = plan.map_or(0, |p| p.points.len());
    let agents = run.agents.len();
    let has_agent = |id: AgentId| run.agents.has_id(id);
    let slices = run.blocks.iter().flat_map(|block| &block.slices);
    let mut parts = slices.flat_map(|slice| &slice.agents);
    if let Some(part) = parts.find(|part| !has_agent(part.agent)) {
        let agent = part.agent;
        return Some(format!(
            "a slice refers to agent {agent}, but the number of agents is {agents}"
        ));
    }
    let mut measured_by = run.blocks.iter().filter_map(|block| block.agent);
    if let Some(agent) = measured_by.find(|agent| !has_agent(*agent)) {
        return Some(format!(
            "a block refers to agent {agent}, but the number of agents is {agents}"
        ));
    }
    plan.and_then(plan_misfit).or_else(|| {
        ids(run).find_map(|(row_kind, subject, point)| {
            if subject.index() >= subjects {
                Some(format!(
                    "{row_kind} refers to subject {subject}, but the number of subjects is {subjects}"
                ))
            } else {
                let point = point.filter(|p| p.index() >= points)?;
                Some(format!(
                    "{row_kind} refers to point {point}, but the number of points is {points}"
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
        .find(|&s| !plan.subjects.has_id(s));
    let case = plan
        .points
        .iter()
        .map(|p| p.case)
        .find(|&c| !plan.cases.has_id(c));
    let targets = plan.targets.len().max(1);
    let of_subjects = plan.subjects.iter().map(|s| s.target);
    let target = of_subjects
        .chain(plan.points.iter().map(|p| p.target))
        .find(|t| t.index() >= targets);
    if let Some(target) = target {
        return Some(format!(
            "the plan refers to target {target}, but the number of targets is {targets}"
        ));
    }
    let of_subject = subject.map(|s| {
        format!("the plan refers to subject {s}, but the number of subjects is {subjects}")
    });
    of_subject.or(case.map(|c| {
        format!(
            "the plan refers to case {c}, but the number of cases is {}",
            plan.cases.len()
        )
    }))
}

/// Returns the kind, the subject and, for most kinds, the point of each row.
fn ids(run: &Run) -> impl Iterator<Item = (&'static str, SubjectId, Option<PointId>)> {
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
