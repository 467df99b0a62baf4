// SPDX-License-Identifier: Apache-2.0
//! Workloads of the user's own SQL: reads their files, and has the databases describe the
//! statements before subjects run them.

use crate::cli::RunArgs;
use crate::exit::Exit;
use lab_bench::Servers;
use lab_model::Plan;
use lab_plan::own_sql::Workload;
use lab_plan::{Experiment, with_workload};
use std::path::{Path, absolute};

/// Replaces the experiment's cases with the cases of `--workload`, if that option is given.
///
/// # Errors
/// Returns an error with the line number if the workload's file is invalid.
pub fn replace_cases(experiment: Experiment, args: &RunArgs) -> Result<Experiment, Exit> {
    let Some(path) = &args.workload else {
        return Ok(experiment);
    };
    let mut workload = Workload::read(path, &args.variant)?;
    // A run can be resumed in another directory.
    let path = absolute(path).unwrap_or_else(|_| path.clone());
    workload.model.file = path.display().to_string();
    Ok(with_workload(experiment, &workload)?)
}

/// Replaces the experiment's cases with the cases of the plan's workload, and adds the workload's
/// schema and data to the plan. Does nothing for a plan without a workload.
///
/// # Errors
/// Returns an error if the workload's files have changed.
pub fn restore(experiment: Experiment, plan: &mut Plan) -> Result<Experiment, Exit> {
    let Some(planned) = &plan.workload else {
        return Ok(experiment);
    };
    let variants = planned.variants.iter();
    let variants: Vec<String> = variants
        .map(|(name, sql)| format!("{name}: {sql}"))
        .collect();
    let workload = Workload::read(Path::new(&planned.file), &variants)?;
    if workload.model.sha256 != planned.sha256 {
        return Err(Exit::invalid(format!(
            "{} or its data changed since the run started: start a new run, or revert the change",
            planned.file
        )));
    }
    for target in plan.targets.iter_mut() {
        target.setup = Some(workload.setup(target.kind, plan.seed));
    }
    Ok(with_workload(experiment, &workload)?)
}

/// Has the databases describe the statements of the plan's workload. Does nothing for a plan
/// without a workload.
///
/// # Errors
/// Returns an error with the statement that a database rejects.
pub fn study(plan: &mut Plan, servers: &Servers) -> Result<(), Exit> {
    lab_bench::study(plan, servers).map_err(Exit::invalid)
}

/// Returns the base name of a run's file: the name of the experiment, followed by the name of the
/// workload if the run has a workload. Characters that a shell might interpret are replaced.
pub fn run_name(plan: &Plan) -> String {
    let Some(workload) = &plan.workload else {
        return plan.experiment.clone();
    };
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = workload.name.chars().take(60).map(letter).collect();
    format!("{}-{name}", plan.experiment)
}
