// SPDX-License-Identifier: Apache-2.0
//! `benchlab new`: creates an experiment, or adds a subject to one.

pub mod args;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::say;
use crate::verbs::{experiment, is_path, project};
use args::{New, NewArgs, NewExperimentArgs, NewSubjectArgs};
use lab_plan::{EXPERIMENT_FILE, Project};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Creates an experiment or a subject.
pub fn new(cli: &Cli, args: &NewArgs) -> Result<ExitCode, Exit> {
    match &args.what {
        New::Experiment(args) => new_experiment(cli, args)?,
        New::Subject(args) => new_subject(cli, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn new_experiment(cli: &Cli, args: &NewExperimentArgs) -> Result<(), Exit> {
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let name = args.name.trim_end_matches('/');
    let collection = project(cli)
        .ok()
        .map(|project| project.folder().join("experiments"));
    let collection = collection.filter(|experiments| experiments.is_dir() && !is_path(name));
    let folder = collection.as_deref().unwrap_or(&current).join(name);
    let files = lab_skeleton::experiment(&folder, &args.language).map_err(Exit::invalid)?;
    let shown = match &collection {
        Some(_) => name.to_owned(),
        None if is_path(name) => name.to_owned(),
        None => format!("./{name}"),
    };
    let subjects = args.language.join(", ");
    let noun = if args.language.len() == 1 {
        "subject"
    } else {
        "subjects"
    };
    say!(
        "{} is an experiment with the {noun} {subjects}:",
        path_for_display(&folder, &current)
    );
    let (project, _) = Project::of_experiment(&folder)?;
    print_files(&project, &files, &current)?;
    say!("\nMeasure it: benchlab run {shown} --quick");
    Ok(())
}

fn new_subject(cli: &Cli, args: &NewSubjectArgs) -> Result<(), Exit> {
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let (project, parsed) = experiment(cli, &args.experiment)?;
    let created = lab_skeleton::subject(&project, &parsed, &args.name, &args.language);
    let (files, missing) = created.map_err(Exit::invalid)?;
    say!("{} is a new subject of {}:", args.name, parsed.name);
    print_files(&project, &files, &current)?;
    let entry = project
        .experiment_folder(&parsed.name)
        .join(EXPERIMENT_FILE);
    say!(
        "  {} (its entry)",
        path_for_display(&project.folder().join(entry), &current)
    );
    if !missing.is_empty() {
        say!(
            "\nIt implements the case `{}` as an example. Cases still to implement: {}",
            lab_skeleton::CASE,
            missing.join(", ")
        );
    }
    say!(
        "\nMeasure it: benchlab run {} --quick --subjects {}",
        args.experiment,
        args.name
    );
    Ok(())
}

fn print_files(project: &Project, files: &[PathBuf], current: &Path) -> Result<(), Exit> {
    for file in files {
        say!(
            "  {}",
            path_for_display(&project.folder().join(file), current)
        );
    }
    Ok(())
}

/// Returns the path relative to the current directory if it is in that directory, or else the path
/// itself.
fn path_for_display(path: &Path, current: &Path) -> String {
    let below = path.strip_prefix(current).ok();
    let below = below.filter(|below| below.components().next().is_some());
    below.unwrap_or(path).display().to_string()
}
