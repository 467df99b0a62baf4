// SPDX-License-Identifier: Apache-2.0
//! Prepares the hosts of an experiment concurrently, and rejects hosts that do not meet the
//! requirements.

use super::{ExperimentOrder, ExperimentReport, HostRequirements};
use crate::agents::{AgentStart, Agents, StartError};
use crate::work::AgentWork;
use lab_model::{Agent, AgentId, ClockOffset, Host, IdVec};

/// The options for starting hosts.
pub struct HostsStart {
    /// The launcher of the agents, and the time of silence after which an agent counts as lost.
    pub starting: AgentStart,
    /// The requirements that each host must meet.
    pub requirements: HostRequirements,
    /// The number of agents that earlier sessions stored in the run file.
    pub earlier: usize,
}

/// Hosts that are ready for measuring.
pub struct Hosts {
    pub(super) agents: Agents,
    pub(super) described: IdVec<AgentId, Agent>,
    pub(super) earlier: usize,
    pub(super) stops: fn() -> bool,
}

impl Hosts {
    /// Starts an agent on each host and prepares the host. `tell` receives the lines that the
    /// agents write.
    ///
    /// If an agent cannot be started or its host does not meet the requirements, ends all agents
    /// and returns an error.
    pub fn start(start: HostsStart, tell: &mut dyn FnMut(&str)) -> Result<Hosts, StartError> {
        let mut agents = Agents::start(&start.starting)?;
        let clocks = agents.compare_clocks();
        let parts = parts(&machines(&agents));
        for (agent, part) in agents.ids().zip(parts) {
            let requirements = Box::new(start.requirements.clone());
            let order = ExperimentOrder::Ready { requirements, part };
            agents.give(agent, &AgentWork::Experiment(order));
        }
        let mut hosts = Hosts {
            described: describe(&agents, &clocks),
            agents,
            earlier: start.earlier,
            stops: start.starting.stops,
        };
        hosts.wait(tell)?;
        hosts.agents.forget_lines();
        Ok(hosts)
    }

    fn wait(&mut self, tell: &mut dyn FnMut(&str)) -> Result<(), StartError> {
        let described = &mut self.described;
        self.agents
            .collect_results(self.stops, tell, &mut |agent, head, _| {
                match serde_json::from_value(head) {
                    Ok(ExperimentReport::Ready(mut host)) => {
                        let known = &mut described[agent].host;
                        host.facts.append(&mut known.facts);
                        *known = host;
                    }
                    _ => return Err("cannot parse the agent's message".into()),
                }
                Ok(())
            })
    }

    /// Returns the hosts' entries in the run file, with their indexes.
    pub fn described(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        let described = self.described.enumerated();
        described.map(|(agent, described)| (agent.offset_by(self.earlier), described))
    }
}

fn describe(
    agents: &Agents,
    clocks: &IdVec<AgentId, Option<(ClockOffset, ClockOffset)>>,
) -> IdVec<AgentId, Agent> {
    let utc = |agent: AgentId| clocks[agent].map(|(_, utc)| utc);
    let describe = |agent| agents.described(agent, utc(agent), Host::default());
    agents.ids().map(describe).collect()
}

/// Returns the ID of each agent's machine, or the name of a machine that has no ID.
fn machines(agents: &Agents) -> Vec<&str> {
    let machine = |agent| {
        let hello = agents.hello(agent);
        hello.machine_id.as_deref().unwrap_or(&hello.machine)
    };
    agents.ids().map(machine).collect()
}

/// Divides the cores of each machine among the machine's agents.
///
/// Returns a group of cores for each agent: the index of the group, and the number of groups on the
/// machine.
fn parts(machines: &[&str]) -> Vec<(usize, usize)> {
    let part = |(agent, machine): (usize, &&str)| {
        let count = |all: &[&str]| all.iter().filter(|other| *other == machine).count();
        (count(&machines[..agent]), count(machines))
    };
    machines.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_one_machine_share_its_cores() {
        assert_eq!(parts(&["a", "b", "a"]), [(0, 2), (0, 1), (1, 2)]);
    }
}
