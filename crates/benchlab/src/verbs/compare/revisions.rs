// SPDX-License-Identifier: Apache-2.0
//! Compares one command in multiple revisions, each in a separate worktree.

use super::commands::{check_name_count, compare_in_turns};
use super::revision_names::{is_relative, range};
use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use crate::measuring;
use lab_bench::{Revision, Worktrees, commit_range, interrupt, resolve_revisions};
use lab_document::Document;
use lab_plan::{CommandWords, GivenCommand};
use std::collections::HashSet;
use std::path::Path;

/// Compares revisions. Their worktrees are removed before this function returns.
pub fn revisions(cli: &Cli, args: &CompareArgs) -> Result<Option<Document>, Exit> {
    let (_worktrees, commands) = check_out(args)?;
    compare_in_turns(cli, args, commands)
}

/// Checks out the revisions and returns their worktrees and commands.
///
/// The worktrees are removed when the returned [`Worktrees`] value is dropped.
pub fn check_out(args: &CompareArgs) -> Result<(Worktrees, Vec<GivenCommand>), Exit> {
    command_words(args)?;
    check_builds(args)?;
    interrupt::watch().map_err(Exit::failed)?;
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let written = expand_ranges(&folder, &args.rev)?;
    check_name_count(args, written.len())?;
    let seed = measuring::seed(args.measuring.seed);
    let builds = args.builds.unwrap_or(1) as usize;
    let worktrees = Worktrees::of_builds(&folder, &written, builds, seed)?;
    let commands = commands(args, worktrees.revisions())?;
    Ok((worktrees, commands))
}

/// Returns the commands of the revisions without checking them out.
///
/// # Errors
/// Returns an error if an option is invalid, or if a revision does not name a commit.
pub fn resolve_commands(args: &CompareArgs) -> Result<Vec<GivenCommand>, Exit> {
    check_builds(args)?;
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let written = expand_ranges(&folder, &args.rev)?;
    check_name_count(args, written.len())?;
    commands(args, &resolve_revisions(&folder, &written)?)
}

/// Returns the command in each revision.
fn commands(args: &CompareArgs, revisions: &[Revision]) -> Result<Vec<GivenCommand>, Exit> {
    let words = command_words(args)?;
    let names: Vec<String> = revisions.iter().map(name).collect();
    let distinct: HashSet<&String> = names.iter().collect();
    let are_distinct = distinct.len() == names.len();
    let command = |(i, revision): (usize, &Revision)| GivenCommand {
        words: words.clone(),
        name: match args.name.get(i) {
            Some(name) => Some(name.clone()),
            None => are_distinct.then(|| names[i].clone()),
        },
        folder: revision.folder.clone(),
        revision: revision.commit.as_ref().map(|commit| commit.id.clone()),
        builds: revision.builds.clone(),
    };
    Ok(revisions.iter().enumerate().map(command).collect())
}

/// Replaces each range `A..B` with its commits in order, starting with A.
fn expand_ranges(folder: &Path, revisions: &[String]) -> Result<Vec<String>, Exit> {
    let mut expanded = Vec::new();
    for revision in revisions {
        let Some((first, last)) = range(revision) else {
            expanded.push(revision.clone());
            continue;
        };
        if revisions.len() > 1 {
            return Err(Exit::invalid(format!(
                "--rev {revision}: a range cannot be combined with other revisions"
            )));
        }
        let range = commit_range(folder, first, last)?;
        expanded.extend(range.commits.into_iter().map(|commit| commit.id));
    }
    Ok(expanded)
}

/// Returns the name of a revision. If the user's name for it is relative to HEAD, returns the
/// commit instead, because histories keep the name although HEAD moves.
fn name(revision: &Revision) -> String {
    match &revision.commit {
        Some(commit) if is_relative(&revision.written) => commit.short.clone(),
        _ => revision.written.clone(),
    }
}

/// Checks the options of `--builds`.
///
/// # Errors
/// Returns an error if an option cannot be combined with `--builds`.
fn check_builds(args: &CompareArgs) -> Result<(), Exit> {
    let Some(builds) = args.builds else {
        return Ok(());
    };
    let reason = if args.rev.iter().any(|revision| revision == ".") {
        "--builds requires commits: the working tree `.` exists in one directory only"
    } else if args.plan.is_some() {
        "--plan cannot be combined with --builds, because it counts blocks rather than builds"
    } else if args.blocks.is_some_and(|blocks| blocks < builds) {
        "--blocks is less than --builds: each build needs at least one block"
    } else {
        return Ok(());
    };
    Err(Exit::invalid(reason))
}

/// Returns the command that every revision runs.
fn command_words(args: &CompareArgs) -> Result<CommandWords, Exit> {
    match (&args.commands[..], &args.words[..]) {
        ([line], []) => Ok(CommandWords::Line(line.clone())),
        ([], [_, ..]) => Ok(CommandWords::List(args.words.clone())),
        _ => Err(Exit::invalid(
            "--rev takes one command, such as `benchlab compare --rev main --rev HEAD -- cargo run --release`",
        )),
    }
}
