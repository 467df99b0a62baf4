// SPDX-License-Identifier: Apache-2.0
//! Agents on other machines, by OpenSSH's client with its own configuration, keys and known hosts.

use super::{AGENT, Attempt, Launcher, client, receive_and_run};
use crate::program::LabProgram;
use std::io;
use std::process::Command;

/// The environment variable with the words of the client's call, if not `ssh` alone: `ssh -F lab.conf`.
const WORDS: &str = "BENCHLAB_SSH";

/// Starts agents on other machines.
pub struct Ssh {
    places: Vec<String>,
    hosts: Vec<String>,
}

impl Ssh {
    /// On these hosts: pairs of a label and ssh's destination.
    pub fn new(names: Vec<(String, String)>) -> Ssh {
        let (places, hosts) = names.into_iter().unzip();
        Ssh { places, hosts }
    }

    /// A command for a host's shell. Several hosts cannot ask for passwords at once, so none does.
    fn command(&self, place: usize, shell_command: &str) -> Command {
        let mut command = client(WORDS, "ssh");
        command.args([
            "-T",
            "-o",
            "BatchMode=yes",
            "--",
            &self.hosts[place],
            shell_command,
        ]);
        command
    }
}

impl Launcher for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn places(&self) -> &[String] {
        &self.places
    }

    /// Runs the installed program if it is the same as this one, else a copy.
    fn attempts(&self, place: usize, program: &LabProgram) -> io::Result<Vec<Attempt>> {
        let sha256 = program.sha256()?.to_owned();
        let installed = format!("benchlab {}", AGENT.join(" "));
        let bytes = program.bytes()?;
        let copied = format!("exec sh -c '{}'", receive_and_run(bytes.len()));
        Ok(vec![
            Attempt {
                command: self.command(place, &installed),
                sends: None,
                sha256: Some(sha256.clone()),
            },
            Attempt {
                command: self.command(place, &copied),
                sends: Some(bytes),
                sha256: Some(sha256),
            },
        ])
    }

    /// The end of the connection ends an agent, unless it is frozen.
    fn kill(&self, place: usize, pid: i32) -> Option<Command> {
        Some(self.command(place, &format!("kill -9 {pid}")))
    }
}
