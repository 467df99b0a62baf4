// SPDX-License-Identifier: Apache-2.0
//! Hosts that measure an experiment's blocks (`--on`), and their requirements.

use crate::cli::{Cli, RunArgs};
use crate::exit::{self, Exit};
use crate::measuring;
use crate::options::{AgentLoss, stored_launcher};
use crate::prepared::{Prepared, prepare, with_scratch};
use crate::services;
use crate::verbs::project;
use lab_audit::host;
use lab_many::experiment::{Bench, HostRequirements, Hosts, HostsStart};
use lab_model::{Host, Plan, PlannedHosts, Subject, TargetKind};
use lab_plan::{Experiment, Project};
use std::path::Path;
use std::time::Duration;

/// Returns the hosts of `--on`, or `None` if this machine measures.
///
/// # Errors
/// Returns an error if more than one launcher was given, or if an option works on one machine only.
pub fn requested(args: &RunArgs) -> Result<Option<PlannedHosts>, Exit> {
    let mut launchers = args.on.iter().filter_map(|on| on.launcher());
    let Some(launcher) = launchers.next() else {
        return Ok(None);
    };
    if args.on.len() > 1 {
        return Err(Exit::invalid(
            "specify --on only once for hosts: list all hosts in one value, such as ssh:HOST,HOST",
        ));
    }
    let for_one_machine = [
        ("--plan", args.plan.is_some()),
        ("--explain", args.explain),
        ("--why", args.why),
        ("--service", !args.service.is_empty()),
    ];
    match for_one_machine.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Exit::invalid(format!(
            "{name} works on one machine only: omit either {name} or --on"
        ))),
        None => Ok(Some(PlannedHosts {
            launcher: launcher.words.clone(),
            lost_after_ns: args.lost.lost_after.map(|time| time.as_nanos() as u64),
            scratch: args.scratch.clone(),
            strict: args.measuring.strict,
        })),
    }
}

/// Rejects experiments that use directories or fixtures, because multiple hosts cannot measure
/// them.
pub fn check_experiment(experiment: &Experiment) -> Result<(), Exit> {
    let in_folder = experiment
        .targets
        .iter()
        .any(|t| t.kind == TargetKind::Folder);
    let name = &experiment.name;
    if in_folder {
        return Err(Exit::invalid(format!(
            "--on: `{name}` measures disks and settings of one machine, so --on expects directories, not hosts"
        )));
    }
    if !experiment.fixtures.is_empty() {
        return Err(Exit::invalid(format!(
            "--on: the fixtures of `{name}` change this machine, and cannot run on multiple \
            hosts: omit --on"
        )));
    }
    Ok(())
}

/// Starts agents and prepares their hosts.
///
/// # Errors
/// Returns an error if this version does not know the launcher, if an agent cannot be started, or if
/// its host does not meet the requirements.
pub fn start(
    planned: &PlannedHosts,
    (project, plan): (&Project, &Plan),
    prepared: &Prepared,
    earlier: usize,
) -> Result<Hosts, Exit> {
    let requirements = HostRequirements {
        plan: plan.clone(),
        folder: project.folder().to_path_buf(),
        hashes: prepared.hashes.clone(),
        failures: prepared.failures.clone(),
        scratch: planned.scratch.clone(),
        strict: planned.strict,
    };
    let launcher = stored_launcher(&planned.launcher, "hosts", "run")?;
    let loss = AgentLoss {
        lost_after: planned.lost_after_ns.map(Duration::from_nanos),
    };
    let hosts = lab_document::say::count(launcher.locations().len(), "host");
    eprintln!("benchlab: preparing {hosts}");
    let start = HostsStart {
        starting: loss.starting(&launcher),
        requirements,
        earlier,
    };
    let hosts = Hosts::start(start, &mut |line| eprintln!("benchlab: {line}"));
    hosts.map_err(|e| {
        let Exit { code, message } = e.into();
        Exit::new(code, format!("{message}\nnothing was measured"))
    })
}

/// Returns the data about the coordinator's machine, which measures nothing.
pub fn coordinator() -> Host {
    Host {
        findings: Vec::new(),
        ..host::inspect(measuring::CORES)
    }
}

/// Prepares this machine, which runs an agent.
///
/// # Errors
/// Returns an error if the machine does not meet the requirements.
pub fn make_ready(cli: &Cli, requirements: &HostRequirements) -> Result<Bench, Exit> {
    let plan = &requirements.plan;
    let project = find_project(cli, &requirements.folder)?;
    let folder = project.folder();
    let experiment = Experiment::read(&project, &plan.experiment)?;
    if let Some(subject) = changed_subject(&experiment, plan) {
        return Err(other_revision(folder, &subject.name));
    }
    check_sources(
        requirements,
        &prepare(&project, &experiment, plan, false)?,
        folder,
    )?;
    let host = measuring::fit_host(requirements.strict, measuring::CORES);
    let host = host.map_err(|e| {
        Exit::new(
            exit::UNFIT,
            format!("the host is unfit for measuring: {}", e.message),
        )
    })?;
    let scratch = measuring::scratch(requirements.scratch.as_deref())?;
    let servers = services::start(plan, &[], &scratch, &requirements.failures)?;
    Ok(Bench {
        folder: folder.to_path_buf(),
        host: with_scratch(host, &scratch, plan),
        scratch,
        servers,
    })
}

/// Finds the project at the coordinator's path, or else at the path in this machine's `--project`
/// option or BENCHLAB_PROJECT variable.
fn find_project(cli: &Cli, folder: &Path) -> Result<Project, Exit> {
    let is_there = folder.join("experiments").is_dir();
    match (is_there, &cli.project) {
        (true, _) => Ok(Project::find(folder)?),
        (false, Some(_)) => project(cli),
        (false, None) => Err(Exit::invalid(format!(
            "{} contains no project: copy the project there, or set BENCHLAB_PROJECT to the project's directory",
            folder.display()
        ))),
    }
}

/// Returns the first subject of the plan that this experiment lacks or runs as a different program.
pub fn changed_subject<'p>(experiment: &Experiment, plan: &'p Plan) -> Option<&'p Subject> {
    let has_changed = |s: &&Subject| {
        let current = experiment.subject(plan, s);
        current.is_none_or(|current| current.model.program != s.program)
    };
    let mut subjects = plan.subjects.iter().filter(|s| s.control_of.is_none());
    subjects.find(has_changed)
}

/// Checks that subjects on a host were built from the coordinator's sources and can run.
///
/// # Errors
/// Returns an error if a subject has different sources or cannot run.
fn check_sources(
    requirements: &HostRequirements,
    prepared: &Prepared,
    folder: &Path,
) -> Result<(), Exit> {
    for (name, hash) in &requirements.hashes {
        let local = prepared.hashes.iter().find(|(local, _)| local == name);
        match local {
            Some((_, local_hash)) if local_hash == hash => {}
            Some(_) => return Err(other_revision(folder, name)),
            None => {
                let failures = prepared.failures.iter();
                let mut failures =
                    failures.filter(|f| requirements.plan.subject_label(f.subject) == *name);
                let reason = failures
                    .next()
                    .map_or("the subject is not built", |f| f.message.as_str());
                return Err(Exit::failed(format!(
                    "`{name}` runs on the coordinator's machine, but cannot run here: {reason}"
                )));
            }
        }
    }
    Ok(())
}

fn other_revision(folder: &Path, name: &str) -> Exit {
    Exit::invalid(format!(
        "the sources of `{name}` in {} differ from the sources on the coordinator: check out the same revision of the project there",
        folder.display()
    ))
}
