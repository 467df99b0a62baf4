// SPDX-License-Identifier: Apache-2.0
//! Simulated load runs of servers whose true times are known.

use super::{Random, block, empty_run, subject};
use lab_model::*;

/// Returns a run of servers that has no blocks yet. There is one point for each number of
/// connections in `connections`.
///
/// The first server is the baseline.
pub fn run(servers: &[&str], connections: &[u32], seed: u64) -> Run {
    let subjects = servers.iter().map(|name| subject(name, None)).collect();
    let point = |n: &u32| Point {
        params: vec![("connections".to_string(), n.to_string())],
        x: (connections.len() > 1).then(|| f64::from(*n)),
        ..Point::default()
    };
    let mut run = empty_run(subjects, connections.iter().map(point).collect(), seed, 1);
    let plan = run.plan_mut().unwrap();
    plan.cases[CaseId(0)].name = "load".to_string();
    plan.cases[CaseId(0)].sweep = (connections.len() > 1).then(|| "connections".to_string());
    plan.measure.interim_analyses = Vec::new();
    plan.work = Work::Load(LoadSpec::default());
    plan.read_loads().expect("points of load");
    run.ending = Some(Ending::Blocks);
    run
}

/// Converts a run to an open loop.
pub fn open(mut run: Run) -> Run {
    let plan = run.plan_mut().unwrap();
    plan.load_mut().unwrap().arrivals = Arrivals::Open {
        poisson: false,
        stages: Vec::new(),
    };
    run
}

pub fn add(run: &mut Run, slices: Vec<Slice>) {
    let number = run.blocks.len() as u32;
    run.blocks.push(Block {
        slices,
        ..block(number, Vec::new())
    });
}

/// Returns a slice of one second. `response` contains the response times of its requests.
pub fn second(subject: u32, point: u32, response: Counts) -> Slice {
    let served = response.total();
    let response = SliceTimes::from(response);
    Slice {
        subject: SubjectId(subject),
        point: PointId(point),
        wall_ns: 1_000_000_000,
        offered: served,
        served,
        cpu_ns: 100_000_000,
        busiest_cpu_ns: 100_000_000,
        service: response.clone(),
        response,
        ..Slice::default()
    }
}

/// Rounds times up to the highest value of their bucket in a histogram with three digits.
pub fn counts(times: impl IntoIterator<Item = f64>) -> Counts {
    let highest = |time: f64| {
        let time = time as u64;
        let wide = (64 - time.leading_zeros()).saturating_sub(11);
        time | ((1 << wide) - 1)
    };
    let mut times: Vec<u64> = times.into_iter().map(highest).collect();
    times.sort_unstable();
    let same = times.chunk_by(|a, b| a == b);
    Counts(same.map(|chunk| (chunk[0], chunk.len() as u64)).collect())
}

/// Returns `n` log-normal times with the given median, in ns.
pub fn times(random: &mut Random, n: usize, median: f64, scatter: f64) -> Vec<f64> {
    let time = |_| median * (scatter * random.normal()).exp();
    (0..n).map(time).collect()
}
