// SPDX-License-Identifier: Apache-2.0
//! A load that is stopped or killed keeps its results so far.

use super::{Behavior, TestDirectory, Web, sums};
use crate::progress::{at_terminal, screen};
use crate::project::{outcome, send_signal, wait_until};
use lab_model::{Block, BlockState, Ending, ErrorKind, Run};
use nix::sys::signal::Signal;
use std::io::Write;
use std::process::Child;

/// The character that interrupts a program on a terminal (termios(3), VINTR).
const CTRL_C: u8 = 3;

/// A timeout option for servers that respond, possibly only after a long time on a busy machine.
const PATIENT: [&str; 2] = ["--timeout", "60s"];

/// Options for a load with slices of 1 s that takes far longer than its first slices and sends few
/// requests.
const UNFINISHED: [&str; 6] = [
    "--for=12s",
    "--rate=40",
    "-c=2",
    "--redo=0",
    "--timeout",
    "60s",
];

/// Starts a load with slices of 1 s, and waits until two are in the run file.
fn start_load(directory: &TestDirectory, words: &[&str]) -> Child {
    let lab = directory
        .0
        .start(&[&["load"], words, &["--for", "60s", "-c", "2"], &PATIENT].concat());
    wait_until("two slices", || directory.0.has_blocks(2));
    lab
}

#[test]
fn ctrl_c_ends_a_load_with_a_report() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = start_load(&directory, &[&web.url("/")]);
    send_signal(lab.id() as i32, Signal::SIGINT);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(130)
        .says(&["stopped; the results so far are saved and shown"]);
    assert!(
        outcome.stdout.contains("Response time"),
        "{}",
        outcome.stdout
    );
    let run = directory.0.load();
    // The run has not ended: it can be resumed.
    assert_eq!(run.ending, None);
    // The slice that was cut off does not count, because it will be measured again.
    assert_eq!(run.blocks.last().unwrap().state, BlockState::Incomplete);
    assert!(has_no_errors(&run));
    let (served, errors) = sums(&run);
    // These requests were in flight when the load was stopped.
    let unfinished: u64 = errors.iter().map(|(_, n)| n).sum();
    assert!(
        errors
            .iter()
            .all(|(kind, n)| *kind == ErrorKind::Unfinished && *n <= 2),
        "{errors:?}"
    );
    assert_eq!(web.requests() as u64, served + unfinished + 1);
    let file = directory.0.file();
    let file = file.to_str().unwrap();
    directory.0.call(&["report", file]).expect(0);
}

#[test]
fn a_stopped_load_is_resumed_to_its_full_length() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let lab = directory
        .0
        .start(&[&["load", &url], &UNFINISHED[..]].concat());
    wait_until("two slices", || directory.0.has_blocks(2));
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["continue with `benchlab resume "]);
    let blocks_before = directory.0.load().complete_blocks().count();
    let file = directory.0.file();
    let file = file.to_str().unwrap();
    let resumed = directory.0.call(&["resume", file]);
    resumed.expect(0);
    let run = directory.0.load();
    let blocks = run.plan().unwrap().measure.max_blocks;
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_eq!(run.complete_blocks().count(), blocks as usize);
    assert!(blocks_before < blocks as usize);
    // No slice is shorter than planned, and no request was lost when the load was stopped.
    let slices = || run.complete_blocks().flat_map(|block| &block.slices);
    assert!(slices().all(|slice| slice.wall_ns == 1_000_000_000));
    assert!(has_no_errors(&run));
    directory
        .0
        .call(&["resume", file])
        .expect(2)
        .says(&["is complete"]);
}

/// The secrets of a load, in the form in which they are sent.
const SECRETS: [&str; 3] = ["hunter2", "sesame", "c0ffee"];

/// Asserts that neither the texts nor the files in the run's directory contain a secret.
#[track_caller]
fn holds_no_secret(directory: &TestDirectory, texts: &[&str]) {
    let folder = directory.0.file().parent().unwrap().to_path_buf();
    let files = std::fs::read_dir(folder).unwrap();
    let contents = files.map(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let contents: Vec<String> = contents.collect();
    let texts = texts.iter().map(|text| (*text).to_owned());
    let all: Vec<String> = contents.into_iter().chain(texts).collect();
    // The last one is me:hunter2 in Base64.
    for secret in SECRETS.into_iter().chain(["bWU6aHVudGVyMg"]) {
        assert!(all.iter().all(|text| !text.contains(secret)), "{secret}");
    }
}

/// Returns true if no request failed. Requests in flight when the load was killed do not count.
fn has_no_errors(run: &Run) -> bool {
    let mut slices = run.complete_blocks().flat_map(|block| &block.slices);
    slices.all(|slice| slice.errors.is_empty())
}

#[test]
fn a_killed_load_asks_for_its_secrets_again() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = format!("http://me:hunter2@{}/", web.address);
    let options = [
        &url,
        "--header=X-Token: sesame",
        "--header=Accept: text/plain",
        "--body=key=c0ffee",
    ];
    let mut lab = directory
        .0
        .start(&[&["load"], &options[..], &UNFINISHED].concat());
    wait_until("two slices", || directory.0.has_blocks(2));
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    holds_no_secret(&directory, &[]);
    let blocks_before = directory.0.load().complete_blocks().count();
    let file = directory.0.file();
    let file = file.to_str().unwrap();
    let asks = directory.0.call(&["resume", file]);
    asks.expect(2).says(&[
        "--header 'X-Token: …', or BENCHLAB_HEADER_X_TOKEN in the environment",
        "--body or --body-file with its 10 bytes, or BENCHLAB_BODY in the environment",
        "--user NAME:PASSWORD",
        "or BENCHLAB_USER in the environment",
    ]);
    assert_eq!(directory.0.load().complete_blocks().count(), blocks_before);
    let resume = ["resume", file, "--header=X-Token: sesame"];
    directory
        .0
        .call(&[&resume[..], &["--user=me:hunter2", "--body=c0ffee"]].concat())
        .expect(2)
        .says(&["the body has 6 bytes, but had 10 when the load began"]);
    directory
        .0
        .call(&[&resume[..], &["--header=X-Other: x"]].concat())
        .expect(2)
        .says(&["the load has no header `X-Other`"]);
    let sent_before = web.received();
    // One secret comes from an option, the others from the environment.
    let resumed = directory
        .0
        .command(&resume)
        .env("BENCHLAB_BODY", "key=c0ffee")
        .env("BENCHLAB_USER", "me:hunter2")
        .output();
    let resumed = outcome(resumed.unwrap());
    resumed.expect(0);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Blocks));
    let blocks = run.plan().unwrap().measure.max_blocks as usize;
    assert_eq!(run.complete_blocks().count(), blocks);
    assert!((2..blocks).contains(&blocks_before));
    assert!(has_no_errors(&run));
    let first = &sent_before[0];
    for part in [
        "POST / HTTP/1.1\r\n",
        "Authorization: Basic bWU6aHVudGVyMg==\r\n",
        "X-Token: sesame\r\n",
        "Accept: text/plain\r\n",
        "\r\n\r\nkey=c0ffee",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(web.last().is_some_and(|last| last == *first));
    holds_no_secret(
        &directory,
        &[&asks.stderr, &resumed.stdout, &resumed.stderr],
    );
}

#[test]
fn a_resumed_load_reads_its_files_again() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let (requests, body) = (directory.0.join("requests.http"), directory.0.join("body"));
    let text = "GET /one\nX-Token: sesame\n\n###\nPUT /two\n\nkey=c0ffee\n";
    std::fs::write(&requests, text).unwrap();
    std::fs::write(&body, "c0ffee").unwrap();
    let options = [
        ["--requests", requests.to_str().unwrap()],
        ["--body-file", body.to_str().unwrap()],
    ];
    for (option, changed) in options
        .iter()
        .zip([text.replace("/two", "/three"), "c0ffe".into()])
    {
        let directory = TestDirectory::new();
        let url = format!("http://me:hunter2@{}/", web.address);
        let load = [&["load", &url], &option[..], &UNFINISHED].concat();
        let mut lab = directory.0.start(&load);
        wait_until("two slices", || directory.0.has_blocks(2));
        send_signal(lab.id() as i32, Signal::SIGKILL);
        lab.wait().unwrap();
        let file = directory.0.file();
        let resume = ["resume", file.to_str().unwrap(), "--user=me:hunter2"];
        directory
            .0
            .call(&resume[..2])
            .expect(2)
            .says(&["--user NAME:PASSWORD"]);
        let original = std::fs::read(option[1]).unwrap();
        std::fs::write(option[1], changed).unwrap();
        directory
            .0
            .call(&resume)
            .expect(2)
            .says(&["the load began"]);
        std::fs::write(option[1], original).unwrap();
        directory.0.call(&resume).expect(0);
        let run = directory.0.load();
        assert_eq!(run.ending, Some(Ending::Blocks));
        assert!(has_no_errors(&run));
        holds_no_secret(&directory, &[]);
    }
    let received = web.received();
    assert!(
        received
            .iter()
            .all(|sent| sent.contains("Authorization: Basic bWU6aHVudGVyMg==\r\n")),
        "{received:?}"
    );
}

/// A load that cannot be resumed keeps the part of its last slice before the stop.
#[test]
fn ctrl_c_ends_a_load_whose_rate_changes() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = start_load(&directory, &[&web.url("/"), "--stages=10:90:60s"]);
    send_signal(lab.id() as i32, Signal::SIGINT);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome.expect(130).shows(&["Response time"]);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Interrupted));
    let counts = |b: &Block| b.state == BlockState::Complete || b.slices.is_empty();
    assert!(run.blocks.iter().all(counts));
    let (served, errors) = sums(&run);
    let failed: u64 = errors.iter().map(|(_, n)| n).sum();
    // The last requests may have been due, but not sent.
    let sent = web.requests() as u64 - 1;
    assert!((served..=served + failed).contains(&sent));
}

#[test]
fn a_load_whose_rate_changes_cannot_be_resumed() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = start_load(&directory, &[&web.url("/"), "--stages=10:90:60s"]);
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    let file = directory.0.file();
    let resumed = directory.0.call(&["resume", file.to_str().unwrap()]);
    resumed.expect(2).says(&[
        "cannot be resumed: the load's rate changes over time",
        "start a new load",
    ]);
}

/// Keys are read from the terminal, which is restored afterwards.
#[test]
fn ctrl_c_at_a_terminal_clears_the_view() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let load = directory
        .0
        .command(&["load", &web.url("/"), "--for", "60s", "-c", "2"]);
    let (output, code) = at_terminal(&load, &[], |keyboard| {
        wait_until("two slices", || directory.0.has_blocks(2));
        keyboard.write_all(&[CTRL_C]).unwrap();
        keyboard.flush().unwrap();
        wait_until("the end", || {
            lab_store::load(&directory.0.file()).is_ok_and(|run| run.lab_cost.is_some())
        });
    });
    assert_eq!(code, Some(130), "{output}");
    assert!(
        output.contains("last second"),
        "the view was not shown: {output}"
    );
    let screen = screen(&output);
    let leftover = crate::progress::leftover(&screen);
    assert!(leftover.is_empty(), "{screen:#?}");
    assert!(
        screen
            .iter()
            .any(|line| line.contains("stopped; the results so far")),
        "{screen:#?}"
    );
    let hidden = output.matches("\u{1b}[?25l").count();
    assert_eq!(output.matches("\u{1b}[?25h").count(), hidden, "the cursor");
    let run = directory.0.load();
    assert_eq!(run.ending, None);
    assert!(sums(&run).0 > 0);
}

/// A load of multiple servers in turns can be stopped, too. Its last block is then incomplete.
#[test]
fn ctrl_c_ends_turns() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let (url, other) = (web.url("/"), web.url("/other"));
    let lab = directory.0.start(&[
        "load",
        "--in-turns",
        &url,
        &other,
        "--for",
        "60s",
        "--connections",
        "2",
        "--timeout",
        "60s",
    ]);
    wait_until("a block", || directory.0.has_blocks(1));
    send_signal(lab.id() as i32, Signal::SIGINT);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome.expect(130);
    let run = directory.0.load();
    assert_eq!(run.ending, None);
    assert!(run.complete_blocks().all(|block| block.slices.len() == 4));
}

#[test]
fn a_killed_load_can_be_read() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = start_load(&directory, &[&web.url("/")]);
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    let file = directory.0.file();
    let report = directory.0.call(&["report", file.to_str().unwrap()]);
    report.expect(0);
    assert!(report.stdout.contains("Response time"), "{}", report.stdout);
    let run = directory.0.load();
    assert_eq!(run.ending, None);
    let slices = || run.complete_blocks().flat_map(|block| &block.slices);
    let (offered, served) = slices().fold((0, 0), |(o, s), slice| {
        (o + slice.offered, s + slice.served)
    });
    // Requests that were in flight when benchlab was killed have no result.
    assert!(
        served > 0 && (served..=served + 2).contains(&offered),
        "{served} of {offered}"
    );
}
