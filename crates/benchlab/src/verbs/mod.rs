// SPDX-License-Identifier: Apache-2.0
//! One file per verb.

pub mod build;
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

/// The project that a command is about.
pub fn project(cli: &Cli) -> Result<Project, Exit> {
    let here = std::env::current_dir().map_err(|e| Exit::wrong(e.to_string()))?;
    Ok(Project::find(cli.project.as_deref().unwrap_or(&here))?)
}
