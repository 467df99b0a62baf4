// SPDX-License-Identifier: Apache-2.0
//! `benchlab history`: shows the results of an experiment or a comparison from run to run.

use crate::cli::{Cli, HistoryArgs};
use crate::exit::Exit;
use crate::gate;
use crate::output::{hanging_indent, say};
use crate::verbs::report::{print, render, table, terminal};
use crate::verbs::{run_files, runs_folder};
use lab_document::{Terminal, clean, format};
use lab_kinds::RunSummary;
use lab_plan::nearest;
use lab_report::NamedRuns;
use lab_report::history;
use lab_store::{Heading, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The maximum number of names that fit on a screen.
const LISTED: usize = 30;

/// Checks that gates can judge the history of runs.
fn check_gates(runs: &[RunSummary]) -> Result<(), Exit> {
    let reason = runs.iter().find_map(|run| match run {
        RunSummary::Audit(_) => Some(": `benchlab diff --gate` compares two audits"),
        RunSummary::Imported(_) => Some(", not with imported results"),
        RunSummary::Measured { .. } => None,
    });
    reason.map_or(Ok(()), |reason| {
        Err(Exit::invalid(format!(
            "--fail-if works only with the history of measured runs{reason}"
        )))
    })
}

/// Shows the runs of one name, or the list of names.
pub fn history(cli: &Cli, args: &HistoryArgs) -> Result<ExitCode, Exit> {
    let folder = runs_folder(cli, args.runs.as_deref())?;
    if args.runs.is_some() && !folder.is_dir() {
        let folder = folder.display();
        return Err(Exit::invalid(format!("{folder}: no such directory")));
    }
    let files_by_name = files_by_name(&folder);
    let mut document = match &args.name {
        Some(name) => {
            let context = format!("runs in {}", folder.display());
            let files = files_by_name
                .get(name)
                .ok_or_else(|| unknown_name_error(name, &context, files_by_name.keys()))?;
            let runs = latest(files, args.last as usize);
            let subjects: BTreeSet<&str> = runs.iter().flat_map(RunSummary::subjects).collect();
            for subject in &args.subjects {
                if !subjects.contains(subject.as_str()) {
                    let context = format!("subjects in these runs of {}", clean(name));
                    return Err(unknown_name_error(subject, &context, subjects.iter()));
                }
            }
            if !args.fail_if.is_empty() {
                check_gates(&runs)?;
            }
            lab_kinds::history(name, &runs, &args.subjects, &args.fail_if)
        }
        None if !args.fail_if.is_empty() => {
            return Err(Exit::invalid(
                "--fail-if needs the name of an experiment or a comparison, such as `benchlab history sql --fail-if 'change>3%'`",
            ));
        }
        None => {
            let folder = folder.display().to_string();
            let names: Vec<NamedRuns> = files_by_name.iter().map(named_runs).collect();
            if args.format == format::terminal::FORMAT {
                return list(&folder, names, args.full);
            }
            history::names(&folder, &names, 0)
        }
    };
    let terminal = Terminal {
        full: args.full,
        ..terminal(args.color)
    };
    for gate in &mut document.gates {
        gate.effect = gate.decision.effect(args.inconclusive.on);
    }
    print(render(&document, args.format, terminal)?, args.format)?;
    Ok(gate::exit_code(&document))
}

/// Prints the names of runs. Unless `full` is set, prints only the names with the latest runs, up
/// to the number that fits on a screen.
fn list(folder: &str, mut names: Vec<NamedRuns>, full: bool) -> Result<ExitCode, Exit> {
    let listed = if full { names.len() } else { LISTED };
    let more = names.len().saturating_sub(listed);
    if more > 0 {
        names.sort_by(|a, b| b.last_unix_s.total_cmp(&a.last_unix_s));
        names.truncate(listed);
    }
    let document = history::names(folder, &names, more);
    say!("{}", hanging_indent("", &document.answer.headline));
    document.sections.iter().try_for_each(table)?;
    if more > 0 {
        let more = lab_document::say::count(more, "name");
        say!("not listed: {more} with older runs; use --full");
    }
    Ok(ExitCode::SUCCESS)
}

/// A run file: the start of its run (Unix time, s) and its path.
type File = (f64, PathBuf);

/// Returns the run files of each name, oldest first. Files that are not runs are reported and skipped.
fn files_by_name(folder: &Path) -> BTreeMap<String, Vec<File>> {
    let mut by_name: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for path in run_files(folder) {
        match Heading::read(&path) {
            Ok(Heading {
                experiment: Some(name),
                started_unix_s,
                ..
            }) => by_name
                .entry(name)
                .or_default()
                .push((started_unix_s, path)),
            Ok(_) => {}
            Err(e) => report_left_out(&e),
        }
    }
    for files in by_name.values_mut() {
        files.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    by_name
}

/// Returns summaries of the latest readable runs, oldest first. Only one run is in memory at a time.
fn latest(files: &[File], max: usize) -> Vec<RunSummary> {
    let read = |(_, path): &File| {
        let summary = summary(path).map_err(|e| report_left_out(&e));
        summary.ok().flatten()
    };
    let mut runs: Vec<RunSummary> = files.iter().rev().filter_map(read).take(max).collect();
    runs.reverse();
    runs
}

fn summary(path: &Path) -> Result<Option<RunSummary>, StoreError> {
    let run = lab_store::load(path)?;
    let hashes = lab_store::recorded_hashes(path)?;
    Ok(RunSummary::new(&run, &hashes))
}

fn report_left_out(e: &StoreError) {
    eprintln!("benchlab: skipped: {}", clean(&e.to_string()));
}

fn named_runs((name, files): (&String, &Vec<File>)) -> NamedRuns {
    NamedRuns {
        name: name.clone(),
        runs: files.len(),
        last_unix_s: files.last().map_or(0.0, |(began, _)| *began),
    }
}

/// Returns an error that lists the known names. The names come from files and may contain control characters.
fn unknown_name_error<N: AsRef<str>>(
    name: &str,
    context: &str,
    known: impl Iterator<Item = N>,
) -> Exit {
    let known: Vec<String> = known.map(|name| clean(name.as_ref())).collect();
    if known.is_empty() {
        return Exit::invalid(format!("there are no {context}"));
    }
    let near = nearest(name, known.iter().map(String::as_str));
    let hint = near.map_or(String::new(), |word| format!("; did you mean `{word}`?"));
    let known = known.join(", ");
    Exit::invalid(format!(
        "there is no `{name}` among the {context}; available: {known}{hint}"
    ))
}
