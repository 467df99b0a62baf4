// SPDX-License-Identifier: Apache-2.0
//! Logs on multiple machines. Each agent counts the lines of the logs on its machine, and the
//! coordinator combines the counts.

pub mod agent;
mod order;

pub use order::{LogsOrder, LogsReport};

use crate::agents::{AgentStart, Agents, StartError};
use crate::work::AgentWork;
use lab_logs::{LogsRead, Tally, TallyPart};
use lab_model::{AgentId, IdVec};

/// The agents on the hosts that have the logs.
pub struct LogsAgents {
    agents: Agents,
    stops: fn() -> bool,
}

impl LogsAgents {
    /// Starts the agents. Returns an error if an agent cannot be started.
    pub fn start(starting: &AgentStart) -> Result<LogsAgents, StartError> {
        Ok(LogsAgents {
            agents: Agents::start(starting)?,
            stops: starting.stops,
        })
    }

    /// Makes all agents read their logs, and combines the counts in the order of the agents.
    ///
    /// Returns the logs that were read, and the logs that could not be read. Returns an error if an
    /// agent was lost or failed.
    pub fn read(
        mut self,
        order: &LogsOrder,
        tally: &mut Tally,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(LogsRead, Vec<String>), StartError> {
        for agent in self.agents.present() {
            self.agents.give(agent, &AgentWork::Logs(order.clone()));
        }
        let mut reports: IdVec<AgentId, Option<(LogsReport, TallyPart)>> =
            self.agents.ids().map(|_| None).collect();
        self.agents
            .collect_results(self.stops, tell, &mut |agent, head, body| {
                let report = serde_json::from_value(head).map_err(|e| e.to_string())?;
                reports[agent] = Some((report, TallyPart::unpack(&body)?));
                Ok(())
            })?;
        let (mut logs, mut failed) = (LogsRead::default(), Vec::new());
        for (agent, report) in self.agents.ids().zip(reports) {
            let Some((report, part)) = report else {
                continue;
            };
            let name = self.agents.name(agent);
            let mut read = report.read;
            for source in &mut read.sources {
                source.name = format!("{name}:{}", source.name);
            }
            logs.merge(read);
            let skipped = report.skipped.iter();
            skipped.for_each(|reason| tell(&format!("{name}:{reason}")));
            failed.extend(
                report
                    .failed
                    .into_iter()
                    .map(|reason| format!("{name}:{reason}")),
            );
            tally.merge(part);
        }
        Ok((logs, failed))
    }
}
