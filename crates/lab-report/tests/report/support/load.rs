// SPDX-License-Identifier: Apache-2.0
//! Realistic load runs, generated slice by slice from a simple model of each server. They are analyzed like any other
//! run.

use super::{Noise, host};
use lab_model::*;
use lab_stats::{normal, usl};
use std::collections::BTreeMap;

/// The numbers of connections of the sweep.
pub const CONNECTIONS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// A server's behavior in a slice.
#[derive(Clone, Copy, Default)]
struct Model {
    /// The rate at which requests are due, per second.
    offered: f64,
    /// The rate at which requests are served, per second.
    served: f64,
    /// The median service time, in ns.
    median_ns: f64,
    /// The time during which the server does not respond, in ns.
    stall_ns: f64,
    /// The fraction of the time in which the generator's thread is running.
    busy: f64,
    /// The server's CPU time per request, in ns; 0 means unknown.
    server_ns: f64,
    timeouts: u64,
    resets: u64,
    refused: u64,
}

/// Creates a load on one server in a closed loop, with one slice per second.
pub fn plain(seconds: u32) -> Run {
    let plan = plan(&["http://127.0.0.1:8080"], &[64], Arrivals::Closed);
    run(plan, seconds, |_, _, _, noise| Model {
        served: 41_200.0 * noise.factor(0.01),
        median_ns: 1.45e6 * noise.factor(0.02),
        busy: 0.41,
        server_ns: 21_300.0,
        ..Model::default()
    })
}

/// Creates a load on one server in an open loop. The server sometimes stalls for a second, and some requests fail.
pub fn stalling(seconds: u32) -> Run {
    let stages = vec![Stage {
        from: 5_000.0,
        to: 5_000.0,
        length_ns: u64::from(seconds) * 1_000_000_000,
    }];
    let arrivals = Arrivals::Open {
        poisson: true,
        stages,
    };
    let plan = plan(&["http://127.0.0.1:8080"], &[50], arrivals);
    run(plan, seconds, |_, _, block, noise| {
        let stalls = block % 10 == 6;
        Model {
            offered: 5_000.0 * noise.factor(0.01),
            served: 5_000.0 * noise.factor(0.01) - if stalls { 220.0 } else { 0.0 },
            median_ns: 310e3 * noise.factor(0.02),
            stall_ns: if stalls { 1e9 } else { 0.0 },
            busy: 0.08,
            server_ns: 24_000.0,
            timeouts: if stalls { 180 } else { 0 },
            resets: if stalls { 40 } else { 0 },
            ..Model::default()
        }
    })
}

/// Creates a load on one server over an increasing number of connections. The last numbers are too
/// high for the generator.
pub fn sweep(blocks: u32) -> Run {
    let plan = plan(&["http://127.0.0.1:8080"], &CONNECTIONS, Arrivals::Closed);
    run(plan, blocks, |_, n, _, noise| {
        let served = usl::throughput(4_100.0, 0.06, 0.0002, f64::from(n)) * noise.factor(0.01);
        Model {
            served,
            median_ns: f64::from(n) / served * 0.85e9,
            busy: if n == 256 { 0.97 } else { served / 90_000.0 },
            server_ns: 21_300.0 + 10.0 * f64::from(n),
            ..Model::default()
        }
    })
}

/// Creates a load on two servers in turns. B is faster, but has a longer tail.
pub fn two(blocks: u32) -> Run {
    let plan = plan(&["A", "B"], &[64], Arrivals::Closed);
    run(plan, blocks, |subject, _, block, noise| {
        let pace = noise.factor(0.01) * if subject == 1 { 1.24 } else { 1.0 };
        Model {
            served: 40_000.0 * pace,
            median_ns: 1.4e6 / pace,
            stall_ns: if subject == 1 && block % 3 == 0 {
                8e6
            } else {
                0.0
            },
            busy: 0.5,
            server_ns: 22_000.0 / pace,
            ..Model::default()
        }
    })
}

/// Creates a load on one server over IPv4 and IPv6, each with multiple numbers of connections.
pub fn families(blocks: u32) -> Run {
    let plan = plan(&["IPv4", "IPv6"], &[1, 8, 64], Arrivals::Closed);
    run(plan, blocks, |subject, n, _, noise| {
        let one = if subject == 1 { 3_800.0 } else { 4_100.0 };
        let served = usl::throughput(one, 0.06, 0.0002, f64::from(n)) * noise.factor(0.01);
        Model {
            served,
            median_ns: f64::from(n) / served * 0.85e9,
            busy: 0.3,
            ..Model::default()
        }
    })
}

/// Creates a load in which every connection is refused.
pub fn refusing(seconds: u32) -> Run {
    let plan = plan(&["http://127.0.0.1:8081"], &[8], Arrivals::Closed);
    run(plan, seconds, |_, _, _, _| Model {
        refused: 1_200,
        ..Model::default()
    })
}

/// Creates a load in which every external name tries to break the report.
pub fn hostile() -> Run {
    let mut run = two(12);
    let plan = run.plan_mut().expect("a plan");
    plan.title = "</title><script>t</script>".into();
    plan.subjects[SubjectId(0)].name = "<script>alert(1)</script> \x1b[31m \u{202e}abc".into();
    plan.subjects[SubjectId(1)].name = format!("a name that goes on {}", "x".repeat(90));
    let load = plan.load_mut().expect("a load");
    load.requests[1][0].url = "http://h/\"><img src=x onerror=alert(2)>|`*_".into();
    load.requests[1].push(PlannedRequest {
        method: "<b>".into(),
        url: format!("http://h/{}", "y".repeat(300)),
        weight: 3,
        has_user: false,
    });
    load.expected = vec!["body equal to </dd><script>\x07".into()];
    run.failures.push(Failure {
        subject: SubjectId(1),
        point: None,
        block: Some(3),
        kind: "connect".into(),
        message: "</p><script>f</script>".into(),
        log: vec!["</pre><script>log</script>".into()],
    });
    run
}

fn plan(servers: &[&str], points: &[u32], arrivals: Arrivals) -> Plan {
    let swept = points.iter().any(|n| *n != points[0]);
    let requests = |name: &&str| {
        let origin = if name.starts_with("http") {
            name.to_string()
        } else {
            format!("http://127.0.0.1:80{}", if *name == "A" { 80 } else { 81 })
        };
        vec![PlannedRequest {
            method: "GET".into(),
            url: format!("{origin}/items?page=1"),
            weight: 1,
            has_user: false,
        }]
    };
    let subject = |name: &&str| Subject {
        name: name.to_string(),
        ..Subject::default()
    };
    let point = |n: &u32| Point {
        params: vec![("connections".to_string(), n.to_string())],
        x: swept.then_some(f64::from(*n)),
        ..Point::default()
    };
    let mut plan = Plan {
        experiment: "127.0.0.1-8080".into(),
        title: servers.join(" against "),
        question: "How much load can a server take, and what response times do its users see?"
            .into(),
        subjects: servers.iter().map(subject).collect(),
        cases: [Case {
            name: "load".into(),
            work: "a request".into(),
            unit: "request".into(),
            sweep: swept.then(|| "connections".into()),
            cores: Cores::All,
            ..Case::default()
        }]
        .into(),
        points: points.iter().map(point).collect(),
        measure: Measure {
            pairs: 1,
            turn_ns: 1_000_000_000,
            max_blocks: 60,
            alpha: 0.05,
            margin: 0.02,
            time_limit_ns: 10_000_000_000,
            ..Measure::default()
        },
        seed: 7,
        work: Work::Load(LoadSpec {
            requests: servers.iter().map(requests).collect(),
            arrivals,
            protocol: Protocol::Http1,
            keep_alive: true,
            pipeline: 1,
            threads: 1,
            timeout_ns: 10_000_000_000,
            expected: vec!["status 200".into()],
            stretch_ns: 1_000_000_000,
            server_pids: vec![4711],
            ..LoadSpec::default()
        }),
        ..Plan::default()
    };
    plan.read_loads().expect("points of load");
    plan
}

fn run(plan: Plan, blocks: u32, model: impl Fn(u32, u32, u32, &mut Noise) -> Model) -> Run {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    // The machine ID is not shown.
    let id = (Host::MACHINE_ID.into(), "5c1e0d".into());
    let blocks = (0..blocks).map(|number| block(&plan, number, &model, &mut noise));
    Run {
        name: "20261121-091500-load.lab".into(),
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_252_500.0,
        host: Host {
            findings: Vec::new(),
            facts: [host().facts, vec![id]].concat(),
        },
        blocks: blocks.collect(),
        ending: Some(Ending::Blocks),
        lab_cost: Some((4_310_000_000, 21 << 20)),
        content: plan.into(),
        ..Run::default()
    }
}

fn block(
    plan: &Plan,
    number: u32,
    model: &impl Fn(u32, u32, u32, &mut Noise) -> Model,
    noise: &mut Noise,
) -> Block {
    let mut slices = Vec::new();
    let passes = if plan.subjects.len() > 1 { 2 } else { 1 };
    for point in plan.points.ids() {
        for pass in 0..passes {
            for subject in plan.subjects.ids() {
                let params = &plan.points[point].params;
                let connections = params[0].1.parse().expect("a number");
                let model = model(subject.0, connections, number, noise);
                let mut slice = slice(&model, plan, noise);
                (slice.point, slice.subject, slice.pass) = (point, subject, pass);
                slice.counts[LoadCount::Connects] = if number == 0 {
                    u64::from(connections)
                } else {
                    0
                };
                slices.push(slice);
            }
        }
    }
    Block {
        number,
        state: BlockState::Complete,
        started_unix_s: 1_795_252_500.0 + f64::from(number),
        duration_ns: 1_000_000_000,
        slices,
        ..Block::default()
    }
}

fn slice(model: &Model, plan: &Plan, noise: &mut Noise) -> Slice {
    let load = plan.load().expect("a load");
    let open = load.arrivals != Arrivals::Closed;
    let served = model.served as u64;
    let errors = [
        (ErrorKind::Connect, model.refused),
        (ErrorKind::Timeout, model.timeouts),
        (ErrorKind::Reset, model.resets),
    ];
    let failed: u64 = errors.iter().map(|(_, n)| n).sum();
    let service = times(model, 0.0, served);
    let is_watched = !load.server_pids.is_empty() && model.server_ns > 0.0;
    Slice {
        wall_ns: 1_000_000_000,
        offered: served + failed,
        served,
        errors: errors.into_iter().filter(|(_, n)| *n > 0).collect(),
        counts: LoadCounts::from([(LoadCount::ReceivedBytes, served * 1_240)]),
        cpu_ns: (model.busy * 1e9) as u64,
        busiest_cpu_ns: (model.busy * 1e9) as u64,
        server_cpu_ns: is_watched.then_some((model.served * model.server_ns) as u64),
        server_bytes: is_watched.then_some((18.0 * noise.factor(0.01) * 1048576.0) as u64),
        server_threads: is_watched.then_some(5),
        queue_overflows: Some(model.timeouts / 60),
        response: if open {
            times(model, model.stall_ns, served)
        } else {
            service.clone()
        },
        send_delay: if open {
            Counts(vec![
                (bucket(31_000.0), served * 9 / 10),
                (bucket(140_000.0), served / 10),
            ])
            .into()
        } else {
            SliceTimes::default()
        },
        service,
        ..Slice::default()
    }
}

/// Returns log-normally distributed times.
///
/// A request that is due during a stall is delayed by the remaining time of the stall.
fn times(model: &Model, stall_ns: f64, served: u64) -> SliceTimes {
    const STEPS: u64 = 400;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for step in 0..STEPS {
        let part = (step as f64 + 0.5) / STEPS as f64;
        let mut ns = model.median_ns * (-0.22 * normal::upper_quantile(part)).exp();
        // One in 400 is far slower than the others.
        if step == STEPS - 1 {
            ns *= 3.4;
        }
        let waiting = ((step * 7919) % STEPS) as f64 / STEPS as f64;
        let count = served / STEPS + u64::from(step < served % STEPS);
        *counts.entry(bucket(ns + stall_ns * waiting)).or_default() += count;
    }
    counts.retain(|_, count| *count > 0);
    Counts(counts.into_iter().collect()).into()
}

/// Returns the highest value of the bucket that contains a time, as in an HdrHistogram with three
/// significant digits.
pub fn bucket(ns: f64) -> u64 {
    let ns = (ns as u64).max(1);
    let shift = (64 - ns.leading_zeros()).saturating_sub(11);
    (((ns >> shift) + 1) << shift) - 1
}
