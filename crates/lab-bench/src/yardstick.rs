// SPDX-License-Identifier: Apache-2.0
//! The baseline beside the pilot of another subject: both take turns as in a block, so that the level of the pilot is known
//! as a multiple of the baseline's at the same speed of the machine.

use crate::fault::{Fault, SubjectResult};
use crate::process::{BatchResult, SubjectProcess};
use crate::visit::{LEAD_IN, OpenCase};
use lab_model::{Age, Batch, Pilot, Plan};
use std::time::{Duration, Instant};

/// Turns of each of the two, in the order A B B A: on a server the work of the one is checked before the other's begins.
const PAIRS: usize = 8;

/// The fewest turns that show a level.
const MIN_PAIRS: usize = lab_stats::steady::MIN_PAIRS;

/// The baseline's process, with the point open.
pub struct Yardstick {
    process: SubjectProcess,
    visit: OpenCase,
    operations: u64,
    is_broken: bool,
}

impl Yardstick {
    /// Uses a warm and frozen process that has the point open, in batches of `operations`.
    pub fn new(process: SubjectProcess, visit: OpenCase, operations: u64) -> Yardstick {
        Yardstick {
            process,
            visit,
            operations,
            is_broken: false,
        }
    }

    /// Has a warm subject take turns with the baseline, and adds them to its pilot, unless `longest` is too short for them.
    pub fn compare(
        &mut self,
        plan: &Plan,
        process: &mut SubjectProcess,
        visit: &mut OpenCase,
        pilot: &mut Pilot,
        longest: Option<Duration>,
    ) -> SubjectResult<()> {
        let turn = Duration::from_nanos(plan.turn_ns(pilot.point));
        let least = turn * 2 * MIN_PAIRS as u32;
        if self.is_broken || longest.is_some_and(|longest| least > longest) {
            return Ok(());
        }
        let began = Instant::now();
        // As in a block.
        visit.stop_counting_opens();
        let mut last_was_baseline = None;
        let (mut own, mut baseline) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            if pair >= MIN_PAIRS && longest.is_some_and(|longest| began.elapsed() > longest / 2) {
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

    /// Closes the point. Returns the process, on a core of its own if one is given, unless the baseline failed.
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

    /// A baseline that fails here is no fault of the other subject: it fails in the blocks, too, and is shown then.
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

/// A turn as in a block: woken, a part of a batch that does not count, a batch, and frozen again.
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
