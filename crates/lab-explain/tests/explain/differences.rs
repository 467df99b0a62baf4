// SPDX-License-Identifier: Apache-2.0
//! Tests the ranking of differences and their causes.

use lab_explain::{Cause, SettingDifference, differences};
use lab_model::{Case, Counted, CountedFigure, Metric, Plan, Point, Subject};

fn plan() -> Plan {
    let subject = |name: &str| Subject {
        name: name.into(),
        ..Subject::default()
    };
    Plan {
        subjects: vec![subject("c"), subject("rust")],
        cases: vec![Case::default()],
        points: vec![Point::default()],
        ..Plan::default()
    }
}

fn counted(subject: usize, figures: &[(Metric, f64)], threading: &str) -> Counted {
    let figure = |(metric, value): &(Metric, f64)| CountedFigure {
        metric: metric.clone(),
        differences: vec![*value; 6],
    };
    Counted {
        subject,
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
    let found = differences(&plan(), 0, &[&c, &rust]);
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
    let found = differences(&plan(), 0, &[&c, &rust]);
    let setting = SettingDifference {
        name: "threading".into(),
        values: ["multi-thread".into(), "serialized".into()],
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].metric, Metric::MEAN_CPU);
    assert_eq!(found[0].cause, Some(Cause::OwnWork(vec![setting])));
}
