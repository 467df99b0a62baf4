// SPDX-License-Identifier: Apache-2.0
//! Profiles commands and revisions: builds them, runs them under Valgrind's tools, saves the results, and
//! measures the commands without Valgrind.

use super::names;
use crate::cli::{Cli, ProfileArgs, Verb};
use crate::exit::Exit;
use crate::measuring;
use crate::progress::progress;
use crate::verbs::compare::{check_out, measure, new_run_file, plan};
use crate::verbs::report::with_report;
use clap::Parser;
use lab_bench::{
    Fault, StartRequest, Starter, Wrapper, hardware_counters, in_path, install, interrupt,
};
use lab_document::Document;
use lab_model::{Ending, Figure, Subject, SubjectId};
use lab_plan::Toolchain;
use lab_profile::report::{run_facts, totals};
use lab_profile::{
    Caveat, Profile, ProfiledPrograms, ProgramRuns, RunWarning, Sources, Tool, ValgrindRun,
    valgrind, wording,
};
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum duration of a build.
const SETUP_LIMIT: Duration = Duration::from_secs(3600);

/// Runs the commands under Valgrind, saves the results in a run file, then measures the commands without
/// Valgrind. Returns the report of the file.
pub fn profile_commands(
    cli: &Cli,
    args: &ProfileArgs,
) -> Result<(Document, ProfiledPrograms), Exit> {
    let compared = Cli::try_parse_from(compare_command_line(args)).map_err(Exit::wrong)?;
    let Verb::Compare(compare) = &compared.verb else {
        unreachable!("the arguments are those of a comparison")
    };
    interrupt::watch().map_err(Exit::failed)?;
    if args.rev.len() > 2 {
        return Err(Exit::wrong(wording::TOO_MANY_REVISIONS));
    }
    // The worktrees must exist until the sources are read and the commands are measured.
    let (_worktrees, plan) = if args.rev.is_empty() {
        (None, plan(compare, None)?)
    } else {
        let (worktrees, commands) = check_out(compare)?;
        (Some(worktrees), plan(compare, Some(commands))?)
    };
    let ids = plan.subjects.ids().filter(|&s| !plan.subjects[s].overhead);
    let ids: Vec<SubjectId> = ids.collect();
    let commands: Vec<&Subject> = ids.iter().map(|&s| &plan.subjects[s]).collect();
    check_no_shell(&commands)?;
    ensure_valgrind(args.install)?;
    let scratch = measuring::scratch(None)?;
    // Absolute, because the program may change its working directory before a tool writes.
    let folder = std::path::absolute(args.keep.as_deref().unwrap_or(scratch.folder()));
    let folder = folder.map_err(|e| Exit::wrong(wording::keep_failed(&e)))?;
    set_up(&commands, scratch.folder())?;
    let current = std::env::current_dir().map_err(Exit::wrong)?;
    let folder_of = |s: &Subject| {
        let folder = s.command.as_ref().and_then(|c| c.folder.as_ref());
        folder.map_or(current.clone(), PathBuf::from)
    };
    let folders: Vec<PathBuf> = commands.iter().map(|s| folder_of(s)).collect();
    check_no_wrapper(&commands, &folders)?;
    let programs = commands
        .iter()
        .zip(&folders)
        .map(|(s, folder)| lab_profile::Profiled {
            program: &s.program,
            folder,
        });
    let programs: Vec<lab_profile::Profiled> = programs.collect();
    let runs = run_valgrind(&programs, &folder, &tools(args), args.time_limit)?;
    let read = ProgramRuns::read(&runs, &names(args, programs.len()));
    let read = read.map_err(|warnings| {
        let reasons = warnings.iter().map(RunWarning::to_string);
        Exit::failed(Vec::from_iter(reasons).join("\n"))
    })?;
    let sources = read.profiles.iter().zip(&folders);
    let sources = sources.map(|(profile, folder)| Sources::read(profile, folder));
    let mut programs = ProfiledPrograms {
        names: names(args, programs.len()),
        sources: sources.collect(),
        facts: run_facts(&read),
        caveats: read.warnings.iter().map(Caveat::from).collect(),
        profiles: read.profiles,
    };
    if !args.no_measure {
        let counters = hardware_counters().unwrap_or(wording::COUNTERS_IN_TABLE.into());
        let counters = (wording::COUNTERS_FACT.into(), counters);
        programs.facts.push(counters);
    }
    let kept = lab_profile::kept(&programs, &runs);
    let kept = kept.map_err(|e| Exit::failed(wording::not_kept(&e)))?;
    let writer = new_run_file(cli, compare, &plan, !args.no_measure)?;
    let path = writer.path().to_path_buf();
    write_figures(&writer, &ids, &programs.profiles)?;
    writer.profile(&kept)?;
    if args.no_measure {
        writer.finish(Some(Ending::Blocks), None)?
    } else {
        measure(&plan, writer)?;
    }
    let document = with_report(&path, &[], |report| Ok(lab_kinds::document(report)))?;
    Ok((document, programs))
}

/// Returns the tools of `--only`, or all tools.
fn tools(args: &ProfileArgs) -> Vec<Tool> {
    let is_chosen =
        |tool: &Tool| args.only.is_empty() || args.only.iter().any(|name| name == tool.name());
    Tool::ALL.into_iter().filter(is_chosen).collect()
}

/// Rejects commands that start another program, because Valgrind would profile the wrapper.
fn check_no_wrapper(commands: &[&Subject], folders: &[PathBuf]) -> Result<(), Exit> {
    let mut programs = commands.iter().zip(folders);
    match programs.find_map(|(s, folder)| Wrapper::find(&s.program, folder)) {
        Some(wrapper) => Err(Exit::wrong(format!(
            "{wrapper}; profile that program instead"
        ))),
        None => Ok(()),
    }
}

/// Rejects commands that need a shell.
fn check_no_shell(commands: &[&Subject]) -> Result<(), Exit> {
    let has_shell = |s: &&Subject| s.command.as_ref().is_some_and(|c| c.shell);
    if commands.iter().any(has_shell) {
        return Err(Exit::wrong(wording::SHELL));
    }
    Ok(())
}

/// Runs the programs under all tools and shows progress on standard error.
///
/// # Errors
/// Returns an error if a tool cannot be started, or after Ctrl-C.
fn run_valgrind(
    programs: &[lab_profile::Profiled],
    folder: &Path,
    tools: &[Tool],
    time_limit: Duration,
) -> Result<Vec<ValgrindRun>, Exit> {
    let bar = progress();
    let mut last_step = String::new();
    let runs = valgrind(programs, folder, tools, time_limit, &mut |step| {
        let text = wording::step(step.done, step.total, &step.running);
        if bar.is_hidden() && text != last_step {
            eprintln!("benchlab: {}", text.trim_end());
            last_step.clone_from(&text);
        }
        bar.set_message(format!("{text}  {} s", step.elapsed.as_secs()));
        bar.tick();
        !interrupt::requested()
    });
    bar.finish_and_clear();
    let runs = runs.map_err(|e| Exit::failed(wording::valgrind_failed(&e)))?;
    let stopped = || Exit::interrupted(wording::STOPPED);
    runs.ok_or_else(stopped)
}

/// Runs the --setup command of each program, such as its build, in its directory.
fn set_up(commands: &[&Subject], scratch: &Path) -> Result<(), Exit> {
    let error = |reason: String| Exit::failed(reason);
    let errors = scratch.join("setup");
    for subject in commands {
        let Some((command, setup)) = subject
            .command
            .as_ref()
            .and_then(|c| Some((c, c.setup.as_ref()?)))
        else {
            continue;
        };
        let mut starter = Starter::new().map_err(|e| error(e.to_string()))?;
        let order = StartRequest {
            program: setup.clone(),
            folder: command
                .folder
                .as_ref()
                .map_or_else(|| "/".into(), PathBuf::from),
            errors: Some(errors.clone()),
            cores: lab_host::allowed_cores().map_err(|e| error(e.to_string()))?,
            time_limit: SETUP_LIMIT,
            ..StartRequest::default()
        };
        let line = setup.join(" ");
        let ended = starter.run(&order).map_err(|fault| match fault {
            Fault::Interrupted => Exit::interrupted(wording::STOPPED),
            Fault::ServerLost(reason) | Fault::Failed(_, reason) => {
                error(wording::setup_failed(&line, &reason))
            }
        })?;
        if ended.timed_out || ended.code() != 0 {
            let errors_text = std::fs::read(&errors).unwrap_or_default();
            let errors_text = String::from_utf8_lossy(&errors_text).into_owned();
            let name = &subject.name;
            let status = &ended.status;
            return Err(error(wording::setup_ended(
                &line,
                name,
                status,
                &errors_text,
            )));
        }
    }
    Ok(())
}

/// Writes the totals of the profiles into a run file, where `benchlab history` finds them.
fn write_figures(
    writer: &RunWriter,
    subjects: &[SubjectId],
    profiles: &[Profile],
) -> Result<(), Exit> {
    for (&subject, profile) in subjects.iter().zip(profiles) {
        for (metric, value) in totals(profile) {
            writer.metric(&metric)?;
            writer.figure(&Figure {
                subject,
                metric: metric.id.into(),
                value,
            })?;
        }
    }
    Ok(())
}

/// Returns the command line of `benchlab compare` for the same commands.
fn compare_command_line(args: &ProfileArgs) -> Vec<String> {
    let mut words: Vec<String> = ["benchlab", "compare", "--ignore-failure"]
        .map(String::from)
        .into();
    words.extend(args.rev.iter().map(|revision| format!("--rev={revision}")));
    words.extend(args.setup.iter().map(|setup| format!("--setup={setup}")));
    words.extend(args.title.iter().map(|title| format!("--as={title}")));
    let programs = args.commands.len().max(args.rev.len()).max(1);
    let names = names(args, programs).into_iter();
    words.extend(names.map(|name| format!("--name={name}")));
    let runs = args
        .runs
        .as_ref()
        .map(|runs| format!("--runs={}", runs.display()));
    words.extend(runs);
    words.extend(
        args.budget
            .map(|time| format!("--for={}ms", time.as_millis())),
    );
    words.push(format!("--time-limit={}ms", args.time_limit.as_millis()));
    words.extend(args.commands.iter().cloned());
    if !args.words.is_empty() {
        words.push("--".into());
        words.extend(args.words.iter().cloned());
    }
    words
}

/// Installs Valgrind if it is missing.
///
/// # Errors
/// Returns an error if Valgrind is missing and `--install` was not given.
fn ensure_valgrind(install_missing: bool) -> Result<(), Exit> {
    if in_path("valgrind").is_some() {
        return Ok(());
    }
    if !install_missing {
        return Err(Exit::wrong(wording::NOT_INSTALLED));
    }
    let toolchain = Toolchain {
        title: "Valgrind".into(),
        programs: vec!["valgrind".into()],
        debian: vec!["valgrind".into(), "libc6-dbg".into()],
        ..Toolchain::default()
    };
    install(&[&toolchain]).map_err(Exit::failed)
}
