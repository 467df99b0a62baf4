// SPDX-License-Identifier: Apache-2.0
//! All agents of a run, for their coordinator: started together, listened to, and ended together.

use crate::clock::{ClockReading, Exchange, offset};
use crate::launcher::Launcher;
use crate::limits::ResourceLimits;
use crate::link::{AgentEvent, AgentLink};
use crate::message::{Hello, ToAgent};
use crate::program::{LabProgram, VERSION};
use lab_model::{Agent, AgentId, ClockOffset, Host};
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long agents may take to end by themselves.
const END_TIME: Duration = Duration::from_secs(5);

/// How long agents are waited for before it is reported what for.
const REPORT_AFTER: Duration = Duration::from_secs(5);

/// Between two checks of processes and streams that are waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Exchanges by which clocks are compared.
const EXCHANGES: usize = 16;

/// How agents are started.
#[derive(Clone)]
pub struct AgentStart {
    /// Starts the agents.
    pub launcher: Arc<dyn Launcher>,
    /// An agent that is silent for so long is lost.
    pub lost_after: Duration,
    /// Called now and then: whether to stop.
    pub stops: fn() -> bool,
    /// Called with what is waited for, if that takes long.
    pub tells: fn(&str),
}

/// Why agents were not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The reader wants to stop.
    #[error("stopped")]
    Stopped,
    /// One or more cannot be started; each with its reason.
    #[error("{0}")]
    Refused(String),
}

/// Agents that do a run's work. Dropping it ends them all.
pub struct Agents {
    agents: Vec<StartedAgent>,
    events: Receiver<(AgentId, AgentEvent)>,
    /// Events that came while something else was waited for.
    early: VecDeque<(AgentId, AgentEvent)>,
    launcher: Arc<dyn Launcher>,
    lost_after: Duration,
    questions: u64,
    /// Commands that end processes which do not answer.
    killers: Vec<Child>,
}

struct StartedAgent {
    name: String,
    link: AgentLink,
    hello: Hello,
    lost: Option<String>,
}

impl Agents {
    /// Starts one at each place, all at once. Error: one cannot be started; then none is left.
    pub fn start(starting: &AgentStart) -> Result<Agents, StartError> {
        let (sender, events) = channel();
        let program = LabProgram::default();
        let places = starting.launcher.places();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (place, name) in places.iter().enumerate() {
            candidates.push(Candidate::new(place, name, starting, &program, &sender));
        }
        let started = wait_for(&mut candidates, starting);
        if let Err(error) = started {
            end(candidates);
            return Err(error);
        }
        let agents = candidates.into_iter().filter_map(Candidate::into_agent);
        let agents = agents.inspect(|agent| {
            let silence_ns = starting.lost_after.as_nanos() as u64;
            let limits = ResourceLimits::own();
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

    /// Waits until each agent that is present has answered once. `take` accepts an answer, or refuses it with a reason;
    /// `tell` gets the agents' lines.
    ///
    /// # Errors
    /// `stops` says so, an agent was lost or cannot do its work, or an answer was refused.
    pub fn answers(
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
            let refusal = |reason: &str| StartError::Refused(format!("{name}: {reason}"));
            match event {
                AgentEvent::Work(head, body) => {
                    take(agent, head, body).map_err(|reason| refusal(&reason))?;
                    pending.retain(|&a| a != agent);
                }
                AgentEvent::Failed(reason) => return Err(refusal(&reason)),
                AgentEvent::Lost(reason) => {
                    return Err(refusal(&format!("the agent was lost: {reason}")));
                }
                AgentEvent::Line(line) => tell(&format!("{name}: {line}")),
                AgentEvent::Clock(_) => {}
            }
        }
        Ok(())
    }

    /// How many were started, lost ones included.
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// True if none was started.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// The name of what starts them.
    pub fn launcher(&self) -> &'static str {
        self.launcher.name()
    }

    /// The name of an agent's place.
    pub fn name(&self, agent: AgentId) -> &str {
        &self.agents[agent].name
    }

    /// How an agent introduced itself.
    pub fn hello(&self, agent: AgentId) -> &Hello {
        &self.agents[agent].hello
    }

    /// The agent's entry in the run file; `host`: as the agent reported it.
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

    /// Forgets the lines that they wrote so far: they do not explain a later loss.
    pub fn forget_lines(&self) {
        for agent in &self.agents {
            agent.link.forget_lines();
        }
    }

    /// Why an agent was lost; `None`: it is present.
    pub fn lost(&self, agent: AgentId) -> Option<&str> {
        self.agents[agent].lost.as_deref()
    }

    /// The agents that are not lost.
    pub fn present(&self) -> Vec<AgentId> {
        let all = 0..self.agents.len();
        all.filter(|&agent| self.lost(agent).is_none()).collect()
    }

    /// Gives an agent work. A lost one gets none.
    pub fn give(&self, agent: AgentId, work: &impl Serialize) {
        let head = serde_json::to_value(work).expect("work has string keys only");
        self.send(agent, ToAgent::Work(head));
    }

    /// Has all agents end their work at once, up to the work of this number.
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

    /// Waits for the next event, for a time at most.
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
            let reason = format!("it said nothing for {} s", self.lost_after.as_secs_f64());
            return Some((agent, self.lose(agent, reason)));
        }
        let (agent, event) = self.events.recv_timeout(wait).ok()?;
        match event {
            // The stream of an agent that was killed ends, too.
            AgentEvent::Lost(_) if self.lost(agent).is_some() => None,
            AgentEvent::Lost(stream_error) => {
                let reason = self.agents[agent].link.exit_reason(&stream_error);
                Some((agent, self.lose(agent, reason)))
            }
            event => Some((agent, event)),
        }
    }

    /// Excludes an agent that is of no use.
    pub fn exclude(&mut self, agent: AgentId, reason: String) {
        self.lose(agent, reason);
    }

    /// Excludes an agent and kills it.
    fn lose(&mut self, agent: AgentId, reason: String) -> AgentEvent {
        let pid = self.agents[agent].hello.pid;
        let is_running = self.agents[agent].link.ended().is_none();
        if is_running && let Some(mut command) = self.launcher.kill(agent, pid) {
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

    /// How far the clocks of the present agents are ahead of this machine's: the monotonic clock, and the time since
    /// 1970. `None` for lost ones.
    pub fn compare_clocks(&mut self) -> Vec<Option<(ClockOffset, ClockOffset)>> {
        let mut exchanges: Vec<Vec<Exchange>> = vec![Vec::new(); self.agents.len()];
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

/// Ends all: those that do not end by themselves are killed.
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

/// Waits until each candidate has introduced itself. Error: one cannot be started, or the reader stops.
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
                && reported.insert(candidate.place, line.clone()).as_ref() != Some(&line)
            {
                (starting.tells)(&format!("waiting for {}: {line}", candidate.name));
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
    let refusals: Vec<_> = candidates.iter().filter_map(Candidate::refusal).collect();
    if refusals.is_empty() {
        Ok(())
    } else {
        Err(StartError::Refused(refusals_text(&refusals)))
    }
}

/// Each reason once, with the names of the agents that have it.
fn refusals_text(refusals: &[(&str, String)]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in refusals {
        match reasons.iter_mut().find(|(other, _)| other == reason) {
            Some((_, names)) => names.push(*name),
            None => reasons.push((reason.as_str(), vec![*name])),
        }
    }
    let lines = reasons.into_iter().map(|(reason, names)| match names[..] {
        [one] => format!("no agent can be started on {one}: {reason}"),
        _ => format!(
            "{} agents cannot be started, on {}: {reason}",
            names.len(),
            names.join(", ")
        ),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Ends candidates in order, as far as they end soon.
fn end(mut candidates: Vec<Candidate>) {
    candidates.iter_mut().for_each(Candidate::terminate);
    becomes_true(|| candidates.iter_mut().all(Candidate::has_ended));
}

/// True if a condition becomes true within the time that agents have to end.
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
    place: AgentId,
    attempts: VecDeque<crate::launcher::Attempt>,
    sender: Sender<(AgentId, AgentEvent)>,
    state: CandidateState,
    /// Why earlier attempts failed.
    reasons: Vec<String>,
}

enum CandidateState {
    /// Started; its program must have this SHA-256, if any.
    Waiting(AgentLink, Option<String>),
    Welcomed(AgentLink, Hello),
    Refused,
}

impl Candidate {
    fn new(
        place: AgentId,
        name: &str,
        starting: &AgentStart,
        program: &LabProgram,
        sender: &Sender<(AgentId, AgentEvent)>,
    ) -> Candidate {
        let attempts = starting.launcher.attempts(place, program);
        let (attempts, reasons) = match attempts {
            Ok(attempts) => (attempts.into(), Vec::new()),
            Err(e) => (VecDeque::new(), vec![e.to_string()]),
        };
        let mut candidate = Candidate {
            name: name.into(),
            place,
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
            match AgentLink::start(self.place, attempt, self.sender.clone()) {
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

    /// The last line of one that is waited for.
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

    /// Goes on with what was received by now. `late`: the time after which an agent without an answer is given up.
    fn advance(&mut self, late: Option<Duration>) {
        let CandidateState::Waiting(link, sha256) = &mut self.state else {
            return;
        };
        let reason = match (link.hello(), late) {
            (None, Some(late)) => {
                self.attempts.clear();
                Some(format!("no agent was heard for {} s", late.as_secs()))
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

    /// Its name, and why it cannot be started; `None`: it was not refused.
    fn refusal(&self) -> Option<(&str, String)> {
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

/// Why an agent is another program than the coordinator; `None`: it is the same.
fn version_mismatch(hello: &Hello, sha256: Option<&str>) -> Option<String> {
    if hello.version != VERSION {
        let version = hello.version.escape_default();
        return Some(format!(
            "it is benchlab {version}, and this is {VERSION} (both must be the same)"
        ));
    }
    match sha256 {
        Some(expected) if hello.sha256.as_deref() != Some(expected) => Some(format!(
            "it is another build of benchlab {VERSION} (both must be the same)"
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
            refusals_text(&all.collect::<Vec<_>>())
        };
        assert_eq!(
            text(&[("a", "no sh"), ("b", "gone"), ("c", "no sh")]),
            "2 agents cannot be started, on a, c: no sh\nno agent can be started on b: gone"
        );
    }
}
