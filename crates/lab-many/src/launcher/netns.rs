// SPDX-License-Identifier: Apache-2.0
//! Agents on this machine, each in an existing network namespace (ip-netns(8)).

use super::{Attempt, Launcher};
use crate::program::LabProgram;
use std::io;
use std::process::Command;

/// Starts agents in network namespaces.
pub struct Netns {
    places: Vec<String>,
    namespaces: Vec<String>,
}

impl Netns {
    /// Creates a launcher for these namespaces, given as pairs of a label and a name.
    pub fn new(names: Vec<(String, String)>) -> Netns {
        let (places, namespaces) = names.into_iter().unzip();
        Netns { places, namespaces }
    }
}

impl Launcher for Netns {
    fn name(&self) -> &'static str {
        "netns"
    }

    fn places(&self) -> &[String] {
        &self.places
    }

    fn attempts(&self, place: usize, _: &LabProgram) -> io::Result<Vec<Attempt>> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[place]]);
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
