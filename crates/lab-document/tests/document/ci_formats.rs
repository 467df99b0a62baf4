// SPDX-License-Identifier: Apache-2.0
//! Tests of the formats for CI systems and other tools, with hostile names in every field.

use lab_document::{
    Chart, Document, Drawing, FORMATS, Finding, Flame, Gate, Issue, Item, Location, Quantity,
    Rendered, Row, Section, Severity, Span, Terminal, Tone,
};
use lab_model::{Decision, Interval, Metric, OnInconclusive, Unit};
use serde_json::Value;

/// A name with every character that a format treats specially.
const HOSTILE: &str = "a|b `c`\n::error file=x::%0A <script>alert(1)</script> ##[error] \"q\" 'r' \\ ;,=\u{1b}[31m]]> &amp;";

/// Renders a document in a format that produces a single text.
fn text(format: &str, document: &Document) -> String {
    match render(format, document) {
        Rendered::Text(text) => text,
        other => panic!("{format}: {other:?}"),
    }
}

fn render(format: &str, document: &Document) -> Rendered {
    let format = FORMATS
        .into_iter()
        .find(|known| known.name == format)
        .expect("a format");
    format
        .render(document, Terminal::default())
        .unwrap_or_else(|e| panic!("{}: {e}", format.name))
}

fn json(format: &str, document: &Document) -> Value {
    serde_json::from_str(&text(format, document)).unwrap_or_else(|e| panic!("{format}: {e}"))
}

fn github(document: &Document) -> (String, String) {
    match render("github", document) {
        Rendered::Annotated { commands, summary } => (commands, summary),
        other => panic!("{other:?}"),
    }
}

fn row(name: &str, metric: Metric, value: f64) -> Row {
    let interval = Interval {
        estimate: value,
        low: value * 0.99,
        high: value * 1.02,
        level: 0.95,
    };
    Row {
        case: name.into(),
        params: vec![(name.into(), name.into())],
        value: Some(Quantity::estimate(&interval, metric.unit.clone())),
        ratio: Some(Quantity::exact(1.5, Unit::Ratio)),
        verdict: "slower".into(),
        samples: vec![value * 0.99, value, value * 1.01],
        ..Row::new(name, name, metric)
    }
}

fn issue(rule: &str, text: &str, severity: Severity) -> Issue {
    Issue {
        rule: rule.into(),
        title: "A rule".into(),
        text: text.into(),
        severity,
        object: text.into(),
        source: "https://example.com/a b".into(),
        ..Issue::default()
    }
}

/// Returns a document whose texts are all `name`.
fn document(name: &str) -> Document {
    let mut document = Document {
        title: name.into(),
        question: name.into(),
        made: name.into(),
        benchlab_version: "1.2.3".into(),
        source: name.into(),
        issues: vec![
            Issue {
                location: Some(Location {
                    file: "src/a,b:c.conf".into(),
                    line: Some(12),
                }),
                ..issue("rule-one", name, Severity::Error)
            },
            issue("rule-two", name, Severity::Notice),
            Issue {
                waived: Some(format!("accepted {name}")),
                ..issue("rule-three", name, Severity::Warning)
            },
        ],
        rows: vec![
            row(name, Metric::WALL, 1.5e6),
            row(name, Metric::PEAK_MEMORY, 4096.0),
            row(name, Metric::THROUGHPUT, 200.0),
        ],
        timeline: vec![
            Span {
                track: name.into(),
                name: name.into(),
                start_ns: 1500,
                length_ns: 2500,
                facts: vec![(name.into(), name.into())],
            },
            Span::default(),
        ],
        ..Document::default()
    };
    document.answer.headline = name.into();
    let mut section = Section::new(name);
    section.push(Finding::new(name, format!("warning {name}"), Tone::Alarm));
    section.push(Item::Chart(Chart {
        id: "flame".into(),
        title: name.into(),
        caption: name.into(),
        drawing: Drawing::Flame(Flame {
            unit: Unit::Count("instructions".into()),
            stacks: vec![
                (vec!["main".into(), name.into()], 30),
                (vec!["main".into()], 12),
            ],
        }),
    }));
    document.section(section);
    document
}

#[test]
fn annotations_are_one_command_on_each_line() {
    let (commands, summary) = github(&document(HOSTILE));
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(
        lines.len(),
        3,
        "the waived problem is not annotated, and no name starts a line: {commands}"
    );
    assert!(
        lines[0].starts_with("::error file=src/a%2Cb%3Ac.conf,line=12,title=benchlab%3A A rule::"),
        "{commands}"
    );
    assert!(
        lines[1].starts_with("::warning title=benchlab%3A "),
        "{commands}"
    );
    assert!(
        lines[2].starts_with("::notice title=benchlab%3A A rule::"),
        "{commands}"
    );
    // `%0A` in a name stays text.
    assert!(
        lines
            .iter()
            .all(|line| !line.contains("%0A") && line.contains("%250A")),
        "{commands}"
    );
    assert!(!summary.contains("<script>") && !summary.contains('\u{1b}'));
    assert!(
        summary
            .lines()
            .all(|line| !line.trim_start().starts_with("::")),
        "{summary}"
    );
}

#[test]
fn many_problems_are_counted_and_a_long_summary_is_cut() {
    let mut many = document("x");
    many.issues = (0..25)
        .map(|i| issue(&format!("r{i}"), &format!("t{i}"), Severity::Warning))
        .collect();
    let (commands, _) = github(&many);
    assert_eq!(commands.matches("::warning").count(), 10);
    assert!(
        commands.contains("The summary contains 16 more annotations of severity warning."),
        "{commands}"
    );
    let mut long = document("x");
    for _ in 0..30 {
        let mut section = Section::new("Long");
        section.text("y".repeat(100_000));
        long.section(section);
    }
    let (_, summary) = github(&long);
    assert!(summary.len() < 1 << 20 && summary.contains("x"));
}

#[test]
fn code_quality_has_the_required_members_and_stable_fingerprints() {
    let all = json("gitlab", &document(HOSTILE));
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 3, "the waived problem is omitted");
    let mut prints: Vec<&str> = all
        .iter()
        .map(|one| one["fingerprint"].as_str().unwrap())
        .collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), all.len());
    for one in all {
        for key in ["description", "check_name", "severity"] {
            assert!(!one[key].as_str().unwrap().is_empty(), "{one}");
        }
        assert!(["critical", "major", "minor"].contains(&one["severity"].as_str().unwrap()));
        assert!(one["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
        assert!(!one["location"]["path"].as_str().unwrap().is_empty());
    }
    assert_eq!(all[0]["location"]["path"], "src/a,b:c.conf");
    // Measured numbers in the text do not change what a problem is.
    let mut other = document(HOSTILE);
    other.issues[0].text = "other numbers: 12.4 ms".into();
    assert_eq!(
        json("gitlab", &other)[0]["fingerprint"],
        all[0]["fingerprint"]
    );
}

#[test]
fn sarif_refers_to_its_rules_and_waivers_are_suppressions() {
    let log = json("sarif", &document(HOSTILE));
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            .as_str()
            .unwrap();
        assert!(
            uri.bytes()
                .all(|b| b.is_ascii_graphic() && !b"<>\"\\^`{|}".contains(&b)),
            "{uri}"
        );
    }
    assert_eq!(rules[0]["helpUri"], "https://example.com/a%20b");
    let waived = &run["results"][2]["suppressions"][0];
    assert_eq!(waived["status"], "accepted");
    assert!(
        waived["justification"]
            .as_str()
            .unwrap()
            .starts_with("accepted a|b")
    );
    assert!(run["results"][0].get("suppressions").is_none());
    assert_eq!(
        run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"],
        12
    );
}

#[test]
fn junit_counts_its_tests() {
    let xml = text("junit", &document(HOSTILE));
    let parsed = roxmltree::Document::parse(&xml).unwrap_or_else(|e| panic!("{e}: {xml}"));
    let suite = parsed
        .descendants()
        .find(|n| n.has_tag_name("testsuite"))
        .unwrap();
    let count = |name: &str| {
        parsed
            .descendants()
            .filter(|n| n.has_tag_name(name))
            .count()
            .to_string()
    };
    assert_eq!(suite.attribute("tests").unwrap(), count("testcase"));
    assert_eq!(suite.attribute("failures").unwrap(), count("failure"));
    assert_eq!(suite.attribute("skipped").unwrap(), count("skipped"));
    assert_eq!(count("failure"), "1");
    let mut tests = parsed.descendants().filter(|n| n.has_tag_name("testcase"));
    let wall = tests
        .find(|n| n.attribute("classname") == Some("benchlab.wall"))
        .unwrap();
    assert_eq!(wall.attribute("time"), Some("0.001500000"));
    assert!(
        wall.attribute("name").unwrap().contains("<script>"),
        "names are escaped, not removed"
    );
    let empty = text("junit", &Document::default());
    assert!(
        empty.contains("tests=\"1\""),
        "a suite without tests counts as a failure: {empty}"
    );
}

#[test]
fn each_line_is_an_object() {
    let lines = text("jsonl", &document(HOSTILE));
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| {
            let object: Value =
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            object["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "report", "finding", "issue", "issue", "issue", "row", "row", "row"
        ]
    );
}

#[test]
fn benchstat_gets_a_line_for_each_sample() {
    let out = text("benchstat", &document(HOSTILE));
    let results: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("Benchmark"))
        .collect();
    assert_eq!(results.len(), 9);
    for line in &results {
        let fields: Vec<&str> = line.split(' ').collect();
        assert_eq!(fields.len(), 4, "{line}");
        assert!(
            fields[0]
                .trim_start_matches("Benchmark")
                .starts_with(char::is_uppercase),
            "{line}"
        );
        assert!(fields[2].parse::<f64>().is_ok(), "{line}");
    }
    assert!(results[0].ends_with(" ns/op"));
    assert!(
        out.lines()
            .all(|line| line.starts_with("Benchmark") || line.contains(": ")),
        "{out}"
    );
    let digit = text("benchstat", &document("8 Ä"));
    assert!(digit.contains("\nBenchmarkB_8_Ä/"), "{digit}");
}

#[test]
fn benchstat_gets_a_unit_for_each_rate() {
    let mut document = document("sort");
    let row = |metric: Metric| Row {
        value: Some(Quantity::exact(5.0, metric.unit.clone())),
        ..Row::new("run", "a", metric)
    };
    let rates = [Metric::OFFERED, Metric::THROUGHPUT, Metric::RECEIVED];
    document.rows = rates.map(row).into();
    let out = text("benchstat", &document);
    let lines = out.lines().filter(|line| line.starts_with("Benchmark"));
    let units: Vec<&str> = lines.filter_map(|line| line.split(' ').nth(3)).collect();
    assert_eq!(
        units,
        ["offered-requests/s", "requests/s", "received-B/s"],
        "{out}"
    );
}

#[test]
fn trackers_get_values_with_bounds() {
    let bencher = json("bencher", &document("sort"));
    assert_eq!(bencher["sort sort sort=sort"]["latency"]["value"], 1.5e6);
    assert_eq!(
        bencher["sort sort sort=sort"]["latency"]["lower_value"],
        1.485e6
    );
    assert_eq!(
        bencher["sort sort sort=sort"]["peak-memory"]["value"],
        4096.0
    );
    let entries = json("github-action-benchmark", &document("sort"));
    let entries = entries.as_array().unwrap();
    assert_eq!(
        entries.len(),
        2,
        "more throughput is better, so it is omitted from a smaller-is-better file"
    );
    assert_eq!(entries[0]["unit"], "ns");
    assert_eq!(entries[0]["range"], "1485000 to 1530000");
    json("bencher", &document(HOSTILE));
    json("github-action-benchmark", &document(HOSTILE));
}

#[test]
fn trackers_get_only_the_latest_of_two_runs() {
    let mut document = document("sort");
    let row = |run: &str, value: f64| Row {
        run: run.into(),
        ..row("sort", Metric::WALL, value)
    };
    document.rows = vec![row("old", 1e6), row("new", 2e6)];
    let entries = json("github-action-benchmark", &document);
    assert_eq!(entries.as_array().unwrap().len(), 1, "{entries}");
    assert_eq!(entries[0]["value"], 2e6);
    assert_eq!(
        json("bencher", &document)["sort sort sort=sort"]["latency"]["value"],
        2e6
    );
}

#[test]
fn gates_are_no_subjects_for_other_tools() {
    let without = document("sort");
    let mut with = without.clone();
    let gate = Gate::new("time>5ms", "ada at limit=10", Decision::Passed, "fine");
    with.add_gates(vec![
        gate.with_value(Quantity::exact(4e6, Unit::Nanoseconds)),
    ]);
    assert_ne!(text("csv", &with), text("csv", &without));
    let formats = [
        "xml",
        "bencher",
        "benchstat",
        "openmetrics",
        "github-action-benchmark",
    ];
    let comment = "<!-- gate passed: fine -->\n";
    assert!(text("xml", &with).contains(comment));
    for format in formats {
        let data = text(format, &with).replace(comment, "");
        assert_eq!(data, text(format, &without), "{format}");
    }
    assert!(text("xml", &with).contains("<benchmark "));
    assert!(!text("xml", &with).contains("<benchmarks"));
}

#[test]
fn open_metrics_end_with_eof_and_have_each_label_set_once() {
    let mut twice = document(HOSTILE);
    twice.rows.extend(twice.rows.clone());
    let out = text("openmetrics", &twice);
    assert!(out.ends_with("# EOF\n"));
    assert!(
        out.contains("# TYPE benchlab_wall_seconds gauge\n# UNIT benchlab_wall_seconds seconds\n"),
        "{out}"
    );
    let samples: Vec<&str> = out.lines().filter(|line| !line.starts_with('#')).collect();
    let mut keys: Vec<&str> = samples
        .iter()
        .map(|line| line.rsplit_once(' ').unwrap().0)
        .collect();
    assert!(
        keys.iter()
            .all(|key| key.starts_with("benchlab_") && key.ends_with("\"}")),
        "{keys:?}"
    );
    keys.sort_unstable();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all);
    assert!(out.contains(" 0.0015\n"));
}

#[test]
fn call_stacks_and_timelines_are_written() {
    let folded = text("folded", &document("a;b"));
    assert_eq!(folded, "main;a:b 30\nmain 12\n");
    let hostile = text("folded", &document(HOSTILE));
    assert_eq!(hostile.lines().count(), 2, "{hostile}");
    let file = json("speedscope", &document(HOSTILE));
    let profile = &file["profiles"][0];
    assert_eq!(profile["endValue"], 42);
    assert_eq!(profile["samples"], serde_json::json!([[0, 1], [0]]));
    assert_eq!(file["shared"]["frames"][0]["name"], "main");
    let trace = json("perfetto", &document(HOSTILE));
    let spans: Vec<&Value> = trace["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["ph"] == "X")
        .collect();
    assert_eq!(
        (&spans[0]["ts"], &spans[0]["dur"]),
        (&1.5.into(), &2.5.into())
    );
    for format in ["folded", "speedscope", "perfetto"] {
        let format = FORMATS
            .into_iter()
            .find(|known| known.name == format)
            .unwrap();
        let error = format
            .render(&Document::default(), Terminal::default())
            .unwrap_err();
        assert!(error.to_string().contains("this report has no "), "{error}");
    }
}

#[test]
fn no_format_lets_control_characters_through() {
    for format in FORMATS {
        let rendered = format
            .render(&document(HOSTILE), Terminal::default())
            .unwrap();
        let text = match rendered {
            Rendered::Text(text) => text,
            Rendered::Annotated { commands, summary } => commands + &summary,
            Rendered::Bytes(_) | Rendered::Files(_) => continue,
        };
        // CSV is read by programs and keeps names as they are.
        assert!(
            format.name == "csv" || !text.contains('\u{1b}'),
            "{}",
            format.name
        );
    }
}

#[test]
fn gates_that_did_not_pass_are_problems_and_each_gate_is_a_test() {
    let mut judged = document("sort");
    judged.issues.clear();
    judged.sections.clear();
    let gate = |condition: &str, decision| {
        Gate::new(
            condition,
            HOSTILE,
            decision,
            &format!("{HOSTILE} takes 1.08 times"),
        )
    };
    judged.add_gates(vec![
        gate("time>+5%", Decision::Failed).with_limit(1.05, Unit::Ratio),
        gate("cpu>+5%", Decision::Inconclusive),
        gate("memory>+5%", Decision::Inconclusive).with_inconclusive(OnInconclusive::Warn),
        gate("mean>+5%", Decision::Passed),
    ]);
    let (commands, _) = github(&judged);
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(lines.len(), 3, "{commands}");
    assert!(
        lines[0].starts_with("::error title=benchlab%3A gate time>+5%25::gate failed: "),
        "{commands}"
    );
    assert!(
        lines[1].starts_with("::error ") && lines[2].starts_with("::warning "),
        "{commands}"
    );
    let severities: Vec<Value> = json("gitlab", &judged)
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["severity"].clone())
        .collect();
    assert_eq!(severities, ["critical", "critical", "major"]);
    let results = json("sarif", &judged)["runs"][0]["results"].clone();
    assert_eq!(results[0]["ruleId"], "gate:time>+5%");
    assert_eq!(results[0]["level"], "error");
    let xml = text("junit", &judged);
    let parsed = roxmltree::Document::parse(&xml).unwrap_or_else(|e| panic!("{e}: {xml}"));
    let tests = parsed
        .descendants()
        .filter(|n| n.attribute("classname") == Some("benchlab.gate"));
    let results: Vec<&str> = tests
        .map(|test| {
            let result = test
                .children()
                .find(|n| n.has_tag_name("failure") || n.has_tag_name("skipped"));
            result.map_or("passed", |n| n.tag_name().name())
        })
        .collect();
    assert_eq!(results, ["failure", "failure", "skipped", "passed"]);
    let kept: Vec<Gate> = judged
        .gates
        .iter()
        .map(|gate| Gate::from(&gate.to_stored()))
        .collect();
    assert_eq!(kept, judged.gates);
}
