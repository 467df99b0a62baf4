// SPDX-License-Identifier: Apache-2.0
//! Executes a run's blocks, in this process or in other processes.
//!
//! The session decides which blocks are missing and when the run is over.

use crate::driver::block::BlockRun;
use crate::driver::context::{BlockContext, Progress, RunContext, Stop};
use crate::driver::machine::{Machine, ThisMachine};
use crate::driver::pace::{BlockPace, BlockTimes};
use crate::driver::workload::Workload;
use lab_model::{Block, BlockState, Metric, Outcome, Plan, Run};
use lab_plan::Schedule;
use std::time::Duration;

/// The maximum number of server losses per run.
const MAX_LOSSES: u32 = 3;

/// A callback that receives every step.
pub type OnProgress<'t> = &'t mut dyn FnMut(Progress);

/// Measures the blocks of a run.
pub trait Executor {
    /// Returns the machine whose clock times the session.
    fn machine(&self) -> &dyn Machine;

    /// Returns the number of blocks that are measured concurrently.
    fn at_once(&self) -> u32 {
        1
    }

    /// Returns the metrics whose readings the blocks record.
    fn metrics(&self) -> Vec<Metric>;

    /// Does the work required before the first block, unless the run file already contains its results.
    fn prepare(&mut self, run: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop>;

    /// Measures missing blocks until one more block is recorded, whether valid or not.
    fn block(&mut self, run: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop>;

    /// Returns true if the processes of the last block continue with another block.
    fn is_amid_set(&self) -> bool {
        false
    }

    /// Cleans up after the last block, even if the run was stopped.
    fn finish(&mut self, run: &mut RunContext) -> Result<(), Stop>;

    /// Returns true if a run can be resumed after the user stops it. If false, stopping the run
    /// ends it.
    fn can_resume(&self) -> bool {
        true
    }
}

/// Returns the number of the next block to measure, and the number of earlier attempts at it.
///
/// This is the first block that is neither valid nor in `under_way`.
pub fn missing_block(run: &Run, under_way: &[u32]) -> (u32, u32) {
    let counts = |number| run.complete_blocks().any(|b| b.number == number);
    let mut numbers = (0..).filter(|n| !under_way.contains(n) && !counts(*n));
    let number = numbers.next().unwrap_or(u32::MAX);
    let before = run.blocks.iter().filter(|b| b.number == number);
    (number, before.count() as u32)
}

/// An executor that measures on the machine that runs benchlab.
pub struct LocalExecutor<'a> {
    plan: &'a Plan,
    workload: Box<dyn Workload + 'a>,
    machine: Box<dyn Machine + 'a>,
    losses: u32,
    pace: BlockPace,
}

impl<'a> LocalExecutor<'a> {
    /// Creates an executor for the workload of a plan.
    pub fn new(plan: &'a Plan, workload: Box<dyn Workload + 'a>) -> LocalExecutor<'a> {
        LocalExecutor {
            plan,
            workload,
            machine: Box::new(ThisMachine),
            losses: 0,
            pace: BlockPace::new(plan),
        }
    }

    /// Configures the executor for a host that measures single blocks on request, without knowing
    /// the total time of the run.
    pub fn for_single_blocks(self) -> LocalExecutor<'a> {
        LocalExecutor {
            pace: BlockPace::planned(),
            ..self
        }
    }

    /// Replaces the machine, for tests.
    pub fn with_machine(self, machine: Box<dyn Machine + 'a>) -> LocalExecutor<'a> {
        LocalExecutor { machine, ..self }
    }

    /// Returns the outcomes that batches must have.
    pub fn outcomes(&self) -> Vec<Outcome> {
        self.workload.outcomes()
    }

    /// Measures a block. If a server is lost, the block does not count, and the server is restarted.
    pub fn measure(
        &mut self,
        context: &mut RunContext,
        block_and_attempt: (u32, u32),
        on_progress: OnProgress,
    ) -> Result<(), Stop> {
        let measured = self.measure_once(context, block_and_attempt, on_progress);
        measured.or_else(|stop| self.recover(stop, on_progress))
    }

    fn measure_once(
        &mut self,
        context: &mut RunContext,
        (number, attempt): (u32, u32),
        on_progress: OnProgress,
    ) -> Result<(), Stop> {
        let plan = self.plan;
        let cores = self.workload.cores();
        let core = cores[Schedule::new(plan.seed, number).core(cores.len())];
        let set = self.workload.process_set(context);
        self.workload.begin_block(number, core);
        let (began_ns, host) = (self.machine.now_ns(), self.machine.watch());
        let now = self.machine.unix_seconds();
        let writer = context
            .writer
            .begin_block(number, attempt, core as u32, now)?;
        let mut block = Block {
            number,
            attempt,
            core: core as u32,
            started_unix_s: now,
            process_set: set,
            ..Block::default()
        };
        if let Some(set) = set {
            context.writer.process_set(&writer, set)?;
        }
        let is_redone = self.may_redo(&context.run, attempt);
        let mut failures = Vec::new();
        let measuring = BlockContext {
            run: &context.writer,
            writer: &writer,
            block: &mut block,
            participants: &mut context.participants,
            failures: &mut failures,
            progress: &mut *on_progress,
        };
        let (machine, workload) = (&*self.machine, &mut *self.workload);
        let mut running = BlockRun::new(plan, workload, measuring, self.pace, machine);
        // The first block is shorter than the others, so its duration is not used.
        let typical = context.run.complete_blocks().skip(1).last();
        if let Some(typical) = typical.filter(|_| is_redone) {
            running = running.watching(&*host, typical.duration_ns);
        }
        let measured = running.measure();
        let (passes_ns, is_given_up) = (running.passes_ns(), running.is_given_up());
        if let Err(stop) = measured {
            context.run.failures.append(&mut failures);
            block.duration_ns = self.machine.now_ns() - began_ns;
            block.drop_slices();
            context.run.blocks.push(block);
            return Err(stop);
        }
        if self.workload.is_local() {
            block.disturbance = host.disturbance(self.workload.outside_cpu_ns(&block));
        }
        block.state = if is_given_up || is_redone && block.disturbance.disturbed() {
            BlockState::Disturbed
        } else {
            BlockState::Complete
        };
        if !self.workload.keeps_processes(block.state) {
            let ending = BlockContext {
                run: &context.writer,
                writer: &writer,
                block: &mut block,
                participants: &mut context.participants,
                failures: &mut failures,
                progress: &mut *on_progress,
            };
            let (machine, workload) = (&*self.machine, &mut *self.workload);
            BlockRun::new(plan, workload, ending, self.pace, machine).quit()?;
        }
        context.run.failures.append(&mut failures);
        block.duration_ns = self.machine.now_ns() - began_ns;
        writer.finish(block.state, block.duration_ns, &block.disturbance)?;
        block.drop_slices();
        let (state, took) = (block.state, Duration::from_nanos(block.duration_ns));
        let times = BlockTimes {
            total_ns: block.duration_ns,
            passes_ns,
        };
        context.run.blocks.push(block);
        if !is_given_up {
            let complete = context.run.complete_blocks().count() as u32;
            let spent_ns = context.spent_ns + times.total_ns;
            self.pace.adapt(times, complete, spent_ns);
        }
        on_progress(match state {
            BlockState::Complete => Progress::Complete(&context.run, took),
            _ => Progress::Disturbed(number),
        });
        Ok(())
    }

    /// Returns true if the block may be measured again after a disturbance.
    ///
    /// The number of attempts is limited. If the last valid block was disturbed, too, the host
    /// counts as permanently disturbed: blocks are not repeated, and the report mentions the
    /// disturbance.
    fn may_redo(&self, run: &Run, attempt: u32) -> bool {
        let last = run.complete_blocks().last();
        let is_always_disturbed = last.is_some_and(|b| b.disturbance.disturbed());
        let can_redo = self.workload.can_redo_blocks() && self.workload.is_local();
        can_redo && attempt < self.plan.measure.redo && !is_always_disturbed
    }

    /// Restarts a server that no longer responds, so that the interrupted work can be repeated.
    /// Returns an error for any other reason to stop.
    fn recover(&mut self, stop: Stop, on_progress: OnProgress) -> Result<(), Stop> {
        let Stop::ServerLost(reason) = stop else {
            return Err(stop);
        };
        self.losses += 1;
        if self.losses > MAX_LOSSES {
            let reason = format!(
                "{reason}; the server failed {} times in this run",
                self.losses
            );
            return Err(Stop::ServerLost(reason));
        }
        let restored = self.workload.restore();
        restored
            .map_err(|e| Stop::ServerLost(format!("{reason}; cannot restart the server: {e}")))?;
        on_progress(Progress::Restored(reason));
        Ok(())
    }
}

impl Executor for LocalExecutor<'_> {
    fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    fn metrics(&self) -> Vec<Metric> {
        self.workload.metrics()
    }

    fn prepare(&mut self, context: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop> {
        while let Err(stop) = self.workload.prepare(context, on_progress) {
            self.recover(stop, on_progress)?;
        }
        Ok(())
    }

    fn block(&mut self, context: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop> {
        let block_and_attempt = missing_block(&context.run, &[]);
        self.measure(context, block_and_attempt, on_progress)
    }

    fn is_amid_set(&self) -> bool {
        self.workload.is_amid_set()
    }

    fn finish(&mut self, context: &mut RunContext) -> Result<(), Stop> {
        self.workload.finish(context)
    }

    fn can_resume(&self) -> bool {
        self.workload.can_resume()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_first() {
        let block = |number, state| Block {
            number,
            state,
            ..Block::default()
        };
        let run = Run {
            blocks: vec![
                block(0, BlockState::Complete),
                block(1, BlockState::Disturbed),
                block(3, BlockState::Complete),
                block(1, BlockState::Incomplete),
            ],
            ..Run::default()
        };
        assert_eq!(missing_block(&run, &[]), (1, 2));
        assert_eq!(missing_block(&run, &[1, 2]), (4, 0));
    }
}
