// SPDX-License-Identifier: Apache-2.0
//! One command in several revisions, each in a worktree of its own.

use super::commands::{in_turns, not_too_many_names};
use crate::cli::{Cli, CompareArgs};
use crate::exit::{self, Exit};
use lab_bench::{Revision, WorktreeError, Worktrees, interrupt};
use lab_plan::{Given, Words};
use std::collections::HashSet;
use std::process::ExitCode;

/// Compares revisions. Their worktrees are gone when this returns.
pub fn revisions(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    let words = words(args)?;
    not_too_many_names(args, args.rev.len())?;
    interrupt::watch().map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    let here = std::env::current_dir().map_err(|e| Exit::wrong(e.to_string()))?;
    let worktrees = Worktrees::new(&here, &args.rev).map_err(|e| match e {
        WorktreeError::Interrupted => Exit::new(exit::INTERRUPTED, "stopped"),
        e => Exit::wrong(e.to_string()),
    })?;
    let distinct: HashSet<&String> = args.rev.iter().collect();
    let own_names = distinct.len() == args.rev.len();
    let given = |(i, revision): (usize, &Revision)| Given {
        words: words.clone(),
        name: match args.name.get(i) {
            Some(name) => Some(name.clone()),
            None => own_names.then(|| revision.written.clone()),
        },
        folder: revision.folder.clone(),
        revision: revision.commit.as_ref().map(|commit| commit.id.clone()),
        builds: Vec::new(),
    };
    let commands = worktrees.revisions().iter().enumerate().map(given);
    in_turns(cli, args, commands.collect())
}

/// The one command that every revision runs.
fn words(args: &CompareArgs) -> Result<Words, Exit> {
    match (&args.commands[..], &args.words[..]) {
        ([line], []) => Ok(Words::Line(line.clone())),
        ([], [_, ..]) => Ok(Words::List(args.words.clone())),
        _ => Err(Exit::wrong(
            "--rev takes one command, such as `benchlab compare --rev main --rev HEAD -- cargo run --release`",
        )),
    }
}
