// SPDX-License-Identifier: Apache-2.0
//! The pool experiment in Rust: the work of the holders, and the metrics of a batch.

pub(crate) mod pool;
mod sync;

use lab_kit::{Closed, Failure, Laps, Opening, Share, Subject, Work, Workers};
use pool::{Pool, Resource};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const UNCONTENDED_SIZE: usize = 8;
const HOLDING_TIME: Duration = Duration::from_micros(100);
const FAILS_EVERY: u64 = 8;

/// Uses a resource in operation `k`. Returns the value to add to the check.
type Hold = Arc<dyn Fn(&Resource, u64) -> Result<u64, HolderFailed> + Send + Sync>;

/// The error of a holder that fails on purpose.
struct HolderFailed;

/// The metrics of one worker in a batch.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of leases of resources that another worker held at the same time.
    over: u64,
    /// The number of operations per second, or 0 if there were none.
    rate: f64,
}

pub(crate) fn main() -> std::io::Result<()> {
    Subject::new(sync::SUBJECT, sync::LIBRARY)
        .case("uncontended", uncontended)
        .case("lease", lease)
        .case("fail", fail)
        .case("reuse", reuse)
        .serve()
}

fn uncontended(opening: Opening) -> Result<Closed, Failure> {
    let pool = Pool::new(UNCONTENDED_SIZE, true);
    Ok(opening.serve(|operations| {
        pool.lease_and_release(operations);
        Ok(Work {
            check: operations,
            units: operations,
            ..Work::default()
        })
    }))
}

fn lease(opening: Opening) -> Result<Closed, Failure> {
    let threads = threads(&opening)?;
    let size = match opening.text("size")? {
        "equal" => threads,
        "half" => threads.div_ceil(2),
        "eightfold" => 8 * threads,
        size => return Err(Failure::unsupported(format!("unknown size {size}"))),
    };
    let hold: Hold = match opening.text("hold")? {
        "0us" => Arc::new(|_, _| Ok(1)),
        "100us" => Arc::new(|_, _| {
            let start = Instant::now();
            while start.elapsed() < HOLDING_TIME {}
            Ok(1)
        }),
        hold => return Err(Failure::unsupported(format!("unknown hold {hold}"))),
    };
    together(opening, threads, Pool::new(size, true), hold)
}

fn fail(opening: Opening) -> Result<Closed, Failure> {
    let threads = threads(&opening)?;
    let inputs: Vec<u64> = opening.inputs().first(4096).collect();
    let hold: Hold = Arc::new(
        move |_, k| match inputs[k as usize % inputs.len()] % FAILS_EVERY {
            0 => Err(HolderFailed),
            _ => Ok(1),
        },
    );
    together(opening, threads, Pool::new(threads.div_ceil(2), true), hold)
}

fn reuse(opening: Opening) -> Result<Closed, Failure> {
    let threads = threads(&opening)?;
    let is_lifo = match opening.text("reuse")? {
        "lifo" => true,
        "fifo" => false,
        reuse => return Err(Failure::unsupported(format!("unknown reuse {reuse}"))),
    };
    let hold: Hold = Arc::new(|resource, _| Ok(resource.words.iter().sum()));
    together(opening, threads, Pool::new(8 * threads, is_lifo), hold)
}

fn threads(opening: &Opening) -> Result<usize, Failure> {
    opening.integer("threads", 1..=256_usize)
}

/// Serves a case whose threads lease concurrently.
fn together(opening: Opening, threads: usize, pool: Pool, hold: Hold) -> Result<Closed, Failure> {
    let pool = Arc::new(pool);
    let seen = Arc::new(Mutex::new(vec![Seen::default(); threads]));
    let work = {
        let (pool, seen) = (pool.clone(), seen.clone());
        move |share: Share, laps: &mut Laps| {
            let (work, holder) = do_share(&pool, &hold, share, laps);
            seen.lock().expect("no holder panics")[share.worker] = holder;
            Ok(work)
        }
    };
    let workers = Workers::start(threads, work)?;
    Ok(opening.serve(|operations| {
        seen.lock().expect("no holder panics").fill(Seen::default());
        let mut work = workers.perform(operations)?;
        let seen = seen.lock().expect("no holder panics");
        let over: u64 = seen.iter().map(|holder| holder.over).sum();
        work.metrics.insert("fairness", fairness(&seen));
        work.metrics.insert("over", over as f64);
        work.metrics.insert("lost", pool.in_use() as f64);
        Ok(work)
    }))
}

fn do_share(pool: &Pool, hold: &Hold, share: Share, laps: &mut Laps) -> (Work, Seen) {
    let mut work = Work::default();
    let mut over = 0;
    let start = Instant::now();
    for k in share.operations() {
        work.units += 1;
        work.check += operate(pool, hold, k, &mut over).unwrap_or(2);
        laps.lap();
    }
    let rate = work.units as f64 / start.elapsed().as_secs_f64();
    (work, Seen { over, rate })
}

/// Leases a resource and uses it. The lease ends with the function, even after a failure.
fn operate(pool: &Pool, hold: &Hold, k: u64, over: &mut u64) -> Result<u64, HolderFailed> {
    let mut leased = pool.lease();
    *over += u64::from(leased.is_held);
    leased.is_held = true;
    leased.uses += 1;
    let value = hold(&leased, k);
    leased.is_held = false;
    value
}

/// Returns Jain's index of the threads' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), as a percentage.
fn fairness(seen: &[Seen]) -> f64 {
    let rates = || {
        seen.iter()
            .map(|holder| holder.rate)
            .filter(|rate| *rate > 0.0)
    };
    let sum: f64 = rates().sum();
    let squares: f64 = rates().map(|rate| rate * rate).sum();
    100.0 * sum * sum / (rates().count() as f64 * squares)
}
