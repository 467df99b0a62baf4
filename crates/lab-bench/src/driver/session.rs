// SPDX-License-Identifier: Apache-2.0
//! A run from its first pilot to its end. Measures the blocks that the run file lacks, one after
//! another.

use crate::driver::context::{RunContext, Stop};
use crate::driver::executor::{Executor, LocalExecutor, OnProgress};
use crate::driver::workload::Workload;
use lab_model::{Ending, Plan, Run};
use lab_store::{RunWriter, StoreError};

/// The maximum overrun is 1 / `OVERRUN` of the budget. A run may exceed its budget to reach the
/// number of blocks that its confidence level needs.
const OVERRUN: u64 = 4;

/// The minimum number of process sets for a confidence interval.
const MIN_SETS: usize = 2;

/// An error that ended a run. All measurements so far are in the run file.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The run file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An operating system call failed.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
    /// The target's templates could not be created.
    #[error("cannot create the target: {0}")]
    Target(#[from] rusqlite::Error),
    /// The generators cannot generate the load.
    #[error(transparent)]
    Load(#[from] lab_load::LoadError),
    /// A fixture of the experiment failed before the first measurement.
    #[error("{0}")]
    Fixture(String),
    /// A server that subjects use stopped responding too often, or cannot be restarted.
    #[error("{0}")]
    ServerLost(String),
    /// Measuring agents were lost, and the run cannot continue without them.
    #[error("{0}")]
    AgentsLost(String),
}

impl BenchError {
    /// Converts an operating system error, prefixed with a description of the failed operation.
    pub(crate) fn system(what_failed: &str) -> impl FnOnce(std::io::Error) -> BenchError {
        move |error| BenchError::System(what_failed.to_owned(), error)
    }
}

/// Returns the cores that benchlab may use, ascending.
pub(crate) fn usable_cores() -> Result<Vec<usize>, BenchError> {
    lab_host::allowed_cores().map_err(BenchError::system("cannot list the cores"))
}

/// A run in progress.
pub struct Session<'a> {
    plan: &'a Plan,
    context: RunContext<'a>,
    executor: Box<dyn Executor + 'a>,
    stop: Box<StopRule<'a>>,
}

/// A function that decides whether a run may end after its complete blocks. Returns the reason, or
/// `None` to continue.
pub type StopRule<'a> = dyn Fn(&Run) -> Option<Ending> + 'a;

impl<'a> Session<'a> {
    /// Creates a session that measures the missing blocks on this machine.
    pub fn new(
        plan: &'a Plan,
        writer: RunWriter,
        run: Run,
        workload: Box<dyn Workload + 'a>,
    ) -> Session<'a> {
        Session::with_executor(
            plan,
            writer,
            run,
            Box::new(LocalExecutor::new(plan, workload)),
        )
    }

    /// Creates a session whose blocks are measured by an executor, such as agents on other machines.
    pub fn with_executor(
        plan: &'a Plan,
        writer: RunWriter,
        run: Run,
        executor: Box<dyn Executor + 'a>,
    ) -> Session<'a> {
        Session {
            plan,
            context: RunContext::new(plan, writer, run),
            executor,
            stop: Box::new(lab_stats::stop),
        }
    }

    /// Replaces the rule that ends the run, which by default is [`lab_stats::stop`].
    pub fn with_stop_rule(mut self, stop: Box<StopRule<'a>>) -> Session<'a> {
        self.stop = stop;
        self
    }

    /// Measures until the run is conclusive or is stopped. The run file is complete when this
    /// function returns.
    pub fn measure(mut self, on_progress: OnProgress) -> Result<Ending, BenchError> {
        let outcome = self.run_steps(on_progress);
        let cleanup = self.executor.finish(&mut self.context);
        let can_resume = self.executor.can_resume();
        let lab_cost = self.executor.machine().lab_cost();
        // Shut down processes and connections before reporting the end of the run.
        drop(self.executor);
        match outcome.and_then(|ending| cleanup.map(|()| ending)) {
            Ok(ending) => {
                self.context.writer.finish(Some(ending), lab_cost)?;
                Ok(ending)
            }
            // An interrupted run that can be resumed has no ending yet.
            Err(Stop::Interrupted) => {
                let ending = (!can_resume).then_some(Ending::Interrupted);
                self.context.writer.finish(ending, lab_cost)?;
                Ok(Ending::Interrupted)
            }
            Err(Stop::ServerLost(reason)) => {
                self.context.writer.finish(None, lab_cost)?;
                Err(BenchError::ServerLost(reason))
            }
            Err(Stop::AgentsLost(reason)) => {
                self.context.writer.finish(None, lab_cost)?;
                Err(BenchError::AgentsLost(reason))
            }
            Err(Stop::Store(e)) => Err(e.into()),
        }
    }

    fn run_steps(&mut self, on_progress: OnProgress) -> Result<Ending, Stop> {
        let began_ns = self.executor.machine().now_ns();
        for metric in self.executor.metrics() {
            self.context.writer.metric(&metric)?;
        }
        let earlier_pilots_ns = self.context.run.pilots_ns.unwrap_or(0);
        let prepared = self.executor.prepare(&mut self.context, on_progress);
        // Record the time even if the pilots were interrupted.
        let pilots_ns = earlier_pilots_ns + self.executor.machine().now_ns() - began_ns;
        self.context.writer.pilots_time(pilots_ns)?;
        self.context.run.pilots_ns = Some(pilots_ns);
        prepared?;
        let blocks_ns: u64 = self.context.run.blocks.iter().map(|b| b.duration_ns).sum();
        let earlier_ns = earlier_pilots_ns + blocks_ns / u64::from(self.executor.at_once());
        loop {
            let spent_ns = earlier_ns + self.executor.machine().now_ns() - began_ns;
            if let Some(ending) = self.ending(spent_ns)? {
                return Ok(ending);
            }
            self.context.spent_ns = spent_ns;
            self.executor.block(&mut self.context, on_progress)?;
        }
    }

    /// Returns the reason for ending the run now, or `None` to continue. Records an interim
    /// analysis if an analysis is due.
    fn ending(&mut self, spent_ns: u64) -> Result<Option<Ending>, StoreError> {
        let (plan, run) = (self.plan, &mut self.context.run);
        let complete = run.complete_blocks().count() as u32;
        let by_figures = (self.stop)(run);
        let is_noted = run.interim_analyses.contains(&complete);
        let sets = run.replicate_count() as u32;
        if !self.context.has_participants() {
            return Ok(Some(Ending::Failed));
        }
        // A warm set of processes first serves all of its blocks, unless disturbances make it exceed the budget by far.
        if self.executor.is_amid_set() && by_figures != Some(Ending::Failed) {
            let is_far_over = plan.measure.budget_ns.is_some_and(|budget_ns| {
                sets >= MIN_SETS as u32 && spent_ns > budget_ns + budget_ns / OVERRUN
            });
            return Ok(is_far_over.then_some(Ending::Budget));
        }
        if plan
            .measure
            .max_process_sets
            .is_some_and(|most| sets >= most)
        {
            return Ok(Some(Ending::Blocks));
        }
        if by_figures.is_some() {
            return Ok(by_figures);
        }
        if complete >= plan.measure.max_blocks {
            return Ok(Some(Ending::Blocks));
        }
        if plan.measure.interim_analyses.contains(&complete) && !is_noted {
            self.context.writer.interim_analysis(complete)?;
            self.context.run.interim_analyses.push(complete);
        }
        let is_out_of_time = self.is_out_of_time(spent_ns, complete);
        Ok(is_out_of_time.then_some(Ending::Budget))
    }

    /// Returns true if another block would not fit into the budget.
    ///
    /// A run with fewer blocks than its confidence level needs may exceed the budget by a quarter,
    /// or without limit if the plan requires that level.
    fn is_out_of_time(&self, spent_ns: u64, complete: u32) -> bool {
        let measure = &self.plan.measure;
        let Some(budget_ns) = measure.budget_ns else {
            return false;
        };
        let Some(last) = self.context.run.complete_blocks().last() else {
            return false;
        };
        if let Some(set) = last.process_set {
            // The first block of a set includes the warm-up of the set's processes.
            let blocks = self.context.run.blocks.iter();
            let of_set = blocks.filter(|block| block.process_set == Some(set));
            let next_ns = of_set.map(|block| block.duration_ns).max().unwrap_or(0);
            let few = self.context.run.replicate_count() < MIN_SETS;
            let overrun_ns = if few { budget_ns / OVERRUN } else { 0 };
            return spent_ns + next_ns > budget_ns + overrun_ns;
        }
        if let Some(few) = measure.few_blocks {
            let remaining = u64::from(measure.max_blocks.saturating_sub(complete));
            let remaining_ns = remaining * last.duration_ns / u64::from(self.executor.at_once());
            return complete == few && spent_ns + remaining_ns > budget_ns;
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
}
