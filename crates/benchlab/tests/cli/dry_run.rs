// SPDX-License-Identifier: Apache-2.0
//! `--dry-run` of `run`, `compare` and `load`: prints what the command would do and how long it
//! would take, and does nothing.

use crate::project::{BENCHLAB, Outcome, Project, outcome};
use crate::servers::POINT;
use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

fn call(project: &Project, args: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.args(args).arg("--dry-run");
    command.current_dir(project.path()).stdin(Stdio::null());
    command.env("BENCHLAB_PROJECT", project.path());
    outcome(command.output().expect("benchlab starts"))
}

/// Runs a command and returns its output with single spaces.
#[track_caller]
fn plan(project: &Project, args: &[&str]) -> String {
    let planned = call(project, args);
    planned.expect(0);
    let text = &planned.stdout;
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none(), "{wide:?}\n{text}");
    assert!(project.files().is_empty(), "a dry run must not save a file");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn commands_are_not_run() {
    let project = Project::noop(&[]);
    let text = plan(
        &project,
        &[
            "compare",
            "touch first",
            "touch second",
            "--setup",
            "touch built",
            "--gate",
            "--control",
        ],
    );
    assert_shows(
        &text,
        &[
            "This measures 2 commands at 1 point, for at most 30 s after set-up and a pilot",
            "A touch first, the baseline set-up touch built",
            "B touch second",
            "a second copy of the baseline",
            "at most 80 blocks",
            "fails if any>+2%; an inconclusive gate fails",
            "saved in",
        ],
    );
    for file in ["first", "second", "built"] {
        assert!(!project.join(file).exists(), "{file}");
    }
    call(
        &project,
        &["compare", "true", "true", "--fail-if", "tiem>+5%"],
    )
    .expect(2)
    .says(&["unknown name `tiem`"]);
}

#[test]
fn points_are_listed_for_each_target() {
    let text = plan(&Project::servers(&[POINT], &[]), &["run", "t"]);
    let points = "point statement=prepared; point statement=text";
    assert_shows(
        &text,
        &[
            &format!("points on postgresql {points}"),
            &format!("points on mariadb {points}"),
        ],
    );
}

#[test]
fn the_duration_is_predicted_from_the_last_run() {
    let project = Project::noop(&[]);
    let words = ["compare", "true", "true", "--as", "short", "--blocks", "2"];
    let text = plan(&project, &words);
    assert_shows(
        &text,
        &["2 blocks of unknown length", "--plan measures a pilot"],
    );
    let mut measured = Command::new(BENCHLAB);
    measured.args(words).args(["--pairs", "1"]);
    measured.current_dir(project.path()).stdin(Stdio::null());
    measured.env("BENCHLAB_PROJECT", project.path());
    outcome(measured.output().unwrap()).expect(0);
    let again = call(&project, &words);
    again.expect(0);
    let text = again
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_shows(
        &text,
        &["2 blocks of about", "estimated from the last run of short"],
    );
}

#[test]
fn revisions_are_resolved_and_not_checked_out() {
    let project = Project::noop(&[]);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(project.path()).output();
        let output = output.expect("git is installed");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    for text in ["one", "two"] {
        fs::write(project.join("file"), text).unwrap();
        git(&["add", "file"]);
        git(&["commit", "-q", "-m", text]);
    }
    let base = git(&["rev-parse", "HEAD~1"]);
    let revisions = [
        "compare",
        "--rev",
        "HEAD~1",
        "--rev",
        "HEAD",
        "--builds",
        "3",
        "--setup",
        "touch built",
    ];
    let text = plan(&project, &[&revisions[..], &["./prog"]].concat());
    assert_shows(
        &text,
        &[
            "This measures 2 revisions",
            &format!("./prog in commit {}", &base[..10]),
            "set-up touch built",
            "3 of each revision",
        ],
    );
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
    call(
        &project,
        &["compare", "--rev", "nothing", "--rev", "HEAD", "./prog"],
    )
    .expect(2)
    .says(&["unknown revision `nothing`"]);
}

#[test]
fn an_experiment_is_not_built_and_missing_toolchains_are_named() {
    let rare = "\n[[subject]]\nname = \"rare\"\nlanguage = \"Rare\"\ndriver = \"none\"\nprogram = [\"true\"]\n\
                needs = [\"rare\"]\n";
    let project = Project::noop(&[rare.to_owned()]);
    let text = plan(&project, &["run", "t"]);
    assert_shows(
        &text,
        &[
            "This measures 3 subjects at 1 point, for at most 5 min after set-up and a pilot",
            "honest",
            "the baseline",
            "Rare compiler (apt-get install rare-compiler rare-runtime), for rare",
            "/runs/<time>-t.lab",
        ],
    );
    assert!(!project.join("build").exists());
}

#[test]
fn a_load_sends_no_request() {
    let project = Project::noop(&[]);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", server.local_addr().unwrap());
    let sweep = [
        "load",
        &url,
        "--for",
        "5s",
        "--sweep",
        "connections=1,2,4",
        "--fail-if",
        "p99>20ms",
    ];
    let text = plan(&project, &sweep);
    assert_shows(
        &text,
        &[
            "This measures 1 server at 3 points, for ",
            "of load in total",
            "connections=1; connections=2; connections=4",
            "fails if p99>20ms",
        ],
    );
    let one = plan(&project, &["load", &url, "--for", "5s", "--rate", "100"]);
    assert_shows(&one, &["for 5 s of load in total", "100 requests/s"]);
    assert!(server.accept().is_err(), "a dry run must not connect");
}
