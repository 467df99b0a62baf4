// SPDX-License-Identifier: Apache-2.0
//! The coordinator's side of all agents in a run: starts them together, receives their messages,
//! and ends them.

use crate::clock::{ClockReading, Exchange, offset};
use crate::launcher::Launcher;
use crate::limits::ResourceLimits;
use crate::link::{AgentEvent, AgentLink};
use crate::message::{Hello, ToAgent};
use crate::program::{LabProgram, VERSION};
use lab_model::{Agent, AgentId, ClockOffset, Host, IdVec};
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time that agents have to exit on their own.
const END_TIME: Duration = Duration::from_secs(15);

/// The time that benchlab waits for agents before it shows a progress message.
const REPORT_AFTER: Duration = Duration::from_secs(5);

/// The interval between two checks of processes and streams.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The number of message exchanges in a comparison of clocks.
const EXCHANGES: usize = 16;

/// The options for starting agents.
#[derive(Clone)]
pub struct AgentStart {
    /// The launcher that starts the agents.
    pub launcher: Arc<dyn Launcher>,
    /// The time of silence after which an agent counts as lost.
    pub lost_after: Duration,
    /// A function that returns true if the user wants to stop. It is called regularly.
    pub stops: fn() -> bool,
    /// A function that receives the reason for the delay if starting is slow.
    pub on_obstacle: fn(&str),
}

/// The reason why agents were not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The user stopped benchlab.
    #[error("stopped")]
    Stopped,
    /// One or more agents cannot be started. Contains the reasons.
    #[error("{0}")]
    Refused(String),
}

/// The agents of a run. Dropping this value ends all agents.
pub struct Agents {
    agents: IdVec<AgentId, StartedAgent>,
    events: Receiver<(AgentId, AgentEvent)>,
    /// Events that arrived during a comparison of clocks but are not part of the comparison.
    early: VecDeque<(AgentId, AgentEvent)>,
    launcher: Arc<dyn Launcher>,
    lost_after: Duration,
    questions: u64,
    /// Running commands that kill unresponsive agents.
    killers: Vec<Child>,
}

struct StartedAgent {
    name: String,
    link: AgentLink,
    hello: Hello,
    lost: Option<String>,
}

impl Agents {
    /// Starts one agent at each location, all at the same time. If an agent cannot be started, ends
    /// all agents and returns an error.
    pub fn start(starting: &AgentStart) -> Result<Agents, StartError> {
        let (sender, events) = channel();
        let program = LabProgram::default();
        let locations = starting.launcher.locations();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (agent, name) in (0..).map(AgentId).zip(locations) {
            candidates.push(Candidate::new(agent, name, starting, &program, &sender));
        }
        let started = wait_for(&mut candidates, starting);
        if let Err(error) = started {
            end(candidates);
            return Err(error);
        }
        let agents = candidates.into_iter().filter_map(Candidate::into_agent);
        let agents = agents.inspect(|agent| {
            let silence_ns = starting.lost_after.as_nanos() as u64;
            let limits = ResourceLimits::current();
            let welcome = ToAgent::Welcome { limits, silence_ns };
            agent.link.accept(welcome);
        });
        Ok(Agents {
            agents: agents.collect(),
            events,
            early: VecDeque::new(),
            launcher: starting.launcher.clone(),
            lost_after: starting.lost_after,
            questions: 0,
            killers: Vec::new(),
        })
    }

    /// Waits until every agent that is not lost has returned one result.
    ///
    /// `take` accepts a result, or rejects it with a reason. `tell` receives the agents' log lines.
    ///
    /// # Errors
    /// Returns an error if `stops` returned true, if an agent was lost or could not do its work, or
    /// if a result was rejected.
    pub fn collect_results(
        &mut self,
        stops: fn() -> bool,
        tell: &mut dyn FnMut(&str),
        take: &mut dyn FnMut(AgentId, Value, Vec<u8>) -> Result<(), String>,
    ) -> Result<(), StartError> {
        let mut pending = self.present();
        while !pending.is_empty() {
            if stops() {
                return Err(StartError::Stopped);
            }
            let Some((agent, event)) = self.next(POLL_INTERVAL) else {
                continue;
            };
            let name = self.name(agent);
            let rejection = |reason: &str| StartError::Refused(format!("{name}: {reason}"));
            match event {
                AgentEvent::Work(head, body) => {
                    take(agent, head, body).map_err(|reason| rejection(&reason))?;
                    pending.retain(|&a| a != agent);
                }
                AgentEvent::Failed(reason) => return Err(rejection(&reason)),
                AgentEvent::Lost(reason) => {
                    return Err(rejection(&format!("the agent was lost: {reason}")));
                }
                AgentEvent::Line(line) => tell(&format!("{name}: {line}")),
                AgentEvent::Clock(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the number of started agents, including lost agents.
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Returns the IDs of the started agents, including lost agents.
    pub fn ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        self.agents.ids()
    }

    /// Returns true if no agent was started.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// Returns the name of the launcher.
    pub fn launcher(&self) -> &'static str {
        self.launcher.name()
    }

    /// Returns the name of an agent's location.
    pub fn name(&self, agent: AgentId) -> &str {
        &self.agents[agent].name
    }

    /// Returns the introduction of an agent.
    pub fn hello(&self, agent: AgentId) -> &Hello {
        &self.agents[agent].hello
    }

    /// Returns the agent's entry in the run file. `host` is the agent's description of its own
    /// host.
    pub fn described(&self, agent: AgentId, utc: Option<ClockOffset>, mut host: Host) -> Agent {
        let hello = self.hello(agent);
        let id = hello.machine_id.clone();
        let id = id.map(|id| (Host::MACHINE_ID.to_owned(), id));
        host.facts.extend(id);
        Agent {
            name: self.name(agent).into(),
            launcher: self.launcher().into(),
            machine: hello.machine.clone(),
            version: hello.version.clone(),
            host,
            clock: utc.unwrap_or_default(),
            lost: None,
            is_left_out: false,
        }
    }

    /// Discards the lines that the agents have written so far, because they do not explain a later loss.
    pub fn forget_lines(&self) {
        for agent in &self.agents {
            agent.link.forget_lines();
        }
    }

    /// Returns why an agent was lost, or `None` if it is still connected.
    pub fn lost(&self, agent: AgentId) -> Option<&str> {
        self.agents[agent].lost.as_deref()
    }

    /// Returns the agents that are not lost.
    pub fn present(&self) -> Vec<AgentId> {
        let all = self.agents.ids();
        all.filter(|&agent| self.lost(agent).is_none()).collect()
    }

    /// Sends work to an agent, unless the agent was lost.
    pub fn give(&self, agent: AgentId, work: &impl Serialize) {
        let head = serde_json::to_value(work).expect("the keys of the work are strings");
        self.send(agent, ToAgent::Work(head));
    }

    /// Tells all agents to immediately stop all work up to and including the work with the number
    /// `number`.
    pub fn stop(&self, number: u64) {
        for agent in self.present() {
            self.send(agent, ToAgent::Stop { number });
        }
    }

    fn send(&self, agent: AgentId, message: ToAgent) {
        if self.lost(agent).is_none() {
            self.agents[agent].link.send(message, Arc::default());
        }
    }

    /// Waits for the next event, up to a timeout.
    pub fn next(&mut self, wait: Duration) -> Option<(AgentId, AgentEvent)> {
        match self.early.pop_front() {
            Some(event) => Some(event),
            None => self.hear(wait),
        }
    }

    fn hear(&mut self, wait: Duration) -> Option<(AgentId, AgentEvent)> {
        let silence_ns = self.lost_after.as_nanos() as u64;
        let is_silent = |agent: &AgentId| self.agents[*agent].link.silent_ns() > silence_ns;
        let silent = self.present().into_iter().find(is_silent);
        if let Some(agent) = silent {
            let reason = format!(
                "no message was received for {} s",
                self.lost_after.as_secs_f64()
            );
            return Some((agent, self.lose(agent, reason)));
        }
        let (agent, event) = self.events.recv_timeout(wait).ok()?;
        match event {
            // The stream of a killed agent ends, too.
            AgentEvent::Lost(_) if self.lost(agent).is_some() => None,
            AgentEvent::Lost(stream_error) => {
                let reason = self.agents[agent].link.exit_reason(&stream_error);
                Some((agent, self.lose(agent, reason)))
            }
            event => Some((agent, event)),
        }
    }

    /// Excludes an agent that cannot be used any longer.
    pub fn exclude(&mut self, agent: AgentId, reason: String) {
        self.lose(agent, reason);
    }

    /// Records the loss of an agent, and kills the agent.
    fn lose(&mut self, agent: AgentId, reason: String) -> AgentEvent {
        let pid = self.agents[agent].hello.pid;
        let is_running = self.agents[agent].link.ended().is_none();
        if is_running && let Some(mut command) = self.launcher.kill(agent.index(), pid) {
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            self.killers.extend(command.spawn());
        }
        let lost = &mut self.agents[agent];
        lost.link.kill();
        lost.lost = Some(reason.clone());
        AgentEvent::Lost(reason)
    }

    /// Compares the agents' clocks with this machine's clock.
    ///
    /// Returns two offsets for each agent: of the monotonic clock, and of the time since 1970.
    /// Returns `None` for a lost agent.
    pub fn compare_clocks(&mut self) -> IdVec<AgentId, Option<(ClockOffset, ClockOffset)>> {
        let mut exchanges: IdVec<AgentId, Vec<Exchange>> =
            IdVec::filled(Vec::new(), self.agents.len());
        for _ in 0..EXCHANGES {
            let mut pending = self.present();
            for &agent in &pending {
                self.questions += 1;
                self.agents[agent].link.ask_time(self.questions);
            }
            while !pending.is_empty() {
                match self.hear(POLL_INTERVAL) {
                    Some((agent, AgentEvent::Clock(exchange))) => {
                        exchanges[agent].push(exchange);
                        pending.retain(|&a| a != agent);
                    }
                    Some((agent, event)) => {
                        if matches!(event, AgentEvent::Lost(_)) {
                            pending.retain(|&a| a != agent);
                        }
                        self.early.push_back((agent, event));
                    }
                    None => {}
                }
            }
        }
        let offsets = |all: &Vec<Exchange>| {
            let monotonic = |r: &ClockReading| r.monotonic_ns;
            Some((offset(all, monotonic)?, offset(all, |r| r.utc_ns)?))
        };
        exchanges.iter().map(offsets).collect()
    }
}

/// Ends all agents. Kills the agents that do not exit on their own.
impl Drop for Agents {
    fn drop(&mut self) {
        for agent in self.present() {
            self.agents[agent].link.end();
        }
        let has_ended = |killer: &mut Child| killer.try_wait().is_ok_and(|ended| ended.is_some());
        let all_ended = becomes_true(|| {
            let all_ended = self.agents.iter_mut().all(|a| a.link.ended().is_some());
            all_ended && self.killers.iter_mut().all(has_ended)
        });
        if all_ended {
            return;
        }
        for killer in &mut self.killers {
            // The other machine may be unreachable.
            let _ = killer.kill();
            let _ = killer.wait();
        }
    }
}

/// Waits until each candidate has introduced itself. Returns an error if an agent cannot be started
/// or the user stops benchlab.
fn wait_for(candidates: &mut [Candidate], starting: &AgentStart) -> Result<(), StartError> {
    let began = Instant::now();
    let timeout = starting.launcher.timeout().unwrap_or(Duration::MAX);
    let mut reported = HashMap::new();
    while candidates.iter().any(Candidate::is_waited_for) {
        if (starting.stops)() {
            return Err(StartError::Stopped);
        }
        for candidate in &mut *candidates {
            candidate.advance((began.elapsed() > timeout).then_some(timeout));
            let line = candidate
                .last_line()
                .filter(|_| began.elapsed() > REPORT_AFTER);
            if let Some(line) = line
                && reported.insert(candidate.agent, line.clone()).as_ref() != Some(&line)
            {
                (starting.on_obstacle)(&format!("waiting for {}: {line}", candidate.name));
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
    let rejections: Vec<_> = candidates.iter().filter_map(Candidate::rejection).collect();
    if rejections.is_empty() {
        Ok(())
    } else {
        Err(StartError::Refused(rejections_text(&rejections)))
    }
}

/// Lists each reason once, with the names of the agents to which it applies.
fn rejections_text(rejections: &[(&str, String)]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in rejections {
        match reasons.iter_mut().find(|(other, _)| other == reason) {
            Some((_, names)) => names.push(*name),
            None => reasons.push((reason.as_str(), vec![*name])),
        }
    }
    let lines = reasons.into_iter().map(|(reason, names)| match names[..] {
        [one] => format!("cannot start an agent on {one}: {reason}"),
        _ => format!(
            "cannot start {} agents on {}: {reason}",
            names.len(),
            names.join(", ")
        ),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Asks candidates to exit, and waits for their exit up to a timeout.
fn end(mut candidates: Vec<Candidate>) {
    candidates.iter_mut().for_each(Candidate::terminate);
    becomes_true(|| candidates.iter_mut().all(Candidate::has_ended));
}

/// Returns true if a condition becomes true within [`END_TIME`].
fn becomes_true(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + END_TIME;
    loop {
        match (condition(), Instant::now() < deadline) {
            (true, _) => return true,
            (false, false) => return false,
            (false, true) => thread::sleep(POLL_INTERVAL),
        }
    }
}

/// An agent that is being started.
struct Candidate {
    name: String,
    agent: AgentId,
    attempts: VecDeque<crate::launcher::Attempt>,
    sender: Sender<(AgentId, AgentEvent)>,
    state: CandidateState,
    /// The reasons why earlier attempts to start the agent failed.
    reasons: Vec<String>,
}

enum CandidateState {
    /// The agent was started, but has not introduced itself yet. Contains the SHA-256 that the
    /// agent's program must have, or `None` if only the program's version is checked.
    Waiting(AgentLink, Option<String>),
    Welcomed(AgentLink, Hello),
    Refused,
}

impl Candidate {
    fn new(
        agent: AgentId,
        name: &str,
        starting: &AgentStart,
        program: &LabProgram,
        sender: &Sender<(AgentId, AgentEvent)>,
    ) -> Candidate {
        let attempts = starting.launcher.attempts(agent.index(), program);
        let (attempts, reasons) = match attempts {
            Ok(attempts) => (attempts.into(), Vec::new()),
            Err(e) => (VecDeque::new(), vec![e.to_string()]),
        };
        let mut candidate = Candidate {
            name: name.into(),
            agent,
            attempts,
            sender: sender.clone(),
            state: CandidateState::Refused,
            reasons,
        };
        candidate.try_next();
        candidate
    }

    fn try_next(&mut self) {
        self.state = CandidateState::Refused;
        while let Some(attempt) = self.attempts.pop_front() {
            let sha256 = attempt.sha256.clone();
            match AgentLink::start(self.agent, attempt, self.sender.clone()) {
                Ok(link) => {
                    self.state = CandidateState::Waiting(link, sha256);
                    return;
                }
                Err(e) => self.reasons.push(e.to_string()),
            }
        }
    }

    fn is_waited_for(&self) -> bool {
        matches!(self.state, CandidateState::Waiting(..))
    }

    fn link(&mut self) -> Option<&mut AgentLink> {
        match &mut self.state {
            CandidateState::Waiting(link, _) | CandidateState::Welcomed(link, _) => Some(link),
            CandidateState::Refused => None,
        }
    }

    /// Returns the last line written by a candidate that has not introduced itself.
    fn last_line(&self) -> Option<String> {
        match &self.state {
            CandidateState::Waiting(link, _) => link.last_line(),
            CandidateState::Welcomed(..) | CandidateState::Refused => None,
        }
    }

    fn terminate(&mut self) {
        if let Some(link) = self.link() {
            link.terminate();
        }
    }

    fn has_ended(&mut self) -> bool {
        self.link().is_none_or(|link| link.ended().is_some())
    }

    /// Processes the messages that have been received so far.
    ///
    /// `late` is the elapsed time if the agent has had enough time to respond. In this case, the
    /// function rejects an agent that has not responded.
    fn advance(&mut self, late: Option<Duration>) {
        let CandidateState::Waiting(link, sha256) = &mut self.state else {
            return;
        };
        let reason = match (link.hello(), late) {
            (None, Some(late)) => {
                self.attempts.clear();
                Some(format!("no agent responded within {} s", late.as_secs()))
            }
            (None, None) => return,
            (Some(Err(reason)), _) => Some(reason),
            (Some(Ok(hello)), _) => match version_mismatch(&hello, sha256.as_deref()) {
                Some(reason) => Some(reason),
                None => {
                    let CandidateState::Waiting(link, _) =
                        std::mem::replace(&mut self.state, CandidateState::Refused)
                    else {
                        return;
                    };
                    self.state = CandidateState::Welcomed(link, hello);
                    None
                }
            },
        };
        if let Some(reason) = reason {
            // The next attempt often fails for the same reason.
            if self.reasons.last() != Some(&reason) {
                self.reasons.push(reason);
            }
            self.try_next();
        }
    }

    /// Returns the agent's name and why it cannot be started, or `None` if it was not
    /// rejected.
    fn rejection(&self) -> Option<(&str, String)> {
        let is_refused = matches!(self.state, CandidateState::Refused);
        is_refused.then(|| (self.name.as_str(), self.reasons.join("; then ")))
    }

    fn into_agent(self) -> Option<StartedAgent> {
        match self.state {
            CandidateState::Welcomed(link, hello) => Some(StartedAgent {
                name: self.name,
                link,
                hello,
                lost: None,
            }),
            CandidateState::Waiting(..) | CandidateState::Refused => None,
        }
    }
}

/// Describes how an agent's program differs from the coordinator's program. Returns `None` if they
/// are the same.
fn version_mismatch(hello: &Hello, sha256: Option<&str>) -> Option<String> {
    if hello.version != VERSION {
        let version = hello.version.escape_default();
        return Some(format!(
            "the agent runs benchlab {version}, but the coordinator runs {VERSION}: install the same version on both"
        ));
    }
    match sha256 {
        Some(expected) if hello.sha256.as_deref() != Some(expected) => Some(format!(
            "the agent and the coordinator run different builds of benchlab {VERSION}: install the same build on both"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_reported_once() {
        let text = |all: &[(&'static str, &str)]| {
            let all = all.iter().map(|(name, reason)| (*name, reason.to_string()));
            rejections_text(&all.collect::<Vec<_>>())
        };
        assert_eq!(
            text(&[("a", "no sh"), ("b", "gone"), ("c", "no sh")]),
            "cannot start 2 agents on a, c: no sh\ncannot start an agent on b: gone"
        );
    }
}
