// SPDX-License-Identifier: Apache-2.0
//! Turns on the targets: each kind of work runs on all targets in order, and then in reverse order.

use super::target::{Aligned, LARGE, SMALL, StorageTarget};
use lab_stats::order::median;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// The duration of a turn.
const TURN: Duration = Duration::from_millis(60);
/// The minimum number of operations in a turn. It applies even if the turn then takes longer than
/// [`TURN`].
const MIN_OPERATIONS: usize = 8;
/// The queue depth of [`StorageWork::RandomDeep`].
pub const DEPTH: usize = 32;
/// The minimum number of operations for a 99th percentile.
const MIN_OPERATIONS_FOR_P99: usize = 100;

/// The kind of work in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageWork {
    /// Sequential reads of 1 MiB.
    Sequential,
    /// Random reads of 4 KiB at queue depth 1.
    Random,
    /// Random reads of 4 KiB at queue depth 32.
    RandomDeep,
    /// Random writes of 4 KiB in the scratch file.
    Write,
    /// Writes of 4 KiB, each followed by fsync.
    Sync,
}

/// A round of one kind of work on one target: two turns.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The rate in operations per second.
    pub rate: f64,
    /// The median latency in ns.
    pub p50: f64,
    /// The 99th percentile of the latency in ns, or `None` if there were too few operations.
    pub p99: Option<f64>,
}

#[derive(Default)]
struct StorageTurn {
    latencies: Vec<f64>,
    seconds: f64,
}

impl StorageWork {
    pub const ALL: [StorageWork; 5] = [
        StorageWork::Sequential,
        StorageWork::Random,
        StorageWork::RandomDeep,
        StorageWork::Write,
        StorageWork::Sync,
    ];

    /// Returns the name in words.
    pub fn name(self) -> &'static str {
        match self {
            StorageWork::Sequential => "sequential read",
            StorageWork::Random => "random 4 KiB read",
            StorageWork::RandomDeep => "random 4 KiB read, 32 at a time",
            StorageWork::Write => "4 KiB write",
            StorageWork::Sync => "4 KiB write and fsync",
        }
    }

    /// Returns a short name, for use after a target's name.
    pub fn short(self) -> &'static str {
        match self {
            StorageWork::Sequential => "sequential",
            StorageWork::Random => "read",
            StorageWork::RandomDeep => "read, 32",
            StorageWork::Write => "write",
            StorageWork::Sync => "fsync",
        }
    }

    fn writes(self) -> bool {
        matches!(self, StorageWork::Write | StorageWork::Sync)
    }

    /// Returns true if the work may run on a target. Only benchlab's own scratch file is ever written.
    pub fn fits(self, target: &StorageTarget) -> bool {
        target.scratch || !self.writes()
    }
}

/// Runs one round of a kind of work: once on all targets, then once more in reverse order.
///
/// # Errors
///
/// Returns an error with the target's name if a read or a write fails.
pub fn round(
    targets: &[StorageTarget],
    work: StorageWork,
    seed: u64,
) -> Result<Vec<Option<Round>>, String> {
    let mut turns: Vec<Vec<StorageTurn>> = targets.iter().map(|_| Vec::new()).collect();
    let forward: Vec<usize> = (0..targets.len()).collect();
    for (pass, index) in forward.iter().chain(forward.iter().rev()).enumerate() {
        let target = &targets[*index];
        if work.fits(target) {
            let result = turn(target, work, seed * 64 + pass as u64);
            turns[*index].push(result.map_err(|e| format!("{}: {e}", target.name))?);
        }
    }
    Ok(turns.into_iter().map(merge_turns).collect())
}

/// Measures the median latencies of first and second reads of 200 random blocks.
///
/// # Errors
///
/// Returns an error if a read fails.
pub fn first_and_second_reads(target: &StorageTarget, seed: u64) -> io::Result<[f64; 2]> {
    let mut random = SmallRng::seed_from_u64(seed);
    let offsets: Vec<u64> = (0..200)
        .map(|_| random_offset(&mut random, target))
        .collect();
    let mut block = Aligned::new(SMALL);
    let mut pass = || -> io::Result<f64> {
        let mut latencies = Vec::new();
        for offset in &offsets {
            let began = Instant::now();
            target.file.read_exact_at(block.as_mut_slice(), *offset)?;
            latencies.push(began.elapsed().as_nanos() as f64);
        }
        Ok(median(&latencies).unwrap_or(f64::NAN))
    };
    Ok([pass()?, pass()?])
}

fn merge_turns(turns: Vec<StorageTurn>) -> Option<Round> {
    let seconds: f64 = turns.iter().map(|turn| turn.seconds).sum();
    let mut latencies: Vec<f64> = turns.into_iter().flat_map(|turn| turn.latencies).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let rank = (latencies.len() * 99).div_ceil(100).saturating_sub(1);
    Some(Round {
        rate: latencies.len() as f64 / seconds,
        p50: median(&latencies)?,
        p99: (latencies.len() >= MIN_OPERATIONS_FOR_P99).then(|| latencies[rank]),
    })
}

fn turn(target: &StorageTarget, work: StorageWork, seed: u64) -> io::Result<StorageTurn> {
    let began = Instant::now();
    let latencies = match work {
        StorageWork::RandomDeep => at_depth(target, seed)?,
        _ => one_by_one(target, work, seed, MIN_OPERATIONS)?,
    };
    Ok(StorageTurn {
        latencies,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Runs random reads at the queue depth, with one thread per concurrent request.
fn at_depth(target: &StorageTarget, seed: u64) -> io::Result<Vec<f64>> {
    std::thread::scope(|scope| {
        let start = |i: usize| {
            let seed = seed * 4096 + i as u64;
            scope.spawn(move || one_by_one(target, StorageWork::Random, seed, 1))
        };
        let threads: Vec<_> = (0..DEPTH).map(start).collect();
        let mut latencies_of_all = Vec::new();
        for thread in threads {
            let latencies = thread
                .join()
                .map_err(|_| io::Error::other("a reading thread panicked"))?;
            latencies_of_all.extend(latencies?);
        }
        Ok(latencies_of_all)
    })
}

fn one_by_one(
    target: &StorageTarget,
    work: StorageWork,
    seed: u64,
    min_operations: usize,
) -> io::Result<Vec<f64>> {
    let mut random = SmallRng::seed_from_u64(seed);
    let size = if work == StorageWork::Sequential {
        LARGE
    } else {
        SMALL
    };
    let mut block = Aligned::new(size);
    let mut begin = random_offset(&mut random, target) / LARGE as u64 * LARGE as u64;
    let (began, mut latencies) = (Instant::now(), Vec::new());
    random.fill(block.as_mut_slice());
    while began.elapsed() < TURN || latencies.len() < min_operations {
        let at = match work {
            StorageWork::Sequential if begin + LARGE as u64 > target.size => {
                begin = 0;
                0
            }
            StorageWork::Sequential => begin,
            _ => random_offset(&mut random, target),
        };
        begin += size as u64;
        let operation_began = Instant::now();
        match work {
            StorageWork::Write => target.file.write_all_at(block.as_mut_slice(), at)?,
            StorageWork::Sync => {
                target.file.write_all_at(block.as_mut_slice(), at)?;
                target.file.sync_data()?;
            }
            _ => target.file.read_exact_at(block.as_mut_slice(), at)?,
        }
        latencies.push(operation_began.elapsed().as_nanos() as f64);
    }
    Ok(latencies)
}

/// Returns the offset of a random small block.
fn random_offset(random: &mut SmallRng, target: &StorageTarget) -> u64 {
    random.random_range(0..target.size / SMALL as u64) * SMALL as u64
}
