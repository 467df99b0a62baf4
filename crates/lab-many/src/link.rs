// SPDX-License-Identifier: Apache-2.0
//! The coordinator's side of the connection to one agent: a process, and a thread for each of the
//! process's three streams.

use crate::agent::BEAT;
use crate::clock::{ClockReading, Exchange};
use crate::launcher::Attempt;
use crate::message::{Hello, ToAgent, ToCoordinator};
use crate::wire;
use lab_model::AgentId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The stack size in bytes of a thread that copies data. It is small, so that a thousand agents
/// need little memory.
const STACK: usize = 256 << 10;

/// The maximum number of bytes that a login shell may write before an agent starts.
const MAX_BEFORE: usize = 64 << 10;

/// The maximum number of an agent's last lines that are stored to explain the loss of the agent.
const KEPT_LINES: usize = 5;

/// A message of an agent, or its loss.
#[derive(Debug)]
pub enum AgentEvent {
    /// The result of the agent's work.
    Work(Value, Vec<u8>),
    /// The agent cannot do its work. Contains the reason.
    Failed(String),
    /// The response to a clock request.
    Clock(Exchange),
    /// A line on standard error, from the agent or the program that started it.
    Line(String),
    /// The agent was lost. Contains the reason.
    Lost(String),
}

/// An agent's process and its streams.
pub struct AgentLink {
    child: Child,
    out: Sender<Outgoing>,
    hello: Receiver<Result<Hello, String>>,
    /// A channel. Sending a value on it starts the reporting of events.
    accepted: Sender<()>,
    shared: Arc<LinkState>,
}

/// Data to write to an agent.
enum Outgoing {
    Raw(Arc<[u8]>),
    Message(ToAgent, Arc<[u8]>),
    /// A clock request. Contains its number. The clock is read when the request is written.
    Clock(u64),
    /// The end of the stream.
    End,
}

struct LinkState {
    agent: AgentId,
    events: Sender<(AgentId, AgentEvent)>,
    began: Instant,
    /// The time of the agent's last message, or of the welcome if that is later, in ns since
    /// `began`.
    last_message_ns: AtomicU64,
    /// The time at which each pending clock request was sent, by the number of the request.
    questions: Mutex<HashMap<u64, ClockReading>>,
    lines: Mutex<ErrorLines>,
}

/// The lines that an agent writes to standard error.
#[derive(Default)]
struct ErrorLines {
    last: VecDeque<String>,
    /// True if lines are reported immediately. False if they are reported only when the agent is
    /// lost.
    is_reported: bool,
    /// True if standard error has ended.
    is_complete: bool,
}

impl AgentLink {
    /// Starts an agent with the command of an attempt.
    pub fn start(
        agent: AgentId,
        mut attempt: Attempt,
        events: Sender<(AgentId, AgentEvent)>,
    ) -> io::Result<AgentLink> {
        let command = &mut attempt.command;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C reaches only the coordinator, which ends the agents gracefully.
        command.process_group(0);
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .spawn()
            .map_err(|e| io::Error::other(format!("{name}: {e}")))?;
        let shared = Arc::new(LinkState {
            agent,
            events,
            began: Instant::now(),
            last_message_ns: AtomicU64::new(0),
            questions: Mutex::default(),
            lines: Mutex::default(),
        });
        let missing = || io::Error::other("a stream is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (out, outgoing) = channel();
        let (hello_sender, hello) = channel();
        let (accepted, is_accepted) = channel();
        let writer = shared.clone();
        spawn(move || writer.write(stdin, &outgoing))?;
        let reader = shared.clone();
        spawn(move || reader.read(BufReader::new(stdout), &hello_sender, &is_accepted))?;
        let listener = shared.clone();
        spawn(move || listener.read_lines(BufReader::new(stderr)))?;
        let link = AgentLink {
            child,
            out,
            hello,
            accepted,
            shared,
        };
        if let Some(bytes) = attempt.sends {
            link.put(Outgoing::Raw(bytes));
        }
        Ok(link)
    }

    /// Returns the agent's introduction, or `None` if it has not arrived yet.
    ///
    /// Returns an error with the reason if the process has exited or is not an agent.
    pub fn hello(&mut self) -> Option<Result<Hello, String>> {
        let outcome = match self.hello.try_recv() {
            Ok(outcome) => outcome,
            Err(TryRecvError::Empty) => return None,
            Err(_) => Err(String::new()),
        };
        Some(outcome.map_err(|output| self.exit_reason(&output)))
    }

    /// Sends a message.
    pub fn send(&self, message: ToAgent, body: Arc<[u8]>) {
        self.put(Outgoing::Message(message, body));
    }

    /// Asks the agent for the time of its clock. The response arrives as an event.
    pub fn ask_time(&self, number: u64) {
        self.put(Outgoing::Clock(number));
    }

    /// Welcomes the agent, and starts to report its events.
    ///
    /// An agent sends nothing between its introduction and the welcome, which waits for the slowest
    /// agent. That time does not count as silence.
    pub fn accept(&self, welcome: ToAgent) {
        self.shared.note_message();
        self.send(welcome, Arc::default());
        self.shared.lines().is_reported = true;
        let _ = self.accepted.send(());
    }

    /// Returns the time since the welcome or the agent's last message, whichever is later, in ns.
    pub fn silent_ns(&self) -> u64 {
        let last_message_ns = self.shared.last_message_ns.load(SeqCst);
        self.shared.now_ns().saturating_sub(last_message_ns)
    }

    /// Ends the agent's work and the stream.
    pub fn end(&self) {
        self.send(ToAgent::End, Arc::default());
        self.put(Outgoing::End);
    }

    /// Returns the exit status of the process, if it has exited.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the last line on standard error.
    pub fn last_line(&self) -> Option<String> {
        self.shared.lines().last.back().cloned()
    }

    /// Discards the lines received so far, because they do not explain a later loss.
    pub fn forget_lines(&self) {
        self.shared.lines().last.clear();
    }

    /// Asks the process to exit.
    pub fn terminate(&mut self) {
        if self.ended().is_none() {
            let process = Pid::from_raw(self.child.id() as i32);
            // A process that exits in the meantime needs no signal.
            let _ = kill(process, Signal::SIGTERM);
        }
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        // It is not an error if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Returns a message that explains why an agent exited unexpectedly. `output` is the output
    /// that the agent wrote instead of a message.
    pub fn exit_reason(&mut self, output: &str) -> String {
        // Standard output, standard error and the process end one after the other, on a busy machine
        // within seconds. Another process can keep standard error open.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !(self.ended().is_some() && self.shared.lines().is_complete)
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(5));
        }
        let ending = match self.ended() {
            Some(status) => format!("the agent's process exited ({status})"),
            None => "the agent's connection was closed".into(),
        };
        let lines = self.shared.lines();
        let last = lines.last.iter().map(String::as_str);
        let details: Vec<&str> = last
            .chain([output])
            .filter(|line| !line.is_empty())
            .collect();
        if details.is_empty() {
            ending
        } else {
            format!("{ending}: {}", details.join("; "))
        }
    }

    /// Queues data to be written. If the agent has exited, the thread that reads the agent's output
    /// reports the exit.
    fn put(&self, outgoing: Outgoing) {
        let _ = self.out.send(outgoing);
    }
}

/// Kills the process, unless it has exited.
impl Drop for AgentLink {
    fn drop(&mut self) {
        self.kill();
    }
}

impl LinkState {
    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Starts to measure the agent's silence anew.
    fn note_message(&self) {
        self.last_message_ns.store(self.now_ns(), SeqCst);
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, ErrorLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending_readings(&self) -> std::sync::MutexGuard<'_, HashMap<u64, ClockReading>> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, event: AgentEvent) -> bool {
        self.events.send((self.agent, event)).is_ok()
    }

    fn write(&self, mut stdin: ChildStdin, outgoing: &Receiver<Outgoing>) {
        let mut is_greeted = false;
        loop {
            let next = match outgoing.recv_timeout(BEAT) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) if is_greeted => {
                    Outgoing::Message(ToAgent::Beat, Arc::default())
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            is_greeted |= matches!(next, Outgoing::Message(..));
            let written = match next {
                Outgoing::Raw(bytes) => stdin.write_all(&bytes),
                Outgoing::Message(message, body) => wire::write(&mut stdin, &message, &body),
                Outgoing::Clock(number) => {
                    self.pending_readings().insert(number, ClockReading::now());
                    wire::write(&mut stdin, &ToAgent::Clock { number }, &[])
                }
                Outgoing::End => return,
            };
            if written.is_err() {
                return;
            }
        }
    }

    fn read(
        &self,
        mut stdout: impl Read,
        hello: &Sender<Result<Hello, String>>,
        is_accepted: &Receiver<()>,
    ) {
        if let Err(output) = wire::read_magic(&mut stdout, MAX_BEFORE) {
            let _ = hello.send(Err(output));
            return;
        }
        let reason = loop {
            let message = match wire::read(&mut stdout) {
                Ok(message) => message,
                Err(e) => break format!("cannot read the agent's messages: {e}"),
            };
            let received = ClockReading::now();
            self.note_message();
            let can_go_on = match message {
                None => break String::new(),
                Some((ToCoordinator::Hello(introduction), _)) => {
                    hello.send(Ok(introduction)).is_ok() && is_accepted.recv().is_ok()
                }
                Some((ToCoordinator::Beat, _)) => true,
                Some((ToCoordinator::Work(head), body)) => {
                    self.report(AgentEvent::Work(head, body))
                }
                Some((ToCoordinator::Failed(reason), _)) => self.report(AgentEvent::Failed(reason)),
                Some((
                    ToCoordinator::Clock {
                        number,
                        received: received_there,
                        answered,
                    },
                    _,
                )) => {
                    let sent = self.pending_readings().remove(&number);
                    sent.is_none_or(|sent| {
                        self.report(AgentEvent::Clock(Exchange {
                            sent,
                            received_there,
                            answered_there: answered,
                            received,
                        }))
                    })
                }
            };
            if !can_go_on {
                return;
            }
        };
        self.report(AgentEvent::Lost(reason));
    }

    fn read_lines(&self, stderr: impl BufRead) {
        for line in stderr.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            // The agent's name is already shown before the line.
            let line = line.strip_prefix("benchlab: ").unwrap_or(line).to_owned();
            let mut lines = self.lines();
            if lines.last.len() == KEPT_LINES {
                lines.last.pop_front();
            }
            lines.last.push_back(line.clone());
            let is_reported = lines.is_reported;
            drop(lines);
            if is_reported && !self.report(AgentEvent::Line(line)) {
                break;
            }
        }
        self.lines().is_complete = true;
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().stack_size(STACK);
    thread.spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ResourceLimits;
    use std::process::Command;

    /// Starts a process that sends an agent's introduction and then nothing, like an agent that
    /// waits for its welcome.
    fn start_waiting_agent(folder: &std::path::Path) -> AgentLink {
        let hello = Hello {
            version: String::new(),
            sha256: None,
            pid: 1,
            machine: String::new(),
            machine_id: None,
        };
        let mut bytes = wire::MAGIC.to_vec();
        wire::write(&mut bytes, &ToCoordinator::Hello(hello), &[]).unwrap();
        let file = folder.join("hello");
        std::fs::write(&file, bytes).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "cat \"$1\" && exec sleep 600", "sh"]);
        command.arg(&file);
        let attempt = Attempt {
            command,
            sends: None,
            sha256: None,
        };
        let mut link = AgentLink::start(AgentId(0), attempt, channel().0).unwrap();
        while link.hello().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        link
    }

    /// The other agents may take minutes to start.
    #[test]
    fn an_agent_is_not_silent_while_it_waits_for_its_welcome() {
        let folder = tempfile::tempdir().unwrap();
        let link = start_waiting_agent(folder.path());
        thread::sleep(Duration::from_millis(200));
        let welcomed = Instant::now();
        link.accept(ToAgent::Welcome {
            limits: ResourceLimits::current(),
            silence_ns: 0,
        });
        let silent_ns = link.silent_ns();
        assert!(u128::from(silent_ns) <= welcomed.elapsed().as_nanos());
    }
}
