// SPDX-License-Identifier: Apache-2.0
//! `benchlab explain`: counts known system calls, shows the differences, and leaves neither
//! processes nor files behind.

use crate::project::{Project, send_signal, subject};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const HEAD: &str = r#"
[experiment]
title = "Talk"
question = "Who talks most?"
baseline = "terse"

[[case]]
name = "talk"
work = "messages over sockets"
unit = "operation"
"#;

fn project(others: &[String]) -> Project {
    let terse = subject("terse", &["chatty.py", "1"]);
    Project::with_text(&(HEAD.to_owned() + &terse + &others.concat()))
}

fn estimate(document: &Value, subject: &str, metric: &str) -> f64 {
    let rows = document["rows"].as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["subject"] == subject && row["metric"]["id"] == metric);
    let row = row.unwrap_or_else(|| panic!("{subject} has no {metric}"));
    row["value"]["value"].as_f64().expect("a number")
}

#[test]
fn known_calls_and_round_trips_are_counted_per_operation() {
    let project = project(&[subject("verbose", &["chatty.py", "2"])]);
    let words = ["explain", "t", "--operations", "10", "--format", "json"];
    let outcome = project.call(&words);
    let document: Value = serde_json::from_str(&outcome.expect(0).stdout).expect("JSON");
    // Both ends of the socket pair belong to the subject, so each exchange counts as a round trip of either
    // end.
    for (name, exchanges) in [("terse", 1.0), ("verbose", 2.0)] {
        let value = |metric: &str| estimate(&document, name, metric);
        assert_eq!(value("call_getppid"), 3.0, "{name}");
        assert_eq!(value("call_sendto"), 2.0 * exchanges, "{name}");
        assert_eq!(value("call_recvfrom"), 2.0 * exchanges, "{name}");
        assert_eq!(value("round_trips"), 2.0 * exchanges, "{name}");
        assert_eq!(value("sent_bytes"), 8.0 * exchanges, "{name}");
        assert_eq!(value("received_bytes"), 8.0 * exchanges, "{name}");
    }
    let answer = project.call(&words[..4]);
    let answer = &answer.expect(0).stdout;
    let sentence = "verbose: 4 round trips per operation, terse: 2.";
    assert!(answer.contains(sentence), "{answer}");
}

#[test]
fn allocations_are_counted_per_operation() {
    let project = project(&[subject("lavish", &["chatty.py", "1", "allocate"])]);
    let words = ["explain", "t", "--operations", "50", "--format", "json"];
    let outcome = project.call(&words);
    let document: Value = serde_json::from_str(&outcome.expect(0).stdout).expect("JSON");
    let more =
        |metric| estimate(&document, "lavish", metric) - estimate(&document, "terse", metric);
    // The two programs also differ by some bytes.
    assert!(
        (99_000.0..101_000.0).contains(&more("allocated_bytes")),
        "{}",
        more("allocated_bytes")
    );
    assert!(
        (1.0..3.5).contains(&more("allocations")),
        "{}",
        more("allocations")
    );
}

#[test]
fn commands_are_explained_after_they_were_compared() {
    let project = project(&[]);
    let runs = project.join("compared");
    let runs = runs.to_str().expect("a path");
    let words = [
        "compare",
        "--explain",
        "--blocks",
        "2",
        "--runs",
        runs,
        "/bin/true",
        "/bin/ls /usr/bin",
    ];
    let outcome = project.call(&words);
    let screen: Vec<&str> = outcome.expect(0).stdout.split_whitespace().collect();
    let screen = screen.join(" ");
    assert!(screen.contains("system calls per run, A:"), "{screen}");
    let files = std::fs::read_dir(runs).expect("runs").flatten();
    let pages = files.filter(|file| {
        file.file_name()
            .to_string_lossy()
            .ends_with("-explain.html")
    });
    assert_eq!(pages.count(), 1);
}

/// A command that fails does not do its work, so its events are not those of the work.
#[test]
fn commands_that_fail_when_they_are_explained_are_not_counted() {
    let project = project(&[]);
    let runs = project.join("compared").display().to_string();
    let picky = project.join("picky");
    // It fails as soon as the comparison has a report.
    let text = format!("#!/bin/sh\nfor page in {runs}/*.html; do [ ! -e $page ] || exit 3; done\n");
    fs::write(&picky, text).expect("a script");
    fs::set_permissions(&picky, fs::Permissions::from_mode(0o755)).expect("a script");
    let picky = picky.display().to_string();
    let words = ["compare", "--explain", "--blocks", "2", "--runs", &runs];
    let outcome = project.call(&[&words[..], &["/bin/true", &picky]].concat());
    outcome
        .expect(0)
        .shows(&["B failed", "the command ended with exit status: 3"]);
    assert!(!outcome.stdout.contains("system calls per run, A:"));
}

/// The counted runs would lack the preparation, and come after the cleanup.
#[test]
fn commands_with_hooks_for_each_process_are_not_explained() {
    let project = project(&[]);
    for option in ["--prepare", "--cleanup"] {
        let words = [
            "compare",
            "--explain",
            option,
            "true",
            "/bin/true",
            "/bin/false",
        ];
        project.call(&words).expect(2).says(&["--explain", option]);
    }
    assert!(project.files().is_empty());
}

#[test]
fn without_a_tracer_reports_name_the_missing_counts() {
    let project = project(&[]);
    let screen = |more: &[&str]| {
        let words = ["explain", "t", "--operations", "2"];
        let mut command = project.command(&[&words[..], more].concat());
        let output = command.env("PATH", project.path()).output();
        let output = output.expect("benchlab");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    };
    let first = screen(&[]);
    let warning = "no system calls and round trips: Not counted for terse: strace is not installed";
    let full = screen(&["--full"]);
    for screen in [first, full] {
        assert!(screen.contains(warning), "{screen}");
    }
}

#[test]
fn ctrl_c_leaves_neither_subject_nor_tracer_behind() {
    let project = project(&[subject("hanging", &["chatty.py", "1", "hang"])]);
    let mut lab = project.start(&["explain", "t", "--subjects", "hanging", "--operations", "2"]);
    let note = project.join("hanging");
    let deadline = Instant::now() + Duration::from_secs(180);
    while !note.exists() {
        assert!(Instant::now() < deadline, "the subject was never traced");
        std::thread::sleep(Duration::from_millis(20));
    }
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().expect("benchlab ends").code(), Some(130));
    let pids = std::fs::read_to_string(note).expect("a note");
    for pid in pids.split(' ') {
        let has_exited = || !Path::new("/proc").join(pid).join("exe").exists();
        while !has_exited() {
            assert!(Instant::now() < deadline, "process {pid} is still running");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn invalid_explain_requests_are_rejected() {
    let project = project(&[]);
    let assert_refused = |words: &[&str], reason: &str| {
        let outcome = project.call(words);
        assert!(outcome.expect(2).stderr.contains(reason), "{outcome:?}");
    };
    assert_refused(
        &["explain", "t", "--cases", "tlak"],
        "`t` has no case `tlak`",
    );
    assert_refused(
        &["explain", "t", "--subjects", "tacit"],
        "has no subject `tacit`",
    );
    assert_refused(&["explain", "gone.lab"], "gone.lab");
}

#[test]
fn subjects_are_not_blamed_if_the_baseline_failed() {
    let broken = HEAD.replace("\"terse\"", "\"broken\"");
    let others = ["terse", "second"].map(|name| subject(name, &["chatty.py", "1"]));
    let failing = subject("broken", &["chatty.py", "no-number"]);
    let project = Project::with_text(&(broken + &failing + &others.concat()));
    let outcome = project.run(&[]);
    let text: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let text = text.join(" ");
    assert!(
        text.contains("second and terse are not compared where the baseline failed.")
            || text.contains("terse and second are not compared where the baseline failed."),
        "{outcome:?}"
    );
    assert!(!text.contains("work was different"), "{text}");
}
