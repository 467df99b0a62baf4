// SPDX-License-Identifier: Apache-2.0
//! The pilot of a subject: finds the number of operations per batch, and the number of batches
//! until the subject is steady.

use crate::batches::open_case::OpenCase;
use crate::subject::fault::SubjectResult;
use crate::subject::process::{BatchResult, SubjectProcess};
use lab_host::procfs;
use lab_model::{Batch, Check, Pilot, Plan, PointId, SubjectId, WarmUp};
use lab_stats::helpers::{self, STILL_COMPILING, cores_used};
use lab_stats::pilot_time::{MAX_FRACTIONS, part_of_budget};
use lab_stats::warmup;
use nix::unistd::Pid;
use std::time::{Duration, Instant};

/// The number of batches after which the pilot first checks for a steady state. Each further check
/// comes after 1.5 times as many batches.
const FIRST_CHECK: usize = 30;

/// The maximum unsteady part of a pilot: a subject is steady if at most 1 / `UNSTEADY_DIVISOR` of
/// its batches came before its steady state.
const UNSTEADY_DIVISOR: usize = 2;

/// The counterpart of [`UNSTEADY_DIVISOR`] for a subject whose helper threads compile.
const UNSTEADY_DIVISOR_WITH_HELPERS: usize = 3;

/// The maximum CPU time of helper threads that do not compile, as a fraction of the process's CPU time.
///
/// For example, the helper threads of an Ada program wait from its start to its end.
const BUSY_HELPERS: f64 = 0.02;

/// Languages whose programs are compiled before they run.
const COMPILED_LANGUAGES: [&str; 12] = [
    "Ada", "C", "C++", "D", "Fortran", "Go", "Haskell", "Nim", "OCaml", "Rust", "Swift", "Zig",
];

/// The number of last warm-up batches in which busy helper threads mean that code is still being
/// compiled.
const LAST_BATCHES: usize = 8;

/// The minimum CPU time of a process, in ns, over which its helper threads are judged.
///
/// On a busy machine, the threads of a process take turns in time slices of a few milliseconds. Over
/// only a few slices, a helper thread that compiles may not have run at all.
const MIN_JUDGED_NS: u64 = 150_000_000;

/// The maximum duration of a pilot's batch in ns, regardless of the length of measured batches.
///
/// Otherwise, in an experiment with hundreds of subjects and points, the pilots would take longer than the blocks.
const MAX_PILOT_BATCH_NS: u64 = 20_000_000;

/// The maximum number of operations of a batch.
const MAX_OPERATIONS: u64 = 1 << 32;

/// The minimum number of batches in a pilot that has run out of time.
const MIN_BATCHES_WITHOUT_TIME: usize = 4;

/// The number of batches per check of the subject's work. On a server, a check takes longer than a
/// batch.
const CHECKED_TOGETHER: usize = 16;

/// The maximum number of attempts to find a batch that takes at least half a turn.
const MAX_FITTINGS: u32 = 8;

/// The minimum time for repeating a truncated pilot, as a multiple of the time that its batches
/// took.
const MIN_REPEAT_FACTOR: u32 = 2;

/// Returns a note if the pilots exceeded their fraction of the budget although each pilot was as
/// short as possible.
pub fn overrun(plan: &Plan, pilots: usize, took: Duration) -> Option<String> {
    let budget = Duration::from_nanos(plan.measure.budget_ns?);
    let part = part_of_budget(budget, pilots);
    (took > part).then(|| {
        format!(
            "the pilots took {:.1} s of the requested {:.1} s: increase --budget, or select \
            fewer subjects or points",
            took.as_secs_f64(),
            budget.as_secs_f64(),
        )
    })
}

/// Returns true if the pilot of an earlier session must be repeated, because it was truncated and
/// now has more time.
pub fn is_repeated(earlier: &Pilot, max_time: Option<Duration>) -> bool {
    let took_ns = earlier.own_batches().iter().map(|b| b.wall_ns).sum();
    let took = Duration::from_nanos(took_ns);
    earlier.class == WarmUp::CutShort
        && max_time.is_none_or(|max_time| max_time > took * MIN_REPEAT_FACTOR)
}

/// Returns true if starting a process takes more than a quarter of `max_time`, the maximum duration
/// of each pilot. In this case, the next pilots reuse the process.
pub fn keeps_process(startup_ns: u64, max_time: Option<Duration>) -> bool {
    max_time
        .is_some_and(|max_time| Duration::from_nanos(startup_ns) > max_time / (2 * MAX_FRACTIONS))
}

/// Runs batches of a point until the subject is steady, the maximum number of batches is reached,
/// or the time `max_time` has passed.
///
/// Returns the pilot and its last batch.
pub fn pilot(
    process: &mut SubjectProcess,
    visit: &mut OpenCase,
    plan: &Plan,
    (subject, point): (SubjectId, PointId),
    max_time: Option<Duration>,
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
    let mut next_check = FIRST_CHECK;
    let max_batches = (plan.measure.max_warmup as usize).max(FIRST_CHECK);
    // A subject with concurrent compiler threads needs at least this many batches.
    let min_with_helpers = plan.min_pilot_with_helpers();
    let mut times = Vec::new();
    let turn_ns = plan.turn_ns(point);
    let brief_ns = turn_ns.min(MAX_PILOT_BATCH_NS);
    let max_pilot_ns = plan.max_pilot_ns(point);
    let checks_each = plan.case(point).check == Check::Opens;
    let (mut spent_ns, mut is_cut, mut is_helped) = (0, false, false);
    let workers = plan.workers(point);
    let can_compile = can_compile(&plan.subjects[subject].language);
    let may_compile = |process: &SubjectProcess| {
        let times = ThreadTimes::read(process.pid(), workers);
        can_compile && times.is_some_and(ThreadTimes::has_helpers)
    };
    let is_compiling = |batches: &[Batch]| can_compile && helpers::are_busy(batches, workers);
    // CPU times after each batch, for a process with long operations.
    let mut thread_times = Vec::new();
    // A process with long operations is classified by fewer batches, unless it compiles.
    let goes_on = |batches: &[Batch], spent_ns: u64, times: &[ThreadTimes]| {
        batches.len() < Pilot::MIN_BATCHES
            || spent_ns < max_pilot_ns
            || (batches.len() < min_with_helpers && ThreadTimes::had_busy_helpers(times))
    };
    while batches.len() < max_batches && goes_on(&batches, spent_ns, &thread_times) {
        let is_late = max_time.is_some_and(|max_time| began.elapsed() >= max_time);
        if is_late && batches.len() >= MIN_BATCHES_WITHOUT_TIME {
            let needed = if may_compile(process) {
                min_with_helpers
            } else {
                Pilot::MIN_BATCHES
            };
            // Only the busy helper threads prolonged the pilot.
            is_helped = batches.len() >= Pilot::MIN_BATCHES && spent_ns >= max_pilot_ns;
            is_cut = !is_helped && batches.len() < needed;
            break;
        }
        let operations = operations(&last, brief_ns);
        last = visit.run(process, plan, operations)?;
        batches.push(batch(&last));
        spent_ns += last.wall_ns;
        if can_compile && last.wall_ns * min_with_helpers as u64 > max_pilot_ns {
            thread_times.extend(ThreadTimes::read(process.pid(), workers));
        }
        times.push(last.wall_ns as f64 / last.operations as f64);
        // The kernel's queue of inotify events is short.
        if checks_each || batches.len().is_multiple_of(CHECKED_TOGETHER) {
            visit.check_work(plan)?;
        }
        if batches.len() >= next_check {
            let compiles = may_compile(process);
            if compiles && batches.len() < min_with_helpers {
                next_check = min_with_helpers;
                continue;
            }
            next_check += next_check / 2;
            let part = if compiles {
                UNSTEADY_DIVISOR_WITH_HELPERS
            } else {
                UNSTEADY_DIVISOR
            };
            let steady = warmup::classify(&times).steady_from;
            if steady.is_some_and(|from| from <= times.len() / part) && !is_compiling(&batches) {
                break;
            }
        }
    }
    visit.check_work(plan)?;
    let classified = warmup::classify(&times);
    let steady_from = classified.steady_from;
    let steady_from = steady_from.filter(|_| !is_cut && !is_helped);
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
        class: match (is_cut, is_helped) {
            (true, _) => WarmUp::CutShort,
            (false, true) => WarmUp::NoSteadyState,
            (false, false) => classified.class,
        },
        cold_ns,
        batches,
        ages: Vec::new(),
    };
    Ok((pilot, last))
}

/// Runs batches until one lasts about a turn, starting with `first` operations. One batch is not
/// always enough, because the compiler may become active and change the speed.
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

/// Returns the number of operations that fill a turn of `turn_ns`, based on the last batch. The
/// result is at most eight times the number of operations in that batch.
fn operations(last: &BatchResult, turn_ns: u64) -> u64 {
    let per_operation = last.wall_ns.max(1) as f64 / last.operations as f64;
    let fitting = (turn_ns as f64 / per_operation) as u64;
    fitting.clamp(1, (last.operations * 8).min(MAX_OPERATIONS))
}

/// Returns true if a process's helper threads still compile during its warm-up. The last batches of
/// its pilot show the CPU usage without compiling.
///
/// Total CPU usage alone does not show this: a process that waits for a server may use less than
/// one core even while the compiler runs.
pub fn still_compiles(pilot: &Pilot, warm_up: &[Batch]) -> bool {
    let own = pilot.own_batches();
    let last = &warm_up[warm_up.len().saturating_sub(LAST_BATCHES)..];
    cores_used(last) > cores_used(&own[own.len() - own.len() / 3..]) + STILL_COMPILING
}

/// The CPU time that the threads of a process have used since it started, in ns.
#[derive(Clone, Copy, Debug)]
struct ThreadTimes {
    all: u64,
    /// The CPU time of the helper threads: all threads except the working threads.
    helpers: u64,
}

impl ThreadTimes {
    /// Reads the CPU times of a process. Returns `None` if it has at most `workers` threads. The
    /// `workers` threads with the most CPU time count as the working threads.
    fn read(process: Pid, workers: usize) -> Option<ThreadTimes> {
        let threads = procfs::tasks(process).into_iter();
        let mut used: Vec<u64> = threads.map(|t| procfs::ran_ns(process, t)).collect();
        used.sort_by(|a, b| b.cmp(a));
        (used.len() > workers).then(|| ThreadTimes {
            all: used.iter().sum(),
            helpers: used.iter().skip(workers).sum(),
        })
    }

    /// Returns true if the helper threads may compile. A total of zero means that the kernel does not account for
    /// thread time.
    fn has_helpers(self) -> bool {
        self.all == 0 || self.helpers as f64 > BUSY_HELPERS * self.all as f64
    }

    /// Returns true if the helper threads were busy in the second half of `readings`. If the
    /// process got less than [`MIN_JUDGED_NS`] of CPU time in that half, earlier readings are
    /// included.
    fn had_busy_helpers(readings: &[ThreadTimes]) -> bool {
        let (Some(first), Some(now)) = (readings.first(), readings.last()) else {
            return false;
        };
        let mut earlier = readings[..=readings.len() / 2].iter().rev();
        let before = earlier.find(|before| now.all >= before.all + MIN_JUDGED_NS);
        let before = before.unwrap_or(first);
        let helpers = now.helpers.saturating_sub(before.helpers) as f64;
        let others = now.all.saturating_sub(before.all) as f64 - helpers;
        helpers > STILL_COMPILING * others
    }
}

/// Returns false for languages that are compiled ahead of time: their helper threads do part of the
/// work and never compile.
fn can_compile(language: &str) -> bool {
    !COMPILED_LANGUAGES.contains(&language)
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
    use lab_model::{PointId, SubjectId};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pilots_that_exceeded_their_time_are_recorded() {
        let mut plan = Plan::default();
        assert_eq!(overrun(&plan, 285, SECOND * 15), None);
        plan.measure.budget_ns = Some(70_000_000_000);
        assert!(overrun(&plan, 285, SECOND * 15).is_some());
        assert_eq!(overrun(&plan, 285, SECOND * 13), None);
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
            subject: SubjectId(0),
            point: PointId(0),
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
        let compile = |script: &str, workers: usize| {
            let mut child = std::process::Command::new("python3")
                .args(["-BSc", script])
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let pid = Pid::from_raw(child.id() as i32);
            let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
            let deadline = Instant::now() + SECOND * 60;
            let is_over = || Instant::now() > deadline;
            while procfs::ran_ns(pid, pid) < 100_000_000 && !is_over() {
                std::thread::sleep(Duration::from_millis(5));
            }
            let found = ThreadTimes::read(pid, workers).is_some_and(ThreadTimes::has_helpers);
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!is_over(), "the process used no CPU time: {script}");
            found
        };
        let working = "print(flush=True)\nwhile True: pass";
        let threads = "import hashlib, threading, time\n";
        let start = |work: &str| {
            format!("{threads}threading.Thread(target={work}, daemon=True).start()\n{working}")
        };
        assert!(!compile(working, 1));
        assert!(!compile(&start("lambda: time.sleep(60)"), 1));
        let helped = start("lambda: [hashlib.sha256(bytes(1 << 20)) for _ in iter(int, 1)]");
        assert!(compile(&helped, 1));
        // Both threads work, as the parameter says.
        assert!(!compile(&helped, 2));
        assert!(can_compile("Java") && can_compile("") && !can_compile("Go"));
    }

    #[test]
    fn helper_threads_are_judged_over_enough_cpu_time() {
        // Each pair is what the working thread and the helper threads used in a batch, in ms.
        let busy = |batches: &[(u64, u64)]| {
            let mut sum = ThreadTimes { all: 0, helpers: 0 };
            let readings = batches.iter().map(|(worker, helpers)| {
                sum.all += (worker + helpers) * 1_000_000;
                sum.helpers += helpers * 1_000_000;
                sum
            });
            ThreadTimes::had_busy_helpers(&readings.collect::<Vec<_>>())
        };
        assert!(!busy(&[]) && !busy(&[(50, 50)]));
        assert!(busy(&[(25, 25); 9]));
        assert!(!busy(&[(50, 0); 9]) && !busy(&[(0, 0); 9]));
        // The helper threads stopped: the second half counts.
        assert!(!busy(&[[(25, 25); 4].as_slice(), &[(50, 0); 4]].concat()));
        // On a busy machine, they got no time slice in the second half.
        assert!(busy(&[[(4, 4); 5].as_slice(), &[(4, 0); 4]].concat()));
        // A subject that sleeps, with idle threads.
        assert!(!busy(&[(1, 0); 9]));
    }

    #[test]
    fn processes_are_kept_only_if_starting_takes_most_of_the_time() {
        let ms = |ms: u64| ms * 1_000_000;
        let max_time = Some(Duration::from_millis(480));
        assert!(!keeps_process(ms(2), max_time) && !keeps_process(ms(100), max_time));
        assert!(keeps_process(ms(150), max_time));
        assert!(!keeps_process(ms(5000), None));
    }
}
