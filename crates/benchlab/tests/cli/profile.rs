// SPDX-License-Identifier: Apache-2.0
//! `benchlab profile`: reads files, runs programs under Valgrind, judges gates, and leaves nothing
//! behind after Ctrl-C.

use crate::project::{send_signal, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn profile(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command.arg("profile").args(words).current_dir(folder);
    command.output().expect("benchlab")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes Cachegrind files of a program before and after a change that halved its misses.
fn files(folder: &Path) -> [String; 2] {
    let file = |name: &str, misses: u64| {
        let total = 1000 + misses;
        let text = format!(
            "desc: D1 cache: 49152 B, 64 B, 12-way associative\ncmd: ./prog\nevents: Ir D1mw\nfl=/a/b.c\nfn=fill\n\
             7 1000 {misses}\nfn=main\n9 {misses} 1\nsummary: {total} {}\n",
            misses + 1
        );
        fs::write(folder.join(name), text).expect("a file");
        name.to_owned()
    };
    [file("before", 800), file("after", 400)]
}

#[test]
fn files_become_one_document_in_every_format() {
    let folder = TempDir::new().expect("a folder");
    let [before, after] = files(folder.path());
    let options = ["--cachegrind", &before, &after];
    let answer = profile(folder.path(), &options);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    let answer = text(&answer.stdout);
    assert!(answer.contains("D1mw 801 → 401 (-49.9 %)"), "{answer}");
    assert!(
        answer.lines().count() <= 40 && answer.lines().all(|l| l.chars().count() <= 80),
        "{answer}"
    );
    let json = profile(
        folder.path(),
        &[&options[..], &["--format", "json"]].concat(),
    );
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let fill = |row: &&Value| row["case"] == "/a/b.c:fill" && row["metric"]["id"] == "D1mw";
    let values: Vec<f64> = rows
        .iter()
        .filter(fill)
        .filter_map(|row| row["value"]["value"].as_f64())
        .collect();
    assert_eq!(values, [800.0, 400.0]);
    for format in ["markdown", "csv", "xml", "xlsx", "svg", "html"] {
        let path = folder.path().join(format);
        let path = path.to_str().expect("a path");
        let output = profile(
            folder.path(),
            &[&options[..], &["--format", format, "--output", path]].concat(),
        );
        assert!(
            output.status.success(),
            "{format}: {}",
            text(&output.stderr)
        );
        assert!(Path::new(path).exists(), "{format}");
    }
}

#[test]
fn conditions_become_exit_codes_and_bad_input_is_explained() {
    let folder = TempDir::new().expect("a folder");
    let [before, after] = files(folder.path());
    let code = |words: &[&str]| {
        let output = profile(folder.path(), words);
        (output.status.code(), text(&output.stderr))
    };
    let two_files = ["--cachegrind", &after, &before, "--fail-if"];
    assert_eq!(code(&[&two_files[..], &["D1mw>+5%"]].concat()).0, Some(3));
    assert_eq!(code(&[&two_files[..], &["D1mw>1000"]].concat()).0, Some(0));
    assert_eq!(code(&[&two_files[..], &["peak>2MB"]].concat()).0, Some(4));
    assert_eq!(code(&[&two_files[..], &["D1mw>5%"]].concat()).0, Some(2));
    let (status, message) = code(&["--massif", &before]);
    assert!(
        status == Some(2) && message.contains("--cachegrind"),
        "{message}"
    );
    let (status, message) = code(&["--cachegrind", "there-is-none"]);
    assert!(
        status == Some(2) && message.contains("there-is-none"),
        "{message}"
    );
    let (status, message) = code(&["sort a | head"]);
    assert!(status == Some(2) && message.contains("shell"), "{message}");
    assert_eq!(code(&[]).0, Some(2));
}

/// Builds a program that allocates two hundred blocks of memory. Its argument is the size of a
/// block.
fn program(folder: &Path) -> PathBuf {
    let source = "#include <stdlib.h>\n#include <string.h>\nint main(int c, char **v) { size_t n = atoi(v[1]);\n\
                  for (int i = 0; i < 200; i++) { volatile char *p = malloc(n);\n\
                  for (size_t j = 0; j < n; j++) p[j] = i;\nfree((void *)p); } return 0; }\n";
    fs::write(folder.join("prog.c"), source).expect("a file");
    let built = Command::new("cc")
        .args(["-g", "-O1", "-o", "prog", "prog.c"])
        .current_dir(folder)
        .status();
    assert!(built.expect("cc").success());
    folder.join("prog")
}

#[test]
fn programs_are_run_churn_is_found_and_misses_are_explained() {
    let folder = TempDir::new().expect("a folder");
    let program = program(folder.path());
    let lines = [65536, 1024].map(|n| format!("{} {n}", program.display()));
    let words = [
        "--no-measure",
        "--full",
        "--runs",
        "kept",
        &lines[0],
        &lines[1],
    ];
    let output = profile(folder.path(), &words);
    let screen = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        screen.contains("64.0 KiB allocated 200 times at prog.c:4, each freed before the next"),
        "{screen}"
    );
    assert!(
        screen.contains("200 × 1,024 = 204,800 write misses"),
        "{screen}"
    );
    assert!(
        screen.contains("standard output: the same in all runs"),
        "{screen}"
    );
    // The run file contains all results, so a report on it does not need another run.
    let files = fs::read_dir(folder.path().join("kept")).expect("a folder");
    let files = files.flatten().map(|file| file.path());
    let file = files
        .into_iter()
        .find(|file| file.extension() == Some("lab".as_ref()));
    let file = file.expect("a run file");
    let mut report = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    report.args(["report", "--full"]).arg(
        file.strip_prefix(folder.path())
            .expect("the directory contains a file"),
    );
    let report = report
        .current_dir(folder.path())
        .output()
        .expect("benchlab");
    assert_eq!(
        text(&report.stdout),
        text(&output.stdout),
        "{}",
        text(&report.stderr)
    );
}

/// Creates a repository with a program that allocates 64 KiB at a time in its first commit, and 1
/// KiB at a time in its second.
fn repository(folder: &Path) {
    program(folder);
    fs::write(folder.join(".gitignore"), "prog\n").expect("a file");
    fs::write(
        folder.join("Makefile"),
        "prog: prog.c\n\tcc -g -O1 -o prog prog.c\n",
    )
    .expect("a file");
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "init.defaultBranch=main",
        ]);
        let output = git.args(words).current_dir(folder).output().expect("git");
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let source = fs::read_to_string(folder.join("prog.c")).expect("a file");
    let of = |size: &str| {
        source
            .replace("atoi(v[1])", size)
            .replace("int c, char **v", "void")
    };
    git(&["init", "-q"]);
    for size in ["65536", "1024"] {
        fs::write(folder.join("prog.c"), of(size)).expect("a file");
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", size]);
    }
}

#[test]
fn revisions_are_profiled_with_their_sources_and_history_follows_them() {
    let folder = TempDir::new().expect("a folder");
    repository(folder.path());
    let words = [
        "--rev",
        "HEAD~1",
        "--rev",
        ".",
        "--setup",
        "make",
        "--no-measure",
        "--as",
        "saw",
        "--runs",
        "kept",
    ];
    let page = [
        &words[..],
        &["--format", "html", "--output", "page.html", "--", "./prog"],
    ]
    .concat();
    let output = profile(folder.path(), &page);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("200 × 1,024 = 204,800 write misses"));
    assert!(
        page.contains("volatile char *p = malloc(n);"),
        "the page must show the line that allocates"
    );
    assert!(
        page.contains("for (size_t j = 0; j &lt; n; j++) p[j] = i;"),
        "the page must show the line with the misses"
    );
    assert!(page.contains("data-flame") && page.contains("script-src 'sha256-"));
    let svg = [
        &words[..],
        &["--format", "svg", "--output", "plots", "--", "./prog"],
    ]
    .concat();
    assert!(profile(folder.path(), &svg).status.success());
    let flame = fs::read_to_string(folder.path().join("plots/flame-head-1-allocated-bytes.svg"));
    let flame = flame.expect("a flame graph");
    assert!(
        flame.contains("<title>main: 12.5 MiB, 100.0 %</title>") && flame.contains("<script>"),
        "{flame}"
    );

    let mut history = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    history
        .args(["history", "saw", "--full", "--runs", "kept"])
        .current_dir(folder.path());
    let screen = text(&history.output().expect("benchlab").stdout);
    assert!(
        screen.contains("History of saw: 2 runs")
            && screen.contains("Profiles")
            && !screen.contains("There are no runs"),
        "{screen}"
    );
    assert!(
        screen.contains("12.5") && screen.contains("No metric changed"),
        "{screen}"
    );
}

#[test]
fn crashing_and_forking_programs_are_shown_as_far_as_possible() {
    let folder = TempDir::new().expect("a folder");
    let source = "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\nint main(void) {\n\
                  volatile char *p = malloc(5000); p[0] = 1;\nif (fork() == 0) _exit(0);\nwait(0); abort(); }\n";
    fs::write(folder.path().join("crash.c"), source).expect("a file");
    let built = Command::new("cc")
        .args(["-g", "-o", "crash", "crash.c"])
        .current_dir(folder.path())
        .status();
    assert!(built.expect("cc").success());
    let output = profile(
        folder.path(),
        &["--no-measure", "--full", "--runs", "kept", "--", "./crash"],
    );
    let screen = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        screen.contains("ended by SIGABRT; its profile ends there"),
        "{screen} {}",
        text(&output.stderr)
    );
    assert!(screen.contains("1 child process"), "{screen}");
    assert!(screen.contains("allocated 4.88 KiB"), "{screen}");
    // The totals of a part of a program decide nothing.
    let gate = [
        "--no-measure",
        "--only",
        "cachegrind",
        "--fail-if",
        "Ir>+5%",
    ];
    let judge = |commands: [&str; 2]| {
        let output = profile(folder.path(), &[&gate[..], &commands].concat());
        (output.status.code(), text(&output.stdout))
    };
    let programs = [
        ["/bin/ls /usr/bin", "./crash"],
        ["/bin/ls /usr/bin", "/bin/ls /usr/bin /does-not-exist"],
        ["./work 10000", "./work 90000"],
    ];
    script(folder.path(), "work", "seq $1 >/dev/null; exit 0");
    for commands in programs {
        let (code, screen) = judge(commands);
        assert_eq!(code, Some(4), "{commands:?}: {screen}");
    }
}

/// Writes an executable shell script.
fn script(folder: &Path, name: &str, body: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn the_folder_for_the_run_file_need_not_be_utf_8() {
    let folder = TempDir::new().expect("a folder");
    let runs = OsStr::from_bytes(b"m\xe9sures");
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command.args(["profile", "--no-measure", "--only", "dhat", "--runs"]);
    command.arg(runs).args(["--", "/bin/true"]);
    let output = command.current_dir(folder.path()).output();
    let output = output.expect("benchlab");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let files = fs::read_dir(folder.path().join(runs)).expect("the folder");
    assert_eq!(files.count(), 1);
}

#[test]
fn files_of_an_earlier_run_are_not_those_of_child_processes() {
    let folder = TempDir::new().expect("a folder");
    let args = [
        "--no-measure",
        "--full",
        "--only",
        "dhat",
        "--keep",
        "out",
        "--",
        "/bin/true",
    ];
    for _ in 0..2 {
        let output = profile(folder.path(), &args);
        let screen = text(&output.stdout);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(!screen.contains("child process"), "{screen}");
    }
}

#[test]
fn programs_that_take_too_long_are_stopped_and_shown() {
    let folder = TempDir::new().expect("a folder");
    let output = profile(
        folder.path(),
        &[
            "--no-measure",
            "--full",
            "--runs",
            "kept",
            "--time-limit",
            "2s",
            "--as",
            "slow",
            "--fail-if",
            "Ir>1000000000",
            "--fail-if",
            "total>1GB",
            "--",
            "sleep",
            "60",
        ],
    );
    let screen = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        screen.contains("exceeded --time-limit"),
        "{screen} {}",
        text(&output.stderr)
    );
    // The totals of a part of the program decide nothing.
    assert_eq!(output.status.code(), Some(4), "{screen}");
    let unknown = screen.matches("only a part of the program, so its total is unknown");
    assert!(unknown.count() >= 2, "{screen}");
    let mut history = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    history.args(["history", "slow", "--full", "--runs", "kept"]);
    let history = history
        .current_dir(folder.path())
        .output()
        .expect("benchlab");
    let shown = text(&history.stdout);
    assert!(!shown.contains("Profiles"), "{shown}");
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = TempDir::new().expect("a folder");
    let temporary = TempDir::new().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    // No other test sleeps for this long, in this program or in a concurrent one.
    let unusual = &format!("61.{}", std::process::id());
    command
        .args(["profile", "--", "sleep", unusual])
        .current_dir(folder.path())
        .env("TMPDIR", temporary.path());
    let mut lab = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("benchlab");
    let running = || {
        let processes = fs::read_dir("/proc").expect("/proc").flatten();
        let lines = processes.filter_map(|p| fs::read(p.path().join("cmdline")).ok());
        lines
            .filter(|line| text(line).contains(unusual) && text(line).contains("--tool="))
            .count()
    };
    wait_until("Valgrind runs", || running() > 0);
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().expect("benchlab").code(), Some(130));
    wait_until("the end of Valgrind", || running() == 0);
    let leftover = fs::read_dir(temporary.path()).expect("the file exists");
    let leftover: Vec<_> = leftover.flatten().map(|entry| entry.file_name()).collect();
    assert!(leftover.is_empty(), "{leftover:?}");
}
