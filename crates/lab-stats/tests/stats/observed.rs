// SPDX-License-Identifier: Apache-2.0
//! Tests a kind of run that is not built into benchlab.
//!
//! The run reports observations of invented metrics, and gets values, verdicts, the control, means
//! over points, effects of factors and warnings.

use crate::simulator::{Random, block, empty_run, subject};
use lab_model::PointId;
use lab_model::*;
use lab_stats::analysis::Verdict;
use lab_stats::gate::{GateCondition, GateFound, JudgedGate, judge};
use lab_stats::results::{Key, Observation, Results, observed};
use std::borrow::Cow;

static STALLS: Metric = Metric::new("stalls", "stalled time", Unit::Nanoseconds, Direction::Less);
static HITS: Metric = Metric::new(
    "hits",
    "cache hits",
    Unit::PerSecond(Cow::Borrowed("hits")),
    Direction::More,
);
static PAGES: Metric = Metric::new(
    "pages",
    "pages",
    Unit::Count(Cow::Borrowed("pages")),
    Direction::Neither,
);

/// Returns a run of a baseline, a subject that stalls half as long and hits twice as often, an
/// equal subject, and a copy.
///
/// The subjects run at two points that differ in a factor. The other value of the factor triples
/// stalls.
fn run(blocks: u32) -> Run {
    let names = [
        ("base", None),
        ("half", None),
        ("same", None),
        ("copy", Some(SubjectId(0))),
    ];
    let subjects = names.map(|(name, of)| subject(name, of));
    let point = |mode: &str| Point {
        params: vec![("mode".into(), mode.into())],
        ..Point::default()
    };
    let points = [point("cold"), point("warm")];
    let mut run = empty_run(subjects.into(), points.into(), 1, 1);
    run.blocks = (0..blocks).map(|n| block(n, Vec::new())).collect();
    run.ending = Some(Ending::Blocks);
    run.plan_mut().unwrap().measure.interim_analyses = Vec::new();
    run
}

fn observations(run: &Run, copy: f64) -> Vec<Observation> {
    let mut random = Random(1);
    let mut all = Vec::new();
    let plan = run.plan().unwrap();
    for block in 0..run.blocks.len() {
        let speed = (0.2 * random.normal()).exp();
        for subject in plan.subjects.ids() {
            let cost = [1.0, 0.5, 1.0, copy][subject.index()];
            for point in plan.points.ids() {
                let mut scatter = || speed * (0.003 * random.normal()).exp();
                let mode = [1.0, 3.0][point.index()];
                let values = [
                    (&STALLS, 1000.0 * mode * cost * scatter()),
                    (&HITS, 50.0 / (cost * scatter())),
                    (&PAGES, 7.0 + f64::from(subject.0)),
                ];
                all.extend(values.map(|(metric, value)| Observation {
                    key: Key {
                        subject,
                        point: Some(point),
                        metric: metric.clone(),
                    },
                    block,
                    value,
                }));
            }
        }
    }
    all
}

fn near(found: f64, truth: f64) -> bool {
    (found / truth - 1.0).abs() < 0.01
}

fn verdicts(results: &Results, subject: u32) -> Vec<Verdict> {
    let of_subject = results.comparisons.iter();
    let of_subject = of_subject.filter(|c| c.key.subject == SubjectId(subject));
    of_subject.map(|c| c.verdict.unwrap()).collect()
}

#[test]
fn invented_metrics_get_values_verdicts_a_control_means_and_effects() {
    let run = run(12);
    let results = observed(&run, &observations(&run, 1.0));
    assert_eq!(results.blocks, 12);
    // Four subjects at two points in three metrics.
    assert_eq!(results.cells.len(), 24);
    let pages = results.value(SubjectId(2), PointId(1), &PAGES).unwrap();
    assert_eq!((pages.value(), pages.interval().unwrap().low), (9.0, 9.0));
    assert!(
        results
            .comparison(SubjectId(1), PointId(0), &PAGES)
            .is_none(),
        "a metric without a direction is not compared"
    );
    assert_eq!(verdicts(&results, 1), [Verdict::Faster; 4]);
    assert_eq!(verdicts(&results, 2), [Verdict::Equivalent; 4]);
    let hits = results.comparison(SubjectId(1), PointId(1), &HITS).unwrap();
    assert!(
        near(hits.ratio.estimate, 0.5),
        "a ratio below 1 is better: {hits:?}"
    );
    assert_eq!((hits.blocks, hits.baseline), (12, SubjectId(0)));
    assert!(hits.p.unwrap() < 0.01 && hits.ratio.level >= 0.95);
    assert_eq!(results.controls.len(), 4);
    assert!(results.control(PointId(1), &STALLS).unwrap().met);
    // The copy and two others, in two metrics, over the only case.
    assert_eq!(results.overall.len(), 6);
    let half = results
        .overall
        .iter()
        .find(|o| o.subject == SubjectId(1))
        .unwrap();
    assert_eq!((half.points, half.verdict), (2, Some(Verdict::Faster)));
    assert!(near(half.ratio.estimate, 0.5));
    let effects = results.effects.iter().filter(|e| e.metric == STALLS);
    let effects: Vec<_> = effects
        .map(|e| (e.factor.as_str(), e.ratio.estimate))
        .collect();
    assert_eq!(effects.len(), 4);
    assert!(effects.iter().all(|e| e.0 == "mode" && near(e.1, 3.0)));
    assert!(results.warnings.is_empty(), "{:?}", results.warnings);
}

/// A comparison contains the ratio of the costs, and a condition limits the metric that it names.
#[test]
fn a_condition_on_a_metric_of_which_more_is_better_limits_that_metric() {
    let mut run = run(12);
    let results = observed(&run, &observations(&run, 1.0));
    let plan = run.plan_mut().unwrap();
    plan.cases[CaseId(0)].metrics.push(HITS.clone());
    let judged = |text: &str, title: &str| {
        let condition = GateCondition::parse(text, plan).unwrap();
        let gates = judge(&[condition], &results, plan).into_iter();
        let of_half = gates.filter(|g| g.subject == SubjectId(1) && g.metric.title == title);
        let of_half: Vec<JudgedGate> = of_half.collect();
        assert_eq!(of_half.len(), 2, "{text}");
        let ratio = match of_half[0].found {
            GateFound::Ratio { ratio, .. } => ratio.estimate,
            ref found => panic!("{found:?}"),
        };
        (of_half[0].decision, ratio)
    };
    let (decision, hits) = judged("hits>+50%", "cache hits");
    assert!(decision == Decision::Failed && near(hits, 2.0), "{hits}");
    let (decision, hits) = judged("hits<-5%", "cache hits");
    assert!(decision == Decision::Passed && near(hits, 2.0), "{hits}");
    let (decision, cost) = judged("any>+5%", "inverse of cache hits");
    assert!(decision == Decision::Passed && near(cost, 0.5), "{cost}");
}

#[test]
fn few_and_missing_blocks_are_reported() {
    let run = run(3);
    let mut observations = observations(&run, 1.0);
    let few = observed(&run, &observations);
    assert!(few.warnings.iter().any(|w| w.kind().name() == "few-blocks"));
    observations.retain(|o| o.block != 1 || o.key.subject != SubjectId(1));
    let cell = observed(&run, &observations);
    assert_eq!(
        cell.find(SubjectId(1), Some(PointId(0)), &STALLS)
            .unwrap()
            .blocks,
        2
    );
}

#[test]
fn a_copy_that_differs_raises_the_margin_of_its_metric() {
    let run = run(20);
    let results = observed(&run, &observations(&run, 1.1));
    let control = results.control(PointId(0), &STALLS).unwrap();
    assert!(!control.met && control.margin > 0.08, "{control:?}");
    let same = results
        .comparison(SubjectId(2), PointId(0), &STALLS)
        .unwrap();
    assert_eq!(same.margin, control.margin);
    let warning = results
        .warnings
        .iter()
        .find(|w| w.kind().name() == "noise-floor");
    assert_eq!(warning.unwrap().subject, Some(SubjectId(0)));
}

/// A value of 0 has no logarithm: the value is shown, but nothing is compared.
#[test]
fn nothing_is_compared_with_a_value_of_zero() {
    let run = run(12);
    let mut observations = observations(&run, 1.0);
    observations[0].value = 0.0;
    let results = observed(&run, &observations);
    assert!(
        results
            .comparison(SubjectId(1), PointId(0), &STALLS)
            .is_none()
    );
    assert!(
        results
            .comparison(SubjectId(1), PointId(1), &STALLS)
            .is_some()
    );
    assert!(results.value(SubjectId(0), PointId(0), &STALLS).is_some());
}

/// A failed subject is excluded.
///
/// If the baseline failed, there is nothing to compare other subjects with.
#[test]
fn failures_are_not_compared() {
    let mut run = run(12);
    let observations = observations(&run, 1.0);
    run.failures.push(Failure {
        subject: SubjectId(0),
        point: Some(PointId(0)),
        block: None,
        kind: "crash".into(),
        message: "It fell.".into(),
        log: Vec::new(),
    });
    let results = observed(&run, &observations);
    assert!(
        results
            .comparison(SubjectId(1), PointId(0), &STALLS)
            .is_none()
    );
    assert_eq!(results.exclusions.len(), 4);
    assert!(results.warnings.iter().any(|w| w.kind().name() == "failed"));
}
