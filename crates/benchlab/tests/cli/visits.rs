// SPDX-License-Identifier: Apache-2.0
//! Fixtures that take part in visits: the values that they pass to a subject's process, the metrics
//! that they report for its batches, and their failures.
//!
//! The fixture is a user's Python program: a relay between a subject's client and its server.

use crate::project::{
    Outcome, Project, assert_failures, python, subject, subjects_folder, wait_until,
};
use lab_model::{CaseId, Run};
use std::fs;

const HEAD: &str = r#"
[experiment]
title = "Links"
question = "How long?"
baseline = "one"

[[metric]]
name = "sent"
title = "sent over the link"
unit = "bytes"
better = "neither"

[[case]]
name = "exchange"
work = "so many bytes, and two back"
unit = "exchange"
sweep.bytes = [0, 100, 2000]
factor.link = ["fast", "small"]

[[case]]
name = "unlinked"
work = "an exchange without a link"
unit = "exchange"
default = false
"#;

const FIXTURE: &str = r#"
[[fixture]]
name = "link"
state = "link"
visits = true
provides = ["address", "socket", "packet"]
metrics = ["sent"]
"#;

const STATES: &str = r#"
[fixture.states]
fast = { packet_size = 1448 }
small = { packet_size = 548 }
"#;

/// Creates two subjects. The operations of `one` send 1 byte more than the value of the sweep, and
/// the operations of `more` send 51 bytes more.
fn project(states: &str) -> Project {
    let project = Project::with_text("");
    let text = HEAD.to_owned() + &fixture(&project, FIXTURE) + states + &subjects(&project);
    project.append(&text);
    project
}

fn subjects(project: &Project) -> String {
    let notes = project.join("notes");
    let subject = |name: &str, more: &str| {
        let words = ["linked.py", more, notes.to_str().unwrap()];
        subject(name, &words) + "cases = [\"exchange\"]\n"
    };
    subject("one", "1") + &subject("more", "51")
}

/// Returns a `[[fixture]]` that runs relay.py.
fn fixture(project: &Project, keys: &str) -> String {
    let script = subjects_folder().join("relay.py");
    let notes = project.join("fixture-notes");
    let files = [&script, &notes].map(|path| path.to_str().unwrap());
    let [script, notes] = files;
    format!("{keys}program = {:?}\n", [python(), "-BS", script, notes])
}

/// Returns the rest of each line in the fixture's log that begins with `label`.
fn noted(project: &Project, label: &str) -> Vec<String> {
    let text = fs::read_to_string(project.join("fixture-notes")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix(label));
    lines.map(str::to_owned).collect()
}

/// Returns the bytes per operation of a subject at a point, which are equal in all batches.
fn sent_bytes(run: &Run, name: &str, label: &str) -> f64 {
    let plan = run.plan().unwrap();
    let subject = plan.subjects.find_id(|s| s.name == name).unwrap();
    let mut points = plan.points.ids();
    let point = points.find(|&p| plan.label(p) == label).unwrap();
    let blocks = run.complete_blocks().flat_map(|block| &block.readings);
    let of = blocks.filter(|r| (r.subject, r.point) == (subject, point));
    let values: Vec<f64> = of.map(|reading| reading.value).collect();
    assert!(!values.is_empty(), "{name} at {label}");
    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
    values[0]
}

fn is_running(process: &str) -> bool {
    let command = fs::read_to_string(format!("/proc/{process}/cmdline"));
    command.unwrap_or_default().contains("relay.py")
}

#[test]
fn a_fixture_relays_each_process_and_reports_its_metrics() {
    let project = project(STATES);
    project.run(&[]).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let plan = run.plan().unwrap();
    let names: Vec<&str> = plan.cases[CaseId(0)]
        .metrics
        .iter()
        .map(|m| &*m.id)
        .collect();
    assert_eq!(names, ["sent"]);
    for link in ["fast", "small"] {
        for bytes in [0, 2000] {
            let label = format!("exchange bytes={bytes} link={link}");
            assert_eq!(sent_bytes(&run, "one", &label), f64::from(bytes + 1));
            assert_eq!(sent_bytes(&run, "more", &label), f64::from(bytes + 51));
        }
    }
    let notes = fs::read_to_string(project.join("notes")).unwrap();
    assert!(notes.contains("fast 1448 0") && notes.contains("small 548 2000"));
    let facts = &run.host.facts;
    let fact = facts.iter().find(|(key, _)| key == "link small");
    assert_eq!(fact.unwrap().1, "packet_size=548");
    // The report also contains a line that is fitted over a sweep that starts at 0.
    let report = project.call(&["report", project.file().to_str().unwrap(), "--full"]);
    let title = "sent over the link";
    assert!(report.expect(0).stdout.contains(title), "{}", report.stdout);
    // The fixture left every visit before its process exited.
    let (entered, left) = (noted(&project, "entered "), noted(&project, "left "));
    assert!(!entered.is_empty() && entered.len() == left.len());
    assert_eq!(noted(&project, "undone").len(), 2);
    let sockets = fs::read_dir(project.scratch()).unwrap();
    assert_eq!(sockets.count(), 0, "files remain in the scratch directory");
}

#[test]
fn a_fixture_that_exits_while_a_subject_works_fails_the_subject_at_this_point() {
    let project = project(
        "[fixture.states]\nfast = { packet_size = 9 }\nsmall = { packet_size = 9, crash = 1 }\n",
    );
    project.run(&["--set", "bytes=100"]).expect(0);
    let run = project.load();
    let reason = "fixture `link`: the process ended with exit status: 7 instead of replying";
    assert_failures(
        &run,
        &[("one", "fixture", reason), ("more", "fixture", reason)],
    );
    let plan = run.plan().unwrap();
    for failure in &run.failures {
        let point = failure.point.unwrap();
        assert_eq!(plan.label(point), "exchange bytes=100 link=small");
    }
    assert_eq!(
        sent_bytes(&run, "one", "exchange bytes=100 link=fast"),
        101.0
    );
}

#[test]
fn after_kill_9_no_fixture_remains() {
    let project = project(STATES);
    let mut lab = project.start(&[
        "run", "t", "--blocks", "1000", "--pairs", "40", "--redo", "0",
    ]);
    wait_until("a subject is in a visit", || {
        noted(&project, "entered ").len() > 20
    });
    let processes = noted(&project, "opened ");
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the fixture has exited", || {
        processes.iter().all(|p| !is_running(p))
    });
    let (entered, left) = (noted(&project, "entered "), noted(&project, "left "));
    assert_eq!(entered.len(), left.len());
}

#[test]
fn invalid_keys_of_a_fixture_with_visits_are_rejected() {
    let wrong = |from: &str, to: &str| -> Outcome {
        let project = Project::with_text("");
        let text = HEAD.to_owned() + &fixture(&project, FIXTURE) + STATES + &subjects(&project);
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        project.append(&changed);
        project.run(&[])
    };
    for (from, to, reason) in [
        ("visits = true\n", "", "needs `visits = true`"),
        (
            "metrics = [\"sent\"]",
            "metrics = [\"snet\"]",
            "did you mean `sent`?",
        ),
        (
            "sweep.bytes",
            "metrics = [\"sent\"]\nsweep.bytes",
            "`sent` of case `exchange` is already reported",
        ),
        ("packet_size = 548", "visit = 548", "`visit` is reserved"),
        ("visits = true", "visits = \"yes\"", "expected a boolean"),
    ] {
        wrong(from, to)
            .expect(2)
            .says(&["experiment.toml:", reason]);
    }
}
