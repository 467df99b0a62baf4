// SPDX-License-Identifier: Apache-2.0
//! The commits of a range, in order, and the changes of a commit.

use super::worktree::{Commit, GitFault, WorktreeError, clean, git, repository, resolve, run_git};
use std::path::Path;

/// The commits of a range, from a good commit to a bad one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRange {
    /// The commits, in order. The first commit is the good one, and the last is the bad one.
    pub commits: Vec<Commit>,
}

/// Returns the commits from `good` to `bad`, in order.
///
/// Only first parents are followed, as with `git log --first-parent`. The commits of a merged
/// branch lack the other changes in the range, so they cannot be compared with their neighbors.
///
/// # Errors
/// Returns an error if a revision is unknown or is the working tree, or if `good` is not an
/// ancestor of `bad`.
pub fn commit_range(folder: &Path, good: &str, bad: &str) -> Result<CommitRange, WorktreeError> {
    let (top, _) = repository(folder)?;
    let commit = |written: &str| {
        resolve(&top, written)?.ok_or_else(|| WorktreeError::NotACommit(written.to_owned()))
    };
    let (first, last) = (commit(good)?, commit(bad)?);
    if first.id == last.id {
        return Err(WorktreeError::SameCommit(clean(good), clean(bad)));
    }
    let mut is_ancestor = git(&top);
    is_ancestor.args(["merge-base", "--is-ancestor", &first.id, &last.id]);
    match run_git(&mut is_ancestor) {
        Ok(_) => {}
        Err(GitFault::Refused(_)) => {
            return Err(WorktreeError::NotAnAncestor(clean(good), clean(bad)));
        }
        Err(GitFault::Other(e)) => return Err(e),
    }
    let mut list = git(&top);
    list.args(["log", "--first-parent", "--reverse", "--encoding=UTF-8"])
        .args(["--no-show-signature", "-z", "--format=%H%n%h%n%s"])
        .arg(format!("{}..{}", first.id, last.id));
    let output = run_git(&mut list).map_err(|fault| match fault {
        GitFault::Refused(message) => WorktreeError::Refused(format!("{good}..{bad}"), message),
        GitFault::Other(e) => e,
    })?;
    let records = output.split(|&byte| byte == 0).filter(|r| !r.is_empty());
    let later = records.map(|record| {
        let text = String::from_utf8_lossy(record);
        let mut lines = text.splitn(3, '\n').map(clean);
        let mut next = || lines.next().unwrap_or_default();
        Commit {
            id: next(),
            short: next(),
            subject: next(),
        }
    });
    let commits = [first].into_iter().chain(later).collect();
    Ok(CommitRange { commits })
}

/// Returns the lines of `git show --stat` for a commit, compared with its first parent.
///
/// Replaces control characters. Returns git's message if git fails.
pub fn commit_stat(folder: &Path, id: &str) -> Vec<String> {
    let mut show = git(folder);
    show.args([
        "show",
        "--stat=100",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
    ])
    .args([
        "--no-show-signature",
        "--first-parent",
        "--diff-merges=first-parent",
    ])
    .args(["--encoding=UTF-8", id, "--"]);
    match run_git(&mut show) {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output);
            text.lines().map(|line| clean(line.trim_end())).collect()
        }
        Err(GitFault::Refused(message)) => vec![message],
        Err(GitFault::Other(e)) => vec![e.to_string()],
    }
}

/// Returns the number of parents of a commit: more than one for a merge. Returns 0 if git fails.
pub fn parent_count(folder: &Path, id: &str) -> usize {
    let mut list = git(folder);
    list.args(["rev-list", "--parents", "--max-count=1", id, "--"]);
    let words = run_git(&mut list).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    words.split_whitespace().count().saturating_sub(1)
}
