// SPDX-License-Identifier: Apache-2.0
//! Tests the results of servers that benchlab starts, with known true costs.
//!
//! The tests cover individual cases and means over cases, closed-loop and open-loop points, memory,
//! and a generator that is the bottleneck.

use crate::documents;
use crate::simulator::figures::{interval, judged, reading, warning, warnings};
use crate::simulator::served::World;
use crate::simulator::{contradicts, most_by_chance};
use lab_model::*;
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{ExclusionReason, Verdict};
use lab_stats::load::peaks::{Peak, Peaks};
use lab_stats::results::{Overall, Results, results};
use serde_json::json;

fn overall(results: &Results, subject: u32, case: Option<u32>) -> &Overall {
    let (subject, case) = (SubjectId(subject), case.map(CaseId));
    let mut all = results.overall.iter();
    let found = all.find(|o| (o.subject, o.case, o.keep_alive) == (subject, case, Some(true)));
    found.expect("the servers are compared")
}

/// Counts the points of a subject that a warning lists.
fn cells_of(warning: &serde_json::Value, subject: &str) -> usize {
    let all = warning["at"].as_array().expect("places").iter();
    all.filter(|at| at["place"]["subject"] == subject).count()
}

fn near(found: f64, truth: f64) -> bool {
    (found / truth - 1.0).abs() < 0.03
}

#[test]
fn costs_memory_and_reconnects_match_the_simulation() {
    let mut world = World::new(&[0.8, 2.0]);
    world.memory = vec![1.0, 1.0, 0.5, 70.0];
    let results = results(&world.run(1, 12));
    for case in [Some(0), Some(1), None] {
        for (subject, truth, verdict) in [(2, 0.8, Verdict::Faster), (3, 2.0, Verdict::Slower)] {
            let found = overall(&results, subject, case);
            assert!(near(found.ratio.estimate, truth), "{found:?}");
            assert_eq!(found.verdict, Some(verdict));
            assert_eq!(found.points, if case.is_some() { 4 } else { 8 });
            assert!(found.ratio.level >= 0.95);
        }
    }
    for (subject, truth) in [(2, 0.5), (3, 70.0)] {
        let ratio = results.comparison(SubjectId(subject), None, &Metric::SERVER_MEMORY);
        assert!(near(ratio.unwrap().ratio.estimate, truth), "{ratio:?}");
        assert_eq!(
            reading(&results, SubjectId(subject), None, &Metric::THREADS),
            Some(2.0)
        );
        assert!(interval(&results, SubjectId(subject), None, &Metric::STARTUP).estimate > 2e6);
    }
    let costs = results
        .effects
        .iter()
        .filter(|r| r.metric == Metric::SERVER_CPU);
    // Three servers, each in two cases and over both cases. The copy is not included.
    assert_eq!(costs.clone().count(), 9);
    assert!(costs.into_iter().all(|r| near(r.ratio.estimate, 3.0)));
}

#[test]
fn rates_are_compared_at_closed_points_and_latencies_at_open_ones() {
    let run = World::new(&[2.0]).run(1, 12);
    let plan = run.plan().unwrap();
    let results = results(&run);
    let all = judged(&results).into_iter();
    let compared: Vec<_> = all.filter(|(c, _)| c.key.subject == SubjectId(2)).collect();
    for point in plan.points.ids() {
        let at_point = compared
            .iter()
            .filter(|(c, _)| c.key.point == Some(point))
            .map(|(c, _)| c.key.metric.clone());
        let expected = if plan.is_open(point) {
            vec![Metric::P50, Metric::P90, Metric::P99]
        } else {
            vec![Metric::THROUGHPUT, Metric::SERVER_CPU]
        };
        assert_eq!(
            at_point.collect::<Vec<_>>(),
            expected,
            "{}",
            plan.label(point)
        );
    }
    // Twelve blocks cannot show events that occur in one block out of ten.
    for (c, verdict) in compared {
        let is_decided = ![Metric::P90, Metric::P99].contains(&c.key.metric);
        assert_eq!(verdict == Verdict::Slower, is_decided, "{c:?}");
    }
    // One law for each case, with and without keep-alive. No law is fitted to requested rates.
    assert_eq!(results.scalings.len(), 2 * 2 * 2);
    assert!(
        results
            .scalings
            .iter()
            .all(|s| !s.factors.iter().any(|(_, v)| v == "50%"))
    );
    assert!(warnings(&results, "overloaded").is_empty());
}

/// The peak is the median of the first blocks with the same number of connections.
///
/// Later blocks do not change the peak.
#[test]
fn peaks_come_from_the_first_blocks_unless_the_generator_was_the_bottleneck() {
    let mut run = World::new(&[1.0, 1.0]).run(1, 12);
    let plan = run.plan().unwrap().clone();
    let open = plan
        .points
        .ids()
        .find(|&p| plan.fraction_of_peak(p).is_some());
    let open = open.unwrap();
    let closed: Vec<PointId> = plan.peak_points(open).collect();
    let [closed] = closed[..] else {
        panic!("{closed:?}")
    };
    assert_eq!((plan.connections(open), plan.connections(closed)), (64, 64));
    let limited = |run: &mut Run, subject: u32, blocks: usize| {
        let subject = SubjectId(subject);
        let served = [1000, 3000, 2000, 9999];
        for (block, served) in run.blocks.iter_mut().zip(served) {
            let of = |s: &&mut Slice| (s.subject, s.point) == (subject, closed);
            for slice in block.slices.iter_mut().filter(of) {
                let busy = (block.number as usize) < blocks;
                slice.busiest_cpu_ns = if busy { 49_000_000 } else { 10_000_000 };
                (slice.offered, slice.served) = (served, served);
            }
        }
        Peaks::from_blocks(&plan, run).peak(&plan, subject, open)
    };
    assert_eq!(limited(&mut run, 2, 1), Some(Peak::Rate(40_000.0)));
    assert_eq!(limited(&mut run, 2, 2), Some(Peak::Generator));
    assert_eq!(limited(&mut run, 3, 0), Some(Peak::Rate(40_000.0)));
    let excluded = |run: &Run, subject: u32| {
        let found = results(run).exclusions.into_iter();
        let mut found = found.filter(|r| (r.subject, r.point) == (SubjectId(subject), Some(open)));
        found.next().map(|r| r.reason)
    };
    let unknown = |baseline| Some(ExclusionReason::PeakUnknown { baseline });
    assert_eq!(excluded(&run, 2), unknown(None));
    assert_eq!(excluded(&run, 3), None);
    limited(&mut run, 0, 3);
    assert_eq!(excluded(&run, 3), unknown(Some("base".into())));
    run.blocks.truncate(2);
    assert_eq!(
        Peaks::from_blocks(&plan, &run).peak(&plan, SubjectId(3), open),
        None
    );
}

/// Runs of servers with equal costs do not name a winner more often than claimed.
#[test]
fn equal_servers_have_no_winner() {
    let runs = documents::runs(400, 60);
    let wrong = |seed: &u64| {
        let world = World {
            // A spread so large that no interval fits into the margin.
            scatter: 0.1,
            timed: false,
            ..World::new(&[1.0, 1.0, 1.0])
        };
        let results = results(&world.run(*seed, 11));
        let all = (2..5).map(|subject| overall(&results, subject, None).verdict.unwrap());
        all.into_iter().any(|verdict| contradicts(&verdict, 1.0))
    };
    let wrong = (0..runs).filter(wrong).count() as u64;
    println!("a false winner over all cases in {wrong} of {runs} runs");
    assert!(wrong <= most_by_chance(runs, 0.05), "{wrong} of {runs}");
}

#[test]
fn a_copy_that_differs_raises_the_margin() {
    let mut world = World::new(&[1.03]);
    world.scatter = 0.002;
    world.costs[1] = 1.06;
    let measured = results(&world.run(1, 12));
    let copy = overall(&measured, 1, None);
    assert!(
        near(copy.ratio.estimate, 1.06) && copy.margin > 0.055,
        "{copy:?}"
    );
    let other = overall(&measured, 2, None);
    assert_eq!(
        (other.verdict, other.margin),
        (Some(Verdict::Equivalent), copy.margin)
    );
    assert!(
        measured
            .controls
            .iter()
            .filter(|c| c.metric == Metric::SERVER_CPU)
            .all(|c| !c.met)
    );
    let differ = warning(&measured, "noise-floor");
    assert_eq!(differ["at"].as_array().unwrap().len(), 34);
    assert_eq!(differ["controls"], 38);
    let margins = differ["at"].as_array().unwrap().iter();
    let mut margins = margins.map(|at| at["margin"].as_f64().unwrap());
    assert!(margins.any(|margin| margin > 0.055), "{differ}");
    let equal = results(&World::new(&[1.0]).run(1, 12));
    let (met, all) = (
        equal.controls.iter().filter(|c| c.met).count(),
        equal.controls.len(),
    );
    assert_eq!(all, 2 * (8 * 2 + 3));
    assert!(met >= all - 5, "{met} of {all}");
}

#[test]
fn rates_limited_by_the_generator_are_not_compared() {
    // At closed-loop points, the generator is the bottleneck for the baseline and for the third
    // server.
    let limited = |costs: &[f64]| {
        let mut run = World::new(costs).run(1, 12);
        let plan = run.plan().unwrap().clone();
        for slice in run.blocks.iter_mut().flat_map(|b| &mut b.slices) {
            if !plan.is_open(slice.point)
                && (slice.subject == SubjectId(0) || slice.subject == SubjectId(3))
            {
                slice.busiest_cpu_ns = 49_000_000;
            }
        }
        results(&run)
    };
    let rates = |results: &Results, subject| {
        let all = judged(results).into_iter();
        let of_subject = all.filter(|(c, _)| {
            c.key.subject == SubjectId(subject) && c.key.metric == Metric::THROUGHPUT
        });
        of_subject.map(|(_, verdict)| verdict).collect::<Vec<_>>()
    };
    let results = limited(&[2.0, 1.0, 0.5]);
    assert!(
        rates(&results, 2).iter().all(|v| *v == Verdict::Slower),
        "the server is slower despite the generator's limit"
    );
    assert_eq!(rates(&results, 2).len(), 16);
    assert_eq!(
        rates(&results, 3),
        [],
        "both rates are limited by the generator"
    );
    assert_eq!(rates(&results, 4), [], "the baseline may be as fast");
    let costs = results
        .comparisons
        .iter()
        .filter(|c| c.key.metric == Metric::SERVER_CPU);
    assert_eq!(
        costs.count(),
        3 * 16,
        "the generator's limit does not affect CPU times"
    );
    assert!(
        results
            .scalings
            .iter()
            .all(|s| s.subject != SubjectId(0) && s.subject != SubjectId(3))
    );
    let saturated = warning(&results, "saturated");
    for (name, points) in [("base", 16), ("s2", 0), ("s3", 16)] {
        assert_eq!(cells_of(&saturated, name), points, "{name}");
    }
}

#[test]
fn a_server_that_failed_is_compared_nowhere_and_one_that_failed_at_a_point_elsewhere() {
    let mut run = World::new(&[2.0, 2.0]).run(1, 12);
    let failure = |subject, point: Option<u32>| Failure {
        subject: SubjectId(subject),
        point: point.map(PointId),
        block: None,
        kind: "proof".into(),
        message: "HEAD has a body".into(),
        log: Vec::new(),
    };
    run.failures = vec![failure(2, None), failure(3, Some(0))];
    let measured = results(&run);
    assert!(measured.overall.iter().all(|o| o.subject != SubjectId(2)));
    assert!(
        measured
            .comparisons
            .iter()
            .all(|c| c.key.subject != SubjectId(2))
    );
    let memory = measured.value(SubjectId(2), None, &Metric::SERVER_MEMORY);
    assert!(
        memory.is_some(),
        "a server with different work is not compared, but its memory is shown"
    );
    assert_eq!(overall(&measured, 3, Some(0)).points, 3);
    assert_eq!(overall(&measured, 3, Some(1)).points, 4);
    // Where the baseline failed, there is nothing to compare with.
    run.failures = vec![failure(0, Some(0))];
    let measured = results(&run);
    assert!(
        measured
            .comparisons
            .iter()
            .all(|c| c.key.point != Some(PointId(0)))
    );
    assert_eq!(overall(&measured, 2, Some(0)).points, 3);
}

#[test]
fn one_block_decides_nothing_and_says_so() {
    let results = results(&World::new(&[2.0]).run(1, 1));
    let open = |verdict: Option<Verdict>| matches!(verdict, Some(Verdict::Inconclusive { .. }));
    let at_points = judged(&results).into_iter();
    assert!(at_points.clone().all(|(c, _)| open(c.verdict)) && at_points.len() > 0);
    assert!(results.overall.iter().all(|o| open(o.verdict)));
    let few = &warnings(&results, "few-blocks")[0];
    assert_eq!(
        (&few["replicates"], &few["unit"]),
        (&json!(1), &json!("block"))
    );
}

/// Three blocks distinguish a server with twice the baseline's cost from an equal server, at all
/// points simultaneously.
#[test]
fn three_blocks_resolve_clear_differences() {
    let results = results(&World::new(&[2.0]).run(1, 3));
    let costs = judged(&results).into_iter();
    let costs =
        costs.filter(|(c, _)| c.key.metric == Metric::SERVER_CPU && c.key.subject == SubjectId(2));
    for (c, verdict) in costs {
        assert_eq!(verdict, Verdict::Slower, "{c:?}");
        assert_eq!(c.ratio.level, 0.95);
    }
    assert_eq!(warning(&results, "few-blocks")["replicates"], 3);
}

/// Finding a peak takes three blocks. The run was allowed twelve blocks but has only two.
#[test]
fn a_run_that_ends_before_peaks_are_known_says_so() {
    let mut run = World::new(&[2.0]).run(1, 2);
    run.plan_mut().unwrap().measure.max_blocks = 12;
    let unknown = json!({"code": "peaks-unknown", "blocks": 2, "needed": 3});
    let few = warnings(&results(&run), "few-blocks");
    assert!(few.contains(&unknown), "{few:?}");
    let enough = World::new(&[2.0]).run(1, 12);
    assert!(warnings(&results(&enough), "few-blocks").is_empty());
}

#[test]
fn a_late_generator_is_one_warning() {
    let mut run = World::new(&[2.0, 1.0, 1.5]).run(1, 12);
    for slice in run.blocks.iter_mut().flat_map(|b| &mut b.slices) {
        slice.send_delay = Counts(vec![(3_000_000, slice.served)]).into();
    }
    warning(&results(&run), "late");
}

#[test]
fn warnings_are_few_however_many_points_there_are() {
    let mut run = World::new(&[2.0, 1.0, 1.5]).run(1, 12);
    for slice in run.blocks.iter_mut().flat_map(|b| &mut b.slices) {
        slice.errors = vec![(ErrorKind::Reset, 1), (ErrorKind::Timeout, 2)];
        slice.offered += slice.offered / 10 + 3;
    }
    run.settings.push(Setting {
        subject: SubjectId(0),
        point: None,
        key: "cores shared".into(),
        value: "yes".into(),
    });
    let results = results(&run);
    assert_eq!(warning(&results, "shared-cores")["code"], "one-core");
    let errors = warning(&results, "errors");
    assert_eq!(cells_of(&errors, "base"), 18);
    assert_eq!(errors["at"][0]["kinds"][0][0], "timeout");
    let overloaded = warning(&results, "overloaded");
    assert_eq!(
        cells_of(&overloaded, "base"),
        2,
        "only points of the open loop"
    );
}

#[test]
fn a_file_that_was_tampered_with_does_not_panic() {
    let mut run = World::new(&[1.0]).run(1, 3);
    run.pilots.push(Pilot {
        subject: SubjectId(99),
        point: PointId(99),
        operations: 1,
        warmup_batches: 1,
        class: WarmUp::NoSteadyState,
        cold_ns: 1,
        batches: Vec::new(),
        ages: Vec::new(),
    });
    let block = &mut run.blocks[0];
    block.slices[0].subject = SubjectId(77);
    block.slices[1].point = PointId(77);
    block.slices[2].server_cpu_ns = Some(u64::MAX);
    block.slices[3].served = u64::MAX;
    block.slices[4].server_bytes = None;
    block.processes[0].subject = SubjectId(77);
    results(&run);
    run.plan_mut().unwrap().points.clear();
    results(&run);
}
