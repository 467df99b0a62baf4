// SPDX-License-Identifier: Apache-2.0
//! What a server on another machine uses: an agent beside it reads its CPU time, memory and threads.

pub mod agent;
mod listening;
mod order;

pub use order::{Order, Report};

use crate::agents::{Agents, StartError, Starting};
use crate::link::Event;
use crate::work::Work;
use lab_bench::{ServerWatch, Usage};
use std::time::{Duration, Instant};

/// How long an answer may take, until the slice goes on without it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it listens before it looks at the time.
const LISTEN: Duration = Duration::from_millis(20);

/// A server's processes, watched by an agent beside it.
pub struct RemoteWatch {
    agents: Agents,
    /// Why nothing is known any more.
    gone: Option<String>,
}

impl RemoteWatch {
    /// Starts the agent, which finds the processes. Errors: it cannot be had, or finds none.
    pub fn start(starting: &Starting, which: Order) -> Result<RemoteWatch, StartError> {
        let agents = Agents::start(starting)?;
        let mut watch = RemoteWatch { agents, gone: None };
        match watch.ask(which, starting.stops) {
            Ok(_) => {
                watch.agents.forget_lines();
                Ok(watch)
            }
            Err(_) if (starting.stops)() => Err(StartError::Stopped),
            Err(why) => Err(StartError::Refused(why)),
        }
    }

    /// What tells the server's machine from others; `None`: it cannot tell.
    pub fn machine_id(&self) -> Option<&str> {
        self.agents.hello(0).machine_id.as_deref()
    }

    fn ask(&mut self, order: Order, stops: fn() -> bool) -> Result<Report, String> {
        let name = self.agents.name(0).to_owned();
        self.agents.give(0, &Work::Usage(order));
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && !stops() {
            match self.agents.next(LISTEN) {
                Some((_, Event::Work(head, _))) => {
                    return serde_json::from_value(head).map_err(|e| format!("{name}: {e}"));
                }
                Some((_, Event::Failed(why))) => return Err(format!("{name}: {why}")),
                Some((_, Event::Lost(why))) => {
                    return Err(format!(
                        "the agent beside the server, on {name}, was lost: {why}"
                    ));
                }
                Some((_, Event::Line(_) | Event::Clock(_))) | None => {}
            }
        }
        Err(format!("{name}: no answer for {} s", PATIENCE.as_secs()))
    }
}

impl ServerWatch for RemoteWatch {
    fn read(&mut self) -> Result<Usage, String> {
        if let Some(why) = &self.gone {
            return Err(why.clone());
        }
        let read = match self.ask(Order::Read, || false) {
            Ok(Report::Used(usage)) => Ok(usage),
            Ok(Report::Watched) => Err("the agent's words are not understood".into()),
            Err(why) => Err(why),
        };
        read.map_err(|why| {
            let words = "from here on the server's CPU time and memory are not known";
            let why = format!("{why}; {words}");
            self.gone = Some(why.clone());
            why
        })
    }
}
