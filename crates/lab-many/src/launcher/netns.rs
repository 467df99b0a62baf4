// SPDX-License-Identifier: Apache-2.0
//! Agents on this machine, each in a network namespace that is there (ip-netns(8)).

use super::{Attempt, Launcher};
use crate::program::Program;
use std::io;
use std::process::Command;

/// Starts agents in network namespaces.
pub struct Netns {
    places: Vec<String>,
    namespaces: Vec<String>,
}

impl Netns {
    /// In these: how they are shown, and what they are called.
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

    fn attempts(&self, place: usize, _: &Program) -> io::Result<Vec<Attempt>> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[place]]);
        // To `ip` its own program would be /proc/self/exe.
        command.arg(format!("/proc/{}/exe", std::process::id()));
        command.arg("agent");
        Ok(vec![Attempt {
            command,
            sends: None,
            sha256: None,
        }])
    }
}
