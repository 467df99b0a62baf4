// SPDX-License-Identifier: Apache-2.0
//! Tests changes between two load runs that were not interleaved, for servers with known true
//! times, in all metrics that both runs have.

use crate::simulator::Random;
use crate::simulator::load::{add, counts, open, run, second, times};
use lab_model::*;
use lab_stats::analysis::Verdict;
use lab_stats::between::{Between, Changed, Incomparable, Recorded, compare_runs};
use lab_stats::gate::ChangeCondition;
use std::collections::HashMap;

/// Returns a run in which a server serves 400 requests in each block, with response times around
/// `median` ns.
fn loaded(name: &str, seed: u64, median: f64, blocks: usize, change: impl Fn(&mut Slice)) -> Run {
    let mut run = run(&[name], &[64], seed);
    run.started_unix_s = seed as f64;
    let request = PlannedRequest {
        method: "GET".into(),
        url: format!("http://{name}:80/a?b"),
        weight: 1,
        has_user: false,
    };
    run.plan_mut().unwrap().load_mut().unwrap().requests = vec![vec![request]];
    let mut random = Random(seed);
    for _ in 0..blocks {
        let mut slice = second(0, 0, counts(times(&mut random, 400, median, 0.3)));
        slice.wall_ns = (400.0 * median * (0.01 * random.normal()).exp()) as u64;
        slice.server_cpu_ns = Some((200.0 * median * (0.01 * random.normal()).exp()) as u64);
        slice.server_bytes = Some(1 << 20);
        change(&mut slice);
        add(&mut run, vec![slice]);
    }
    run
}

fn compared(first: &Run, second: &Run) -> Result<Between, Incomparable> {
    let hashes = &HashMap::new();
    let [first, second] = [first, second].map(|run| Recorded { run, hashes });
    compare_runs(first, second)
}

fn change_in(between: &Between, metric: Metric) -> &Changed {
    let found = between.changes.iter().find(|c| c.metric == metric);
    found.unwrap_or_else(|| panic!("{metric:?} in {:?}", between.changes))
}

#[test]
fn a_server_that_became_slower_is_slower_in_every_respect() {
    let first = loaded("a", 1, 1e6, 240, |_| ());
    let second = loaded("b", 2, 1.5e6, 240, |s| s.server_bytes = Some(3 << 20));
    let found = compared(&first, &second).unwrap();
    assert_eq!(found.blocks, [240, 240]);
    let metrics: Vec<Metric> = found.changes.iter().map(|c| c.metric.clone()).collect();
    let all = [
        Metric::TIME_PER_REQUEST,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::SERVER_CPU,
        Metric::SERVER_MEMORY,
    ];
    assert_eq!(metrics, all);
    assert!(found.is_of_loads() && found.times().count() == 0);
    for change in &found.changes {
        let truth = if change.metric == Metric::SERVER_MEMORY {
            3.0
        } else {
            1.5
        };
        let interval = change.change;
        assert!(
            interval.low <= truth * 1.000_001 && truth <= interval.high * 1.000_001,
            "{change:?}"
        );
        let [first, second] = change.values.map(|i| i.estimate);
        assert!((second / first / interval.estimate - 1.0).abs() < 0.05);
        // The one-in-a-thousand percentile is too imprecise.
        if change.metric != Metric::P999 {
            assert_eq!(change.verdict, Some(Verdict::Slower), "{change:?}");
        }
    }
    let kinds: Vec<&str> = found.caveats.iter().map(|c| c.kind().name()).collect();
    assert_eq!(kinds, ["machine"]);
    let differing: Vec<&str> = found.differences.iter().map(|d| &d.what[..]).collect();
    assert_eq!(
        differing,
        ["server"],
        "a different host name is not a difference"
    );
    assert!(found.apart.is_empty(), "{:?}", found.apart);
}

/// The ID of a machine changes whenever the machine restarts, so a different ID does not count.
#[test]
fn a_restarted_machine_is_the_same_host() {
    let after_start = |id: &str, seed| {
        let mut run = loaded("a", seed, 1e6, 20, |_| ());
        let ids = [Host::MACHINE_ID, Host::SERVER_MACHINE_ID];
        run.host.facts = ids.map(|name| (name.into(), id.into())).into();
        run
    };
    let found = compared(&after_start("one", 1), &after_start("two", 2)).unwrap();
    assert!(found.differences.is_empty(), "{:?}", found.differences);
    assert!(found.caveats.iter().all(|c| c.kind().name() != "host"));
}

/// A stall in only one of ten blocks still affects the percentile.
#[test]
fn stalls_in_one_block_affect_the_percentile() {
    let first = loaded("a", 1, 1e6, 20, |_| ());
    let mut second = loaded("a", 2, 1e6, 20, |_| ());
    for block in [4, 14] {
        let slice = &mut second.blocks[block].slices[0];
        slice.response = counts((0..400).map(|i| 1e6 + 1e6 * f64::from(i))).into();
    }
    let found = compared(&first, &second).unwrap();
    let p99 = change_in(&found, Metric::P99);
    assert!(p99.values[1].estimate > 2e8, "{p99:?}");
    assert!(p99.change.estimate > 50.0, "{p99:?}");
    assert!(change_in(&found, Metric::P50).change.estimate < 1.1);
}

/// Equal servers are seldom found to differ, because the confidence level holds simultaneously for
/// all statements.
#[test]
fn equal_servers_are_seldom_distinguished() {
    let (mut false_changes, pairs) = (0, 60);
    for pair in 0..pairs {
        let first = loaded("a", 2 * pair + 1, 1e6, 12, |_| ());
        let second = loaded("a", 2 * pair + 2, 1e6, 12, |_| ());
        let found = compared(&first, &second).unwrap();
        let has_level = |c: &Changed| c.change.level > 0.0;
        let excludes = |c: &Changed| has_level(c) && (c.change.low > 1.0 || c.change.high < 1.0);
        false_changes += u64::from(found.changes.iter().any(excludes));
    }
    // 5 % would be 3. More than 9 of 60 has a probability of 0.1 %.
    assert!(false_changes <= 9, "{false_changes} of {pairs}");
}

/// If the same generator hides the differences between two servers, the servers need not be equal.
#[test]
fn a_late_generator_makes_no_percentile_equivalent() {
    let lagging = |ns: u64| {
        let change = move |s: &mut Slice| s.send_delay = Counts(vec![(ns, s.served)]).into();
        let of = |seed| open(loaded("a", seed, 1e6, 240, change));
        compared(&of(1), &of(2)).unwrap()
    };
    let [prompt, late] = [lagging(20_000), lagging(200_000)];
    assert_eq!(
        change_in(&prompt, Metric::P50).verdict,
        Some(Verdict::Equivalent)
    );
    let verdict = change_in(&late, Metric::P50).verdict;
    assert!(
        matches!(verdict, Some(Verdict::Inconclusive { .. })),
        "{verdict:?}"
    );
    // The percentiles are equal within the margin, but the generator may hide a difference.
    let decision = |found: &Between| {
        let condition = ChangeCondition::parse("p50>+5%", found).unwrap();
        condition.judge(found)[0].decision
    };
    assert_eq!(
        [decision(&prompt), decision(&late)],
        [Decision::Passed, Decision::Inconclusive]
    );
    let is_reserved =
        |found: &Between| found.caveats.iter().any(|c| c.kind().name() == "generator");
    assert_eq!([is_reserved(&prompt), is_reserved(&late)], [false, true]);
}

#[test]
fn missing_metrics_are_not_compared() {
    let first = loaded("a", 1, 1e6, 12, |_| ());
    let failing = |s: &mut Slice| {
        s.server_cpu_ns = None;
        s.errors = vec![(ErrorKind::Timeout, 8)];
        s.offered += 8;
    };
    let second = loaded("a", 2, 1e6, 12, failing);
    let found = compared(&first, &second).unwrap();
    let metrics: Vec<Metric> = found.changes.iter().map(|c| c.metric.clone()).collect();
    // More requests failed than lie beyond p99.
    let comparable = [
        Metric::TIME_PER_REQUEST,
        Metric::P50,
        Metric::P90,
        Metric::SERVER_MEMORY,
    ];
    assert_eq!(metrics, comparable);
    let few = compared(&first, &loaded("a", 2, 1e6, 4, |_| ())).unwrap();
    assert!(few.caveats.iter().any(|c| c.kind().name() == "few-blocks"));
    let open = |c: &Changed| matches!(c.verdict, Some(Verdict::Inconclusive { .. }));
    let mut tails = few.changes.iter().filter(|c| c.metric.id.starts_with('p'));
    assert!(tails.all(open), "{:?}", few.changes);
}

#[test]
fn loads_with_different_requests_are_rejected() {
    let first = loaded("a", 1, 1e6, 12, |_| ());
    let other = |change: &dyn Fn(&mut LoadSpec)| {
        let mut second = loaded("a", 2, 1e6, 12, |_| ());
        change(second.plan_mut().unwrap().load_mut().unwrap());
        compared(&first, &second)
    };
    let path = other(&|load| load.requests[0][0].url = "http://a:80/other".into());
    let message = path.unwrap_err().to_string();
    assert!(
        message.contains("GET /a?b in the first and GET /other"),
        "{message}"
    );
    let stage = Stage {
        from: 500.0,
        to: 500.0,
        length_ns: 1,
    };
    let rate = other(&|load| {
        load.arrivals = Arrivals::Open {
            poisson: true,
            stages: vec![stage],
        }
    });
    let message = rate.unwrap_err().to_string();
    assert!(
        message.contains("500/s at random times in the second"),
        "{message}"
    );
    let settings = other(&|load| (load.threads, load.protocol) = (4, Protocol::Http2)).unwrap();
    let differing: Vec<&str> = settings.differences.iter().map(|d| &d.what[..]).collect();
    assert_eq!(differing, ["protocol", "load generator threads"]);
    assert!(
        settings
            .caveats
            .iter()
            .any(|c| c.kind().name() == "measuring")
    );
    let mut plain = loaded("a", 2, 1e6, 12, |_| ());
    plain.plan_mut().unwrap().work = Work::Batches;
    assert!(matches!(
        compared(&first, &plain),
        Err(Incomparable::Experiments(..))
    ));
}

/// The change of the time per request replaces the change of throughput, so that a ratio below 1 is
/// better.
#[test]
fn changes_are_in_the_unit_of_their_metric() {
    let first = loaded("a", 1, 1e6, 12, |_| ());
    let second = loaded("b", 2, 2e6, 12, |_| ());
    let found = compared(&first, &second).unwrap();
    let time = change_in(&found, Metric::TIME_PER_REQUEST);
    let [before, after] = time.values;
    assert!((before.estimate / 1e6 - 1.0).abs() < 0.02, "{before:?}");
    assert!((after.estimate / 2e6 - 1.0).abs() < 0.02, "{after:?}");
    assert!(before.low <= before.estimate && before.estimate <= before.high);
    assert!((time.change.estimate / 2.0 - 1.0).abs() < 0.02);
    assert_eq!(time.verdict, Some(Verdict::Slower));
}
