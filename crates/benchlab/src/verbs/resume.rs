// SPDX-License-Identifier: Apache-2.0
//! `benchlab resume`: continues a run that was stopped or killed.

use crate::cli::{Budget, Cli, ResumeArgs, ResumedLoadArgs};
use crate::exit::Exit;
use crate::fixtures::Fixtures;
use crate::gate;
use crate::hosts;
use crate::measuring;
use crate::own_sql;
use crate::prepared::{Prepared, prepare};
use crate::services;
use crate::verbs::load;
use crate::verbs::run::{self, Measurers};
use crate::verbs::{bisect, compare, project_of_run};
use lab_bench::{fingerprint, interrupt};
use lab_bisect::BisectionFile;
use lab_model::{Content, Ending, Plan, Subject, Work};
use lab_plan::Experiment;
use lab_store::RunWriter;
use std::process::ExitCode;
use std::time::Duration;

/// The time limit of a bisection's measurements with `--budget none`.
const NO_LIMIT: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Continues a run.
///
/// # Errors
/// Returns an error if the run is complete, if it has no plan, or if its subjects have changed.
pub fn resume(cli: &Cli, args: &ResumeArgs) -> Result<ExitCode, Exit> {
    if let Some(file) = BisectionFile::find(&args.file) {
        only_for_loads(&args.load)?;
        let budget = args
            .budget
            .as_ref()
            .map(|Budget(budget)| budget.unwrap_or(NO_LIMIT));
        return bisect::resume(&file, budget);
    }
    let earlier = lab_store::load(&args.file)?;
    let earlier_blocks = earlier.complete_blocks().count() as u32;
    // Drop the blocks here, because they keep the file open.
    drop(earlier.blocks);
    let file = args.file.display();
    let Content::Measured(content) = earlier.content else {
        return Err(Exit::invalid(format!(
            "{file} contains no plan: there is nothing to continue"
        )));
    };
    let mut plan = content.plan;
    if let Some(Ending::Decided | Ending::Precise | Ending::Blocks | Ending::Failed) =
        earlier.ending
    {
        return Err(Exit::invalid(format!(
            "{file} is complete; `benchlab report {file}` shows it"
        )));
    }
    if let Work::Load(_) = plan.work {
        return resume_load(plan, earlier.agents.len(), args);
    }
    only_for_loads(&args.load)?;
    if let Work::Servers(_) = plan.work
        && earlier.pilots.iter().any(|pilot| pilot.ages.is_empty())
    {
        return Err(Exit::invalid(format!(
            "{file} was started by an earlier version, which did not warm servers up to their \
            steady level: start a new run"
        )));
    }
    set_budget(&mut plan, args, earlier.ending)?;
    // The run file keeps its plan, except for the time limit. What follows completes the plan in
    // memory only.
    let changed_plan = args.budget.is_some().then(|| plan.clone());
    interrupt::watch().map_err(Exit::failed)?;
    let open_writer = || -> Result<RunWriter, Exit> {
        let writer = RunWriter::resume(&args.file)?;
        if let Some(plan) = &changed_plan {
            writer.replace_plan(plan)?;
        }
        if earlier.ending == Some(Ending::Budget) {
            // Once a result has been shown, continuing the run turns that result into an interim
            // analysis, for which the intervals are widened.
            writer.interim_analysis(earlier_blocks)?;
        }
        Ok(writer)
    };
    if plan.compares_revisions() {
        return Err(Exit::invalid(format!(
            "cannot resume {file}: the worktrees of its revisions have been removed; run the comparison again"
        )));
    }
    if let Work::Commands(_) = plan.work {
        compare::check_instructions(&plan)?;
        same_commands(&plan, args)?;
        let document = compare::run_plan(&plan, open_writer()?, &[], false)?;
        return Ok(gate::exit_code(&document));
    }
    let project = project_of_run(cli, &args.file)?;
    let experiment = Experiment::read(&project, &plan.experiment)?;
    let experiment = own_sql::restore(experiment, &mut plan)?;
    let prepared = same_subjects(&project, &experiment, &plan, args)?;
    let fixtures = Fixtures {
        project: &project,
        experiment: &experiment,
        installs: false,
    };
    if !earlier.agents.is_empty() {
        let prepared = Prepared {
            failures: earlier.failures,
            ..prepared
        };
        let measurers = Measurers::hosts((&project, &plan), &prepared, earlier.agents.len())?;
        return run::run_plan(fixtures, &plan, open_writer()?, measurers);
    }
    let scratch = measuring::scratch(args.scratch.as_deref())?;
    let servers = services::start(&plan, &args.service, &scratch, &earlier.failures)?;
    own_sql::study(&mut plan, &servers)?;
    let measurers = Measurers::Local { scratch, servers };
    run::run_plan(fixtures, &plan, open_writer()?, measurers)
}

/// Sets the time limit of `--budget`.
///
/// # Errors
/// Returns an error if the run has reached its time limit and the options do not increase it.
fn set_budget(plan: &mut Plan, args: &ResumeArgs, ending: Option<Ending>) -> Result<(), Exit> {
    match (args.budget, ending) {
        (Some(Budget(budget)), _) => plan.measure.budget_ns = budget.map(|b| b.as_nanos() as u64),
        (None, Some(Ending::Budget)) => {
            return Err(Exit::invalid(format!(
                "{} has reached its time limit; increase it with --budget, such as --budget 10m",
                args.file.display()
            )));
        }
        (None, _) => {}
    }
    Ok(())
}

/// Resumes a load. Rejects `--budget`, because the plan of a load fixes its duration.
fn resume_load(plan: Plan, agents: usize, args: &ResumeArgs) -> Result<ExitCode, Exit> {
    if args.budget.is_some() {
        return Err(Exit::invalid(
            "--budget does not apply to a load, whose duration is fixed in its plan: leave it out",
        ));
    }
    load::resume_load(&args.file, plan, agents, &args.load)
}

/// Returns an error if an option for loads was given for a run of another kind.
fn only_for_loads(args: &ResumedLoadArgs) -> Result<(), Exit> {
    let ResumedLoadArgs {
        header,
        body,
        body_file,
        user,
        export,
        hlog,
        strict,
    } = args;
    let given = [
        ("--header", !header.is_empty()),
        ("--body", body.is_some()),
        ("--body-file", body_file.is_some()),
        ("--user", !user.is_empty()),
        ("--export", !export.is_empty()),
        ("--hlog", hlog.is_some()),
        ("--strict", *strict),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Exit::invalid(format!(
            "{option} is only for loads, and this run is not a load: leave it out"
        ))),
        None => Ok(()),
    }
}

/// Prepares the subjects.
///
/// # Errors
/// Returns an error if a program has changed, because samples of different programs cannot be
/// combined.
fn same_subjects(
    project: &lab_plan::Project,
    experiment: &Experiment,
    plan: &lab_model::Plan,
    args: &ResumeArgs,
) -> Result<Prepared, Exit> {
    let recorded = lab_store::recorded_hashes(&args.file)?;
    if let Some(subject) = hosts::changed_subject(experiment, plan) {
        return Err(Exit::invalid(format!(
            "`{}` has changed since the run started: start a new run",
            subject.name
        )));
    }
    if experiment.fixtures_of(plan) != plan.fixtures {
        return Err(Exit::invalid(
            "the fixtures of the experiment have changed since the run started: start a new run",
        ));
    }
    let prepared = prepare(project, experiment, plan, false)?;
    let mut hashes = prepared.hashes.iter();
    match hashes.find(|(name, hash)| recorded.get(name).is_some_and(|earlier| earlier != hash)) {
        Some((name, _)) => Err(changed_since_begin("the sources of", name)),
        None => Ok(prepared),
    }
}

fn same_commands(plan: &Plan, args: &ResumeArgs) -> Result<(), Exit> {
    let recorded = lab_store::recorded_hashes(&args.file)?;
    let has_changed = |s: &&Subject| {
        let earlier = recorded.get(&s.name);
        earlier.is_some_and(|earlier| *earlier != fingerprint(s))
    };
    match plan.subjects.iter().find(has_changed) {
        Some(subject) => Err(changed_since_begin(
            "the program or a file of",
            &subject.name,
        )),
        None => Ok(()),
    }
}

fn changed_since_begin(part: &str, name: &str) -> Exit {
    Exit::invalid(format!(
        "{part} `{name}` changed since the run started: start a new run, or revert the change"
    ))
}
