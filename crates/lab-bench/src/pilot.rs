// SPDX-License-Identifier: Apache-2.0
//! The pilot: how many operations make a batch, and how many batches until a subject is steady.

use crate::fault::SubjectResult;
use crate::process::{BatchResult, SubjectProcess, connection_lost};
use crate::visit::OpenCase;
use lab_model::{Batch, Pilot, Plan, PointId, SubjectId, WarmUp};
use lab_services::procfs;
use lab_stats::warmup;

/// Batches after which the pilot looks whether the subject is steady; then at twice as many, and so on.
const FIRST_LOOK: usize = 30;

/// The first look at a process with helper threads: its compilers act late. (A Java subject that
/// inserts 1,000 rows an operation looks steady for its first 60 batches, and then falls by a third.)
const FIRST_LOOK_WITH_HELPERS: usize = 240;

/// Helper threads that use more than this part of the measured time are still compiling, however steady the times are.
/// (A Java subject's used up to 100 % while its times still fell, and below 20 % afterwards.)
const STILL_COMPILING: f64 = 0.25;

/// The longest batch of a pilot, ns, however long measured batches are: the pilots of an experiment with hundreds of
/// subjects and points would take longer than its blocks.
const MAX_PILOT_BATCH_NS: u64 = 20_000_000;

/// The most operations of a batch.
const MAX_OPERATIONS: u64 = 1 << 32;

/// The fewest batches of a pilot whose operations are long; else it ends when its time is spent.
const MIN_BATCHES: usize = 10;

/// The most batches that are tried until one lasts at least half a turn.
const MOST_FITTINGS: u32 = 8;

/// Where a turn is long because its operations run at once, a pilot has this part of its usual time.
const SHORTER: u64 = 4;

/// Runs a point in a fresh process until it is steady or the most batches are done. Returns the pilot and its last
/// batch.
pub fn pilot(
    process: &mut SubjectProcess,
    visit: &mut OpenCase,
    plan: &Plan,
    subject: SubjectId,
    point: PointId,
) -> SubjectResult<(Pilot, BatchResult)> {
    let cold = visit.run(process, plan, 1)?;
    visit.check_work(plan)?;
    let mut batches = vec![batch(&cold)];
    let cold_ns = cold.wall_ns;
    if let Some(operations) = plan.fixed_operations(point) {
        let pilot = Pilot {
            subject,
            point,
            operations,
            warmup_batches: 0,
            class: WarmUp::Flat,
            cold_ns,
            batches,
            ages: Vec::new(),
        };
        return Ok((pilot, cold));
    }
    let mut last = cold;
    let has_helpers = procfs::usage(process.pid())
        .map_err(connection_lost)?
        .threads
        > 1;
    let mut next_look = if has_helpers {
        FIRST_LOOK_WITH_HELPERS
    } else {
        FIRST_LOOK
    };
    let max_batches = (plan.measure.max_warmup as usize).max(FIRST_LOOK);
    let mut times = Vec::new();
    let turn_ns = plan.turn_ns(point);
    let brief_ns = turn_ns.min(MAX_PILOT_BATCH_NS);
    let is_long = turn_ns > plan.measure.turn_ns;
    let patience_ns = max_batches as u64 * plan.measure.turn_ns / if is_long { SHORTER } else { 1 };
    let mut spent_ns = 0;
    while batches.len() < max_batches && (batches.len() < MIN_BATCHES || spent_ns < patience_ns) {
        let operations = operations(&last, brief_ns);
        last = visit.run(process, plan, operations)?;
        visit.check_work(plan)?;
        batches.push(batch(&last));
        spent_ns += last.wall_ns;
        times.push(last.wall_ns as f64 / last.operations as f64);
        if batches.len() >= next_look {
            next_look *= 2;
            let steady = warmup::classify(&times).steady_from;
            if steady.is_some_and(|from| from <= times.len() / 2) && !is_compiling(&batches) {
                break;
            }
        }
    }
    let classified = warmup::classify(&times);
    let steady_from = classified.steady_from.unwrap_or(times.len());
    let steady = lab_stats::order::median(&times[steady_from.min(times.len() * 3 / 4)..]);
    let operations = (turn_ns as f64 / steady.unwrap_or(1.0).max(1e-3)) as u64;
    let last = fitting(process, visit, plan, (turn_ns, operations), &mut batches)?;
    let warmup = (steady_from as u64 * brief_ns).div_ceil(turn_ns);
    let pilot = Pilot {
        subject,
        point,
        operations: last.operations,
        warmup_batches: (warmup as u32).max(1),
        class: classified.class,
        cold_ns,
        batches,
        ages: Vec::new(),
    };
    Ok((pilot, last))
}

/// Batches until one lasts about a turn, of so many operations at first: a compiler may have become busy only now.
fn fitting(
    process: &mut SubjectProcess,
    visit: &mut OpenCase,
    plan: &Plan,
    (turn_ns, first): (u64, u64),
    batches: &mut Vec<Batch>,
) -> SubjectResult<BatchResult> {
    let mut run = |count: u64| {
        let result = visit.run(process, plan, count.clamp(1, MAX_OPERATIONS))?;
        visit.check_work(plan)?;
        batches.push(batch(&result));
        Ok(result)
    };
    let mut last = run(first)?;
    for _ in 1..MOST_FITTINGS {
        if last.wall_ns >= turn_ns / 2 {
            break;
        }
        last = run(operations(&last, turn_ns))?;
    }
    Ok(last)
}

/// The operations that would have filled a turn of this length, at most eight times as many as before.
fn operations(last: &BatchResult, turn_ns: u64) -> u64 {
    let per_operation = last.wall_ns.max(1) as f64 / last.operations as f64;
    let fitting = (turn_ns as f64 / per_operation) as u64;
    fitting.clamp(1, (last.operations * 8).min(MAX_OPERATIONS))
}

/// Whether helper threads were busy in the later half of the batches.
fn is_compiling(batches: &[Batch]) -> bool {
    let later = &batches[batches.len() / 2..];
    let wall: u64 = later.iter().map(|b| b.wall_ns).sum();
    let cpu: u64 = later.iter().map(|b| b.cpu_ns).sum();
    cpu as f64 > wall as f64 * (1.0 + STILL_COMPILING)
}

fn batch(result: &BatchResult) -> Batch {
    Batch {
        operations: result.operations,
        wall_ns: result.wall_ns,
        cpu_ns: result.cpu_ns,
        server_cpu_ns: None,
    }
}
