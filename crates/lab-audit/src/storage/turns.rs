// SPDX-License-Identifier: Apache-2.0
//! Turns on the targets: each kind of work on one, the others, and back.

use super::target::{Aligned, LARGE, SMALL, StorageTarget};
use lab_stats::order::median;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// How long a turn lasts.
const TURN: Duration = Duration::from_millis(60);
/// The fewest operations of a turn, however long they take.
const FEWEST: usize = 8;
/// Requests at a time, of the work that has many.
pub const DEPTH: usize = 32;
/// Fewer latencies have no 99th percentile.
const ENOUGH: usize = 100;

/// The operation of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageWork {
    /// Reads of 1 MiB, one behind the other.
    Sequential,
    /// Reads of 4 KiB anywhere, one at a time.
    Random,
    /// The same, 32 at a time.
    RandomDeep,
    /// Writes of 4 KiB anywhere in the scratch file.
    Write,
    /// A write of 4 KiB, and the wait until the disk has it.
    Sync,
}

/// A round of one work on one target: two turns.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// Operations per second.
    pub rate: f64,
    /// Median latency in ns.
    pub p50: f64,
    /// 99th percentile in ns; `None`: too few operations.
    pub p99: Option<f64>,
}

/// A turn.
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

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            StorageWork::Sequential => "sequential read",
            StorageWork::Random => "random 4 KiB read",
            StorageWork::RandomDeep => "the same, 32 at a time",
            StorageWork::Write => "4 KiB write",
            StorageWork::Sync => "4 KiB write and fsync",
        }
    }

    /// The same beside a target's name.
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

    /// True if it is done there: what is not the lab's own is never written.
    pub fn fits(self, target: &StorageTarget) -> bool {
        target.scratch || !self.writes()
    }
}

/// One round of a work: each target once, and once more in the reverse order.
///
/// # Errors
/// A read or a write failed, with the target's name.
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

/// Medians of the latencies of 200 blocks anywhere, read for the first time and once more.
///
/// # Errors
/// A read failed.
pub fn first_and_second_reads(target: &StorageTarget, seed: u64) -> io::Result<[f64; 2]> {
    let mut random = SmallRng::seed_from_u64(seed);
    let places: Vec<u64> = (0..200).map(|_| place(&mut random, target)).collect();
    let mut block = Aligned::new(SMALL);
    let mut pass = || -> io::Result<f64> {
        let mut latencies = Vec::new();
        for place in &places {
            let began = Instant::now();
            target.file.read_exact_at(block.as_mut_slice(), *place)?;
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
        p99: (latencies.len() >= ENOUGH).then(|| latencies[rank]),
    })
}

fn turn(target: &StorageTarget, work: StorageWork, seed: u64) -> io::Result<StorageTurn> {
    let began = Instant::now();
    let latencies = match work {
        StorageWork::RandomDeep => at_depth(target, seed)?,
        _ => one_by_one(target, work, seed, FEWEST)?,
    };
    Ok(StorageTurn {
        latencies,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// A thread for each request that is under way.
fn at_depth(target: &StorageTarget, seed: u64) -> io::Result<Vec<f64>> {
    std::thread::scope(|scope| {
        let start = |i: usize| {
            let seed = seed * 4096 + i as u64;
            scope.spawn(move || one_by_one(target, StorageWork::Random, seed, 1))
        };
        let threads: Vec<_> = (0..DEPTH).map(start).collect();
        let mut latencies_of_all = Vec::new();
        for thread in threads {
            let latencies = thread.join().map_err(|_| io::Error::other("a thread"))?;
            latencies_of_all.extend(latencies?);
        }
        Ok(latencies_of_all)
    })
}

fn one_by_one(
    target: &StorageTarget,
    work: StorageWork,
    seed: u64,
    fewest: usize,
) -> io::Result<Vec<f64>> {
    let mut random = SmallRng::seed_from_u64(seed);
    let size = if work == StorageWork::Sequential {
        LARGE
    } else {
        SMALL
    };
    let mut block = Aligned::new(size);
    let mut begin = place(&mut random, target) / LARGE as u64 * LARGE as u64;
    let (began, mut latencies) = (Instant::now(), Vec::new());
    random.fill(block.as_mut_slice());
    while began.elapsed() < TURN || latencies.len() < fewest {
        let at = match work {
            StorageWork::Sequential if begin + LARGE as u64 > target.size => {
                begin = 0;
                0
            }
            StorageWork::Sequential => begin,
            _ => place(&mut random, target),
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

/// Where a small block begins.
fn place(random: &mut SmallRng, target: &StorageTarget) -> u64 {
    random.random_range(0..target.size / SMALL as u64) * SMALL as u64
}
