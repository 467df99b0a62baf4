// SPDX-License-Identifier: Apache-2.0
//! Subjects at both ends of a link: their links, the traffic that benchlab counts, and links that the kernel
//! shapes if it can.

use crate::project::{Project, assert_failures, subject};
use lab_model::{CaseId, Metric, Run, TargetId, TargetKind};
use std::fs;

const HEAD: &str = r#"
[experiment]
title = "Links"
question = "How long?"
baseline = "one"
targets = ["link"]

[target.link]
shape.fast = { up_kbit_s = 100000, down_kbit_s = 100000, round_trip_ms = 1 }
shape.small = { up_kbit_s = 100000, down_kbit_s = 100000, round_trip_ms = 1, mtu = 600 }
shape.real = { up_kbit_s = 100000, down_kbit_s = 100000, round_trip_ms = 1, by = "netem" }

[[case]]
name = "exchange"
work = "so many bytes, and two back"
unit = "exchange"
sweep.bytes = [0, 100, 2000]
factor.link = ["fast", "small", "real"]
"#;

/// Creates two subjects whose operations send 1 and 51 bytes more than the value of the sweep.
fn project() -> Project {
    let project = Project::with_text("");
    let notes = project.join("notes");
    let notes = notes.to_str().unwrap().to_owned();
    let of = |name: &str, more: &str| subject(name, &["link.py", more, &notes]);
    project.append(&(HEAD.to_owned() + &of("one", "1") + &of("more", "51")));
    project
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

#[test]
fn the_lab_counts_what_is_sent_over_a_link() {
    let project = project();
    project.run(&["--set", "link=fast,small"]).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let plan = run.plan().unwrap();
    assert_eq!(plan.targets[TargetId(0)].kind, TargetKind::Link);
    assert_eq!(plan.cases[CaseId(0)].metrics, [Metric::LINK_BYTES]);
    for link in ["fast", "small"] {
        for bytes in [0, 2000] {
            let label = format!("exchange bytes={bytes} link={link}");
            assert_eq!(sent_bytes(&run, "one", &label), f64::from(bytes + 1));
            assert_eq!(sent_bytes(&run, "more", &label), f64::from(bytes + 51));
        }
    }
    // 52 bytes of each packet are IP and TCP headers.
    let notes = fs::read_to_string(project.join("notes")).unwrap();
    assert!(notes.contains("fast 1448 0") && notes.contains("small 548 2000"));
    let facts = &run.host.facts;
    let fact = |name: &str| facts.iter().find(|(key, _)| key == name);
    let (_, words) = fact("link small").expect("a fact");
    assert!(
        words.contains("100,000 kbit/s up") && words.contains("600 bytes"),
        "{words}"
    );
    assert!(fact("link real").is_none() && fact("databases").is_none());
    // The report also contains a line over a sweep that starts at 0.
    let report = project.call(&["report", project.file().to_str().unwrap(), "--full"]);
    report.expect(0);
    assert!(
        report.stdout.contains("sent over the link"),
        "{}",
        report.stdout
    );
    let sockets = fs::read_dir(project.scratch()).unwrap();
    assert_eq!(sockets.count(), 0, "nothing is left in the scratch folder");
}

#[test]
fn a_link_that_the_kernel_shapes_is_measured_or_left_out_by_name() {
    let project = project();
    let requested = project.run(&["--set", "link=real"]);
    match requested.code {
        Some(0) => {
            let run = project.load();
            assert_failures(&run, &[]);
            assert_eq!(
                sent_bytes(&run, "one", "exchange bytes=2000 link=real"),
                2001.0
            );
        }
        _ => {
            let root_or_netem = |text: &str| {
                ["requires root", "does not support netem", "not installed"]
                    .iter()
                    .any(|reason| text.contains(reason))
            };
            requested.expect(2).says(&["--set link=real: "]);
            assert!(root_or_netem(&requested.stderr), "{}", requested.stderr);
            let without = project.run(&["--set", "bytes=100"]);
            without
                .expect(0)
                .says(&["excluded real: the kernel cannot shape a link here"]);
            assert!(root_or_netem(&without.stderr), "{}", without.stderr);
            let run = project.load();
            let plan = run.plan().unwrap();
            let mut labels = plan.points.ids().map(|point| plan.label(point));
            assert!(!labels.any(|label| label.contains("real")));
        }
    }
    let devices = fs::read_dir("/sys/class/net").unwrap().flatten();
    let mut names = devices.map(|d| d.file_name().into_string().unwrap());
    assert!(
        !names.any(|name| name.starts_with("lab")),
        "a cable is left"
    );
}

#[test]
fn shapes_and_cases_that_cannot_be() {
    let changed = |from: &str, to: &str| {
        let project = Project::with_text("");
        let text = HEAD.replace(from, to);
        assert_ne!(text, HEAD, "{from}");
        project.append(&(text + &subject("one", &["link.py", "1", "/dev/null"])));
        project.run(&[])
    };
    for (from, to, reason) in [
        (
            "round_trip_ms = 1 }",
            "round_trip_ms = -1 }",
            "from 0 to 10,000",
        ),
        (
            "up_kbit_s = 100000, down",
            "up_kbit_s = 1, down",
            "from 8 to",
        ),
        ("mtu = 600", "mtu = 60", "from 576 to 9000"),
        ("by = \"netem\"", "by = \"magic\"", "magic"),
        (
            "factor.link = [\"fast\"",
            "factor.link = [\"fats\"",
            "no `shape.fats`",
        ),
        ("factor.link", "factor.line", "needs `factor.link`"),
        (
            "[target.link]",
            "[target.link]\ntable = \"x\"",
            "link targets must not have one",
        ),
        (
            "sweep.bytes = [0",
            "cores = \"all\"\nsweep.bytes = [0",
            "whole numbers from 1",
        ),
    ] {
        changed(from, to).expect(2).says(&[reason]);
    }
}
