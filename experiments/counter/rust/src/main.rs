// SPDX-License-Identifier: Apache-2.0
//! The counter experiment in Rust: `std::sync` and `std::sync::atomic`.

pub(crate) mod counters;

use counters::{Counter, CountingLoops, Pair};
use lab_kit::{Closed, Failure, Opening, Subject, Work, Workers};
use std::sync::Arc;

const THREADS_MAX: usize = 1024;

pub(crate) fn main() -> std::io::Result<()> {
    Subject::new("rust", "std 1, crossbeam-utils 0.8")
        .case("increment", increment)
        .case("plain", increment)
        .case("read_mostly", read_mostly)
        .case("side_by_side", side_by_side)
        .serve()
}

fn increment(opening: Opening) -> Result<Closed, Failure> {
    count(opening, |counter, times| {
        counter.increments(times);
        0
    })
}

fn read_mostly(opening: Opening) -> Result<Closed, Failure> {
    count(opening, |counter, times| {
        counter.increments_and_reads(times)
    })
}

/// Counts in all threads. For a safe counter the check is its final value, and no read may return a
/// lower value than the previous read.
fn count(opening: Opening, work: fn(&dyn CountingLoops, u64) -> u64) -> Result<Closed, Failure> {
    let scheme = opening.text("scheme")?;
    let Some(counter) = counters::counter(scheme) else {
        return Err(Failure::unsupported(format!("unknown scheme {scheme}")));
    };
    let counter: Arc<dyn CountingLoops> = counter.into();
    let shared = counter.clone();
    let workers = Workers::start(threads(&opening)?, move |share, _| {
        Ok(Work {
            check: work(&*shared, share.len()),
            ..Work::default()
        })
    })?;
    Ok(opening.serve(|operations| {
        let before = counter.reached();
        let mut work = workers.perform(operations)?;
        let reached = counter.reached() - before;
        if counter.is_safe() {
            work.check += reached;
        } else {
            work.check = operations;
        }
        Ok(with_lost(work, operations, reached))
    }))
}

fn side_by_side(opening: Opening) -> Result<Closed, Failure> {
    let pair = Arc::new(Pair::default());
    let shared = pair.clone();
    let workers = Workers::start(threads(&opening)?, move |share, _| {
        shared.increments(share.len());
        Ok(Work::default())
    })?;
    Ok(opening.serve(|operations| {
        let (safe, lossy) = (pair.safe.value(), pair.unsafe_one.value());
        let mut work = workers.perform(operations)?;
        work.check = pair.safe.value() - safe;
        Ok(with_lost(work, operations, pair.unsafe_one.value() - lossy))
    }))
}

fn threads(opening: &Opening) -> Result<usize, Failure> {
    opening.integer("threads", 1..=THREADS_MAX)
}

fn with_lost(mut work: Work, operations: u64, reached: u64) -> Work {
    let lost = 100.0 * (operations - reached) as f64 / operations as f64;
    work.units = operations;
    work.metrics.insert("lost", lost);
    work
}
