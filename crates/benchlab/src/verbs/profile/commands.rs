// SPDX-License-Identifier: Apache-2.0
//! Commands and revisions profiled: built, run under Valgrind's tools, kept, and measured without them.

use super::{Profiled, callgrind, names, read, sources as sources_in};
use crate::cli::{Cli, ProfileArgs, Verb};
use crate::exit::Exit;
use crate::measuring;
use crate::progress::progress;
use crate::verbs::compare::{check_out, measure, new_run_file, plan};
use crate::verbs::report::with_report;
use clap::Parser;
use lab_bench::{Fault, StartRequest, Starter, hardware_counters, in_path, install, interrupt};
use lab_document::{Finding, Tone};
use lab_model::{Ending, Figure, Subject};
use lab_plan::Toolchain;
use lab_profile::report::totals;
use lab_profile::{Profile, Tool, ValgrindRun, valgrind};
use lab_store::RunWriter;
use lab_valgrind::{TimeUnit, read_cachegrind, read_dhat, read_massif};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest that a build may take.
const SETUP_LIMIT: Duration = Duration::from_secs(3600);

/// Runs the commands under Valgrind, keeps their figures in a run file, then measures them without Valgrind.
pub fn profile_commands(cli: &Cli, args: &ProfileArgs) -> Result<Profiled, Exit> {
    let compared = Cli::try_parse_from(compare_command_line(args)).map_err(Exit::wrong)?;
    let Verb::Compare(compare) = &compared.verb else {
        unreachable!("the words are those of a comparison")
    };
    interrupt::watch().map_err(Exit::failed)?;
    if args.rev.len() > 2 {
        return Err(Exit::wrong(
            "a profile is of one revision or of two: before and after",
        ));
    }
    // The worktrees must exist until the sources are read and the commands are measured.
    let (_worktrees, plan) = if args.rev.is_empty() {
        (None, plan(compare, None)?)
    } else {
        let (worktrees, commands) = check_out(compare)?;
        (Some(worktrees), plan(compare, Some(commands))?)
    };
    let ids = (0..plan.subjects.len()).filter(|&s| !plan.subjects[s].overhead);
    let ids: Vec<usize> = ids.collect();
    let commands: Vec<&Subject> = ids.iter().map(|&s| &plan.subjects[s]).collect();
    check_no_shell(&commands)?;
    ensure_valgrind(args.install)?;
    let scratch = measuring::scratch(None)?;
    // The program may change its folder before a tool writes.
    let folder = std::path::absolute(args.keep.as_deref().unwrap_or(scratch.folder()));
    let folder = folder.map_err(|e| Exit::wrong(format!("--keep: {e}")))?;
    set_up(&commands, scratch.folder())?;
    let current = std::env::current_dir().map_err(Exit::wrong)?;
    let folder_of = |s: &Subject| {
        let folder = s.command.as_ref().and_then(|c| c.folder.as_ref());
        folder.map_or(current.clone(), PathBuf::from)
    };
    let folders: Vec<PathBuf> = commands.iter().map(|s| folder_of(s)).collect();
    let programs = commands
        .iter()
        .zip(&folders)
        .map(|(s, folder)| lab_profile::Profiled {
            program: &s.program,
            folder,
        });
    let programs: Vec<lab_profile::Profiled> = programs.collect();
    let runs = run_valgrind(&programs, &folder, args.time_limit)?;
    let mut profiled = read_runs(&runs, &names(args, programs.len()))?;
    let sources = profiled.profiles.iter().zip(&folders);
    profiled.sources = sources
        .map(|(profile, folder)| sources_in(profile, folder))
        .collect();
    let writer = new_run_file(cli, compare, &plan)?;
    let path = writer.path().to_path_buf();
    write_figures(&writer, &ids, &profiled.profiles)?;
    if args.no_measure {
        writer.finish(Some(Ending::Blocks), None)?
    } else {
        measure(&plan, writer)?;
        let measured = with_report(&path, &[], |report| Ok(lab_kinds::document(report)));
        profiled.measured = Some(measured?);
        let counters =
            hardware_counters().unwrap_or("are in the table of what one run used".into());
        profiled
            .facts
            .push(("the processor's own counters".into(), counters));
    }
    profiled
        .facts
        .push(("run file".into(), path.display().to_string()));
    Ok(profiled)
}

/// Rejects commands that need a shell.
fn check_no_shell(commands: &[&Subject]) -> Result<(), Exit> {
    let has_shell = |s: &&Subject| s.command.as_ref().is_some_and(|c| c.shell);
    if commands.iter().any(has_shell) {
        return Err(Exit::wrong(
            "a command has shell syntax, and Valgrind would profile the shell: put it into a program, or give the \
             program alone",
        ));
    }
    Ok(())
}

/// Runs the programs under all tools, with progress on standard error. Errors: a tool cannot be started, or Ctrl-C.
fn run_valgrind(
    programs: &[lab_profile::Profiled],
    folder: &Path,
    time_limit: Duration,
) -> Result<Vec<ValgrindRun>, Exit> {
    let bar = progress();
    let mut last_step = String::new();
    let runs = valgrind(programs, folder, time_limit, &mut |step, elapsed| {
        if bar.is_hidden() && step != last_step {
            eprintln!("benchlab: {}", step.trim_end());
            last_step = step.to_owned();
        }
        bar.set_message(format!("{step}  {} s", elapsed.as_secs()));
        bar.tick();
        !interrupt::requested()
    });
    bar.finish_and_clear();
    let runs = runs.map_err(|e| Exit::failed(format!("valgrind: {e}")))?;
    let stopped = || Exit::interrupted("stopped; nothing is left running");
    runs.ok_or_else(stopped)
}

/// Builds the revisions, or whatever --setup does, each in its folder.
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
            Fault::Interrupted => Exit::interrupted("stopped; nothing is left running"),
            Fault::ServerLost(reason) | Fault::Failed(_, reason) => {
                error(format!("--setup `{line}`: {reason}"))
            }
        })?;
        if ended.timed_out || ended.code() != 0 {
            let errors_text = std::fs::read(&errors).unwrap_or_default();
            let errors_text = String::from_utf8_lossy(&errors_text).into_owned();
            let name = &subject.name;
            return Err(error(format!(
                "--setup `{line}` of {name} ended with {}\n{errors_text}",
                ended.status
            )));
        }
    }
    Ok(())
}

/// Writes the totals of the profiles into a run file, where `benchlab history` finds them.
fn write_figures(writer: &RunWriter, subjects: &[usize], profiles: &[Profile]) -> Result<(), Exit> {
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

/// The command line that compares the same commands.
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

/// Installs Valgrind if it is missing. Error: it is missing, and `--install` was not given.
fn ensure_valgrind(install_missing: bool) -> Result<(), Exit> {
    if in_path("valgrind").is_some() {
        return Ok(());
    }
    if !install_missing {
        return Err(Exit::wrong(
            "valgrind is not installed: `benchlab profile --install …` installs it",
        ));
    }
    let toolchain = Toolchain {
        title: "Valgrind".into(),
        programs: vec!["valgrind".into()],
        debian: vec!["valgrind".into(), "libc6-dbg".into()],
        ..Toolchain::default()
    };
    install(&[&toolchain]).map_err(Exit::failed)
}

/// Reads the output of the runs. A run that failed is a warning. Error: a program has no figures at all.
fn read_runs(runs: &[ValgrindRun], names: &[String]) -> Result<Profiled, Exit> {
    let mut profiled = Profiled {
        profiles: vec![Profile::default(); names.len()],
        ..Profiled::default()
    };
    for run in runs {
        let label = format!("{} of {}", run.tool.title(), names[run.command]);
        profiled.facts.push((
            label.clone(),
            format!("{}, {:.1} s", run.ending(), run.took.as_secs_f64()),
        ));
        let profile = &mut profiled.profiles[run.command];
        let outcome = match &run.file {
            Some(file) => add_file(profile, run.tool, file),
            _ => Err(Exit::failed(run.log.join(" "))),
        };
        if run.children > 0 {
            let text = match run.children {
                1 => "1 more process was started, which is in no figure".into(),
                n => format!("{n} more processes were started, which are in no figure"),
            };
            profiled.facts.push((format!("processes of {label}"), text));
        }
        if outcome.is_ok() && run.status.is_none() {
            let text = format!(
                "{label} took longer than --time-limit: its figures are until it was stopped."
            );
            profiled.warnings.push(alarm("stopped", text));
        }
        if let Err(error) = outcome {
            let text = format!(
                "{label} has no figures: {}. {}",
                run.ending(),
                error.message
            );
            profiled.warnings.push(alarm("no figures", text));
        }
    }
    if profiled.profiles.iter().any(|p| p.command().is_empty()) {
        let reason: Vec<String> = profiled
            .warnings
            .into_iter()
            .map(|warning| warning.text)
            .collect();
        return Err(Exit::failed(reason.join("\n")));
    }
    same_work(runs, &mut profiled);
    Ok(profiled)
}

fn add_file(profile: &mut Profile, tool: Tool, file: &Path) -> Result<(), Exit> {
    match tool {
        Tool::Massif(TimeUnit::Instructions) => profile.massif = Some(read(file, read_massif)?),
        Tool::Massif(_) => profile.heaps.push(read(file, read_massif)?),
        Tool::Dhat => profile.dhat = Some(read(file, read_dhat)?),
        Tool::Cachegrind => profile.cachegrind = Some(read(file, read_cachegrind)?),
        Tool::Callgrind => {
            profile.callgrind = Some(callgrind([&*file.to_string_lossy()].into_iter())?)
        }
    }
    Ok(())
}

/// Compares exit status and output of all runs.
fn same_work(runs: &[ValgrindRun], profiled: &mut Profiled) {
    let runs_of = |command: usize| runs.iter().filter(move |run| run.command == command);
    let outputs_differ = |runs: &mut dyn Iterator<Item = &ValgrindRun>| {
        let mut outputs: Vec<[u8; 32]> = runs.map(|run| run.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        outputs.len() > 1
    };
    let changes =
        (0..2).any(|command| outputs_differ(&mut runs_of(command).filter(|r| r.status.is_some())));
    let codes = |command| runs_of(command).next().map(ValgrindRun::ending);
    if changes {
        let text = "The output of a program changes from run to run: whether the work is the same is not known.";
        profiled.warnings.push(alarm("output", text.into()));
    } else if outputs_differ(&mut runs.iter().filter(|run| run.status.is_some())) {
        let text = "The outputs of before and after differ: the figures are not of the same work.";
        profiled.warnings.push(alarm("output", text.into()));
    } else {
        profiled
            .facts
            .push(("standard output".into(), "the same in all runs".into()));
    }
    for command in 0..2 {
        let mut runs_of_command = runs_of(command);
        let signal =
            |run: &&ValgrindRun| run.status.is_some_and(|status| status.signal().is_some());
        if let Some(run) = runs_of_command.find(signal) {
            let ending = run.ending();
            let text = format!(
                "Command {} {ending}: its figures are until then.",
                command + 1
            );
            profiled.warnings.push(alarm("signal", text));
        }
    }
    match (codes(0), codes(1)) {
        (Some(before), Some(after)) if before != after => {
            let text =
                format!("Before: {before}; after: {after}. The figures are not of the same work.");
            profiled.warnings.push(alarm("exit status", text));
        }
        _ => {}
    }
}

fn alarm(label: &str, text: String) -> Finding {
    Finding {
        label: label.into(),
        text,
        tone: Tone::Alarm,
    }
}
