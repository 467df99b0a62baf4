// SPDX-License-Identifier: Apache-2.0
//! Tests the example as a process: its streams, its thread, its exit.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Starts the example. Examples are next to the directory of the test programs.
fn start() -> Child {
    let test: PathBuf = env::current_exe().unwrap();
    let example = test
        .parent()
        .unwrap()
        .with_file_name("examples")
        .join("parse");
    Command::new(example)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn replies_until_quit_and_exits_successfully() {
    let mut subject = start();
    let mut commands = subject.stdin.take().unwrap();
    let mut replies = BufReader::new(subject.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert_eq!(
        replies.next().unwrap(),
        "Log lines may come before the first reply."
    );
    let hello = replies.next().unwrap();
    assert!(
        hello.contains(&format!(" thread={} ", subject.id())),
        "{hello}"
    );
    for (command, reply) in [
        ("open case=parse seed=7 most=99", "@lab opened longest=2"),
        (
            "verify operations=3",
            "@lab verified operations=3 units=3 check=137",
        ),
        ("close", "@lab closed"),
    ] {
        writeln!(commands, "{command}").unwrap();
        assert_eq!(replies.next().unwrap(), reply);
    }
    writeln!(commands, "quit").unwrap();
    assert_eq!(replies.next(), None);
    assert!(subject.wait().unwrap().success());
}

#[test]
fn the_end_of_the_input_is_a_successful_exit() {
    let mut subject = start();
    drop(subject.stdin.take());
    assert!(subject.wait().unwrap().success());
}
