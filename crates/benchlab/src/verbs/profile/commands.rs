// SPDX-License-Identifier: Apache-2.0
//! Profiles commands and revisions: builds them, runs them under Valgrind's tools, saves the results, and
//! measures the commands without Valgrind.

use super::{gates, names};
use crate::cli::{Cli, ProfileArgs, Verb};
use crate::exit::Exit;
use crate::measuring;
use crate::under_valgrind::{check_no_shell, check_no_wrapper, ensure_valgrind, run_valgrind};
use crate::verbs::compare::{check_out, measure, new_run_file, plan};
use crate::verbs::report::with_report;
use clap::Parser;
use lab_bench::{Fault, StartRequest, Starter, hardware_counters, interrupt, layout_variables};
use lab_document::{Document, Gate};
use lab_model::{Ending, NoiseFreeValue, Plan, StoredGate, Subject, SubjectId};
use lab_profile::report::{run_facts, totals};
use lab_profile::{
    Caveat, CostProfile, EventRanges, Profile, Profiled, ProfiledPrograms, ProgramRuns, RunWarning,
    Sources, Tool, ValgrindRun, read_counts, runs_of, wording,
};
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum duration of a build.
const SETUP_LIMIT: Duration = Duration::from_secs(3600);

/// Runs the commands under Valgrind, saves the results in a run file, and then measures the
/// commands without Valgrind. Returns the report on the file, with the gates.
pub fn profile_commands(cli: &Cli, args: &ProfileArgs) -> Result<Document, Exit> {
    let mut compared = Cli::try_parse_from(compare_command_line(args)).map_err(Exit::invalid)?;
    let Verb::Compare(compare) = &mut compared.verb else {
        unreachable!("the command line runs `compare`")
    };
    if args.runs.is_some() {
        compare.measuring.runs.clone_from(&args.runs);
    }
    let compare = &*compare;
    interrupt::watch().map_err(Exit::failed)?;
    if args.rev.len() > 2 {
        return Err(Exit::invalid(wording::TOO_MANY_REVISIONS));
    }
    // The worktrees must exist until the sources have been read and the commands have been
    // measured.
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
    let folder = folder.map_err(|e| Exit::invalid(wording::keep_failed(&e)))?;
    set_up(&plan, &ids, scratch.folder())?;
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let folder_of = |s: &Subject| {
        let folder = s.command.as_ref().and_then(|c| c.folder.as_ref());
        folder.map_or(current.clone(), PathBuf::from)
    };
    let folders: Vec<PathBuf> = commands.iter().map(|s| folder_of(s)).collect();
    check_no_wrapper(&commands, &folders)?;
    // All tools run the first build; Cachegrind alone runs the others, in environments of different sizes.
    let layouts = layouts(&plan, &ids, &folders);
    let programs = layouts.iter().map(|layout| Profiled {
        program: &plan.subjects[layout.subject].program,
        folder: &layout.folder,
        variables: &layout.variables,
    });
    let programs: Vec<Profiled> = programs.collect();
    let mut requested = runs_of(&tools(args), ids.len());
    requested.extend((ids.len()..layouts.len()).map(|layout| (Tool::Cachegrind, layout)));
    let runs = run_valgrind(&programs, &folder, &requested, args.time_limit)?;
    let is_first = |run: &ValgrindRun| run.command < ids.len();
    let (runs, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(is_first);
    let read = ProgramRuns::read(&runs, &names(args, ids.len()));
    let read = read.map_err(|warnings| {
        let reasons = warnings.iter().map(RunWarning::to_string);
        Exit::failed(Vec::from_iter(reasons).join("\n"))
    })?;
    let ranges = ranges(&plan, &layouts, &ids, &read, &others);
    let sources = read.profiles.iter().zip(&folders);
    let sources = sources.map(|(profile, folder)| Sources::read(profile, folder));
    let mut programs = ProfiledPrograms {
        names: names(args, ids.len()),
        ranges,
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
    let kept = lab_profile::to_stored_profile(&programs, &runs);
    let kept = kept.map_err(|e| Exit::failed(wording::not_kept(&e)))?;
    let gates = gates(args, &programs);
    let gates: Vec<StoredGate> = gates.iter().map(Gate::to_stored).collect();
    let writer = new_run_file(cli, compare, &plan, !args.no_measure)?;
    let path = writer.path().to_path_buf();
    write_totals(&writer, &ids, &programs.profiles)?;
    writer.profile(&kept)?;
    writer.gates(&gates)?;
    if args.no_measure {
        writer.finish(Some(Ending::Blocks), None)?
    } else {
        measure(&plan, writer)?;
    }
    with_report(&path, &[], |report| Ok(lab_kinds::document(report)))
}

/// A program in one build and environment.
struct Layout {
    subject: SubjectId,
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// Returns the layouts: the first build of each program, then the other builds.
fn layouts(plan: &Plan, ids: &[SubjectId], folders: &[PathBuf]) -> Vec<Layout> {
    let builds = plan.builds();
    let layout = |(at, build): (usize, usize)| {
        let subject = ids[at];
        let command = plan.subjects[subject].command.as_ref();
        let folder = command.and_then(|command| command.builds.get(build));
        Layout {
            subject,
            folder: folder.map_or_else(|| folders[at].clone(), PathBuf::from),
            variables: match builds {
                1 => Vec::new(),
                _ => layout_variables(plan, subject, build, build as u64),
            },
        }
    };
    let all = (0..builds).flat_map(|build| (0..ids.len()).map(move |at| (at, build)));
    all.map(layout).collect()
}

/// Returns the ranges of each program's event counts over its builds. The list is empty if there is
/// only one build. A program has no ranges if the counts of one of its builds cover only a part of it.
fn ranges(
    plan: &Plan,
    layouts: &[Layout],
    ids: &[SubjectId],
    read: &ProgramRuns,
    others: &[ValgrindRun],
) -> Vec<EventRanges> {
    if others.is_empty() {
        return Vec::new();
    }
    let programs = ids.iter().zip(&read.profiles);
    let ranges = programs.map(|(id, profile)| {
        if profile.partial.contains(&Tool::Cachegrind) {
            return EventRanges::default();
        }
        let others = others
            .iter()
            .filter(|run| layouts[run.command].subject == *id);
        let others = others.map(|run| counts_of_build(run, profile));
        let others = match others.collect::<Result<Vec<CostProfile>, String>>() {
            Ok(others) => others,
            Err(reason) => {
                let name = plan.subject_label(*id);
                eprintln!("benchlab: {}", wording::no_ranges(&name, &reason));
                return EventRanges::default();
            }
        };
        let all = profile.cachegrind.iter().chain(&others);
        EventRanges::from_profiles(&all.collect::<Vec<&CostProfile>>())
    });
    ranges.collect()
}

/// Returns the counts of another build than the first.
///
/// # Errors
/// Returns an error if the build was not counted, or if it ended with another exit status than the
/// first build.
fn counts_of_build(run: &ValgrindRun, first: &Profile) -> Result<CostProfile, String> {
    let costs = read_counts(run)?;
    let status = first.exit_status("Ir").map(lab_profile::Ending::Exited);
    match status {
        Some(status) if run.ending() != status => {
            Err(wording::statuses_vary(&status, &run.ending()))
        }
        _ => Ok(costs),
    }
}

/// Returns the tools of `--only`, or all tools.
fn tools(args: &ProfileArgs) -> Vec<Tool> {
    let is_chosen =
        |tool: &Tool| args.only.is_empty() || args.only.iter().any(|name| name == tool.name());
    Tool::ALL.into_iter().filter(is_chosen).collect()
}

/// Runs each program's `--setup` command, which may for example build the program, in the directory
/// of each of the program's builds.
fn set_up(plan: &Plan, ids: &[SubjectId], scratch: &Path) -> Result<(), Exit> {
    let error = |reason: String| Exit::failed(reason);
    let errors = scratch.join("setup");
    let builds = ids
        .iter()
        .flat_map(|&id| (0..plan.builds()).map(move |build| (id, build)));
    for (id, build) in builds {
        let subject = &plan.subjects[id];
        let Some((command, setup)) = subject
            .command
            .as_ref()
            .and_then(|c| Some((c, c.setup.as_ref()?)))
        else {
            continue;
        };
        let folder = command.builds.get(build).or(command.folder.as_ref());
        let mut starter = Starter::new().map_err(|e| error(e.to_string()))?;
        let order = StartRequest {
            program: setup.clone(),
            folder: folder.map_or_else(|| "/".into(), PathBuf::from),
            errors: Some(errors.clone()),
            cores: lab_host::allowed_cores().map_err(|e| error(e.to_string()))?,
            time_limit: SETUP_LIMIT,
            variables: match plan.builds() {
                1 => Vec::new(),
                _ => layout_variables(plan, id, build, build as u64),
            },
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

/// Writes the totals of the profiles to a run file, in which `benchlab history` finds them.
fn write_totals(
    writer: &RunWriter,
    subjects: &[SubjectId],
    profiles: &[Profile],
) -> Result<(), Exit> {
    for (&subject, profile) in subjects.iter().zip(profiles) {
        for (metric, value) in totals(profile) {
            writer.metric(&metric)?;
            writer.figure(&NoiseFreeValue {
                subject,
                metric: metric.id.into(),
                value,
            })?;
        }
    }
    Ok(())
}

/// Returns the command line of `benchlab compare` for the same commands, without `--runs`, whose path
/// may not be UTF-8.
fn compare_command_line(args: &ProfileArgs) -> Vec<String> {
    let mut words: Vec<String> = ["benchlab", "compare", "--ignore-failure"]
        .map(String::from)
        .into();
    words.extend(args.rev.iter().map(|revision| format!("--rev={revision}")));
    words.extend(args.builds.map(|builds| format!("--builds={builds}")));
    words.extend(args.setup.iter().map(|setup| format!("--setup={setup}")));
    words.extend(args.title.iter().map(|title| format!("--as={title}")));
    let programs = args.commands.len().max(args.rev.len()).max(1);
    let names = names(args, programs).into_iter();
    words.extend(names.map(|name| format!("--name={name}")));
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
