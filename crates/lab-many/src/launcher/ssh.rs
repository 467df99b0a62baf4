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
    locations: Vec<String>,
    hosts: Vec<String>,
}

impl Ssh {
    /// Creates a launcher for hosts.
    ///
    /// `names` contains a label and an ssh destination for each agent.
    pub fn new(names: Vec<(String, String)>) -> Ssh {
        let (locations, hosts) = names.into_iter().unzip();
        Ssh { locations, hosts }
    }

    /// Returns a command for the shell of a host. Prompts are disabled, because multiple hosts
    /// cannot prompt for passwords concurrently.
    fn command(&self, location: usize, shell_command: &str) -> Command {
        let mut command = client(WORDS, "ssh");
        command.args([
            "-T",
            "-o",
            "BatchMode=yes",
            "--",
            &self.hosts[location],
            shell_command,
        ]);
        command
    }
}

impl Launcher for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn locations(&self) -> &[String] {
        &self.locations
    }

    /// Returns two attempts. The first attempt runs the installed program if it is the same as this
    /// program. The second attempt runs a copy of this program.
    fn attempts(&self, location: usize, program: &LabProgram) -> io::Result<Vec<Attempt>> {
        let sha256 = program.sha256()?.to_owned();
        let installed = format!("benchlab {}", AGENT.join(" "));
        let bytes = program.bytes()?;
        let copied = format!("exec sh -c '{}'", receive_and_run(bytes.len()));
        Ok(vec![
            Attempt {
                command: self.command(location, &installed),
                sends: None,
                sha256: Some(sha256.clone()),
            },
            Attempt {
                command: self.command(location, &copied),
                sends: Some(bytes),
                sha256: Some(sha256),
            },
        ])
    }

    /// Returns the command that kills a frozen agent on its host.
    ///
    /// An agent that is not frozen exits when the connection ends.
    fn kill(&self, location: usize, pid: i32) -> Option<Command> {
        Some(self.command(location, &format!("kill -9 {pid}")))
    }
}
