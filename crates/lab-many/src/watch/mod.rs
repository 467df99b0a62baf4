// SPDX-License-Identifier: Apache-2.0
//! Logs on several machines: each agent counts those that are beside it, and what was counted is put together.

pub mod agent;

use crate::agents::{Agents, StartError, Starting};
use crate::link::Event;
use crate::work::Work;
use lab_watch::{LogsRead, Tally, TallyPart};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long it listens before it is asked whether to stop.
const LISTEN: Duration = Duration::from_millis(50);

/// What an agent is to read, in the words of the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Files.
    pub logs: Vec<String>,
    /// Their rotated predecessors, too.
    pub rotated: bool,
    /// Their format; `None`: it is found out.
    pub format: Option<String>,
    /// The unit of durations where the format does not tell it, ns.
    pub unit: Option<u64>,
    /// Of times without an offset.
    pub zone: Option<String>,
    /// The text of a file of rules.
    pub rules: Option<String>,
}

/// What came of it; what was counted is the body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The logs.
    pub read: LogsRead,
    /// Those that could not be read to their end, and why.
    pub failed: Vec<String>,
}

/// Agents beside logs.
pub struct WatchAgents {
    agents: Agents,
    stops: fn() -> bool,
}

impl WatchAgents {
    /// Starts them. Error: one cannot be had.
    pub fn start(starting: &Starting) -> Result<WatchAgents, StartError> {
        Ok(WatchAgents {
            agents: Agents::start(starting)?,
            stops: starting.stops,
        })
    }

    /// Has all read, and puts together what they counted, in the order of the places: what was read, and what could not
    /// be. Errors: an agent was lost, or cannot do it.
    pub fn read(
        mut self,
        order: &Order,
        tally: &mut Tally,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(LogsRead, Vec<String>), StartError> {
        let mut waited_for = self.agents.present();
        for &agent in &waited_for {
            self.agents.give(agent, &Work::Watch(order.clone()));
        }
        let mut reports: Vec<Option<(Report, TallyPart)>> = Vec::new();
        reports.resize_with(self.agents.len(), || None);
        while !waited_for.is_empty() {
            if (self.stops)() {
                return Err(StartError::Stopped);
            }
            let Some((agent, event)) = self.agents.next(LISTEN) else {
                continue;
            };
            let name = self.agents.name(agent);
            let refused = |why: &str| StartError::Refused(format!("{name}: {why}"));
            match event {
                Event::Work(head, body) => {
                    let report = serde_json::from_value(head);
                    let report = report.map_err(|e| refused(&e.to_string()))?;
                    let part = TallyPart::unpack(&body).map_err(|why| refused(&why))?;
                    reports[agent] = Some((report, part));
                    waited_for.retain(|&a| a != agent);
                }
                Event::Failed(why) => return Err(refused(&why)),
                Event::Lost(why) => return Err(refused(&format!("the agent was lost: {why}"))),
                Event::Line(line) => tell(&format!("{name}: {line}")),
                Event::Clock(_) => {}
            }
        }
        let (mut all, mut failed) = (LogsRead::default(), Vec::new());
        for (agent, report) in reports.into_iter().enumerate() {
            let Some((report, part)) = report else {
                continue;
            };
            let name = self.agents.name(agent);
            let mut read = report.read;
            for source in &mut read.sources {
                source.name = format!("{name}:{}", source.name);
            }
            all.merge(read);
            failed.extend(report.failed.into_iter().map(|why| format!("{name}:{why}")));
            tally.merge(part);
        }
        Ok((all, failed))
    }
}
