// SPDX-License-Identifier: Apache-2.0
//! A load that is stopped or killed keeps everything that was measured until then.

use super::{Manner, Place, Web, sums};
use crate::progress::{at_terminal, screen};
use crate::project::{outcome, send_signal, wait_until};
use lab_model::{Ending, ErrorKind};
use nix::sys::signal::Signal;
use std::io::Write;
use std::process::Child;

/// The character of an interrupt on a terminal (termios(3), VINTR).
const CTRL_C: u8 = 3;

/// Starts a load with slices of 1 s, and waits until two are in the run file.
fn start_load(place: &Place, words: &[&str]) -> Child {
    let lab = place
        .0
        .start(&[&["load"], words, &["--for", "60s", "-c", "2"]].concat());
    wait_until("two slices", || place.0.has_blocks(2));
    lab
}

#[test]
fn ctrl_c_ends_a_load_with_a_report() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let lab = start_load(&place, &[&web.url("/")]);
    send_signal(lab.id() as i32, Signal::SIGINT);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(130)
        .says(&["stopped; what was measured until then is kept and shown"]);
    assert!(
        outcome.stdout.contains("Response time"),
        "{}",
        outcome.stdout
    );
    let run = place.0.load();
    // It has not ended: it can be resumed.
    assert_eq!(run.ending, None);
    let (served, errors) = sums(&run);
    // The requests in flight when the load was stopped.
    let unfinished: u64 = errors.iter().map(|(_, n)| n).sum();
    assert!(
        errors
            .iter()
            .all(|(kind, n)| *kind == ErrorKind::Unfinished && *n <= 2),
        "{errors:?}"
    );
    assert_eq!(web.requests() as u64, served + unfinished + 1);
    let file = place.0.file();
    let file = file.to_str().unwrap();
    place.0.call(&["report", file]).expect(0);
}

#[test]
fn a_load_that_was_stopped_is_resumed_to_its_length() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let url = web.url("/");
    let lab = place.0.start(&["load", &url, "--for", "3s", "-c", "2"]);
    wait_until("two slices", || place.0.has_blocks(2));
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["continue with `benchlab resume "]);
    let blocks_before = place.0.load().complete_blocks().count();
    let file = place.0.file();
    let file = file.to_str().unwrap();
    let resumed = place.0.call(&["resume", file]);
    resumed.expect(0);
    let run = place.0.load();
    let blocks = run.plan().unwrap().measure.max_blocks;
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_eq!(run.complete_blocks().count(), blocks as usize);
    assert!(blocks_before < blocks as usize);
    place
        .0
        .call(&["resume", file])
        .expect(2)
        .says(&["is complete"]);
}

#[test]
fn a_load_whose_requests_are_kept_nowhere_cannot_be_resumed() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let lab = start_load(&place, &[&web.url("/"), "-H", "Authorization: secret"]);
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped.expect(130);
    assert!(!stopped.stderr.contains("benchlab resume"), "{stopped:?}");
    let file = place.0.file();
    let resumed = place.0.call(&["resume", file.to_str().unwrap()]);
    resumed
        .expect(2)
        .says(&["cannot be resumed", "a header", "start the load again"]);
    assert_eq!(place.0.load().ending, Some(Ending::Interrupted));
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(6).any(|word| word == b"secret"));
}

/// The keys go to the terminal, and the view leaves it as it was.
#[test]
fn ctrl_c_at_a_terminal_clears_the_view() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let load = place
        .0
        .command(&["load", &web.url("/"), "--for", "60s", "-c", "2"]);
    let (output, code) = at_terminal(&load, &[], |keyboard| {
        wait_until("two slices", || place.0.has_blocks(2));
        keyboard.write_all(&[CTRL_C]).unwrap();
        keyboard.flush().unwrap();
        wait_until("the end", || {
            lab_store::load(&place.0.file()).is_ok_and(|run| run.lab_cost.is_some())
        });
    });
    assert_eq!(code, Some(130), "{output}");
    assert!(
        output.contains("last second"),
        "the view was there: {output}"
    );
    let screen = screen(&output);
    // The terminal itself shows which key was hit.
    let leftover = screen.iter().map(|line| line.trim_start_matches("^C"));
    let leftover: Vec<&str> = leftover
        .filter(|line| !line.is_empty() && !line.starts_with("benchlab: "))
        .collect();
    assert!(leftover.is_empty(), "{screen:#?}");
    assert!(
        screen
            .iter()
            .any(|line| line.contains("stopped; what was measured")),
        "{screen:#?}"
    );
    let hidden = output.matches("\u{1b}[?25l").count();
    assert_eq!(output.matches("\u{1b}[?25h").count(), hidden, "the cursor");
    let run = place.0.load();
    assert_eq!(run.ending, None);
    assert!(sums(&run).0 > 0);
}

/// Also in turns, whose block is not whole then.
#[test]
fn ctrl_c_ends_turns() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let (url, other) = (web.url("/"), web.url("/other"));
    let lab = place.0.start(&[
        "load",
        "--in-turns",
        &url,
        &other,
        "--for",
        "60s",
        "--connections",
        "2",
    ]);
    wait_until("a block", || place.0.has_blocks(1));
    send_signal(lab.id() as i32, Signal::SIGINT);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome.expect(130);
    let run = place.0.load();
    assert_eq!(run.ending, None);
    assert!(run.complete_blocks().all(|block| block.slices.len() == 4));
}

#[test]
fn a_killed_load_can_be_read() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let mut lab = start_load(&place, &[&web.url("/")]);
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    let file = place.0.file();
    let report = place.0.call(&["report", file.to_str().unwrap()]);
    report.expect(0);
    assert!(report.stdout.contains("Response time"), "{}", report.stdout);
    let run = place.0.load();
    assert_eq!(run.ending, None);
    let slices = || run.complete_blocks().flat_map(|block| &block.slices);
    let (offered, served) = slices().fold((0, 0), |(o, s), slice| {
        (o + slice.offered, s + slice.served)
    });
    // Requests under way when it was killed have no end.
    assert!(
        served > 0 && (served..=served + 2).contains(&offered),
        "{served} of {offered}"
    );
}
