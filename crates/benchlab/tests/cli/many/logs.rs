// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs --on`: logs are counted on their hosts, and the results equal the results from a
//! single log.

use super::TestDirectory;
use lab_model::LogAnalysis;
use std::fmt::Write as _;

/// Generates lines of two hours, in chronological order.
fn lines() -> Vec<String> {
    let line = |i: u64| {
        let (minute, second) = (i / 60 % 60, i % 60);
        // Requests to /item/{id} and, one in seven, to a slow /search; one in fifty fails.
        let (path, ms) = match i % 7 {
            0 => (format!("/search?q={i}"), 300 + i % 50),
            _ => (format!("/item/{i}"), 2 + i % 9),
        };
        let status = if i.is_multiple_of(50) { 500 } else { 200 };
        let mut line = String::new();
        let _ = writeln!(
            line,
            "10.0.0.1 - - [01/May/2026:{:02}:{minute:02}:{second:02} +0000] \"GET {path} HTTP/1.1\" {status} 9 \"-\" \"M\" 0.{ms:03}",
            10 + i / 3600
        );
        line
    };
    // One second has ten more requests than the others.
    let burst = (0..10).map(|_| line(1234));
    (0..=1234)
        .map(line)
        .chain(burst)
        .chain((1235..7200).map(line))
        .collect()
}

fn load_analysis(directory: &TestDirectory) -> LogAnalysis {
    directory
        .0
        .load()
        .logs()
        .expect("the run contains a log analysis")
        .clone()
}

/// Removes data that depends on the file, and rounds sums, so that analyses can be compared.
fn figures(mut analysis: LogAnalysis) -> LogAnalysis {
    analysis.sources.clear();
    analysis.pages.sort_by(|a, b| a.name.cmp(&b.name));
    for cell in analysis.pages.iter_mut().flat_map(|page| &mut page.cells) {
        cell.sum_ln = (cell.sum_ln * 1e6).round();
    }
    analysis
}

#[test]
fn counts_from_multiple_hosts_equal_those_from_one() {
    let (one, many) = (TestDirectory::new(), TestDirectory::new());
    let write = |directory: &TestDirectory, name: &str, lines: &[&String]| {
        let path = directory.0.join(name);
        std::fs::write(&path, lines.iter().map(|l| l.as_str()).collect::<String>()).unwrap();
        path.display().to_string()
    };
    let lines = lines();
    let log = write(&one, "access.log", &lines.iter().collect::<Vec<_>>());
    one.0.call(&["logs", &log]).expect(0);
    // One host has a log with every other line, and a rotated log with the remaining lines.
    let of = |part: usize| lines.iter().skip(part).step_by(2).collect::<Vec<_>>();
    let log = write(&many, "access.log", &of(0));
    write(&many, "access.log.1", &of(1));
    let outcome = many.0.call(&["logs", "--on", "local:1", "--rotated", &log]);
    outcome.expect(0).shows(&["/search"]);
    let (one_host, parts) = (load_analysis(&one), load_analysis(&many));
    assert_eq!(parts.lines.entries, 7210);
    assert!(
        parts
            .sources
            .iter()
            .all(|s| s.name.starts_with("local 1:/")),
        "{:?}",
        parts.sources
    );
    assert_eq!(parts.peak.map(|(_, n)| n), Some(11));
    // The second log starts again at ten o'clock.
    let parts = LogAnalysis {
        clock_jumps: 0,
        ..parts
    };
    assert_eq!(figures(parts), figures(one_host));
}

/// If two hosts read the same file, everything counts twice.
#[test]
fn counts_from_multiple_hosts_add_up() {
    let directory = TestDirectory::new();
    let path = directory.0.join("access.log");
    std::fs::write(&path, lines().concat()).unwrap();
    let path = path.display().to_string();
    directory
        .0
        .call(&["logs", "--on", "local:2", &path])
        .expect(0);
    let both = load_analysis(&directory);
    assert_eq!(both.lines.entries, 2 * 7210);
    assert_eq!(both.peak.map(|(_, n)| n), Some(22));
    let file = directory.0.file();
    directory
        .0
        .call(&["report", file.to_str().unwrap(), "--without", "local 1"])
        .expect(2)
        .says(&["agents cannot be excluded"]);
    let names: Vec<&str> = both.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        [format!("local 1:{path}"), format!("local 2:{path}")]
    );
}

#[test]
fn unreadable_files_of_a_host_are_reported() {
    let directory = TestDirectory::new();
    let path = directory.0.join("access.log");
    std::fs::write(&path, lines().concat()).unwrap();
    let log_path = path.display().to_string();
    let outcome = directory
        .0
        .call(&["logs", "--on", "local:1", &log_path, "/nowhere/a.log"]);
    outcome
        .expect(0)
        .says(&["local 1:/nowhere/a.log: no such file"]);
    directory
        .0
        .call(&["logs", "--on", "local:1", "/nowhere/a.log"])
        .expect(2)
        .says(&["no such file"]);
    directory
        .0
        .call(&["logs", "--on", "local:1", "-"])
        .expect(2)
        .says(&["specify files"]);
}

/// Requests and queries are joined across agents, although agents send hashes rather than IDs.
#[test]
fn requests_and_statements_are_joined_where_agents_read_them() {
    let (mut pages, mut statements) = (String::new(), String::new());
    for request in 0..20 {
        let id = format!("{request:032x}");
        let _ = writeln!(
            pages,
            "{{\"time\":\"2026-05-01T10:00:00Z\",\"method\":\"GET\",\"path\":\"/orders\",\"status\":200,\"duration_ms\":66,\"request_id\":\"{id}\"}}"
        );
        for item in 0..52 {
            let _ = writeln!(
                statements,
                "2026-05-01 10:00:00.000 UTC [7] u@d,app={id} LOG:  duration: 1.000 ms  statement: SELECT * FROM item WHERE id = {item}"
            );
        }
    }
    let within = |on: &[&str], shown: &[&str]| {
        let directory = TestDirectory::new();
        let files = [("access.json", &pages), ("postgresql.log", &statements)];
        let [pages, statements] = files.map(|(name, text)| {
            let path = directory.0.join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        });
        let words = [&["logs"], on, &[&pages, &statements]].concat();
        directory.0.call(&words).expect(0).shows(shown);
        load_analysis(&directory).within
    };
    let here = within(&[], &["N+1"]);
    assert_eq!((here[0].requests, here[0].executions), (20, 20 * 52));
    assert_eq!(within(&["--on", "local:1"], &["N+1"]), here);
    // Two agents that read the same logs find each ID twice, so the statements cannot be attributed.
    assert_eq!(within(&["--on", "local:2"], &[]), []);
}
