// SPDX-License-Identifier: Apache-2.0
//! A run from its first pilot to its end: what is missing in the run file is measured, block by block.

use crate::block::BlockRun;
use crate::context::{BlockContext, Progress, RunContext, Stop};
use crate::machine::{Machine, ThisMachine};
use crate::workload::Workload;
use lab_model::{Block, BlockState, Ending, Plan, Run};
use lab_plan::Schedule;
use lab_store::{RunWriter, StoreError};
use std::time::Duration;

/// A server that is lost more often than this in one run ends it.
const MOST_LOSSES: u32 = 3;

/// The part of the budget by which a run may overrun it to reach the blocks that its level needs.
const OVERRUN: u64 = 4;

/// Why a run could not be carried out. What was measured is in the run file.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
    /// The target's templates.
    #[error("the target cannot be made: {0}")]
    Target(#[from] rusqlite::Error),
    /// A server that subjects work on is gone, and cannot be started again, or went too often.
    #[error("{0}")]
    ServerLost(String),
}

/// A run that is being carried out.
pub struct Session<'a> {
    plan: &'a Plan,
    context: RunContext<'a>,
    workload: Box<dyn Workload + 'a>,
    machine: Box<dyn Machine + 'a>,
    losses: u32,
}

type Tell<'t> = &'t mut dyn FnMut(Progress);

impl<'a> Session<'a> {
    /// Prepares to carry out what is missing in a run.
    pub fn new(
        plan: &'a Plan,
        writer: RunWriter,
        run: Run,
        workload: Box<dyn Workload + 'a>,
    ) -> Session<'a> {
        Session {
            plan,
            context: RunContext::new(plan, writer, run),
            workload,
            machine: Box::new(ThisMachine),
            losses: 0,
        }
    }

    /// The same on another machine.
    pub fn on(self, machine: Box<dyn Machine + 'a>) -> Session<'a> {
        Session { machine, ..self }
    }

    /// Measures until the run is decided, or stopped. The run file is complete when this returns.
    pub fn measure(mut self, tell: Tell) -> Result<Ending, BenchError> {
        let ended = self.carry_out(tell);
        let cleaned = self.workload.finish(&mut self.context);
        let can_resume = self.workload.can_resume();
        // Processes and connections end before the run is said to be over.
        drop(self.workload);
        let lab_cost = self.machine.lab_cost();
        match ended.and_then(|ending| cleaned.map(|()| ending)) {
            Ok(ending) => {
                self.context.writer.finish(Some(ending), lab_cost)?;
                Ok(ending)
            }
            // An interrupted run that can be resumed has not ended.
            Err(Stop::Interrupted) => {
                let ending = (!can_resume).then_some(Ending::Interrupted);
                self.context.writer.finish(ending, lab_cost)?;
                Ok(Ending::Interrupted)
            }
            Err(Stop::ServerLost(why)) => {
                self.context.writer.finish(None, lab_cost)?;
                Err(BenchError::ServerLost(why))
            }
            Err(Stop::Store(e)) => Err(e.into()),
        }
    }

    fn carry_out(&mut self, tell: Tell) -> Result<Ending, Stop> {
        let began_ns = self.machine.now_ns();
        for metric in self.workload.metrics() {
            self.context.writer.metric(&metric)?;
        }
        while let Err(stop) = self.workload.prepare(&mut self.context, tell) {
            self.recover(stop, tell)?;
        }
        let earlier_ns: u64 = self.context.run.blocks.iter().map(|b| b.duration_ns).sum();
        loop {
            let spent_ns = earlier_ns + self.machine.now_ns() - began_ns;
            if let Some(ending) = self.ending(spent_ns)? {
                return Ok(ending);
            }
            if let Err(stop) = self.block(tell) {
                self.recover(stop, tell)?;
            }
        }
    }

    /// Why the run ends now. Notes a look after which it goes on.
    fn ending(&mut self, spent_ns: u64) -> Result<Option<Ending>, StoreError> {
        let (plan, run) = (self.plan, &mut self.context.run);
        let complete = run.complete_blocks().count() as u32;
        let by_figures = lab_stats::stop(run);
        let looked = run.looks.contains(&complete);
        if !self.context.somebody_is_left() {
            return Ok(Some(Ending::Failed));
        }
        if by_figures.is_some() {
            return Ok(by_figures);
        }
        if complete >= plan.measure.max_blocks {
            return Ok(Some(Ending::Blocks));
        }
        if plan.measure.looks.contains(&complete) && !looked {
            self.context.writer.look(complete)?;
            self.context.run.looks.push(complete);
        }
        let out_of_time = self.out_of_time(spent_ns, complete);
        Ok(out_of_time.then_some(Ending::Budget))
    }

    /// After the loss of a server what was done is done again; any other reason to stop is one.
    fn recover(&mut self, stop: Stop, tell: Tell) -> Result<(), Stop> {
        let Stop::ServerLost(why) = stop else {
            return Err(stop);
        };
        self.losses += 1;
        if self.losses > MOST_LOSSES {
            let why = format!("{why}; that was the {}th time in this run", self.losses);
            return Err(Stop::ServerLost(why));
        }
        let restored = self.workload.restore();
        restored
            .map_err(|e| Stop::ServerLost(format!("{why}; it cannot be started again: {e}")))?;
        tell(Progress::Restored(why));
        Ok(())
    }

    /// Whether another block would not fit into the budget. It may be overrun by a quarter, or as far
    /// as it takes, where fewer blocks than the level needs would otherwise make the whole run
    /// inconclusive.
    fn out_of_time(&self, spent_ns: u64, complete: u32) -> bool {
        let measure = &self.plan.measure;
        let Some(budget_ns) = measure.budget_ns else {
            return false;
        };
        let Some(last) = self.context.run.complete_blocks().last() else {
            return false;
        };
        if let Some(few) = measure.few_blocks {
            let left = u64::from(measure.max_blocks.saturating_sub(complete));
            return complete == few && spent_ns + left * last.duration_ns > budget_ns;
        }
        let needed = lab_stats::family::blocks_needed(measure.alpha, 1);
        let needed = needed.map(|n| n.max(self.plan.builds() as u32));
        let too_few = needed.is_some_and(|n| complete < n);
        if too_few && measure.at_least_level {
            return false;
        }
        let overrun_ns = if too_few { budget_ns / OVERRUN } else { 0 };
        spent_ns + last.duration_ns > budget_ns + overrun_ns
    }

    /// Measures the first block that is not complete.
    fn block(&mut self, tell: Tell) -> Result<(), Stop> {
        let (plan, context) = (self.plan, &mut self.context);
        let number = context.run.complete_blocks().count() as u32;
        let before = context.run.blocks.iter().filter(|b| b.number == number);
        let attempt = before.count() as u32;
        let cores = self.workload.cores();
        let core = cores[Schedule::new(plan.seed, number).core(cores.len())];
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
            ..Block::default()
        };
        let mut failures = Vec::new();
        let measuring = BlockContext {
            run: &context.writer,
            writer: &writer,
            block: &mut block,
            participants: &mut context.participants,
            failures: &mut failures,
            progress: tell,
        };
        let measured = BlockRun::new(plan, &mut *self.workload, measuring).measure();
        context.run.failures.append(&mut failures);
        block.duration_ns = self.machine.now_ns() - began_ns;
        if let Err(stop) = measured {
            context.run.blocks.push(block);
            return Err(stop);
        }
        let redo = if self.workload.can_redo_blocks() {
            plan.measure.redo
        } else {
            0
        };
        block.disturbance = host.disturbance(self.workload.outside_cpu_ns(&block));
        block.state = state(&block, &context.run, redo);
        writer.finish(block.state, block.duration_ns, &block.disturbance)?;
        // Nobody needs them any more, and there can be many.
        block.slices = Vec::new();
        let (state, took) = (block.state, Duration::from_nanos(block.duration_ns));
        context.run.blocks.push(block);
        tell(match state {
            BlockState::Complete => Progress::Complete(&context.run, took),
            _ => Progress::Disturbed(number),
        });
        Ok(())
    }
}

/// Whether a block that was measured counts; a disturbed one is redone at most so often. If the last one that
/// counts was disturbed too, this host is like that, and redoing would only use up the time; the report says so.
fn state(block: &Block, run: &Run, redo: u32) -> BlockState {
    let last = run.complete_blocks().last();
    let host_is_so = last.is_some_and(|b| b.disturbance.disturbed());
    if block.disturbance.disturbed() && block.attempt < redo && !host_is_so {
        BlockState::Disturbed
    } else {
        BlockState::Complete
    }
}
