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
            only_exports(args)?;
            runs::runs(Path::new(first), Path::new(second), &args.export)
        }
        _ if !args.rev.is_empty() => revisions::revisions(cli, args),
        _ => commands::commands(cli, args),
    }
}

/// Two runs were measured as they were: nothing about that can be asked for now.
fn only_exports(args: &CompareArgs) -> Result<(), Exit> {
    let given = [
        ("--rev", !args.rev.is_empty()),
        ("--name", !args.name.is_empty()),
        ("--baseline", args.baseline.is_some()),
        ("--sweep", !args.sweep.is_empty()),
        ("--setup", !args.setup.is_empty()),
        ("--prepare", !args.prepare.is_empty()),
        ("--cleanup", !args.cleanup.is_empty()),
        ("--input", args.input.is_some()),
        ("--same-output", args.same_output),
        ("--ignore-failure", args.ignore_failure),
        ("--cores", args.cores.is_some()),
        ("--for", args.budget.is_some()),
        ("--precision", args.precision.is_some()),
        ("--blocks", args.blocks.is_some()),
        ("--pairs", args.pairs.is_some()),
        ("--control", args.control),
        ("--gate", args.gate),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Exit::wrong(format!(
            "{option} is for commands: two run files are compared as they were measured"
        ))),
        None => Ok(()),
    }
}

/// A run file's name, not a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}
