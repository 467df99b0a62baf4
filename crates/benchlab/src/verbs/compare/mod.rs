// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: commands or revisions, measured in turns.

mod commands;
mod revisions;

pub use commands::{carry_out, measure, new_run_file, plan};
pub use revisions::check_out;

use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use std::path::Path;
use std::process::ExitCode;

/// Compares what was given. Errors: a word is a URL or a run file, which other verbs take.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
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

/// A URL of http or https, and not a command that holds one.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len())
            .is_some_and(|w| w.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !word.contains(char::is_whitespace)
}

/// A run file's name, not a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}
