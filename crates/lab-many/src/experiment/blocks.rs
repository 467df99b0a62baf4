// SPDX-License-Identifier: Apache-2.0
//! The coordinator's side of an experiment. Assigns missing blocks to the hosts, and adds their
//! measurements to the run file.

use super::{ExperimentOrder, ExperimentReport, Hosts, RunKnowledge, Step, Task};
use crate::agents::Agents;
use crate::link::AgentEvent;
use crate::work::AgentWork;
use lab_bench::{
    Executor, Machine, OnProgress, Progress, RunContext, Scratch, Stop, ThisMachine, finds_peaks,
    missing_block, unix_seconds,
};
use lab_model::{AgentId, Block, BlockState, Metric, Outcome, Plan, PointId, plural};
use lab_stats::load::peaks::Peaks;
use lab_store::StoreError;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// The maximum time to wait for messages between two checks for a request to stop.
const LISTEN: Duration = Duration::from_millis(50);

/// Distributes the blocks of a run to hosts. Each block is measured by one host.
pub struct BlockAgents<'a> {
    plan: &'a Plan,
    agents: Agents,
    /// The number of agents that earlier sessions stored in the run file.
    earlier: usize,
    stops: fn() -> bool,
    /// True if the loss of a host ends the run.
    strict: bool,
    /// The block of each busy agent and the number of earlier attempts to measure the block, or
    /// `None` if the agent prepares the run.
    under_way: HashMap<AgentId, Option<(u32, u32)>>,
    /// Agents that have already received the run's pilots and settings.
    informed: HashSet<AgentId>,
    /// The servers' peaks, which a single host finds.
    peaks: Peaks,
    /// The outcomes of batches on all hosts.
    outcomes: HashMap<(PointId, u64), Outcome>,
    /// The directory that contains received files until they are merged.
    scratch: Scratch,
}

impl<'a> BlockAgents<'a> {
    /// Creates an executor for a run on prepared hosts. `peaks` contains the peaks known so far.
    pub fn new(
        plan: &'a Plan,
        hosts: Hosts,
        strict: bool,
        peaks: Peaks,
        scratch: Scratch,
    ) -> BlockAgents<'a> {
        BlockAgents {
            plan,
            agents: hosts.agents,
            earlier: hosts.earlier,
            stops: hosts.stops,
            strict,
            under_way: HashMap::new(),
            informed: HashSet::new(),
            peaks,
            outcomes: HashMap::new(),
            scratch,
        }
    }

    /// Assigns a task to an agent. The agent's first task includes the results of pilots and the
    /// settings, which the agent stores.
    fn give(&mut self, agent: AgentId, block: Option<(u32, u32)>, run: &RunContext) {
        let knowledge = if self.informed.insert(agent) {
            RunKnowledge::new(&run.run, &self.peaks)
        } else {
            RunKnowledge {
                failures: run.run.failures.clone(),
                ..RunKnowledge::default()
            }
        };
        let order = ExperimentOrder::Task(Task { knowledge, block });
        self.agents.give(agent, &AgentWork::Experiment(order));
        self.under_way.insert(agent, block);
    }

    /// Assigns the next missing block to each idle host.
    ///
    /// While the peaks of servers are unknown, uses only one host to find them. Afterward, all
    /// hosts offer loads at fractions of these peaks.
    fn hand_out(&mut self, run: &RunContext) {
        let at_once = if finds_peaks(self.plan, &run.run) {
            1
        } else {
            usize::MAX
        };
        for agent in self.agents.present().into_iter().take(at_once) {
            if self.under_way.contains_key(&agent) {
                continue;
            }
            let numbers = self.under_way.values().flatten();
            let numbers: Vec<u32> = numbers.map(|(number, _)| *number).collect();
            let (number, attempt) = missing_block(&run.run, &numbers);
            if number < self.plan.measure.max_blocks {
                self.give(agent, Some((number, attempt)), run);
            }
        }
    }

    /// Waits until an agent has finished a task or was lost.
    fn wait(&mut self, run: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop> {
        loop {
            if (self.stops)() {
                return Err(Stop::Interrupted);
            }
            if self.agents.present().is_empty() {
                return Err(Stop::AgentsLost("all hosts were lost".into()));
            }
            let Some((agent, event)) = self.agents.next(LISTEN) else {
                continue;
            };
            let name = self.agents.name(agent).to_owned();
            match event {
                AgentEvent::Work(head, body) => match serde_json::from_value(head) {
                    Ok(ExperimentReport::Step(step)) => on_progress(step.into()),
                    Ok(ExperimentReport::Done { outcomes }) => {
                        return self.accept_results(agent, (outcomes, &body), run, on_progress);
                    }
                    _ => {
                        return self.handle_loss(
                            agent,
                            "cannot parse the host's message",
                            run,
                            on_progress,
                        );
                    }
                },
                AgentEvent::Line(line) => on_progress(Progress::Note(&format!("{name}: {line}"))),
                AgentEvent::Clock(_) => {}
                AgentEvent::Failed(reason) | AgentEvent::Lost(reason) => {
                    return self.handle_loss(agent, &reason, run, on_progress);
                }
            }
        }
    }

    /// Adds an agent's measurements to the run.
    fn accept_results(
        &mut self,
        agent: AgentId,
        (outcomes, records): (Vec<Outcome>, &[u8]),
        run: &mut RunContext,
        on_progress: OnProgress,
    ) -> Result<(), Stop> {
        let file = self.scratch.folder().join("received.lab");
        let written = std::fs::write(&file, records);
        written.map_err(|e| StoreError::Other(file.clone(), e.to_string()))?;
        let received = match lab_store::load(&file) {
            Ok(received) if received.plan() == Some(self.plan) => received,
            Ok(_) => {
                return self.handle_loss(
                    agent,
                    "the host measured a different plan",
                    run,
                    on_progress,
                );
            }
            Err(e) => return self.handle_loss(agent, &e.to_string(), run, on_progress),
        };
        if let Some(reason) = self.work_difference(outcomes) {
            return self.handle_loss(agent, &reason, run, on_progress);
        }
        self.under_way.remove(&agent);
        let agent_in_file = agent.offset_by(self.earlier);
        run.writer.merge(&file, agent_in_file)?;
        for pilot in received.pilots {
            run.run.add_pilot(pilot);
        }
        run.run.settings.extend(received.settings);
        for service in received.services {
            run.run.services.retain(|s| s.target != service.target);
            run.run.services.push(service);
        }
        for failure in received.failures {
            run.participants.exclude(failure.subject, failure.point);
            run.run.failures.push(failure.clone());
            on_progress(Progress::Failed(failure));
        }
        for mut block in received.blocks {
            block.agent = Some(agent_in_file);
            if block.state == BlockState::Complete {
                self.peaks.learn(self.plan, block.number, &block.slices);
            }
            block.drop_slices();
            let (number, state) = (block.number, block.state);
            let took = Duration::from_nanos(block.duration_ns) / self.at_once();
            run.run.blocks.push(block);
            match state {
                BlockState::Complete => on_progress(Progress::Complete(&run.run, took)),
                BlockState::Disturbed => on_progress(Progress::Disturbed(number)),
                BlockState::Incomplete => {}
            }
        }
        remove(file)?;
        Ok(())
    }

    /// Describes how the outcomes of a host differ from the outcomes of other hosts.
    ///
    /// If they do not differ, stores the outcomes and returns `None`.
    fn work_difference(&mut self, outcomes: Vec<Outcome>) -> Option<String> {
        let earlier_of =
            |outcome: &Outcome| self.outcomes.get(&(outcome.point, outcome.operations));
        let unlike = outcomes.iter().find_map(|outcome| {
            let earlier = earlier_of(outcome).filter(|earlier| *earlier != outcome)?;
            Some((outcome, earlier))
        });
        let text = |o: &Outcome| format!("check={} units={}", o.check, o.units);
        let reason = unlike.map(|(outcome, earlier)| {
            format!(
                "its results differ from those of other hosts: {} for {} at {} instead of {}",
                text(outcome),
                plural(outcome.operations, "operation"),
                self.plan.label(outcome.point),
                text(earlier)
            )
        });
        if reason.is_none() {
            self.keep_outcomes(outcomes);
        }
        reason
    }

    fn keep_outcomes(&mut self, outcomes: Vec<Outcome>) {
        let keyed = outcomes.into_iter().map(|o| ((o.point, o.operations), o));
        self.outcomes.extend(keyed);
    }

    /// Records that an agent was lost. Its block is assigned to another host later.
    fn handle_loss(
        &mut self,
        agent: AgentId,
        reason: &str,
        run: &mut RunContext,
        on_progress: OnProgress,
    ) -> Result<(), Stop> {
        let name = self.agents.name(agent).to_owned();
        if self.agents.lost(agent).is_none() {
            self.agents.exclude(agent, reason.to_owned());
        }
        let agent_in_file = agent.offset_by(self.earlier);
        run.writer.agent_lost(agent_in_file, reason)?;
        if let Some(record) = run.run.agents.get_mut(agent_in_file) {
            record.lost = Some(reason.to_owned());
        }
        let block = self.under_way.remove(&agent).flatten();
        let redone = match block {
            Some((number, attempt)) => {
                let now = unix_seconds();
                run.writer.lost_block(number, attempt, agent_in_file, now)?;
                run.run.blocks.push(Block {
                    number,
                    attempt,
                    started_unix_s: now,
                    agent: Some(agent_in_file),
                    ..Block::default()
                });
                format!(
                    "; block {} must be measured again on another host",
                    number + 1
                )
            }
            None => String::new(),
        };
        let text = format!("the host {name} was lost: {reason}{redone}");
        on_progress(Progress::Note(&text));
        if self.strict {
            return Err(Stop::AgentsLost(format!(
                "the host {name} was lost, which ends a run with --strict: {reason}"
            )));
        }
        Ok(())
    }
}

fn remove(file: PathBuf) -> Result<(), StoreError> {
    let removed = std::fs::remove_file(&file);
    removed.map_err(|e| StoreError::Other(file, e.to_string()))
}

impl Executor for BlockAgents<'_> {
    fn machine(&self) -> &dyn Machine {
        &ThisMachine
    }

    fn at_once(&self) -> u32 {
        self.agents.present().len().max(1) as u32
    }

    /// Returns no metrics, because the hosts' blocks contain the metrics.
    fn metrics(&self) -> Vec<Metric> {
        Vec::new()
    }

    /// Runs the pilots on one host for all hosts, so that a batch has the same number of operations
    /// on each host.
    fn prepare(&mut self, run: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop> {
        self.keep_outcomes(run.writer.outcomes()?);
        if run.run.complete_blocks().next().is_some() {
            return Ok(());
        }
        while let Some(&agent) = self.agents.present().first() {
            self.give(agent, None, run);
            while self.under_way.contains_key(&agent) {
                self.wait(run, on_progress)?;
            }
            if self.agents.lost(agent).is_none() {
                return Ok(());
            }
        }
        Err(Stop::AgentsLost("all hosts were lost".into()))
    }

    fn block(&mut self, run: &mut RunContext, on_progress: OnProgress) -> Result<(), Stop> {
        self.hand_out(run);
        self.wait(run, on_progress)
    }

    fn finish(&mut self, _: &mut RunContext) -> Result<(), Stop> {
        Ok(())
    }
}

impl From<Step> for Progress<'_> {
    fn from(step: Step) -> Self {
        match step {
            Step::Pilot {
                subject,
                point,
                done,
                of,
            } => Progress::Pilot {
                subject,
                point,
                done,
                of,
            },
            Step::Point {
                block,
                point,
                subject,
                done,
                of,
            } => Progress::Point {
                block,
                point,
                subject,
                done,
                of,
            },
        }
    }
}
