// SPDX-License-Identifier: Apache-2.0
//! Times the analysis of a run with a million samples, an interim analysis, a load run of an hour,
//! and a wide sweep.
//!
//! Run with `cargo bench -p lab-stats`.

#[path = "../tests/stats/simulator/mod.rs"]
mod simulator;

use lab_stats::results::results;
use simulator::load::{add, counts, second, times};
use simulator::{CALM, Random, Simulator, World};
use std::time::Instant;

fn main() {
    // Like the SQL experiment: 20 points, 6 subjects and a control, 40 pairs of passes.
    println!("blocks  samples  analyze, ms  stop, ms (medians of 5)");
    for (points, blocks) in [(20, 90), (2, 900), (120, 12)] {
        let sweep = (1..=points).map(f64::from).collect();
        let world = World {
            ratios: vec![1.0; 5],
            sweep,
            ..CALM
        };
        let mut run = simulator::run(&world, 1, 40);
        let plan = run.plan_mut().unwrap();
        plan.measure.max_blocks = blocks;
        plan.measure.interim_analyses = vec![blocks];
        let mut simulator = Simulator::new(&world, 1);
        (0..blocks).for_each(|_| simulator.add_block(&mut run));
        let samples: usize = run.blocks.iter().map(|block| block.samples.len()).sum();
        let analyze = milliseconds(|| results(&run).comparisons.len());
        let stop = milliseconds(|| usize::from(lab_stats::stop(&run).is_some()));
        println!("{blocks:6}  {samples:7}  {analyze:11.0}  {stop:8.0}");
    }
    load();
    served();
}

/// Times the analysis of runs with up to 15 servers, which is more than the `rest` experiment
/// measures.
///
/// Each run has as many points as the experiment. Each slice has a few hundred distinct response
/// times.
fn served() {
    println!("served: servers  slices  blocks  analyze, ms (median of 5)");
    for (servers, blocks) in [(2, 12), (15, 12), (15, 40)] {
        let world = simulator::served::World::new(&vec![1.5; servers - 2]);
        let run = world.run(1, blocks);
        let slices: usize = run.blocks.iter().map(|block| block.slices.len()).sum();
        let analyze = milliseconds(|| results(&run).cells.len());
        println!("{servers:15}  {slices:6}  {blocks:6}  {analyze:11.0}");
    }
}

/// Times the analysis of load runs. Each slice has about 500 distinct response times.
fn load() {
    println!("load: servers  points  blocks  analyze, ms (median of 5)");
    for (servers, points, blocks) in [(1, 1, 3600), (2, 1, 300), (1, 10, 10), (2, 20, 20)] {
        let connections: Vec<u32> = (1..=points).collect();
        let mut run = simulator::load::run(&["a", "b"][..servers], &connections, 1);
        let mut random = Random(1);
        for _ in 0..blocks {
            let mut slices = Vec::new();
            for point in 0..points {
                for server in 0..servers as u32 {
                    let response = counts(times(&mut random, 1500, 1e6, 0.3));
                    let mut slice = second(server, point, response.clone());
                    slice.send_delay = response.into();
                    slices.push(slice);
                }
            }
            add(&mut run, slices);
        }
        let run = simulator::load::open(run);
        let analyze = milliseconds(|| results(&run).cells.len());
        println!("{servers:13}  {points:6}  {blocks:6}  {analyze:11.0}");
    }
}

fn milliseconds(work: impl Fn() -> usize) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(work());
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}
