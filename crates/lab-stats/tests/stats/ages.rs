// SPDX-License-Identifier: Apache-2.0
//! Tests the comparison of servers' turns with the steady level of their pilots, for servers with
//! known costs, and sets of processes as replicates.

use crate::simulator::figures::{warning, warnings};
use crate::simulator::served::World;
use lab_model::*;
use lab_stats::analysis::ExclusionReason;
use lab_stats::results::{AgeState, Results, results};
use serde_json::json;

/// The server whose requests cost twice as much as the baseline's requests.
const SERVER: SubjectId = SubjectId(2);

/// Returns a pilot at a point whose rounds cost `ratios` times the baseline's cost.
fn pilot(subject: SubjectId, point: PointId, ratios: impl Iterator<Item = f64>) -> Pilot {
    let mut age = Age::default();
    let (mut batches, mut ages) = (Vec::new(), Vec::new());
    for (round, ratio) in ratios.enumerate() {
        let scatter = [0.99, 1.0, 1.01][round % 3];
        let cpu_ns = (1000.0 * 5_000.0 * ratio * scatter) as u64;
        batches.push(Batch {
            operations: 1000,
            wall_ns: 50_000_000,
            cpu_ns,
            server_cpu_ns: None,
        });
        age.requests += 1000;
        age.cpu_ns += cpu_ns;
        age.wall_ns += 100_000_000;
        (age.baseline_requests, age.baseline_cpu_ns) = (1000, 5_000_000);
        ages.push(age);
    }
    Pilot {
        subject,
        point,
        operations: 1000,
        warmup_batches: 1,
        class: WarmUp::Warming,
        cold_ns: 3_000_000,
        batches,
        ages,
    }
}

/// Returns a run whose pilot was expensive for 20 rounds and then cost `ratio` times the baseline's
/// cost.
fn run_with(ratio: f64) -> Run {
    let mut run = World::new(&[2.0]).run(1, 12);
    let plan = run.plan().unwrap();
    let mut points = plan.points.ids();
    let point = points
        .find(|&p| !plan.is_open(p) && plan.points[p].case == CaseId(0))
        .unwrap();
    let rounds = (0..60).map(|round| if round < 20 { 9.0 } else { ratio });
    run.pilots = vec![pilot(SERVER, point, rounds)];
    run
}

fn state(results: &Results) -> AgeState {
    assert_eq!(results.ages.len(), 1);
    results.ages[0].state
}

#[test]
fn a_server_at_the_level_of_its_pilot_is_compared() {
    let results = results(&run_with(2.0));
    assert_eq!(state(&results), AgeState::Steady);
    let age = &results.ages[0];
    assert_eq!(
        (age.requests, age.processes, age.processes_off),
        (20_000, 12, 0)
    );
    assert_eq!(age.first_ns[0], Some(3_000_000.0));
    assert!(
        (age.first_ns[1].unwrap() / 45_000.0 - 1.0).abs() < 0.02,
        "{age:?}"
    );
    assert!(!results.comparisons_at(SERVER, age.point).is_empty());
    assert!(warnings(&results, "not-steady").is_empty());
}

#[test]
fn servers_still_warming_up_get_no_verdict() {
    let run = run_with(1.0);
    let plan = run.plan().unwrap();
    let results = results(&run);
    assert_eq!(state(&results), AgeState::WarmingUp);
    for point in plan.points.ids() {
        let is_compared = !results.comparisons_at(SERVER, point).is_empty();
        assert_eq!(
            is_compared,
            plan.points[point].case != CaseId(0),
            "{}",
            plan.label(point)
        );
    }
    let age = &warning(&results, "not-steady")["servers"][0]["age"];
    assert_eq!(age["state"], "warming-up");
    assert_eq!(
        (&age["requests"], &age["seconds"]),
        (&json!(20_000), &json!(2.0))
    );
}

#[test]
fn servers_of_a_requested_age_are_compared() {
    let mut run = run_with(1.0);
    run.plan_mut().unwrap().measure.age = Some(10_000);
    let results = results(&run);
    assert_eq!(state(&results), AgeState::Steady);
    assert!(
        !results
            .comparisons_at(SERVER, results.ages[0].point)
            .is_empty()
    );
}

#[test]
fn servers_with_a_short_pilot_are_not_compared() {
    let results = results(&run_with(4.0));
    assert_eq!(state(&results), AgeState::PilotTooShort);
}

#[test]
fn servers_without_time_for_warm_up_are_named() {
    let mut run = run_with(2.0);
    for block in &mut run.blocks {
        block.processes.retain(|start| start.subject != SERVER);
        block.slices.retain(|slice| slice.subject != SERVER);
    }
    let results = results(&run);
    assert_eq!(state(&results), AgeState::LeftOut);
    let age = &warning(&results, "not-steady")["servers"][0]["age"];
    assert_eq!(age["state"], "left-out");
}

#[test]
fn a_baseline_that_is_not_steady_leaves_nothing_to_compare_with() {
    let mut run = run_with(1.0);
    let baseline = run.plan().unwrap().baseline;
    // The baseline is compared with its own cost in the pilot. The speed of the machine explains
    // some of the difference.
    let point = run.pilots[0].point;
    let mut own = pilot(
        baseline,
        point,
        (0..60).map(|round| if round < 20 { 9.0 } else { 0.0001 }),
    );
    for age in &mut own.ages {
        (age.baseline_requests, age.baseline_cpu_ns) = (0, 0);
    }
    run.pilots = vec![own];
    let results = results(&run);
    assert_eq!(state(&results), AgeState::WarmingUp);
    let exclusions: Vec<_> = results
        .exclusions
        .iter()
        .filter(|r| r.subject == SERVER)
        .collect();
    assert!(
        matches!(
            &exclusions[0].reason,
            ExclusionReason::ServerNotSteady { baseline: Some(name), .. } if name == "base"
        ),
        "{exclusions:?}"
    );
}

#[test]
fn a_set_of_processes_counts_once() {
    let mut run = run_with(2.0);
    for block in &mut run.blocks {
        block.process_set = Some(block.number / 3);
    }
    let results = results(&run);
    let point = results.ages[0].point;
    let found = results
        .comparison(SERVER, point, &Metric::SERVER_CPU)
        .unwrap();
    assert_eq!(found.blocks, 4);
    assert!((found.ratio.estimate / 2.0 - 1.0).abs() < 0.05, "{found:?}");
    assert_eq!((results.ages[0].processes, results.blocks), (4, 12));
}
