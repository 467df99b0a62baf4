// SPDX-License-Identifier: Apache-2.0
//! `benchlab watch` on logs that were rotated between a statement and its duration, and on what their lines leave open.

use crate::project::outcome;
use crate::watch::Place;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

const STATEMENT: &str = "2026-05-01 10:00:00.000 UTC [7] LOG:  statement: SELECT *\n";
const REST: &str = "\tFROM item WHERE id = 1\n\
                    2026-05-01 10:00:00.250 UTC [7] LOG:  duration: 250.000 ms\n";

impl Place {
    /// Asserts that the only query is the statement with its duration.
    fn expect_statement(&self) {
        let watched = self.0.load().watched.unwrap();
        let pages = watched.pages.iter();
        let found: Vec<_> = pages
            .map(|p| (p.name.as_str(), p.requests, p.timed, p.total_ns))
            .collect();
        let name = "SELECT * FROM item WHERE id = ?";
        assert_eq!(found, [(name, 1, 1, 250_000_000)]);
        assert_eq!((watched.lines.all, watched.lines.entries), (3, 1));
    }
}

#[test]
fn a_statement_and_its_duration_are_one_in_two_rotated_files() {
    type Words = fn(&str) -> Vec<String>;
    let rotated: Words = |log| vec!["--rotated".into(), log.into()];
    let in_order: Words = |log| vec![format!("{log}.1"), log.into()];
    let by_an_agent: Words = |log| {
        let words = ["--on", "local:1", "--rotated", log];
        words.map(String::from).to_vec()
    };
    for words in [rotated, in_order, by_an_agent] {
        let place = Place::new();
        place.file("postgresql.log.1", STATEMENT);
        let log = place.file("postgresql.log", REST);
        let words = words(&log);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.watch(&words).expect(0);
        place.expect_statement();
    }
}

#[test]
fn a_statement_and_its_duration_are_one_where_a_followed_log_is_rotated() {
    let place = Place::new();
    let log = place.file("postgresql.log", STATEMENT);
    let child = place.0.start(&["watch", "--follow", &log]);
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::rename(&log, place.0.join("postgresql.log.1")).unwrap();
    place.file("postgresql.log", REST);
    std::thread::sleep(Duration::from_millis(1500));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    outcome(child.wait_with_output().unwrap()).expect(0);
    place.expect_statement();
}

#[test]
fn days_and_fields_go_on_in_the_next_file() {
    let place = Place::new();
    let head = "#Software: Microsoft Internet Information Services 10.0\n#Date: 2026-05-01 23:59:00\n\
                #Fields: time cs-method cs-uri-stem sc-status time-taken\n23:59:59 GET /a 200 5\n";
    place.file("u.log.1", head);
    let log = place.file("u.log", "00:00:01 GET /a 200 7\n00:00:02 GET /a 200 9\n");
    place.watch(&["--rotated", &log]).expect(0);
    let watched = place.0.load().watched.unwrap();
    let hours: Vec<_> = watched
        .hours
        .iter()
        .map(|h| (h.start_s, h.total_ns))
        .collect();
    let midnight = 1_777_680_000;
    assert_eq!(
        hours,
        [(midnight - 3600, 5_000_000), (midnight, 16_000_000)]
    );
}

/// An option of HAProxy writes lines before responses end, and a `+` before what is not all.
#[test]
fn a_lower_bound_passes_no_gate_on_an_upper_limit() {
    let place = Place::new();
    let line = |i: u64, plus: &str| {
        format!(
            "haproxy[1]: 10.0.1.2:33317 [01/May/2026:10:00:{:02}.655] in static/srv1 10/0/30/69/{plus}{} 200 {plus}2750 - - ---- 1/1/1/1/0 0/0 \"GET /a HTTP/1.1\"\n",
            i % 60,
            100 + i
        )
    };
    let log = |plus| (0..100).map(|i| line(i, plus)).collect::<String>();
    let (whole, early) = (
        place.file("whole.log", &log("")),
        place.file("early.log", &log("+")),
    );
    let gate = |gate: &str, file: &str| {
        place.watch(&["--no-keep", "--zone", "UTC", "--fail-if", gate, file])
    };
    for upper in ["p95>1s", "mean>1s", "max>1s"] {
        gate(upper, &whole).expect(0);
        let outcome = gate(upper, &early);
        outcome.expect(4).says(&["lower bounds", "logasap"]);
        outcome.shows(&["logasap"]);
    }
    // Whatever is missing, these are beyond their limits.
    gate("p95>150ms", &early).expect(3);
    gate("errors>1%", &early).expect(0);
}
