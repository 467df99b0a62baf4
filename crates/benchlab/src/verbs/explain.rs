// SPDX-License-Identifier: Apache-2.0
//! `benchlab explain`: subjects run once more under counters, outside of all measuring.

use crate::cli::{Cli, ExplainArgs};
use crate::exit::{self, Exit};
use crate::measuring;
use crate::services;
use crate::verbs::project;
use crate::verbs::report::{deliver, render, terminal};
use crate::verbs::run::{Prepared, prepare, set_values};
use lab_bench::{Explainer, Fault, install, interrupt, tracer, unix_seconds};
use lab_model::{Measure, Plan, Run};
use lab_plan::{Experiment, Extent, Project, Selection, Toolchain};
use lab_report::Terminal;
use lab_report::kind::explain::{ExplainReport, document};
use std::path::Path;
use std::process::ExitCode;

/// Counts, and reports.
pub fn explain(cli: &Cli, args: &ExplainArgs) -> Result<ExitCode, Exit> {
    let project = project(cli)?;
    let (experiment, plan) = planned(&project, args)?;
    if plan.load().is_some() || plan.commands().is_some() {
        return Err(Exit::wrong(
            "explain is for experiments whose subjects work in batches; on servers see `benchlab profile`",
        ));
    }
    interrupt::watch().map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    ensure_tracer(args.install)?;
    let Prepared { failures, .. } = prepare(&project, &experiment, &plan, args.install)?;
    let scratch = measuring::scratch(args.scratch.as_deref())?;
    let servers = services::start(&plan, &args.service, &scratch, &failures)?;
    let explainer = Explainer::new(&plan, project.folder(), scratch, servers)?;
    let tracer = tracer();
    let (mut counted, mut failed) = (Vec::new(), Vec::new());
    for failure in &failures {
        let name = plan.subject_label(failure.subject);
        failed.push(format!("{name} cannot run: {}.", failure.message));
    }
    let unready = |subject| failures.iter().any(|f| f.subject == subject);
    for point in 0..plan.points.len() {
        let there = |&s: &usize| plan.takes_part(s, point) && !unready(s);
        for subject in (0..plan.subjects.len()).filter(there) {
            let (name, label) = (plan.subject_label(subject), plan.label(point));
            eprintln!("benchlab: counting {name} at {label}");
            match explainer.count(subject, point, args.operations, tracer.as_deref()) {
                Ok(found) => counted.push(found),
                Err(Fault::Interrupted) => return Err(Exit::new(exit::INTERRUPTED, "stopped")),
                Err(Fault::ServerLost(why)) => return Err(Exit::new(exit::FAILED, why)),
                Err(Fault::Failed(_, why)) => {
                    failed.push(format!("{name} failed at {label}: {why}."))
                }
            }
        }
    }
    if counted.is_empty() {
        let why = format!("nothing could be counted\n{}", failed.join("\n"));
        return Err(Exit::new(exit::FAILED, why));
    }
    let document = document(&ExplainReport {
        plan: &plan,
        counted: &counted,
        failed,
        made_unix_s: unix_seconds(),
    });
    let form = Terminal {
        full: args.full || args.output.is_some(),
        ..terminal(args.color)
    };
    let rendered = render(&document, args.format, form)?;
    deliver(rendered, args.format, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// The experiment, and what is to be counted of it.
fn planned(project: &Project, args: &ExplainArgs) -> Result<(Experiment, Plan), Exit> {
    let path = Path::new(&args.of);
    let of_run = path.extension().is_some_and(|e| e == "lab");
    let (name, mut selection) = match of_run {
        true => of_run_file(&lab_store::load(path)?)?,
        false => (args.of.clone(), nothing_said(measuring::seed(args.seed))),
    };
    let given = [
        (&args.subjects, &mut selection.subjects),
        (&args.cases, &mut selection.cases),
    ];
    for (given, selected) in given {
        if !given.is_empty() {
            *selected = given.clone();
        }
    }
    if !args.targets.is_empty() {
        selection.targets = args.targets.clone();
    }
    for (name, values) in set_values(&args.set)? {
        selection.set.retain(|(known, _)| *known != name);
        selection.set.push((name, values));
    }
    let experiment = Experiment::read(project, &name)?;
    selection.baseline = args.baseline.clone().or(selection.baseline);
    selection.service_set = args.service_set.clone();
    selection.external = args.service.iter().map(|(kind, _)| *kind).collect();
    selection.seed = args.seed.unwrap_or(selection.seed);
    selection.measure.time_limit_ns = args.time_limit.as_nanos() as u64;
    let plan = selection.plan(&experiment)?;
    Ok((experiment, plan))
}

/// The experiment's own choice, of each sweep its ends.
fn nothing_said(seed: u64) -> Selection {
    Selection {
        subjects: Vec::new(),
        cases: Vec::new(),
        targets: Vec::new(),
        service_set: Vec::new(),
        external: Vec::new(),
        set: Vec::new(),
        baseline: None,
        control: false,
        extent: Extent::Quick,
        seed,
        measure: Measure {
            turn_ns: 1_000_000,
            ..Measure::default()
        },
    }
}

/// What a run measured: the experiment's name, and its selection.
fn of_run_file(run: &Run) -> Result<(String, Selection), Exit> {
    let plan = run
        .plan
        .as_ref()
        .ok_or_else(|| Exit::wrong("the run file holds imported figures, of no subject"))?;
    if plan.commands().is_some() || plan.load().is_some() {
        return Err(Exit::wrong(
            "explain is for runs of experiments whose subjects work in batches",
        ));
    }
    let compared: Vec<&lab_model::Subject> = plan.compared().map(|s| &plan.subjects[s]).collect();
    let mut selection = nothing_said(plan.seed);
    for subject in &compared {
        if !selection.subjects.contains(&subject.name) {
            selection.subjects.push(subject.name.clone());
        }
    }
    selection.cases = plan.cases.iter().map(|c| c.name.clone()).collect();
    selection.targets = plan.targets.iter().map(|t| t.kind).collect();
    selection.baseline = Some(plan.subjects[plan.baseline].name.clone());
    Ok((plan.experiment.clone(), selection))
}

fn ensure_tracer(install_missing: bool) -> Result<(), Exit> {
    if tracer().is_some() || !install_missing {
        return Ok(());
    }
    let strace = Toolchain {
        title: "strace".into(),
        programs: vec!["strace".into()],
        probes: Vec::new(),
        debian: vec!["strace".into()],
        advice: None,
        service: false,
    };
    install(&[&strace]).map_err(|e| Exit::new(exit::FAILED, e.to_string()))
}
