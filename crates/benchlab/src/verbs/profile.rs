// SPDX-License-Identifier: Apache-2.0
//! `benchlab profile`: Valgrind's files read, or made first; one report; gates.

use crate::cli::{Cli, ProfileArgs, Verb};
use crate::exit::{self, Exit};
use crate::measuring;
use crate::verbs::compare::{measured, planned};
use crate::verbs::report::{deliver, render, terminal, with_report};
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{Tool, ValgrindRun, in_path, install, interrupt, unix_seconds, valgrind};
use lab_plan::Toolchain;
use lab_profile::{
    CallgrindReader, CostProfile, Judged, Profile, ProfileError, read_cachegrind, read_dhat,
    read_massif,
};
use lab_report::document::{Document, Finding, Tone};
use lab_report::kind::profile::{ProfileReport, document};
use lab_report::{Terminal, kind};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

/// What was profiled, and what came of it besides.
#[derive(Default)]
struct Profiled {
    profiles: Vec<Profile>,
    facts: Vec<(String, String)>,
    warnings: Vec<Finding>,
    measured: Option<Document>,
}

/// Profiles, reports, judges.
pub fn profile(cli: &Cli, args: &ProfileArgs) -> Result<ExitCode, Exit> {
    let profiled = match (args.commands.len(), args.words.len()) {
        (0, 0) => of_files(args)?,
        (1.., 1..) => {
            let why = "give either one command after --, or commands before it";
            return Err(Exit::wrong(why));
        }
        _ => of_commands(cli, args)?,
    };
    let names = names(args, profiled.profiles.len());
    let report = ProfileReport {
        profiles: names.into_iter().zip(&profiled.profiles).collect(),
        facts: profiled.facts,
        warnings: profiled.warnings,
        measured: profiled.measured,
        made_unix_s: unix_seconds(),
    };
    let document = document(&report);
    let form = Terminal {
        full: args.full || args.output.is_some(),
        ..terminal(args.color)
    };
    deliver(
        render(&document, args.format, form)?,
        args.format,
        args.output.as_deref(),
    )?;
    Ok(judged(args, &profiled.profiles))
}

/// What one program or two are called.
fn names(args: &ProfileArgs, programs: usize) -> Vec<String> {
    let usual: &[&str] = match programs {
        1 => &["program"],
        _ => &["before", "after"],
    };
    let names = usual.iter().enumerate();
    let name = |(i, usual): (usize, &&str)| args.name.get(i).map_or((*usual).into(), String::clone);
    names.map(name).collect()
}

fn judged(args: &ProfileArgs, profiles: &[Profile]) -> ExitCode {
    let verdicts = args
        .fail_if
        .iter()
        .map(|condition| condition.judge(&profiles[0], profiles.get(1)));
    let (mut failed, mut open) = (false, false);
    for verdict in verdicts {
        match verdict {
            Judged::Passed => {}
            Judged::Failed(text) => {
                failed = true;
                eprintln!("benchlab: --fail-if is so: {text}");
            }
            Judged::Undecided(text) => {
                open = true;
                eprintln!("benchlab: --fail-if is not decided: {text}");
            }
        }
    }
    match (failed, open) {
        (true, _) => ExitCode::from(exit::REGRESSION),
        (false, true) => ExitCode::from(exit::UNDECIDED),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// Files that are there.
fn of_files(args: &ProfileArgs) -> Result<Profiled, Exit> {
    let counts = [
        args.massif.len(),
        args.cachegrind.len(),
        args.callgrind.len(),
        args.dhat.len(),
    ];
    let most = counts.into_iter().max().unwrap_or(0);
    if most == 0 {
        return Err(Exit::wrong(
            "there is nothing to profile; give a command, such as `benchlab profile -- ./prog x`, or files, such as \
             --massif massif.out.1",
        ));
    }
    if counts.iter().any(|count| *count != 0 && *count != most) {
        return Err(Exit::wrong(
            "of one tool there are two files and of another one: give both of each",
        ));
    }
    let profile = |i: usize| {
        Ok(Profile {
            massif: args
                .massif
                .get(i)
                .map(|path| read(path, read_massif))
                .transpose()?,
            cachegrind: args
                .cachegrind
                .get(i)
                .map(|path| read(path, read_cachegrind))
                .transpose()?,
            callgrind: args
                .callgrind
                .get(i)
                .map(|paths| callgrind(paths.split(',')))
                .transpose()?,
            dhat: args
                .dhat
                .get(i)
                .map(|path| read(path, read_dhat))
                .transpose()?,
        })
    };
    let profiles = (0..most).map(profile).collect::<Result<_, Exit>>()?;
    Ok(Profiled {
        profiles,
        ..Profiled::default()
    })
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(BufReader<File>) -> Result<T, ProfileError>,
) -> Result<T, Exit> {
    let file = File::open(path).map_err(ProfileError::from);
    let read = file.and_then(|file| parse(BufReader::with_capacity(1 << 16, file)));
    read.map_err(|why| Exit::wrong(format!("{}: {why}", path.display())))
}

/// The files of one program's parts and threads.
fn callgrind<'p>(paths: impl Iterator<Item = &'p str>) -> Result<CostProfile, Exit> {
    let mut reader = CallgrindReader::default();
    for path in paths {
        read(Path::new(path), |file| reader.add(file))?;
    }
    reader.done().map_err(|why| Exit::wrong(why.to_string()))
}

/// Runs the commands under Valgrind, then measures them without it.
fn of_commands(cli: &Cli, args: &ProfileArgs) -> Result<Profiled, Exit> {
    let compared =
        Cli::try_parse_from(words_of_compare(args)).map_err(|e| Exit::wrong(e.to_string()))?;
    let Verb::Compare(compare) = &compared.verb else {
        unreachable!("the words are those of a comparison")
    };
    let plan = planned(compare)?;
    let commands: Vec<_> = plan.subjects.iter().filter(|s| !s.overhead).collect();
    if commands
        .iter()
        .any(|s| s.command.as_ref().is_some_and(|c| c.shell))
    {
        return Err(Exit::wrong(
            "a command has shell syntax, and Valgrind would profile the shell: put it into a program, or give the \
             program alone",
        ));
    }
    ensure_valgrind(args.install)?;
    interrupt::watch().map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    let scratch = measuring::scratch(None)?;
    // The program may change its folder before a tool writes.
    let folder = std::path::absolute(args.keep.as_deref().unwrap_or(scratch.folder()));
    let folder = folder.map_err(|e| Exit::wrong(format!("--keep: {e}")))?;
    let programs: Vec<&[String]> = commands.iter().map(|s| &s.program[..]).collect();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(
        ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound"),
    );
    let runs = valgrind(&programs, &folder, args.time_limit, &mut |step| {
        bar.set_message(step);
        bar.tick();
    });
    bar.finish_and_clear();
    let runs = runs.map_err(|e| Exit::new(exit::FAILED, format!("valgrind: {e}")))?;
    let stopped = || Exit::new(exit::INTERRUPTED, "stopped; nothing is left running");
    let runs = runs.ok_or_else(stopped)?;
    let mut profiled = profiled(&runs, &names(args, programs.len()))?;
    if !args.no_measure {
        let path = measured(cli, compare)?;
        profiled.measured = Some(with_report(&path, &[], |report| {
            Ok(kind::document(report))
        })?);
        profiled.facts.push((
            "run file of the measurement".into(),
            path.display().to_string(),
        ));
    }
    Ok(profiled)
}

/// The comparison of the same commands.
fn words_of_compare(args: &ProfileArgs) -> Vec<String> {
    let mut words: Vec<String> = ["benchlab", "compare", "--ignore-failure"]
        .map(String::from)
        .into();
    let names = names(args, args.commands.len().max(1)).into_iter();
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

/// Error: it is not there, and was not to be installed.
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
        probes: Vec::new(),
        debian: vec!["valgrind".into(), "libc6-dbg".into()],
        advice: None,
        service: false,
    };
    install(&[&toolchain]).map_err(|e| Exit::new(exit::FAILED, e.to_string()))
}

/// What the runs wrote. What failed is a warning, unless nothing came of all.
fn profiled(runs: &[ValgrindRun], names: &[String]) -> Result<Profiled, Exit> {
    let mut profiled = Profiled {
        profiles: vec![Profile::default(); names.len()],
        ..Profiled::default()
    };
    for run in runs {
        let who = format!("{} of {}", run.tool.name(), names[run.command]);
        profiled.facts.push((
            who.clone(),
            format!("{}, {:.1} s", run.ending(), run.took.as_secs_f64()),
        ));
        let mine = &mut profiled.profiles[run.command];
        let outcome = match &run.file {
            Some(file) => fill(mine, run.tool, file),
            _ => Err(Exit::new(exit::FAILED, run.log.join(" "))),
        };
        if outcome.is_ok() && run.status.is_none() {
            let text = format!(
                "{who} took longer than --time-limit: its figures are until it was stopped."
            );
            profiled.warnings.push(alarm("stopped", text));
        }
        if let Err(why) = outcome {
            let text = format!("{who} has no figures: {}. {}", run.ending(), why.message);
            profiled.warnings.push(alarm("no figures", text));
        }
    }
    if profiled.profiles.iter().any(|p| p.command().is_empty()) {
        let why: Vec<String> = profiled
            .warnings
            .into_iter()
            .map(|warning| warning.text)
            .collect();
        return Err(Exit::new(exit::FAILED, why.join("\n")));
    }
    same_work(runs, &mut profiled);
    Ok(profiled)
}

fn fill(profile: &mut Profile, tool: Tool, file: &Path) -> Result<(), Exit> {
    match tool {
        Tool::Massif => profile.massif = Some(read(file, read_massif)?),
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
    let of = |command: usize| runs.iter().filter(move |run| run.command == command);
    let outputs_differ = |runs: &mut dyn Iterator<Item = &ValgrindRun>| {
        let mut outputs: Vec<[u8; 32]> = runs.map(|run| run.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        outputs.len() > 1
    };
    let changes =
        (0..2).any(|command| outputs_differ(&mut of(command).filter(|r| r.status.is_some())));
    let codes = |command| of(command).next().map(ValgrindRun::ending);
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
