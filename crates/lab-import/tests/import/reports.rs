// SPDX-License-Identifier: Apache-2.0
//! Tests that reports contain intervals and verdicts for multiple processes, but not for a single
//! process.

use super::{file, text};
use lab_document::{Document, FORMATS, Rendered, Terminal};
use lab_import::ImportedFile;
use lab_import::report::{BetweenImports, ImportReport, ImportSummary, document, history};
use lab_model::{Content, Run};

fn run(name: &str, file: ImportedFile) -> Run {
    Run {
        name: name.into(),
        started_unix_s: file.measured_unix_s,
        benchlab_version: "1".into(),
        content: Content::Imported(file.imports),
        ..Run::default()
    }
}

fn report(name: &str) -> Document {
    let run = run(name, file(name));
    document(&ImportReport {
        run: &run,
        file: name,
    })
}

fn terminal(document: &Document) -> String {
    let format = FORMATS
        .iter()
        .find(|format| format.name == "terminal")
        .unwrap();
    match format.render(document, Terminal::default()) {
        Ok(Rendered::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// Imports a hyperfine file of one command whose runs took the given `times`, in ms.
fn hyperfine(times: &[f64]) -> ImportedFile {
    let times: Vec<String> = times.iter().map(|ms| (ms / 1e3).to_string()).collect();
    let content = format!(
        r#"{{"results":[{{"command":"sort a|b","times":[{}]}}]}}"#,
        times.join(",")
    );
    text("times.json", content.as_bytes()).expect("a file")
}

fn compare(first: ImportedFile, second: ImportedFile) -> Result<Document, String> {
    let runs = [run("old", first), run("new", second)];
    lab_import::report::compare(&BetweenImports {
        runs: [&runs[0], &runs[1]],
        files: ["old", "new"],
    })
}

const OLD: [f64; 12] = [
    100.0, 101.0, 99.5, 100.4, 100.9, 99.1, 100.2, 99.8, 100.6, 99.7, 100.1, 100.3,
];

#[test]
fn one_process_causes_a_note_with_advice() {
    for (name, says) in [
        ("criterion", "--join"),
        ("go-count.txt", "append the outputs"),
        ("wrk.txt", "Run wrk 10 times"),
        ("example.hlog", "--join"),
        ("k6-lines.json", "Run k6 10 times"),
        ("google-benchmark.json", "--benchmark_out"),
    ] {
        let document = report(name);
        let text = terminal(&document);
        assert!(
            text.starts_with("One process: no verdict."),
            "{name}: {text}"
        );
        assert!(
            document.answer.undecided.as_ref().unwrap().contains(says),
            "{name}: {text}"
        );
        for row in &document.rows {
            assert!(
                row.verdict.is_empty() && row.value.as_ref().unwrap().interval().is_none(),
                "{name}"
            );
        }
    }
}

#[test]
fn processes_give_intervals() {
    let document = report("pyperf-old.json");
    assert!(
        document
            .answer
            .headline
            .starts_with("2 benchmarks were measured, each in 6 processes.")
    );
    for row in &document.rows {
        let [low, high, level] = row.value.as_ref().unwrap().interval().expect("an interval");
        assert!(low < high && level > 0.9, "{row:?}");
    }
}

#[test]
fn commands_of_one_file_are_compared_with_the_first() {
    let document = report("hyperfine-old.json");
    assert!(
        document
            .answer
            .headline
            .contains("times sh -c \"exit 0\"'s time ("),
        "{}",
        document.answer.headline
    );
    let wall: Vec<_> = document
        .rows
        .iter()
        .filter(|row| row.metric.id == "wall")
        .collect();
    assert_eq!(wall[0].verdict, "");
    assert_eq!(wall[1].verdict, "slower");
    assert!(terminal(&document).contains("not in turns"));
}

/// Imports a hyperfine file of two commands that take 10 and 20 ms and end with the given exit
/// `codes`.
fn ending(codes: [&str; 2]) -> ImportedFile {
    let result = |command: &str, time: f64, code: &str| {
        let list = |value: &str| [value; 12].join(",");
        format!(
            r#"{{"command":"{command}","times":[{}],"exit_codes":[{}]}}"#,
            list(&time.to_string()),
            list(code)
        )
    };
    let [first, second] = codes;
    let content = format!(
        r#"{{"results":[{},{}]}}"#,
        result("works", 0.01, first),
        result("other", 0.02, second)
    );
    text("codes.json", content.as_bytes()).expect("a file")
}

fn shown(file: ImportedFile) -> (Document, String) {
    let run = run("codes", file);
    let document = document(&ImportReport {
        run: &run,
        file: "codes",
    });
    let text = terminal(&document);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (document, text)
}

#[test]
fn runs_that_ended_in_different_ways_are_not_compared() {
    for (codes, ended) in [
        (["0", "2"], "exit code 2"),
        (["0", "null"], "a signal"),
        (["1", "0"], "exit code 0"),
    ] {
        let (document, text) = shown(ending(codes));
        let says =
            format!("other is not compared with works: the runs of other ended with {ended}");
        assert!(text.starts_with(&says), "{text}");
        assert!(document.rows.iter().all(|row| row.verdict.is_empty()));
        assert!(text.contains("12 of 12 runs failed"), "{text}");
    }
    // The same failure is the same work, and is said on the first screen.
    let (document, text) = shown(ending(["1", "1"]));
    assert_eq!(document.rows[1].verdict, "slower");
    assert!(
        text.contains("works: 12 of 12 runs failed (exit code 1)."),
        "{text}"
    );
    let (_, text) = shown(ending(["0", "0"]));
    assert!(!text.contains("failed"), "{text}");
    let document = compare(ending(["0", "0"]), ending(["0", "2"])).unwrap();
    assert!(terminal(&document).contains("The second run's other is not compared"));
    assert_eq!(document.rows[1].verdict, "equivalent");
    assert_eq!(document.rows[3].verdict, "");
}

#[test]
fn what_was_not_imported_is_on_the_first_screen() {
    for (name, says) in [
        ("junit.xml", "1 failed test was not imported"),
        ("google-benchmark-aggregates.json", "only aggregates"),
        ("example.hlog", "specify the unit with --duration-unit"),
        ("benchmarkdotnet.json", "Sums.Broken has no results"),
    ] {
        let text = terminal(&report(name));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(says), "{name}: {text}");
    }
}

#[test]
fn a_slowdown_between_two_files_has_a_verdict() {
    let slower = OLD.map(|ms| ms * 1.08);
    let document = compare(hyperfine(&OLD), hyperfine(&slower)).unwrap();
    assert!(
        document
            .answer
            .headline
            .starts_with("sort a|b takes 1.080 times old's time (1.0"),
        "{}",
        document.answer.headline
    );
    assert_eq!(document.rows[1].verdict, "slower");
    let same = compare(hyperfine(&OLD), hyperfine(&OLD)).unwrap();
    assert_eq!(same.rows[1].verdict, "equivalent");
    let faster = compare(hyperfine(&slower), hyperfine(&OLD)).unwrap();
    assert_eq!(faster.rows[1].verdict, "faster");
}

#[test]
fn one_process_on_either_side_has_no_verdict() {
    let document = compare(hyperfine(&OLD), hyperfine(&[108.0])).unwrap();
    assert!(
        document
            .answer
            .headline
            .starts_with("One process: no verdict. sort a|b takes 1.08 times")
    );
    assert_eq!(document.rows[1].verdict, "");
    assert!(
        document.rows[1]
            .ratio
            .as_ref()
            .unwrap()
            .interval()
            .is_none()
    );
    let two = compare(hyperfine(&[100.0, 101.0]), hyperfine(&[104.0, 105.5])).unwrap();
    assert_eq!(
        two.rows[1].verdict, "inconclusive",
        "two processes are too few"
    );
}

#[test]
fn more_of_a_rate_is_better() {
    let jmh = |factor: f64| {
        let forks: Vec<String> = OLD.iter().map(|v| format!("[{}]", v * factor)).collect();
        let content = format!(
            r#"[{{"benchmark":"b","mode":"thrpt","primaryMetric":{{"scoreUnit":"ops/ms","rawData":[{}]}}}}]"#,
            forks.join(",")
        );
        text("jmh.json", content.as_bytes()).unwrap()
    };
    let document = compare(jmh(1.0), jmh(1.1)).unwrap();
    let row = &document.rows[1];
    assert_eq!(row.verdict, "faster");
    assert!(
        row.ratio.as_ref().unwrap().value < 1.0,
        "a ratio below 1 is better in data"
    );
    assert!(
        document.answer.headline.contains("1.100 times"),
        "{}",
        document.answer.headline
    );
}

#[test]
fn items_in_only_one_file_are_listed() {
    let document = compare(file("go-old.txt"), file("go-count.txt")).unwrap();
    assert!(!document.rows.is_empty());
    let [a, b] = ["a", "b"].map(|case| {
        let content = format!(
            "pkg: p\nBenchmark{} 1 5 ns/op\nBenchmarkCommon 1 5 ns/op\nok  p\n",
            case.to_uppercase()
        );
        text("a.txt", content.as_bytes()).unwrap()
    });
    let text = format!("{:?}", compare(a, b).unwrap().sections);
    assert!(
        text.contains("Only the first run has 1 value: A (time)."),
        "{text}"
    );
    assert!(
        text.contains("Only the second run has 1 value: B (time)."),
        "{text}"
    );
    let error = compare(file("wrk.txt"), file("junit.xml")).unwrap_err();
    assert!(error.contains("no benchmark in common"), "{error}");
}

#[test]
fn a_history_finds_a_lasting_change() {
    let summary = |i: usize| {
        let factor = if i < 12 { 1.0 } else { 1.25 };
        let times: Vec<f64> = OLD
            .iter()
            .map(|ms| ms * factor * (1.0 + 0.001 * (i * 7 % 5) as f64))
            .collect();
        ImportSummary::new(&run(&format!("run-{i:02}"), hyperfine(&times))).expect("a summary")
    };
    let runs: Vec<ImportSummary> = (0..24).map(summary).collect();
    let document = history("nightly", &runs, &[]);
    assert_eq!(document.answer.headline, "1 of 1 value changed in 24 runs.");
    let found = &document.answer.findings[0].text;
    assert!(
        found.starts_with("sort a|b went from 100 ms to 125 ms") && found.ends_with("with run-12."),
        "{found}"
    );
    let steady = history("nightly", &runs[..12], &[]);
    assert_eq!(steady.answer.headline, "No lasting change in 12 runs.");
}

/// Imports a file with the time of a benchmark and its number of errors in each process.
fn forks(times: &[f64], errors: &[f64]) -> ImportedFile {
    let process = |(time, errors): (&f64, &f64)| {
        format!("pkg: p\nBenchmarkA-8 10 {time} ns/op {errors} errors/op\nPASS\nok  p 1s\n")
    };
    let content: String = times.iter().zip(errors).map(process).collect();
    text("go.txt", content.as_bytes()).expect("a file")
}

#[test]
fn values_of_0_have_no_ratio_and_are_not_said_to_come_from_one_process() {
    let none = [0.0; 12];
    let document = compare(forks(&OLD, &none), forks(&OLD, &none)).unwrap();
    let text = terminal(&document);
    assert!(!text.contains("One process"), "{text}");
    assert!(text.contains("no ratio: a value is 0"), "{text}");
    let undecided = document.answer.undecided.as_deref();
    assert_eq!(undecided, Some("1 of 2 values has no ratio: a value is 0."));
    assert!(
        document.answer.headline.contains("A-8 takes 1.000 times"),
        "{}",
        document.answer.headline
    );
}

#[test]
fn metrics_without_a_direction_are_not_said_to_come_from_one_process() {
    let counted = |hits: f64| {
        let runs = (0..12).map(|i| {
            format!(
                r#"{{"context":{{}},"benchmarks":[{{"name":"a","run_name":"a","real_time":{},
                "hits":{hits}}}]}}"#,
                100 + i
            )
        });
        let runs: Vec<String> = runs.collect();
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        super::joined(&runs).expect("files of one tool")
    };
    let document = compare(counted(3.0), counted(4.0)).unwrap();
    let text = terminal(&document);
    assert!(!text.contains("One process"), "{text}");
    assert!(text.contains("no verdict"), "{text}");
    assert_eq!(document.answer.undecided, None);
}

#[test]
fn a_history_finds_a_change_of_values_of_0() {
    let errors = |i: usize| if i < 12 { 0.0 } else { 5.0 + (i % 3) as f64 };
    let summary = |i: usize| {
        let file = forks(&OLD, &[errors(i); 12]);
        ImportSummary::new(&run(&format!("run-{i:02}"), file)).expect("a summary")
    };
    let runs: Vec<ImportSummary> = (0..24).map(summary).collect();
    let document = history("nightly", &runs, &[]);
    assert_eq!(
        document.answer.headline,
        "1 of 2 values changed in 24 runs."
    );
    assert_eq!(
        document.answer.findings[0].text,
        "A-8, errors/op went from 0 to 6, starting with run-12."
    );
    let steady = history("nightly", &runs[..12], &[]);
    assert_eq!(steady.answer.headline, "No lasting change in 12 runs.");
}

#[test]
fn a_history_does_not_compare_runs_that_ended_in_different_ways() {
    let summary = |i: usize| {
        let code = if i < 12 { "1" } else { "0" };
        let ms = if i < 12 { 5.0 } else { 100.0 };
        let content = format!(
            r#"{{"results":[{{"command":"sort","times":[{}],"exit_codes":[{}]}}]}}"#,
            [(ms + 0.1 * (i % 5) as f64) / 1e3; 12]
                .map(|s| s.to_string())
                .join(","),
            [code; 12].join(",")
        );
        let file = text("times.json", content.as_bytes()).expect("a file");
        ImportSummary::new(&run(&format!("run-{i:02}"), file)).expect("a summary")
    };
    let runs: Vec<ImportSummary> = (0..24).map(summary).collect();
    let document = history("nightly", &runs, &[]);
    assert_eq!(document.answer.headline, "No lasting change in 24 runs.");
    let findings: Vec<&str> = document.answer.findings.iter().map(|f| &*f.text).collect();
    assert_eq!(
        findings,
        [
            "12 earlier runs of sort are not compared with run-23: sort ended with exit code 1 then, \
          but with exit code 0 in run-23."
        ]
    );
    // In the table, the first run that ended differently is not compared with the run before it.
    let mut text = terminal(&document);
    text.retain(|c| !c.is_whitespace());
    assert!(!text.contains("slower"), "{text}");
}

#[test]
fn hostile_names_are_shown_and_escaped() {
    let name = "<script>alert(1)</script>|`x`\n::error::%0A\u{1b}[31m";
    let name = name.replace('\n', "\\n").replace('\u{1b}', "\\u001b");
    let content = format!(r#"{{"results":[{{"command":"{name}","times":[1,2,3]}}]}}"#);
    let file = text("a.json", content.as_bytes()).unwrap();
    let run = run("a", file);
    let document = document(&ImportReport {
        run: &run,
        file: "a",
    });
    // Imported results have no call stacks and no timeline.
    let needs_more = ["folded", "speedscope", "perfetto"];
    for format in FORMATS
        .into_iter()
        .filter(|f| !needs_more.contains(&f.name))
    {
        let rendered = format.render(&document, Terminal::default()).unwrap();
        if let Rendered::Text(text) = rendered {
            // CSV is read by programs and keeps names as they are.
            assert!(
                format.name == "csv" || !text.contains('\u{1b}'),
                "{}",
                format.name
            );
            if ["html", "markdown"].contains(&format.name) {
                assert!(!text.contains("<script>alert"), "{}", format.name);
            }
        }
    }
}
