// SPDX-License-Identifier: Apache-2.0
//! Tests that files that are truncated, foreign, empty, hostile or enormous cause an error that
//! names the location of the problem, and never a panic.

use super::{file, path, text};
use lab_import::{FORMATS, Limits, read};

#[track_caller]
fn error(name: &str, content: &str, says: &[&str]) {
    let error = text(name, content.as_bytes())
        .expect_err("an error")
        .to_string();
    for part in says {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

#[test]
fn what_is_not_a_file_of_a_tool_is_rejected() {
    error("a", "", &["the file is empty"]);
    error("a", " \n\n", &["the file is empty"]);
    error(
        "a",
        "hello\n",
        &["not a file of a known tool", "hyperfine", "junit", "--from"],
    );
    error("a.json", "{}", &["not a file of a known tool"]);
    error(
        "a.json",
        "{\"results\": [",
        &["line 1, column 13", "truncated"],
    );
    error(
        "a.json",
        "[1, 2,, 3]",
        &["line 1, column 7", "not valid JSON"],
    );
    error("a.xml", "<a>", &["the root is <a>"]);
    let binary = text("a", b"ab\xff\xfe").unwrap_err().to_string();
    assert!(
        binary.contains("byte 2") && binary.contains("UTF-8"),
        "{binary}"
    );
    let missing = read(&path("missing"), None, &Limits::default())
        .unwrap_err()
        .to_string();
    assert!(missing.contains("missing: No such file"), "{missing}");
}

#[test]
fn errors_name_the_path_within_the_file() {
    error(
        "a.json",
        r#"{"results":[{"command":"a","times":[1,2]},{"command":"b","times":[1,"x"]}]}"#,
        &[
            "results[1].times[1]: expected a number, found a text",
            "read as hyperfine",
        ],
    );
    error(
        "a.json",
        r#"{"results":[{"command":"a","times":[1,-2]}]}"#,
        &["results[0].times[1]: -2 is negative"],
    );
    error(
        "a.json",
        r#"[{"benchmark":"b","mode":"avgt","primaryMetric":{"score":1,"scoreUnit":"furlongs/op","rawData":[[1]]}}]"#,
        &["[0].primaryMetric.scoreUnit", "unknown unit `furlongs/op`"],
    );
    error(
        "a.json",
        r#"{"version":"2.0","benchmarks":[{"runs":[]}]}"#,
        &["version 2.0 of pyperf's format is not supported"],
    );
    error(
        "a.json",
        r#"{"benchmarks":[{"runs":[]}]}"#,
        &["there are no measured values"],
    );
    error(
        "a.hlog",
        "#[Histogram log format version 2.0]\n",
        &["line 1", "version 2.0", "expected 1.x"],
    );
    error(
        "a.txt",
        "Running 2s test @ http://a/\n  Latency  1ms 2ms\n",
        &["Requests/sec", "truncated"],
    );
    error(
        "a.txt",
        "BenchmarkA-2 10 x ns/op\n",
        &["line 1", "expected a number, found `x`"],
    );
    error(
        "a.json",
        "{\"type\":\"Point\",\"metric\":\"http_req_duration\",\"data\":{\"value\":1}}\n{\"type\":\"Poi",
        &["line 2", "truncated"],
    );
    error(
        "a.xml",
        "<testsuite><testcase name='a' time='1'/>",
        &["line 1", "truncated"],
    );
    error(
        "a.xml",
        "<testsuite>\n<testcase name='a' time='-1'/></testsuite>",
        &["line 2", "`-1`", "time="].map(|s| if s == "`-1`" { "-1" } else { s }),
    );
    error("a.xml", "<!DOCTYPE a><testsuite/>", &["document type"]);
}

#[test]
fn every_truncation_of_every_file_ends_in_a_result_or_an_error() {
    let names = [
        "hyperfine-old.json",
        "jmh.json",
        "go-old.txt",
        "google-benchmark.json",
        "pytest-benchmark.json",
        "pyperf-old.json",
        "benchmarkdotnet.json",
        "k6-summary.json",
        "k6-lines.json",
        "wrk.txt",
        "oha.json",
        "oha.txt",
        "vegeta.json",
        "vegeta-lines.json",
        "example.hlog",
        "junit.xml",
    ];
    for name in names {
        let content = std::fs::read(path(name)).unwrap();
        let format = file(name).format;
        let folder = tempfile::tempdir().unwrap();
        let cut = folder.path().join(name);
        for step in 1..24 {
            let end = content.len() * step / 24;
            std::fs::write(&cut, &content[..end]).unwrap();
            let result = read(&cut, Some(format), &Limits::default());
            // A document cannot end early. A log of lines can, at the end of a line.
            let is_document =
                name.ends_with(".json") && !name.contains("lines") || name.ends_with(".xml");
            if is_document {
                let error = result.expect_err(name).to_string();
                assert!(
                    ["truncated", "before end of input"]
                        .iter()
                        .any(|why| error.contains(why))
                        && error.contains("line "),
                    "{name} at {end}: {error}"
                );
            } else if let Err(error) = result {
                let error = error.to_string();
                assert!(
                    ["line ", "byte ", "no measured values"]
                        .iter()
                        .any(|part| error.contains(part)),
                    "{name} at {end}: {error}"
                );
            }
        }
    }
}

#[test]
fn no_format_panics_on_another_formats_file() {
    let names = [
        "hyperfine-old.json",
        "jmh.json",
        "go-old.txt",
        "wrk.txt",
        "example.hlog",
        "junit.xml",
        "k6-lines.json",
        "oha.txt",
        "criterion",
    ];
    for name in names {
        let own = file(name).format;
        for format in FORMATS.into_iter().filter(|format| *format != own) {
            if let Ok(read) = read(&path(name), Some(format), &Limits::default()) {
                panic!("{name} was read as {}: {:?}", format.name, read.imports);
            }
        }
    }
}

#[test]
fn deep_large_and_numerous_content_is_rejected() {
    let deep = format!("{{\"results\":{}", "[".repeat(10_000));
    error("a.json", &deep, &["recursion limit"]);
    let deep = format!("<testsuite>{}", "<a>".repeat(1000));
    error("a.xml", &deep, &["nested deeper than 64"]);
    let limits = Limits {
        bytes: 100,
        ..Limits::default()
    };
    let large = read(&path("wrk.txt"), None, &limits)
        .unwrap_err()
        .to_string();
    assert!(large.contains("larger than"), "{large}");
    let large = read(&path("criterion"), None, &limits)
        .unwrap_err()
        .to_string();
    assert!(large.contains("larger than"), "{large}");
    let few = |values, benchmarks| Limits {
        values,
        benchmarks,
        ..Limits::default()
    };
    let many = read(&path("hyperfine-old.json"), None, &few(10, 100))
        .unwrap_err()
        .to_string();
    assert!(
        many.contains("there are 12 values; the maximum is 10"),
        "{many}"
    );
    let many = read(&path("jmh.json"), None, &few(1000, 2))
        .unwrap_err()
        .to_string();
    assert!(many.contains("benchmarks; the maximum is 2"), "{many}");
    let many = read(&path("k6-lines.json"), None, &few(3, 100))
        .unwrap_err()
        .to_string();
    assert!(
        many.contains("line ") && many.contains("more than 3 requests"),
        "{many}"
    );
}

#[test]
fn numbers_that_overflow_are_rejected() {
    error(
        "a.json",
        r#"{"results":[{"command":"a","times":[1e999]}]}"#,
        &["number out of range"],
    );
    let huge = text(
        "a.txt",
        b"BenchmarkA 1 1e308 ns/op\nBenchmarkA 1 1e308 ns/op\n",
    );
    assert!(huge.is_ok(), "large but finite numbers are accepted");
}
