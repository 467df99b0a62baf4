// SPDX-License-Identifier: Apache-2.0
//! A run: one execution of an experiment with all of its results, as loaded from a run file.

use crate::{
    Agent, AgentId, Block, BlockState, Content, Failure, Host, IdVec, Imported, LogAnalysis,
    LogLine, Measured, Metric, Pilot, Plan, Setting, StoredGate, TargetId, distinct,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run: its origin and its content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The file's name without a directory, such as `20261121-091500-sql.lab`.
    pub name: String,
    /// The version of benchlab that recorded the run.
    pub benchlab_version: String,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// The machine that benchlab ran on.
    pub host: Host,
    /// The content, which depends on the kind of run.
    pub content: Content,
    /// The results of the pilot for each subject and point that did not fail.
    pub pilots: Vec<Pilot>,
    /// Every block that was started, in chronological order.
    pub blocks: Vec<Block>,
    /// The numbers of the blocks after which an interim analysis was made and the run continued.
    pub interim_analyses: Vec<u32>,
    /// The event that ended the run, or `None` if the run has not ended.
    pub ending: Option<Ending>,
    /// Settings that subjects read back.
    pub settings: Vec<Setting>,
    /// The failures of subjects.
    pub failures: Vec<Failure>,
    /// Lines that the subjects wrote in addition to replies.
    pub log: Vec<LogLine>,
    /// The cost of benchlab itself: CPU time in ns and peak resident memory in bytes.
    pub lab_cost: Option<(u64, u64)>,
    /// The duration of the pilots in ns: the time between the start of the run and its blocks.
    ///
    /// `None` if the run had no pilots.
    pub pilots_ns: Option<u64>,
    /// The servers that the subjects used.
    pub services: Vec<Service>,
    /// The metrics of the run's readings and noise-free values.
    pub metrics: Vec<Metric>,
    /// The agents that did part of the work. Empty if benchlab did all of the work itself.
    pub agents: IdVec<AgentId, Agent>,
    /// The decisions of gates that cannot be computed from the rest of the run.
    #[serde(default)]
    pub gates: Vec<StoredGate>,
}

/// A server that subjects used, with the facts that it reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The target that the server provides to subjects.
    pub target: TargetId,
    /// The server's version, location and settings, by name, in display order.
    pub facts: Vec<(String, String)>,
}

/// The event that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// Every comparison was decided at an interim analysis.
    Decided,
    /// Every interval was as narrow as requested at an interim analysis.
    Precise,
    /// The time limit was reached.
    Budget,
    /// All requested blocks were measured.
    Blocks,
    /// All subjects but one failed, so there was nothing left to compare.
    Failed,
    /// The user stopped the run.
    Interrupted,
}

impl Run {
    /// Iterates over the failures that spoil values: all but those of cleanups.
    pub fn spoiling_failures(&self) -> impl Iterator<Item = &Failure> + Clone {
        self.failures.iter().filter(|f| f.spoils_values())
    }

    /// Returns the measured results, or `None` for other kinds of runs.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.content {
            Content::Measured(measured) => Some(measured),
            Content::Logs(_) | Content::Audit(_) | Content::Imported(_) => None,
        }
    }

    /// Returns a mutable reference to the measured results.
    pub fn measured_mut(&mut self) -> Option<&mut Measured> {
        match &mut self.content {
            Content::Measured(measured) => Some(measured),
            Content::Logs(_) | Content::Audit(_) | Content::Imported(_) => None,
        }
    }

    /// Returns the log analysis, or `None` for other kinds of runs.
    pub fn logs(&self) -> Option<&LogAnalysis> {
        match &self.content {
            Content::Logs(analysis) => Some(analysis),
            Content::Measured(_) | Content::Audit(_) | Content::Imported(_) => None,
        }
    }

    /// Returns the values imported from other tools' files. Empty for other kinds of runs.
    pub fn imports(&self) -> &[Imported] {
        match &self.content {
            Content::Imported(imports) => imports,
            Content::Measured(_) | Content::Logs(_) | Content::Audit(_) => &[],
        }
    }

    /// Returns the plan of a run that measures subjects.
    pub fn plan(&self) -> Option<&Plan> {
        self.measured().map(|measured| &measured.plan)
    }

    /// Returns a mutable reference to the plan.
    pub fn plan_mut(&mut self) -> Option<&mut Plan> {
        self.measured_mut().map(|measured| &mut measured.plan)
    }

    /// Adds the result of a pilot, which replaces an earlier pilot of the same subject and point.
    pub fn add_pilot(&mut self, pilot: Pilot) {
        let cell = (pilot.subject, pilot.point);
        self.pilots.retain(|p| (p.subject, p.point) != cell);
        self.pilots.push(pilot);
    }

    /// Returns the complete blocks, in chronological order.
    pub fn complete_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks
            .iter()
            .filter(|b| b.state == BlockState::Complete)
    }

    /// Returns the index of each complete block's replicate, from 0.
    ///
    /// Blocks that share a set of processes form one replicate, and so do all blocks of a build:
    /// they are not independent of each other.
    pub fn replicates(&self) -> Vec<usize> {
        let with_builds = self.plan().filter(|plan| plan.builds() > 1);
        let build = |block: &Block| with_builds.map(|plan| plan.build_of(block.number) as u32);
        let (mut count, mut of_group) = (0, BTreeMap::new());
        let mut next = || {
            count += 1;
            count - 1
        };
        let replicate = |block: &Block| match block.process_set.or(build(block)) {
            Some(group) => *of_group.entry(group).or_insert_with(&mut next),
            None => next(),
        };
        self.complete_blocks().map(replicate).collect()
    }

    /// Returns the number of replicates among the complete blocks.
    pub fn replicate_count(&self) -> usize {
        self.replicates().iter().max().map_or(0, |last| last + 1)
    }

    /// Returns true if benchlab's own machine took part in a load, as a generator or as the server.
    pub fn is_loaded_here(&self) -> bool {
        self.agents.is_empty() || self.agents_here().next().is_some() || self.has_server_here()
    }

    /// Returns the agents on benchlab's own machine.
    pub fn agents_here(&self) -> impl Iterator<Item = AgentId> {
        let lab_machine = self.host.fact(Host::MACHINE_ID);
        let is_here = move |agent: &Agent| {
            lab_machine.is_none() || agent.host.fact(Host::MACHINE_ID) == lab_machine
        };
        let all = self.agents.enumerated();
        all.filter(move |(_, agent)| is_here(agent))
            .map(|(id, _)| id)
    }

    /// Returns the first agent on each machine other than benchlab's own. Ignores agents that the
    /// user excluded.
    ///
    /// An agent that cannot identify its machine counts as a separate machine.
    pub fn machines_elsewhere(&self) -> Vec<&Agent> {
        let local: Vec<AgentId> = self.agents_here().collect();
        let machine = |agent: &Agent| match agent.host.fact(Host::MACHINE_ID) {
            Some(id) => id.to_owned(),
            None => agent.name.clone(),
        };
        let mut machines: Vec<&Agent> = Vec::new();
        for (id, agent) in self.agents.enumerated() {
            let is_same = |other: &&Agent| machine(other) == machine(agent);
            let counts = !local.contains(&id) && !agent.is_left_out;
            if counts && !machines.iter().any(is_same) {
                machines.push(agent);
            }
        }
        machines
    }

    /// Returns true if the server of a load is known to run on benchlab's own machine.
    pub fn has_server_here(&self) -> bool {
        let load = self.plan().and_then(Plan::load);
        load.is_some_and(|load| match load.server_host {
            Some(_) => self.host.fact(Host::SERVER_MACHINE_ID) == self.host.fact(Host::MACHINE_ID),
            None => !load.server_pids.is_empty(),
        })
    }

    /// Returns the names of all agents in order, without duplicates.
    ///
    /// After a resume, multiple agents can have the same name.
    pub fn agent_names(&self) -> Vec<&str> {
        distinct(self.agents.iter().map(|agent| agent.name.as_str()))
    }

    /// Returns the names of agents that generated load together, or an empty list if the agents
    /// measured separate blocks.
    pub fn load_agents(&self) -> Vec<&str> {
        if self.blocks.iter().any(|block| block.agent.is_some()) {
            Vec::new()
        } else {
            self.agent_names()
        }
    }

    /// Returns an agent's name.
    ///
    /// After a resume, a suffix as in `gen1, resumed` distinguishes the agent from earlier agents
    /// with the same name.
    pub fn agent_name(&self, id: AgentId) -> String {
        let name = &self.agents[id].name;
        let before = self.agents.preceding(id).iter().filter(|a| a.name == *name);
        match before.count() {
            0 => name.clone(),
            1 => format!("{name}, resumed"),
            n => format!("{name}, resumed {n} times"),
        }
    }

    /// Returns the names of agents that the user excluded, without duplicates.
    pub fn excluded_agents(&self) -> Vec<&str> {
        let is_left_out = |name: &&str| {
            let mut agents = self.agents.iter();
            agents.any(|agent| agent.is_left_out && agent.name == *name)
        };
        self.agent_names().into_iter().filter(is_left_out).collect()
    }

    /// Returns the number of connections, out of `all`, that belong to agents whose results count.
    pub fn connections_in_figures(&self, all: usize) -> usize {
        let (names, excluded) = (self.load_agents(), self.excluded_agents());
        let connections = names.iter().enumerate().filter_map(|(i, name)| {
            let rest = usize::from(i < all % names.len());
            (!excluded.contains(name)).then_some(all / names.len() + rest)
        });
        if names.is_empty() || excluded.is_empty() {
            all
        } else {
            connections.sum()
        }
    }

    /// Removes the agents in `names` from the run.
    ///
    /// Also removes the blocks that these agents measured, and the slices to which no remaining
    /// agent contributed.
    ///
    /// # Errors
    /// Returns an error if no agent has one of the names, or if no agent would be left.
    pub fn exclude_agents(&mut self, names: &[String]) -> Result<(), String> {
        for name in names {
            if !self.agents.iter().any(|agent| agent.name == *name) {
                let existing = self.agent_names().join(", ");
                return Err(match (existing.as_str(), &self.content) {
                    ("", Content::Logs(_)) => {
                        "a logs run adds up the counts of all agents, so agents cannot be excluded: \
                                      analyze the logs again without the machines of these agents"
                            .into()
                    }
                    ("", _) => "no agents took part in this run".into(),
                    (existing, _) => format!("unknown agent `{name}`; the run's agents are {existing}"),
                });
            }
        }
        let mut excluded = Vec::new();
        for (id, agent) in self.agents.enumerated_mut() {
            agent.is_left_out = names.contains(&agent.name);
            excluded.extend(agent.is_left_out.then_some(id));
        }
        if !excluded.is_empty() && excluded.len() == self.agents.len() {
            return Err("cannot exclude all agents of the run".into());
        }
        self.blocks
            .retain(|block| !block.agent.is_some_and(|agent| excluded.contains(&agent)));
        for block in &mut self.blocks {
            for slices in [&mut block.slices, &mut block.redone_slices] {
                *slices = slices
                    .iter()
                    .filter_map(|s| s.without_agents(&excluded))
                    .collect();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PointId, SubjectId, WarmUp};

    #[test]
    fn a_repeated_pilot_replaces_the_earlier_one() {
        let pilot = |subject, point, operations| Pilot {
            subject: SubjectId(subject),
            point: PointId(point),
            operations,
            warmup_batches: 1,
            class: WarmUp::Flat,
            cold_ns: 0,
            batches: Vec::new(),
            ages: Vec::new(),
        };
        let mut run = Run::default();
        for (subject, point, operations) in [(0, 0, 1), (0, 1, 2), (1, 0, 3), (0, 0, 4)] {
            run.add_pilot(pilot(subject, point, operations));
        }
        let expected = [pilot(0, 1, 2), pilot(1, 0, 3), pilot(0, 0, 4)];
        assert_eq!(run.pilots, expected);
    }

    #[test]
    fn each_other_machine_has_one_agent() {
        let agent = |(name, id): (&str, Option<&str>)| {
            let id = id.map(|id| (Host::MACHINE_ID.to_owned(), id.to_owned()));
            Agent {
                name: name.into(),
                host: Host {
                    facts: id.into_iter().collect(),
                    ..Host::default()
                },
                ..Agent::default()
            }
        };
        let lab = agent(("", Some("own")));
        let agents = [
            ("a", Some("one")),
            ("b", Some("own")),
            ("c", Some("one")),
            ("d", None),
            ("e", None),
            ("d", None),
        ];
        let mut run = Run {
            host: lab.host,
            agents: agents.map(agent).into(),
            ..Run::default()
        };
        let names = |run: &Run| {
            let machines = run.machines_elsewhere().into_iter();
            machines.map(|a| a.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&run), ["a", "d", "e"]);
        run.exclude_agents(&["a".into(), "d".into()]).unwrap();
        assert_eq!(names(&run), ["c", "e"]);
    }

    #[test]
    fn resumed_agents_share_connections_and_have_distinct_names() {
        let agent = |name: &&str| Agent {
            name: (*name).into(),
            ..Agent::default()
        };
        let mut run = Run {
            agents: ["a", "b", "c", "a", "b", "c", "a"]
                .iter()
                .map(agent)
                .collect(),
            ..Run::default()
        };
        assert_eq!(run.agent_names(), ["a", "b", "c"]);
        let names = [1, 3, 6].map(|id| run.agent_name(AgentId(id)));
        assert_eq!(names, ["b", "a, resumed", "a, resumed 2 times"]);
        assert_eq!(run.connections_in_figures(5), 5);
        run.exclude_agents(&["c".into()]).unwrap();
        assert_eq!(
            (run.excluded_agents(), run.connections_in_figures(5)),
            (vec!["c"], 4)
        );
    }
}
