// SPDX-License-Identifier: Apache-2.0
//! The resource usage of a server on another machine: CPU time, memory and threads. An agent on
//! that machine reads it.

pub mod agent;
mod listening;
mod order;

pub use order::{UsageOrder, UsageReport};

use crate::agents::{AgentStart, Agents, StartError};
use crate::link::AgentEvent;
use crate::work::AgentWork;
use lab_bench::{ServerWatch, Usage};
use lab_model::AgentId;
use std::time::{Duration, Instant};

/// The maximum time to wait for a response. After that, the slice is recorded without the usage.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum time to wait for messages between two checks of the timeout.
const LISTEN: Duration = Duration::from_millis(20);

/// A server's processes, monitored by an agent on the same machine.
pub struct RemoteWatch {
    agents: Agents,
    /// The error that ended monitoring, or `None` while monitoring works.
    failure: Option<String>,
}

impl RemoteWatch {
    /// Starts an agent, which finds the processes. Returns an error if the agent cannot be started
    /// or finds no process.
    pub fn start(starting: &AgentStart, order: UsageOrder) -> Result<RemoteWatch, StartError> {
        let agents = Agents::start(starting)?;
        let mut watch = RemoteWatch {
            agents,
            failure: None,
        };
        match watch.ask(order, starting.stops) {
            Ok(_) => {
                watch.agents.forget_lines();
                Ok(watch)
            }
            Err(_) if (starting.stops)() => Err(StartError::Stopped),
            Err(reason) => Err(StartError::Refused(reason)),
        }
    }

    /// Returns the ID of the server's machine, or `None` if the machine has no ID.
    pub fn machine_id(&self) -> Option<&str> {
        self.agents.hello(AgentId(0)).machine_id.as_deref()
    }

    fn ask(&mut self, order: UsageOrder, stops: fn() -> bool) -> Result<UsageReport, String> {
        let name = self.agents.name(AgentId(0)).to_owned();
        self.agents.give(AgentId(0), &AgentWork::Usage(order));
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline && !stops() {
            match self.agents.next(LISTEN) {
                Some((_, AgentEvent::Work(head, _))) => {
                    return serde_json::from_value(head).map_err(|e| format!("{name}: {e}"));
                }
                Some((_, AgentEvent::Failed(reason))) => return Err(format!("{name}: {reason}")),
                Some((_, AgentEvent::Lost(reason))) => {
                    return Err(format!(
                        "the agent on the server's machine, {name}, was lost: {reason}"
                    ));
                }
                Some((_, AgentEvent::Line(_) | AgentEvent::Clock(_))) | None => {}
            }
        }
        Err(format!(
            "{name}: no response within {} s",
            TIMEOUT.as_secs()
        ))
    }
}

impl ServerWatch for RemoteWatch {
    fn read(&mut self) -> Result<Usage, String> {
        if let Some(message) = &self.failure {
            return Err(message.clone());
        }
        let read = match self.ask(UsageOrder::Read, || false) {
            Ok(UsageReport::Used(usage)) => Ok(usage),
            Ok(UsageReport::Watched) => Err("cannot parse the agent's message".into()),
            Err(message) => Err(message),
        };
        read.map_err(|message| {
            let consequence = "the server's CPU time and memory will no longer be recorded";
            let message = format!("{message}; {consequence}");
            self.failure = Some(message.clone());
            message
        })
    }
}
