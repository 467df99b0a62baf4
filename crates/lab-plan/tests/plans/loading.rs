// SPDX-License-Identifier: Apache-2.0
//! Tests the plans of loads: their blocks, visits and rates.

use lab_model::{CaseId, LoadSpec, Measure, Plan, PlannedRequest, PointId, Stage};
use lab_plan::{Loading, visit_ns};
use std::time::Duration;

fn loading(servers: usize) -> Loading {
    let request = |i: usize| PlannedRequest {
        method: "GET".into(),
        url: format!("http://127.0.0.1:{}/", 8080 + i),
        weight: 1,
        has_user: false,
    };
    Loading {
        servers: (0..servers).map(|i| format!("s{i}")).collect(),
        connections: 50,
        load: LoadSpec {
            requests: (0..servers).map(|i| vec![request(i)]).collect(),
            keep_alive: true,
            pipeline: 1,
            threads: 1,
            ..LoadSpec::default()
        },
        ..Loading::default()
    }
}

fn stage(seconds: u64) -> Stage {
    Stage {
        from: 1.0,
        to: 9.0,
        length_ns: seconds * 1_000_000_000,
    }
}

fn seconds(plan: &Plan) -> (f64, f64, u32) {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let stretch = plan.load().expect("a load").stretch_ns;
    let Measure {
        turn_ns,
        max_blocks,
        ..
    } = plan.measure;
    (seconds(stretch), seconds(turn_ns), max_blocks)
}

#[test]
fn one_point_is_one_stretch_of_slices() {
    let plan = loading(1).plan().unwrap();
    assert_eq!(seconds(&plan), (10.0, 1.0, 10));
    assert_eq!(plan.experiment, "127.0.0.1-8080");
    assert_eq!(plan.label(PointId(0)), "connections=50");
    assert_eq!(
        (
            plan.points[PointId(0)].x,
            plan.cases[CaseId(0)].sweep.as_ref()
        ),
        (None, None)
    );
    let long = Loading {
        length: Some(Duration::from_millis(62_500)),
        ..loading(1)
    };
    assert_eq!(seconds(&long.plan().unwrap()), (62.5, 1.0, 63));
    let short = Loading {
        length: Some(Duration::from_secs(2)),
        ..loading(1)
    };
    assert_eq!(seconds(&short.plan().unwrap()), (2.0, 0.2, 10));
}

#[test]
fn slices_of_many_agents_are_longer() {
    let hour = |agents, servers| {
        let loading = Loading {
            agents,
            length: Some(Duration::from_secs(3600)),
            ..loading(servers)
        };
        seconds(&loading.plan().unwrap())
    };
    assert_eq!(hour(27, 1), (3600.0, 1.0, 3600));
    assert_eq!(hour(1000, 1), (3600.0, 36.0, 100));
    assert_eq!(hour(100_000, 1), (3600.0, 360.0, 10));
    // Two servers have four visits in each block.
    assert_eq!(hour(1000, 2), (72.0, 72.0, 25));
    // Ten blocks of stages exceed the requested length: ten hours per server, doubled by mirroring.
    let staged = Loading {
        agents: 1000,
        length: Some(Duration::from_secs(60)),
        stages: vec![stage(3600)],
        ..loading(2)
    };
    assert_eq!(seconds(&staged.plan().unwrap()), (3600.0, 1440.0, 10));
}

#[test]
fn visits_are_shorter_if_a_block_has_many() {
    let plan = loading(2).plan().unwrap();
    let lengths = [2, 20, 2000].map(|visits_each| visit_ns(&plan, visits_each, false));
    assert_eq!(lengths, [250_000_000, 200_000_000, 50_000_000]);
    assert_eq!(visit_ns(&plan, 2, true), 50_000_000);
}

#[test]
fn multiple_points_and_servers_take_turns_in_at_least_ten_blocks() {
    let sweep = Loading {
        sweeps: vec![("connections".into(), ["8", "1"].map(String::from).into())],
        ..loading(1)
    };
    let plan = sweep.plan().unwrap();
    assert_eq!(seconds(&plan), (1.0, 1.0, 10));
    let labels: Vec<String> = plan.points.ids().map(|point| plan.label(point)).collect();
    assert_eq!(labels, ["connections=1", "connections=8"]);
    assert_eq!(plan.points[PointId(1)].x, Some(8.0));
    let two = Loading {
        length: Some(Duration::from_secs(60)),
        ..loading(2)
    };
    assert_eq!(seconds(&two.plan().unwrap()), (0.5, 0.5, 60));
    assert_eq!(seconds(&loading(2).plan().unwrap()), (0.25, 0.25, 20));
}

#[test]
fn stages_are_run_completely() {
    let plain = Loading {
        stages: vec![stage(5), stage(20)],
        ..loading(1)
    };
    assert_eq!(seconds(&plain.plan().unwrap()), (25.0, 1.0, 25));
    let two = Loading {
        stages: vec![stage(5), stage(20)],
        ..loading(2)
    };
    assert_eq!(seconds(&two.plan().unwrap()), (25.0, 1.0, 10));
}

#[test]
fn contradictory_options_are_rejected() {
    let refused = |loading: Loading, reason: &str| {
        let error = loading.plan().expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    };
    let base = || loading(1);
    let even = true;
    refused(Loading { even, ..base() }, "add --rate or --stages");
    let load = |change: fn(&mut LoadSpec)| {
        let mut loading_with = base();
        change(&mut loading_with.load);
        loading_with
    };
    let no_reuse = load(|load| (load.pipeline, load.keep_alive) = (2, false));
    refused(no_reuse, "use only one of these options");
    refused(
        load(|load| load.threads = 51),
        "each thread needs a connection",
    );
    let swept = |name: &str, values: &[&str]| Loading {
        sweeps: vec![(name.into(), values.iter().map(|v| v.to_string()).collect())],
        ..base()
    };
    refused(swept("rate", &["1"]), "can sweep only its connections");
    refused(swept("connections", &["0"]), "`0` is not a number from 1");
    refused(swept("connections", &["2", "2"]), "2 is given twice");
    let mut same = loading(2);
    same.servers[1] = "s0".into();
    refused(same, "cannot have the same name");
}
