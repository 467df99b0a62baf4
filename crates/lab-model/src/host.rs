// SPDX-License-Identifier: Apache-2.0
//! The machine that a run was taken on, and what it did to a block.

use serde::{Deserialize, Serialize};

/// The machine and its fitness to measure, read when the run began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Facts by name, such as `cpu` = `AMD EPYC`, in the order in which they are shown.
    pub facts: Vec<(String, String)>,
    /// Conditions that disturb a measurement, each with its remedy.
    pub findings: Vec<HostFinding>,
}

impl Host {
    /// The fact that names the commit of the folder that a run was started in, with ` and changes` where its working
    /// tree has some.
    pub const COMMIT: &str = "commit";

    /// The fact that tells this machine from others, whatever they are named.
    pub const MACHINE_ID: &str = "machine id";

    /// The fact that tells the machine of a server, beside which an agent is, from others.
    pub const SERVER_MACHINE_ID: &str = "server's machine id";

    /// The facts for people: without what tells machines apart, which is another each time that a machine starts.
    pub fn shown_facts(&self) -> impl Iterator<Item = &(String, String)> {
        let ids = [Host::MACHINE_ID, Host::SERVER_MACHINE_ID];
        let facts = self.facts.iter();
        facts.filter(move |(name, _)| !ids.contains(&name.as_str()))
    }

    /// A fact, if that was read.
    pub fn fact(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|(key, _)| key == name);
        fact.map(|(_, value)| value.as_str())
    }

    /// How many cores the lab may use, if that was read.
    pub fn cores(&self) -> Option<f64> {
        self.fact("cores")?.parse().ok()
    }
}

/// Something about the host that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFinding {
    /// True if the run should not be trusted because of it (`--strict` refuses).
    pub unfit: bool,
    /// The observation, such as a setting and its value.
    pub what: String,
    /// The remedy.
    pub advice: String,
}

/// The host's activity during a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The part of the cores' time that the hypervisor gave to others, 0 to 1.
    pub steal: f64,
    /// The part of the cores' time that programs other than the lab's took, 0 to 1.
    pub foreign: f64,
    /// The part of the time in which some task waited for memory, 0 to 1.
    pub memory_pressure: f64,
    /// Pages swapped in and out.
    pub swapped_pages: u64,
    /// Times that a core was throttled for its heat.
    pub throttled: u64,
}

impl Disturbance {
    /// The disturbance of a longer time of which this is a fraction, if nothing more comes.
    pub fn spread_over(&self, fraction: f64) -> Disturbance {
        Disturbance {
            steal: self.steal * fraction,
            foreign: self.foreign * fraction,
            memory_pressure: self.memory_pressure * fraction,
            ..*self
        }
    }

    /// More than 5 % stolen, 10 % foreign, 1 % memory pressure, any swapping or throttling:
    /// such a block is redone.
    pub fn disturbed(&self) -> bool {
        self.steal > 0.05
            || self.foreign > 0.10
            || self.memory_pressure > 0.01
            || self.swapped_pages > 0
            || self.throttled > 0
    }
}
