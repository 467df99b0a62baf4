// SPDX-License-Identifier: Apache-2.0
//! The coordinator's side of a load. To the rest of benchlab, the agents are a single load
//! generator.

use super::gather::Gather;
use super::{LoadOrder, LoadReport, bytes};
use crate::agents::{AgentStart, Agents, StartError};
use crate::clock::ClockReading;
use crate::link::AgentEvent;
use crate::work::AgentWork;
use lab_bench::{Generator, Generators, LoadFault, Piece, interrupt};
use lab_load::{GeneratorLoad, Request};
use lab_model::{
    Agent, AgentId, Arrivals, ClockOffset, ErrorKind, IdVec, LoadSpec, Plan, PointId, SubjectId,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time between announcing a load to the agents and starting the load, in ns. The network
/// latency is added to this time.
const LEAD_NS: i64 = 50_000_000;

/// The maximum time to wait for a message between two checks for an interruption by the user.
const LISTEN: Duration = Duration::from_millis(100);

/// The agents that generate the load of a run.
pub struct LoadAgents<'a> {
    plan: &'a Plan,
    load: &'a LoadSpec,
    shared: Arc<Mutex<LoadState>>,
    /// The agents' entries in the run file.
    described: IdVec<AgentId, Agent>,
    /// For each agent, the errors of its first request to each server.
    first: Vec<Vec<FirstResponse>>,
}

/// The kinds of errors of one request, each with an optional description.
pub type FirstResponse = Vec<(ErrorKind, Option<String>)>;

/// The parameters for starting the agents that generate a load.
pub struct LoadStart<'a> {
    /// A plan that contains a load.
    pub plan: &'a Plan,
    /// The plan's load. It refers to no files of this machine.
    pub load: LoadSpec,
    /// The launcher of the agents, and the time of silence after which an agent counts as lost.
    pub starting: AgentStart,
    /// The requests to each of the plan's subjects, including secrets.
    pub requests: Vec<Vec<Request>>,
    /// The number of agents that earlier sessions stored in the run file.
    pub earlier: usize,
    /// True if the loss of an agent ends the load.
    pub strict: bool,
}

struct LoadState {
    agents: Agents,
    loads: u64,
    earlier: usize,
    strict: bool,
    /// Notes that have not been shown to the user yet.
    notes: Vec<String>,
    lost: Vec<(AgentId, String)>,
}

impl<'a> LoadAgents<'a> {
    /// Starts the agents, and makes each of them send one request to every server.
    ///
    /// # Errors
    /// Returns an error if a point has fewer connections than there are agents, if an agent cannot
    /// be started, or if an agent cannot find or reach a server.
    pub fn start(start: LoadStart<'a>) -> Result<LoadAgents<'a>, StartError> {
        let (plan, load) = (start.plan, start.plan.load().expect("a plan with a load"));
        let agents = start.starting.launcher.locations().len();
        let min_connections = plan.points.ids().map(|point| plan.connections(point)).min();
        if min_connections.is_some_and(|min_connections| min_connections < agents) {
            return Err(StartError::Refused(format!(
                "{} too few for {agents} agents: each agent needs at least one connection; raise --connections",
                match min_connections {
                    Some(1) => "1 connection is".to_owned(),
                    n => format!("{} connections are", n.unwrap_or(0)),
                }
            )));
        }
        let mut agents = Agents::start(&start.starting)?;
        let clocks = agents.compare_clocks();
        let orders = (0..agents.len()).map(|agent| LoadOrder::Find {
            load: Box::new(start.load.clone()),
            requests: start.requests.clone(),
            connections: plan.max_open_connections(agents.len()) as u64,
            // Different seeds prevent agents from sending the same requests at the same time.
            seed: plan.seed.wrapping_add(agent as u64),
        });
        let orders: Vec<LoadOrder> = orders.collect();
        for (agent, order) in agents.ids().zip(orders) {
            agents.give(agent, &AgentWork::Load(order));
        }
        let mut shared = LoadState {
            agents,
            loads: 0,
            earlier: start.earlier,
            strict: start.strict,
            notes: Vec::new(),
            lost: Vec::new(),
        };
        let reports = shared.collect_reports()?;
        let (mut described, mut first) = (IdVec::new(), Vec::new());
        for (agent, report) in reports {
            let LoadReport::Found {
                host,
                first: first_responses,
            } = report
            else {
                return Err(shared.unexpected_report(agent));
            };
            let utc = clocks[agent].map(|(_, utc)| utc);
            described.push(shared.agents.described(agent, utc, host));
            first.push(first_responses);
        }
        Ok(LoadAgents {
            plan,
            load,
            shared: Arc::new(Mutex::new(shared)),
            described,
            first,
        })
    }

    /// Returns the agents' entries in the run file, with their indexes.
    pub fn described(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        let earlier = lock(&self.shared).earlier;
        let described = self.described.enumerated();
        described.map(move |(agent, described)| (agent.offset_by(earlier), described))
    }

    /// Returns the name of each agent and the errors of its first requests.
    pub fn first_responses(&self) -> impl Iterator<Item = (&str, &[FirstResponse])> {
        let names = self.described.iter().map(|agent| agent.name.as_str());
        names.zip(self.first.iter().map(Vec::as_slice))
    }

    /// Returns the number of lost agents and the total number of agents.
    pub fn lost(&self) -> (usize, usize) {
        let shared = lock(&self.shared);
        let count = shared.agents.len();
        (count - shared.agents.present().len(), count)
    }
}

impl Generators for LoadAgents<'_> {
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault> {
        let count = lock(&self.shared).agents.len();
        let share = GeneratorLoad::all(self.plan, self.load, point, block);
        let loads: IdVec<AgentId, GeneratorLoad> =
            (0..count).map(|agent| share.divide(agent, count)).collect();
        let arrivals = loads.iter().map(|share| share.arrivals.clone());
        let generator = AgentsGenerator {
            shared: self.shared.clone(),
            server: subject,
            total_arrivals: share.arrivals,
            loads: arrivals.collect(),
        };
        // If an agent cannot open its connections, dropping the generator closes the others.
        generator.open(&loads)?;
        Ok(Box::new(generator))
    }
}

/// A generator that consists of the connections of all agents to one server.
struct AgentsGenerator {
    shared: Arc<Mutex<LoadState>>,
    server: SubjectId,
    /// The arrivals of the whole load.
    total_arrivals: Arrivals,
    /// The arrivals of each agent.
    loads: IdVec<AgentId, Arrivals>,
}

impl Generator for AgentsGenerator {
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault> {
        let mut shared = lock(&self.shared);
        let shared = &mut *shared;
        let [length_ns, slice_ns] = [length, slice].map(|d| d.as_nanos() as u64);
        let loads = self.loads.enumerated();
        let loads = loads.map(|(agent, share)| (agent, share.clone())).collect();
        let mut gather = Gather::new(loads, length_ns, slice_ns);
        let number = self.begin(shared, length_ns, slice_ns);
        for agent in shared.agents.ids() {
            if shared.agents.lost(agent).is_some() {
                gather.lose(agent);
            }
        }
        let mut stop = false;
        let mut failure = None;
        loop {
            for piece in gather.by_ref() {
                stop |= !each(shared.complete(piece));
            }
            if shared.has_news() {
                stop |= !each(shared.complete(Piece::default()));
            }
            if gather.is_over() {
                break;
            }
            stop |= interrupt::requested() || failure.is_some();
            if stop {
                shared.agents.stop(number);
            }
            let Some((agent, event)) = shared.agents.next(LISTEN) else {
                continue;
            };
            let outcome = shared.handle_event(agent, event, number, &mut gather);
            failure = failure.or(outcome.err());
        }
        match failure {
            None if !shared.agents.present().is_empty() => Ok(()),
            failure => Err(shared.fault(failure.unwrap_or_default())),
        }
    }
}

impl AgentsGenerator {
    /// Makes all agents open their connections.
    fn open(&self, loads: &IdVec<AgentId, GeneratorLoad>) -> Result<(), LoadFault> {
        let mut shared = lock(&self.shared);
        for agent in shared.agents.present() {
            let order = LoadOrder::Open {
                server: self.server,
                share: loads[agent].clone(),
            };
            shared.agents.give(agent, &AgentWork::Load(order));
        }
        let opened = shared.collect_reports();
        opened.map_err(|e| shared.fault(e.to_string())).map(drop)
    }

    /// Tells all agents to start the load at the same time. Returns the load's number.
    fn begin(&self, shared: &mut LoadState, length_ns: u64, slice_ns: u64) -> u64 {
        let clocks = shared.agents.compare_clocks();
        shared.loads += 1;
        let number = shared.loads;
        let monotonic: IdVec<AgentId, Option<ClockOffset>> =
            clocks.into_iter().map(|c| c.map(|(m, _)| m)).collect();
        shared.agents.forget_lines();
        let slowest = monotonic.iter().flatten().map(|c| c.round_trip_ns).max();
        let way_ns = i64::try_from(slowest.unwrap_or(0)).unwrap_or(i64::MAX / 4);
        let begin_ns = ClockReading::now().monotonic_ns + LEAD_NS + 2 * way_ns;
        for agent in shared.agents.present() {
            let Some(clock) = monotonic[agent] else {
                continue;
            };
            let order = LoadOrder::Load {
                number,
                server: self.server,
                begin_ns: begin_ns + clock.ahead_ns + self.after_ns(agent),
                length_ns,
                slice_ns,
            };
            shared.agents.give(agent, &AgentWork::Load(order));
        }
        number
    }

    /// Returns the delay of an agent's start, in ns.
    ///
    /// If requests are due at equal intervals, the delays make the agents take turns.
    fn after_ns(&self, agent: AgentId) -> i64 {
        match &self.total_arrivals {
            Arrivals::Open {
                poisson: false,
                stages,
            } if !self.total_arrivals.changes() => {
                let rate = stages.first().map_or(0.0, |stage| stage.from);
                (f64::from(agent.0) * 1e9 / rate.max(1e-3)) as i64
            }
            _ => 0,
        }
    }
}

/// Tells the agents to close their connections.
impl Drop for AgentsGenerator {
    fn drop(&mut self) {
        let shared = lock(&self.shared);
        for agent in shared.agents.present() {
            let order = LoadOrder::Close {
                server: self.server,
            };
            shared.agents.give(agent, &AgentWork::Load(order));
        }
    }
}

impl LoadState {
    /// Waits until each connected agent has sent a report or has failed.
    ///
    /// # Errors
    /// Returns an error if an agent failed, if an agent was lost before the first load, or if an
    /// agent was lost at any time with `--strict`. If an agent failed, the other agents' reports are
    /// received before this function returns, because the next reports answer another order.
    fn collect_reports(&mut self) -> Result<Vec<(AgentId, LoadReport)>, StartError> {
        let rejection =
            |agent: &str, reason: &str| StartError::Refused(format!("{agent}: {reason}"));
        let mut pending = self.agents.present();
        let (mut reports, mut failure) = (Vec::new(), None);
        while !pending.is_empty() {
            if interrupt::requested() {
                return Err(StartError::Stopped);
            }
            let Some((agent, event)) = self.agents.next(LISTEN) else {
                continue;
            };
            let name = self.agents.name(agent).to_owned();
            match event {
                AgentEvent::Work(head, _) => {
                    match serde_json::from_value(head) {
                        Ok(report) => reports.push((agent, report)),
                        Err(_) => failure = failure.or(Some(self.unexpected_report(agent))),
                    }
                    pending.retain(|&a| a != agent);
                }
                AgentEvent::Failed(reason) => {
                    failure = failure.or(Some(rejection(&name, &reason)));
                    pending.retain(|&a| a != agent);
                }
                AgentEvent::Lost(reason) if self.loads == 0 || self.strict => {
                    return Err(rejection(&name, &format!("the agent was lost: {reason}")));
                }
                AgentEvent::Lost(reason) => {
                    self.note_loss(agent, &reason);
                    pending.retain(|&a| a != agent);
                }
                AgentEvent::Line(line) => self.notes.push(format!("{name}: {line}")),
                AgentEvent::Clock(_) => {}
            }
        }
        reports.sort_by_key(|(agent, _)| *agent);
        failure.map_or(Ok(reports), Err)
    }

    /// Returns the fault that ends the load: the loss of agents or, if no agent was lost, a failure
    /// with `message`.
    fn fault(&self, message: String) -> LoadFault {
        let (total, present) = (self.agents.len(), self.agents.present().len());
        let reason = if message.is_empty() {
            "the report says why"
        } else {
            &message
        };
        match total - present {
            lost if lost == total => {
                LoadFault::AgentsLost(format!("all agents were lost: {reason}"))
            }
            lost if lost > 0 && self.strict => LoadFault::AgentsLost(format!(
                "{lost} of {total} agents lost, and --strict was given: {reason}"
            )),
            // Before the first load there are no results to keep.
            lost if lost > 0 && self.loads == 0 => {
                LoadFault::AgentsLost(format!("{lost} of {total} agents lost: {reason}"))
            }
            _ => LoadFault::Failed(message),
        }
    }

    fn unexpected_report(&self, agent: AgentId) -> StartError {
        let name = self.agents.name(agent);
        StartError::Refused(format!("{name}: the agent sent an unexpected message"))
    }

    /// Handles an event during a load. If the load must end, returns an error with the reason.
    fn handle_event(
        &mut self,
        agent: AgentId,
        event: AgentEvent,
        current: u64,
        gather: &mut Gather,
    ) -> Result<(), String> {
        let name = self.agents.name(agent).to_owned();
        match event {
            AgentEvent::Work(head, body) => {
                let report = serde_json::from_value(head);
                match report.map_err(|e| format!("{name}: {e}"))? {
                    LoadReport::Slice {
                        number,
                        late_ns,
                        mut slice,
                        errors,
                    } if number == current => {
                        bytes::put_back(&mut slice, &body).map_err(|e| format!("{name}: {e}"))?;
                        gather.slice(agent, late_ns, *slice, errors);
                    }
                    LoadReport::Ended { number } if number == current => gather.end(agent),
                    _ => {}
                }
                Ok(())
            }
            AgentEvent::Failed(reason) => {
                gather.end(agent);
                Err(format!("{name}: {reason}"))
            }
            AgentEvent::Lost(reason) => {
                gather.lose(agent);
                self.note_loss(agent, &reason);
                if self.strict {
                    Err(format!("the agent {name} was lost: {reason}"))
                } else {
                    Ok(())
                }
            }
            AgentEvent::Line(line) => {
                self.notes.push(format!("{name}: {line}"));
                Ok(())
            }
            AgentEvent::Clock(_) => Ok(()),
        }
    }

    fn note_loss(&mut self, agent: AgentId, reason: &str) {
        let name = self.agents.name(agent);
        self.notes.push(format!(
            "the agent {name} was lost: {reason}; its fraction of the load will no longer be sent"
        ));
        self.lost.push((agent, reason.to_owned()));
    }

    /// Returns true if there are notes or lost agents to report before the next slice.
    fn has_news(&self) -> bool {
        !self.notes.is_empty() || !self.lost.is_empty()
    }

    /// Adds notes and lost agents to a report, and converts the report's agent indexes to the
    /// indexes in the run file.
    fn complete(&mut self, mut piece: Piece) -> Piece {
        let slices = piece.slice.iter_mut();
        for part in slices.flat_map(|slice| &mut slice.agents) {
            part.agent = part.agent.offset_by(self.earlier);
        }
        let earlier = self.earlier;
        let lost = std::mem::take(&mut self.lost).into_iter();
        piece.lost = lost
            .map(|(agent, reason)| (agent.offset_by(earlier), reason))
            .collect();
        piece.notes = std::mem::take(&mut self.notes);
        piece
    }
}

fn lock(shared: &Mutex<LoadState>) -> MutexGuard<'_, LoadState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
