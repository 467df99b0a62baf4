// SPDX-License-Identifier: Apache-2.0
//! Logs in multiple files, and logs that end within a line.

use lab_logs::report::{LogsReport, document};
use lab_logs::{LogSources, LogsSession, SessionOptions};
use lab_model::{LogAnalysis, Run};
use std::path::Path;

/// The analysis of a log, and the messages about files that are not read.
struct Found {
    analysis: LogAnalysis,
    skipped: Vec<String>,
    unread: Vec<String>,
}

fn read_files(names: &[&Path], rotated: bool) -> Found {
    let options = SessionOptions {
        logs: names
            .iter()
            .map(|name| name.display().to_string())
            .collect(),
        ..SessionOptions::default()
    };
    let sources = LogSources::new(&options.logs, rotated).expect("logs");
    let mut session = LogsSession::new(&options).expect("options");
    let outcome = session.read(&sources.all, &mut |_, _| true);
    outcome.expect("a known format");
    Found {
        analysis: session.end(),
        skipped: sources.skipped,
        unread: session.unread().to_vec(),
    }
}

/// Returns the sentences of the first screen and of the warnings.
fn sentences(analysis: &LogAnalysis) -> String {
    let run = Run::default();
    let report = document(&LogsReport {
        run: &run,
        analysis,
        file: None,
        capacity: None,
    });
    serde_json::to_string(&report).expect("JSON")
}

fn requests(analysis: &LogAnalysis) -> u64 {
    analysis.pages.iter().map(|page| page.requests).sum()
}

/// Returns ten lines of a log from a day in May 2026.
fn day(day: u32) -> String {
    let line = |i: u32| {
        format!(
            "10.0.0.1 - - [{day:02}/May/2026:10:00:{i:02} +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"c\" rt=0.250\n"
        )
    };
    (10..20).map(line).collect()
}

#[test]
fn all_rotated_files_are_read_or_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let gzip = |text: &str| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("memory");
        gzip.finish().expect("memory")
    };
    std::fs::write(at("access.log"), day(5)).expect("a file");
    std::fs::write(at("access-2026-05-04.log"), day(4)).expect("a file");
    std::fs::write(at("access-2026-05-03T00-00-00.000.log.gz"), gzip(&day(3))).expect("a file");
    std::fs::write(at("access-1.log"), day(2)).expect("a file");
    let log = at("access.log");
    let found = read_files(&[&log], true);
    assert_eq!(
        (requests(&found.analysis), found.analysis.clock_jumps),
        (30, 0)
    );
    assert!(
        found.skipped[0].contains("access-1.log"),
        "{:?}",
        found.skipped
    );
    assert_eq!(found.unread, [""; 0]);
    // A file with an unknown compression is named.
    std::fs::write(at("access.log-20260502.bz2"), b"BZh91AY&SY\xac\xed").expect("a file");
    let found = read_files(&[&log], true);
    assert_eq!(requests(&found.analysis), 30);
    assert!(found.unread[0].contains("bzip2"), "{:?}", found.unread);
    let report = sentences(&found.analysis);
    assert!(report.contains("access.log-20260502.bz2"), "{report}");
}

#[test]
fn a_file_and_its_compressed_copy_are_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("memory");
    std::fs::write(at("a.log"), day(5)).expect("a file");
    std::fs::write(at("a.log.1"), day(4)).expect("a file");
    std::fs::write(at("a.log.1.zst"), zstd(&day(4))).expect("a file");
    let found = read_files(&[&at("a.log")], true);
    assert_eq!(requests(&found.analysis), 20);
    assert!(
        found.skipped[0].contains("a.log.1.zst"),
        "{:?}",
        found.skipped
    );
    let found = read_files(&[&at("a.log.1.zst"), &at("a.log.1"), &at("a.log")], false);
    assert_eq!((requests(&found.analysis), found.skipped.len()), (20, 1));
    // Files with the same number, but other lines, are different files.
    std::fs::write(at("a.log.1.zst"), zstd(&day(3))).expect("a file");
    let found = read_files(&[&at("a.log")], true);
    assert_eq!((requests(&found.analysis), found.skipped.len()), (30, 0));
}

/// Reads a text as the only file.
fn read_text(text: &str) -> LogAnalysis {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("access.log");
    std::fs::write(&log, text).expect("a file");
    read_files(&[&log], false).analysis
}

#[test]
fn a_last_line_that_may_be_cut_off_is_not_counted() {
    let clf = |end: &str| {
        format!(
            "10.0.0.1 - - [05/May/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"c\"{end}"
        )
    };
    let haproxy = |end: &str| {
        format!(
            "haproxy[1]: 10.0.1.2:33317 [01/May/2026:10:00:00.655] in b/s 10/0/30/69/109 200 5 - - ---- 1/1/1/1/0 0/0 \"GET {end}"
        )
    };
    let json = |end: &str| {
        format!(
            "{{\"time\":\"2026-05-01T10:00:00Z\",\"path\":\"/a\",\"status\":200,\"duration_ms\":{end}"
        )
    };
    let w3c = |end: &str| format!("2026-05-01 10:00:00 GET /a 200 {end}");
    type Line<'l> = &'l dyn Fn(&str) -> String;
    let lines: [(Line, &str, &[&str], &[&str]); 8] = [
        (&clf, " 250030", &[" 250", " 2", ""], &[]),
        (&clf, " 0.250", &[" 0.25", " 0.", " 0", ""], &[" 0.250"]),
        (
            &clf,
            " rt=0.250",
            &[" rt=0.2", " rt=", " rt", ""],
            &[" rt=0.250"],
        ),
        (&clf, " 25ms", &[" 25m", " 2", ""], &[" 25ms"]),
        (
            &clf,
            " 250030 \"x\"",
            &[" 25", ""],
            &[" 250030 \"x\"", " 250030 \"x"],
        ),
        (
            &haproxy,
            "/index.html HTTP/1.1\"",
            &["/index.htm"],
            &["/index.html HTTP/1.1\""],
        ),
        (&json, "25}", &["2"], &["25}"]),
        (&w3c, "25", &["2"], &[]),
    ];
    for (line, end, cut, complete) in lines {
        let head = match line("").starts_with("2026") {
            true => {
                "#Software: Microsoft Internet Information Services 10.0\n\
                     #Fields: date time cs-method cs-uri-stem sc-status time-taken\n"
            }
            false => "",
        };
        let other = |i: usize| format!("{}\n", line(&end.replace("25", &i.to_string())));
        // Durations that only increase are not recognized.
        let mixed = (0..30).map(|i| 10 + i * 7 % 30);
        let before = head.to_string() + &mixed.map(other).collect::<String>();
        let figures = |last: &str| {
            let analysis = read_text(&format!("{before}{last}"));
            let page = &analysis.pages[0];
            (
                page.requests,
                page.timed,
                analysis.lines.cut_off,
                analysis.pages.len(),
            )
        };
        for cut in cut {
            assert_eq!(figures(&line(cut)), (30, 30, 1, 1), "{}", line(cut));
        }
        for complete in complete {
            assert_eq!(
                figures(&line(complete)),
                (31, 31, 0, 1),
                "{}",
                line(complete)
            );
            assert_eq!(figures(&format!("{}\r", line(complete))), (31, 31, 0, 1));
        }
        assert_eq!(figures(&format!("{}\n", line(end))), (31, 31, 0, 1));
        assert_eq!(figures(&format!("{}\r", line(end))), (31, 31, 0, 1));
    }
}

#[test]
fn the_next_file_has_the_same_line_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.log.1"), day(4)).expect("a file");
    let line = day(5).lines().next().expect("a line").to_string();
    // The line of the second file is cut off, or contains carriage returns.
    let (cut, _) = line.split_once(" \"-\"").expect("a referer");
    for (end, cut_off) in [(cut, 1), (&line.replace("/a", "/a\rb"), 0)] {
        std::fs::write(at("a.log"), end).expect("a file");
        let found = read_files(&[&at("a.log")], true).analysis;
        assert_eq!((found.lines.all, found.lines.cut_off), (11, cut_off));
    }
    std::fs::write(at("a.log.1"), day(4).replace('\n', "\r")).expect("a file");
    std::fs::write(at("a.log"), day(5).replace('\n', "\r")).expect("a file");
    assert_eq!(requests(&read_files(&[&at("a.log")], true).analysis), 20);
}

#[test]
fn lines_can_end_with_carriage_returns() {
    let log = day(5);
    for ends in ["\r", "\r\n"] {
        let text = log.replace('\n', ends).repeat(3);
        let analysis = read_text(&text);
        assert_eq!(
            (requests(&analysis), analysis.lines.all),
            (30, 30),
            "{ends:?}"
        );
    }
    // More than the sample.
    let text = log.replace('\n', "\r").repeat(500);
    assert_eq!(requests(&read_text(&text)), 5_000);
}
