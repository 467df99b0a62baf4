// SPDX-License-Identifier: Apache-2.0
//! Tests runs on multiple targets, with servers and with many connections: the separate results of
//! each target, and the comparison of two such runs.

use crate::simulator::figures::{interval, interval_if_any, judged, measured_cells, reading};
use crate::simulator::{Random, block, empty_run, sample, subject, target};
use lab_model::*;
use lab_stats::analysis::Verdict;
use lab_stats::between::{Between, Caveat, NotCompared, Recorded, WhichRun, compare_runs};
use lab_stats::family::blocks_needed;
use lab_stats::latencies::bucket;
use lab_stats::results::{NoLaw, Results, results};
use lab_stats::usl;
use std::collections::HashMap;

const CONNECTIONS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// The parameters λ, σ and κ of the throughput law in the simulation.
const LAW: (f64, f64, f64) = (40_000.0, 0.08, 0.002);

/// Returns a run on SQLite and PostgreSQL with the subjects c, ada and python and a control of c on
/// each target.
///
/// `go` is only on PostgreSQL, where python does not support prepared statements. SQLite has two
/// points. PostgreSQL has two points plus the points with many connections.
fn run(targets: &[TargetKind], blocks: u32, slower: f64) -> Run {
    let mut subjects = IdVec::new();
    let mut points = IdVec::new();
    for (target, &kind) in (0..).map(TargetId).zip(targets) {
        let first = SubjectId::from_index(subjects.len());
        let server = kind.is_service();
        let names = ["c", "c (control)", "ada", "python", "go"];
        for name in &names[..if server { 5 } else { 4 }] {
            let control_of = name.contains("control").then_some(first);
            let prepared = ("statement".to_string(), "prepared".to_string());
            let unable = *name == "python" && server;
            subjects.push(Subject {
                target,
                without: if unable { vec![prepared] } else { vec![] },
                ..subject(name, control_of)
            });
        }
        for statement in ["prepared", "text"] {
            points.push(Point {
                case: CaseId(0),
                target,
                params: vec![("statement".into(), statement.into())],
                ..Point::default()
            });
        }
        for n in CONNECTIONS.into_iter().filter(|_| server) {
            points.push(Point {
                case: CaseId(1),
                target,
                params: vec![("connections".into(), n.to_string())],
                x: Some(n),
                ..Point::default()
            });
        }
    }
    let mut run = empty_run(subjects, points, 7, 8);
    let plan = run.plan_mut().unwrap();
    plan.cases[CaseId(0)].name = "select_1".into();
    plan.cases.push(Case {
        name: "connections".into(),
        sweep: Some("connections".into()),
        cores: Cores::All,
        ..Case::default()
    });
    plan.targets = targets.iter().map(|&kind| target(kind)).collect();
    let plan = plan.clone();
    let mut random = Random(7);
    run.blocks = (0..blocks)
        .map(|number| visit(&plan, number, slower, &mut random))
        .collect();
    run
}

/// Returns the ratio of a subject's time to c's time: 1.1 * `slower` for ada, 3 for python, and 1
/// for all other subjects.
fn ratio(name: &str, slower: f64) -> f64 {
    match name {
        "ada" => 1.1 * slower,
        "python" => 3.0,
        _ => 1.0,
    }
}

fn visit(plan: &Plan, number: u32, slower: f64, random: &mut Random) -> Block {
    let mut samples = Vec::new();
    let mut latencies = Vec::new();
    for point in plan.points.ids() {
        for (id, subject) in plan.subjects.enumerated() {
            if !plan.takes_part(id, point) {
                continue;
            }
            let scatter = (0.003 * random.normal()).exp();
            for pass in 0..16 {
                let n = plan.points[point].x;
                let (one, contention, coherency) = LAW;
                let law = n.map(|n| 1e9 / usl::throughput(one, contention, coherency, n));
                let time = law.unwrap_or(20_000.0) * ratio(&subject.name, slower) * scatter;
                let wall = (1000.0 * time * (0.01 * random.normal()).exp()) as u64;
                let mut sample = sample(point, id, pass, id.0, 1000, wall);
                let kind = plan.targets[plan.points[point].target].kind;
                sample.batch.cpu_ns = wall / 2;
                sample.batch.server_cpu_ns = kind.is_service().then_some(wall / 3);
                samples.push(sample);
                if n.is_some() {
                    // 900 operations of 100 ns, 99 operations of 1,000 ns and one operation of 1
                    // ms.
                    latencies.push(Latencies {
                        point,
                        subject: id,
                        pass,
                        counts: vec![(82, 900), (190, 99), (509, 1)],
                    });
                }
            }
        }
    }
    Block {
        latencies,
        ..block(number, samples)
    }
}

const TWO_KINDS: [TargetKind; 2] = [TargetKind::Sqlite, TargetKind::Postgresql];

/// Returns the plan and the separate results of a target.
fn results_on(run: &Run, kind: TargetKind) -> (Plan, Results) {
    let mut parts = parts(run).into_iter();
    let part = parts.find(|p| p.kind == Some(kind)).unwrap();
    let results = results(&part.run);
    (part.run.plan().unwrap().clone(), results)
}

fn named(plan: &Plan, name: &str) -> SubjectId {
    plan.subjects.find_id(|s| s.name == name).unwrap()
}

#[test]
fn every_target_has_its_own_baseline_and_verdicts() {
    let run = run(&TWO_KINDS, 12, 1.0);
    assert_eq!(parts(&run).len(), 2);
    for kind in TWO_KINDS {
        let (plan, results) = results_on(&run, kind);
        assert_eq!(plan.subjects[plan.baseline].name, "c");
        assert_eq!(results.controls.len(), plan.points.len());
        let ada = named(&plan, "ada");
        let judged = judged(&results).into_iter();
        let mut ada = judged.filter(|(c, _)| c.key.subject == ada);
        assert!(ada.all(|(_, verdict)| verdict == Verdict::Slower));
        assert!(results.exclusions.is_empty(), "{:?}", results.exclusions);
        assert!(
            results
                .warnings
                .iter()
                .all(|w| w.kind().name() == "interrupted"),
            "{:?}",
            results.warnings
        );
    }
}

#[test]
fn subjects_skip_points_with_parameters_that_they_lack() {
    let mut run = run(&TWO_KINDS, 12, 1.0);
    let plan = run.plan_mut().unwrap();
    plan.proof.equal = vec!["tls".into()];
    // Only subjects that take part report the setting, and c reports another value where python is
    // missing.
    let plan = plan.clone();
    for (subject, s) in plan.subjects.enumerated() {
        for point in plan.points.ids().filter(|&p| plan.takes_part(subject, p)) {
            run.settings.push(Setting {
                subject,
                point: Some(point),
                key: "tls".into(),
                value: format!("{}", s.target),
            });
        }
    }
    let (plan, results) = results_on(&run, TargetKind::Postgresql);
    let python = named(&plan, "python");
    assert!(results.exclusions.is_empty(), "{:?}", results.exclusions);
    let mut measured_cells = measured_cells(&results).into_iter();
    assert!(measured_cells.all(|cell| cell != (python, PointId(0))));
    let overall = results.overall.iter().find(|o| o.subject == python);
    assert_eq!(
        overall.unwrap().points,
        1,
        "the points that both subjects have"
    );
    assert!((overall.unwrap().ratio.estimate - 3.0).abs() < 0.05);
    let factors = results.effects.iter().filter(|f| f.subject == python);
    assert_eq!(factors.count(), 0);
}

#[test]
fn reasons_that_apply_to_all_points_are_listed_once() {
    let mut run = run(&TWO_KINDS, 8, 1.0);
    let plan = run.plan_mut().unwrap();
    plan.proof.equal = vec!["tls".into()];
    let python = plan
        .subjects
        .ids()
        .rfind(|&s| plan.subjects[s].name == "python");
    run.settings.push(Setting {
        subject: python.unwrap(),
        point: None,
        key: "tls".into(),
        value: "on".into(),
    });
    let (_, results) = results_on(&run, TargetKind::Postgresql);
    assert_eq!(results.exclusions.len(), 1);
    assert_eq!(results.exclusions[0].point, None);
}

#[test]
fn the_time_of_an_operation_is_split_and_adds_up() {
    let run = run(&TWO_KINDS, 12, 1.0);
    let (plan, results) = results_on(&run, TargetKind::Postgresql);
    let ada = named(&plan, "ada");
    let of = |metric| interval(&results, ada, PointId(1), &metric);
    let wall = of(Metric::MEAN_WALL).estimate;
    assert!((of(Metric::MEAN_CPU).estimate / wall - 0.5).abs() < 1e-3);
    assert!((of(Metric::SERVER_CPU).estimate / wall - 1.0 / 3.0).abs() < 1e-3);
    assert!((of(Metric::WAITING).estimate / wall - 1.0 / 6.0).abs() < 1e-3);
    assert_eq!(of(Metric::OVERLAP).high, 0.0);
    for (subject, point) in measured_cells(&results) {
        let split = interval_if_any(&results, subject, point, &Metric::WAITING).is_some();
        assert_eq!(split, plan.case(point).cores == Cores::One);
    }
    let (_, sqlite) = results_on(&run, TargetKind::Sqlite);
    let server = interval_if_any(&sqlite, SubjectId(0), PointId(0), &Metric::SERVER_CPU);
    assert!(server.is_none(), "a library has no server");
    let of = |metric| interval(&sqlite, SubjectId(0), PointId(0), &metric).estimate;
    assert!((of(Metric::WAITING) / of(Metric::MEAN_WALL) - 0.5).abs() < 1e-3);
}

#[test]
fn overlap_is_reported_and_waiting_is_not_negative() {
    let mut run = run(&[TargetKind::Mariadb], 8, 1.0);
    for sample in run.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        sample.batch.server_cpu_ns = Some(sample.batch.wall_ns * 3 / 4);
    }
    let (_, results) = results_on(&run, TargetKind::Mariadb);
    let of = |metric| interval(&results, SubjectId(0), PointId(0), &metric);
    let waiting = of(Metric::WAITING);
    assert_eq!((waiting.low, waiting.high), (0.0, 0.0));
    let overlap = of(Metric::OVERLAP).estimate / of(Metric::MEAN_WALL).estimate;
    assert!((overlap - 0.25).abs() < 1e-3);
}

#[test]
fn a_server_whose_cpu_is_unknown_is_not_split() {
    let mut run = run(&[TargetKind::Mariadb], 8, 1.0);
    run.blocks[3].samples[5].batch.server_cpu_ns = None;
    let (_, results) = results_on(&run, TargetKind::Mariadb);
    let without_server_cpu = run.blocks[3].samples[5];
    let split = |&(subject, point): &(SubjectId, PointId)| {
        let server = interval_if_any(&results, subject, point, &Metric::SERVER_CPU);
        let waiting = interval_if_any(&results, subject, point, &Metric::WAITING);
        assert_eq!(server.is_some(), waiting.is_some());
        server.is_some()
    };
    let split: Vec<_> = measured_cells(&results).into_iter().filter(split).collect();
    assert!(
        !split.is_empty()
            && !split.contains(&(without_server_cpu.subject, without_server_cpu.point))
    );
}

/// The buckets match the table in docs/protocol.md, and there are no gaps between buckets.
#[test]
fn buckets_match_the_protocol() {
    let values = [
        (0, 0),
        (63, 63),
        (64, 64),
        (65, 64),
        (66, 65),
        (127, 95),
        (128, 96),
        (1_000, 190),
        (1_000_000, 509),
        (4_294_967_296, 896),
    ];
    for (value, index) in values {
        let (low, high) = bucket(index);
        assert!((low..=high).contains(&value), "{value}: {low} to {high}");
        assert!((high - low) as f64 <= low as f64 / 32.0);
    }
    for index in 0..1919 {
        assert_eq!(bucket(index).1 + 1, bucket(index + 1).0, "{index}");
    }
    assert_eq!(bucket(1919).1, u64::MAX);
    assert_eq!(bucket(u32::MAX), (u64::MAX, u64::MAX));
}

#[test]
fn latencies_are_quantiles_of_whole_blocks() {
    let run = run(&[TargetKind::Postgresql], 8, 1.0);
    let (plan, results) = results_on(&run, TargetKind::Postgresql);
    let subjects = plan.subjects.len();
    let cells = results.cells.iter();
    let of_latencies = cells.filter(|c| c.key.metric == Metric::OPERATIONS);
    assert_eq!(of_latencies.count(), CONNECTIONS.len() * subjects);
    let operations = reading(&results, SubjectId(0), PointId(2), &Metric::OPERATIONS);
    assert_eq!(operations, Some(f64::from(8 * 16 * 1000)));
    for (metric, index) in [
        (Metric::P50, 82),
        (Metric::P90, 82),
        (Metric::P99, 190),
        (Metric::P999, 190),
        (Metric::MAX, 509),
    ] {
        let found = interval(&results, SubjectId(0), PointId(2), &metric).estimate;
        assert_eq!(found, bucket(index).1 as f64, "{metric:?}");
    }
}

/// For calls that may fail, ada's slow calls take 48 ns longer in three of eight blocks, 80 ns in
/// three, and 112 ns in two.
#[test]
fn added_latencies_are_differences_of_blocks() {
    let mut run = run(&[TargetKind::Postgresql], 8, 1.0);
    let (_, results) = results_on(&run, TargetKind::Postgresql);
    let added = results.cells.iter();
    let mut added = added.filter(|c| c.key.metric == Metric::ADDED_P99);
    assert!(added.next().is_none(), "these calls cannot fail");
    let plan = run.plan_mut().unwrap();
    for case in &mut plan.cases {
        case.check = Check::Effects;
    }
    let ada = named(plan, "ada");
    for block in &mut run.blocks {
        for latencies in block.latencies.iter_mut().filter(|l| l.subject == ada) {
            latencies.counts[1].0 = 192 + block.number % 3;
        }
    }
    let (plan, results) = results_on(&run, TargetKind::Postgresql);
    let of = |name, metric| {
        let found = interval(&results, named(&plan, name), PointId(2), &metric);
        (found.estimate, found.low, found.high)
    };
    assert_eq!(of("ada", Metric::ADDED_P99), (80.0, 48.0, 96.0));
    assert_eq!(of("ada", Metric::ADDED_P50), (0.0, 0.0, 0.0));
    assert_eq!(of("python", Metric::ADDED_P999), (0.0, 0.0, 0.0));
    assert!(interval_if_any(&results, plan.baseline, PointId(2), &Metric::ADDED_P99).is_none());
}

#[test]
fn a_quantile_needs_enough_operations() {
    let mut run = run(&[TargetKind::Postgresql], 8, 1.0);
    for latencies in run.blocks.iter_mut().flat_map(|b| &mut b.latencies) {
        latencies.counts = vec![(82, 7)];
    }
    let (_, results) = results_on(&run, TargetKind::Postgresql);
    let has = |metric| interval_if_any(&results, SubjectId(0), PointId(2), &metric).is_some();
    assert!(has(Metric::P90) && has(Metric::P99), "112 operations");
    assert!(!has(Metric::P999));
}

#[test]
fn scaling_finds_the_law_and_its_peak_and_no_fixed_cost() {
    let run = run(&[TargetKind::Postgresql], 12, 1.0);
    let (plan, results) = results_on(&run, TargetKind::Postgresql);
    assert!(
        results.fits.is_empty(),
        "an additional connection has no fixed cost"
    );
    assert_eq!(results.scalings.len(), 4, "all subjects except the control");
    let go = named(&plan, "go");
    let scaling = results.scalings.iter().find(|s| s.subject == go).unwrap();
    let law = scaling.law.as_ref().unwrap();
    let (one, contention, coherency) = LAW;
    let holds = |i: &lab_model::Interval, truth: f64| {
        assert!(i.low <= truth && truth <= i.high, "{i:?}, {truth}");
        assert!((i.estimate / truth - 1.0).abs() < 0.1, "{i:?}, {truth}");
    };
    holds(&law.one, one);
    holds(&law.contention, contention);
    holds(&law.coherency, coherency);
    let peak = law.peak.expect("throughput falls at the end");
    holds(&peak.connections, ((1.0 - contention) / coherency).sqrt());
    assert!(!law.departs && law.worst_residual < 0.02);
}

#[test]
fn a_law_that_does_not_describe_the_points_says_so() {
    let mut run = run(&[TargetKind::Postgresql], 12, 1.0);
    let plan = run.plan().unwrap().clone();
    for sample in run.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        // A step that no law describes: with 16 connections, everything takes twice as long.
        if plan.points[sample.point].x == Some(16.0) {
            sample.batch.wall_ns *= 2;
        }
    }
    let (_, results) = results_on(&run, TargetKind::Postgresql);
    let laws = || results.scalings.iter().flat_map(|s| &s.law);
    assert!(laws().count() == 4 && laws().all(|law| law.departs));
}

#[test]
fn three_points_are_too_few_for_the_law() {
    let mut run = run(&[TargetKind::Postgresql], 12, 1.0);
    run.plan_mut().unwrap().points.truncate(5);
    let (_, results) = results_on(&run, TargetKind::Postgresql);
    let scaling = &results.scalings[0];
    assert!(scaling.law.is_none());
    let too_few = NoLaw::TooFewPoints {
        needed: 4,
        points: 3,
    };
    assert_eq!(scaling.why, Some(too_few));
}

fn compare(first: &Run, second: &Run) -> Between {
    let hash = |run: &Run| -> HashMap<String, String> {
        let plan = run.plan().unwrap();
        let subjects = plan.subjects.ids();
        subjects
            .map(|s| (plan.subject_label(s), "one".into()))
            .collect()
    };
    let (a, b) = (hash(first), hash(second));
    let recorded = |run, hashes| Recorded { run, hashes };
    compare_runs(recorded(first, &a), recorded(second, &b)).unwrap()
}

fn begun_later(mut run: Run) -> Run {
    run.started_unix_s += 3600.0;
    run
}

#[test]
fn two_runs_are_compared_target_by_target() {
    let first = run(&TWO_KINDS, 12, 1.0);
    let second = begun_later(run(&TWO_KINDS, 12, 1.3));
    let found = compare(&first, &second);
    assert_eq!(found.baseline.as_deref(), Some("c"));
    let change = |subject: &str, point: &str| {
        let mut changes = found.judged();
        changes
            .find(|c| c.subject == subject && c.point == point)
            .unwrap_or_else(|| panic!("{subject} at {point}"))
    };
    for (subject, point) in [
        ("ada on sqlite", "select_1 statement=text"),
        ("ada on postgresql", "select_1 statement=prepared"),
        ("ada on postgresql", "connections connections=8"),
    ] {
        assert_eq!(change(subject, point).verdict, Some(Verdict::Slower));
    }
    let python = change("python on postgresql", "select_1 statement=text");
    assert_eq!(python.verdict, Some(Verdict::Equivalent));
    let baselines = found.times().filter(|l| l.baseline);
    assert_eq!(baselines.count(), 2 + 2 + CONNECTIONS.len());
    assert!(found.apart.is_empty(), "{:?}", found.apart);
}

/// The intervals of all targets hold simultaneously: each target uses a part of alpha.
#[test]
fn targets_share_the_alpha_of_a_comparison() {
    let first = run(&TWO_KINDS, 12, 1.0);
    let second = begun_later(run(&TWO_KINDS, 12, 1.3));
    let both = compare(&first, &second);
    assert_eq!(both.level, 0.95);
    let levels: Vec<f64> = both.judged().map(|c| c.change.level).collect();
    assert!(
        levels.iter().all(|level| *level >= 0.975 - 1e-9),
        "{levels:?}"
    );
    let few = |blocks| {
        let of = |slower| run(&TWO_KINDS, blocks, slower);
        let found = compare(&of(1.0), &begun_later(of(1.0)));
        found.caveats.iter().find_map(|caveat| match caveat {
            Caveat::TooFewBlocks { needed, .. } => Some(*needed),
            _ => None,
        })
    };
    let family = both.judged().filter(|c| c.subject.ends_with("sqlite"));
    let needed = blocks_needed(0.025, family.count());
    assert_eq!(few(needed.unwrap() - 1), needed);
}

#[test]
fn a_run_on_one_target_is_compared_with_that_part_of_another() {
    let first = run(&[TargetKind::Sqlite], 12, 1.0);
    let second = begun_later(run(&TWO_KINDS, 12, 1.3));
    let found = compare(&first, &second);
    let ada = found.judged().find(|c| c.subject == "ada").unwrap();
    assert_eq!(ada.verdict, Some(Verdict::Slower));
    assert_eq!(ada.program, lab_stats::between::ProgramMatch::Same);
    assert_eq!(found.judged().count(), 4);
    assert_eq!(
        found.apart,
        [NotCompared::Targets {
            run: WhichRun::Second,
            names: vec!["PostgreSQL".into()],
        }]
    );
}
