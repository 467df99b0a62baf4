// SPDX-License-Identifier: Apache-2.0
//! `benchlab list`: what there is, and what is missing for it.

use crate::cli::{Cli, ListArgs};
use crate::exit::Exit;
use crate::output::say;
use crate::verbs::{project, run_files};
use lab_bench::build::present;
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
    let names = match &args.experiment {
        Some(name) => vec![name.clone()],
        None => project.experiments(),
    };
    for name in names {
        show(&project, &toolchains, &name)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(project: &Project, toolchains: &Toolchains, name: &str) -> Result<(), Exit> {
    let experiment = Experiment::read(project, name)?;
    say!("{name}: {}", experiment.question);
    say!("\n  cases");
    for case in &experiment.cases {
        say!("    {:<12} {}", case.name, case.work);
        if let Some((parameter, values)) = &case.sweep {
            say!("    {:<12} sweep {parameter} = {}", "", join(values));
        }
        for factor in &case.factors {
            let (name, values) = (&factor.name, join(&factor.values));
            say!("    {:<12} factor {name} = {values}", "");
        }
    }
    for target in 0..experiment.targets.len().max(1) {
        match experiment.targets.get(target) {
            Some(target) => say!("\n  subjects on {}", target.kind.title()),
            None => say!("\n  subjects"),
        }
        let there = |s: &&Subject| s.model.target == target;
        for subject in experiment.subjects.iter().filter(there) {
            show_subject(&experiment, toolchains, subject)?;
        }
    }
    say!("\n  selections of subjects");
    for (selection, members) in &experiment.selections {
        say!("    {selection:<12} = {}", members.join(", "));
    }
    say!("\n  benchlab run {name} --quick\n");
    Ok(())
}

fn show_subject(
    experiment: &Experiment,
    toolchains: &Toolchains,
    subject: &Subject,
) -> Result<(), Exit> {
    let s = &subject.model;
    let role = match (s.limit, s.name == experiment.baseline, subject.default) {
        (true, _, _) => " (the limit)",
        (_, true, _) => " (the baseline)",
        (_, _, false) => " (only when named)",
        _ => "",
    };
    say!("    {:<12} {}, {}{role}", s.name, s.language, s.driver);
    let needs = subject.recipe.needs.iter().chain(&subject.recipe.services);
    let needs = needs.filter_map(|n| toolchains.get(n));
    for toolchain in needs.filter(|t| !present(t)) {
        let how = toolchain.advice.clone();
        let how = how.unwrap_or_else(|| toolchain.debian.join(" "));
        say!("    {:<12} missing: {} ({how})", "", toolchain.title);
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
