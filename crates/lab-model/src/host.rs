// SPDX-License-Identifier: Apache-2.0
//! The machine on which a run was measured, and the machine's activity during a block.

use serde::{Deserialize, Serialize};

/// The machine and the conditions that disturb measurements on it, recorded when the run started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Facts by name, such as `cpu` = `AMD EPYC`, in display order.
    pub facts: Vec<(String, String)>,
    /// Conditions that disturb a measurement, each with its remedy.
    pub findings: Vec<HostFinding>,
}

impl Host {
    /// The name of the fact that contains the commit of the directory in which the run was started.
    ///
    /// If the working tree has uncommitted changes, ` and changes` is appended to the value.
    pub const COMMIT: &str = "commit";

    /// The name of the fact that identifies this machine independently of its host name.
    pub const MACHINE_ID: &str = "machine id";

    /// The name of the fact that identifies the server's machine, if an agent runs on that machine.
    pub const SERVER_MACHINE_ID: &str = "server's machine id";

    /// Returns the facts to show to users.
    ///
    /// Machine IDs are omitted, because they change each time a machine boots.
    pub fn shown_facts(&self) -> impl Iterator<Item = &(String, String)> {
        let ids = [Host::MACHINE_ID, Host::SERVER_MACHINE_ID];
        let facts = self.facts.iter();
        facts.filter(move |(name, _)| !ids.contains(&name.as_str()))
    }

    /// Returns the value of a fact, if it was recorded.
    pub fn fact(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|(key, _)| key == name);
        fact.map(|(_, value)| value.as_str())
    }

    /// Returns the number of cores that benchlab may use, if it was recorded.
    pub fn cores(&self) -> Option<f64> {
        self.fact("cores")?.parse().ok()
    }
}

/// A property of the host that users must know to interpret the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFinding {
    /// True if this finding makes the results unreliable. With `--strict`, such a finding prevents
    /// the run from starting.
    pub unfit: bool,
    /// The observation, such as a setting and its value.
    pub what: String,
    /// The action that removes the problem. May be empty.
    pub advice: String,
}

/// The host's activity during a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The fraction of the cores' time that the hypervisor gave to other guests, 0 to 1.
    pub steal: f64,
    /// The fraction of the cores' time that programs unrelated to benchlab used, 0 to 1.
    pub foreign: f64,
    /// The fraction of the time during which a task waited for memory, 0 to 1.
    pub memory_pressure: f64,
    /// The number of pages swapped in or out.
    pub swapped_pages: u64,
    /// The number of times that a core was throttled because of heat.
    pub throttled: u64,
}

impl Disturbance {
    /// Returns the disturbance averaged over a longer period.
    ///
    /// `fraction` is the measured fraction of the longer period. The rest of the longer period is
    /// assumed to be undisturbed.
    pub fn spread_over(&self, fraction: f64) -> Disturbance {
        Disturbance {
            steal: self.steal * fraction,
            foreign: self.foreign * fraction,
            memory_pressure: self.memory_pressure * fraction,
            ..*self
        }
    }

    /// Returns true if the block must be redone.
    ///
    /// The thresholds are 5% stolen time, 10% foreign time, 1% memory pressure, and any swapping or
    /// throttling.
    pub fn disturbed(&self) -> bool {
        self.steal > 0.05
            || self.foreign > 0.10
            || self.memory_pressure > 0.01
            || self.swapped_pages > 0
            || self.throttled > 0
    }
}
