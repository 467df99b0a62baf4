// SPDX-License-Identifier: Apache-2.0
//! Agents on other machines, started with OpenSSH's client. The client uses its own configuration,
//! keys and known hosts.

use super::{AGENT, Attempt, Launcher, client, receive_and_run};
use crate::program::LabProgram;
use std::io;
use std::process::Command;

/// The environment variable with the command to use instead of `ssh`, such as `ssh -F lab.conf`.
const WORDS: &str = "BENCHLAB_SSH";

/// Starts agents on other machines.
pub struct Ssh {
    places: Vec<String>,
    hosts: Vec<String>,
}

impl Ssh {
    /// Creates a launcher for these hosts, given as pairs of a label and an ssh destination.
    pub fn new(names: Vec<(String, String)>) -> Ssh {
        let (places, hosts) = names.into_iter().unzip();
        Ssh { places, hosts }
    }

    /// Returns a command for the shell of a host. Prompts are disabled, because multiple hosts
    /// cannot prompt for passwords concurrently.
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

    /// Returns two attempts. The first runs the installed program if it is the same as this one.
    /// The second runs a copy of this program.
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

    /// Returns the command that kills a frozen agent. Other agents exit when the connection ends.
    fn kill(&self, place: usize, pid: i32) -> Option<Command> {
        Some(self.command(place, &format!("kill -9 {pid}")))
    }
}
