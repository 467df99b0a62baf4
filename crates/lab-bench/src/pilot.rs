// SPDX-License-Identifier: Apache-2.0
//! The pilot: determines the number of operations per batch, and the number of batches until a subject is steady.

use crate::fault::SubjectResult;
use crate::process::{BatchResult, SubjectProcess};
use crate::visit::OpenCase;
use lab_host::procfs;
use lab_model::{Batch, Check, Pilot, Plan, PointId, SubjectId, WarmUp};
use lab_stats::warmup;
use nix::unistd::Pid;
use std::time::{Duration, Instant};

/// The number of batches after which the pilot first checks for a steady subject. Each further check follows after
/// half as many again.
const FIRST_LOOK: usize = 30;

/// A subject is steady if at most this fraction of its batches came before the steady state (as a divisor).
const UNSTEADY_PART: usize = 2;

/// The same divisor for a subject whose helper threads compile.
const UNSTEADY_PART_WITH_HELPERS: usize = 3;

/// The minimum CPU time of helper threads that counts as compiling, as a fraction of the measured time.
///
/// It applies however steady the times are. (A Java subject's helper threads used up to 100 % while its times still
/// fell, and less than 20 % afterwards.)
const STILL_COMPILING: f64 = 0.25;

/// The maximum CPU time of helper threads that do not compile, as a fraction of the process's CPU time.
///
/// (The helper threads of an Ada program wait from its start to its end.)
const BUSY_HELPERS: f64 = 0.02;

/// The number of most recent batches in which a warm-up checks for compiling helper threads.
const LAST_BATCHES: usize = 8;

/// The maximum duration of a pilot's batch in ns, regardless of the length of measured batches.
///
/// Otherwise, in an experiment with hundreds of subjects and points, the pilots would take longer than the blocks.
const MAX_PILOT_BATCH_NS: u64 = 20_000_000;

/// The maximum number of operations of a batch.
const MAX_OPERATIONS: u64 = 1 << 32;

/// The minimum number of batches of a pilot with long operations. Other pilots end when their time is used up.
const MIN_BATCHES: usize = 10;

/// The minimum number of batches of a pilot that has no time left.
const MIN_BATCHES_WITHOUT_TIME: usize = 4;

/// The number of batches that are checked together. On a server, a check takes longer than a batch.
const CHECKED_TOGETHER: usize = 16;

/// The maximum number of attempts to find a batch that takes at least half a turn.
const MAX_FITTINGS: u32 = 8;

/// The maximum fraction of a run's budget for all pilots, as a divisor.
const BUDGET_PART: u32 = 10;

/// The same divisor if so many pilots would otherwise have less than [`NEEDED`] each.
const MAX_BUDGET_PART: u32 = 5;

/// The mean time that pilots need if some of them compile.
const NEEDED: Duration = Duration::from_millis(250);

/// The fraction of the pilots' time that is reserved for the work after them, as a divisor.
///
/// This work includes computing the required results of batches.
const RESERVE_PART: u32 = 10;

/// A pilot may take this many times its fraction of the remaining time, because others need less.
const SHARES: u32 = 2;

/// A truncated pilot is repeated if its available time is at least this many times the duration of its batches.
const LONGER: u32 = 2;

/// Each pilot is guaranteed this fraction of an equal part of the time (as a divisor).
const RESERVED: u32 = 2;

/// The total time for all pilots of a run.
#[derive(Clone, Copy, Debug)]
pub struct PilotTime {
    all: Duration,
    /// The minimum time for each pilot.
    reserved: Duration,
}

impl PilotTime {
    /// Returns the time for a number of pilots. `None` means as long as they need.
    pub fn new(plan: &Plan, pilots: usize) -> Option<PilotTime> {
        let all = part_of_budget(plan, pilots)?;
        Some(PilotTime::of(all - all / RESERVE_PART, pilots))
    }

    /// Divides the time `all` among a number of pilots.
    pub fn of(all: Duration, pilots: usize) -> PilotTime {
        PilotTime {
            all,
            reserved: all / (RESERVED * pilots.max(1) as u32),
        }
    }

    /// Returns true if pilots that took `spent` together have used up all the time.
    pub fn is_used_up(self, spent: Duration) -> bool {
        spent >= self.all
    }

    /// Returns the maximum time of one of `left` remaining pilots, when all pilots so far took `spent`.
    pub fn share(self, spent: Duration, left: usize) -> Duration {
        let left = left.max(1) as u32;
        let rest = self.all.saturating_sub(spent);
        let free = rest.saturating_sub(self.reserved * (left - 1));
        (rest * SHARES / left).min(free).max(self.reserved)
    }
}

/// Returns the time that a number of pilots may take from a run's budget.
fn part_of_budget(plan: &Plan, pilots: usize) -> Option<Duration> {
    let budget = Duration::from_nanos(plan.measure.budget_ns?);
    let needed = NEEDED * pilots as u32;
    Some(needed.clamp(budget / BUDGET_PART, budget / MAX_BUDGET_PART))
}

/// Reports that pilots took more than their fraction of the budget, even though each was as short as possible.
pub fn overrun(plan: &Plan, pilots: usize, took: Duration) -> Option<String> {
    let part = part_of_budget(plan, pilots)?;
    let budget = Duration::from_nanos(plan.measure.budget_ns?);
    (took > part).then(|| {
        format!(
            "the pilots took {:.1} s of the requested {:.1} s: this number of subjects and points needs a longer \
             --budget; or select fewer of them",
            took.as_secs_f64(),
            budget.as_secs_f64(),
        )
    })
}

/// Returns true if the pilot of an earlier session must be repeated because it was truncated and more time is
/// available.
pub fn is_repeated(earlier: &Pilot, share: Option<Duration>) -> bool {
    let took_ns = earlier.own_batches().iter().map(|b| b.wall_ns).sum();
    let took = Duration::from_nanos(took_ns);
    earlier.class == WarmUp::CutShort && share.is_none_or(|share| share > took * LONGER)
}

/// Returns true if a process is reused by the next pilots because of its long start-up time.
///
/// Each of these pilots has `share`, and starting another process would use up most of it.
pub fn keeps_process(startup_ns: u64, share: Option<Duration>) -> bool {
    share.is_some_and(|share| Duration::from_nanos(startup_ns) > share / (2 * SHARES))
}

/// Runs a point until the subject is steady, the maximum number of batches is reached, or `longest` is over.
///
/// Returns the pilot and its last batch.
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
    let mut next_look = FIRST_LOOK;
    let max_batches = (plan.measure.max_warmup as usize).max(FIRST_LOOK);
    // A subject with concurrent compiler threads needs at least this many batches.
    let min_with_helpers = plan.min_pilot_with_helpers();
    let mut times = Vec::new();
    let turn_ns = plan.turn_ns(point);
    let brief_ns = turn_ns.min(MAX_PILOT_BATCH_NS);
    let longest_ns = plan.longest_pilot_ns(point);
    let checks_each = plan.case(point).check == Check::Opens;
    let (mut spent_ns, mut is_cut) = (0, false);
    while batches.len() < max_batches && (batches.len() < MIN_BATCHES || spent_ns < longest_ns) {
        let is_late = longest.is_some_and(|longest| began.elapsed() >= longest);
        if is_late && batches.len() >= MIN_BATCHES_WITHOUT_TIME {
            let needed = if may_compile(process.pid()) {
                min_with_helpers
            } else {
                MIN_BATCHES
            };
            is_cut = batches.len() < needed;
            break;
        }
        let operations = operations(&last, brief_ns);
        last = visit.run(process, plan, operations)?;
        batches.push(batch(&last));
        spent_ns += last.wall_ns;
        times.push(last.wall_ns as f64 / last.operations as f64);
        // The system's queue of open events is short.
        if checks_each || batches.len().is_multiple_of(CHECKED_TOGETHER) {
            visit.check_work(plan)?;
        }
        if batches.len() >= next_look {
            let compiles = may_compile(process.pid());
            if compiles && batches.len() < min_with_helpers {
                next_look = min_with_helpers;
                continue;
            }
            next_look += next_look / 2;
            let part = if compiles {
                UNSTEADY_PART_WITH_HELPERS
            } else {
                UNSTEADY_PART
            };
            let steady = warmup::classify(&times).steady_from;
            if steady.is_some_and(|from| from <= times.len() / part) && !is_compiling(&batches) {
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
            WarmUp::CutShort
        } else {
            classified.class
        },
        cold_ns,
        batches,
        ages: Vec::new(),
    };
    Ok((pilot, last))
}

/// Runs batches until one takes about a turn, starting with `first` operations. A compiler may have become busy only
/// now.
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
    for _ in 1..MAX_FITTINGS {
        if last.wall_ns >= turn_ns / 2 {
            break;
        }
        last = run(operations(&last, turn_ns))?;
    }
    Ok(last)
}

/// Returns the number of operations that would have filled a turn of this length, at most eight times the previous
/// number.
fn operations(last: &BatchResult, turn_ns: u64) -> u64 {
    let per_operation = last.wall_ns.max(1) as f64 / last.operations as f64;
    let fitting = (turn_ns as f64 / per_operation) as u64;
    fitting.clamp(1, (last.operations * 8).min(MAX_OPERATIONS))
}

/// Returns true if helper threads were busy in the second half of the batches.
fn is_compiling(batches: &[Batch]) -> bool {
    cores_used(&batches[batches.len() / 2..]) > 1.0 + STILL_COMPILING
}

/// Returns the CPU time of batches divided by their duration.
fn cores_used(batches: &[Batch]) -> f64 {
    let wall: u64 = batches.iter().map(|b| b.wall_ns).sum();
    let cpu: u64 = batches.iter().map(|b| b.cpu_ns).sum();
    cpu as f64 / wall.max(1) as f64
}

/// Returns true if the helper threads of a process in its warm-up still compile, unlike in the last batches of its
/// pilot.
///
/// If a warm process waits for a server, the compiler's CPU time need not exceed one core.
pub fn still_compiles(pilot: &Pilot, warm_up: &[Batch]) -> bool {
    let own = pilot.own_batches();
    let last = &warm_up[warm_up.len().saturating_sub(LAST_BATCHES)..];
    cores_used(last) > cores_used(&own[own.len() - own.len() / 3..]) + STILL_COMPILING
}

/// Returns true if a process may compile: its helper threads have used CPU time since it started.
fn may_compile(process: Pid) -> bool {
    let threads = procfs::tasks(process).into_iter();
    let used: Vec<u64> = threads.map(|t| procfs::ran_ns(process, t)).collect();
    let (all, most): (u64, u64) = (used.iter().sum(), used.iter().copied().max().unwrap_or(0));
    // Kernels that do not account for the time of threads report zero.
    used.len() > 1 && (all == 0 || (all - most) as f64 > BUSY_HELPERS * all as f64)
}

/// Creates the record of an unmeasured batch.
pub fn batch(result: &BatchResult) -> Batch {
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

    /// Returns the total time of pilots with these needs, and the number of truncated pilots.
    fn take(all: Duration, needs: &[Duration]) -> (Duration, usize) {
        let (mut spent, mut cut) = (Duration::ZERO, 0);
        let time = PilotTime::of(all, needs.len());
        for (done, &need) in needs.iter().enumerate() {
            let longest = time.share(spent, needs.len() - done);
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
    fn the_last_pilots_have_a_share_whatever_the_others_took() {
        for pilots in [2, 9, 264] {
            let all = SECOND * 54;
            let time = PilotTime::of(all, pilots);
            let mut spent = Duration::ZERO;
            for done in 0..pilots {
                let share = time.share(spent, pilots - done);
                assert!(
                    share >= all / (2 * pilots as u32),
                    "{done} of {pilots}: {share:?}"
                );
                spent += share;
            }
            assert!(spent <= all, "{spent:?}");
            // This holds even if starts took longer than the remaining time.
            assert_eq!(time.share(all + SECOND, 1), all / (2 * pilots as u32));
        }
    }

    fn plan(budget_s: u64) -> Plan {
        let mut plan = Plan::default();
        plan.measure.budget_ns = Some(budget_s * 1_000_000_000);
        plan
    }

    #[test]
    fn all_pilots_have_a_tenth_of_the_budget_and_more_only_where_they_need_it() {
        let all = |budget_s, pilots| part_of_budget(&plan(budget_s), pilots).unwrap();
        assert_eq!(all(600, 240), SECOND * 60);
        assert_eq!(all(600, 280), SECOND * 70);
        assert_eq!(all(600, 10), SECOND * 60);
        assert_eq!(all(70, 40), SECOND * 10);
        assert_eq!(all(70, 285), SECOND * 14);
        assert_eq!(part_of_budget(&Plan::default(), 285), None);
        assert!(overrun(&plan(70), 285, SECOND * 15).is_some());
        assert_eq!(overrun(&plan(70), 285, SECOND * 13), None);
    }

    fn batches(cores: &[f64]) -> Vec<Batch> {
        let batch = |cores: &f64| Batch {
            operations: 1,
            wall_ns: 1_000_000,
            cpu_ns: (cores * 1e6) as u64,
            server_cpu_ns: None,
        };
        cores.iter().map(batch).collect()
    }

    fn cut_short(cores: &[f64], class: WarmUp) -> Pilot {
        Pilot {
            subject: 0,
            point: 0,
            operations: 1,
            warmup_batches: 1,
            class,
            cold_ns: 1,
            batches: batches(cores),
            ages: Vec::new(),
        }
    }

    #[test]
    fn a_pilot_that_was_cut_short_is_repeated_where_there_is_time() {
        let ms = Duration::from_millis;
        let cut = cut_short(&[1.0; 40], WarmUp::CutShort);
        assert!(is_repeated(&cut, Some(ms(100))) && is_repeated(&cut, None));
        assert!(!is_repeated(&cut, Some(ms(60))));
        let steady = cut_short(&[1.0; 40], WarmUp::Flat);
        assert!(!is_repeated(&steady, None));
    }

    #[test]
    fn a_process_compiles_while_it_uses_more_than_the_pilot_in_the_end() {
        // The process either uses all of its core, or waits half of the time for a server.
        for warm in [1.0, 0.5] {
            let cores: Vec<f64> = [2.0; 60].into_iter().chain([warm; 60]).collect();
            let pilot = cut_short(&cores, WarmUp::Warming);
            assert!(still_compiles(&pilot, &batches(&[warm + 0.8; 30])));
            assert!(!still_compiles(&pilot, &batches(&[warm + 0.1; 30])));
            let calm: Vec<f64> = [2.0; 30].into_iter().chain([warm; 8]).collect();
            assert!(!still_compiles(&pilot, &batches(&calm)));
        }
    }

    #[test]
    fn helper_threads_compile_only_if_they_use_cpu_time() {
        // Each case runs in its own process, to exclude the threads of other tests.
        let compile = |script: &str| {
            let mut child = std::process::Command::new("python3")
                .args(["-BSc", script])
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let pid = Pid::from_raw(child.id() as i32);
            let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
            while procfs::ran_ns(pid, pid) < 100_000_000 {
                std::thread::sleep(Duration::from_millis(5));
            }
            let found = may_compile(pid);
            child.kill().unwrap();
            child.wait().unwrap();
            found
        };
        let working = "print(flush=True)\nwhile True: pass";
        let threads = "import hashlib, threading, time\n";
        let start = |work: &str| {
            format!("{threads}threading.Thread(target={work}, daemon=True).start()\n{working}")
        };
        assert!(!compile(working));
        assert!(!compile(&start("lambda: time.sleep(60)")));
        assert!(compile(&start(
            "lambda: [hashlib.sha256(bytes(1 << 20)) for _ in iter(int, 1)]"
        )));
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
