// SPDX-License-Identifier: Apache-2.0
//! `benchlab list`: lists experiments, subjects and runs, and their missing requirements.

mod brief;
mod json;

use crate::cli::{Cli, ListArgs};
use crate::exit::Exit;
use crate::options::ListingFormat;
use crate::output::{hanging_indent, say, widest, write_json};
use crate::verbs::{experiment, project, run_files, runs_folder};
use lab_bench::build::present;
use lab_document::say::count;
use lab_model::audit::State;
use lab_model::{Content, Run, Selector};
use lab_plan::{Case, Experiment, Project, Subject, Toolchain, Toolchains};
use std::path::Path;
use std::process::ExitCode;

/// Lists experiments or runs.
pub fn list(cli: &Cli, args: &ListArgs) -> Result<ExitCode, Exit> {
    if args.listing.format == ListingFormat::Json {
        write_json(&match &args.experiment {
            _ if args.runs => json::runs(&runs_folder(cli, None)?),
            Some(name) => {
                let (project, experiment) = experiment(cli, name)?;
                json::experiment(&experiment, &Toolchains::read(&project)?)
            }
            None => json::overview(&project(cli)?)?,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.runs {
        return runs(&runs_folder(cli, None)?);
    }
    match &args.experiment {
        Some(name) => {
            let (project, experiment) = experiment(cli, name)?;
            let toolchains = Toolchains::read(&project)?;
            say!(
                "{}\n",
                hanging_indent(&format!("{}: ", experiment.name), &experiment.question)
            );
            if args.full {
                show_all(&experiment, &toolchains)?;
            } else {
                brief::show(&experiment, &toolchains)?;
                say!("\nFor drivers and the values of each case: benchlab list {name} --full");
            }
            say!("benchlab run {name} --quick");
        }
        None => overview(&project(cli)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the question of each experiment.
fn overview(project: &Project) -> Result<(), Exit> {
    let names = project.experiments();
    let width = widest(names.iter().map(String::as_str));
    for name in &names {
        let question = Experiment::read(project, name)?.question;
        say!(
            "{}",
            hanging_indent(&format!("{name:<width$}  "), &question)
        );
    }
    say!("\n`benchlab list NAME` shows one: its cases, its subjects, and what is missing.");
    Ok(())
}

/// Prints each case with its values, and each subject of each target with its driver.
fn show_all(experiment: &Experiment, toolchains: &Toolchains) -> Result<(), Exit> {
    say!("cases");
    let width = widest(experiment.cases.iter().map(|case| &*case.name));
    for case in &experiment.cases {
        let below = format!("  {:<width$}  ", "");
        say!(
            "{}",
            hanging_indent(&format!("  {:<width$}  ", case.name), &case.work)
        );
        for (parameter, values) in parameters(case) {
            let values = values.join(", ");
            say!(
                "{}",
                hanging_indent(&below, &format!("{parameter} = {values}"))
            );
        }
    }
    let width = widest(experiment.subjects.iter().map(|s| &*s.model.name));
    for target in experiment.target_ids() {
        match experiment.targets.get(target) {
            Some(target) => say!("\nsubjects on {}", target.kind.title()),
            None => say!("\nsubjects"),
        }
        let is_on_target = |s: &&Subject| s.model.target == target;
        for subject in experiment.subjects.iter().filter(is_on_target) {
            show_subject(experiment, toolchains, subject, width)?;
        }
    }
    show_fixtures(experiment, toolchains)?;
    selections(experiment)
}

/// Prints each fixture with the selector of its state.
fn show_fixtures(experiment: &Experiment, toolchains: &Toolchains) -> Result<(), Exit> {
    if experiment.fixtures.is_empty() {
        return Ok(());
    }
    say!("\nfixtures");
    let fixtures = experiment.fixtures.iter();
    let width = widest(fixtures.clone().map(|fixture| &*fixture.model.name));
    for fixture in fixtures {
        let text = match &fixture.model.selector {
            Some(Selector::Subject) => "one state for each subject".to_owned(),
            Some(Selector::Factor(name)) => format!("one state for each value of {name}"),
            None => "one state".to_owned(),
        };
        let lead = format!("  {:<width$}  ", fixture.model.name);
        say!("{}", hanging_indent(&lead, &text));
        show_missing(toolchains, &fixture.program, width)?;
    }
    Ok(())
}

/// Returns the parameters of a case that `--set` accepts, each with its values.
fn parameters(case: &Case) -> impl Iterator<Item = (&str, Vec<String>)> {
    let sweep = case
        .sweep
        .iter()
        .map(|(name, values)| (&**name, texts(values)));
    let factors = case
        .factors
        .iter()
        .map(|factor| (&*factor.name, texts(&factor.values)));
    sweep.chain(factors)
}

fn selections(experiment: &Experiment) -> Result<(), Exit> {
    if !experiment.selections.is_empty() {
        say!("\nselections of subjects");
        let width = widest(experiment.selections.keys().map(String::as_str));
        for (selection, members) in &experiment.selections {
            let lead = format!("  {selection:<width$}  ");
            say!("{}", hanging_indent(&lead, &members.join(", ")));
        }
    }
    Ok(())
}

/// The role of a subject that is not measured by default.
const ON_REQUEST: &str = "only if requested";

/// Returns the role of a subject, which is shown next to its driver.
fn role(experiment: &Experiment, subject: &Subject) -> Option<&'static str> {
    let s = &subject.model;
    match (s.reference, s.name == experiment.baseline, subject.default) {
        (true, _, _) => Some("the reference"),
        (_, true, _) => Some("the baseline"),
        (_, _, false) => Some(ON_REQUEST),
        _ => None,
    }
}

/// Returns the toolchains that a subject needs and this machine lacks.
pub fn missing_toolchains<'t>(toolchains: &'t Toolchains, subject: &Subject) -> Vec<&'t Toolchain> {
    let needs = subject.recipe.needs.iter().chain(&subject.recipe.services);
    let needs = needs.filter_map(|n| toolchains.get(n));
    needs.filter(|t| !present(t)).collect()
}

fn show_subject(
    experiment: &Experiment,
    toolchains: &Toolchains,
    subject: &Subject,
    width: usize,
) -> Result<(), Exit> {
    let s = &subject.model;
    let role = role(experiment, subject);
    let role = role.map_or(String::new(), |role| format!(" ({role})"));
    let text = format!("{}, {}{role}", s.language, s.driver);
    say!(
        "{}",
        hanging_indent(&format!("  {:<width$}  ", s.name), &text)
    );
    show_missing(toolchains, subject, width)?;
    Ok(())
}

/// Prints the toolchains that a program needs and this machine lacks.
fn show_missing(toolchains: &Toolchains, program: &Subject, width: usize) -> Result<(), Exit> {
    for toolchain in missing_toolchains(toolchains, program) {
        let text = format!("missing: {} ({})", toolchain.title, toolchain.how());
        say!("{}", hanging_indent(&format!("  {:<width$}  ", ""), &text));
    }
    Ok(())
}

fn runs(folder: &Path) -> Result<ExitCode, Exit> {
    let paths = run_files(folder);
    if paths.is_empty() {
        say!(
            "no runs in {}; `benchlab run sql --quick` creates one",
            folder.display()
        );
    }
    for path in paths {
        match lab_store::load(&path) {
            Ok(run) => say!("{}  {}", path.display(), state(&run)),
            Err(e) => say!("{e}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn state(run: &Run) -> String {
    match &run.content {
        Content::Measured(_) => {
            let blocks = count(run.complete_blocks().count(), "block");
            match run.ending {
                Some(_) => blocks,
                None => format!("{blocks}, stopped: `benchlab resume` continues it"),
            }
        }
        Content::Logs(analysis) => {
            let requests = count(analysis.lines.entries as usize, "request");
            format!("{requests} read from logs")
        }
        Content::Audit(audit) => {
            let (bad, advice) = (audit.count(State::Bad), audit.count(State::Advice));
            format!("audit of {}: {bad} bad, {advice} advice", audit.kind.name())
        }
        Content::Imported(imports) => {
            let values = imports.iter().map(|i| i.times.len() + i.series.len());
            format!("{} imported series", values.sum::<usize>())
        }
    }
}

fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}
