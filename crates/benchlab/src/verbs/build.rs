// SPDX-License-Identifier: Apache-2.0
//! `benchlab build`: builds all subjects and fixtures, including subjects that run only when requested.

use crate::cli::{BuildArgs, Cli};
use crate::exit::Exit;
use crate::ready::build_programs;
use crate::verbs::{experiment, project};
use lab_document::say::count;
use lab_plan::Experiment;
use std::process::ExitCode;

/// Builds the subjects and fixtures of one experiment or of all.
pub fn build(cli: &Cli, args: &BuildArgs) -> Result<ExitCode, Exit> {
    let (project, experiments) = match &args.experiment {
        Some(name) => {
            let (project, experiment) = experiment(cli, name)?;
            (project, vec![experiment])
        }
        None => {
            let project = project(cli)?;
            let names = project.experiments();
            let all = names.iter().map(|name| Experiment::read(&project, name));
            let all = all.collect::<Result<_, _>>()?;
            (project, all)
        }
    };
    let mut unready = 0;
    for experiment in experiments {
        let fixtures = experiment.fixtures.iter().map(|fixture| &fixture.program);
        let subjects: Vec<_> = experiment.subjects.iter().chain(fixtures).collect();
        let outcomes = build_programs(&project, &experiment, &subjects, args.install, &[])?;
        let missed = subjects.iter().zip(&outcomes);
        let missed = missed.filter(|(subject, outcome)| outcome.is_err() && !subject.optional);
        unready += missed.count();
    }
    match unready {
        0 => Ok(ExitCode::SUCCESS),
        n => Err(Exit::failed(format!("{} cannot run", count(n, "subject")))),
    }
}
