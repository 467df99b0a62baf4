// SPDX-License-Identifier: Apache-2.0
//! Intervals where processes differ and serve several blocks each: how often they miss, in whole runs.

use crate::simulator::served::World;
use crate::simulator::{Random, most_by_chance};
use lab_model::*;
use lab_stats::results::{Results, results};

/// The standard deviation of the logarithms of processes' levels.
const PROCESS: f64 = 0.06;

/// A run of so many sets of processes, each of which serves so many blocks, and whose processes differ.
fn run(seed: u64, sets: u32, blocks: u32) -> Run {
    let mut world = World::new(&[1.0, 2.0]);
    (world.timed, world.scatter) = (false, 0.05);
    let mut run = world.run(seed, sets * blocks);
    let mut random = Random(seed ^ 0x5e75);
    for set in 0..sets {
        let levels: Vec<f64> = (0..4).map(|_| (PROCESS * random.normal()).exp()).collect();
        let of_set = run
            .blocks
            .iter_mut()
            .filter(|block| block.number / blocks == set);
        for block in of_set {
            block.process_set = Some(set);
            for slice in &mut block.slices {
                let cpu_ns = slice.server_cpu_ns.unwrap_or(0) as f64;
                slice.server_cpu_ns = Some((cpu_ns * levels[slice.subject]) as u64);
            }
        }
    }
    run
}

/// Whether all intervals of the CPU time of a request hold their truths.
fn holds(results: &Results) -> bool {
    let truth = |subject: SubjectId| if subject == 3 { 2.0 } else { 1.0 };
    let at_points = results.comparisons.iter();
    let at_points = at_points.filter(|c| c.key.metric == Metric::SERVER_CPU);
    let at_points = at_points.map(|c| (c.key.subject, c.ratio));
    let overall = results.overall.iter();
    let overall = overall.filter(|o| o.metric == Metric::SERVER_CPU && o.subject > 1);
    let overall = overall.map(|o| (o.subject, o.ratio));
    let mut all = at_points
        .chain(overall)
        .filter(|(_, ratio)| ratio.level > 0.0);
    all.all(|(subject, ratio)| ratio.low <= truth(subject) && truth(subject) <= ratio.high)
}

/// In how many of so many runs some interval misses.
fn misses(runs: u64, (sets, blocks): (u32, u32), nested: bool) -> u64 {
    let miss = |seed: &u64| {
        let mut run = run(*seed, sets, blocks);
        if !nested {
            run.blocks
                .iter_mut()
                .for_each(|block| block.process_set = None);
        }
        !holds(&results(&run))
    };
    (0..runs).filter(miss).count() as u64
}

#[test]
fn intervals_hold_where_a_process_serves_several_blocks() {
    for design in [(3, 3), (5, 2)] {
        let missed = misses(20, design, true);
        assert!(
            missed <= most_by_chance(20, 0.05),
            "{missed} of 20 runs with {design:?}"
        );
    }
}

/// The blocks of one process are no replicates: taken as such, intervals miss too often.
#[test]
fn blocks_of_one_process_are_no_replicates() {
    let missed = misses(20, (3, 4), false);
    assert!(missed > most_by_chance(20, 0.05), "{missed} of 20 runs");
}

/// `cargo test -p lab-stats --release --test stats -- --ignored --nocapture coverage_of_sets` prints the table of
/// docs/statistics.md.
#[test]
#[ignore = "takes minutes"]
fn coverage_of_sets() {
    println!("sets, blocks of each: runs in which some interval misses");
    for design in [
        (2, 8),
        (3, 4),
        (4, 4),
        (5, 1),
        (5, 4),
        (5, 8),
        (12, 1),
        (12, 4),
    ] {
        println!("{design:?}: {} of 400", misses(400, design, true));
    }
    println!(
        "the same with blocks as replicates, (5, 4): {} of 400",
        misses(400, (5, 4), false)
    );
}
