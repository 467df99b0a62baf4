// SPDX-License-Identifier: Apache-2.0
//! `benchlab list`: what there is, and what is missing for it.

use crate::cli::{Cli, ListArgs};
use crate::exit::Exit;
use crate::output::{hanging, say, widest};
use crate::verbs::{project, run_files};
use lab_bench::build::present;
use lab_model::audit::State;
use lab_plan::{Experiment, Project, Subject, Toolchains};
use std::path::Path;
use std::process::ExitCode;

/// Lists experiments, or runs.
pub fn list(cli: &Cli, args: &ListArgs) -> Result<ExitCode, Exit> {
    let project = project(cli)?;
    if args.runs {
        return runs(&project.folder().join("runs"));
    }
    let toolchains = Toolchains::read(&project)?;
    match &args.experiment {
        Some(name) => show(&project, &toolchains, name)?,
        None => overview(&project)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The question of each experiment.
fn overview(project: &Project) -> Result<(), Exit> {
    let names = project.experiments();
    let width = widest(names.iter().map(String::as_str));
    for name in &names {
        let question = Experiment::read(project, name)?.question;
        say!("{}", hanging(&format!("{name:<width$}  "), &question));
    }
    say!("\n`benchlab list NAME` shows one: its cases, its subjects, and what is missing.");
    Ok(())
}

fn show(project: &Project, toolchains: &Toolchains, name: &str) -> Result<(), Exit> {
    let experiment = Experiment::read(project, name)?;
    say!("{}", hanging(&format!("{name}: "), &experiment.question));
    say!("\n  cases");
    let width = widest(experiment.cases.iter().map(|case| &*case.name));
    for case in &experiment.cases {
        let below = format!("    {:<width$}  ", "");
        say!(
            "{}",
            hanging(&format!("    {:<width$}  ", case.name), &case.work)
        );
        if let Some((parameter, values)) = &case.sweep {
            let text = format!("sweep {parameter} = {}", join(values));
            say!("{}", hanging(&below, &text));
        }
        for factor in &case.factors {
            let text = format!("factor {} = {}", factor.name, join(&factor.values));
            say!("{}", hanging(&below, &text));
        }
    }
    let width = widest(experiment.subjects.iter().map(|s| &*s.model.name));
    for target in 0..experiment.targets.len().max(1) {
        match experiment.targets.get(target) {
            Some(target) => say!("\n  subjects on {}", target.kind.title()),
            None => say!("\n  subjects"),
        }
        let there = |s: &&Subject| s.model.target == target;
        for subject in experiment.subjects.iter().filter(there) {
            show_subject(&experiment, toolchains, subject, width)?;
        }
    }
    if !experiment.selections.is_empty() {
        say!("\n  selections of subjects");
        let width = widest(experiment.selections.keys().map(String::as_str));
        for (selection, members) in &experiment.selections {
            let lead = format!("    {selection:<width$}  = ");
            say!("{}", hanging(&lead, &members.join(", ")));
        }
    }
    say!("\n  benchlab run {name} --quick\n");
    Ok(())
}

fn show_subject(
    experiment: &Experiment,
    toolchains: &Toolchains,
    subject: &Subject,
    width: usize,
) -> Result<(), Exit> {
    let s = &subject.model;
    let role = match (s.limit, s.name == experiment.baseline, subject.default) {
        (true, _, _) => " (the limit)",
        (_, true, _) => " (the baseline)",
        (_, _, false) => " (only when named)",
        _ => "",
    };
    let text = format!("{}, {}{role}", s.language, s.driver);
    say!("{}", hanging(&format!("    {:<width$}  ", s.name), &text));
    let needs = subject.recipe.needs.iter().chain(&subject.recipe.services);
    let needs = needs.filter_map(|n| toolchains.get(n));
    for toolchain in needs.filter(|t| !present(t)) {
        let text = format!("missing: {} ({})", toolchain.title, toolchain.how());
        say!("{}", hanging(&format!("    {:<width$}  ", ""), &text));
    }
    Ok(())
}

fn runs(folder: &Path) -> Result<ExitCode, Exit> {
    let paths = run_files(folder);
    if paths.is_empty() {
        say!(
            "no runs in {}; `benchlab run sql --quick` makes one",
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

fn state(run: &lab_model::Run) -> String {
    if let Some(audit) = &run.audit {
        let (bad, advice) = (audit.count(State::Bad), audit.count(State::Advice));
        return format!("audit of {}: {bad} bad, {advice} advice", audit.kind.name());
    }
    let blocks = run.complete_blocks().count();
    if let Some(watched) = &run.watched {
        return format!("{} requests watched", watched.lines.entries);
    }
    match (&run.plan, run.ending) {
        (None, _) => format!("{} imported benchmarks", run.imports.len()),
        (Some(_), Some(_)) => format!("{blocks} blocks"),
        (Some(_), None) => format!("{blocks} blocks, stopped: `benchlab resume` goes on with it"),
    }
}

fn join<T: ToString>(values: &[T]) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
