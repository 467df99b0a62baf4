// SPDX-License-Identifier: Apache-2.0
//! Tests the worktrees of real repositories: the files that are checked out, and that nothing else
//! is changed or left behind.

use lab_bench::{Revision, WorktreeError, Worktrees, interrupt};
use lab_host::procfs;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A repository with two commits on `main`, and a directory for worktrees. Only the second commit contains the
/// directory `bench`.
struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let place = Repository(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.repository()).unwrap();
        fs::create_dir_all(place.parent()).unwrap();
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place.commit("program", "one", "The first");
        fs::create_dir(place.bench()).unwrap();
        fs::write(place.bench().join("input"), "data").unwrap();
        place.commit("program", "two", "The second\n\nwith a body");
        place
    }

    fn repository(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    fn bench(&self) -> PathBuf {
        self.repository().join("bench")
    }

    /// Returns the directory in which worktrees are created.
    fn parent(&self) -> PathBuf {
        self.0.path().join("parent")
    }

    fn worktrees(&self, folder: &Path, revisions: &[&str]) -> Result<Worktrees, WorktreeError> {
        let revisions: Vec<String> = revisions.iter().map(|r| r.to_string()).collect();
        Worktrees::new_in(&self.parent(), folder, &revisions)
    }

    /// Returns the message of the expected error.
    #[track_caller]
    fn error_message(&self, folder: &Path, revisions: &[&str]) -> String {
        let error = self.worktrees(folder, revisions).err();
        self.assert_nothing_left();
        error.expect("an error").to_string()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=N", "-c", "user.email=e@example.org"])
            .args(args)
            .current_dir(self.repository())
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, file: &str, text: &str, message: &str) {
        fs::write(self.repository().join(file), text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Returns the number of working trees registered in git.
    fn registered(&self) -> usize {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        list.lines().filter(|l| l.starts_with("worktree ")).count()
    }

    #[track_caller]
    fn assert_nothing_left(&self) {
        let left: Vec<_> = fs::read_dir(self.parent()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(self.registered(), 1);
    }

    /// Starts this test program as a process that creates a worktree of `HEAD` and keeps it. See
    /// [`holder`].
    fn holder(&self) -> Child {
        let mut holder = Command::new(std::env::current_exe().unwrap());
        holder
            .args(["--exact", "holder", "--ignored", "--nocapture"])
            .env("TMPDIR", self.parent())
            // This is the environment of a hook in another repository.
            .env("GIT_DIR", "/nowhere/.git")
            .env("GIT_INDEX_FILE", "/nowhere/index")
            .current_dir(self.repository())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        holder.spawn().unwrap()
    }
}

/// The program that [`Repository::holder`] starts. It reports its result and waits. It is not a
/// test.
#[test]
#[ignore]
fn holder() {
    interrupt::watch().unwrap();
    let folder = std::env::current_dir().unwrap();
    match Worktrees::new(&folder, &["HEAD".into()]) {
        Ok(worktrees) => {
            println!("\nheld {}", worktrees.revisions()[0].folder.display());
            std::io::stdin().lines().for_each(drop);
        }
        Err(e) => println!("\nfailed {e}"),
    }
}

/// Reads the holder's lines up to the first line that begins with `word`. Returns the rest of that
/// line.
fn line_after(holder: &mut Child, word: &str) -> String {
    let lines = BufReader::new(holder.stdout.as_mut().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let line = lines.find_map(|l| l.strip_prefix(word).map(|l| l.trim().to_owned()));
    line.unwrap_or_else(|| panic!("the output does not contain `{word}`"))
}

fn program(revision: &Revision) -> String {
    fs::read_to_string(revision.folder.join("program")).unwrap()
}

#[test]
fn each_revision_is_checked_out_and_removed_afterwards() {
    let place = Repository::new();
    let worktrees = place
        .worktrees(&place.repository(), &["HEAD~1", "main", "main"])
        .unwrap();
    let [first, second, again] = worktrees.revisions() else {
        panic!("three revisions");
    };
    assert_eq!([first, second, again].map(program), ["one", "two", "two"]);
    assert_eq!(first.written, "HEAD~1");
    let commit = second.commit.as_ref().unwrap();
    assert_eq!(commit.id, place.git(&["rev-parse", "HEAD"]));
    assert_eq!(commit.short, place.git(&["rev-parse", "--short", "HEAD"]));
    assert_eq!(commit.subject, "The second");
    assert_eq!(second.commit, again.commit);
    assert_ne!(second.folder, again.folder);
    let length = |r: &Revision| r.folder.as_os_str().len();
    assert_eq!(length(first), length(again));
    assert_eq!(place.registered(), 4);
    // Files that a build would create.
    fs::create_dir(first.folder.join("target")).unwrap();
    fs::write(first.folder.join("target/built"), "x").unwrap();
    fs::write(first.folder.join("program"), "changed").unwrap();
    drop(worktrees);
    place.assert_nothing_left();
}

#[test]
fn the_working_tree_is_untouched_and_can_be_compared_as_it_is() {
    let place = Repository::new();
    fs::write(place.repository().join("program"), "dirty").unwrap();
    fs::write(place.repository().join("new"), "untracked").unwrap();
    place.git(&["add", "new"]);
    let hook = place.repository().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch hook-ran\n").unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words: [&[&str]; 3] = [&["status"], &["branch", "--list"], &["stash", "list"]];
    let state = || words.map(|args| place.git(args));
    let before = state();
    let worktrees = place
        .worktrees(&place.repository(), &["HEAD", "."])
        .unwrap();
    let [head, now] = worktrees.revisions() else {
        panic!("two revisions");
    };
    assert_eq!([head, now].map(program), ["two", "dirty"]);
    assert_eq!(now.folder, place.repository().canonicalize().unwrap());
    assert_eq!(now.commit, None);
    assert!(!head.folder.join("hook-ran").exists());
    drop(worktrees);
    assert_eq!(state(), before);
    assert!(!place.repository().join("hook-ran").exists());
    place.assert_nothing_left();
}

#[test]
fn the_directory_inside_the_repository_is_kept() {
    let place = Repository::new();
    let worktrees = place.worktrees(&place.bench(), &["HEAD", "."]).unwrap();
    for revision in worktrees.revisions() {
        assert!(revision.folder.ends_with("bench"), "{revision:?}");
        assert!(revision.folder.join("input").exists(), "{revision:?}");
    }
    drop(worktrees);
    assert_eq!(
        place.error_message(&place.bench(), &["HEAD", "HEAD~1"]),
        "revision `HEAD~1` does not contain the directory `bench/`: start in a directory that exists in all revisions"
    );
}

#[test]
fn invalid_revisions_are_errors() {
    let place = Repository::new();
    for wrong in [
        "nothing",
        "",
        "--all",
        "HEAD:program",
        "HEAD~1..HEAD",
        "HEAD\u{1b}[31m",
        "HEAD\0",
    ] {
        let message = place.error_message(&place.repository(), &["HEAD", wrong]);
        let cleaned = wrong.replace(|c: char| c.is_control(), " ");
        assert_eq!(
            message,
            format!("unknown revision `{cleaned}`; `git log --oneline` lists revisions")
        );
    }
}

#[test]
fn a_directory_without_a_repository_is_an_error() {
    let place = Repository::new();
    for folder in [
        place.parent(),
        place.repository().join(".git"),
        place.parent().join("nowhere"),
    ] {
        let message = place.error_message(&folder, &["HEAD"]);
        let start = format!(
            "{} is not in the working tree of a git repository",
            folder.display()
        );
        assert!(message.starts_with(&start), "{message}");
    }
    let error = Worktrees::new_in(
        &place.parent().join("nowhere"),
        &place.repository(),
        &["HEAD".into()],
    );
    assert!(matches!(error, Err(WorktreeError::Parent(..))));
}

/// A commit message can contain control characters, which must not reach the terminal.
#[test]
fn commit_messages_are_sanitized() {
    let place = Repository::new();
    place.commit("program", "three", "esc\u{1b}[31mape \u{7}");
    let worktrees = place.worktrees(&place.repository(), &["HEAD"]).unwrap();
    let commit = worktrees.revisions()[0].commit.as_ref().unwrap();
    assert!(commit.subject.starts_with("esc [31mape"), "{commit:?}");
    assert!(!commit.subject.contains(|c: char| c.is_control()));
}

#[test]
fn worktrees_of_a_killed_process_are_removed_by_the_next() {
    let place = Repository::new();
    // Another program's worktree in a different location, with a name like benchlab's, on a disk that is not mounted.
    let foreign = place.0.path().join("benchlab-others");
    let path = foreign.to_str().unwrap();
    place.git(&["worktree", "add", "--quiet", "--detach", path]);
    fs::rename(&foreign, place.0.path().join("away")).unwrap();
    let mut killed = place.holder();
    let abandoned = PathBuf::from(line_after(&mut killed, "held"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(program_at(&abandoned), "two");
    let mut alive = place.holder();
    let held = PathBuf::from(line_after(&mut alive, "held"));
    assert!(
        !abandoned.exists(),
        "the worktree of the killed process must be removed"
    );
    assert_eq!(
        place.registered(),
        3,
        "the repository, the other process's worktree, and the worktree in use"
    );
    // The worktree of a running benchlab process is not removed.
    drop(place.worktrees(&place.repository(), &["HEAD"]).unwrap());
    assert_eq!(program_at(&held), "two");
    drop(alive.stdin.take());
    assert!(alive.wait().unwrap().success());
    assert!(!held.exists());
    fs::rename(place.0.path().join("away"), &foreign).unwrap();
    place.git(&["worktree", "remove", path]);
    place.assert_nothing_left();
}

/// Ctrl-C reaches both benchlab and git, and may terminate git before benchlab. SIGTERM may reach
/// only benchlab.
#[test]
fn stopped_while_git_checks_out() {
    let signals: [fn(Pid) -> nix::Result<()>; 3] = [
        |group| killpg(group, Signal::SIGINT),
        |lab| kill(procfs::children(lab)[0], Signal::SIGINT),
        |lab| kill(lab, Signal::SIGTERM),
    ];
    for send_signal in signals {
        let place = Repository::new();
        let started = place.0.path().join("started");
        // git checks out until the signal is sent, however long the test takes.
        let sent = place.0.path().join("sent");
        let filter = format!(
            "touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done; cat",
            started.display(),
            sent.display()
        );
        place.git(&["config", "filter.slow.smudge", &filter]);
        place.commit(".gitattributes", "program filter=slow\n", "Slow");
        let mut holder = place.holder();
        let began = Instant::now();
        while !started.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "no checkout");
            std::thread::sleep(Duration::from_millis(1));
        }
        send_signal(Pid::from_raw(holder.id() as i32)).unwrap();
        fs::write(sent, "").unwrap();
        let message = line_after(&mut holder, "failed");
        assert_eq!(message, "stopped before checking out the revisions");
        holder.wait().unwrap();
        place.assert_nothing_left();
    }
}

#[test]
fn without_git() {
    let place = Repository::new();
    let mut holder = Command::new(std::env::current_exe().unwrap());
    let output = holder
        .args(["--exact", "holder", "--ignored", "--nocapture"])
        .env("PATH", place.parent())
        .output()
        .unwrap();
    let output_text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output_text.contains("`git` is not in PATH: install it"),
        "{output_text}"
    );
}

fn program_at(folder: &Path) -> String {
    fs::read_to_string(folder.join("program")).unwrap()
}
