// SPDX-License-Identifier: Apache-2.0
//! The agent's side of an experiment. Runs the block driver, which writes the agent's measurements
//! to a separate file.

use super::{Bench, ExperimentOrder, ExperimentReport, MakeReady, Step, Task};
use crate::agent::{Coordinator, end_within};
use crate::program::VERSION;
use crate::work::AgentWork;
use lab_bench::{
    BatchWorkload, BenchError, Executor, LocalExecutor, Progress, RunContext, ServerWorkload, Stop,
    Workload, generator_threads, keep_to_part, unix_seconds,
};
use lab_model::{Block, Plan};
use lab_store::RunWriter;
use std::path::Path;
use std::time::Duration;

/// The time that subjects and servers have to exit after the coordinator has exited.
const END: Duration = Duration::from_secs(30);

/// Prepares the host and measures until there is no more work.
pub fn run_order(
    order: ExperimentOrder,
    make_ready: MakeReady,
    coordinator: &Coordinator,
) -> Result<(), String> {
    let ExperimentOrder::Ready { requirements, part } = order else {
        return Err("the agent received work before it was prepared for measuring".into());
    };
    end_within(END);
    keep_to_part(part.0, part.1).map_err(|e| format!("cannot divide the cores: {e}"))?;
    let bench = make_ready(&requirements)?;
    coordinator.report(&ExperimentReport::Ready(bench.host.clone()), &[])?;
    match next_task(coordinator)? {
        Some(first) => measure(&requirements.plan, bench, first, coordinator),
        None => Ok(()),
    }
}

fn next_task(coordinator: &Coordinator) -> Result<Option<Task>, String> {
    match coordinator.next::<AgentWork>()? {
        Some((AgentWork::Experiment(ExperimentOrder::Task(task)), _)) => Ok(Some(task)),
        Some(_) => Err("the agent expected a block to measure, but received other work".into()),
        None => Ok(None),
    }
}

/// Executes tasks until the coordinator has no more tasks.
///
/// The first task contains the results of the run's pilots, if the run has any.
fn measure(
    plan: &Plan,
    bench: Bench,
    first: Task,
    coordinator: &Coordinator,
) -> Result<(), String> {
    let Bench {
        folder,
        scratch,
        servers,
        ..
    } = bench;
    let file = scratch.folder().join("sent.lab");
    let (local_plan, run) = (on_these_cores(plan), first.knowledge.run());
    let workload: Result<Box<dyn Workload>, BenchError> = match local_plan.serving() {
        None => BatchWorkload::new(&local_plan, &folder, &run, scratch, servers)
            .map(|w| Box::new(w) as _),
        Some(serving) => {
            let run_and_peaks = (&run, first.knowledge.peaks.clone());
            ServerWorkload::new(&local_plan, serving, &folder, run_and_peaks, scratch)
                .map(|w| Box::new(w) as _)
        }
    };
    let workload = workload.map_err(|e| e.to_string())?;
    let mut host = BlockHost {
        plan,
        file: &file,
        executor: LocalExecutor::new(plan, workload).for_single_blocks(),
        prepared: false,
        blocks: Vec::new(),
        coordinator,
    };
    let mut task = first;
    loop {
        host.run_task(&task)?;
        match next_task(coordinator)? {
            Some(next_task) => task = next_task,
            None => return Ok(()),
        }
    }
}

/// Returns the plan with the number of generator threads for this host.
fn on_these_cores(plan: &Plan) -> Plan {
    let mut local_plan = plan.clone();
    if let (Some(load), Ok(cores)) = (local_plan.load_mut(), lab_host::allowed_cores()) {
        load.threads = generator_threads(cores.len()) as u32;
    }
    local_plan
}

/// A host that measures blocks.
struct BlockHost<'a> {
    plan: &'a Plan,
    /// The file for the records of the current task.
    file: &'a Path,
    executor: LocalExecutor<'a>,
    prepared: bool,
    /// The blocks that this host has measured, without samples.
    blocks: Vec<Block>,
    coordinator: &'a Coordinator,
}

impl BlockHost<'_> {
    /// Executes a task and sends its records.
    fn run_task(&mut self, task: &Task) -> Result<(), String> {
        let writer = RunWriter::create(self.file, VERSION, unix_seconds());
        let writer = writer.and_then(|writer| writer.plan(self.plan).map(|()| writer));
        let writer = writer.map_err(|e| e.to_string())?;
        let mut run = task.knowledge.run();
        run.blocks = self.blocks.clone();
        let mut context = RunContext::new(self.plan, writer, run);
        // The blocks of other hosts use the same pilots.
        context.pilots_are_final |= task.block.is_some();
        self.work(task, &mut context).map_err(|stop| match stop {
            Stop::Interrupted => "stopped".into(),
            Stop::ServerLost(reason) | Stop::AgentsLost(reason) => reason,
            Stop::Store(e) => e.to_string(),
        })?;
        let blocks = context.run.blocks.drain(..);
        self.blocks = blocks.map(without_samples).collect();
        let finished = context.writer.finish(None, None);
        finished.map_err(|e| e.to_string())?;
        let bytes = std::fs::read(self.file).and_then(|bytes| {
            std::fs::remove_file(self.file)?;
            Ok(bytes)
        });
        let bytes = bytes.map_err(|e| format!("{}: {e}", self.file.display()))?;
        let outcomes = self.executor.outcomes();
        self.coordinator
            .report(&ExperimentReport::Done { outcomes }, &bytes)?;
        Ok(())
    }

    fn work(&mut self, task: &Task, context: &mut RunContext) -> Result<(), Stop> {
        let coordinator = self.coordinator;
        let mut tell = |progress: Progress| match &progress {
            // The coordinator shows these lines.
            Progress::Note(text) => eprintln!("{text}"),
            Progress::Restored(reason) => eprintln!("{reason}; the server was started again"),
            progress => {
                if let Some(step) = step(progress) {
                    // The other thread notices when the connection has ended.
                    let _ = coordinator.report(&ExperimentReport::Step(step), &[]);
                }
            }
        };
        if !std::mem::replace(&mut self.prepared, true) {
            for metric in self.executor.metrics() {
                context.writer.metric(&metric)?;
            }
            self.executor.prepare(context, &mut tell)?;
        }
        match task.block {
            Some(block) => self.executor.measure(context, block, &mut tell),
            None => Ok(()),
        }
    }
}

/// Returns a block without samples, because the driver needs only the disturbances of earlier
/// blocks.
fn without_samples(block: Block) -> Block {
    Block {
        number: block.number,
        attempt: block.attempt,
        state: block.state,
        disturbance: block.disturbance,
        ..Block::default()
    }
}

/// Converts a step to the form that the coordinator shows.
///
/// Returns `None` if the coordinator does not show this kind of step.
fn step(progress: &Progress) -> Option<Step> {
    match *progress {
        Progress::Pilot {
            subject,
            point,
            done,
            of,
        } => Some(Step::Pilot {
            subject,
            point,
            done,
            of,
        }),
        Progress::Point {
            block,
            point,
            subject,
            done,
            of,
        } => Some(Step::Point {
            block,
            point,
            subject,
            done,
            of,
        }),
        _ => None,
    }
}
