// SPDX-License-Identifier: Apache-2.0
//! `benchlab load`: the requests that it sends, its counts, its run file, and its exit codes.

mod faults;
mod long;
mod requests_sent;
mod stopped;
mod tls;
mod turns;
mod two_loads;
pub mod web;

use crate::project::{Outcome, Project};
use lab_model::{ErrorKind, PointId, Run, Slice, SubjectId};
use web::{Behavior, Web};

/// Options for a short load that has all steps of a long load.
///
/// Disturbed blocks are not repeated, so that the number of requests does not depend on other
/// programs.
const SHORT: [&str; 7] = [
    "--redo",
    "0",
    "--for",
    "1s",
    "--connections",
    "4",
    "--seed=7",
];

/// Options for servers that respond. The timeout is long because a busy machine delays responses.
const LONG_TIMEOUT: [&str; 2] = ["--timeout", "60s"];

/// Options for servers that do not respond. On a busy machine, even a working server may exceed this
/// timeout.
const SHORT_TIMEOUT: [&str; 2] = ["--timeout", "1s"];

/// A directory in which servers are loaded.
struct TestDirectory(Project);

impl TestDirectory {
    fn new() -> TestDirectory {
        TestDirectory(Project::noop(&[]))
    }

    fn load(&self, urls: &[&str], more: &[&str]) -> Outcome {
        self.load_within(&LONG_TIMEOUT, urls, more)
    }

    /// Puts servers under load with a timeout option.
    fn load_within(&self, timeout: &[&str], urls: &[&str], more: &[&str]) -> Outcome {
        let words = [&["load"], urls, &SHORT[..], timeout, more];
        self.0.call(&words.concat())
    }

    fn slices(&self) -> Vec<Slice> {
        let run = self.0.load();
        let blocks = run.complete_blocks();
        blocks.flat_map(|block| block.slices.clone()).collect()
    }
}

/// Returns the number of served requests, and the errors by kind, in all blocks, including redone blocks.
///
/// Also asserts that every offered request is either served or an error.
#[track_caller]
pub fn sums(run: &Run) -> (u64, Vec<(ErrorKind, u64)>) {
    let slices = || run.blocks.iter().flat_map(|block| &block.slices);
    let served: u64 = slices().map(|s| s.served).sum();
    let of = |kind| {
        let errors = slices().flat_map(|s| &s.errors);
        let counts = errors.filter(|(k, _)| *k == kind).map(|(_, n)| n);
        (kind, counts.sum::<u64>())
    };
    let errors = ErrorKind::ALL.map(of).into_iter().filter(|(_, n)| *n > 0);
    let errors: Vec<_> = errors.collect();
    let offered: u64 = slices().map(|s| s.offered).sum();
    let failed: u64 = errors.iter().map(|(_, n)| n).sum();
    assert_eq!(offered, served + failed, "offered = served + errors");
    for slice in slices() {
        assert_eq!(
            slice.response.counts().total(),
            slice.served,
            "each served request has a time"
        );
        assert_eq!(slice.service.counts().total(), slice.served);
    }
    (served, errors)
}

#[test]
fn a_load_is_stored_slice_by_slice_and_shown_in_every_format() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let files =
        ["r.json", "r.csv", "r.md", "r.xlsx", "plots/", "r.hlog"].map(|f| directory.0.join(f));
    let names = files.each_ref().map(|f| f.to_str().unwrap());
    let exports: Vec<&str> = names[..5].iter().flat_map(|f| ["--export", *f]).collect();
    let outcome = directory.load(
        &[&web.url("/a?b=c#d")],
        &[&exports[..], &["--hlog", names[5]]].concat(),
    );
    outcome.expect(0).says(&["the report is in "]);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(lab_model::Ending::Blocks));
    assert_eq!(run.complete_blocks().count(), 10, "each slice is a block");
    let (served, errors) = sums(&run);
    assert_eq!(errors, []);
    assert_eq!(
        web.requests() as u64,
        served + 1,
        "the first request checks that the server responds"
    );
    assert!(
        web.received()[0].starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:"),
        "{:?}",
        web.received()[0]
    );
    let plan = run.plan().expect("a plan");
    assert_eq!(
        plan.subjects[SubjectId(0)].name,
        format!("http://{}", web.address)
    );
    assert_eq!(plan.label(PointId(0)), "connections=4");
    assert!(outcome.stdout.contains("Response time") && !outcome.stdout.contains('\u{1b}'));
    for file in &files {
        assert!(file.exists(), "{}", file.display());
    }
    assert!(directory.0.file().with_extension("html").exists());
    let log = std::fs::read_to_string(&files[5]).unwrap();
    assert!(
        log.starts_with("#[Histogram log format version 1.3]"),
        "{log}"
    );
    assert_eq!(
        log.lines()
            .filter(|l| l.starts_with("Tag=response,"))
            .count(),
        10
    );
}

/// Compares two runs, which represent a site before and after a change.
#[test]
fn response_times_of_two_runs_are_shown_side_by_side() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    for _ in 0..2 {
        directory.load(&[&web.url("/")], &[]).expect(0);
    }
    let files = directory.0.files();
    let files: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
    let outcome = directory
        .0
        .call(&[&["diff"], &*files, &["--full"]].concat());
    outcome.expect(0).shows(&["p50", "p90", "second / first"]);
    // Options of a new measurement do not apply to run files.
    let rate = ["--connections", "3"];
    directory
        .0
        .call(&[&["diff"], &*files, &rate].concat())
        .expect(2);
}

/// The audit compares the number of connections that a load opened with the number of ports of this
/// host.
#[test]
fn a_host_audit_knows_the_connections_of_the_last_load() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Closes));
    let ports = || {
        let outcome = directory.0.call(&["audit", "host", "--no-run", "--full"]);
        let words = outcome.expect(0).stdout.split_whitespace();
        let screen: String = words.collect::<Vec<_>>().join(" ");
        let (_, text) = screen
            .split_once("The last load from this host: ")
            .expect("ports");
        text.to_owned()
    };
    assert!(ports().starts_with("unknown"));
    directory.load(&[&web.url("/")], &[]).expect(0);
    let text = ports();
    let rate = text.split("connections/s").next().unwrap_or_default();
    let rate: f64 = rate.trim().replace(',', "").parse().expect("a rate");
    assert!(rate > 0.0, "{text}");
}

#[test]
fn without_a_terminal_there_is_a_line_per_second() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let outcome = directory.0.call(&[
        "load",
        &url,
        "--for",
        "2s",
        "-c",
        "2",
        "--redo",
        "0",
        "--timeout",
        "60s",
    ]);
    let lines = outcome
        .expect(0)
        .stderr
        .lines()
        .filter(|l| l.contains(" p99 "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 2, "{}", outcome.stderr);
    for line in lines {
        assert!(
            line.starts_with("benchlab: ") && line.ends_with("no errors"),
            "{line}"
        );
        assert!(
            line.contains("/s  p50 ") && !line.contains('\u{1b}'),
            "{line}"
        );
    }
}

/// The view is on the terminal during the load and is removed afterwards.
#[test]
fn on_a_terminal_a_view_is_redrawn_and_cleared() {
    let (directory, web) = (TestDirectory::new(), Web::after(5, Behavior::Unavailable));
    for no_color in ["", "1"] {
        let (output, code) = crate::progress::on_terminal(
            &directory
                .0
                .command(&["load", &web.url("/"), "--for=2s", "-c2"]),
            &[("NO_COLOR", no_color)],
        );
        assert!([Some(0), Some(1)].contains(&code), "{output}");
        assert!(
            output.contains("last second") && output.contains("generator "),
            "{output:?}"
        );
        assert_eq!(
            output.contains("\u{1b}[31m"),
            no_color.is_empty(),
            "{output:?}"
        );
        let screen = crate::progress::screen(&output);
        let leftover = crate::progress::leftover(&screen);
        assert!(leftover.is_empty(), "{screen:#?}");
    }
}
