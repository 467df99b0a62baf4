// SPDX-License-Identifier: Apache-2.0
//! The merge base: the commit where a change began.

use super::worktree::{Commit, GitFault, WorktreeError, git, repository, resolve, run_git};
use std::path::Path;

/// An error that leaves the base of a change unknown.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] WorktreeError),
    /// No candidate for the base is a revision of the repository.
    #[error(
        "the base `{0}` is not a revision of this clone: fetch it, with `git fetch origin {0}`"
    )]
    Unknown(String),
    /// The history of the clone is too short.
    #[error(
        "this clone is shallow and does not contain the commit where the change branched off `{0}`: fetch the whole history, \
         with `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab CI, or `git fetch --unshallow`"
    )]
    Shallow(String),
    /// The two histories have no common commit.
    #[error("HEAD and `{0}` have no common commit: name another base with --base")]
    Unrelated(String),
    /// HEAD is already part of the base, and has no parent to compare with.
    #[error("HEAD is the first commit, so there is nothing to compare with")]
    FirstCommit,
}

/// The head of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// HEAD with the changes in the working tree.
    WorkingTree,
    /// HEAD without the changes in the working tree.
    Commit,
}

/// Returns the merge base of HEAD and the first candidate that is a revision.
///
/// If HEAD is already part of the base, as after a merge, returns HEAD's first parent. But if `head`
/// is a working tree with changes, returns HEAD.
///
/// # Errors
/// Returns an error if no candidate is a revision, or if the common commit is not in the clone.
pub fn merge_base(folder: &Path, candidates: &[String], head: Head) -> Result<Commit, BaseError> {
    let (top, _) = repository(folder)?;
    let ask = |words: &[&str]| match run_git(git(&top).args(words)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
        Err(GitFault::Refused(_)) => Ok(None),
        Err(GitFault::Other(e)) => Err(e),
    };
    let is_shallow = ask(&["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true");
    let named = || candidates.last().cloned().unwrap_or_default();
    // In a shallow clone, a revision may be missing only because it has not been fetched.
    let missing = |reason: BaseError| match is_shallow {
        true => BaseError::Shallow(named()),
        false => reason,
    };
    let mut found = None;
    for candidate in candidates {
        match resolve(&top, candidate) {
            Ok(Some(commit)) => {
                found = Some(commit);
                break;
            }
            Ok(None) | Err(WorktreeError::Unknown(_) | WorktreeError::Shallow(_)) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let tip = found.ok_or_else(|| missing(BaseError::Unknown(named())))?;
    let base = ask(&["merge-base", "HEAD", &tip.id])?;
    let base = base.ok_or_else(|| missing(BaseError::Unrelated(named())))?;
    let tip = ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    let is_merged = tip.as_deref() == Some(base.as_str());
    let changes = ask(&["status", "--porcelain", "--untracked-files=no"])?;
    let has_changes = changes.is_some_and(|files| !files.is_empty());
    let id = if is_merged && !(head == Head::WorkingTree && has_changes) {
        let parent = ask(&["rev-parse", "--verify", "--quiet", "HEAD~1^{commit}"])?;
        parent.ok_or_else(|| missing(BaseError::FirstCommit))?
    } else {
        base
    };
    resolve(&top, &id)?.ok_or(BaseError::Unknown(id))
}
