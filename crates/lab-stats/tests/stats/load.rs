// SPDX-License-Identifier: Apache-2.0
//! Tests the results of load runs.
//!
//! They are compared with NumPy and SciPy, and with simulated servers whose true values are known.
//! Arbitrary run files and gates are also tested.

use crate::lines::{close, lines};
use crate::simulator::figures::{
    interval, interval_if_any, judged, measured_cells, reading, warnings,
};
use crate::simulator::load::{add, counts, open, run, second, times};
use crate::simulator::{Random, contradicts, most_by_chance};
use lab_model::*;
use lab_model::{AgentId, SubjectId};
use lab_stats::analysis::{ExclusionReason, Verdict};
use lab_stats::gate::{GateCondition, GateFound, InconclusiveReason, JudgedGate, judge};
use lab_stats::results::{Comparison, Results, results};
use proptest::prelude::*;
use serde_json::{Value, json};

const NUMPY: &str = include_str!("../../reference/load.txt");

fn warned(results: &Results, kind: &str) -> Option<Value> {
    warnings(results, kind).into_iter().next()
}

fn metrics(results: &Results) -> Vec<Metric> {
    let comparisons = results.comparisons.iter();
    comparisons.map(|c| c.key.metric.clone()).collect()
}

const IN_TURNS: [Metric; 6] = [
    Metric::THROUGHPUT,
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::SERVER_CPU,
];

/// Returns the percentiles of response time that exist, in order.
fn response_percentiles(results: &Results, subject: SubjectId) -> Vec<Interval> {
    let found = RESPONSE_TIMES[..6]
        .iter()
        .filter_map(|m| interval_if_any(results, subject, PointId(0), m));
    found.collect()
}

/// Returns the intervals of the percentiles of service time.
fn service_percentiles(results: &Results, subject: SubjectId) -> Vec<Interval> {
    let found = SERVICE_TIMES[..6]
        .iter()
        .filter_map(|m| interval_if_any(results, subject, PointId(0), m));
    found.collect()
}

/// Returns the run whose data reference/generate_load.py generates.
fn reference_run() -> Run {
    let mut run = run(&["a", "b"], &[64], 1);
    let times = lines(NUMPY, "times");
    let mut slices = Vec::new();
    for (facts, times) in lines(NUMPY, "slice").zip(times) {
        let numbers: Vec<u64> = facts.numbers.iter().map(|n| *n as u64).collect();
        let &[
            wall_ns,
            offered,
            served,
            failed,
            received_bytes,
            cpu_ns,
            busiest_cpu_ns,
            server,
        ] = &numbers[..]
        else {
            panic!("{} numbers of a slice", numbers.len());
        };
        let pairs = times.numbers.chunks(2);
        let response = Counts(pairs.map(|pair| (pair[0] as u64, pair[1] as u64)).collect());
        let response = SliceTimes::from(response);
        let errors = [(ErrorKind::Status, failed)];
        slices.push(Slice {
            subject: SubjectId(facts.key("subject") as u32),
            pass: facts.key("turn") as u32 / 2,
            wall_ns,
            offered,
            served,
            errors: errors.into_iter().filter(|(_, n)| *n > 0).collect(),
            counts: LoadCounts::from([(LoadCount::ReceivedBytes, received_bytes)]),
            cpu_ns,
            busiest_cpu_ns,
            server_cpu_ns: Some(server),
            service: response.clone(),
            response,
            ..Slice::default()
        });
        if slices.len() == 4 {
            add(&mut run, std::mem::take(&mut slices));
        }
    }
    run
}

#[test]
fn levels_and_quantiles_equal_numpy() {
    let results = results(&reference_run());
    assert_eq!((results.blocks, measured_cells(&results).len()), (10, 2));
    for subject in 0..2 {
        let lines_of = |name: &'static str| {
            lines(NUMPY, name).filter(move |l| l.key("subject") == f64::from(subject))
        };
        let expected = lines_of("quantiles").next().unwrap().numbers;
        let quantiles = response_percentiles(&results, SubjectId(subject));
        let found: Vec<f64> = quantiles.iter().map(|i| i.estimate).collect();
        assert_eq!(found, expected);
        assert_eq!(quantiles, service_percentiles(&results, SubjectId(subject)));
        let extent = [Metric::RESPONSES, Metric::MAX];
        let extent = extent
            .map(|metric| reading(&results, SubjectId(subject), PointId(0), &metric).unwrap());
        assert_eq!(extent[..], lines_of("extent").next().unwrap().numbers);
        for line in lines_of("level") {
            let metric = match (line.word("of"), line.word("per")) {
                ("offered", _) => Metric::OFFERED,
                ("served", _) => Metric::THROUGHPUT,
                ("received", _) => Metric::RECEIVED,
                ("cpu", _) => Metric::GENERATOR_CPU,
                ("server", "served") => Metric::SERVER_CPU,
                _ => Metric::SERVER_CORES,
            };
            let interval = interval(&results, SubjectId(subject), PointId(0), &metric);
            let Interval {
                estimate,
                low,
                high,
                level,
            } = interval;
            close(&[estimate, low, high, level], &line.numbers, 1e-12);
        }
    }
}

#[test]
fn ratios_equal_scipy() {
    let results = results(&reference_run());
    for expected in lines(NUMPY, "ratio") {
        let named = expected.word("metric").replace('-', "_");
        let mut all = results.comparisons.iter();
        let found = all.find(|c| c.key.metric.id == named).unwrap();
        let Interval {
            estimate,
            low,
            high,
            ..
        } = found.ratio;
        let numbers = [Some(estimate), Some(low), Some(high), found.p];
        let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
        close(&numbers, &expected.numbers, 1e-9);
    }
    for expected in lines(NUMPY, "p50") {
        let p50 = interval(
            &results,
            SubjectId(expected.key("subject") as u32),
            PointId(0),
            &Metric::P50,
        );
        close(&[p50.estimate, p50.low, p50.high], &expected.numbers, 1e-12);
    }
    // In a closed loop, the tail does not reflect what a user would see.
    let mut compared = metrics(&results);
    compared.sort_by_key(|metric| IN_TURNS.iter().position(|known| known == metric));
    assert_eq!(
        compared,
        [Metric::THROUGHPUT, Metric::P50, Metric::SERVER_CPU]
    );
}

/// The true quantile is computed from all arrivals. 1,000 requests per second are due, and in the
/// fourth of ten seconds, no response is sent until its end.
#[test]
fn stalls_of_one_second_in_ten_affect_the_percentiles() {
    let mut run = open(run(&["a"], &[64], 1));
    for block in 0..10 {
        let waited = |i: u32| {
            if block == 3 {
                1e9 - f64::from(i) * 1e6
            } else {
                1e6
            }
        };
        add(&mut run, vec![second(0, 0, counts((0..1000).map(waited)))]);
    }
    let results = results(&run);
    let p99 = interval(&results, SubjectId(0), PointId(0), &Metric::P99);
    assert!((p99.estimate / 900e6 - 1.0).abs() < 0.002, "{p99:?}");
    // The frequency of stalls is unknown, because only one of ten blocks had one.
    assert_eq!(p99.level, 0.0, "{p99:?}");
    let tails = warned(&results, "tails").unwrap();
    let p99 = json!({"percentile": "p99", "needed": 90});
    assert!(
        tails["percentiles"].as_array().unwrap().contains(&p99),
        "{tails}"
    );
    assert_eq!(tails["blocks"], 10);
    assert_eq!(
        reading(&results, SubjectId(0), PointId(0), &Metric::RESPONSES),
        Some(10_000.0)
    );
    let p50 = interval(&results, SubjectId(0), PointId(0), &Metric::P50);
    assert!((p50.estimate / 1e6 - 1.0).abs() < 0.001);
    assert!(reading(&results, SubjectId(0), PointId(0), &Metric::MAX).unwrap() >= 1e9);
}

/// Returns the results of a run on a machine with drift. Each block has the order A B B A
/// or B A A B.
///
/// `ratio` is the true ratio of B's times to A's times.
fn compared(seed: u64, blocks: u32, ratio: f64) -> Results {
    let mut random = Random(seed);
    let mut run = open(run(&["a", "b"], &[64], seed));
    for _ in 0..blocks {
        let drift = 0.03 * random.normal();
        let mut speed = 0.1 * random.normal();
        let mut slices = Vec::new();
        let first = u32::from(random.uniform() < 0.5);
        for (turn, server) in [first, 1 - first, 1 - first, first].into_iter().enumerate() {
            speed += drift;
            let factor = if server == 1 { ratio } else { 1.0 };
            let median = 1e6 * factor * (speed + 0.01 * random.normal()).exp();
            let response = counts(times(&mut random, 600, median, 0.3));
            slices.push(Slice {
                pass: turn as u32 / 2,
                wall_ns: (600.0 * median) as u64,
                server_cpu_ns: Some((300.0 * median) as u64),
                ..second(server, 0, response)
            });
        }
        add(&mut run, slices);
    }
    results(&run)
}

#[test]
fn equal_servers_have_no_winner() {
    const RUNS: u64 = 400;
    let wrong = |seed: &u64| {
        let results = compared(*seed, 10, 1.0);
        let judged = judged(&results);
        assert_eq!(judged.len(), IN_TURNS.len());
        judged.iter().any(|(_, v)| contradicts(v, 1.0))
    };
    let wrong = (0..RUNS).filter(wrong).count() as u64;
    println!("a false winner in {wrong} of {RUNS} runs");
    assert!(wrong <= most_by_chance(RUNS, 0.05), "{wrong} of {RUNS}");
}

#[test]
fn a_slower_server_is_found_in_every_respect_and_a_swap_turns_it_round() {
    // Tails need many blocks, even if neighbors seem to depend on each other by chance.
    let has_interval = |c: &&Comparison| c.ratio.level > 0.0;
    let slower = compared(1, 400, 1.5);
    assert!(slower.comparisons.iter().filter(has_interval).count() >= 4);
    for c in slower.comparisons.iter().filter(has_interval) {
        let near = (c.ratio.estimate / 1.5 - 1.0).abs() < 0.1;
        assert!(near && c.verdict == Some(Verdict::Slower), "{c:?}");
        assert!(
            (c.ratio.level - slower.level).abs() < 0.05 && c.ratio.level >= 0.95,
            "{c:?}"
        );
    }
    let faster = compared(1, 400, 1.0 / 1.5);
    assert!(
        faster
            .comparisons
            .iter()
            .filter(has_interval)
            .all(|c| c.verdict == Some(Verdict::Faster))
    );
    // With five blocks, rates and costs are known, but percentiles are not.
    let few = compared(1, 5, 1.5);
    let undecided = |c: &&Comparison| matches!(c.verdict, Some(Verdict::Inconclusive { .. }));
    let open: Vec<&Comparison> = few.comparisons.iter().filter(undecided).collect();
    let open = open.iter().map(|c| c.key.metric.clone());
    assert_eq!(open.collect::<Vec<_>>(), IN_TURNS[1..5]);
    assert_eq!(warned(&few, "few-blocks").unwrap()["replicates"], 5);
}

#[test]
fn a_percentile_needs_a_request_that_exceeds_it() {
    let mut run = open(run(&["a", "b"], &[64], 1));
    let mut random = Random(1);
    for block in 0..10 {
        let n = if block == 4 { 99 } else { 2000 };
        let mut slice = |server, n| second(server, 0, counts(times(&mut random, n, 1e6, 0.3)));
        add(&mut run, vec![slice(0, 2000), slice(1, n)]);
    }
    let all = results(&run);
    // Only the total of all requests counts.
    assert_eq!(metrics(&all)[1..], IN_TURNS[1..5]);
    assert_eq!(response_percentiles(&all, SubjectId(1)).len(), 6);
    run.blocks.truncate(4);
    let few = response_percentiles(&results(&run), SubjectId(0));
    assert_eq!(few.len(), 5, "8,000 requests have no p99.99");
}

#[test]
fn errors_are_reported_and_hide_percentiles() {
    let mut run = open(run(&["a", "b"], &[64], 1));
    let mut random = Random(1);
    for _ in 0..10 {
        let mut slice = |server| second(server, 0, counts(times(&mut random, 2000, 1e6, 0.3)));
        let mut failing = slice(1);
        failing.errors = vec![(ErrorKind::Timeout, 30), (ErrorKind::Reset, 1)];
        failing.offered += 31;
        add(&mut run, vec![slice(0), failing]);
    }
    let results = results(&run);
    assert_eq!(
        metrics(&results),
        [Metric::THROUGHPUT, Metric::P50, Metric::P90]
    );
    let errors = [
        (SubjectId(1), PointId(0), ErrorKind::Timeout, 300),
        (SubjectId(1), PointId(0), ErrorKind::Reset, 10),
    ];
    assert_eq!(results.errors, errors);
    let counted = [Metric::REQUESTS, Metric::SERVED, Metric::ERRORS];
    let counted =
        counted.map(|metric| reading(&results, SubjectId(1), PointId(0), &metric).unwrap());
    assert_eq!(counted, [20_310.0, 20_000.0, 310.0]);
    let warned = warned(&results, "errors").unwrap();
    let at = json!([{
        "place": {"subject": "b", "point": null},
        "fraction": 310.0 / 20_310.0,
        "kinds": [["timeout", 300], ["reset", 10]],
    }]);
    assert_eq!(
        warned,
        json!({"code": "errors", "at": at, "hide_percentiles": true})
    );
}

#[test]
fn servers_that_served_nothing_are_excluded_not_slow() {
    let mut run = run(&["a", "b"], &[8, 16], 1);
    let mut random = Random(1);
    for block in 0..10 {
        let mut slices = Vec::new();
        for point in 0..2 {
            slices.push(second(0, point, counts(times(&mut random, 2000, 1e6, 0.3))));
            let dead = point == 1 || block == 7;
            let served = counts(times(&mut random, if dead { 0 } else { 2000 }, 1e6, 0.3));
            slices.push(Slice {
                offered: 2000,
                errors: vec![(ErrorKind::Connect, if dead { 2000 } else { 0 })],
                ..second(1, point, served)
            });
        }
        add(&mut run, slices);
    }
    let measured = results(&run);
    assert!(measured.comparisons.is_empty());
    let nothing = |idle, baseline| ExclusionReason::ServedNothing {
        baseline,
        idle,
        blocks: 10,
        mostly: Some(ErrorKind::Connect),
    };
    let reasons: Vec<_> = measured
        .exclusions
        .iter()
        .map(|r| (r.subject, r.point, r.reason.clone()))
        .collect();
    assert_eq!(
        reasons,
        [
            (SubjectId(1), Some(PointId(0)), nothing(1, None)),
            (SubjectId(1), Some(PointId(1)), nothing(10, None)),
        ]
    );
    assert_eq!(
        reading(&measured, SubjectId(1), PointId(1), &Metric::SERVED),
        Some(0.0)
    );
    let absent = [Metric::GENERATOR_CPU, Metric::P50];
    assert!(
        absent
            .iter()
            .all(|m| interval_if_any(&measured, SubjectId(1), PointId(1), m).is_none())
    );
    assert_eq!(
        interval(&measured, SubjectId(1), PointId(1), &Metric::THROUGHPUT).estimate,
        0.0
    );
    run.plan_mut().unwrap().baseline = SubjectId(1);
    let exclusions = results(&run).exclusions;
    assert!(
        exclusions
            .iter()
            .any(|r| r.subject == SubjectId(0) && r.reason == nothing(10, Some("b".into())))
    );
}

fn one_cell(open_loop: bool, change: impl Fn(&mut Slice)) -> Results {
    let mut run = run(&["a"], &[64], 1);
    let mut random = Random(1);
    for _ in 0..10 {
        let mut slice = second(0, 0, counts(times(&mut random, 2000, 1e6, 0.3)));
        change(&mut slice);
        add(&mut run, vec![slice]);
    }
    results(&if open_loop { open(run) } else { run })
}

#[test]
fn a_generator_at_its_limit_is_named() {
    let late = |part: u64| SliceTimes::from(Counts(vec![(1000, 2000 - part), (1_100_799, part)]));
    let cell = |results: &Results| results.is_saturated(SubjectId(0), PointId(0));
    let idle = one_cell(true, |s| s.send_delay = late(1));
    assert!(
        !cell(&idle) && idle.warnings.iter().all(|w| w.kind().name() == "tails"),
        "{:?}",
        idle.warnings
    );
    let lagging = one_cell(true, |s| s.send_delay = late(21));
    let late_at = warned(&lagging, "late").unwrap();
    let own = late_at["at"][0]["percentiles"].as_array().unwrap().iter();
    let mut own = own.filter(|own| own["percentile"] == "p99");
    let delay_ns = own.next().unwrap()["delay_ns"].as_f64().unwrap();
    assert!(!cell(&lagging) && (delay_ns / 1.1e6 - 1.0).abs() < 0.01);
    assert!(warned(&lagging, "saturated").is_none());
    // In a closed loop, no request is ever due.
    assert!(!cell(&one_cell(false, |s| s.send_delay = late(21))));
    let busy = one_cell(false, |s| s.busiest_cpu_ns = 910_000_000);
    let saturated = warned(&busy, "saturated").unwrap();
    let fraction = saturated["at"][0]["busy"].as_f64().unwrap();
    assert!(
        cell(&busy) && (fraction - 0.91).abs() < 0.001,
        "{saturated}"
    );
    assert_eq!(saturated["started"], false);
    assert!(!cell(&one_cell(false, |s| s.busiest_cpu_ns = 890_000_000)));
}

/// Most connections are served within a millisecond, but one connection waits for eight seconds.
#[test]
fn starved_connections_do_not_represent_the_server() {
    let results = one_cell(false, |slice| {
        slice.drain_ns = 8_000_000_000;
        slice.service = counts((0..2000).map(|i| if i == 0 { 8e9 } else { 1e6 })).into();
        slice.response = slice.service.clone();
    });
    let rate = interval(&results, SubjectId(0), PointId(0), &Metric::THROUGHPUT);
    assert!((rate.estimate / 2000.0 - 1.0).abs() < 0.002, "{rate:?}");
    let starved = warned(&results, "starved").unwrap();
    assert_eq!(starved["at"][0]["longest_ns"], 8e9);
    assert_eq!(warned(&one_cell(false, |_| {}), "starved"), None);
}

#[test]
fn load_modes_cause_their_warnings() {
    let closed = one_cell(false, |_| {});
    assert!(warned(&closed, "closed-loop").is_some());
    let behind = one_cell(true, |s| s.offered = 2030);
    let rates = |results: &Results| {
        let at = warned(results, "overloaded").unwrap()["at"][0].clone();
        [&at["served"], &at["offered"]].map(|rate| rate.as_f64().unwrap().round())
    };
    assert_eq!(rates(&behind), [2000.0, 2030.0]);
    let delivered = one_cell(true, |s| s.offered = 2010);
    let others = delivered
        .warnings
        .iter()
        .filter(|w| w.kind().name() != "tails");
    assert_eq!(others.count(), 0, "{:?}", delivered.warnings);
    // All requests are served in the end, after no more were due.
    let mut run = open(run(&["a"], &[64], 1));
    for block in 0..10 {
        let response = counts((0..if block < 9 { 800 } else { 2800 }).map(|i| 1e6 * f64::from(i)));
        add(
            &mut run,
            vec![Slice {
                offered: 1000,
                drain_ns: if block < 9 { 0 } else { 2_000_000_000 },
                service: Counts(vec![(1_000_000, response.total())]).into(),
                ..second(0, 0, response)
            }],
        );
    }
    assert_eq!(rates(&results(&run)), [800.0, 1000.0]);
    // The same applies if each visit is one slice that ends by waiting for the last responses.
    let drained = |service_ms: u64, drain_ms: u64| {
        one_cell(true, |s| {
            let send_delay = Counts(vec![(1000, s.served)]).into();
            let service = Counts(vec![(service_ms * 1_000_000, s.served)]).into();
            let drain_ns = drain_ms * 1_000_000;
            *s = Slice {
                send_delay,
                service,
                drain_ns,
                ..s.clone()
            };
        })
    };
    let behind = drained(4, 254);
    let rate = |metric| interval(&behind, SubjectId(0), PointId(0), &metric).estimate;
    assert_eq!(
        reading(&behind, SubjectId(0), PointId(0), &Metric::DRAIN),
        Some(254_000_000.0)
    );
    assert_eq!(rate(Metric::THROUGHPUT), 2000.0 / 1.25);
    assert_eq!(rate(Metric::OFFERED), 2000.0);
    assert_eq!(rates(&behind), [1600.0, 2000.0]);
    let overloaded = warned(&behind, "overloaded").unwrap();
    assert_eq!(overloaded["at"][0]["drain_ns"], 254e6);
    let stands = |metric| behind.value(SubjectId(0), PointId(0), &metric).is_some();
    assert_eq!(
        reading(&behind, SubjectId(0), PointId(0), &Metric::BACKLOG),
        Some(1600.0 * 0.254)
    );
    assert!(stands(Metric::SEND_DELAY_P99) && stands(Metric::RESPONSES));
    assert!(!stands(Metric::P50) && !stands(Metric::MAX) && !stands(Metric::SERVICE_P99));
    // A slow server that keeps up has no backlog.
    let slow = drained(250, 254);
    assert!(warned(&slow, "overloaded").is_none());
    assert!(slow.value(SubjectId(0), PointId(0), &Metric::P50).is_some());
    let stage = |from, to| Stage {
        from,
        to,
        length_ns: 5_000_000_000,
    };
    let mut rising = |stages: &[Stage]| {
        run.plan_mut().unwrap().load_mut().unwrap().arrivals = Arrivals::Open {
            poisson: false,
            stages: stages.to_vec(),
        };
        warned(&results(&run), "stages").is_some()
    };
    assert!(rising(&[stage(0.0, 1000.0)]) && rising(&[stage(500.0, 500.0), stage(1000.0, 1000.0)]));
    assert!(!rising(&[stage(1000.0, 1000.0)]) && !rising(&[stage(9.0, 9.0), stage(9.0, 9.0)]));
}

/// One of two servers cannot keep up with the rate, so only their throughputs are compared.
#[test]
fn percentiles_of_an_overloaded_server_are_not_compared() {
    let compared = |drain_ns: u64, stalls: bool| {
        let mut run = open(run(&["a", "b"], &[64], 1));
        let mut random = Random(1);
        for block in 0..60 {
            let mut second =
                |subject| second(subject, 0, counts(times(&mut random, 500, 1e6, 0.3)));
            let drain_ns = if stalls && block != 59 { 0 } else { drain_ns };
            let b = Slice {
                drain_ns,
                ..second(1)
            };
            add(&mut run, vec![second(0), b]);
        }
        let results = results(&run);
        let metrics = results.comparisons.iter().map(|c| c.key.metric.clone());
        (
            results.is_overloaded(SubjectId(1), PointId(0)),
            metrics.collect::<Vec<_>>(),
        )
    };
    let (overloaded, metrics) = compared(100_000_000, false);
    assert!(overloaded && metrics == [Metric::THROUGHPUT], "{metrics:?}");
    let (overloaded, metrics) = compared(5_000_000, false);
    assert!(!overloaded && metrics.contains(&Metric::P99), "{metrics:?}");
    // The server is behind at the end of a single block only.
    let (overloaded, metrics) = compared(2_000_000_000, true);
    assert!(!overloaded && metrics.contains(&Metric::P99), "{metrics:?}");
}

#[test]
fn a_server_that_takes_the_generators_cores_is_named() {
    let mut run = run(&["a"], &[64], 1);
    run.host.facts = vec![("cores".into(), "2".into())];
    let mut random = Random(1);
    for _ in 0..10 {
        add(
            &mut run,
            vec![Slice {
                server_cpu_ns: Some(1_300_000_000),
                cpu_ns: 600_000_000,
                ..second(0, 0, counts(times(&mut random, 2000, 1e6, 0.3)))
            }],
        );
    }
    let full = warned(&results(&run), "shared-cores").unwrap();
    assert_eq!((&full["agents"], &full["cores"]), (&json!([]), &json!(2.0)));
    run.host.facts = vec![("cores".into(), "4".into())];
    assert!(warned(&results(&run), "shared-cores").is_none());
}

/// The state of a coordinator's machine does not matter if other machines generate the load.
#[test]
fn only_unfit_machines_of_the_load_are_reported() {
    let mut run = of_seconds(5);
    let host = |id: &str| Host {
        facts: vec![(Host::MACHINE_ID.into(), id.into())],
        findings: vec![lab_model::host::HostFinding {
            unfit: true,
            what: format!("{id} is busy"),
            advice: "wait".into(),
        }],
    };
    run.host = host("own");
    add(&mut run, vec![second(0, 0, counts([1e6; 10]))]);
    let warned = |run: &Run| {
        let results = results(run);
        (warned(&results, "host"), warned(&results, "agents"))
    };
    let of_own_machine =
        Some(json!({"code": "unfit-host", "what": "own is busy", "advice": "wait"}));
    assert_eq!(warned(&run), (of_own_machine.clone(), None));
    run.agents = ["gen1", "gen2"].map(agent).into();
    for (agent, id) in run.agents.iter_mut().zip(["own", "two"]) {
        agent.host = host(id);
    }
    let two = |name: &str| {
        let hosts = json!([{"name": name, "findings": ["two is busy"]}]);
        Some(json!({"code": "unfit-hosts", "hosts": hosts}))
    };
    assert_eq!(warned(&run), (of_own_machine, two("gen2")));
    run.agents[AgentId(0)].host = host("two");
    assert_eq!(warned(&run), (None, two("gen1")));
}

/// Two agents run on separate machines.
///
/// Machines are identified by the machine IDs that they report, not by their names.
#[test]
fn only_agents_on_the_servers_machine_share_its_cores() {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut run = run(&["a"], &[64], 1);
    run.agents = ["local 1", "gen2"].map(agent).into();
    for (agent, id) in run.agents.iter_mut().zip(["one", "two"]) {
        agent.host.facts = vec![fact("cores", "2"), fact(Host::MACHINE_ID, id)];
    }
    let mut random = Random(1);
    for _ in 0..10 {
        let of_agent = |agent| AgentSlice {
            agent,
            slice: Slice {
                cpu_ns: 600_000_000,
                ..Slice::default()
            },
            ..AgentSlice::default()
        };
        let slice = Slice {
            server_cpu_ns: Some(1_300_000_000),
            cpu_ns: 1_200_000_000,
            agents: vec![of_agent(AgentId(0)), of_agent(AgentId(1))],
            ..second(0, 0, counts(times(&mut random, 2000, 1e6, 0.3)))
        };
        add(&mut run, vec![slice]);
    }
    let mut warned = |server_host: Option<&str>, id: &str| {
        let load = run.plan_mut().and_then(Plan::load_mut).unwrap();
        load.server_host = server_host.map(str::to_owned);
        let name = match server_host {
            Some(_) => Host::SERVER_MACHINE_ID,
            None => Host::MACHINE_ID,
        };
        run.host.facts = vec![fact("cores", "1"), fact(name, id)];
        warned(&results(&run), "shared-cores")
    };
    for (server_host, id, agent) in [(Some("web1"), "two", "gen2"), (None, "one", "local 1")] {
        let full = warned(server_host, id).unwrap();
        assert_eq!(full["agents"], json!([agent]));
        assert_eq!(full["cores"], 2.0);
    }
    assert_eq!(warned(Some("local 1"), "three"), None);
    assert_eq!(warned(None, "three"), None);
}

/// Neighboring seconds of a server with varying speed are merged, and intervals become as wide as
/// necessary.
#[test]
fn slices_that_depend_on_each_other_are_merged() {
    let wandering = |memory: f64, trend: f64, blocks: usize| {
        let mut random = Random(3);
        let mut run = run(&["a"], &[64], 1);
        let mut speed = 0.0;
        for _ in 0..blocks {
            speed = memory * speed + (1.0 - memory * memory).sqrt() * random.normal() + trend;
            let n = (2000.0 * (0.1 * speed).exp()) as usize;
            let response = counts(times(&mut random, n, 1e6 * (-0.1 * speed).exp(), 0.3));
            add(&mut run, vec![second(0, 0, response)]);
        }
        results(&run)
    };
    let width = |i: Interval| (i.high - i.low) / i.estimate;
    let (calm, wandered) = (wandering(0.0, 0.0, 200), wandering(0.9, 0.0, 200));
    assert!(warned(&calm, "dependent").is_none());
    assert_eq!(warned(&wandered, "dependent").unwrap()["merged"], true);
    let p50 = |results: &Results| width(interval(results, SubjectId(0), PointId(0), &Metric::P50));
    let rate = |results: &Results| {
        width(interval(
            results,
            SubjectId(0),
            PointId(0),
            &Metric::THROUGHPUT,
        ))
    };
    assert!(
        p50(&wandered) > 2.0 * p50(&calm),
        "{} {}",
        p50(&wandered),
        p50(&calm)
    );
    assert!(
        rate(&wandered) > 2.0 * rate(&calm),
        "{} {}",
        rate(&wandered),
        rate(&calm)
    );
    let unmerged = warned(&wandering(1.0, 1.0, 10), "dependent").unwrap();
    assert_eq!(unmerged["merged"], false);
}

#[test]
fn connections_follow_the_simulated_law() {
    let connections = [1, 2, 4, 8, 16, 32];
    let mut run = run(&["a"], &connections, 1);
    let mut random = Random(1);
    for _ in 0..10 {
        let slices = (0..).zip(&connections).map(|(point, n)| {
            let n = f64::from(*n);
            let x = 2000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0));
            let served = (x * (0.01 * random.normal()).exp()).round();
            Slice {
                served: served as u64,
                ..second(0, point, counts([1e6; 100]))
            }
        });
        let slices = slices.collect();
        add(&mut run, slices);
    }
    let scalings = results(&run).scalings;
    let law = scalings[0].law.as_ref().expect("six points have a law");
    assert!((law.one.estimate / 2000.0 - 1.0).abs() < 0.03, "{law:?}");
    assert!((law.contention.estimate - 0.05).abs() < 0.01, "{law:?}");
    assert!((law.coherency.estimate - 0.002).abs() < 0.0005, "{law:?}");
    assert!(law.peak.is_some() && !law.departs);
    assert!(
        results(&open(run)).scalings.is_empty(),
        "in an open loop, connections do not determine the rate"
    );
}

#[test]
fn inconsistent_plans_have_no_results() {
    let mut run = run(&["a"], &[64], 1);
    assert!(results(&run).cells.is_empty());
    add(&mut run, vec![second(0, 0, counts([1e6; 100]))]);
    assert!(!results(&run).cells.is_empty());
    run.plan_mut().unwrap().baseline = SubjectId(7);
    assert!(results(&run).cells.is_empty());
    run.content = Content::default();
    assert!(results(&run).cells.is_empty());
}

proptest! {
    /// The quantiles do not depend on how a block's slices are split and ordered, and equal the
    /// quantiles of a one-by-one count.
    #[test]
    fn quantiles_are_those_of_all_requests(blocks in prop::collection::vec(prop::collection::vec((0..5000u64, 1..400u64), 1..30), 1..12), cut in 0..30usize) {
        let (mut uncut, mut parts) = (run(&["a"], &[64], 1), run(&["a"], &[64], 1));
        let mut all = Vec::new();
        for pairs in &blocks {
            all.extend(pairs.iter().flat_map(|&(value, n)| std::iter::repeat_n(value, n as usize)));
            let slice = |pairs: &[(u64, u64)]| {
                let mut pairs = pairs.to_vec();
                pairs.sort_unstable();
                second(0, 0, Counts(pairs))
            };
            add(&mut uncut, vec![slice(pairs)]);
            let (first, last) = pairs.split_at(cut.min(pairs.len()));
            add(&mut parts, vec![slice(last), slice(first)]);
        }
        all.sort_unstable();
        let (uncut, parts) = (results(&uncut), results(&parts));
        prop_assert_eq!(response_percentiles(&uncut, SubjectId(0)), response_percentiles(&parts, SubjectId(0)));
        prop_assert_eq!(reading(&uncut, SubjectId(0), PointId(0), &Metric::RESPONSES), Some(all.len() as f64));
        prop_assert_eq!(reading(&uncut, SubjectId(0), PointId(0), &Metric::MAX), all.last().map(|ns| *ns as f64));
        let parts = [50_00, 75_00, 90_00, 99_00, 99_90, 99_99];
        let expected = parts.into_iter().filter(|part| all.len() * (10_000 - part) >= 10_000);
        let expected: Vec<f64> = expected.map(|part| all[(all.len() * part).div_ceil(10_000) - 1] as f64).collect();
        let found: Vec<f64> = response_percentiles(&uncut, SubjectId(0)).iter().map(|i| i.estimate).collect();
        prop_assert_eq!(found, expected);
    }

    /// The results of a file with arbitrary content have valid intervals, and a gate has a
    /// decision.
    #[test]
    fn hostile_runs_do_not_panic(run in hostile_run()) {
        let results = results(&run);
        for cell in &results.cells {
            if let Some(interval) = cell.value.interval() {
                prop_assert!(interval.low <= interval.estimate, "{interval:?}");
                prop_assert!(interval.estimate <= interval.high, "{interval:?}");
                prop_assert!((0.0..=1.0).contains(&interval.level), "{interval:?}");
            }
        }
        for c in &results.comparisons {
            prop_assert!(c.ratio.low <= c.ratio.estimate && c.ratio.estimate <= c.ratio.high, "{c:?}");
            prop_assert!(c.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{c:?}");
        }
        let thresholds = ["p50>1s", "max>1ms", "errors>1%", "server_memory>1MiB", "p99>+5%", "any>+2%"];
        let plan = run.plan().unwrap();
        let conditions = thresholds.map(|text| GateCondition::parse(text, plan).unwrap());
        judge(&conditions, &results, plan);
    }

    /// Any text is either parsed or rejected with a single line that contains the text.
    #[test]
    fn arbitrary_thresholds_do_not_panic(text in "\\PC{0,20}|(p99|errors|max) ?[<>]=? ?[0-9.]{0,5}(ms|%|s)?") {
        if let Err(e) = GateCondition::parse(&text, &load_plan()) {
            prop_assert_eq!(e.to_string().lines().count(), 1);
        }
    }
}

fn hostile_run() -> impl Strategy<Value = Run> {
    let number = || prop_oneof![0..10u64, Just(u64::MAX), Just(1 << 62), any::<u64>()];
    let pairs = prop::collection::vec((number(), number()), 0..5);
    let numbers = prop::collection::vec(number(), 10);
    let has_server = any::<bool>();
    let slice = (0..3u32, 0..4u32, numbers, pairs, has_server).prop_map(
        |(subject, point, n, pairs, has_server)| Slice {
            subject: SubjectId(subject),
            point: PointId(point),
            wall_ns: n[0],
            offered: n[1],
            served: n[2],
            errors: vec![(ErrorKind::Body, n[3]), (ErrorKind::Body, n[4])],
            counts: LoadCounts::from([
                (LoadCount::Connects, n[5]),
                (LoadCount::ReceivedBytes, n[6]),
            ]),
            cpu_ns: n[7],
            busiest_cpu_ns: n[8],
            server_cpu_ns: has_server.then_some(n[9]),
            server_bytes: has_server.then_some(n[9]),
            response: Counts(pairs.clone()).into(),
            send_delay: Counts(pairs).into(),
            ..Slice::default()
        },
    );
    let blocks = prop::collection::vec(prop::collection::vec(slice, 0..8), 0..9);
    (blocks, any::<bool>(), 0.0..1.0f64).prop_map(|(blocks, open_loop, alpha)| {
        let mut run = run(&["a", "b"], &[1, 2, 3], 1);
        run.plan_mut().unwrap().measure.alpha = alpha;
        blocks.into_iter().for_each(|slices| add(&mut run, slices));
        if open_loop { open(run) } else { run }
    })
}

fn gated(conditions: &[&str], run: &Run) -> Vec<JudgedGate> {
    let plan = run.plan().unwrap();
    let conditions = conditions.iter();
    let conditions = conditions.map(|text| GateCondition::parse(text, plan).unwrap());
    judge(&conditions.collect::<Vec<_>>(), &results(run), plan)
}

/// Returns the conditions that hold, with their values.
fn failed(judged: &[JudgedGate]) -> Vec<(&str, f64)> {
    let failed = judged.iter().filter(|j| j.decision == Decision::Failed);
    failed
        .map(|j| match &j.found {
            GateFound::Value { value, .. } => (j.condition.as_str(), value.value()),
            found => panic!("{found:?}"),
        })
        .collect()
}

/// Returns the conditions that could not be judged, with the reasons.
fn unknown(judged: &[JudgedGate]) -> Vec<(&str, InconclusiveReason)> {
    let unknown = judged.iter().filter_map(|j| match j.found {
        GateFound::Unknown(reason) => Some((j.condition.as_str(), reason)),
        _ => None,
    });
    unknown.collect()
}

fn decisions(judged: &[JudgedGate]) -> Vec<Decision> {
    judged.iter().map(|j| j.decision).collect()
}

/// Returns ten seconds of 2,000 requests each.
///
/// Requests take 1 ms, except for one request of 30 ms per second.
fn steady() -> Run {
    let mut run = run(&["a"], &[64], 1);
    for _ in 0..10 {
        let response = counts((0..2000).map(|i| if i == 0 { 30e6 } else { 1e6 }));
        add(
            &mut run,
            vec![Slice {
                server_cpu_ns: Some(100_000_000),
                server_bytes: Some(65 << 20),
                server_threads: Some(8),
                ..second(0, 0, response)
            }],
        );
    }
    run
}

#[test]
fn the_requests_of_a_closed_loop_are_those_that_ended() {
    for (offered, served, failed) in [(1990, 2000, 0), (2003, 2000, 0), (1995, 1900, 100)] {
        let mut run = steady();
        for block in &mut run.blocks {
            let slice = &mut block.slices[0];
            (slice.offered, slice.served) = (offered, served);
            slice.errors = vec![(ErrorKind::Timeout, failed)];
        }
        let results = results(&run);
        let count = |metric| {
            let value = results.value(SubjectId(0), PointId(0), &metric);
            value.map_or(0.0, |value| value.value())
        };
        assert_eq!(count(Metric::REQUESTS), 20_000.0);
        assert_eq!(count(Metric::ERRORS), 10.0 * failed as f64);
    }
}

#[test]
fn gates_compare_in_every_unit() {
    let run = steady();
    for crossed in [
        "p99>0.9ms",
        " p99 >= 1ms ",
        "p50>900us",
        "p75 > 900µs",
        "p90>900000ns",
        "p99.9<2s",
        "p99.99>20ms",
        "max>0.02s",
        "max<1m",
        "errors<1",
        "errors<=0",
        "errors<=0%",
        "errors<0.1 %",
        "rate<2001",
        "rate>=2000/s",
        "server_cpu>=50us",
        "server_memory>64MiB",
        "server_memory > 0.06 GiB",
        "server_cores<0.2",
        "server_threads>7",
    ] {
        let found = gated(&[crossed], &run);
        assert_eq!(
            decisions(&found),
            [Decision::Failed],
            "{crossed}: {found:?}"
        );
    }
    for passed in [
        "p99>1.1ms",
        "p99.99>31ms",
        "errors>0",
        "errors>0%",
        "rate<2000",
        "server_memory>68.2MB",
        "server_threads>8",
    ] {
        let found = gated(&[passed], &run);
        assert_eq!(decisions(&found), [Decision::Passed], "{passed}: {found:?}");
    }
}

#[test]
fn a_gate_says_what_it_found_and_how_sure_it_is() {
    let mut run = steady();
    let found = gated(&["p99.99>20ms", "rate<2001", "server_memory>64MiB"], &run);
    let values = failed(&found);
    assert_eq!(values[0].0, "p99.99>20ms");
    assert!((values[0].1 / 30e6 - 1.0).abs() < 0.002, "{values:?}");
    let rest = [
        ("rate<2001", 2000.0),
        ("server_memory>64MiB", f64::from(65 << 20)),
    ];
    assert_eq!(values[1..], rest);
    // The stalls of ten blocks may be more or less frequent in other runs.
    let first = run.blocks[0].clone();
    run.blocks = (0..90)
        .map(|number| Block {
            number,
            ..first.clone()
        })
        .collect();
    for block in run.blocks.iter_mut().step_by(9) {
        let response = counts((0..2000).map(|i| if i < 200 { 500e6 } else { 1e6 }));
        block.slices[0].response = response.into();
    }
    let found = gated(&["p99>20ms"], &run);
    assert_eq!(decisions(&found), [Decision::Inconclusive]);
    let GateFound::Value { value, .. } = &found[0].found else {
        panic!("{found:?}");
    };
    let interval = value.interval().unwrap();
    assert!(interval.low < 2e6 && interval.high > 490e6, "{interval:?}");
}

#[test]
fn a_gate_that_cannot_be_judged_does_not_pass() {
    let mut run = steady();
    let few = gated(&["p99.99>20ms"], &{
        let mut few = run.clone();
        few.blocks.truncate(4);
        few
    });
    assert_eq!(failed(&few), []);
    let too_few = InconclusiveReason::TooFewRequests { responses: 8000 };
    assert_eq!(unknown(&few), [("p99.99>20ms", too_few)]);
    // The percentile is at least as large as a lower one, which has an interval.
    let few = gated(&["p99.99>0.5ms", "p99.99<0.5ms", "p99.99<20ms"], &{
        let mut few = run.clone();
        for block in &mut few.blocks {
            let slice = &mut block.slices[0];
            (slice.offered, slice.served) = (200, 200);
            slice.response = counts(std::iter::repeat_n(1e6, 200)).into();
            slice.service = slice.response.clone();
        }
        few
    });
    let inconclusive = Decision::Inconclusive;
    assert_eq!(
        decisions(&few),
        [Decision::Failed, inconclusive, inconclusive]
    );
    assert!(
        matches!(&few[0].found, GateFound::LowerPercentile { value, .. } if value.low > 0.9e6),
        "{few:?}"
    );
    for block in &mut run.blocks {
        block.slices[0].errors = vec![(ErrorKind::Timeout, 30)];
        block.slices[0].server_cpu_ns = None;
    }
    let found = gated(
        &[
            "p99>20ms",
            "max>1s",
            "p90>20ms",
            "p99>0.5ms",
            "errors>1%",
            "server_cpu>1us",
        ],
        &run,
    );
    let names: Vec<&str> = failed(&found).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["p99>0.5ms", "errors>1%"]);
    let hidden = InconclusiveReason::ErrorsHide { failed: 300 };
    let reasons = [
        ("p99>20ms", hidden),
        ("max>1s", hidden),
        ("server_cpu>1us", InconclusiveReason::ServerUnknown),
    ];
    assert_eq!(unknown(&found), reasons);
    run.blocks.clear();
    let found = gated(&["errors>0"], &run);
    assert_eq!(failed(&found), []);
    let nothing = InconclusiveReason::NothingMeasured;
    assert_eq!(unknown(&found), [("errors>0", nothing)]);
}

/// Returns a run of two servers in a closed loop, in which b takes `ratio` times a's time.
fn in_turns(ratio: f64) -> Run {
    let mut run = run(&["a", "b"], &[64], 1);
    let mut random = Random(1);
    for _ in 0..10 {
        let slices = [1e6, 1e6 * ratio].into_iter().zip(0..);
        let slices = slices.map(|(median, server)| Slice {
            wall_ns: (600.0 * median * (0.01 * random.normal()).exp()) as u64,
            ..second(server, 0, counts(times(&mut random, 600, median, 0.3)))
        });
        let slices = slices.collect();
        add(&mut run, slices);
    }
    run
}

/// Every ratio above 1 that `any` judges is worse, so the judged metric is the time, not the rate.
#[test]
fn a_gate_names_the_metric_whose_ratio_it_judges() {
    let run = in_turns(1.5);
    let ratio_of = |condition, metric: Metric| {
        let judged = gated(&[condition], &run);
        let mut of_metric = judged.iter().filter(|j| j.metric == metric);
        let gate = of_metric.next().unwrap_or_else(|| panic!("{judged:?}"));
        match &gate.found {
            GateFound::Ratio { ratio, .. } => (gate.decision, ratio.estimate),
            found => panic!("{found:?}"),
        }
    };
    let (decision, time) = ratio_of("any>+5%", Metric::TIME_PER_REQUEST);
    assert!(
        decision == Decision::Failed && (time / 1.5 - 1.0).abs() < 0.03,
        "{time}"
    );
    let (decision, rate) = ratio_of("rate<-5%", Metric::THROUGHPUT);
    assert!(
        decision == Decision::Failed && (rate * 1.5 - 1.0).abs() < 0.03,
        "{rate}"
    );
}

#[test]
fn only_errors_that_hide_a_compared_percentile_leave_a_gate_open() {
    let open_gates = |is_open: bool, failed: u64| {
        let run = in_turns(1.0);
        let mut run = if is_open { open(run) } else { run };
        for block in &mut run.blocks {
            let failing = &mut block.slices[1];
            failing.errors = vec![(ErrorKind::Timeout, failed)];
            failing.offered += failed;
        }
        unknown(&gated(&["any>+50%"], &run)).len()
    };
    // A closed loop compares no percentile above the median.
    for (failed, hidden) in [(0, 0), (1, 0), (60, 0), (700, 1)] {
        assert_eq!(open_gates(false, failed), hidden, "{failed}");
    }
    for (failed, hidden) in [(0, 0), (1, 1), (60, 1)] {
        assert_eq!(open_gates(true, failed), hidden, "{failed}");
    }
}

fn load_plan() -> Plan {
    steady().plan().unwrap().clone()
}

#[test]
fn an_invalid_threshold_is_shown_with_its_mistake() {
    let form = "expected a name, then >, >=, < or <=, then a bound";
    let known = "known names: p50, p75, p90, p99, p99.9, p99.99, max, errors, rate, server_cpu, server_cores, \
                 server_memory, server_threads, any";
    let time = "expected a time such as 20ms, in ns, us, ms, s or min";
    for (text, problem) in [
        ("", form.to_owned()),
        ("p99=20ms", form.to_owned()),
        ("p98>20ms", format!("unknown name `p98`; {known}")),
        ("mean>20ms", format!("unknown name `mean`; {known}")),
        (
            "p99(/a)>20ms",
            "`p99` does not take an argument in parentheses".into(),
        ),
        ("p99>20", format!("{time}, got `20`")),
        ("p99>", format!("{time}, got ``")),
        ("p99>>2ms", format!("{time}, got `>2ms`")),
        ("p99>2y", format!("{time}, got `2y`")),
        (
            "errors>1ms",
            "expected a number such as 4, got `1ms`".into(),
        ),
        (
            "rate<1.2.3",
            "expected a number of requests per second such as 1000, got `1.2.3`".into(),
        ),
        (
            "server_memory>64",
            "expected a size such as 64MiB, in B, KiB, MiB, GiB, kB, MB or GB, got `64`".into(),
        ),
    ] {
        let error = GateCondition::parse(text, &load_plan()).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("`{text}` is not a valid condition: {problem}")
        );
    }
}

fn agent(name: &str) -> Agent {
    Agent {
        name: name.into(),
        ..Agent::default()
    }
}

/// Returns a run at 10 requests per second that was planned to have `blocks` blocks of one second.
fn of_seconds(blocks: u32) -> Run {
    let mut run = run(&["a"], &[4], 1);
    let plan = run.plan_mut().unwrap();
    plan.measure.max_blocks = blocks;
    plan.measure.turn_ns = 1_000_000_000;
    let load = plan.load_mut().unwrap();
    load.stretch_ns = u64::from(blocks) * 1_000_000_000;
    load.arrivals = Arrivals::Open {
        poisson: true,
        stages: vec![Stage {
            from: 10.0,
            to: 10.0,
            length_ns: load.stretch_ns,
        }],
    };
    run
}

#[test]
fn requests_due_after_losing_all_agents_are_reported() {
    let mut run = of_seconds(5);
    let lost = |name: &str, lost: Option<&str>| Agent {
        lost: lost.map(String::from),
        ..agent(name)
    };
    run.agents = [lost("gen1", Some("killed")), lost("gen2", Some("cut off"))].into();
    let slice = second(0, 0, counts([1e6; 10]));
    add(&mut run, vec![slice.clone()]);
    let warned = |run: &Run| warned(&results(run), "agents").unwrap();
    let all_lost = warned(&run);
    let agent_of = |i: usize| all_lost["agents"][i].clone();
    assert_eq!(agent_of(0)["name"], "gen1");
    assert_eq!(agent_of(1)["reason"], "cut off");
    let end = json!({"complete": 1, "planned": 5, "due": 40});
    assert_eq!(all_lost["end"], end);
    // Other agents continued the run.
    run.agents.push(agent("gen1"));
    for _ in 0..4 {
        add(&mut run, vec![slice.clone()]);
    }
    let some_lost = warned(&run);
    assert_eq!(some_lost["code"], "agents-lost");
    assert_eq!(some_lost["agents"][0]["name"], "gen1");
    assert_eq!(some_lost["end"], Value::Null);
    assert_eq!(run.agent_name(AgentId(2)), "gen1, resumed");
}

#[test]
fn blocks_with_known_server_usage_are_reported() {
    let mut run = of_seconds(5);
    for block in 0..5 {
        let mut slice = second(0, 0, counts([1e6; 10]));
        slice.server_cpu_ns = (block < 2).then_some(1_000_000);
        add(&mut run, vec![slice]);
    }
    assert_eq!(warned(&results(&run), "agents"), None);
    run.log.push(LogLine {
        subject: SubjectId(0),
        block: Some(2),
        line: LogLine::server_unknown("its agent was lost"),
    });
    let unknown = |known: usize| {
        let reason = "its agent was lost";
        json!({"code": "server-unknown", "known": known, "blocks": 5, "reason": reason})
    };
    assert_eq!(warned(&results(&run), "agents"), Some(unknown(2)));
    for block in &mut run.blocks {
        block.slices[0].server_cpu_ns = None;
    }
    assert_eq!(warned(&results(&run), "agents"), Some(unknown(0)));
    // If an agent is left out, the resource usage is never known.
    run.agents = ["gen1", "gen2"].map(agent).into();
    run.agents[AgentId(1)].is_left_out = true;
    let left_out = json!({"code": "agents-left-out", "agents": ["gen2"]});
    assert_eq!(warned(&results(&run), "agents"), Some(left_out));
}

#[test]
fn responses_timed_by_reading_are_reported_if_there_are_many() {
    let mut run = of_seconds(1);
    let mut slice = second(0, 0, counts([1e6; 1000]));
    slice.counts[LoadCount::ReadTimes] = 10;
    add(&mut run, vec![slice]);
    let is_warned = |run: &Run| warned(&results(run), "late").is_some();
    assert!(!is_warned(&run));
    run.blocks[0].slices[0].counts[LoadCount::ReadTimes] = 500;
    let late = warned(&results(&run), "late").unwrap();
    assert_eq!(
        late["generators"],
        json!([{"agent": null, "fraction": 0.5}])
    );
}
