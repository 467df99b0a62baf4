// SPDX-License-Identifier: Apache-2.0
//! The subjects of a plan, made ready, and where their databases are.

use crate::exit::{self, Exit};
use crate::places;
use crate::ready::ready;
use lab_bench::Scratch;
use lab_model::{Failure, Host, Plan, Subject, TargetKind};
use lab_plan::{Experiment, Project};

/// The subjects of a plan, made ready.
pub struct Prepared {
    /// What each was made from: name and SHA-256.
    pub hashes: Vec<(String, String)>,
    /// Those that cannot run.
    pub failures: Vec<Failure>,
}

/// Makes the subjects of a plan ready.
pub fn prepare(
    project: &Project,
    experiment: &Experiment,
    plan: &Plan,
    install: bool,
) -> Result<Prepared, Exit> {
    let made_as = |s: &Subject| {
        let original = s.control_of.map_or(s, |original| &plan.subjects[original]);
        let made = experiment.subject(plan, original);
        made.expect("a plan's subjects are of its experiment")
    };
    let subjects: Vec<_> = plan.subjects.iter().map(made_as).collect();
    let external = plan.targets.iter().filter(|t| t.external);
    let external: Vec<TargetKind> = external.map(|t| t.kind).collect();
    let (mut hashes, mut failures) = (Vec::new(), places::unavailable(plan));
    let outcomes = ready(project, experiment, &subjects, install, &external)?;
    for (subject, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(hash) => hashes.push((plan.subject_label(subject), hash)),
            Err(_) if failures.iter().any(|f| f.subject == subject) => {}
            Err(unready) => failures.push(Failure {
                subject,
                point: None,
                block: None,
                kind: unready.kind.into(),
                message: unready.message,
                log: unready.log,
            }),
        }
    }
    let left = (0..plan.subjects.len()).any(|s| !failures.iter().any(|f| f.subject == s));
    if hashes.is_empty() || !left {
        return Err(Exit::new(exit::FAILED, "no subject can run"));
    }
    Ok(Prepared { hashes, failures })
}

/// What the databases are on, among the facts of the host.
pub fn with_scratch(mut host: Host, scratch: &Scratch, plan: &Plan) -> Host {
    if !plan.targets.iter().any(|target| target.kind.is_database()) {
        return host;
    }
    let place = if scratch.in_memory() {
        "in memory (tmpfs): no commit waits for a disk"
    } else {
        "on a disk: commits wait for it"
    };
    host.facts.push(("databases".into(), place.into()));
    host
}
