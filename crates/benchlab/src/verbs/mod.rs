// SPDX-License-Identifier: Apache-2.0
//! The commands of benchlab, one file or module each.

pub mod agent;
pub mod audit;
pub mod bisect;
pub mod build;
pub mod ci;
pub mod compare;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod forecast;
pub mod generate;
pub mod history;
pub mod import;
pub mod init;
pub mod kubernetes;
pub mod list;
pub mod load;
pub mod logs;
pub mod new;
pub mod profile;
pub mod report;
pub mod resume;
pub mod run;
pub mod serve;

pub use crate::directories::run_files;

use crate::cli::Cli;
use crate::directories;
use crate::exit::Exit;
use lab_plan::{Experiment, Project};
use std::path::{Path, PathBuf};

/// Returns the project of `--project`, or else the project of the current directory or its nearest
/// parent directory that has one.
pub fn project(cli: &Cli) -> Result<Project, Exit> {
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let project = Project::find(cli.project.as_deref().unwrap_or(&current)).map_err(Exit::from);
    project.map_err(|exit| match packaged_experiments() {
        Some(folder) => Exit::invalid(format!(
            "{}; `cp -r {} .` creates one from the package's experiments",
            exit.message,
            folder.display()
        )),
        None => exit,
    })
}

/// Returns true if the argument for an experiment is a directory, that is, if it is `.` or `..`, or
/// contains a slash.
pub fn is_path(experiment: &str) -> bool {
    experiment == "." || experiment == ".." || experiment.contains('/')
}

/// Returns an experiment and its project. `name` is either the name of an experiment in the
/// project, or a directory.
pub fn experiment(cli: &Cli, name: &str) -> Result<(Project, Experiment), Exit> {
    let (project, name) = if is_path(name) {
        Project::of_experiment(Path::new(name))?
    } else {
        (project(cli)?, name.to_owned())
    };
    let experiment = Experiment::read(&project, &name)?;
    Ok((project, experiment))
}

/// Returns the project whose `runs/` contains a run file, or else the project of the current
/// directory.
pub fn project_of_run(cli: &Cli, file: &Path) -> Result<Project, Exit> {
    let path = std::path::absolute(file).map_err(Exit::invalid)?;
    let folder = path.parent().filter(|folder| folder.ends_with("runs"));
    let found = folder.and_then(|folder| Project::find(folder).ok());
    match found.filter(|_| cli.project.is_none()) {
        Some(project) => Ok(project),
        None => project(cli),
    }
}

/// Returns the directory in which an installed package keeps the experiments. Users must copy the
/// experiments before benchlab can build them.
fn packaged_experiments() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.parent()?.join("share/benchlab");
    folder.join("experiments").is_dir().then_some(folder)
}

/// Returns the directory of run files, which need not exist.
///
/// This is the given directory, or else the project's `runs/`. Outside a project, it is
/// `benchlab/runs` in the user's data directory (XDG Base Directory Specification).
pub fn runs_folder(cli: &Cli, given: Option<&Path>) -> Result<PathBuf, Exit> {
    match (given, project(cli)) {
        (Some(folder), _) => Ok(folder.to_path_buf()),
        (None, Ok(project)) => Ok(project.folder().join("runs")),
        (None, Err(_)) if cli.project.is_none() => directories::data()
            .map(|data| data.join("runs"))
            .ok_or_else(|| {
                Exit::invalid("HOME is not set: specify a directory for runs with --runs")
            }),
        (None, Err(exit)) => Err(exit),
    }
}
