// SPDX-License-Identifier: Apache-2.0
//! Metrics that an experiment defines in addition to the built-in metrics. They are requested,
//! stored and shown, and invalid metrics are rejected.

use crate::project::{Project, assert_failures, subject};
use lab_model::PointId;

const HEAD: &str = r#"
[experiment]
title = "Losses"
question = "What does a counter lose?"
baseline = "honest"

[[metric]]
name = "lost"
title = "lost increments"
unit = "%"
better = "less"

[[metric]]
name = "swaps"
title = "swaps tried"
unit = "swaps"
better = "less"

[[case]]
name = "increment"
work = "one more"
unit = "increment"
sweep.threads = [1, 2]
cores = "all"
latencies = false
metrics = ["lost", "swaps"]
"#;

fn losing_subject(name: &str, metrics: &str) -> String {
    subject(name, &["losing.py", metrics])
}

#[test]
fn own_metrics_are_stored_and_shown_with_intervals_and_ratios() {
    let subjects = [
        losing_subject("honest", "lost=0 swaps=200"),
        losing_subject("other", "swaps=300 lost=12.5"),
    ];
    let project = Project::with_text(&(HEAD.to_owned() + &subjects.concat()));
    project.run_blocks("6", "2", &[]).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    for block in run.complete_blocks() {
        // Two points, two subjects, four passes, two metrics.
        assert_eq!(block.readings.len(), 32);
        for reading in &block.readings {
            let expected = [[0.0, 200.0], [0.125, 300.0]];
            let metric = usize::from(reading.metric == "swaps");
            assert_eq!(reading.value, expected[reading.subject.index()][metric]);
        }
    }
    let file = project.file();
    let csv = project.call(&["report", file.to_str().unwrap(), "--format", "csv"]);
    let mut rows = csv::Reader::from_reader(csv.expect(0).stdout.as_bytes());
    let head = rows.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (subject, metric, value) = (at("subject"), at("metric"), at("value"));
    let swaps: Vec<(String, f64)> = rows
        .records()
        .map(Result::unwrap)
        .filter(|row| &row[metric] == "swaps")
        .map(|row| (row[subject].to_owned(), row[value].parse().unwrap()))
        .collect();
    let expected = [("honest", 200.0), ("other", 300.0)].map(|(s, v)| (s.to_owned(), v));
    assert_eq!(swaps, [expected.clone(), expected].concat());
    let full = project.call(&["report", file.to_str().unwrap(), "--full"]);
    for text in ["lost increments", "swaps tried", "1.5"] {
        assert!(
            full.stdout.contains(text),
            "no `{text}` in\n{}",
            full.stdout
        );
    }
}

#[test]
fn a_case_that_is_not_compared_has_values_but_no_verdicts() {
    let apart = HEAD.replacen(
        "name = \"increment\"",
        "name = \"apart\"\ncompare = false",
        1,
    );
    let (_, apart) = apart.split_once("[[case]]").unwrap();
    let subjects = ["honest", "other"].map(|name| losing_subject(name, "lost=1 swaps=200"));
    let text = format!("{HEAD}\n[[case]]{apart}{}", subjects.concat());
    let project = Project::with_text(&text);
    project.run_blocks("6", "2", &[]).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let results = lab_stats::results::results(&run);
    let plan = run.plan().unwrap();
    for point in plan.points.ids() {
        let compared = results.comparisons.iter();
        let comparisons = compared.filter(|c| c.key.point == Some(point)).count();
        assert_eq!(
            comparisons == 0,
            plan.case(point).name == "apart",
            "{comparisons}: {:#?}",
            results.exclusions
        );
        let cells = results.cells.iter();
        assert!(cells.filter(|c| c.key.point == Some(point)).count() > 4);
    }
    let file = project.file();
    let full = project.call(&["report", file.to_str().unwrap(), "--full"]);
    assert!(full.stdout.contains("apart"), "{}", full.stdout);
}

#[test]
fn a_subject_without_its_metrics_fails() {
    let subjects = [
        losing_subject("honest", "lost=0 swaps=1"),
        losing_subject("second", "lost=0 swaps=1"),
        losing_subject("silent", "lost=0"),
        losing_subject("vague", "lost=some swaps=1"),
        losing_subject("endless", "lost=inf swaps=1"),
    ];
    let project = Project::with_text(&(HEAD.to_owned() + &subjects.concat()));
    project.run_blocks("1", "1", &[]).expect(0);
    assert_failures(
        &project.load(),
        &[
            ("silent", "nonsense", "without `swaps=`"),
            ("vague", "nonsense", "`lost=some` is not a number"),
            ("endless", "nonsense", "`lost=inf` is not a number"),
        ],
    );
}

#[test]
fn invalid_names_are_rejected() {
    for (name, reason) in [
        (
            "Lost",
            "invalid metric name `Lost`: expected lowercase letters, digits and _, with a letter first",
        ),
        ("start", "`start` is reserved by benchlab"),
        ("wall", "`wall` is reserved by benchlab"),
        ("swaps", "there are two metrics `swaps`"),
    ] {
        let text = HEAD.replacen("name = \"lost\"", &format!("name = {name:?}"), 1);
        let outcome = Project::with_text(&(text + &losing_subject("honest", ""))).run(&[]);
        outcome.expect(2).says(&[reason]);
    }
    let text = HEAD.replace("metrics = [\"lost\"", "metrics = [\"lots\"");
    let outcome = Project::with_text(&(text + &losing_subject("honest", ""))).run(&[]);
    outcome
        .expect(2)
        .says(&["there is no [[metric]] `lots`", "did you mean `lost`?"]);
}

/// A subject with two threads is not bound to one core, on which they would run one after the
/// other.
#[test]
fn concurrent_threads_have_separate_cores() {
    let head = HEAD
        .replace("\"lost\", \"swaps\"", "\"own_cores\"")
        .replace("\"lost\"", "\"own_cores\"")
        .replace("\"%\"", "\"count\"");
    let project = Project::with_text(&(head + &subject("honest", &["at_once.py"])));
    project.run_blocks("2", "4", &[]).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let own_cores = |threads: usize| -> Vec<f64> {
        let readings = run.complete_blocks().flat_map(|block| &block.readings);
        let of_point = readings.filter(|r| r.point == PointId::from_index(threads - 1));
        of_point.map(|r| r.value).collect()
    };
    // Another program may prevent a thread from running during a batch.
    let is_mostly_so = |values: &[f64]| values.iter().sum::<f64>() * 2.0 > values.len() as f64;
    let cores = std::thread::available_parallelism().unwrap().get();
    assert!(!is_mostly_so(&own_cores(1)), "{:?}", own_cores(1));
    assert_eq!(
        is_mostly_so(&own_cores(2)),
        cores >= 2,
        "{:?}",
        own_cores(2)
    );
}
