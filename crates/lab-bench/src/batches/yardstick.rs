// SPDX-License-Identifier: Apache-2.0
//! The baseline during the pilot of another subject.
//!
//! The two subjects alternate as in a block, so that the subject's level (its steady time per
//! operation) can be expressed as a multiple of the baseline's level at the same speed of the
//! machine.

use crate::batches::open_case::{LEAD_IN, OpenCase};
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::{BatchResult, SubjectProcess};
use lab_model::{Age, Batch, Pilot, Plan};
use std::time::{Duration, Instant};

/// The number of turns of each subject. The turns are in the order A B B A.
const PAIRS: usize = 8;

/// The minimum number of turns that determine a subject's level.
const MIN_PAIRS: usize = lab_stats::steady::MIN_PAIRS;

/// A process of the baseline that has opened the point. Its times show the speed of the machine.
pub struct Yardstick {
    process: SubjectProcess,
    visit: OpenCase,
    operations: u64,
    is_broken: bool,
}

impl Yardstick {
    /// Creates a yardstick from a warm, frozen process with the point open. Its batches have `operations` operations.
    pub fn new(process: SubjectProcess, visit: OpenCase, operations: u64) -> Yardstick {
        Yardstick {
            process,
            visit,
            operations,
            is_broken: false,
        }
    }

    /// Runs turns of a warm subject alternately with turns of the baseline, and adds the subject's
    /// turns to its pilot. Does nothing if `max_time` is too short.
    pub fn compare(
        &mut self,
        plan: &Plan,
        process: &mut SubjectProcess,
        visit: &mut OpenCase,
        pilot: &mut Pilot,
        max_time: Option<Duration>,
    ) -> SubjectResult<()> {
        let turn = Duration::from_nanos(plan.turn_ns(pilot.point));
        let min_time = turn * 2 * MIN_PAIRS as u32;
        if self.is_broken || max_time.is_some_and(|max_time| min_time > max_time) {
            return Ok(());
        }
        let began = Instant::now();
        // As in a block, file opens are not counted.
        visit.stop_counting_opens();
        let mut last_was_baseline = None;
        let (mut own, mut baseline) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            if pair >= MIN_PAIRS && max_time.is_some_and(|max_time| began.elapsed() > max_time / 2)
            {
                break;
            }
            for is_baseline in [pair % 2 == 1, pair % 2 == 0] {
                if last_was_baseline == Some(!is_baseline) {
                    self.check(plan, visit, !is_baseline)?;
                }
                last_was_baseline = Some(is_baseline);
                if !is_baseline {
                    own.push(take_turn(plan, process, visit, pilot.operations)?);
                } else if !self.is_broken {
                    let turn = take_turn(plan, &mut self.process, &mut self.visit, self.operations);
                    baseline.extend(self.unless_broken(turn)?);
                }
            }
        }
        if let Some(is_baseline) = last_was_baseline {
            self.check(plan, visit, is_baseline)?;
        }
        visit.count_opens(plan)?;
        process.wake()?;
        if self.is_broken {
            return Ok(());
        }
        let mut age = Age {
            requests: pilot.batches.iter().map(|b| b.operations).sum(),
            cpu_ns: pilot.batches.iter().map(|b| b.cpu_ns).sum(),
            wall_ns: pilot.batches.iter().map(|b| b.wall_ns).sum(),
            ..Age::default()
        };
        for (own, baseline) in own.iter().zip(&baseline) {
            age.requests += own.operations;
            age.cpu_ns += own.cpu_ns;
            age.wall_ns += own.wall_ns;
            (age.baseline_requests, age.baseline_cpu_ns) = (baseline.operations, baseline.wall_ns);
            pilot.ages.push(age);
            pilot.batches.push(Batch {
                operations: own.operations,
                wall_ns: own.wall_ns,
                cpu_ns: own.cpu_ns,
                server_cpu_ns: None,
            });
        }
        Ok(())
    }

    /// Closes the point. Returns the process, pinned to `core` if given, or `None` if the baseline
    /// failed.
    pub fn close(mut self, core: Option<usize>) -> Option<SubjectProcess> {
        let woken = self.process.wake();
        let closed = woken.and_then(|()| self.process.close());
        let closed = closed.and_then(|()| core.map_or(Ok(()), |core| self.process.keep_on(core)));
        (!self.is_broken && closed.is_ok()).then_some(self.process)
    }

    fn check(&mut self, plan: &Plan, visit: &mut OpenCase, is_baseline: bool) -> SubjectResult<()> {
        if !is_baseline {
            return visit.check_work(plan);
        }
        let checked = self.visit.check_work(plan);
        self.unless_broken(checked).map(drop)
    }

    /// Returns `None` if the baseline fails, because the other subject is not at fault. The failure
    /// is reported later, when the baseline also fails in the blocks.
    fn unless_broken<T>(&mut self, result: SubjectResult<T>) -> SubjectResult<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Failed(..)) => {
                self.is_broken = true;
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Runs a turn as in a block: wakes the process, runs the lead-in and then a batch, and freezes the
/// process.
fn take_turn(
    plan: &Plan,
    process: &mut SubjectProcess,
    visit: &mut OpenCase,
    operations: u64,
) -> SubjectResult<BatchResult> {
    process.wake()?;
    visit.run(process, plan, (operations / LEAD_IN).max(1))?;
    let result = visit.run(process, plan, operations)?;
    process.freeze()?;
    Ok(result)
}
