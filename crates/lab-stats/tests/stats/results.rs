// SPDX-License-Identifier: Apache-2.0
//! Tests the results of every kind of run.
//!
//! A whole run must have the results of its parts, and no results that do not apply to its kind.

use crate::simulator;
use crate::simulator::figures::{interval_if_any, judged, reading};
use crate::simulator::{
    CALM, Random, Simulator, World, block, empty_run, sample, served, subject, target,
};
use lab_model::SubjectId;
use lab_model::*;
use lab_stats::results::{Key, Results, WarningFact, results};

/// Returns the facts of the warnings.
fn facts(results: &Results) -> Vec<WarningFact> {
    results.warnings.iter().map(|w| w.fact.clone()).collect()
}

/// Asserts that the results of a run of batches or whole commands agree with the separate results
/// of its parts. Returns the results of the whole run.
fn as_in_its_parts(run: &Run) -> Results {
    let plan = run.plan().unwrap();
    let whole = results(run);
    let (mut cells, mut comparisons, mut controls, mut overall) = (0, 0, 0, 0);
    let (mut fits, mut effects, mut scalings, mut exclusions) = (0, 0, 0, 0);
    for part in parts(run) {
        let part_plan = part.run.plan().unwrap();
        let target = match part.kind {
            Some(kind) => plan.targets.find_id(|t| t.kind == kind).unwrap(),
            None => TargetId(0),
        };
        // A subject's name is unique on a target, and points follow those of earlier targets.
        let subject = |id: SubjectId| {
            let same = |s: &Subject| s.target == target && s.name == part_plan.subjects[id].name;
            plan.subjects.find_id(same).unwrap()
        };
        let first = plan.points.find_id(|p| p.target == target).unwrap();
        let point = |id: PointId| PointId(first.0 + id.0);
        let cell_key = |key: &Key| (subject(key.subject), key.point.map(point));
        let of_part = results(&part.run);
        assert_eq!(
            (of_part.blocks, of_part.disturbed_blocks),
            (whole.blocks, whole.disturbed_blocks)
        );
        assert_eq!((of_part.level, of_part.margin), (whole.level, whole.margin));
        for cell in &of_part.cells {
            let (s, p) = cell_key(&cell.key);
            let same = whole.find(s, p, &cell.key.metric).unwrap();
            assert_eq!((same.value, same.blocks), (cell.value, cell.blocks));
        }
        for c in &of_part.comparisons {
            let (s, p) = cell_key(&c.key);
            let same = whole.comparison(s, p, &c.key.metric).unwrap();
            // Each of multiple targets gets a fraction of alpha, so intervals are at least as wide
            // as in the separate results.
            assert_eq!(same.ratio.estimate, c.ratio.estimate);
            assert!(same.ratio.low <= c.ratio.low && same.ratio.high >= c.ratio.high);
            assert_eq!(
                (same.p, same.blocks, same.merged),
                (c.p, c.blocks, c.merged)
            );
            assert_eq!(same.baseline, plan.baseline_for(target));
            let judged = c.key.metric == Metric::WALL;
            assert_eq!(c.verdict.is_some(), judged, "means have no verdict");
            let control = whole.control(p.unwrap(), &Metric::WALL);
            assert_eq!(same.margin, control.map_or(whole.margin, |c| c.margin));
        }
        for c in &of_part.controls {
            let same = whole.control(point(c.point), &Metric::WALL).unwrap();
            let figures = (same.ratio, same.met, same.margin);
            assert_eq!(figures, (c.ratio, c.met, c.margin));
        }
        for (o, same) in of_part.overall.iter().zip(&whole.overall[overall..]) {
            assert_eq!((same.subject, same.target), (subject(o.subject), target));
            assert_eq!(
                (same.ratio.estimate, same.points),
                (o.ratio.estimate, o.points)
            );
            assert!(same.ratio.low <= o.ratio.low && same.ratio.high >= o.ratio.high);
        }
        let name = |plan: &Plan, case: CaseId| plan.cases[case].name.clone();
        for (fit, same) in of_part.fits.iter().zip(&whole.fits[fits..]) {
            assert_eq!(same.subject, subject(fit.subject));
            assert_eq!(name(plan, same.case), name(part_plan, fit.case));
            assert_eq!(same.fixed_ns, fit.fixed_ns);
            assert_eq!(same.marginal_ns, fit.marginal_ns);
        }
        for (e, same) in of_part.effects.iter().zip(&whole.effects[effects..]) {
            let (from, to) = e.pairs[0];
            assert_eq!(same.subject, subject(e.subject));
            assert_eq!(same.pairs, [(point(from), point(to))]);
            assert_eq!((&same.factor, same.ratio), (&e.factor, e.ratio));
        }
        for (s, same) in of_part.scalings.iter().zip(&whole.scalings[scalings..]) {
            assert_eq!((same.subject, same.target), (subject(s.subject), target));
            assert_eq!(name(plan, same.case), name(part_plan, s.case));
            let one = |law: &Option<lab_stats::analysis::ScalingLaw>| law.as_ref().map(|l| l.one);
            assert_eq!(one(&same.law), one(&s.law));
        }
        for &(s, p, class) in &of_part.warm_ups {
            assert!(whole.warm_ups.contains(&(subject(s), point(p), class)));
        }
        for (s, p, statuses) in &of_part.statuses {
            let same = (subject(*s), point(*p), statuses.clone());
            assert!(whole.statuses.contains(&same));
        }
        for fact in facts(&of_part) {
            assert!(facts(&whole).contains(&fact), "{fact:?}");
        }
        for exclusion in &of_part.exclusions {
            let cell_key = (subject(exclusion.subject), exclusion.point.map(point));
            let same = |r: &lab_stats::analysis::Exclusion| {
                (r.subject, r.point) == cell_key && r.reason == exclusion.reason
            };
            assert!(whole.exclusions.iter().any(same));
        }
        cells += of_part.cells.len();
        comparisons += of_part.comparisons.len();
        controls += of_part.controls.len();
        overall += of_part.overall.len();
        fits += of_part.fits.len();
        effects += of_part.effects.len();
        scalings += of_part.scalings.len();
        exclusions += of_part.exclusions.len();
    }
    assert_eq!(whole.cells.len(), cells);
    assert_eq!(whole.comparisons.len(), comparisons);
    assert_eq!(whole.controls.len(), controls);
    assert_eq!(whole.overall.len(), overall);
    assert_eq!(whole.fits.len(), fits);
    assert_eq!(whole.effects.len(), effects);
    assert_eq!(whole.scalings.len(), scalings);
    assert_eq!(whole.exclusions.len(), exclusions);
    whole
}

/// Adds processes and their resource usage to every block.
fn with_processes(run: &mut Run) {
    let plan = run.plan().unwrap().clone();
    let cells = plan
        .points
        .ids()
        .flat_map(|p| plan.subjects.ids().map(move |s| (s, p)));
    let cells: Vec<_> = cells.filter(|&(s, p)| plan.takes_part(s, p)).collect();
    let mut random = Random(3);
    let mut scattered = |scale: f64| (scale * (0.1 * random.normal()).exp()) as u64;
    for block in &mut run.blocks {
        for subject in plan.subjects.ids() {
            block.processes.push(ProcessStart {
                subject,
                startup_ns: scattered(2e6),
                startup_cpu_ns: scattered(1e6),
            });
        }
        for &(subject, point) in &cells {
            let service = plan.targets.get(plan.points[point].target);
            let service = service.is_some_and(|t| t.kind.is_service());
            block.resources.push(Resources {
                subject,
                point,
                rss_bytes: scattered(1e6),
                peak_rss_bytes: scattered(2e6),
                threads: 3,
                user_ns: scattered(1e9),
                sys_ns: scattered(1e8),
                voluntary_switches: scattered(100.0),
                involuntary_switches: scattered(10.0),
                server_bytes: service.then(|| scattered(1e7)),
            });
        }
    }
    for &(subject, point) in &cells {
        run.pilots.push(Pilot {
            subject,
            point,
            operations: 1,
            warmup_batches: 1,
            class: match subject {
                SubjectId(2) => WarmUp::NoSteadyState,
                _ => WarmUp::Flat,
            },
            cold_ns: scattered(1e7),
            batches: Vec::new(),
            ages: Vec::new(),
        });
    }
}

fn with_exits(run: &mut Run) {
    let mut random = Random(4);
    let mut some = |scale: f64| (scale * (0.1 * random.normal()).exp()) as u64;
    for block in &mut run.blocks {
        for sample in &block.samples {
            block.exits.push(ProcessExit {
                point: sample.point,
                subject: sample.subject,
                pass: sample.pass,
                user_ns: some(1e6),
                sys_ns: some(1e5),
                peak_rss_bytes: some(1e6),
                minor_faults: some(300.0),
                major_faults: some(2.0),
                voluntary_switches: some(5.0),
                involuntary_switches: some(3.0),
                status: i32::from(sample.pass == 1 && sample.subject == SubjectId(1)),
            });
        }
    }
}

fn batches(world: &World, blocks: u32) -> Run {
    let mut run = simulator::run(world, 5, 8);
    let mut simulator = Simulator::new(world, 5);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    run.ending = Some(Ending::Budget);
    run
}

#[test]
fn results_of_batches() {
    let world = World {
        ratios: vec![1.3, 0.98, 1.0],
        sweep: vec![1.0, 10.0, 100.0],
        spikes: (0.05, 3.0),
        memory: 0.8,
        ..CALM
    };
    let mut run = batches(&world, 20);
    with_processes(&mut run);
    run.failures.push(Failure {
        subject: SubjectId(3),
        point: Some(PointId(1)),
        block: None,
        kind: "crash".into(),
        message: "It fell.".into(),
        log: Vec::new(),
    });
    let results = as_in_its_parts(&run);
    assert_eq!(results.fits.len(), 5);
    let failed = results
        .warnings
        .iter()
        .find(|w| w.kind().name() == "failed");
    let failed = failed.unwrap();
    assert_eq!(
        (failed.subject, failed.point, failed.target),
        (Some(SubjectId(3)), Some(PointId(1)), None)
    );
    let kinds: Vec<_> = results.warnings.iter().map(|w| w.kind().name()).collect();
    let gravest_first = ["failed", "noise-floor", "no-steady-state"];
    assert_eq!(kinds, gravest_first);
    for metric in [Metric::MEMORY, Metric::PEAK_MEMORY, Metric::STARTUP] {
        assert!(
            interval_if_any(&results, SubjectId(0), None, &metric).is_some(),
            "{metric:?}"
        );
    }
    for metric in [Metric::THREADS, Metric::USER_CPU, Metric::SYSTEM_CPU] {
        assert!(
            reading(&results, SubjectId(0), None, &metric).is_some(),
            "{metric:?}"
        );
    }
    assert_eq!(results.warm_ups.len(), 5 * 3 - 1, "one failed");
}

#[test]
fn results_of_whole_commands() {
    let world = World {
        ratios: vec![1.5, 0.9],
        ..CALM
    };
    let mut run = batches(&world, 12);
    run.plan_mut().unwrap().work = Work::Commands(Commands::default());
    with_exits(&mut run);
    let results = as_in_its_parts(&run);
    assert_eq!(results.statuses.len(), 4);
    assert!(
        results
            .statuses
            .contains(&(SubjectId(1), PointId(0), vec![0, 1]))
    );
    for metric in [
        Metric::USER_CPU,
        Metric::SYSTEM_CPU,
        Metric::PEAK_MEMORY,
        Metric::MINOR_FAULTS,
        Metric::MAJOR_FAULTS,
        Metric::VOLUNTARY_SWITCHES,
        Metric::INVOLUNTARY_SWITCHES,
    ] {
        assert!(
            interval_if_any(&results, SubjectId(1), PointId(0), &metric).is_some(),
            "{metric:?}"
        );
    }
}

#[test]
fn a_copy_of_the_baselines_program_is_never_faster_or_slower() {
    let world = World {
        ratios: vec![1.5, 0.5, 1.001],
        ..CALM
    };
    let verdicts = |lines: [&str; 4]| {
        let mut run = batches(&world, 12);
        let plan = run.plan_mut().unwrap();
        plan.work = Work::Commands(Commands::default());
        let compared: Vec<SubjectId> = plan.compared().collect();
        for (&subject, line) in compared.iter().zip(lines) {
            plan.subjects[subject].command = Some(Command {
                line: line.into(),
                revision: Some("c0ffee".into()),
                ..Command::default()
            });
        }
        let results = results(&run);
        let others = compared[1..].iter();
        let verdict = |&s: &SubjectId| results.comparison(s, PointId(0), &Metric::WALL)?.verdict;
        others.map(verdict).collect::<Vec<_>>()
    };
    use lab_stats::analysis::Verdict as V;
    assert_eq!(
        verdicts(["a", "b", "c", "d"])[..2],
        [Some(V::Slower), Some(V::Faster)]
    );
    let copies = verdicts(["a", "a", "a", "a"]);
    let is_open = |v: &Option<V>| matches!(v, Some(V::Inconclusive { .. }));
    assert!(copies[..2].iter().all(is_open), "{copies:?}");
}

/// Returns a run on two targets: a library and a server, with a factor, and a sweep over
/// connections on the server.
fn targets() -> Run {
    let mut subjects = IdVec::new();
    let mut points = IdVec::new();
    for target in [0, 1].map(TargetId) {
        for name in ["c", "c (control)", "ada"] {
            let control_of = name.contains("control").then_some(SubjectId(3 * target.0));
            subjects.push(Subject {
                target,
                ..subject(name, control_of)
            });
        }
        let point = |case, params, x| Point {
            case: CaseId(case),
            target,
            params,
            x,
            ..Point::default()
        };
        for statement in ["prepared", "text"] {
            points.push(point(0, vec![("statement".into(), statement.into())], None));
        }
        for n in [1, 2, 4, 8, 16]
            .into_iter()
            .filter(|_| target == TargetId(1))
        {
            let params = vec![("connections".into(), n.to_string())];
            points.push(point(1, params, Some(f64::from(n))));
        }
    }
    let mut run = empty_run(subjects, points, 7, 8);
    let plan = run.plan_mut().unwrap();
    plan.cases.push(Case {
        name: "connections".into(),
        sweep: Some("connections".into()),
        cores: Cores::All,
        ..Case::default()
    });
    plan.targets = [TargetKind::Sqlite, TargetKind::Postgresql]
        .map(target)
        .into();
    let plan = plan.clone();
    let mut random = Random(9);
    run.blocks = (0..12).map(|n| visit(&plan, n, &mut random)).collect();
    with_processes(&mut run);
    run
}

fn visit(plan: &Plan, number: u32, random: &mut Random) -> Block {
    let mut visited = block(number, Vec::new());
    for point in plan.points.ids() {
        for id in plan.subjects.ids().filter(|&s| plan.takes_part(s, point)) {
            let ratio = if plan.subjects[id].name == "ada" {
                1.2
            } else {
                1.0
            };
            for pass in 0..16 {
                let wall = 2e7 * ratio * (0.02 * random.normal()).exp();
                let mut sample = sample(point, id, pass, id.0, 1000, wall as u64);
                sample.batch.cpu_ns = (wall * 0.6) as u64;
                let server = plan.points[point].target == TargetId(1);
                sample.batch.server_cpu_ns = server.then_some((wall * 0.5) as u64);
                visited.samples.push(sample);
            }
            if plan.points[point].x.is_some() {
                visited.latencies.push(Latencies {
                    point,
                    subject: id,
                    pass: 0,
                    counts: vec![(100, 900), (200 + number % 3, 99), (300, 1)],
                });
            }
        }
    }
    visited
}

#[test]
fn results_of_multiple_targets() {
    let mut run = targets();
    run.host.findings.push(host::HostFinding {
        what: "The governor is powersave".into(),
        advice: "choose performance".into(),
        unfit: true,
    });
    let results = as_in_its_parts(&run);
    assert_eq!(results.scalings.len(), 2);
    assert!(results.cells.iter().any(|c| c.key.metric == Metric::P99));
    let host: Vec<_> = results
        .warnings
        .iter()
        .filter(|w| w.kind().name() == "host")
        .collect();
    assert_eq!(
        (host.len(), host[0].target),
        (1, None),
        "one warning for all targets"
    );
    let changing = results
        .warnings
        .iter()
        .filter(|w| w.kind().name() == "no-steady-state");
    let changing: Vec<_> = changing.map(|w| (w.subject, w.target)).collect();
    assert_eq!(changing, [(Some(SubjectId(2)), Some(TargetId(0)))]);
}

/// Returns a run of two servers with one and with eight connections.
///
/// Requests to the second server sometimes fail. The second copy of the baseline is slow.
fn two_servers() -> Run {
    let mut run = simulator::load::run(&["a", "b"], &[1, 8], 3);
    let mut random = Random(3);
    for number in 0..9 {
        let mut slices = Vec::new();
        for (subject, point) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let median = 1e6 * (1.0 + 0.3 * f64::from(subject));
            let times = simulator::load::times(&mut random, 1500, median, 0.3);
            let mut slice = simulator::load::second(subject, point, simulator::load::counts(times));
            slice.counts[LoadCount::ReceivedBytes] = 1000 + number;
            slice.server_cpu_ns = (subject == 0).then_some(200_000_000 + 1000 * number);
            if (subject, point) == (1, 1) {
                slice.errors = vec![(ErrorKind::Status, 3), (ErrorKind::Reset, number)];
                slice.busiest_cpu_ns = 950_000_000;
            }
            slices.push(slice);
        }
        simulator::load::add(&mut run, slices);
    }
    run
}

#[test]
fn results_of_a_load() {
    let run = two_servers();
    let plan = run.plan().unwrap();
    let results = results(&run);
    let of = |metric| interval_if_any(&results, SubjectId(0), PointId(0), &metric).is_some();
    assert!(of(Metric::OFFERED) && of(Metric::THROUGHPUT) && of(Metric::RECEIVED));
    assert!(of(Metric::GENERATOR_CPU) && of(Metric::GENERATOR_BUSY) && of(Metric::SERVER_CORES));
    assert!(of(Metric::P999) && of(Metric::SERVICE_P999));
    assert!(
        !of(Metric::SEND_DELAY_P50),
        "a closed loop has no send delay"
    );
    assert!(of(Metric::SERVER_CPU));
    let unknown = results.value(SubjectId(1), PointId(0), &Metric::SERVER_CPU);
    assert!(unknown.is_none(), "an unknown value is omitted");
    for (c, _) in judged(&results) {
        let control = results.control(c.key.point.unwrap(), &c.key.metric);
        assert_eq!(c.margin, control.map_or(plan.measure.margin, |c| c.margin));
        // Percentiles are computed from all requests instead of blocks.
        assert_eq!(c.p.is_some(), !c.key.metric.id.starts_with('p'));
    }
    let errors: u64 = results.errors.iter().map(|e| e.3).sum();
    assert_eq!(
        reading(&results, SubjectId(1), PointId(1), &Metric::ERRORS),
        Some(errors as f64)
    );
    assert_eq!(
        reading(&results, SubjectId(0), PointId(1), &Metric::ERRORS),
        Some(0.0)
    );
    let mut warnings = results.warnings.iter();
    let saturated = warnings.find(|w| w.kind().name() == "saturated").unwrap();
    assert_eq!(
        (saturated.subject, saturated.point),
        (Some(SubjectId(1)), Some(PointId(1)))
    );
    assert_eq!(results.saturated, [(SubjectId(1), PointId(1))]);
}

#[test]
fn results_of_servers() {
    let world = served::World::new(&[0.8]);
    let run = world.run(1, 8);
    let plan = run.plan().unwrap();
    let results = results(&run);
    assert_eq!(results.effects.len(), 2 * 6);
    let loses_keep_alive =
        |&(from, to): &(PointId, PointId)| plan.keeps_alive(from) && !plan.keeps_alive(to);
    assert!(
        results
            .effects
            .iter()
            .all(|e| e.pairs.iter().all(loses_keep_alive))
    );
    assert!(
        results
            .value(SubjectId(2), None, &Metric::SERVER_MEMORY)
            .is_some()
    );
    let memory = results
        .comparison(SubjectId(2), None, &Metric::SERVER_MEMORY)
        .unwrap();
    assert!(memory.verdict.is_some());
    let copy = results
        .comparison(SubjectId(1), None, &Metric::SERVER_MEMORY)
        .unwrap();
    assert!(copy.margin >= plan.measure.margin && memory.margin == copy.margin);
    for overall in &results.overall {
        assert_eq!(overall.metric, Metric::SERVER_CPU);
        assert!(overall.p.is_some() && overall.verdict.is_some());
    }
}

#[test]
fn results_without_samples() {
    let mut run = targets();
    run.content = Content::default();
    assert!(results(&run).cells.is_empty());
    let run = batches(&CALM, 0);
    assert!(results(&run).cells.is_empty());
}

/// Values that do not apply to a kind of run are absent.
#[test]
fn values_are_finite_and_intervals_contain_their_estimates() {
    for run in [
        targets(),
        two_servers(),
        served::World::new(&[1.1]).run(2, 3),
    ] {
        let results = results(&run);
        for cell in &results.cells {
            assert!(cell.value.value().is_finite(), "{cell:?}");
            if let Some(Interval {
                estimate,
                low,
                high,
                ..
            }) = cell.value.interval()
            {
                assert!(
                    low <= estimate && estimate <= high && high.is_finite(),
                    "{cell:?}"
                );
            }
        }
        for c in &results.comparisons {
            assert!(c.ratio.low > 0.0 && c.ratio.high.is_finite(), "{c:?}");
        }
    }
}
