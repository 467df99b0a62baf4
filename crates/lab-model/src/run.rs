// SPDX-License-Identifier: Apache-2.0
//! One execution of an experiment with everything that it yielded, as loaded from a run file.

use crate::{
    Agent, Audit, Block, BlockState, Failure, Host, LogLine, Metric, Pilot, Plan, Setting,
    SubjectId, TargetId, Watched,
};
use serde::{Deserialize, Serialize};

/// A run: its plan and all that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The file's name without folder, such as `20261121-091500-sql.lab`.
    pub name: String,
    /// Version of the lab that made it.
    pub lab_version: String,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// The plan; `None` in a file of imported figures.
    pub plan: Option<Plan>,
    /// The machine.
    pub host: Host,
    /// What the pilot found, for each subject and point that did not fail.
    pub pilots: Vec<Pilot>,
    /// Every block that was begun, in the order of time.
    pub blocks: Vec<Block>,
    /// Numbers of blocks at which the run looked whether it may stop, and went on.
    pub looks: Vec<u32>,
    /// Why it ended; `None`: it has not.
    pub ending: Option<Ending>,
    /// Settings read back.
    pub settings: Vec<Setting>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// What the subjects wrote besides replies.
    pub log: Vec<LogLine>,
    /// What the lab itself used: CPU time in ns and peak resident memory in bytes.
    pub lab_cost: Option<(u64, u64)>,
    /// Figures taken over from other tools' files; they have no intervals.
    pub imports: Vec<Imported>,
    /// The servers that its subjects used.
    pub services: Vec<Service>,
    /// The metrics of its readings and figures.
    pub metrics: Vec<Metric>,
    /// What was read from logs, in a run that watched.
    pub watched: Option<Watched>,
    /// What an audit found; `None`: it was none.
    pub audit: Option<Audit>,
    /// Figures without noise, which were taken once besides the blocks.
    pub figures: Vec<Figure>,
    /// The agents that did a part of the work; none: the lab did all of it itself.
    pub agents: Vec<Agent>,
}

/// A figure of a subject that was counted once, such as its peak heap under Massif.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Whose.
    pub subject: SubjectId,
    /// The id of a metric among [`Run::metrics`].
    pub metric: String,
    /// In the metric's unit.
    pub value: f64,
}

/// A server that subjects used, and what it read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The target that it is.
    pub target: TargetId,
    /// Version, place and settings by name, in the order in which they are shown.
    pub facts: Vec<(String, String)>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// Every comparison was decided at a look.
    Decided,
    /// Every interval was as narrow as wanted, at a look.
    Precise,
    /// The time was used up.
    Budget,
    /// All the blocks that were asked for were done.
    Blocks,
    /// Every subject but one failed, so that nothing was left to compare.
    Failed,
    /// The reader stopped it.
    Interrupted,
}

/// One `<benchmark>` of an imported file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The language, as the file says.
    pub language: String,
    /// The driver, as the file says.
    pub driver: String,
    /// Threads, if the file says.
    pub threads: Option<u64>,
    /// Resident memory, if the file says.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory, if the file says.
    pub peak_rss_bytes: Option<u64>,
    /// User CPU time, if the file says.
    pub user_ns: Option<u64>,
    /// System CPU time, if the file says.
    pub sys_ns: Option<u64>,
    /// Its measures.
    pub times: Vec<ImportedTime>,
}

/// One `<time>` of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedTime {
    /// What was measured, in the file's words.
    pub title: String,
    /// How often.
    pub count: u64,
    /// Time of one, in ns.
    pub time_ns: f64,
    /// Time of all, in ns.
    pub total_ns: f64,
}

impl Run {
    /// The blocks that count, in the order of time.
    pub fn complete_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks
            .iter()
            .filter(|b| b.state == BlockState::Complete)
    }

    /// Makes the run what it would be had agents of these names not been there; blocks that they measured, and slices
    /// that no other agent had a part in, are gone. Error: there is no agent of that name, or no other one.
    pub fn leave_out(&mut self, names: &[String]) -> Result<(), String> {
        for name in names {
            if !self.agents.iter().any(|agent| agent.name == *name) {
                let known: Vec<&str> = self.agents.iter().map(|a| a.name.as_str()).collect();
                return Err(if known.is_empty() {
                    "no agents took part in this run".into()
                } else {
                    format!("no agent is called `{name}`, only {}", known.join(", "))
                });
            }
        }
        let mut left_out = Vec::new();
        for (id, agent) in self.agents.iter_mut().enumerate() {
            agent.is_left_out = names.contains(&agent.name);
            left_out.extend(agent.is_left_out.then_some(id));
        }
        if !left_out.is_empty() && left_out.len() == self.agents.len() {
            return Err("no agent would be left".into());
        }
        self.blocks
            .retain(|block| !block.agent.is_some_and(|agent| left_out.contains(&agent)));
        for block in &mut self.blocks {
            for slices in [&mut block.slices, &mut block.redone_slices] {
                *slices = slices.iter().filter_map(|s| s.without(&left_out)).collect();
            }
        }
        Ok(())
    }
}
