// SPDX-License-Identifier: Apache-2.0
//! `benchlab explain`: runs subjects again with counters, separately from their measurement.

use crate::cli::{Cli, Color, DisplayArgs, ExplainArgs, RunArgs};
use crate::exit::Exit;
use crate::fixtures::Fixtures;
use crate::measuring;
use crate::options::set_values;
use crate::prepared::{Prepared, prepare};
use crate::services;
use crate::verbs::report::{deliver_document, show};
use crate::verbs::{experiment, project_of_run};
use lab_bench::{
    CommandExplainer, Explainer, Fault, ServerExplainer, SubjectResult, generator_threads, in_path,
    install, interrupt, tracer, unit_costs, unix_seconds,
};
use lab_document::{Document, format};
use lab_explain::{CountFailure, ExplainReport, document, wording};
use lab_model::{Counted, Measure, Plan, PointId, Run, SubjectId, Work};
use lab_plan::{Experiment, Extent, Project, Selection, Toolchain};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The minimum time limit for a reply of a traced subject, because tracers slow subjects down.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Counts the cost of the subjects' operations and reports it.
pub fn explain(cli: &Cli, args: &ExplainArgs) -> Result<ExitCode, Exit> {
    let document = explain_experiment(cli, args)?;
    deliver_document(&document, &args.display)?;
    Ok(ExitCode::SUCCESS)
}

/// Counts the operations of an experiment after its measurement, and writes a page next to the run
/// file.
pub fn after_run(cli: &Cli, path: &Path, args: &RunArgs) -> Result<(), Exit> {
    let document = explain_experiment(
        cli,
        &ExplainArgs {
            of: path.display().to_string(),
            subjects: Vec::new(),
            cases: Vec::new(),
            targets: Vec::new(),
            set: args.set.clone(),
            baseline: None,
            operations: None,
            seed: None,
            time_limit: args.time_limit.max(TIME_LIMIT),
            scratch: args.scratch.clone(),
            service: args.service.clone(),
            service_set: args.service_set.clone(),
            install: args.install,
            display: DisplayArgs {
                format: format::terminal::FORMAT,
                output: None,
                full: false,
                color: Color::Auto,
            },
        },
    )?;
    show(&document, &explain_path(path))
}

/// Runs each command of a comparison a few more times with counters and writes a page next to the run file.
pub fn after_comparison(plan: &Plan, path: &Path) -> Result<(), Exit> {
    let commands = plan.commands().expect("a plan of commands");
    let scratch = measuring::scratch(None)?;
    let mut explainer = CommandExplainer::new(plan, commands, scratch).map_err(Exit::failed)?;
    let tracer = tracer();
    let is_counted =
        |s: SubjectId| !plan.subjects[s].overhead && plan.subjects[s].control_of.is_none();
    let document = count_all(plan, Vec::new(), is_counted, |subject, point| {
        explainer.count(subject, point, tracer.as_deref())
    })?;
    show(&document, &explain_path(path))
}

/// Returns the path `NAME-explain.lab`. No file with this path is written; it only determines the
/// name of the page.
fn explain_path(path: &Path) -> PathBuf {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}-explain.lab"))
}

fn explain_experiment(cli: &Cli, args: &ExplainArgs) -> Result<Document, Exit> {
    let (project, experiment, plan) = plan(cli, args)?;
    interrupt::watch().map_err(Exit::failed)?;
    ensure_tools(args.install)?;
    let Prepared { failures, .. } = prepare(&project, &experiment, &plan, args.install)?;
    let scratch = measuring::scratch(args.scratch.as_deref())?;
    let tracer = tracer();
    let unready = failures.iter().map(|failure| CountFailure {
        subject: plan.subject_label(failure.subject),
        point: None,
        reason: failure.message.clone(),
    });
    let is_ready = |subject| failures.iter().all(|f| f.subject != subject);
    let (folder, unready) = (project.folder(), unready.collect());
    if let Some(serving) = plan.serving() {
        let explainer = ServerExplainer::new(&plan, serving, folder, scratch)?;
        return count_all(&plan, unready, is_ready, |subject, point| {
            explainer.count(subject, point, tracer.as_deref())
        });
    }
    let servers = services::start(&plan, &args.service, &scratch, &failures)?;
    let explainer = Explainer::new(&plan, folder, scratch, servers)?;
    count_all(&plan, unready, is_ready, |subject, point| {
        explainer.count(subject, point, args.operations, tracer.as_deref())
    })
}

/// Counts the operations of each subject that `is_counted` selects, at all points, and builds a
/// document.
///
/// `failed` contains the failures of subjects that cannot run.
///
/// # Errors
/// Returns an error if nothing could be counted.
fn count_all(
    plan: &Plan,
    mut failed: Vec<CountFailure>,
    is_counted: impl Fn(SubjectId) -> bool,
    mut count: impl FnMut(SubjectId, PointId) -> SubjectResult<Counted>,
) -> Result<Document, Exit> {
    let mut counted = Vec::new();
    for point in plan.points.ids() {
        let takes_part = |&s: &SubjectId| plan.takes_part(s, point) && is_counted(s);
        for subject in plan.subjects.ids().filter(takes_part) {
            let (name, label) = (plan.subject_label(subject), plan.point_name(point));
            eprintln!("benchlab: {}", wording::counting(&name, &label));
            match count(subject, point) {
                Ok(counts) => counted.push(counts),
                Err(Fault::Interrupted) => return Err(Exit::interrupted(wording::STOPPED)),
                Err(Fault::ServerLost(reason)) => return Err(Exit::failed(reason)),
                Err(Fault::Failed(_, reason)) => failed.push(CountFailure {
                    subject: name,
                    point: Some(label),
                    reason,
                }),
            }
        }
    }
    if counted.is_empty() {
        return Err(Exit::failed(wording::nothing_counted(&failed)));
    }
    Ok(document(&ExplainReport {
        plan,
        counted: &counted,
        failed,
        costs: unit_costs(),
        made_unix_s: unix_seconds(),
    }))
}

/// Returns the experiment with its project, and the plan of the subjects and points to count.
fn plan(cli: &Cli, args: &ExplainArgs) -> Result<(Project, Experiment, Plan), Exit> {
    let path = Path::new(&args.of);
    let is_run = path.extension().is_some_and(|e| e == "lab");
    let (project, experiment, mut selection) = if is_run {
        let (name, selection) = run_selection(&lab_store::load(path)?)?;
        let project = project_of_run(cli, path)?;
        let experiment = Experiment::read(&project, &name)?;
        (project, experiment, selection)
    } else {
        let (project, experiment) = experiment(cli, &args.of)?;
        let selection = default_selection(measuring::seed(args.seed));
        (project, experiment, selection)
    };
    let options = [
        (&args.subjects, &mut selection.subjects),
        (&args.cases, &mut selection.cases),
    ];
    for (names, selected) in options {
        if !names.is_empty() {
            *selected = names.clone();
        }
    }
    if !args.targets.is_empty() {
        selection.targets = args.targets.clone();
    }
    for (name, values) in set_values(&args.set)? {
        selection.set.retain(|(other, _)| *other != name);
        selection.set.push((name, values));
    }
    selection.baseline = args.baseline.clone().or(selection.baseline);
    selection.service_set = args.service_set.clone();
    selection.external = args.service.iter().map(|(kind, _)| *kind).collect();
    selection.seed = args.seed.unwrap_or(selection.seed);
    selection.measure.time_limit_ns = args.time_limit.as_nanos() as u64;
    let fixtures = Fixtures {
        project: &project,
        experiment: &experiment,
        installs: args.install,
    };
    let mut plan = fixtures.plan(&mut selection)?;
    if let Some(load) = plan.load_mut() {
        let cores = lab_host::allowed_cores().map_or(1, |cores| cores.len());
        load.threads = generator_threads(cores) as u32;
    }
    Ok((project, experiment, plan))
}

/// Returns the default selection, as for a quick run: the first and last value of each sweep.
fn default_selection(seed: u64) -> Selection {
    Selection {
        absent: Vec::new(),
        on: Vec::new(),
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

/// Returns the experiment's name and the selection of a run: its measured subjects, cases and
/// services, at the points of a quick run.
///
/// # Errors
/// Returns an error if the run does not belong to an experiment, or if benchlab does not start the
/// experiment's subjects.
fn run_selection(run: &Run) -> Result<(String, Selection), Exit> {
    let plan = run.plan().ok_or_else(|| Exit::invalid(wording::IMPORTED))?;
    if let Work::Commands(_) | Work::Load(_) = plan.work {
        return Err(Exit::invalid(wording::NOT_AN_EXPERIMENT));
    }
    let compared: Vec<&lab_model::Subject> = plan.compared().map(|s| &plan.subjects[s]).collect();
    let mut selection = default_selection(plan.seed);
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

/// Installs strace and Valgrind if requested. Without these tools, fewer costs are counted, and the
/// report shows which costs were not counted.
fn ensure_tools(install_missing: bool) -> Result<(), Exit> {
    if !install_missing {
        return Ok(());
    }
    let missing = ["strace", "valgrind"].map(|name| Toolchain {
        title: name.into(),
        programs: vec![name.into()],
        debian: vec![name.into()],
        ..Toolchain::default()
    });
    let missing: Vec<&Toolchain> = missing
        .iter()
        .filter(|tool| in_path(&tool.programs[0]).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing).map_err(Exit::failed)
}
