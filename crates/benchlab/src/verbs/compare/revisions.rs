// SPDX-License-Identifier: Apache-2.0
//! One command in several revisions, each in a worktree of its own.

use super::commands::{in_turns, not_too_many_names};
use crate::cli::{Cli, CompareArgs};
use crate::exit::{self, Exit};
use crate::measuring;
use lab_bench::{Revision, WorktreeError, Worktrees, interrupt};
use lab_plan::{GivenCommand, Words};
use std::collections::HashSet;
use std::process::ExitCode;

/// Compares revisions. Their worktrees are gone when this returns.
pub fn revisions(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    let (_worktrees, commands) = checked_out(args)?;
    in_turns(cli, args, commands)
}

/// The revisions that were given, with the command that each runs; they are there as long as the worktrees.
pub fn checked_out(args: &CompareArgs) -> Result<(Worktrees, Vec<GivenCommand>), Exit> {
    let words = words(args)?;
    builds_make_sense(args)?;
    not_too_many_names(args, args.rev.len())?;
    interrupt::watch().map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    let here = std::env::current_dir().map_err(|e| Exit::wrong(e.to_string()))?;
    let seed = measuring::seed(args.measuring.seed);
    let builds = args.builds.unwrap_or(1) as usize;
    let worktrees = Worktrees::of_builds(&here, &args.rev, builds, seed).map_err(|e| match e {
        WorktreeError::Interrupted => Exit::new(exit::INTERRUPTED, "stopped"),
        e => Exit::wrong(e.to_string()),
    })?;
    let distinct: HashSet<&String> = args.rev.iter().collect();
    let own_names = distinct.len() == args.rev.len();
    let given = |(i, revision): (usize, &Revision)| GivenCommand {
        words: words.clone(),
        name: match args.name.get(i) {
            Some(name) => Some(name.clone()),
            None => own_names.then(|| revision.written.clone()),
        },
        folder: revision.folder.clone(),
        revision: revision.commit.as_ref().map(|commit| commit.id.clone()),
        builds: revision.builds.clone(),
    };
    let commands = worktrees.revisions().iter().enumerate().map(given);
    let commands = commands.collect();
    Ok((worktrees, commands))
}

/// Errors: of what does not go with `--builds`.
fn builds_make_sense(args: &CompareArgs) -> Result<(), Exit> {
    let Some(builds) = args.builds else {
        return Ok(());
    };
    let why = if args.rev.iter().any(|revision| revision == ".") {
        "--builds takes commits: the working tree `.` is in one folder alone"
    } else if args.plan.is_some() {
        "--plan counts blocks, and not the builds that --builds asks for"
    } else if args.blocks.is_some_and(|blocks| blocks < builds) {
        "--blocks is less than --builds: each build takes a block at least"
    } else {
        return Ok(());
    };
    Err(Exit::wrong(why))
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
