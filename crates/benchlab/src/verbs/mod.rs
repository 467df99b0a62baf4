// SPDX-License-Identifier: Apache-2.0
//! One file per verb.

pub mod build;
pub mod compare;
pub mod doctor;
pub mod generate;
pub mod import;
pub mod list;
pub mod report;
pub mod resume;
pub mod run;

use crate::cli::Cli;
use crate::exit::Exit;
use lab_plan::Project;
use std::path::{Path, PathBuf};

/// The project that a command is about.
pub fn project(cli: &Cli) -> Result<Project, Exit> {
    let here = std::env::current_dir().map_err(|e| Exit::wrong(e.to_string()))?;
    Ok(Project::find(cli.project.as_deref().unwrap_or(&here))?)
}

/// The folder of run files: the given one, or the project's, or else the reader's own.
pub fn runs_folder(cli: &Cli, given: Option<&Path>) -> Result<PathBuf, Exit> {
    match given {
        Some(folder) => Ok(folder.to_path_buf()),
        None => Ok(project(cli)?.folder().join("runs")),
    }
}
