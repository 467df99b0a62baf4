// SPDX-License-Identifier: Apache-2.0
//! All agents of a run, as their coordinator sees them: started together, heard, and ended together.

use crate::clock::{Exchange, Reading, offset};
use crate::launcher::Launcher;
use crate::limits::Limits;
use crate::link::{Event, Link};
use crate::message::{Hello, ToAgent};
use crate::program::{Program, VERSION};
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
const END: Duration = Duration::from_secs(5);

/// How long agents are waited for before it is said what for.
const TELL: Duration = Duration::from_secs(5);

/// Between two looks at processes and streams that are waited for.
const LOOK: Duration = Duration::from_millis(10);

/// Exchanges by which clocks are compared.
const EXCHANGES: usize = 16;

/// How agents are started.
#[derive(Clone)]
pub struct Starting {
    /// Where.
    pub launcher: Arc<dyn Launcher>,
    /// Who says nothing for so long is lost.
    pub lost_after: Duration,
    /// Asked now and then whether to stop.
    pub stops: fn() -> bool,
    /// Told what is waited for, if that takes long.
    pub tells: fn(&str),
}

/// Why agents were not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The reader wants to stop.
    #[error("stopped")]
    Stopped,
    /// One or more could not be had; each with its reason.
    #[error("{0}")]
    Refused(String),
}

/// Agents that do a run's work. Dropping it ends them all.
pub struct Agents {
    agents: Vec<OneAgent>,
    events: Receiver<(AgentId, Event)>,
    /// What came while something else was waited for.
    early: VecDeque<(AgentId, Event)>,
    launcher: Arc<dyn Launcher>,
    lost_after: Duration,
    questions: u64,
    /// Commands that end processes which do not answer.
    killers: Vec<Child>,
}

struct OneAgent {
    name: String,
    link: Link,
    hello: Hello,
    lost: Option<String>,
}

impl Agents {
    /// Starts one at each place, all at once. Error: one cannot be had; then none is left.
    pub fn start(starting: &Starting) -> Result<Agents, StartError> {
        let (sender, events) = channel();
        let program = Program::default();
        let places = starting.launcher.places();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (place, name) in places.iter().enumerate() {
            candidates.push(Candidate::new(place, name, starting, &program, &sender));
        }
        let started = wait_for(&mut candidates, starting);
        if let Err(why) = started {
            end(candidates);
            return Err(why);
        }
        let agents = candidates.into_iter().filter_map(Candidate::welcomed);
        let agents = agents.inspect(|agent| {
            let silence_ns = starting.lost_after.as_nanos() as u64;
            let limits = Limits::own();
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

    /// Waits until each that is present has answered once. `take` refuses an answer in words; `tell` has their lines.
    ///
    /// # Errors
    /// `stops` says so, an agent was lost or cannot do its work, or an answer was refused.
    pub fn answers(
        &mut self,
        stops: fn() -> bool,
        tell: &mut dyn FnMut(&str),
        take: &mut dyn FnMut(AgentId, Value, Vec<u8>) -> Result<(), String>,
    ) -> Result<(), StartError> {
        let mut waited_for = self.present();
        while !waited_for.is_empty() {
            if stops() {
                return Err(StartError::Stopped);
            }
            let Some((agent, event)) = self.next(LOOK) else {
                continue;
            };
            let name = self.name(agent);
            let refused = |why: &str| StartError::Refused(format!("{name}: {why}"));
            match event {
                Event::Work(head, body) => {
                    take(agent, head, body).map_err(|why| refused(&why))?;
                    waited_for.retain(|&a| a != agent);
                }
                Event::Failed(why) => return Err(refused(&why)),
                Event::Lost(why) => return Err(refused(&format!("the agent was lost: {why}"))),
                Event::Line(line) => tell(&format!("{name}: {line}")),
                Event::Clock(_) => {}
            }
        }
        Ok(())
    }

    /// How many there were at first.
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Whether there were none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// What starts them.
    pub fn launcher(&self) -> &'static str {
        self.launcher.name()
    }

    /// Where one was started.
    pub fn name(&self, agent: AgentId) -> &str {
        &self.agents[agent].name
    }

    /// Who one said that it is.
    pub fn hello(&self, agent: AgentId) -> &Hello {
        &self.agents[agent].hello
    }

    /// What the run file keeps of one; `host`: as it says itself.
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

    /// What they wrote until now says nothing of why they are lost later.
    pub fn forget_lines(&self) {
        for agent in &self.agents {
            agent.link.forget_lines();
        }
    }

    /// Why one was lost; `None`: it is there.
    pub fn lost(&self, agent: AgentId) -> Option<&str> {
        self.agents[agent].lost.as_deref()
    }

    /// Those that are there.
    pub fn present(&self) -> Vec<AgentId> {
        let all = 0..self.agents.len();
        all.filter(|&agent| self.lost(agent).is_none()).collect()
    }

    /// Gives one work. Who was lost gets none.
    pub fn give(&self, agent: AgentId, work: &impl Serialize) {
        let head = serde_json::to_value(work).expect("work has string keys only");
        self.send(agent, ToAgent::Work(head));
    }

    /// Has all end at once what they do, up to the work of this number.
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

    /// The next event, for which it waits no longer than so.
    pub fn next(&mut self, wait: Duration) -> Option<(AgentId, Event)> {
        match self.early.pop_front() {
            Some(event) => Some(event),
            None => self.hear(wait),
        }
    }

    fn hear(&mut self, wait: Duration) -> Option<(AgentId, Event)> {
        let silence_ns = self.lost_after.as_nanos() as u64;
        let is_silent = |agent: &AgentId| self.agents[*agent].link.silent_ns() > silence_ns;
        let silent = self.present().into_iter().find(is_silent);
        if let Some(agent) = silent {
            let why = format!("it said nothing for {} s", self.lost_after.as_secs_f64());
            return Some((agent, self.lose(agent, why)));
        }
        let (agent, event) = self.events.recv_timeout(wait).ok()?;
        match event {
            // Its stream ends when it is killed, too.
            Event::Lost(_) if self.lost(agent).is_some() => None,
            Event::Lost(heard) => {
                let why = self.agents[agent].link.exit_reason(&heard);
                Some((agent, self.lose(agent, why)))
            }
            event => Some((agent, event)),
        }
    }

    /// From now on an agent that is of no use does not take part.
    pub fn exclude(&mut self, agent: AgentId, why: String) {
        self.lose(agent, why);
    }

    /// From now on an agent does not take part.
    fn lose(&mut self, agent: AgentId, why: String) -> Event {
        let pid = self.agents[agent].hello.pid;
        let still_there = self.agents[agent].link.ended().is_none();
        if still_there && let Some(mut command) = self.launcher.kill(agent, pid) {
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            self.killers.extend(command.spawn());
        }
        let lost = &mut self.agents[agent];
        lost.link.kill();
        lost.lost = Some(why.clone());
        Event::Lost(why)
    }

    /// How far the clocks of those that are there are ahead of this machine's: since some moment of the past, and since
    /// 1970. Of the others nothing.
    pub fn compare_clocks(&mut self) -> Vec<Option<(ClockOffset, ClockOffset)>> {
        let mut exchanges: Vec<Vec<Exchange>> = vec![Vec::new(); self.agents.len()];
        for _ in 0..EXCHANGES {
            let mut waited_for = self.present();
            for &agent in &waited_for {
                self.questions += 1;
                self.agents[agent].link.ask_time(self.questions);
            }
            while !waited_for.is_empty() {
                match self.hear(LOOK) {
                    Some((agent, Event::Clock(exchange))) => {
                        exchanges[agent].push(exchange);
                        waited_for.retain(|&a| a != agent);
                    }
                    Some((agent, event)) => {
                        if matches!(event, Event::Lost(_)) {
                            waited_for.retain(|&a| a != agent);
                        }
                        self.early.push_back((agent, event));
                    }
                    None => {}
                }
            }
        }
        let both = |all: &Vec<Exchange>| {
            let monotonic = |r: &Reading| r.monotonic_ns;
            Some((offset(all, monotonic)?, offset(all, |r| r.utc_ns)?))
        };
        exchanges.iter().map(both).collect()
    }
}

/// Ends all: those that do not end by themselves are killed.
impl Drop for Agents {
    fn drop(&mut self) {
        for agent in self.present() {
            self.agents[agent].link.end();
        }
        let killed = |killer: &mut Child| killer.try_wait().is_ok_and(|ended| ended.is_some());
        let all_ended = is_soon(|| {
            let all_ended = self.agents.iter_mut().all(|a| a.link.ended().is_some());
            all_ended && self.killers.iter_mut().all(killed)
        });
        if all_ended {
            return;
        }
        for killer in &mut self.killers {
            // The other machine cannot be reached, perhaps.
            let _ = killer.kill();
            let _ = killer.wait();
        }
    }
}

/// Until each candidate has said who it is. Error: one cannot be had, or nobody waits any more.
fn wait_for(candidates: &mut [Candidate], starting: &Starting) -> Result<(), StartError> {
    let began = Instant::now();
    let patience = starting.launcher.patience().unwrap_or(Duration::MAX);
    let mut said = HashMap::new();
    while candidates.iter().any(Candidate::is_waited_for) {
        if (starting.stops)() {
            return Err(StartError::Stopped);
        }
        for candidate in &mut *candidates {
            candidate.advance((began.elapsed() > patience).then_some(patience));
            let line = candidate.last_line().filter(|_| began.elapsed() > TELL);
            if let Some(line) = line
                && said.insert(candidate.place, line.clone()).as_ref() != Some(&line)
            {
                (starting.tells)(&format!("waiting for {}: {line}", candidate.name));
            }
        }
        thread::sleep(LOOK);
    }
    let refused: Vec<_> = candidates.iter().filter_map(Candidate::refused).collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(StartError::Refused(in_words(&refused)))
    }
}

/// Each reason once, with the names of those that have it.
fn in_words(refused: &[(&str, String)]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in refused {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(*name),
            None => reasons.push((why.as_str(), vec![*name])),
        }
    }
    let lines = reasons.into_iter().map(|(why, names)| match names[..] {
        [one] => format!("no agent can be started on {one}: {why}"),
        _ => format!(
            "{} agents cannot be started, on {}: {why}",
            names.len(),
            names.join(", ")
        ),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Has what was started end in order, as far as it does so soon.
fn end(mut candidates: Vec<Candidate>) {
    candidates.iter_mut().for_each(Candidate::terminate);
    is_soon(|| candidates.iter_mut().all(Candidate::has_ended));
}

/// Whether it is so within the time that agents have to end.
fn is_soon(mut so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + END;
    loop {
        match (so(), Instant::now() < deadline) {
            (true, _) => return true,
            (false, false) => return false,
            (false, true) => thread::sleep(LOOK),
        }
    }
}

/// An agent that is being started.
struct Candidate {
    name: String,
    place: AgentId,
    attempts: VecDeque<crate::launcher::Attempt>,
    sender: Sender<(AgentId, Event)>,
    state: State,
    /// Why attempts before failed.
    reasons: Vec<String>,
}

enum State {
    /// Started, and its SHA-256 must be this.
    Waited(Link, Option<String>),
    Welcomed(Link, Hello),
    Refused,
}

impl Candidate {
    fn new(
        place: AgentId,
        name: &str,
        starting: &Starting,
        program: &Program,
        sender: &Sender<(AgentId, Event)>,
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
            state: State::Refused,
            reasons,
        };
        candidate.try_next();
        candidate
    }

    fn try_next(&mut self) {
        self.state = State::Refused;
        while let Some(attempt) = self.attempts.pop_front() {
            let sha256 = attempt.sha256.clone();
            match Link::start(self.place, attempt, self.sender.clone()) {
                Ok(link) => {
                    self.state = State::Waited(link, sha256);
                    return;
                }
                Err(e) => self.reasons.push(e.to_string()),
            }
        }
    }

    fn is_waited_for(&self) -> bool {
        matches!(self.state, State::Waited(..))
    }

    fn link(&mut self) -> Option<&mut Link> {
        match &mut self.state {
            State::Waited(link, _) | State::Welcomed(link, _) => Some(link),
            State::Refused => None,
        }
    }

    /// The last line of one that is waited for.
    fn last_line(&self) -> Option<String> {
        match &self.state {
            State::Waited(link, _) => link.last_line(),
            State::Welcomed(..) | State::Refused => None,
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

    /// Goes on with what is heard by now; `late`: it had so much time.
    fn advance(&mut self, late: Option<Duration>) {
        let State::Waited(link, sha256) = &mut self.state else {
            return;
        };
        let reason = match (link.hello(), late) {
            (None, Some(late)) => {
                self.attempts.clear();
                Some(format!("no agent was heard for {} s", late.as_secs()))
            }
            (None, None) => return,
            (Some(Err(why)), _) => Some(why),
            (Some(Ok(hello)), _) => match version_mismatch(&hello, sha256.as_deref()) {
                Some(why) => Some(why),
                None => {
                    let State::Waited(link, _) = std::mem::replace(&mut self.state, State::Refused)
                    else {
                        return;
                    };
                    self.state = State::Welcomed(link, hello);
                    None
                }
            },
        };
        if let Some(reason) = reason {
            // What keeps one from starting may keep the next.
            if self.reasons.last() != Some(&reason) {
                self.reasons.push(reason);
            }
            self.try_next();
        }
    }

    /// Its name, and why it cannot be had.
    fn refused(&self) -> Option<(&str, String)> {
        let is_refused = matches!(self.state, State::Refused);
        is_refused.then(|| (self.name.as_str(), self.reasons.join("; then ")))
    }

    fn welcomed(self) -> Option<OneAgent> {
        match self.state {
            State::Welcomed(link, hello) => Some(OneAgent {
                name: self.name,
                link,
                hello,
                lost: None,
            }),
            State::Waited(..) | State::Refused => None,
        }
    }
}

/// Why an agent is not the program that it should be.
fn version_mismatch(hello: &Hello, sha256: Option<&str>) -> Option<String> {
    if hello.version != VERSION {
        let theirs = hello.version.escape_default();
        return Some(format!("benchlab {theirs} is there, and {VERSION} here"));
    }
    match sha256 {
        Some(own) if hello.sha256.as_deref() != Some(own) => {
            Some(format!("another build of benchlab {VERSION} is there"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once() {
        let refused = |all: &[(&'static str, &str)]| {
            let all = all.iter().map(|(name, why)| (*name, why.to_string()));
            in_words(&all.collect::<Vec<_>>())
        };
        assert_eq!(
            refused(&[("a", "no sh"), ("b", "gone"), ("c", "no sh")]),
            "2 agents cannot be started, on a, c: no sh\nno agent can be started on b: gone"
        );
    }
}
