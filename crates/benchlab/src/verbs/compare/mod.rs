// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: measures commands or revisions in turns.

mod commands;
mod instructions;
mod revision_names;
mod revisions;

pub use commands::{BLOCK, input, measure, new_run_file, plan, run_plan};
pub use instructions::check as check_instructions;
pub use revision_names::is_relative;
pub use revisions::check_out;

use crate::cli::{Cli, CompareArgs};
use crate::dry_run;
use crate::exit::Exit;
use crate::gate;
use crate::verbs::runs_folder;
use lab_document::Document;
use lab_stats::gate::GateCondition;
use std::path::Path;
use std::process::ExitCode;

/// Compares the commands or revisions of the command line.
///
/// # Errors
/// Returns an error if a word is a URL or a run file, which other commands accept.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    let document = run_comparison(cli, args)?;
    Ok(document.map_or(ExitCode::SUCCESS, |document| gate::exit_code(&document)))
}

/// Compares the commands or revisions, and returns the report, or `None` after a pilot or a dry run, which
/// save no run.
///
/// # Errors
/// Returns an error if a word is a URL or a run file, or if nothing was left to compare.
pub fn run_comparison(cli: &Cli, args: &CompareArgs) -> Result<Option<Document>, Exit> {
    if let Some(url) = args.commands.iter().find(|word| is_url(word)) {
        return Err(Exit::invalid(format!(
            "{url} is a URL, not a command: `benchlab load URL URL` compares servers"
        )));
    }
    if let Some(file) = args.commands.iter().find(|word| is_run(word)) {
        return Err(Exit::invalid(format!(
            "{file} is a run file, not a command: `benchlab diff RUN RUN` shows what changed between two runs"
        )));
    }
    if args.dry_run {
        return print_plan(cli, args).map(|()| None);
    }
    if args.rev.is_empty() {
        commands::commands(cli, args)
    } else {
        revisions::revisions(cli, args)
    }
}

/// Prints the planned measurement. Does not check out or build anything.
fn print_plan(cli: &Cli, args: &CompareArgs) -> Result<(), Exit> {
    let resolved = match args.rev.is_empty() {
        true => None,
        false => Some(revisions::resolve_commands(args)?),
    };
    let plan = commands::plan(args, resolved)?;
    GateCondition::of_plan(&plan).map_err(|e| Exit::invalid(format!("--fail-if: {e}")))?;
    let builds = args.builds.map(|builds| {
        let text = format!("{builds} of each revision, each in its own directory with --setup");
        ("builds".to_owned(), text)
    });
    let runs = runs_folder(cli, args.measuring.runs.as_deref())?;
    dry_run::print(&plan, builds.into_iter().collect(), &runs)
}

/// Returns true for an http or https URL, but false for a command that contains a URL.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len())
            .is_some_and(|w| w.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !word.contains(char::is_whitespace)
}

/// Returns true for the name of a run file, but false for a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}
