// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: commands or revisions in turns, or two runs side by side.

mod commands;
mod exports;
mod gate;
mod revisions;
mod runs;

pub use commands::carry_out;

use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use std::path::Path;
use std::process::ExitCode;

/// Compares what was given.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    match &args.commands[..] {
        [first, second] if is_run(first) && is_run(second) => {
            runs::runs(Path::new(first), Path::new(second), &args.export)
        }
        _ if !args.rev.is_empty() => revisions::revisions(cli, args),
        _ => commands::commands(cli, args),
    }
}

/// A run file's name, not a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}
