// SPDX-License-Identifier: Apache-2.0
//! Compares whole commands in turns.

use crate::cli::{Cli, CommandCores, CompareArgs, GateOn};
use crate::exit::Exit;
use crate::exports::exports_of_measurement;
use crate::measuring;
use crate::options::sweeps;
use crate::verbs::compare::instructions;
use crate::verbs::compare::revision_names::range;
use crate::verbs::{explain, forecast::forecast, report, runs_folder};
use lab_bench::{
    CommandWorkload, LocalExecutor, Wrapper, commit_range, fingerprint, interrupt, unix_seconds,
};
use lab_document::{Document, Format, say};
use lab_model::{Commands, Cores, Ending, GateEffect, Measure, Plan, Run, Setting, SubjectId};
use lab_plan::{CommandWords, Comparison, GivenCommand};
use lab_stats::gate::GateCondition;
use lab_store::RunWriter;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The minimum duration of a block. Blocks are longer if the maximum number of blocks would not
/// fill the run's time.
pub const BLOCK: Duration = Duration::from_millis(400);

/// The maximum number of blocks of a run, which is also the number of blocks at the last interim
/// analysis.
const MAX_BLOCKS: u32 = 80;

/// Compares the commands of the command line.
pub fn commands(cli: &Cli, args: &CompareArgs) -> Result<Option<Document>, Exit> {
    compare_in_turns(cli, args, given_commands(args)?)
}

/// Compares commands in turns and returns the report, or `None` after a pilot, which saves no run.
pub fn compare_in_turns(
    cli: &Cli,
    args: &CompareArgs,
    commands: Vec<GivenCommand>,
) -> Result<Option<Document>, Exit> {
    let exports = exports_of_measurement(&args.export)?;
    let plan = comparison(args, commands)?.plan()?;
    GateCondition::of_plan(&plan).map_err(|e| Exit::invalid(format!("--fail-if: {e}")))?;
    instructions::check(&plan)?;
    if let Some(blocks) = args.plan {
        interrupt::watch().map_err(Exit::failed)?;
        return forecast(&plan, blocks, |plan, writer| {
            measure(plan, writer).map(drop)
        })
        .map(|_| None);
    }
    let writer = new_run_file(cli, args, &plan, true)?;
    let path = writer.path().to_path_buf();
    let document = run_plan(&plan, writer, &exports, args.quiet)?;
    if args.explain {
        explain::after_comparison(&plan, &path)?;
    }
    Ok(Some(document))
}

/// Builds the plan that compares `commands`, or the commands on the command line if `commands` is
/// `None`.
pub fn plan(args: &CompareArgs, commands: Option<Vec<GivenCommand>>) -> Result<Plan, Exit> {
    let commands = commands.map_or_else(|| given_commands(args), Ok)?;
    Ok(comparison(args, commands)?.plan()?)
}

/// Creates a new run file for a plan.
///
/// If `is_timed` is false, the host's fitness is not checked.
///
/// # Errors
/// Returns an error if the host is unfit and `--strict` is set, or if the file cannot be created.
pub fn new_run_file(
    cli: &Cli,
    args: &CompareArgs,
    plan: &Plan,
    is_timed: bool,
) -> Result<RunWriter, Exit> {
    let runs = runs_folder(cli, args.measuring.runs.as_deref())?;
    interrupt::watch().map_err(Exit::failed)?;
    let host = match is_timed {
        true => measuring::fit_host(args.measuring.strict, measuring::CORES)?,
        false => lab_audit::host::inspect(measuring::CORES),
    };
    let path = measuring::new_file(&runs, &plan.experiment)?;
    let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
    writer.host(&measuring::with_commit(host, Path::new(".")))?;
    writer.plan(plan)?;
    report_wrappers(plan, &writer)?;
    for subject in plan.subjects.iter().filter(|s| !s.overhead) {
        writer.hash(&subject.name, &fingerprint(subject))?;
    }
    Ok(writer)
}

/// Finds commands that only start another program. Reports and records them, because their time
/// includes the wrapper's.
fn report_wrappers(plan: &Plan, writer: &RunWriter) -> Result<(), Exit> {
    for (id, subject) in plan.subjects.enumerated().filter(|(_, s)| !s.overhead) {
        let folder = subject.command.as_ref().and_then(|c| c.folder.as_ref());
        let folder = folder.map_or("/", String::as_str);
        let Some(wrapper) = Wrapper::find(&subject.program, Path::new(folder)) else {
            continue;
        };
        if subject.control_of.is_none() {
            eprintln!(
                "benchlab: {}: {wrapper}; every run includes the time that this takes",
                subject.name
            );
        }
        writer.setting(&Setting {
            subject: id,
            point: None,
            key: "wrapper".into(),
            value: wrapper.file.display().to_string(),
        })?;
    }
    Ok(())
}

/// Measures the remaining blocks of a run of commands, judges its gates, reports the result, and
/// returns the report.
///
/// # Errors
/// Returns an error, after the report, if a command failed and no gate failed.
pub fn run_plan(
    plan: &Plan,
    writer: RunWriter,
    exports: &[(&Path, Format)],
    is_quiet: bool,
) -> Result<Document, Exit> {
    let path = writer.path().to_path_buf();
    let ending = measure(plan, writer)?;
    if ending != Ending::Failed {
        instructions::judge(plan, &path)?;
    }
    report_result(plan, &path, ending, exports, is_quiet)
}

/// Reports the result of a run that has ended, and returns the report.
///
/// # Errors
/// Returns an error, after the report, if a command failed or nothing was left to compare. If a
/// gate failed too, there is no error, because the exit code is that of the gate.
fn report_result(
    plan: &Plan,
    path: &Path,
    ending: Ending,
    exports: &[(&Path, Format)],
    is_quiet: bool,
) -> Result<Document, Exit> {
    report::with_report(path, &[], |report| {
        let document = lab_kinds::document(report);
        let shown = report::show_unless_quiet(&document, path, is_quiet);
        report::export_after(shown, &document, exports)?;
        if document.gate_effect() == GateEffect::Fail {
            return Ok(document);
        }
        measuring::exit_code(ending)?;
        match failed_commands(report.run, plan) {
            Some(names) => Err(Exit::failed(format!("{names} failed: see the report"))),
            None => Ok(document),
        }
    })
}

/// Lists the commands that failed, or whose cleanup failed.
fn failed_commands(run: &Run, plan: &Plan) -> Option<String> {
    let failed: BTreeSet<SubjectId> = run.failures.iter().map(|f| f.subject).collect();
    let names = failed.iter().filter_map(|&id| plan.subjects.get(id));
    let names: Vec<&str> = names.map(|subject| subject.name.as_str()).collect();
    (!names.is_empty()).then(|| say::list(&names))
}

/// Measures the remaining blocks of a run of commands.
pub fn measure(plan: &Plan, writer: RunWriter) -> Result<Ending, Exit> {
    let commands = plan.commands().expect("a plan of commands");
    let run = writer.load()?;
    let workload = CommandWorkload::new(plan, commands, &run, measuring::scratch(None)?)?;
    let executor = LocalExecutor::new(plan, Box::new(workload));
    measuring::measure(plan, writer, run, Box::new(executor))
}

/// Returns the commands of the command line.
///
/// # Errors
/// Returns an error if there are no commands, or more names than commands.
fn given_commands(args: &CompareArgs) -> Result<Vec<GivenCommand>, Exit> {
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let lines = args.commands.iter().cloned().map(CommandWords::Line);
    let words = (!args.words.is_empty()).then(|| CommandWords::List(args.words.clone()));
    let all: Vec<CommandWords> = lines.chain(words).collect();
    if all.is_empty() {
        return Err(Exit::invalid(
            "there is nothing to compare; specify commands, such as `benchlab compare 'sort a' 'sort b'`",
        ));
    }
    check_name_count(args, all.len())?;
    let command = |(i, words)| GivenCommand {
        words,
        name: args.name.get(i).cloned(),
        folder: folder.clone(),
        revision: None,
        builds: Vec::new(),
    };
    Ok(all.into_iter().enumerate().map(command).collect())
}

/// Checks `--name`.
///
/// # Errors
/// Returns an error if there are more names than commands.
pub fn check_name_count(args: &CompareArgs, commands: usize) -> Result<(), Exit> {
    if args.name.len() > commands {
        Err(Exit::invalid(format!(
            "--name is given {} times for {}: specify at most one name per command",
            args.name.len(),
            lab_document::say::count(commands, "command"),
        )))
    } else {
        Ok(())
    }
}

fn comparison(args: &CompareArgs, commands: Vec<GivenCommand>) -> Result<Comparison, Exit> {
    Ok(Comparison {
        name: args.title.clone(),
        commands,
        baseline: args.baseline.clone(),
        sweeps: sweeps(&args.sweep)?,
        setup: args.setup.clone(),
        prepare: args.prepare.clone(),
        cleanup: args.cleanup.clone(),
        control: args.control,
        how: Commands {
            input: args.input.as_deref().map(input).transpose()?,
            same_output: args.same_output,
            ignore_failure: args.ignore_failure.is_some(),
            expected_statuses: args.ignore_failure.clone().unwrap_or_default().0,
            cores: args.cores.map(|cores| match cores {
                CommandCores::One => Cores::One,
                CommandCores::All => Cores::All,
            }),
            commit_messages: commit_messages(args)?,
            gate_on_instructions: args.gate && args.gate_on == GateOn::Instructions,
        },
        measure: measure_settings(args),
        seed: measuring::seed(args.measuring.seed),
    })
}

/// Returns the conditions of `--gate` and `--fail-if`.
fn fail_if(args: &CompareArgs) -> Vec<String> {
    let gate = args
        .gate
        .then_some(args.gate_on)
        .and_then(|metric| match metric {
            GateOn::Wall => Some(GateCondition::text_of_gate(args.margin)),
            GateOn::Cpu => Some(GateCondition::text_of_change("cpu", args.margin)),
            // `gate_on_instructions` judges them after the measurement.
            GateOn::Instructions => None,
        });
    gate.into_iter()
        .chain(args.fail_if.iter().cloned())
        .collect()
}

/// Returns the messages of the commits of `--rev A..B`, or an empty list without a range.
fn commit_messages(args: &CompareArgs) -> Result<Vec<String>, Exit> {
    let Some((first, last)) = args.rev.iter().find_map(|revision| range(revision)) else {
        return Ok(Vec::new());
    };
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let commits = commit_range(&folder, first, last)?.commits.into_iter();
    Ok(commits.map(|commit| commit.subject).collect())
}

/// Returns the absolute path of the file of `--input`.
///
/// # Errors
/// Returns an error if it is not a file.
pub fn input(file: &Path) -> Result<String, Exit> {
    let error = |reason: String| Exit::invalid(format!("--input {}: {reason}", file.display()));
    let path: PathBuf = file.canonicalize().map_err(|e| error(e.to_string()))?;
    if path.is_file() {
        Ok(path.display().to_string())
    } else {
        Err(error("it is not a file".into()))
    }
}

fn measure_settings(args: &CompareArgs) -> Measure {
    let default_value = Duration::from_secs(if args.precision.is_some() { 120 } else { 30 });
    let budget = args.budget.unwrap_or(default_value);
    let has_blocks = args.blocks.is_some();
    Measure {
        pairs: args.pairs.unwrap_or(40),
        // A requested number of pairs is measured no matter how long it takes.
        block_ns: args
            .pairs
            .is_none()
            .then(|| BLOCK.max(budget / MAX_BLOCKS).as_nanos() as u64),
        budget_ns: (!has_blocks || args.budget.is_some()).then_some(budget.as_nanos() as u64),
        at_least_level: args.budget.is_none(),
        max_blocks: args.blocks.unwrap_or(MAX_BLOCKS),
        interim_analyses: measuring::analysis_blocks(args.blocks),
        alpha: measuring::ALPHA,
        margin: args.margin,
        precision: args.precision,
        fail_if: fail_if(args),
        on_inconclusive: args.inconclusive.on,
        redo: args.measuring.redo,
        time_limit_ns: args.time_limit.as_nanos() as u64,
        ..Measure::default()
    }
}
