// SPDX-License-Identifier: Apache-2.0
//! Tests intervals of whole runs in which processes differ and each process serves multiple blocks:
//! counts how often the intervals contain the truth.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats process_sets::` writes the table
//! in `docs/statistics.md`.

use crate::documents::{self, percent};
use crate::simulator::served::World;
use crate::simulator::{Random, most_by_chance};
use lab_model::*;
use lab_stats::results::{Results, results};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The standard deviation of the logarithms of processes' levels.
const PROCESS: f64 = 0.06;

/// Returns a run of `sets` sets of processes, each serving `blocks` blocks.
///
/// The processes differ.
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
                slice.server_cpu_ns = Some((cpu_ns * levels[slice.subject.index()]) as u64);
            }
        }
    }
    run
}

/// Returns true if an interval of the CPU time of a request misses the truth.
///
/// Panics if there are no intervals.
fn misses_any(results: &Results) -> bool {
    let truth = |subject: SubjectId| if subject == SubjectId(3) { 2.0 } else { 1.0 };
    let at_points = results.comparisons.iter();
    let at_points = at_points.filter(|c| c.key.metric == Metric::SERVER_CPU);
    let at_points = at_points.map(|c| (c.key.subject, c.ratio));
    let overall = results.overall.iter();
    let overall = overall.filter(|o| o.metric == Metric::SERVER_CPU && o.subject > SubjectId(1));
    let overall = overall.map(|o| (o.subject, o.ratio));
    let all = at_points.chain(overall);
    let printed: Vec<(SubjectId, Interval)> = all.filter(|(_, r)| r.level > 0.0).collect();
    assert!(!printed.is_empty());
    let holds = |(subject, ratio): &(SubjectId, Interval)| {
        ratio.low <= truth(*subject) && truth(*subject) <= ratio.high
    };
    !printed.iter().all(holds)
}

/// Returns the number of runs in which an interval misses the truth.
///
/// If `nested`, blocks of one process do not count as replicates.
fn misses(runs: u64, (sets, blocks): (u32, u32), nested: bool) -> u64 {
    let (missed, next) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= runs {
                        break;
                    }
                    let mut run = run(seed, sets, blocks);
                    if !nested {
                        let blocks = run.blocks.iter_mut();
                        blocks.for_each(|block| block.process_set = None);
                    }
                    missed.fetch_add(misses_any(&results(&run)).into(), Ordering::Relaxed);
                }
            });
        }
    });
    missed.into_inner()
}

/// The numbers of sets of processes.
const SETS: [u32; 4] = [2, 3, 4, 6];
/// The numbers of blocks that each set serves.
const BLOCKS_OF_EACH: [u32; 3] = [2, 4, 8];

#[test]
fn intervals_are_valid_if_a_process_serves_multiple_blocks() {
    let (mut rows, mut all, mut missed) = (Vec::new(), 0, 0);
    for sets in SETS {
        for blocks in BLOCKS_OF_EACH {
            let runs = documents::runs(60, 4);
            let found = misses(runs, (sets, blocks), true);
            println!("{sets} sets of {blocks} blocks: {found} of {runs}");
            assert!(
                found <= most_by_chance(runs, 0.05),
                "{found} of {runs} runs with {sets} sets of {blocks} blocks"
            );
            all += runs;
            missed += found;
            rows.push(vec![
                sets.to_string(),
                blocks.to_string(),
                percent(1.0 - found as f64 / runs as f64),
            ]);
        }
    }
    assert!(
        missed <= most_by_chance(all, 0.05),
        "{missed} of {all} runs"
    );
    let columns = [
        "sets of processes",
        "blocks of each",
        "all intervals of a run hold",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("sets", &table);
}

/// The blocks of one process are not replicates. If an analysis treats them as replicates, its
/// intervals miss the truth too often.
#[test]
fn blocks_of_one_process_are_not_replicates() {
    let missed = misses(20, (3, 4), false);
    assert!(missed > most_by_chance(20, 0.05), "{missed} of 20 runs");
}
