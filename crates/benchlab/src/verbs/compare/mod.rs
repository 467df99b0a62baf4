// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: measures commands or revisions in turns.

mod commands;
mod revision_names;
mod revisions;

pub use commands::{BLOCK, input, measure, new_run_file, plan, run_plan};
pub use revision_names::is_relative;
pub use revisions::check_out;

use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use crate::gate;
use lab_document::Document;
use std::path::Path;
use std::process::ExitCode;

/// Compares the commands or revisions of the command line.
///
/// # Errors
/// Returns an error if a word is a URL or a run file, which other commands accept.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    let document = compared(cli, args)?;
    Ok(document.map_or(ExitCode::SUCCESS, |document| gate::exit_code(&document)))
}

/// Compares the commands or revisions, and returns the report, or `None` after a pilot, which saves
/// no run.
///
/// # Errors
/// Returns an error if a word is a URL or a run file, or if nothing was left to compare.
pub fn compared(cli: &Cli, args: &CompareArgs) -> Result<Option<Document>, Exit> {
    if let Some(url) = args.commands.iter().find(|word| is_url(word)) {
        return Err(Exit::wrong(format!(
            "{url} is a URL, not a command: `benchlab load URL URL` compares servers"
        )));
    }
    if let Some(file) = args.commands.iter().find(|word| is_run(word)) {
        return Err(Exit::wrong(format!(
            "{file} is a run file, not a command: `benchlab diff RUN RUN` shows what changed between two runs"
        )));
    }
    if args.rev.is_empty() {
        commands::commands(cli, args)
    } else {
        revisions::revisions(cli, args)
    }
}

/// Returns true for an http or https URL, but not for a command that contains one.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len())
            .is_some_and(|w| w.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !word.contains(char::is_whitespace)
}

/// Returns true for the name of a run file, but not for a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}
