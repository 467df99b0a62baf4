// SPDX-License-Identifier: Apache-2.0
//! Tests that the reader of each format returns the content of a file.

use super::{file, path, series, text};
use lab_import::{FORMATS, Limits, join, read};
use lab_model::{Direction, Unit};

/// Returns the number of values of each process.
fn shape(processes: &[Vec<f64>]) -> Vec<usize> {
    processes.iter().map(Vec::len).collect()
}

#[test]
fn each_format_is_detected() {
    let files = [
        ("hyperfine-old.json", "hyperfine"),
        ("jmh.json", "jmh"),
        ("go-old.txt", "go"),
        ("criterion", "criterion"),
        ("google-benchmark.json", "google-benchmark"),
        ("pytest-benchmark.json", "pytest-benchmark"),
        ("pyperf-old.json", "pyperf"),
        ("benchmarkdotnet.json", "benchmarkdotnet"),
        ("k6-summary.json", "k6"),
        ("k6-handle.json", "k6"),
        ("k6-lines.json", "k6-json"),
        ("wrk.txt", "wrk"),
        ("oha.json", "oha"),
        ("oha.txt", "oha"),
        ("vegeta.json", "vegeta"),
        ("vegeta-lines.json", "vegeta-json"),
        ("example.hlog", "hlog"),
        ("junit.xml", "junit"),
    ];
    for (name, format) in files {
        let read = file(name);
        assert_eq!(read.format.name, format, "{name}");
        let again = lab_import::read(&path(name), Some(read.format), &Limits::default());
        assert_eq!(
            again.expect("the files have the same format").imports,
            read.imports,
            "{name}"
        );
        let all = read.imports.iter().flat_map(|import| &import.series);
        for one in all {
            assert!(
                one.processes.iter().all(|values| !values.is_empty()),
                "{name}"
            );
            let mut values = one.processes.iter().flatten();
            assert!(values.all(|v| v.is_finite() && *v >= 0.0), "{name}");
        }
    }
    let mut names = FORMATS.map(|format| format.name);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn hyperfine_has_a_process_for_each_run() {
    let read = file("hyperfine-old.json");
    assert_eq!(read.imports.len(), 2);
    assert_eq!(read.imports[0].subject, "sh -c \"exit 0\"");
    let times = series(&read.imports[..1], "", "wall");
    assert_eq!(shape(&times.processes), [1; 12]);
    assert!((1e5..1e9).contains(&times.processes[0][0]), "nanoseconds");
    assert_eq!(
        shape(&series(&read.imports[..1], "", "peak_memory").processes),
        [1; 12]
    );
    let failing = file("hyperfine-failing.json");
    assert_eq!(
        failing.imports[0].remarks,
        ["sh -c \"exit 3\": 5 of 5 runs failed (a nonzero exit status, or a signal)."]
    );
    let mean = br#"{"results":[{"command":"a","mean":0.5}]}"#;
    let mean = text("mean.json", mean).expect("a mean");
    assert_eq!(series(&mean.imports, "", "wall").processes, [[5e8]]);
    assert!(mean.imports[0].remarks[0].contains("only the mean"));
}

#[test]
fn jmh_has_a_process_for_each_fork_and_a_value_for_each_iteration() {
    let read = file("jmh.json");
    let loops = series(&read.imports, "b.Sums.loop size=1000", "wall");
    assert_eq!(shape(&loops.processes), [3; 3]);
    let rate = series(&read.imports, "b.Sums.stream size=10", "throughput");
    assert_eq!(rate.metric.unit, Unit::PerSecond("operations".into()));
    assert_eq!(rate.metric.better, Direction::More);
    assert!(
        rate.processes[0][0] > 1e3,
        "ops/ns become operations per second"
    );
    let sampled = series(&read.imports, "b.Sums.sampled size=10", "sampled_time");
    assert_eq!(shape(&sampled.processes), [3; 3]);
    let facts = &read.imports[0].facts;
    assert!(
        facts.contains(&("version".into(), "1.37".into())),
        "{facts:?}"
    );
}

#[test]
fn go_has_a_process_for_each_call() {
    let read = file("go-old.txt");
    let sum = series(&read.imports, "Sum/size=1000-2", "wall");
    assert_eq!(shape(&sum.processes), [1; 6]);
    assert_eq!(
        series(&read.imports, "Make-2", "allocated_bytes").processes,
        vec![vec![4096.0]; 6]
    );
    assert_eq!(
        series(&read.imports, "Make-2", "throughput").metric.unit,
        Unit::PerSecond("bytes".into())
    );
    assert!(
        read.imports[0].remarks.is_empty(),
        "{:?}",
        read.imports[0].remarks
    );
    // -count repeats within a process.
    let count = file("go-count.txt");
    assert_eq!(
        shape(&series(&count.imports, "Make-2", "wall").processes),
        [3]
    );
}

#[test]
fn go_output_that_ends_early_says_so() {
    let full = std::fs::read_to_string(path("go-old.txt")).unwrap();
    let last = full.rfind("PASS").unwrap();
    let read = text("cut.txt", &full.as_bytes()[..last]).expect("benchmarks");
    assert!(read.imports[0].remarks[0].contains("may be truncated"));
    let within = full.rfind(" B/op").unwrap();
    let error = text("cut.txt", &full.as_bytes()[..within])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 52") && error.contains("truncated"),
        "{error}"
    );
}

#[test]
fn tools_that_repeat_within_a_process_have_one() {
    let criterion = file("criterion");
    assert_eq!(
        shape(&series(&criterion.imports, "sum/iter input=1000", "wall").processes),
        [20]
    );
    assert_eq!(
        shape(&series(&criterion.imports, "one", "wall").processes),
        [100]
    );
    let google = file("google-benchmark.json");
    assert_eq!(
        shape(&series(&google.imports, "sum_range/100", "wall").processes),
        [3]
    );
    assert_eq!(google.imports[0].remarks, ["failing failed: no such file."]);
    let aggregates = file("google-benchmark-aggregates.json");
    assert_eq!(
        shape(&series(&aggregates.imports, "sum_range/100", "wall").processes),
        [1]
    );
    assert!(
        aggregates.imports[0]
            .remarks
            .iter()
            .any(|r| r.contains("only aggregates"))
    );
    let pytest = file("pytest-benchmark.json");
    assert_eq!(
        shape(&series(&pytest.imports, "test_sums.py::test_large", "wall").processes),
        [20]
    );
    let means = file("pytest-benchmark-means.json");
    assert!(means.imports[0].remarks[0].contains("--benchmark-save-data"));
}

#[test]
fn pyperf_has_a_process_for_each_run_without_calibration() {
    let read = file("pyperf-old.json");
    assert_eq!(
        shape(&series(&read.imports, "sorted", "wall").processes),
        [2; 6]
    );
}

#[test]
fn benchmark_dotnet_has_a_process_for_each_launch() {
    let read = file("benchmarkdotnet.json");
    let times = series(&read.imports, "Sums.Loop Size=10", "wall");
    assert_eq!(shape(&times.processes), [3; 6]);
    // Only `Result` iterations count: their overhead has been subtracted.
    assert!((12.0..12.6).contains(&times.processes[0][0]));
    assert_eq!(
        series(&read.imports, "Sums.Loop Size=10", "allocated_bytes").processes,
        [[24.0]]
    );
    assert_eq!(
        read.imports[0].remarks,
        ["Sums.Broken has no results: it failed."]
    );
}

#[test]
fn load_tools_have_percentiles_in_nanoseconds() {
    let value = |name: &str, metric: &str| series(&file(name).imports, "", metric).processes[0][0];
    assert_eq!(value("wrk.txt", "p99"), 48.18e6);
    assert_eq!(value("wrk.txt", "throughput"), 91.95);
    assert_eq!(value("wrk.txt", "errors"), 0.0);
    assert_eq!(value("wrk-bad.txt", "errors"), 92.0);
    assert_eq!(value("vegeta.json", "p99"), 49_142_485.0);
    assert_eq!(value("oha.json", "p99.9"), 28.8e6);
    assert_eq!(value("oha.txt", "p99.9"), 28.8e6);
    assert!((value("oha.txt", "success") - 0.995).abs() < 1e-9);
    assert_eq!(
        value("oha.txt", "throughput"),
        value("oha.json", "throughput")
    );
    let [summary, handled] = ["k6-summary.json", "k6-handle.json"].map(|name| value(name, "p50"));
    assert!((1e5..1e9).contains(&summary) && (1e5..1e9).contains(&handled));
    // 12 requests of one vegeta attack.
    assert_eq!(value("vegeta-lines.json", "requests"), 12.0);
    assert_eq!(value("vegeta-lines.json", "success"), 1.0);
    assert!(value("k6-lines.json", "requests") >= 10.0);
}

#[test]
fn the_intervals_of_a_histogram_log_are_added() {
    let read = file("example.hlog");
    // 5 intervals of 1,000 values; the writer's random numbers are fixed.
    assert_eq!(
        series(&read.imports, "", "operations").processes,
        [[5000.0]]
    );
    let p50 = series(&read.imports, "", "p50").processes[0][0];
    assert!((1.3e6..1.7e6).contains(&p50), "{p50}");
    assert_eq!(read.measured_unix_s, 1_764_300_000.0);
    let max = series(&read.imports, "", "max").processes[0][0];
    assert!((49e6..52e6).contains(&max), "{max}");
}

#[test]
fn failed_and_skipped_tests_are_named_and_not_imported() {
    let read = file("junit.xml");
    let slow = series(&read.imports, "test_junit.test_slow", "wall").processes[0][0];
    assert!((5e7..5e9).contains(&slow), "{slow}");
    assert_eq!(read.imports[0].series.len(), 2);
    assert_eq!(
        read.imports[0].remarks,
        [
            "1 failed test was not imported: test_junit.test_fails.",
            "1 test was skipped or has no time, and was not imported."
        ]
    );
}

#[test]
fn joined_files_are_processes() {
    let files = || (0..8).map(|_| file("criterion")).collect::<Vec<_>>();
    let joined = join(files()).expect("the files are from one tool");
    assert_eq!(
        shape(&series(&joined.imports, "one", "wall").processes),
        [100; 8]
    );
    let error = join(vec![file("criterion"), file("wrk.txt")]).unwrap_err();
    assert!(
        error.contains("different tools: criterion and wrk"),
        "{error}"
    );
}

#[test]
fn the_time_of_the_measurement_comes_from_the_file() {
    assert_eq!(
        file("google-benchmark.json").measured_unix_s,
        1_795_904_344.0
    );
    assert!((1.795e9..1.8e9).contains(&file("pytest-benchmark.json").measured_unix_s));
    let facts = file("pytest-benchmark.json").imports[0].facts.clone();
    assert!(facts.iter().all(|(name, _)| name != "measured_unix_s"));
    // If the file does not contain the time, its modification time is used.
    assert!(
        read(&path("wrk.txt"), None, &Limits::default())
            .unwrap()
            .measured_unix_s
            > 1.6e9
    );
}
