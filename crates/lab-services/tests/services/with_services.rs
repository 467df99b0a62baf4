// SPDX-License-Identifier: Apache-2.0
//! Tests the example `with_services`: the environment and exit of its command, and that no server
//! outlives it.

use crate::common::{Client, installed, is_empty, processes_in, soon};
use lab_services::{DATABASES, DatabaseKind, clear};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// The running example. The command that it runs exits at the end of its standard input, or
/// earlier.
struct RunningDaemon {
    temporary: TempDir,
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl RunningDaemon {
    fn shell(script: &str) -> RunningDaemon {
        RunningDaemon::with(&["sh", "-c", script])
    }

    fn with(words: &[&str]) -> RunningDaemon {
        RunningDaemon::with_change(words, |_| {})
    }

    fn with_change(words: &[&str], change: impl FnOnce(&mut Command)) -> RunningDaemon {
        let temporary = tempfile::tempdir().unwrap();
        let mut command = Command::new(program());
        command.args(words).env("TMPDIR", temporary.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).process_group(0);
        change(&mut command);
        let mut child = command
            .spawn()
            .expect("`cargo test -p lab-services` builds the examples");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        RunningDaemon {
            temporary,
            child,
            stdout,
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    fn has_server(&self) -> bool {
        !processes_in(self.temporary.path()).is_empty()
    }

    /// Returns the exit status and the messages on standard error. Checks that nothing is left
    /// behind.
    #[track_caller]
    fn finish(mut self) -> (Option<i32>, String) {
        // Waiting for the child would close its input, and a command that reads would exit.
        let _open = self.child.stdin.take();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), None);
        let mut complaints = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut complaints).unwrap();
        assert!(!self.has_server() && is_empty(self.temporary.path()));
        (status.code(), complaints)
    }
}

fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    profile.join("examples/with_services")
}

fn variable(kind: &str) -> String {
    format!("LAB_{}", kind.to_uppercase())
}

#[test]
fn a_command_gets_servers_and_its_status_is_returned() {
    let mut running =
        RunningDaemon::shell(r#"echo "${LAB_POSTGRESQL%%:*}" "${LAB_MARIADB%%:*}"; exit 5"#);
    let line = running.line();
    let names: Vec<&str> = line.split_whitespace().collect();
    let kinds: Vec<&str> = installed().iter().map(|kind| kind.name).collect();
    assert_eq!(names, kinds);
    assert_eq!(running.finish().0, Some(5));
}

#[test]
fn a_command_may_request_one_server() {
    for kind in installed() {
        let script = r#"echo "${LAB_POSTGRESQL%%:*}${LAB_MARIADB%%:*}""#;
        let mut running = RunningDaemon::with(&["--only", kind.name, "sh", "-c", script]);
        assert_eq!(running.line().trim(), kind.name);
        assert_eq!(running.finish().0, Some(0));
    }
}

/// Checks the rights that the protocol tests need: for tables, schemas, databases and statement counters.
#[test]
fn a_role_may_do_what_the_tests_do() {
    for kind in installed() {
        let script = format!("echo ${}; read line", variable(kind.name));
        let mut running = RunningDaemon::with(&["--only", kind.name, "sh", "-c", &script]);
        let mut client = Client::connect(kind, running.line().trim());
        client.run("CREATE TABLE own (n int)");
        client.run("CREATE SCHEMA another");
        match kind.name {
            "postgresql" => {
                assert_eq!(client.value("SELECT current_schema()"), "lab_tests");
                let count =
                    "SELECT count(*)::text FROM pg_stat_statements WHERE query LIKE '%TABLE own%'";
                assert_eq!(client.value(count), "1");
                client.run("SELECT pg_stat_statements_reset()");
                assert_eq!(client.value(count), "0");
            }
            _ => {
                assert_eq!(client.value("SELECT database()"), "lab_tests");
                client.run("CREATE TABLE another.own (n int)");
                client.run("FLUSH STATUS");
            }
        }
        drop(client);
        running.child.stdin.take();
        assert_eq!(
            running.finish().0,
            Some(1),
            "`read` fails at the end of its input"
        );
    }
}

/// Uses a PATH that contains only a shell: servers are found in the default directories or not at
/// all.
#[test]
fn a_server_that_is_not_installed_is_left_out_and_named() {
    let words = [
        "sh",
        "-c",
        r#"echo "${LAB_POSTGRESQL-none} ${LAB_MARIADB-none}""#,
    ];
    let folder = tempfile::tempdir().unwrap();
    symlink("/bin/sh", folder.path().join("sh")).unwrap();
    let mut running = RunningDaemon::with_change(&words, |command| {
        command.env("PATH", folder.path());
        for kind in DATABASES {
            command.env(variable(kind.name), "of another caller");
        }
    });
    let line = running.line();
    let (status, complaints) = running.finish();
    assert_eq!(status, Some(0));
    for (kind, value) in DATABASES.into_iter().zip(line.split_whitespace()) {
        let is_reported = complaints.contains(&format!("{} is not set", variable(kind.name)));
        assert_eq!(value == "none", is_reported, "{line}{complaints}");
        assert!(is_reported || has_default_folder(kind), "{line}");
        assert!(is_reported || value.starts_with(kind.name), "{line}");
    }
}

fn has_default_folder(kind: &DatabaseKind) -> bool {
    let folders = (kind.software.folders)();
    let mut programs = kind.software.programs.iter();
    programs.any(|program| folders.iter().any(|f| f.join(program).exists()))
}

#[test]
fn invalid_arguments_print_the_usage() {
    let wrong: [&[&str]; 4] = [
        &[],
        &["--only"],
        &["--only", "mariadb"],
        &["--only", "oracle", "true"],
    ];
    for words in wrong {
        let (status, complaints) = RunningDaemon::with(words).finish();
        assert_eq!(status, Some(2), "{words:?}");
        assert!(
            complaints.starts_with("usage: with_services "),
            "{complaints}"
        );
    }
}

#[test]
fn a_missing_command_is_named() {
    let (status, complaints) =
        RunningDaemon::with(&["--only", "postgresql", "no-such-program"]).finish();
    assert_eq!(status, Some(2));
    let expected = "with_services: cannot start no-such-program: ";
    assert!(complaints.contains(expected), "{complaints}");
}

#[test]
fn the_status_of_a_command_that_was_killed_is_the_shells() {
    let (status, _) =
        RunningDaemon::with(&["--only", "postgresql", "sh", "-c", "kill -KILL $$"]).finish();
    assert_eq!(status, Some(128 + Signal::SIGKILL as i32));
}

#[test]
fn a_killed_process_leaves_no_server_and_the_next_removes_its_data() {
    if installed().is_empty() {
        return;
    }
    let mut running = RunningDaemon::shell("echo ready; read line");
    assert_eq!(running.line(), "ready\n");
    assert!(running.has_server());
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert!(soon(|| !running.has_server()));
    let scratch = only_entry(running.temporary.path());
    assert!(!is_empty(&scratch));
    clear(&scratch);
    // The lock remains.
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);
}

fn only_entry(folder: &Path) -> PathBuf {
    fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
}

#[test]
fn a_signal_reaches_the_command_before_its_servers_stop() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut running = RunningDaemon::shell("trap 'exit 9' INT TERM HUP; echo ready; read line");
        assert_eq!(running.line(), "ready\n");
        match signal {
            // A terminal signals the whole process group.
            Signal::SIGINT => killpg(running.pid(), signal).unwrap(),
            _ => kill(running.pid(), signal).unwrap(),
        }
        assert_eq!(running.finish().0, Some(9), "{signal}");
    }
}

#[test]
fn a_signal_during_startup_ends_the_run_without_the_command() {
    for (kind, signal) in installed()
        .into_iter()
        .zip([Signal::SIGTERM, Signal::SIGHUP])
    {
        let mut running = RunningDaemon::with(&["--only", kind.name, "echo", "begun"]);
        assert!(soon(|| running.has_server()), "{kind}");
        kill(running.pid(), signal).unwrap();
        assert_eq!(running.line(), "", "{kind}");
        let (status, complaints) = running.finish();
        assert_eq!(status, Some(128 + signal as i32), "{kind}: {complaints}");
    }
}
