// SPDX-License-Identifier: Apache-2.0
//! Tests the ranking of differences and their causes.

use lab_explain::{Cause, OwnCount, SettingDifference, Source, differences, time_differences};
use lab_model::{
    Case, Counted, CountedValue, Metric, Plan, Point, PointId, Subject, SubjectId, UnitCosts,
};

fn plan() -> Plan {
    let subject = |name: &str| Subject {
        name: name.into(),
        ..Subject::default()
    };
    Plan {
        subjects: [subject("c"), subject("rust")].into(),
        cases: [Case::default()].into(),
        points: [Point::default()].into(),
        ..Plan::default()
    }
}

fn counted(subject: u32, figures: &[(Metric, f64)], threading: &str) -> Counted {
    let figure = |(metric, value): &(Metric, f64)| CountedValue {
        metric: metric.clone(),
        differences: vec![*value; 6],
    };
    Counted {
        subject: SubjectId(subject),
        figures: figures.iter().map(figure).collect(),
        settings: vec![("threading".into(), threading.into())],
        ..Counted::default()
    }
}

#[test]
fn round_trips_come_before_allocations() {
    let c = counted(
        0,
        &[(Metric::ALLOCATIONS, 1.0), (Metric::ROUND_TRIPS, 1.0)],
        "",
    );
    let rust = counted(
        1,
        &[(Metric::ALLOCATIONS, 90.0), (Metric::ROUND_TRIPS, 2.0)],
        "",
    );
    let found = differences(&plan(), PointId(0), &[&c, &rust]);
    let metrics: Vec<&Metric> = found.iter().map(|difference| &difference.metric).collect();
    assert_eq!(metrics, [&Metric::ROUND_TRIPS, &Metric::ALLOCATIONS]);
    assert_eq!(found[0].subjects, ["rust", "c"]);
    assert_eq!(found[0].values, [2.0, 1.0]);
}

#[test]
fn equal_requests_leave_the_programs_own_work() {
    let figures = |cpu: f64| [(Metric::SYSTEM_CALLS, 3.0), (Metric::MEAN_CPU, cpu)];
    let c = counted(0, &figures(1e3), "serialized");
    let rust = counted(1, &figures(2e3), "multi-thread");
    let found = differences(&plan(), PointId(0), &[&c, &rust]);
    let setting = SettingDifference {
        name: "threading".into(),
        values: ["multi-thread".into(), "serialized".into()],
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].metric, Metric::MEAN_CPU);
    let own = Cause::OwnWork {
        counts: Vec::new(),
        settings: vec![setting],
    };
    assert_eq!(found[0].cause, Some(own));
}

#[test]
fn causes_count_instructions_and_misses() {
    let figures = |cpu: f64, instructions: f64, misses: f64| {
        [
            (Metric::SYSTEM_CALLS, 3.0),
            (Metric::MEAN_CPU, cpu),
            (Metric::INSTRUCTIONS, instructions),
            (Metric::CACHE_MISSES, misses),
        ]
    };
    let c = counted(0, &figures(1e3, 1000.0, 10.0), "");
    let rust = counted(1, &figures(2e3, 950.0, 80.0), "");
    let found = differences(&plan(), PointId(0), &[&c, &rust]);
    let own = found.iter().find(|d| d.metric == Metric::MEAN_CPU).unwrap();
    let count = |metric, values| OwnCount { metric, values };
    assert_eq!(
        own.cause,
        Some(Cause::OwnWork {
            counts: vec![
                count(Metric::INSTRUCTIONS, [950.0, 1000.0]),
                count(Metric::CACHE_MISSES, [80.0, 10.0]),
            ],
            settings: Vec::new(),
        })
    );
}

/// The difference is 1,000 ns: 400 ns of waiting, 2 system calls of 100 ns each, and 300
/// instructions of 1 ns each. 100 ns stay unexplained.
#[test]
fn a_difference_in_time_is_split_into_its_sources() {
    let figures = |wall, cpu, trips, calls, instructions| {
        [
            (Metric::MEAN_WALL, wall),
            (Metric::MEAN_CPU, cpu),
            (Metric::ROUND_TRIPS, trips),
            (Metric::SYSTEM_CALLS, calls),
            (Metric::SIMULATED_INSTRUCTIONS, instructions),
        ]
    };
    let c = counted(0, &figures(1_500.0, 1_300.0, 1.0, 3.0, 1_000.0), "");
    let rust = counted(1, &figures(2_500.0, 1_900.0, 2.0, 5.0, 1_300.0), "");
    let costs = UnitCosts {
        system_call_ns: 100.0,
        page_fault_ns: 500.0,
    };
    let found = time_differences(&plan(), PointId(0), &[&c, &rust], Some(costs));
    let [found] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(found.subjects, ["rust", "c"]);
    assert_eq!(found.times, [2_500.0, 1_500.0]);
    let parts: Vec<(&Source, f64)> = found.parts.iter().map(|p| (&p.source, p.ns)).collect();
    assert_eq!(
        parts,
        [
            (&Source::Waiting(Some([2.0, 1.0])), 400.0),
            (&Source::Instructions([1_300.0, 1_000.0], None), 300.0),
            (&Source::SystemCalls([5.0, 3.0]), 200.0),
        ]
    );
    assert!((found.unexplained_ns - 100.0).abs() < 1e-9);
    // If there is no difference beyond the scatter, there is nothing to split.
    assert!(time_differences(&plan(), PointId(0), &[&c, &c], Some(costs)).is_empty());
}
