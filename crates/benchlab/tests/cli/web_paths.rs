// SPDX-License-Identifier: Apache-2.0
//! Servers that receive a factor in the requested paths, and that report metrics when they shut
//! down.

use crate::project::{Project, subject};
use lab_model::{Metric, Run, SubjectId};
use lab_stats::results::results;
use std::collections::HashMap;

const EXPERIMENT: &str = r#"
[experiment]
title = "Tried out"
question = "What does each number cost?"
baseline = "honest"

[server]
workers = 3
missing = "/nothing"
metrics = ["answers"]

[[metric]]
name = "answers"
title = "answers"
unit = "answers"
better = "neither"

[[case]]
name = "page"
work = "built for each request"
unit = "request"
sweep.connections = [1, 4]
factor.number = ["1", "20", "300"]
[[case.request]]
request = "GET /api/built?number={number}"
headers = ["X-Further: yes"]
"#;

fn measure(variants: &[&str]) -> (Project, Run) {
    measure_experiment(EXPERIMENT, variants)
}

fn measure_experiment(experiment: &str, variants: &[&str]) -> (Project, Run) {
    let subjects = variants.iter().map(|v| subject(v, &["web.py", v]));
    let project = Project::with_text(&(experiment.to_owned() + &subjects.collect::<String>()));
    project.run_blocks("3", "1", &[]).expect(0);
    let run = project.load();
    (project, run)
}

#[test]
fn each_value_has_its_own_path_and_costs_are_fitted() {
    let (project, run) = measure(&["honest", "second"]);
    assert!(run.failures.is_empty(), "{:#?}", run.failures);
    let plan = run.plan().unwrap();
    assert_eq!(plan.points.len(), 6);
    let paths = plan.loaded_examples().into_iter().map(|e| e.path);
    let expected = ["1", "20", "300"].map(|n| format!("/api/built?number={n}"));
    assert_eq!(paths.collect::<Vec<_>>(), expected);
    // In a single short turn, a busy machine may serve no request.
    let mut served = HashMap::new();
    for slice in run.complete_blocks().flat_map(|block| &block.slices) {
        assert!(slice.errors.is_empty(), "{slice:?}");
        *served.entry((slice.subject, slice.point)).or_insert(0) += slice.served;
    }
    assert!(served.values().all(|&served| served > 0), "{served:?}");
    let found = results(&run);
    for metric in [Metric::TIME_PER_REQUEST, Metric::SERVER_CPU] {
        let fits = found.fits.iter().filter(|fit| fit.metric == metric);
        let fits: Vec<_> = fits.collect();
        // Two servers at two numbers of connections.
        assert_eq!(fits.len(), 4, "{:?}", metric.id);
        assert!(fits.iter().all(|fit| fit.over == "number"));
    }
    let report = std::fs::read_to_string(project.file().with_extension("html")).unwrap();
    assert!(report.contains("CPU time = fixed + marginal × number"));
}

#[test]
fn turns_have_the_length_of_the_case() {
    let long = EXPERIMENT.replace(
        "sweep.connections = [1, 4]",
        "turn_ms = 300\nsweep.connections = [1]",
    );
    let (_, run) = measure_experiment(&long, &["honest", "second"]);
    assert!(run.failures.is_empty(), "{:#?}", run.failures);
    let slices = run.complete_blocks().flat_map(|block| &block.slices);
    let lengths: Vec<u64> = slices.map(|slice| slice.wall_ns).collect();
    // The turns of a quick run take a quarter of that.
    assert!(lengths.iter().all(|&ns| ns == 75_000_000), "{lengths:?}");
}

#[test]
fn metrics_at_shutdown_are_stored_for_each_block() {
    let (_, run) = measure(&["honest", "second", "tells-nothing"]);
    let [failure] = &run.failures[..] else {
        panic!("{:#?}", run.failures)
    };
    assert!(failure.message.contains("answers"), "{failure:#?}");
    assert_eq!(
        (failure.subject, &*failure.kind),
        (SubjectId(2), "nonsense")
    );
    let readings = run.complete_blocks().flat_map(|block| &block.readings);
    let of_honest: Vec<_> = readings.filter(|r| r.subject == SubjectId(0)).collect();
    assert_eq!(of_honest.len(), 3, "one value for each block");
    assert!(
        of_honest
            .iter()
            .all(|r| r.metric == "answers" && r.value > 100.0)
    );
}

#[test]
fn wrong_responses_and_foreign_processes_are_failures() {
    let (_, run) = measure(&["honest", "second", "prepared", "names-others"]);
    let message_of = |subject| {
        let mut all = run.failures.iter();
        all.find(|f| f.subject == SubjectId(subject))
            .expect("it failed")
            .message
            .clone()
    };
    assert!(
        message_of(2).contains("the response to GET /api/built?number=1 differs from that of "),
        "{}",
        message_of(2)
    );
    assert!(
        message_of(3).contains("`processes=1` contains processes that the subject did not start"),
        "{}",
        message_of(3)
    );
}
