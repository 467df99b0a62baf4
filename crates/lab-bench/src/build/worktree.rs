// SPDX-License-Identifier: Apache-2.0
//! Worktrees of a git repository, one for each compared revision. They are created in a temporary
//! directory and are removed with that directory.

use crate::host::interrupt;
use crate::host::random::random;
use crate::host::scratch::Scratch;
use nix::sys::signal::Signal;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of the current working tree, which is not a commit.
const WORKING_TREE: &str = ".";

/// The maximum number of worktrees that can be added one by one with names of the same length.
const MAX_ADDED: usize = 26 * 26 * 26;

/// The upper bound, exclusive, of the number of characters that pad the name of a build's
/// directory.
const MAX_PADDING: u64 = 64;

/// Checked-out revisions. Dropping them removes their worktrees.
///
/// If benchlab is killed, its worktrees are removed the next time benchlab compares revisions of the same repository.
/// The working tree, the index and the branches stay unchanged, and no hooks run.
pub struct Worktrees {
    revisions: Vec<Revision>,
    /// The root of the repository's working tree.
    top: PathBuf,
    /// Worktrees that are registered in git, or may be because git was interrupted.
    created: Vec<PathBuf>,
    /// The number of worktrees that were added with [`Worktrees::add_commit`].
    added: usize,
    scratch: Scratch,
}

/// A revision, its commit and its directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The user's name for the revision, such as `HEAD~1`. `.` is the current working tree.
    pub written: String,
    /// The commit, or `None` for the working tree.
    pub commit: Option<Commit>,
    /// The directory in the worktree that corresponds to the starting directory.
    pub folder: PathBuf,
    /// The same directory in each build, starting with [`Revision::folder`]. Empty if there is only one build.
    pub builds: Vec<PathBuf>,
}

/// A commit. Control characters in its message are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full hash.
    pub id: String,
    /// The shortest unique prefix of the hash in the repository.
    pub short: String,
    /// The first line of the commit's message.
    pub subject: String,
}

/// An error that prevented the creation of worktrees. After such an error, no worktree remains.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// git is not installed.
    #[error("`git` is not in PATH: install it, on Debian with `apt-get install git`")]
    NoGit,
    /// The directory is not in a repository.
    #[error("{0} is not in the working tree of a git repository, so it has no revisions: {1}")]
    NoRepository(PathBuf, String),
    /// The revision does not name a commit.
    #[error("unknown revision `{0}`; `git log --oneline` lists revisions")]
    Unknown(String),
    /// The clone is shallow and lacks the commit of the revision.
    #[error(
        "unknown revision `{0}`: this clone is shallow and lacks older commits. Fetch them with `git fetch --unshallow \
         --tags`; on GitHub Actions, set `fetch-depth: 0` for actions/checkout"
    )]
    Shallow(String),
    /// The commit lacks the directory in which benchlab was started.
    #[error(
        "revision `{0}` does not contain the directory `{1}`: start in a directory that exists in all revisions"
    )]
    NoFolder(String, PathBuf),
    /// The parent directory for worktrees cannot be used.
    #[error("{0}: {1}; set TMPDIR to use another directory for worktrees")]
    Parent(PathBuf, io::Error),
    /// git cannot check out the revision. Contains the revision and git's error message.
    #[error("git cannot check out revision `{0}`: {1}")]
    Refused(String, String),
    /// A commit is required, but the revision is the working tree.
    #[error("`{0}` is the working tree: specify a commit, such as HEAD")]
    NotACommit(String),
    /// A range has no commits.
    #[error("`{0}` and `{1}` are the same commit, so there is nothing between them")]
    SameCommit(String, String),
    /// The start of a range is not an ancestor of its end.
    #[error(
        "`{0}` is not an ancestor of `{1}`; `git merge-base {0} {1}` shows the last commit that both have in common"
    )]
    NotAnAncestor(String, String),
    /// The user requested a stop.
    #[error("stopped before checking out the revisions")]
    Interrupted,
}

impl Worktrees {
    /// Checks out revisions of the repository that contains a directory.
    ///
    /// The worktrees are in the temporary directory (TMPDIR) and not in memory, because builds may
    /// be large. The same revision may be given twice.
    pub fn new(folder: &Path, revisions: &[String]) -> Result<Worktrees, WorktreeError> {
        Worktrees::new_in(&std::env::temp_dir(), folder, revisions)
    }

    /// Checks out each revision `builds` times. With multiple builds, the names of the directories
    /// are padded to lengths that depend on the seed.
    pub fn of_builds(
        folder: &Path,
        revisions: &[String],
        builds: usize,
        seed: u64,
    ) -> Result<Worktrees, WorktreeError> {
        let repeated: Vec<String> = revisions
            .iter()
            .flat_map(|revision| std::iter::repeat_n(revision.clone(), builds))
            .collect();
        let padding = |build: usize| match builds {
            1 => 0,
            _ => random(seed, &[build as u64]) % MAX_PADDING,
        };
        let mut worktrees =
            Worktrees::with_padding(&std::env::temp_dir(), folder, &repeated, padding)?;
        let checked_out = std::mem::take(&mut worktrees.revisions);
        if builds == 1 {
            worktrees.revisions = checked_out;
            return Ok(worktrees);
        }
        worktrees.revisions = checked_out
            .chunks(builds)
            .map(|group| Revision {
                builds: group.iter().map(|build| build.folder.clone()).collect(),
                ..group[0].clone()
            })
            .collect();
        Ok(worktrees)
    }

    /// Checks out revisions like [`Worktrees::new`], but in the directory `parent`.
    pub fn new_in(
        parent: &Path,
        folder: &Path,
        revisions: &[String],
    ) -> Result<Worktrees, WorktreeError> {
        Worktrees::with_padding(parent, folder, revisions, |_| 0)
    }

    fn with_padding(
        parent: &Path,
        folder: &Path,
        revisions: &[String],
        padding: impl Fn(usize) -> u64,
    ) -> Result<Worktrees, WorktreeError> {
        let (top, prefix) = repository(folder)?;
        let commits = revisions
            .iter()
            .map(|written| resolve(&top, written))
            .collect::<Result<Vec<_>, _>>()?;
        // git resolves symbolic links in the paths of its worktrees.
        let scratch = parent.canonicalize().and_then(|p| Scratch::new(Some(&p)));
        let mut worktrees = Worktrees {
            revisions: Vec::new(),
            top,
            created: Vec::new(),
            added: 0,
            scratch: scratch.map_err(|e| WorktreeError::Parent(parent.into(), e))?,
        };
        worktrees.forget_abandoned();
        for (index, (written, commit)) in revisions.iter().zip(commits).enumerate() {
            let padding = "x".repeat(padding(index) as usize);
            let name = name(index, revisions.len()) + &padding;
            let revision = worktrees.check_out(&name, written, commit, &prefix)?;
            worktrees.revisions.push(revision);
        }
        Ok(worktrees)
    }

    /// Prepares worktrees that are added one by one with [`Worktrees::add_commit`].
    pub fn on_demand(folder: &Path) -> Result<Worktrees, WorktreeError> {
        Worktrees::new_in(&std::env::temp_dir(), folder, &[])
    }

    /// Checks out a commit. Returns the worktree's directory that corresponds to `folder`.
    pub fn add_commit(&mut self, folder: &Path, commit: &Commit) -> Result<PathBuf, WorktreeError> {
        let (_, prefix) = repository(folder)?;
        // All names have the same length.
        let name = name(self.added, MAX_ADDED);
        self.added += 1;
        let revision = self.check_out(&name, &commit.short, Some(commit.clone()), &prefix)?;
        Ok(revision.folder)
    }

    /// Removes the worktree that contains a directory, if this object created it.
    pub fn release(&mut self, folder: &Path) {
        let is_inside = |directory: &PathBuf| folder.starts_with(directory);
        if let Some(index) = self.created.iter().position(is_inside) {
            let directory = self.created.swap_remove(index);
            self.remove(&directory);
            // Untracked files may be left.
            let _ = std::fs::remove_dir_all(&directory);
        }
    }

    /// Returns the revisions in the order in which they were given.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    fn check_out(
        &mut self,
        name: &str,
        written: &str,
        commit: Option<Commit>,
        prefix: &Path,
    ) -> Result<Revision, WorktreeError> {
        let directory = match &commit {
            Some(commit) => self.add(name, written, commit)?,
            None => self.top.clone(),
        };
        // Use components because `join` with an empty prefix would append a slash.
        let folder: PathBuf = directory.components().chain(prefix.components()).collect();
        if !folder.is_dir() {
            return Err(WorktreeError::NoFolder(written.into(), prefix.into()));
        }
        Ok(Revision {
            written: written.into(),
            commit,
            folder,
            builds: Vec::new(),
        })
    }

    fn add(
        &mut self,
        name: &str,
        written: &str,
        commit: &Commit,
    ) -> Result<PathBuf, WorktreeError> {
        let directory = self.scratch.folder().join(name);
        self.created.push(directory.clone());
        let mut add = git(&self.top);
        add.args(["worktree", "add", "--quiet", "--detach"]);
        match run_git(add.arg(&directory).arg(&commit.id)) {
            Ok(_) => Ok(directory),
            Err(GitFault::Refused(message)) => Err(WorktreeError::Refused(written.into(), message)),
            Err(GitFault::Other(e)) => Err(e),
        }
    }

    /// Makes git forget worktrees in removed directories of killed runs.
    ///
    /// `git worktree prune` would also forget worktrees on a disk that is not mounted.
    fn forget_abandoned(&self) {
        let list = run_git(git(&self.top).args(["worktree", "list", "--porcelain"]));
        for line in list.unwrap_or_default().split(|&byte| byte == b'\n') {
            let directory = line.strip_prefix(b"worktree ").map(path);
            if let Some(directory) =
                directory.filter(|directory| self.scratch.is_abandoned(directory))
            {
                self.remove(directory);
            }
        }
    }

    /// Removes a worktree.
    ///
    /// Passes `--force` twice: once because the worktree contains built files, and once because git
    /// locks a worktree whose creation was interrupted. git runs in its own process group, so that
    /// Ctrl-C does not interrupt the removal.
    fn remove(&self, directory: &Path) {
        let mut remove = git(&self.top);
        remove.args(["worktree", "remove", "--force", "--force"]);
        // If git cannot remove it, it is deleted with the scratch directory, and git forgets it the
        // next time.
        let _ = run_git(remove.arg(directory).process_group(0));
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        self.created
            .iter()
            .for_each(|directory| self.remove(directory));
    }
}

/// Resolves revisions without checking them out. The directory of each is `folder`.
///
/// # Errors
/// Returns an error if the directory is not in a repository, or if a revision does not name a
/// commit.
pub fn resolve_revisions(
    folder: &Path,
    revisions: &[String],
) -> Result<Vec<Revision>, WorktreeError> {
    let (top, _) = repository(folder)?;
    let revision = |written: &String| {
        Ok(Revision {
            written: written.clone(),
            commit: resolve(&top, written)?,
            folder: folder.to_path_buf(),
            builds: Vec::new(),
        })
    };
    revisions.iter().map(revision).collect()
}

/// Describes the current commit of the repository that contains a directory, and states whether
/// tracked files differ from the commit.
///
/// Returns `None` outside of a repository.
pub fn commit_of(folder: &Path) -> Option<String> {
    let ask = |words: &[&str]| run_git(git(folder).args(words)).ok();
    let id = ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    let changed = ask(&["status", "--porcelain", "--untracked-files=no"])?;
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    Some(if changed.is_empty() {
        id
    } else {
        id + " and changes"
    })
}

/// Returns the root of the working tree that contains a directory, and the directory's path relative to the root.
pub(super) fn repository(folder: &Path) -> Result<(PathBuf, PathBuf), WorktreeError> {
    let ask = |option| match run_git(git(folder).args(["rev-parse", option])) {
        Ok(line) => Ok(path(line.strip_suffix(b"\n").unwrap_or(&line)).to_path_buf()),
        Err(GitFault::Refused(message)) => Err(WorktreeError::NoRepository(folder.into(), message)),
        Err(GitFault::Other(e)) => Err(e),
    };
    Ok((ask("--show-toplevel")?, ask("--show-prefix")?))
}

/// Returns the commit of a revision, or `None` for the working tree.
pub(super) fn resolve(top: &Path, written: &str) -> Result<Option<Commit>, WorktreeError> {
    if written == WORKING_TREE {
        return Ok(None);
    }
    let text = |call: &mut Command| match run_git(call) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(GitFault::Refused(_)) if is_shallow(top) => Err(WorktreeError::Shallow(clean(written))),
        Err(GitFault::Refused(_)) => Err(WorktreeError::Unknown(clean(written))),
        Err(GitFault::Other(e)) => Err(e),
    };
    let mut verify = git(top);
    verify.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
    let id = text(verify.arg(format!("{written}^{{commit}}")))?;
    let id = id.trim_end();
    let mut describe = git(top);
    describe.args(["rev-list", "--max-count=1", "--encoding=UTF-8"]);
    let described = text(describe.args(["--format=%h%n%s", id]))?;
    // git writes the first line: `commit` and the hash.
    let mut lines = described.lines().skip(1).map(clean);
    Ok(Some(Commit {
        id: id.into(),
        short: lines.next().unwrap_or_default(),
        subject: lines.next().unwrap_or_default(),
    }))
}

/// Returns true if the repository lacks older commits, as in most CI jobs.
fn is_shallow(top: &Path) -> bool {
    let shallow = run_git(git(top).args(["rev-parse", "--is-shallow-repository"]));
    shallow.is_ok_and(|line| line.starts_with(b"true"))
}

/// Returns the name at an index in the sequence `a`, `b`, …, in which all names have the same
/// length.
///
/// The length of a path can change a program's speed (Mytkowicz et al., *Producing Wrong Data
/// Without Doing Anything Obviously Wrong!*, ASPLOS 2009).
fn name(index: usize, count: usize) -> String {
    let length = (1..).find(|&length| 26usize.pow(length) >= count);
    let digits = (0..length.expect("powers grow")).rev();
    let letter = |digit| (b'a' + (index / 26usize.pow(digit) % 26) as u8) as char;
    digits.map(letter).collect()
}

/// The cause of a failed git command.
pub(super) enum GitFault {
    /// git failed with this message.
    Refused(String),
    /// git did not run or was interrupted.
    Other(WorktreeError),
}

/// Creates a git command for a directory. The command ignores repositories that are set in
/// environment variables, and runs neither the repository's hooks nor its file system monitor.
///
/// Git sets such variables for hooks (githooks(5), `git rev-parse --local-env-vars`).
pub(super) fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    ] {
        git.env_remove(variable);
    }
    git.args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .arg("-C")
        .arg(folder)
        .stdin(Stdio::null());
    git
}

/// Runs git and returns its output.
pub(super) fn run_git(git: &mut Command) -> Result<Vec<u8>, GitFault> {
    let output = git.output().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => GitFault::Other(WorktreeError::NoGit),
        _ => GitFault::Refused(e.to_string()),
    })?;
    // Ctrl-C reaches git, too, and may terminate git before this process notices the signal.
    if interrupt::requested() || output.status.signal() == Some(Signal::SIGINT as i32) {
        return Err(GitFault::Other(WorktreeError::Interrupted));
    }
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(GitFault::Refused(clean(words.trim())));
    }
    Ok(output.stdout)
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Replaces control characters, because text from a repository could move a terminal's cursor.
pub(super) fn clean(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_are_distinct_and_of_one_length() {
        assert_eq!([0, 1, 25].map(|i| name(i, 26)), ["a", "b", "z"]);
        assert_eq!([0, 26, 27].map(|i| name(i, 28)), ["aa", "ba", "bb"]);
    }
}
