// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit`: findings on a screen and in every format, run files compared, exit codes, bad input.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn benchlab(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("benchlab")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A copy of a machine's files, whose queue of connections has this length.
fn machine(folder: &Path, somaxconn: u32) {
    let files = [
        ("proc/sys/kernel/hostname", "web1\n".to_owned()),
        ("proc/sys/net/core/somaxconn", format!("{somaxconn}\n")),
        (
            "proc/sys/net/ipv4/ip_local_port_range",
            "32768 60999\n".into(),
        ),
        ("sys/block/sda/size", "1000000\n".into()),
        ("sys/block/sda/device/model", "\u{1b}[31mred\u{7}\n".into()),
        ("sys/block/sda/queue/rotational", "1\n".into()),
        ("sys/block/sda/queue/scheduler", "[none] bfq\n".into()),
    ];
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
}

/// The run file that a command made.
fn run_file(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("runs").flatten();
    let mut names = entries
        .map(|e| e.path().display().to_string())
        .filter(|p| p.ends_with(".lab"));
    names.next().expect("a run file")
}

#[test]
fn a_machine_s_findings_are_one_screen_in_every_format_and_compared() {
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    machine(&here.join("a"), 128);
    let screen = benchlab(here, &["audit", "host", "--root", "a", "--runs", "before"]);
    let screen = stdout(&screen);
    assert!(
        screen.lines().count() <= 40 && screen.lines().all(|l| l.chars().count() <= 80),
        "{screen}"
    );
    assert!(
        screen.contains("Is this host set up well?") && screen.contains("net-somaxconn"),
        "{screen}"
    );
    for format in [
        "terminal", "markdown", "csv", "json", "xml", "html", "xlsx", "svg",
    ] {
        let output = format!("out-{format}");
        let words = [
            "audit", "host", "--root", "a", "--no-run", "--format", format, "--output", &output,
        ];
        stdout(&benchlab(here, &words));
        let path = here.join(&output);
        if path.is_file() {
            let made = fs::read(&path).expect("a file");
            assert!(
                !made.contains(&0x1b) && !made.contains(&7) || format == "xlsx",
                "{format}"
            );
        }
    }
    machine(&here.join("a"), 4096);
    stdout(&benchlab(
        here,
        &["audit", "host", "--root", "a", "--runs", "after"],
    ));
    let [before, after] = ["before", "after"].map(|name| run_file(&here.join(name)));
    let changed = stdout(&benchlab(
        here,
        &["compare", &before, &after, "--export", "changed.json"],
    ));
    assert!(changed.contains("Better, 1: net-somaxconn"), "{changed}");
    let report = stdout(&benchlab(here, &["report", &after, "--full"]));
    assert!(
        report.contains("mq-deadline > /sys/block/sda/queue/scheduler"),
        "{report}"
    );
    let wrong = benchlab(here, &["compare", &before, "out-json.lab"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_gate_ends_with_3_and_names_what_failed() {
    let folder = TempDir::new().expect("a folder");
    machine(folder.path(), 128);
    let gate = |state: &str| {
        let words = [
            "audit",
            "host",
            "--root",
            ".",
            "--no-run",
            "--fail-on",
            state,
        ];
        let output = benchlab(folder.path(), &words);
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = gate("bad");
    assert_eq!(code, Some(3));
    assert!(
        said.contains("net-somaxconn is bad (web1)") && !said.contains("net-ports is"),
        "{said}"
    );
    assert!(gate("advice").1.contains("net-ports is advice"));
    fs::create_dir(folder.path().join("own")).expect("a folder");
    fs::write(folder.path().join("own/mine.toml"), "of = 'host'\n").expect("a rule");
    let output = benchlab(
        folder.path(),
        &["audit", "host", "--root", ".", "--rules", "own", "--no-run"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("mine.toml"));
    let output = benchlab(folder.path(), &["audit", "host", "--root", "nowhere"]);
    assert!(text(&output.stderr).contains("there is no proc/ in it"));
}

#[test]
fn this_machine_is_audited_and_the_doctor_has_the_same_rules() {
    let folder = TempDir::new().expect("a folder");
    let json = benchlab(
        folder.path(),
        &["audit", "host", "--no-run", "--format", "json"],
    );
    let report: Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    let clock = rows
        .iter()
        .find(|row| row["case"] == "clock-source" && row["verdict"] == "good");
    let doctor = Command::new(env!("CARGO_BIN_EXE_benchlab"))
        .arg("doctor")
        .env_remove("BENCHLAB_PROJECT")
        .output();
    let doctor = text(&doctor.expect("benchlab").stdout);
    assert_eq!(
        clock.is_none(),
        doctor.contains("the clock source is"),
        "{doctor}"
    );
}

#[test]
fn cookies_are_audited_from_a_pipe_without_their_values() {
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command
        .args(["audit", "cookies", "-", "--runs", "runs", "--full"])
        .current_dir(folder.path());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("benchlab");
    let sent = b"Cookie: __utma=verysecret1; session=verysecret2; evil=\x1b[31m\n";
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(sent)
        .expect("sent");
    let screen = stdout(&child.wait_with_output().expect("an end"));
    assert!(
        screen.contains("Google Analytics") && screen.contains("separators"),
        "{screen}"
    );
    let file = fs::read(run_file(&folder.path().join("runs"))).expect("a run file");
    assert!(
        !screen.contains("verysecret")
            && !text(&file).contains("verysecret")
            && !screen.contains('\u{1b}')
    );
    for (words, why) in [
        (vec!["audit", "cookies", "nowhere.har"], "nowhere.har"),
        (vec!["audit", "site", "ftp://a.example/"], "the scheme"),
        (
            vec!["audit", "site", "http://127.0.0.1:1/"],
            "no connection",
        ),
    ] {
        let output = benchlab(folder.path(), &words);
        assert!(
            text(&output.stderr).contains(why),
            "{}",
            text(&output.stderr)
        );
    }
}
