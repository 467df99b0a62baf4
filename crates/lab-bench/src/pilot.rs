// SPDX-License-Identifier: Apache-2.0
//! The pilot: how many operations make a batch, and how many batches until a subject is steady.

use crate::fault::SubjectResult;
use crate::process::{BatchResult, SubjectProcess, connection_lost};
use crate::visit::OpenCase;
use lab_model::{Batch, Check, Pilot, Plan, PointId, SubjectId, WarmUp};
use lab_services::procfs;
use lab_stats::warmup;
use std::time::{Duration, Instant};

/// Batches after which the pilot looks whether the subject is steady; then at half as many again, and so on.
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

/// The fewest batches of a pilot that has no time.
const MIN_BATCHES_WITHOUT_TIME: usize = 4;

/// So many batches are checked together. On a server a check takes longer than a batch.
const CHECKED_TOGETHER: usize = 16;

/// The most batches that are tried until one lasts at least half a turn.
const MOST_FITTINGS: u32 = 8;

/// All pilots of a run with a budget take this part of it at the most, as a divisor.
const BUDGET_PART: u32 = 10;

/// What follows the pilots, such as computing what batches must yield, has this part of their time, as a divisor.
const RESERVE_PART: u32 = 10;

/// One pilot may have so many times its share of the time that is left: others need less.
const SHARES: u32 = 2;

/// The time of all pilots of a run; `None`: as long as they need.
pub fn time_of_all(plan: &Plan) -> Option<Duration> {
    let all = Duration::from_nanos(plan.measure.budget_ns?) / BUDGET_PART;
    Some(all - all / RESERVE_PART)
}

/// Says that the pilots took more than their part of the budget, where they did: each has its shortest length.
pub fn overrun(plan: &Plan, took: Duration) -> Option<String> {
    let budget = Duration::from_nanos(plan.measure.budget_ns?);
    (took > budget / BUDGET_PART).then(|| {
        format!(
            "the pilots took {:.0} s of the {:.0} s that were asked for, more than a tenth: so many subjects and points \
             need a longer --budget, or fewer of them can be chosen",
            took.as_secs_f64(),
            budget.as_secs_f64(),
        )
    })
}

/// The longest time of one of `left` pilots, which have `all` together, of which `spent` is over.
pub fn share(all: Duration, spent: Duration, left: usize) -> Duration {
    let rest = all.saturating_sub(spent);
    (rest * SHARES / left.max(1) as u32).min(rest)
}

/// Whether a process that takes so long to start is kept for the next pilots, which have `share` each: starting another one
/// would take most of that.
pub fn keeps_process(startup_ns: u64, share: Option<Duration>) -> bool {
    share.is_some_and(|share| Duration::from_nanos(startup_ns) > share / (2 * SHARES))
}

/// Runs a point until the subject is steady, the most batches are done, or `longest` is over. Returns the pilot and its last
/// batch.
pub fn pilot(
    process: &mut SubjectProcess,
    visit: &mut OpenCase,
    plan: &Plan,
    (subject, point): (SubjectId, PointId),
    longest: Option<Duration>,
) -> SubjectResult<(Pilot, BatchResult)> {
    let began = Instant::now();
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
    // A subject whose compilers work beside it is not known after fewer batches.
    let min_batches = if has_helpers {
        FIRST_LOOK_WITH_HELPERS.min(max_batches)
    } else {
        MIN_BATCHES
    };
    let mut times = Vec::new();
    let turn_ns = plan.turn_ns(point);
    let brief_ns = turn_ns.min(MAX_PILOT_BATCH_NS);
    let longest_ns = plan.longest_pilot_ns(point);
    let checks_each = plan.case(point).check == Check::Opens;
    let (mut spent_ns, mut is_cut) = (0, false);
    while batches.len() < max_batches && (batches.len() < MIN_BATCHES || spent_ns < longest_ns) {
        let is_late = longest.is_some_and(|longest| began.elapsed() >= longest);
        if is_late && batches.len() >= MIN_BATCHES_WITHOUT_TIME {
            is_cut = batches.len() < min_batches;
            break;
        }
        let operations = operations(&last, brief_ns);
        last = visit.run(process, plan, operations)?;
        batches.push(batch(&last));
        spent_ns += last.wall_ns;
        times.push(last.wall_ns as f64 / last.operations as f64);
        // The system's queue of openings is short.
        if checks_each || batches.len().is_multiple_of(CHECKED_TOGETHER) {
            visit.check_work(plan)?;
        }
        if batches.len() >= next_look {
            next_look += next_look / 2;
            let steady = warmup::classify(&times).steady_from;
            if steady.is_some_and(|from| from <= times.len() / 2) && !is_compiling(&batches) {
                break;
            }
        }
    }
    visit.check_work(plan)?;
    let classified = warmup::classify(&times);
    let steady_from = classified.steady_from.filter(|_| !is_cut);
    let steady_from = steady_from.unwrap_or(times.len());
    let steady = lab_stats::order::median(&times[steady_from.min(times.len() * 3 / 4)..]);
    let operations = (turn_ns as f64 / steady.unwrap_or(1.0).max(1e-3)) as u64;
    let last = fitting(process, visit, plan, (turn_ns, operations), &mut batches)?;
    let warmup = (steady_from as u64 * brief_ns).div_ceil(turn_ns);
    let pilot = Pilot {
        subject,
        point,
        operations: last.operations,
        warmup_batches: (warmup as u32).max(1),
        class: if is_cut {
            WarmUp::NoSteadyState
        } else {
            classified.class
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long all pilots take, where each needs so much, and how many of them were cut.
    fn take(all: Duration, needs: &[Duration]) -> (Duration, usize) {
        let (mut spent, mut cut) = (Duration::ZERO, 0);
        for (done, &need) in needs.iter().enumerate() {
            let longest = share(all, spent, needs.len() - done);
            cut += usize::from(need > longest);
            spent += need.min(longest);
        }
        (spent, cut)
    }

    #[test]
    fn pilots_never_take_more_than_their_part() {
        for seconds in [1, 7, 30, 60] {
            let all = SECOND * seconds;
            for need in [5, 50, 500, 5000].map(Duration::from_millis) {
                let (spent, cut) = take(all, &[need; 264]);
                assert!(spent <= all, "{all:?} {need:?} {spent:?}");
                assert_eq!(cut == 0, need * 264 <= all, "{all:?} {need:?}");
            }
        }
    }

    #[test]
    fn a_long_pilot_has_the_time_of_short_ones() {
        let needs: Vec<Duration> = (0..264)
            .map(|i| Duration::from_millis(if i % 8 == 0 { 350 } else { 60 }))
            .collect();
        assert_eq!(take(SECOND * 60, &needs).1, 0);
    }

    #[test]
    fn processes_are_kept_only_where_starting_them_takes_most_of_the_time() {
        let ms = |ms: u64| ms * 1_000_000;
        let share = Some(Duration::from_millis(480));
        assert!(!keeps_process(ms(2), share) && !keeps_process(ms(100), share));
        assert!(keeps_process(ms(150), share));
        assert!(!keeps_process(ms(5000), None));
    }
}
