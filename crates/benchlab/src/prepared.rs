// SPDX-License-Identifier: Apache-2.0
//! Prepares the subjects of a plan, and describes where their databases are stored.

use crate::exit::Exit;
use crate::fixtures::Fixtures;
use crate::ready::build_programs;
use lab_bench::Scratch;
use lab_model::{Failure, Host, Plan, Subject, SubjectId, TargetKind};
use lab_plan::{Experiment, Project};

/// The result of preparing a plan's subjects.
pub struct Prepared {
    /// The label of each subject that can run and of each fixture, with the SHA-256 of its sources.
    pub hashes: Vec<(String, String)>,
    /// The failures of the other subjects.
    pub failures: Vec<Failure>,
}

/// Prepares the subjects and the fixtures of a plan.
///
/// # Errors
/// Returns an error if no subject can run, or if a fixture cannot run.
pub fn prepare(
    project: &Project,
    experiment: &Experiment,
    plan: &Plan,
    install: bool,
) -> Result<Prepared, Exit> {
    let described = |s: &Subject| {
        let original = s.control_of.map_or(s, |original| &plan.subjects[original]);
        let described = experiment.subject(plan, original);
        described.expect("a plan contains only subjects of the experiment")
    };
    let fixtures = Fixtures {
        project,
        experiment,
        installs: install,
    };
    let of_fixtures = fixtures.build(plan)?;
    let (mut hashes, mut failures) = (Vec::new(), fixtures.unavailable(plan)?);
    let able = able_subjects(plan, &failures);
    let subjects: Vec<_> = able.iter().map(|&s| described(&plan.subjects[s])).collect();
    let external = plan.targets.iter().filter(|t| t.external);
    let external: Vec<TargetKind> = external.map(|t| t.kind).collect();
    let outcomes = build_programs(project, experiment, &subjects, install, &external)?;
    for (subject, outcome) in able.into_iter().zip(outcomes) {
        match outcome {
            Ok(hash) => hashes.push((plan.subject_label(subject), hash)),
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
    if hashes.is_empty() {
        return Err(Exit::failed("no subject can run"));
    }
    hashes.extend(of_fixtures);
    Ok(Prepared { hashes, failures })
}

/// Returns the subjects that have not failed.
fn able_subjects(plan: &Plan, failures: &[Failure]) -> Vec<SubjectId> {
    let has_failed = |subject: &SubjectId| failures.iter().any(|f| f.subject == *subject);
    let subjects = plan.subjects.ids();
    subjects.filter(|subject| !has_failed(subject)).collect()
}

/// Adds a fact to the host: whether the databases are in memory or on a disk.
pub fn with_scratch(mut host: Host, scratch: &Scratch, plan: &Plan) -> Host {
    if !plan.targets.iter().any(|target| target.kind.is_database()) {
        return host;
    }
    let storage = if scratch.in_memory() {
        "in memory (tmpfs): no commit waits for a disk"
    } else {
        "on a disk: commits wait for it"
    };
    host.facts.push(("databases".into(), storage.into()));
    host
}
