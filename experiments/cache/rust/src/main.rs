// SPDX-License-Identifier: Apache-2.0
//! The cache experiment in Rust: maps with `std::sync`, arc-swap and dashmap.

pub(crate) mod maps;
mod memory;
pub(crate) mod trace;

use lab_kit::{Closed, Failure, Opening, Subject, Work, Workers};
use maps::{SharedMap, read_map, shared_map};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

const THREADS_MAX: usize = 1024;

/// The maximum number of entries in the case `write`. The case `wait` always uses this number.
const ENTRIES_MAX: u64 = 1_000_000;

/// The number of keys in the map before an operation of the case `lost`.
const OLD_KEYS: u64 = 1_000;
const NEW_KEYS: u64 = 1_000;

pub(crate) fn main() -> std::io::Result<()> {
    Subject::new("rust", "std 1, arc-swap 1, dashmap 6")
        .case("read_only", read_only)
        .case("read_mostly", read_mostly)
        .case("write", write)
        .case("wait", wait)
        .case("lost", lost)
        .serve()
}

fn map_of(opening: &Opening, entries: u64) -> Result<Arc<dyn SharedMap>, Failure> {
    Ok(shared_map(opening.text("scheme")?, entries)?.into())
}

fn threads(opening: &Opening) -> Result<usize, Failure> {
    opening.integer("threads", 1..=THREADS_MAX)
}

fn read_only(opening: Opening) -> Result<Closed, Failure> {
    let map = read_map(opening.text("scheme")?, trace::ZIPF_KEYS)?;
    let trace = trace::zipf(opening.inputs(), 100);
    let workers = Workers::start(threads(&opening)?, move |share, _| {
        Ok(Work {
            check: trace::read_all(&*map, &trace, share.operations()),
            units: share.len(),
            ..Work::default()
        })
    })?;
    Ok(opening.serve(|operations| workers.perform(operations)))
}

fn read_mostly(opening: Opening) -> Result<Closed, Failure> {
    let map = map_of(&opening, trace::ZIPF_KEYS)?;
    let trace = trace::zipf(opening.inputs(), reads(&opening)?);
    let workers = Workers::start(threads(&opening)?, move |share, _| {
        let mut work = Work::default();
        for k in share.operations() {
            let access = trace.at(k);
            if access.reads {
                work.check += map.get(access.key).unwrap_or(0);
            } else {
                map.put(access.key, access.key + 1);
            }
        }
        work.units = share.len();
        Ok(work)
    })?;
    Ok(opening.serve(|operations| workers.perform(operations)))
}

fn reads(opening: &Opening) -> Result<u64, Failure> {
    match opening.text("reads")? {
        "99" => Ok(99),
        "90" => Ok(90),
        reads => {
            let message = format!("expected 99 or 90 % reads, got {reads}");
            Err(Failure::unsupported(message))
        }
    }
}

/// Replaces entries. The check is the sum of the values written, plus the value found for the last key.
fn write(opening: Opening) -> Result<Closed, Failure> {
    let entries = opening.integer("entries", 1..=ENTRIES_MAX)?;
    let map = map_of(&opening, entries)?;
    let keys = trace::uniform(opening.inputs(), entries);
    Ok(opening.serve(|operations| {
        let mut work = Work::default();
        for key in keys.first(operations) {
            map.put(key, key + 1);
            work.check += key + 1;
        }
        work.check += map.get(keys.at(operations - 1)).unwrap_or(0);
        work.units = operations;
        Ok(work)
    }))
}

/// Measures reads by one thread while another one writes continuously.
fn wait(opening: Opening) -> Result<Closed, Failure> {
    let map = map_of(&opening, ENTRIES_MAX)?;
    let keys = trace::uniform(opening.inputs(), ENTRIES_MAX);
    let (shared, read) = (map.clone(), keys.clone());
    let reader = Workers::start(1, move |share, laps| {
        let mut work = Work::default();
        for k in share.operations() {
            work.check += shared.get(read.at(k)).unwrap_or(0);
            laps.lap();
        }
        work.units = share.len();
        Ok(work)
    })?;
    Ok(opening.serve(|operations| {
        let over = AtomicBool::new(false);
        let begun = AtomicBool::new(false);
        memory::reset_peak()?;
        let mut work = thread::scope(|scope| {
            scope.spawn(|| {
                begun.store(true, Relaxed);
                for key in keys.endless().take_while(|_| !over.load(Relaxed)) {
                    map.put(key, key + 1);
                }
            });
            while !begun.load(Relaxed) {
                thread::yield_now();
            }
            let work = reader.perform(operations);
            over.store(true, Relaxed);
            work
        })?;
        work.metrics.insert("peak", memory::peak()?);
        Ok(work)
    }))
}

/// Measures lost entries: threads put 1,000 new keys into a map that already has 1,000 entries.
///
/// For a safe scheme the check is the number of entries found. The metric is the number of missing
/// entries per 1,000.
fn lost(opening: Opening) -> Result<Closed, Failure> {
    let scheme = opening.text("scheme")?.to_owned();
    let map = Arc::new(RwLock::new(map_of(&opening, OLD_KEYS)?));
    let shared = map.clone();
    let workers = Workers::start(threads(&opening)?, move |share, _| {
        let map = shared
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for k in share.operations() {
            map.put(OLD_KEYS + k, OLD_KEYS + k + 1);
        }
        Ok(Work::default())
    })?;
    Ok(opening.serve(|operations| {
        let mut found = 0;
        let mut is_safe = true;
        for _ in 0..operations {
            let new: Arc<dyn SharedMap> = shared_map(&scheme, OLD_KEYS)?.into();
            *map.write().unwrap_or_else(PoisonError::into_inner) = new.clone();
            workers.perform(NEW_KEYS)?;
            found += new.len() as u64 - OLD_KEYS;
            is_safe = new.is_safe();
        }
        let mut work = Work::default();
        work.units = operations * NEW_KEYS;
        work.check = if is_safe { found } else { work.units };
        let lost = (work.units - found) as f64 / operations as f64;
        work.metrics.insert("lost", lost);
        Ok(work)
    }))
}
