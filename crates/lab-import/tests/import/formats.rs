// SPDX-License-Identifier: Apache-2.0
//! Tests that the reader of each format returns the content of a file.

use super::{file, joined, path, series, text};
use lab_import::{FORMATS, Limits, read, read_joined};
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
        ["sh -c \"exit 3\": 5 of 5 runs failed (exit code 3)."]
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

const GO: &str = "goos: linux\ngoarch: amd64\npkg: p\ncpu: A\n";

#[test]
fn go_benchmarks_whose_output_splits_their_line_are_read() {
    let content = format!(
        "\u{feff}{GO}BenchmarkA-8   \t2024/01/01 started\n3 2 items\n    1000\t      1234 ns/op\n\
         BenchmarkB-8   \t100\t20 ns/op\nBenchmarkC-8   \tno end\nPASS\nok  p 1s\n"
    );
    let read = text("split.txt", content.as_bytes()).expect("a file");
    assert_eq!(series(&read.imports, "A-8", "wall").processes, [[1234.0]]);
    assert_eq!(series(&read.imports, "B-8", "wall").processes, [[20.0]]);
    assert_eq!(
        read.imports[0].remarks,
        ["Benchmarks without results: C-8."]
    );
    // With -v, the names precede the results.
    let verbose = format!(
        "{GO}BenchmarkA\nBenchmarkA-8 10 5 ns/op\nBenchmarkOf\nBenchmarkOf/one\nBenchmarkOf/one-8 10 6 ns/op\nPASS\n"
    );
    let read = text("verbose.txt", verbose.as_bytes()).expect("a file");
    assert!(
        read.imports[0].remarks.is_empty(),
        "{:?}",
        read.imports[0].remarks
    );
    assert_eq!(read.imports[0].series.len(), 2);
}

#[test]
fn go_events_are_read_by_package() {
    let event = |package: &str, output: &str| {
        let output = serde_json::to_string(output).unwrap();
        format!(
            "{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"output\",\"Package\":\"{package}\",\"Output\":{output}}}\n"
        )
    };
    let content = [
        "{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"start\",\"Package\":\"p\"}\n".to_owned(),
        event("p", "goos: linux\n"),
        event("p", "pkg: p\n"),
        event("p", "BenchmarkA-8   \t"),
        event("q", "goos: linux\n"),
        event("q", "pkg: q\n"),
        event("q", "BenchmarkA-8   \t"),
        event("p", "      10\t       100 ns/op\n"),
        event("q", "      10\t       700 ns/op\n"),
        event("p", "PASS\n"),
        event("q", "PASS\n"),
    ];
    let read = text("events.json", content.concat().as_bytes()).expect("a file");
    for (label, value) in [("A-8 pkg=p", 100.0), ("A-8 pkg=q", 700.0)] {
        assert_eq!(series(&read.imports, label, "wall").processes, [[value]]);
    }
    assert!(read.imports[0].remarks.is_empty());
    let cut = content.concat();
    let error = text("events.json", &cut.as_bytes()[..cut.len() - 20]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 11: expected an event of go test -json"),
        "{error}"
    );
}

#[test]
fn go_results_of_different_machines_are_not_joined() {
    let content = format!(
        "{GO}BenchmarkA-8 10 100 ns/op\nPASS\nok  p 1s\n{}BenchmarkA-8 10 900 ns/op\nPASS\nok  p 1s\n",
        GO.replace("linux", "darwin").replace("cpu: A", "cpu: B")
    );
    let read = text("two.txt", content.as_bytes()).expect("a file");
    let label = "A-8 goos=darwin cpu=B";
    assert_eq!(series(&read.imports, label, "wall").processes, [[900.0]]);
    let facts = &read.imports[0].facts;
    for fact in [("goarch", "amd64"), ("package", "p")] {
        assert!(facts.contains(&(fact.0.into(), fact.1.into())), "{facts:?}");
    }
    // The same configuration twice is two processes.
    let twice =
        format!("{GO}BenchmarkA-8 10 100 ns/op\nPASS\n{GO}BenchmarkA-8 10 110 ns/op\nPASS\n");
    let read = text("twice.txt", twice.as_bytes()).expect("a file");
    assert_eq!(
        series(&read.imports, "A-8", "wall").processes,
        [[100.0], [110.0]]
    );
}

#[test]
fn failed_go_packages_are_named_and_compared_outputs_rejected() {
    let content =
        format!("{GO}BenchmarkA-8 10 100 ns/op\npanic: boom\nexit status 2\nFAIL\tp\t0.1s\nFAIL\n");
    let read = text("panic.txt", content.as_bytes()).expect("a file");
    assert_eq!(read.imports[0].remarks, ["These failed: p."]);
    let compared = "benchmark   old ns/op  new ns/op delta\nBenchmarkA-8  100  90  -10%\n";
    let error = text("compared.txt", compared.as_bytes()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected a unit such as ns/op, found `-10%`"),
        "{error}"
    );
}

#[test]
fn counters_of_google_benchmark_are_imported() {
    let content = br#"{"context":{},"benchmarks":[
        {"name":"BM_a/8","run_name":"BM_a/8","run_type":"iteration","repetitions":1,"repetition_index":0,"threads":1,
         "iterations":7,"real_time":2.0,"cpu_time":1.0,"time_unit":"us","bytes_per_second":5e6,"items_per_second":3.0,
         "hits":4.0},
        {"name":"BM_a_BigO","run_name":"BM_a","run_type":"aggregate","aggregate_name":"BigO","cpu_coefficient":1.0,
         "real_coefficient":2.0,"big_o":"N","time_unit":"ns"},
        {"name":"BM_a_RMS","run_name":"BM_a","run_type":"aggregate","aggregate_name":"RMS","rms":0.1}]}"#;
    let read = text("counters.json", content).expect("a file");
    for (metric, value) in [
        ("wall", 2000.0),
        ("bytes_per_second", 5e6),
        ("items_per_second", 3.0),
        ("hits", 4.0),
    ] {
        assert_eq!(series(&read.imports, "BM_a/8", metric).processes, [[value]]);
    }
    assert_eq!(read.imports[0].series.len(), 5);
    assert_eq!(
        read.imports[0].remarks,
        ["The fits of the asymptotic complexity (BigO and RMS) were not imported."]
    );
}

#[test]
fn failed_requests_of_load_tools_are_named() {
    let oha = "Summary:\n  Success rate:\t80.00%\n  Average:\t0.01 secs\n  Requests/sec:\t10.0\n\n\
               Status code distribution:\n  [200] 80 responses\n  [500] 12 responses\n\n\
               Error distribution:\n  [8] connection refused\n";
    let expected = "20 of 100 requests failed: status 500 (12), connection refused (8).";
    let read = text("oha.txt", oha.as_bytes()).expect("a file");
    assert_eq!(read.imports[0].remarks, [expected]);
    let oha =
        br#"{"summary":{"requestsPerSec":10.0,"average":0.01,"slowest":0.1,"successRate":0.8},
        "latencyPercentiles":{"p50":0.01},"statusCodeDistribution":{"200":80,"500":12},
        "errorDistribution":{"connection refused":8}}"#;
    let read = text("oha.json", oha).expect("a file");
    assert_eq!(read.imports[0].remarks, [expected]);
    let vegeta = br#"{"latencies":{"mean":1000,"50th":1000,"max":2000},"requests":10,"throughput":9.0,"success":0.7,
        "status_codes":{"0":1,"200":7,"503":2},"errors":["503 Service Unavailable"]}"#;
    let read = text("vegeta.json", vegeta).expect("a file");
    assert_eq!(
        read.imports[0].remarks,
        ["3 of 10 requests failed: no response (1), status 503 (2)."]
    );
    for name in ["vegeta.json", "vegeta-lines.json"] {
        assert!(file(name).imports[0].remarks.is_empty(), "{name}");
    }
}

/// Returns the output of wrk for `url` at `rate` requests per second.
fn wrk(url: &str, rate: u32) -> String {
    format!(
        "Running 1s test @ {url}\n  2 threads and 2 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency     1.00ms    0.10ms   2.00ms   90.00%\n    Req/Sec     1.00      0.00     1.00    100.00%\n  \
         {rate} requests in 1.00s, 1.00MB read\nRequests/sec:   {rate}.00\nTransfer/sec:      1.00MB\n"
    )
}

#[test]
fn the_tests_in_one_file_of_wrk_are_told_apart_by_url() {
    let both = wrk("http://a/", 10) + &wrk("http://b/", 30) + &wrk("http://a/", 12);
    let read = text("wrk.txt", both.as_bytes()).expect("a file");
    let subjects: Vec<&str> = read.imports.iter().map(|i| &*i.subject).collect();
    assert_eq!(subjects, ["http://a/", "http://b/"]);
    assert_eq!(
        series(&read.imports[..1], "", "throughput").processes,
        [[10.0], [12.0]]
    );
    assert_eq!(
        series(&read.imports[1..], "", "throughput").processes,
        [[30.0]]
    );
    let cut = &both[..both.len() - 60];
    let error = text("wrk.txt", cut.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("truncated"), "{error}");
}

#[test]
fn wrk_without_a_response_has_no_times() {
    let none = wrk("http://a/", 0)
        .replace(
            "1.00ms    0.10ms   2.00ms   90.00%",
            "0.00us    0.00us   0.00us    -nan%",
        )
        .replace(
            "Requests/sec",
            "  Socket errors: connect 0, read 0, write 0, timeout 10\nRequests/sec",
        );
    let read = text("wrk.txt", none.as_bytes()).expect("a file");
    let metrics: Vec<&str> = read.imports[0]
        .series
        .iter()
        .map(|s| &*s.metric.id)
        .collect();
    assert_eq!(metrics, ["requests", "throughput", "errors"]);
    assert_eq!(
        read.imports[0].remarks,
        ["http://a/: no request had a response."]
    );
}

#[test]
fn the_rate_of_k6_covers_the_first_request() {
    let point = |metric: &str, second: u32, value: f64| {
        format!(
            "{{\"type\":\"Point\",\"metric\":\"{metric}\",\"data\":{{\"time\":\"2026-01-01T00:00:{second:02}Z\",\"value\":{value}}}}}\n"
        )
    };
    // Five requests of a second each, one after the other.
    let lines: String = (1..=5)
        .map(|second| point("http_req_duration", second, 1000.0))
        .collect();
    let read = text("k6.json", lines.as_bytes()).expect("a file");
    assert_eq!(series(&read.imports, "", "throughput").processes, [[1.0]]);
}

#[test]
fn the_unit_of_a_histogram_log_is_stated_or_given() {
    let read = file("example.hlog");
    assert!(read.imports[0].remarks[0].contains("taken for nanoseconds"));
    let p50 = |file: &lab_import::ImportedFile| series(&file.imports, "", "p50").processes[0][0];
    let micros = read.clone().in_unit(1000).expect("a log");
    assert_eq!(p50(&micros), 1000.0 * p50(&read));
    assert!(micros.imports[0].remarks.is_empty());
    assert_eq!(
        series(&micros.imports, "", "operations").processes,
        [[5000.0]]
    );
    let error = file("wrk.txt").in_unit(1000).unwrap_err();
    assert!(error.contains("wrk files define their unit"), "{error}");
}

#[test]
fn tests_of_the_same_name_are_told_apart_by_suite() {
    let content = br#"<testsuites><testsuite name="chrome"><testcase classname="a" name="t" time="1"/>
        <testcase classname="a" name="only" time="2"/></testsuite>
        <testsuite name="firefox"><testcase classname="a" name="t" time="3"></testcase></testsuite></testsuites>"#;
    let read = text("suites.xml", content).expect("a file");
    for (label, seconds) in [
        ("a.t suite=chrome", 1.0),
        ("a.t suite=firefox", 3.0),
        ("a.only", 2.0),
    ] {
        assert_eq!(
            series(&read.imports, label, "wall").processes,
            [[seconds * 1e9]]
        );
    }
    let nested = br#"<testsuites>
        <testsuite name="a"><testsuite name="all"><testcase name="t" time="1"/></testsuite></testsuite>
        <testsuite name="b"><testsuite name="all"><testcase name="t" time="2"/></testsuite></testsuite>
        </testsuites>"#;
    let read = text("nested.xml", nested).expect("a file");
    for (label, seconds) in [("t suite=a/all", 1.0), ("t suite=b/all", 2.0)] {
        assert_eq!(
            series(&read.imports, label, "wall").processes,
            [[seconds * 1e9]]
        );
    }
    let comma = br#"<testsuite><testcase name="t" time="0,123"/></testsuite>"#;
    let error = text("comma.xml", comma).unwrap_err();
    assert!(
        error.to_string().contains("may be a decimal comma"),
        "{error}"
    );
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
    let files = vec![path("criterion"); 8];
    let joined = read_joined(&files, None, &Limits::default()).expect("files of one tool");
    assert_eq!(
        shape(&series(&joined.imports, "one", "wall").processes),
        [100; 8]
    );
    let mixed = [path("criterion"), path("wrk.txt")];
    let error = read_joined(&mixed, None, &Limits::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("different tools: criterion and wrk"),
        "{error}"
    );
}

#[test]
fn results_of_the_same_name_in_different_files_are_not_joined() {
    let go = |package: &str, ns: u32| {
        format!("goos: linux\npkg: {package}\nBenchmarkA-8 10 {ns} ns/op\nPASS\nok  {package} 1s\n")
    };
    let (p, q) = (go("p", 100), go("q", 900));
    let read = joined(&[&p, &q, &go("p", 110)]).expect("files of one tool");
    assert_eq!(
        series(&read.imports, "A-8 pkg=p", "wall").processes,
        [[100.0], [110.0]]
    );
    assert_eq!(
        series(&read.imports, "A-8 pkg=q", "wall").processes,
        [[900.0]]
    );
    // A parameter with the same value in all files becomes a fact.
    let read = joined(&[&p, &go("p", 110)]).expect("files of one tool");
    assert_eq!(
        series(&read.imports, "A-8", "wall").processes,
        [[100.0], [110.0]]
    );
    let package = ("package".to_owned(), "p".to_owned());
    assert!(read.imports[0].facts.contains(&package));

    let read = joined(&[&wrk("http://a/", 10), &wrk("http://b/", 30)]).expect("files of one tool");
    let subjects: Vec<&str> = read.imports.iter().map(|i| &*i.subject).collect();
    assert_eq!(subjects, ["http://a/", "http://b/"]);

    let junit = |suite: &str, seconds: u32| {
        format!("<testsuite name='{suite}'><testcase name='t' time='{seconds}'/></testsuite>")
    };
    let read = joined(&[&junit("chrome", 1), &junit("firefox", 3)]).expect("files of one tool");
    for (label, ns) in [("t suite=chrome", 1e9), ("t suite=firefox", 3e9)] {
        assert_eq!(series(&read.imports, label, "wall").processes, [[ns]]);
    }
    let read = joined(&[&junit("chrome", 1), &junit("chrome", 2)]).expect("files of one tool");
    assert_eq!(series(&read.imports, "t", "wall").processes, [[1e9], [2e9]]);

    // The values of benchlab's XML are no processes.
    let xml = |language: &str| {
        format!(
            "<benchmark language='{language}' driver='d' threads='1' rss_size='1' \
             peak_rss_size='1' user_time='1' sys_time='1'><measures title='m'>\
             <time count='1' time='2 us' total='2 us' title='t'/></measures></benchmark>"
        )
    };
    let read = joined(&[&xml("Ada"), &xml("Java")]).expect("files of one tool");
    assert_eq!(read.imports.len(), 2);
    let error = joined(&[&xml("Ada"), &xml("Ada")]).unwrap_err().to_string();
    assert!(error.contains("two results for t (mean time)"), "{error}");
}

#[test]
fn the_jobs_and_namespaces_of_benchmark_dotnet_are_distinguished() {
    let benchmark = |namespace: &str, info: &str, ns: f64| {
        format!(
            r#"{{"DisplayInfo":"{info}","Namespace":"{namespace}","Type":"Sums","Method":"Loop",
            "Parameters":"Size=10","Statistics":{{"OriginalValues":[{ns}],"Mean":{ns}}}}}"#
        )
    };
    let file = |benchmarks: &[String]| {
        let content = format!(
            r#"{{"HostEnvironmentInfo":{{}},"Benchmarks":[{}]}}"#,
            benchmarks.join(",")
        );
        text("dotnet.json", content.as_bytes()).expect("a file")
    };
    let job =
        |version: &str| format!("Sums.Loop: .NET {version}(Runtime=.NET {version}) [Size=10]");
    let default = "Sums.Loop: DefaultJob [Size=10]";
    let read = file(&[
        benchmark("A", &job("6.0"), 20.0),
        benchmark("A", &job("8.0"), 10.0),
        benchmark("A", default, 12.0),
    ]);
    for (label, ns) in [
        ("Sums.Loop job=.NET 6.0(Runtime=.NET 6.0) Size=10", 20.0),
        ("Sums.Loop job=.NET 8.0(Runtime=.NET 8.0) Size=10", 10.0),
        ("Sums.Loop Size=10", 12.0),
    ] {
        assert_eq!(series(&read.imports, label, "wall").processes, [[ns]]);
    }
    let read = file(&[benchmark("A", &job("6.0"), 20.0)]);
    assert_eq!(read.imports[0].series[0].label(), "Sums.Loop Size=10");
    let fact = ("job".to_owned(), ".NET 6.0(Runtime=.NET 6.0)".to_owned());
    assert!(read.imports[0].facts.contains(&fact));
    let read = file(&[benchmark("A", default, 1.0), benchmark("B", default, 2.0)]);
    for (label, ns) in [
        ("Sums.Loop namespace=A Size=10", 1.0),
        ("Sums.Loop namespace=B Size=10", 2.0),
    ] {
        assert_eq!(series(&read.imports, label, "wall").processes, [[ns]]);
    }
}

#[test]
fn the_profiler_of_jmh_reports_allocated_bytes_once() {
    let mode = |mode: &str, unit: &str, mark: &str| {
        let norm = |name: &str, bytes: f64| {
            format!(r#""{mark}{name}":{{"scoreUnit":"B/op","rawData":[[{bytes}]]}}"#)
        };
        format!(
            r#"{{"benchmark":"b","mode":"{mode}",
            "primaryMetric":{{"scoreUnit":"{unit}","rawData":[[1]]}},
            "secondaryMetrics":{{{},{},{}}}}}"#,
            norm("gc.alloc.rate.norm", 24.0),
            norm("gc.churn.G1_Eden_Space.norm", 30.0),
            norm("gc.churn.G1_Survivor_Space.norm", 3.0),
        )
    };
    for mark in ["", "·"] {
        let content = format!(
            "[{},{}]",
            mode("avgt", "ns/op", mark),
            mode("thrpt", "ops/ns", mark)
        );
        let read = text("jmh.json", content.as_bytes()).expect("a file");
        let metrics: Vec<&str> = read.imports[0]
            .series
            .iter()
            .map(|s| &*s.metric.id)
            .collect();
        assert_eq!(metrics, ["wall", "allocated_bytes", "throughput"]);
        assert_eq!(
            series(&read.imports, "b", "allocated_bytes").processes,
            [[24.0]]
        );
        assert!(read.imports[0].remarks[0].contains("gc.churn.G1_Eden_Space.norm"));
    }
}

#[test]
fn percentiles_of_the_same_requests_are_imported_once() {
    let listed = |title: &str, p50: &str| {
        format!(
            "  Latency Distribution (HdrHistogram - {title})\n 50.000%  {p50}\n 99.000%  9.00ms\n"
        )
    };
    let both = listed("Recorded Latency", "1.50ms")
        + &listed(
            "Uncorrected Latency (measured without taking delayed starts into account)",
            "0.50ms",
        );
    let wrk2 = wrk("http://a/", 10).replace("  10 requests", &(both + "  10 requests"));
    let read = text("wrk2.txt", wrk2.as_bytes()).expect("a file");
    assert_eq!(series(&read.imports, "", "p50").processes, [[1.5e6]]);

    let k6 = br#"{"metrics":{"iterations":{"count":1},
        "http_req_duration":{"med":2,"p(50)":2,"p(99)":4,"p(99.0)":4}}}"#;
    let read = text("k6.json", k6).expect("a file");
    assert_eq!(series(&read.imports, "", "p50").processes, [[2e6]]);
    assert_eq!(series(&read.imports, "", "p99").processes, [[4e6]]);
    assert_eq!(read.imports[0].series.len(), 2);

    let oha = "Summary:\n  Average:\t0.01 secs\n  Requests/sec:\t10.0\n\n\
               Response time distribution:\n  50.00% in 0.0100 secs\n\n\
               Response time distribution (2xx only):\n  50.00% in 0.0200 secs\n";
    let read = text("oha.txt", oha.as_bytes()).expect("a file");
    assert_eq!(series(&read.imports, "", "p50").processes, [[1e7]]);
}

#[test]
fn the_parameters_of_hyperfine_distinguish_commands_of_the_same_name() {
    let result = |name: &str, size: u32| {
        format!(r#"{{"command":"{name}","times":[0.1,0.2],"parameters":{{"size":"{size}"}}}}"#)
    };
    let file = |results: &[String]| format!(r#"{{"results":[{}]}}"#, results.join(","));
    let content = file(&[
        result("sort", 10),
        result("sort", 20),
        result("head 30", 30),
    ]);
    let read = text("scan.json", content.as_bytes()).expect("a file");
    let subjects: Vec<&str> = read.imports.iter().map(|i| &*i.subject).collect();
    assert_eq!(
        subjects,
        ["sort (size = 10)", "sort (size = 20)", "head 30"]
    );
    let (ten, twenty) = (file(&[result("sort", 10)]), file(&[result("sort", 20)]));
    assert_eq!(joined(&[&ten, &twenty]).unwrap().imports.len(), 2);
}

#[test]
fn two_results_of_the_same_name_are_an_error() {
    let twice = br#"{"results":[{"command":"a","times":[1]},{"command":"a","times":[2]}]}"#;
    let error = text("twice.json", twice).unwrap_err().to_string();
    assert!(
        error.contains("two results for a (time)") && error.contains("its own name"),
        "{error}"
    );
}

#[test]
fn a_counter_with_the_name_of_a_metric_is_not_mixed_with_it() {
    let content = "pkg: p\nBenchmarkA-8 10 100 ns/op 7 wall\nPASS\nok  p 1s\n";
    let read = text("go.txt", content.as_bytes()).expect("a file");
    assert_eq!(series(&read.imports, "A-8", "wall").processes, [[100.0]]);
    assert_eq!(series(&read.imports, "A-8", "wall_").processes, [[7.0]]);
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
