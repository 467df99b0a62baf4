// SPDX-License-Identifier: Apache-2.0
//! Agents on this machine, each in an existing network namespace (ip-netns(8)).

use super::{Attempt, Launcher};
use crate::program::LabProgram;
use std::io;
use std::process::Command;

/// Starts agents in network namespaces.
pub struct Netns {
    locations: Vec<String>,
    namespaces: Vec<String>,
}

impl Netns {
    /// Creates a launcher for network namespaces.
    ///
    /// `names` contains a label and the name of the namespace for each agent.
    pub fn new(names: Vec<(String, String)>) -> Netns {
        let (locations, namespaces) = names.into_iter().unzip();
        Netns {
            locations,
            namespaces,
        }
    }
}

impl Launcher for Netns {
    fn name(&self) -> &'static str {
        "netns"
    }

    fn locations(&self) -> &[String] {
        &self.locations
    }

    fn attempts(&self, location: usize, _: &LabProgram) -> io::Result<Vec<Attempt>> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[location]]);
        // In the process of `ip`, /proc/self/exe would be `ip` itself.
        command.arg(format!("/proc/{}/exe", std::process::id()));
        command.arg("agent");
        Ok(vec![Attempt {
            command,
            sends: None,
            sha256: None,
        }])
    }
}
