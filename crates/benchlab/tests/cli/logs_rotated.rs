// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs` on logs that were rotated between a statement and its duration, and on ambiguous lines.

use crate::logs::{TestDirectory, wait_until_read};
use crate::project::outcome;
use lab_model::LogAdvice;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const STATEMENT: &str = "2026-05-01 10:00:00.000 UTC [7] LOG:  statement: SELECT *\n";
const REST: &str = "\tFROM item WHERE id = 1\n\
                    2026-05-01 10:00:00.250 UTC [7] LOG:  duration: 250.000 ms\n";

impl TestDirectory {
    /// Asserts that the only query is the statement with its duration.
    fn expect_statement(&self) {
        let analysis = self.0.load().logs().unwrap().clone();
        let pages = analysis.pages.iter();
        let found: Vec<_> = pages
            .map(|p| (p.name.as_str(), p.requests, p.timed, p.total_ns))
            .collect();
        let name = "SELECT * FROM item WHERE id = ?";
        assert_eq!(found, [(name, 1, 1, 250_000_000)]);
        assert_eq!((analysis.lines.all, analysis.lines.entries), (3, 1));
    }
}

#[test]
fn a_statement_is_joined_to_its_duration_across_rotated_files() {
    type Words = fn(&str) -> Vec<String>;
    let rotated: Words = |log| vec!["--rotated".into(), log.into()];
    let in_order: Words = |log| vec![format!("{log}.1"), log.into()];
    let by_an_agent: Words = |log| {
        let words = ["--on", "local:1", "--rotated", log];
        words.map(String::from).to_vec()
    };
    for words in [rotated, in_order, by_an_agent] {
        let directory = TestDirectory::new();
        directory.file("postgresql.log.1", STATEMENT);
        let log = directory.file("postgresql.log", REST);
        let words = words(&log);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        directory.read(&words).expect(0);
        directory.expect_statement();
    }
}

#[test]
fn a_statement_is_joined_to_its_duration_if_a_followed_log_is_rotated() {
    let directory = TestDirectory::new();
    let log = directory.file("postgresql.log", STATEMENT);
    let child = directory.0.start(&["logs", "--follow", &log]);
    wait_until_read(&child, &log);
    std::fs::rename(&log, directory.0.join("postgresql.log.1")).unwrap();
    directory.file("postgresql.log", REST);
    wait_until_read(&child, &log);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    outcome(child.wait_with_output().unwrap()).expect(0);
    directory.expect_statement();
}

#[test]
fn days_and_fields_continue_in_the_next_file() {
    let directory = TestDirectory::new();
    let head = "#Software: Microsoft Internet Information Services 10.0\n#Date: 2026-05-01 23:59:00\n\
                #Fields: time cs-method cs-uri-stem sc-status time-taken\n23:59:59 GET /a 200 5\n";
    directory.file("u.log.1", head);
    let log = directory.file("u.log", "00:00:01 GET /a 200 7\n00:00:02 GET /a 200 9\n");
    directory.read(&["--rotated", &log]).expect(0);
    let analysis = directory.0.load().logs().unwrap().clone();
    let hours: Vec<_> = analysis
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

/// Returns the counts per page, sorted by name: name, requests, timed requests, sum of durations.
fn counted(directory: &TestDirectory) -> Vec<(String, u64, u64, u64)> {
    let pages = directory.0.load().logs().unwrap().clone().pages.into_iter();
    let mut counted: Vec<_> = pages
        .map(|p| (p.name, p.requests, p.timed, p.total_ns))
        .collect();
    counted.sort();
    counted
}

#[test]
fn a_duration_from_another_server_belongs_to_no_statement() {
    // Both logs have a process with ID 7, and the second log starts where the first one ends.
    for (one, other) in [
        ("db1.log", "db2.log"),
        ("pg-01.log", "pg-02.log"),
        ("one/postgresql.log", "two/postgresql.log"),
        ("one/postgresql.log.1", "two/postgresql.log"),
    ] {
        let directory = TestDirectory::new();
        ["one", "two"]
            .iter()
            .for_each(|folder| std::fs::create_dir(directory.0.join(folder)).unwrap());
        let statement = directory.file(one, STATEMENT);
        let rest = directory.file(other, REST);
        directory.read(&[&statement, &rest]).expect(0);
        let unknown = "(statement not in the log)".to_string();
        let counted = counted(&directory);
        let expected = [(unknown, 1, 1, 250_000_000), ("SELECT *".into(), 1, 0, 0)];
        assert_eq!(counted, expected, "{one} {other}");
    }
}

const SLOW: &str = "# Time: 2026-05-01T10:00:00.000000Z\n# User@Host: a[a] @ h []\n\
                    # Query_time: 0.250000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\n\
                    SET timestamp=1777629600;\nSELECT a\n";
const SLOW_REST: &str = "FROM t WHERE b = 1;\n# Time: 2026-05-01T10:00:01.000000Z\n# User@Host: a[a] @ h []\n\
                         # Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\n\
                         SET timestamp=1777629601;\nSELECT 2;\n";

#[test]
fn a_slow_statement_ends_with_its_log() {
    let second = ("SELECT ?".to_string(), 1, 1, 500_000_000);
    let whole = ("SELECT a FROM t WHERE b = ?".to_string(), 1, 1, 250_000_000);
    let cut = ("SELECT a".to_string(), 1, 1, 250_000_000);
    let complete = format!("{};\n", SLOW.trim_end());
    let banner = "/usr/sbin/mysqld, Version: 8.4.0 (Source). started with:\nTcp port: 3307  Unix socket: /x\n\
                  Time                 Id Command    Argument\n";
    let banner_first = format!("{banner}{SLOW_REST}");
    let earlier = SLOW_REST
        .replace("10:00:01", "08:00:01")
        .replace("629601", "622401");
    for (files, texts, first) in [
        (["slow.log.1", "slow.log"], [SLOW, SLOW_REST], &whole),
        (["slow.log-20260501", "slow.log"], [SLOW, SLOW_REST], &whole),
        // The logs belong to different servers, according to their names and banners.
        (["db1-slow.log", "db2-slow.log"], [SLOW, SLOW_REST], &cut),
        (["one/slow.log", "two/slow.log"], [SLOW, SLOW_REST], &cut),
        (["slow.log.1", "slow.log"], [SLOW, &banner_first], &cut),
        // The files are in the wrong order, and a file between them is missing.
        (["slow.log", "slow.log.1"], [SLOW, &earlier], &cut),
        (["slow.log.3", "slow.log.1"], [&complete, SLOW_REST], &cut),
    ] {
        let directory = TestDirectory::new();
        ["one", "two"]
            .iter()
            .for_each(|folder| std::fs::create_dir(directory.0.join(folder)).unwrap());
        let names = [0, 1].map(|i| directory.file(files[i], texts[i]));
        directory.read(&[&names[0], &names[1]]).expect(0);
        assert_eq!(
            counted(&directory),
            [second.clone(), first.clone()],
            "{files:?}"
        );
    }
}

#[test]
fn days_continue_only_in_the_next_file_of_a_log() {
    const FIELDS: &str = "#Fields: time cs-method cs-uri-stem sc-status time-taken\n";
    let head = format!(
        "#Software: Microsoft Internet Information Services 10.0\n#Date: 2026-05-01 23:00:00\n{FIELDS}23:59:59 GET /a 200 5\n"
    );
    let next = "00:00:01 GET /a 200 7\n";
    let with_fields = format!("{FIELDS}{next}");
    let other_fields = with_fields
        .replace("cs-method", "cs-method s-ip")
        .replace("GET", "GET ::1");
    let later = with_fields.replace("00:00:01", "09:00:00");
    let midnight = 1_777_680_000;
    let both = vec![midnight - 3600, midnight];
    let first = vec![midnight - 3600];
    for (files, text, hours) in [
        (["u.log.1", "u.log"], with_fields.as_str(), &both),
        (["u.log.1", "u.log"], next, &both),
        (["u_ex260501.log", "u_ex260502.log"], &with_fields, &both),
        (["web1.log", "web2.log"], &with_fields, &first),
        (["u.log.1", "u.log"], &other_fields, &first),
        (["u.log.1", "u.log"], &later, &first),
        (["u.log.1", "u.log"], &later[FIELDS.len()..], &first),
    ] {
        let directory = TestDirectory::new();
        let names = [
            directory.file(files[0], &head),
            directory.file(files[1], text),
        ];
        directory.read(&[&names[0], &names[1]]).expect(0);
        let analysis = directory.0.load().logs().unwrap().clone();
        assert_eq!(analysis.lines.entries, 2, "{files:?} {text}");
        let found: Vec<i64> = analysis.hours.iter().map(|hour| hour.start_s).collect();
        assert_eq!(&found, hours, "{files:?} {text}");
        let is_said = analysis.advice.contains(&LogAdvice::NoDates);
        assert_eq!(is_said, found.len() < 2, "{:?}", analysis.advice);
    }
}

/// With an option, HAProxy writes lines before responses are complete, with a `+` before values
/// that are not final.
#[test]
fn a_lower_bound_does_not_pass_a_gate_on_an_upper_limit() {
    let directory = TestDirectory::new();
    let line = |i: u64, plus: &str| {
        format!(
            "haproxy[1]: 10.0.1.2:33317 [01/May/2026:10:00:{:02}.655] in static/srv1 10/0/30/69/{plus}{} 200 {plus}2750 - - ---- 1/1/1/1/0 0/0 \"GET /a HTTP/1.1\"\n",
            i % 60,
            100 + i
        )
    };
    let log = |plus| (0..100).map(|i| line(i, plus)).collect::<String>();
    let (whole, early) = (
        directory.file("whole.log", &log("")),
        directory.file("early.log", &log("+")),
    );
    let gate = |gate: &str, file: &str| {
        directory.read(&["--no-keep", "--zone", "UTC", "--fail-if", gate, file])
    };
    for upper in ["p95>1s", "mean>1s", "max>1s"] {
        gate(upper, &whole).expect(0);
        let outcome = gate(upper, &early);
        outcome.expect(4).says(&["lower bounds", "logasap"]);
        outcome.shows(&["logasap"]);
    }
    // Whatever the log lacks, these gates have the same result.
    gate("p95>150ms", &early).expect(3);
    gate("errors>1%", &early).expect(0);
}
