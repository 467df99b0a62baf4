// SPDX-License-Identifier: Apache-2.0
//! The coordinator's end of a load: a generator that is many.

use super::gather::Gather;
use super::{Order, Report, bytes};
use crate::agents::{Agents, StartError, Starting};
use crate::clock::Reading;
use crate::link::Event;
use crate::work::Work;
use lab_bench::{Generator, Generators, LoadFault, LoadShare, Piece, interrupt};
use lab_load::ServerRequests;
use lab_model::{Agent, AgentId, Arrivals, ClockOffset, ErrorKind, Load, Plan, PointId, SubjectId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So long before a load begins all agents know of it, besides the way there.
const LEAD_NS: i64 = 50_000_000;

/// How long it listens before it is asked whether to stop.
const LISTEN: Duration = Duration::from_millis(100);

/// Agents that put a run's load on.
pub struct LoadAgents<'a> {
    plan: &'a Plan,
    how: &'a Load,
    shared: Arc<Mutex<Shared>>,
    /// In the run file; none of the first.
    described: Vec<Agent>,
    /// What each server first answered, as each agent tells it.
    first: Vec<Vec<FirstAnswer>>,
}

/// The errors of one request, in words.
pub type FirstAnswer = Vec<(ErrorKind, Option<String>)>;

/// How a load's agents are started.
pub struct LoadStart<'a> {
    /// The plan, with a load.
    pub plan: &'a Plan,
    /// Where, and how long they may be silent.
    pub starting: Starting,
    /// What is asked of each of the plan's subjects.
    pub servers: Vec<ServerRequests>,
    /// Agents that the run file knows from before.
    pub earlier: usize,
    /// The loss of one ends the load.
    pub strict: bool,
}

struct Shared {
    agents: Agents,
    loads: u64,
    earlier: usize,
    strict: bool,
    /// What a reader must know, and no slice has told of yet.
    notes: Vec<String>,
    lost: Vec<(AgentId, String)>,
}

impl<'a> LoadAgents<'a> {
    /// Starts them and has each ask every server once. Errors: fewer connections than agents, one cannot be had, one
    /// does not find a server.
    pub fn start(start: LoadStart<'a>) -> Result<LoadAgents<'a>, StartError> {
        let (plan, how) = (start.plan, start.plan.load().expect("a plan with a load"));
        let places = start.starting.launcher.places().len();
        let least = (0..plan.points.len())
            .map(|point| plan.connections(point))
            .min();
        if least.is_some_and(|least| least < places) {
            return Err(StartError::Refused(format!(
                "{} connections are too few for {places} agents: each needs one; raise --connections",
                least.unwrap_or(0)
            )));
        }
        let mut agents = Agents::start(&start.starting)?;
        let clocks = agents.compare_clocks();
        let whole = LoadShare::all(plan, how, 0, 0);
        let orders = (0..agents.len()).map(|agent| {
            let servers = start.servers.iter().map(|server| ServerRequests {
                // Not all in step.
                seed: server.seed.wrapping_add(agent as u64),
                ..server.clone()
            });
            Order::Find {
                servers: servers.collect(),
                share: whole.of(agent, places),
            }
        });
        let orders: Vec<Order> = orders.collect();
        for (agent, order) in orders.into_iter().enumerate() {
            agents.give(agent, &Work::Load(order));
        }
        let mut shared = Shared {
            agents,
            loads: 0,
            earlier: start.earlier,
            strict: start.strict,
            notes: Vec::new(),
            lost: Vec::new(),
        };
        let found = shared.answers()?;
        let (mut described, mut first) = (Vec::new(), Vec::new());
        for (agent, report) in found {
            let Report::Found { host, first: own } = report else {
                return Err(shared.odd(agent));
            };
            let utc = clocks[agent].map(|(_, utc)| utc);
            described.push(shared.agents.described(agent, utc, host));
            first.push(own);
        }
        Ok(LoadAgents {
            plan,
            how,
            shared: Arc::new(Mutex::new(shared)),
            described,
            first,
        })
    }

    /// What the run file keeps of them, with the places that they have in it.
    pub fn described(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        let earlier = lock(&self.shared).earlier;
        let described = self.described.iter().enumerate();
        described.map(move |(agent, described)| (earlier + agent, described))
    }

    /// What each server first answered, agent by agent.
    pub fn first_answers(&self) -> impl Iterator<Item = (&str, &[FirstAnswer])> {
        let names = self.described.iter().map(|agent| agent.name.as_str());
        names.zip(self.first.iter().map(Vec::as_slice))
    }

    /// Whether one was lost by now, and how many there were.
    pub fn lost(&self) -> (usize, usize) {
        let shared = lock(&self.shared);
        let all = shared.agents.len();
        (all - shared.agents.present().len(), all)
    }
}

impl Generators for LoadAgents<'_> {
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault> {
        let mut shared = lock(&self.shared);
        let all = shared.agents.len();
        let whole = LoadShare::all(self.plan, self.how, point, block);
        let shares: Vec<LoadShare> = (0..all).map(|agent| whole.of(agent, all)).collect();
        for agent in shared.agents.present() {
            let share = shares[agent].clone();
            let order = Order::Open {
                server: subject,
                share,
            };
            shared.agents.give(agent, &Work::Load(order));
        }
        let opened = shared.answers();
        opened.map_err(|e| shared.fault(e.to_string()))?;
        Ok(Box::new(AgentsGenerator {
            shared: self.shared.clone(),
            server: subject,
            whole: whole.arrivals,
            shares: shares.into_iter().map(|share| share.arrivals).collect(),
        }))
    }
}

/// The connections of all agents to one server.
struct AgentsGenerator {
    shared: Arc<Mutex<Shared>>,
    server: SubjectId,
    whole: Arrivals,
    /// Of each agent.
    shares: Vec<Arrivals>,
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
        let shares = self.shares.iter().cloned().enumerate().collect();
        let mut gather = Gather::new(shares, length_ns, slice_ns);
        let number = self.begin(shared, length_ns, slice_ns);
        for agent in 0..shared.agents.len() {
            if shared.agents.lost(agent).is_some() {
                gather.lost(agent);
            }
        }
        let mut stop = false;
        let mut failed = None;
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
            stop |= interrupt::requested() || failed.is_some();
            if stop {
                shared.agents.stop(number);
            }
            let Some((agent, event)) = shared.agents.next(LISTEN) else {
                continue;
            };
            let heard = shared.hear(agent, event, number, &mut gather);
            failed = failed.or(heard.err());
        }
        match failed {
            None if !shared.agents.present().is_empty() => Ok(()),
            failed => Err(shared.fault(failed.unwrap_or_default())),
        }
    }
}

impl AgentsGenerator {
    /// Has all begin at the same moment, and gives back the load's number.
    fn begin(&self, shared: &mut Shared, length_ns: u64, slice_ns: u64) -> u64 {
        let clocks = shared.agents.compare_clocks();
        shared.loads += 1;
        let number = shared.loads;
        let monotonic: Vec<Option<ClockOffset>> =
            clocks.into_iter().map(|c| c.map(|(m, _)| m)).collect();
        shared.agents.forget_lines();
        let slowest = monotonic.iter().flatten().map(|c| c.round_trip_ns).max();
        let way_ns = i64::try_from(slowest.unwrap_or(0)).unwrap_or(i64::MAX / 4);
        let begin_ns = Reading::now().monotonic_ns + LEAD_NS + 2 * way_ns;
        for agent in shared.agents.present() {
            let Some(clock) = monotonic[agent] else {
                continue;
            };
            let order = Order::Load {
                number,
                server: self.server,
                begin_ns: begin_ns + clock.ahead_ns + self.after_ns(agent),
                length_ns,
                slice_ns,
            };
            shared.agents.give(agent, &Work::Load(order));
        }
        number
    }

    /// Where all requests are due at equal distances, those of agents come one after the other.
    fn after_ns(&self, agent: AgentId) -> i64 {
        match &self.whole {
            Arrivals::Open {
                poisson: false,
                stages,
            } if !self.whole.changes() => {
                let rate = stages.first().map_or(0.0, |stage| stage.from);
                (agent as f64 * 1e9 / rate.max(1e-3)) as i64
            }
            _ => 0,
        }
    }
}

/// The agents close their connections.
impl Drop for AgentsGenerator {
    fn drop(&mut self) {
        let shared = lock(&self.shared);
        for agent in shared.agents.present() {
            let order = Order::Close {
                server: self.server,
            };
            shared.agents.give(agent, &Work::Load(order));
        }
    }
}

impl Shared {
    /// An answer of each agent that is there. Errors: one cannot do it, or was lost where all must be there.
    fn answers(&mut self) -> Result<Vec<(AgentId, Report)>, StartError> {
        let refused = |agent: &str, why: &str| StartError::Refused(format!("{agent}: {why}"));
        let mut waited_for = self.agents.present();
        let mut answers = Vec::new();
        while !waited_for.is_empty() {
            if interrupt::requested() {
                return Err(StartError::Stopped);
            }
            let Some((agent, event)) = self.agents.next(LISTEN) else {
                continue;
            };
            let name = self.agents.name(agent).to_owned();
            match event {
                Event::Work(head, _) => {
                    let report = serde_json::from_value(head);
                    answers.push((agent, report.map_err(|_| self.odd(agent))?));
                    waited_for.retain(|&a| a != agent);
                }
                Event::Failed(why) => return Err(refused(&name, &why)),
                Event::Lost(why) if self.loads == 0 || self.strict => {
                    return Err(refused(&name, &format!("the agent was lost: {why}")));
                }
                Event::Lost(why) => {
                    self.note_loss(agent, &why);
                    waited_for.retain(|&a| a != agent);
                }
                Event::Line(line) => self.notes.push(format!("{name}: {line}")),
                Event::Clock(_) => {}
            }
        }
        answers.sort_by_key(|(agent, _)| *agent);
        Ok(answers)
    }

    /// What ends the load: that agents are gone, or else why one cannot go on.
    fn fault(&self, why: String) -> LoadFault {
        let (all, present) = (self.agents.len(), self.agents.present().len());
        let why_lost = if why.is_empty() {
            "the report says why"
        } else {
            &why
        };
        match all - present {
            lost if lost == all => {
                LoadFault::AgentsLost(format!("all agents were lost: {why_lost}"))
            }
            lost if lost > 0 && self.strict => LoadFault::AgentsLost(format!(
                "{lost} of {all} agents lost, and --strict was given: {why_lost}"
            )),
            // Before the first load there is nothing to go on with.
            lost if lost > 0 && self.loads == 0 => {
                LoadFault::AgentsLost(format!("{lost} of {all} agents lost: {why_lost}"))
            }
            _ => LoadFault::Failed(why),
        }
    }

    fn odd(&self, agent: AgentId) -> StartError {
        let name = self.agents.name(agent);
        StartError::Refused(format!("{name}: the agent's words are not understood"))
    }

    /// Takes in what came during a load. Error: the load is to end.
    fn hear(
        &mut self,
        agent: AgentId,
        event: Event,
        current: u64,
        gather: &mut Gather,
    ) -> Result<(), String> {
        let name = self.agents.name(agent).to_owned();
        match event {
            Event::Work(head, body) => {
                let report = serde_json::from_value(head);
                match report.map_err(|e| format!("{name}: {e}"))? {
                    Report::Slice {
                        number,
                        late_ns,
                        mut slice,
                        errors,
                    } if number == current => {
                        bytes::put_back(&mut slice, &body).map_err(|e| format!("{name}: {e}"))?;
                        gather.slice(agent, late_ns, *slice, errors);
                    }
                    Report::Ended { number } if number == current => gather.ended(agent),
                    _ => {}
                }
                Ok(())
            }
            Event::Failed(why) => {
                gather.ended(agent);
                Err(format!("{name}: {why}"))
            }
            Event::Lost(why) => {
                gather.lost(agent);
                self.note_loss(agent, &why);
                if self.strict {
                    Err(format!("the agent {name} was lost: {why}"))
                } else {
                    Ok(())
                }
            }
            Event::Line(line) => {
                self.notes.push(format!("{name}: {line}"));
                Ok(())
            }
            Event::Clock(_) => Ok(()),
        }
    }

    fn note_loss(&mut self, agent: AgentId, why: &str) {
        let name = self.agents.name(agent);
        self.notes.push(format!(
            "the agent {name} was lost: {why}; from here on its share of the load is not sent"
        ));
        self.lost.push((agent, why.to_owned()));
    }

    /// There is something to tell before the next slice.
    fn has_news(&self) -> bool {
        !self.notes.is_empty() || !self.lost.is_empty()
    }

    /// A slice with what else there is to tell, its agents by their places in the run file.
    fn complete(&mut self, mut piece: Piece) -> Piece {
        let slices = piece.slice.iter_mut();
        for part in slices.flat_map(|slice| &mut slice.agents) {
            part.agent += self.earlier;
        }
        let earlier = self.earlier;
        let lost = std::mem::take(&mut self.lost).into_iter();
        piece.lost = lost.map(|(agent, why)| (earlier + agent, why)).collect();
        piece.notes = std::mem::take(&mut self.notes);
        piece
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
