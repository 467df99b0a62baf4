// SPDX-License-Identifier: Apache-2.0
//! Agents in a Kubernetes cluster. They are started with `kubectl`, which uses the user's
//! configuration, contexts and logins. Each agent is the container of a Job.
//!
//! For each agent, the coordinator starts a process of this program ([`job`]). The process creates
//! the Job, waits for its pod, and replaces itself (exec) with `kubectl attach`. A container's
//! standard input is open from the start of the container and ends when the attached client ends
//! (`stdinOnce`). Other commands are not suitable: a process started by `kubectl exec` would
//! outlive the client, and `kubectl logs` transfers data in only one direction.

pub mod job;
mod kubectl;
mod manifest;
mod pod;

pub use manifest::DEFAULT as MANIFEST;

use super::{Attempt, Launcher, locations};
use crate::program::{LabProgram, OWN};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Starts agents in a cluster.
pub struct Kubernetes {
    locations: Vec<String>,
    /// The common prefix of the Jobs' names.
    run: String,
    manifest: Option<PathBuf>,
}

impl Kubernetes {
    /// Creates a launcher for `agents` agents. Without a manifest, the launcher uses the default
    /// manifest.
    pub fn new(agents: usize, manifest: Option<PathBuf>) -> Kubernetes {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |elapsed| elapsed.as_secs());
        Kubernetes {
            locations: locations("k8s", agents),
            run: format!("benchlab-{now:x}-{}", std::process::id()),
            manifest,
        }
    }

    /// Returns a command that runs this program to create or delete the Job at a location.
    fn command(&self, location: usize) -> Command {
        let mut command = Command::new(OWN);
        command.arg("kubernetes-job");
        command.arg(format!("{}-{}", self.run, location + 1));
        if let Some(manifest) = &self.manifest {
            command.arg("--manifest").arg(manifest);
        }
        command
    }
}

impl Launcher for Kubernetes {
    fn name(&self) -> &'static str {
        "k8s"
    }

    fn locations(&self) -> &[String] {
        &self.locations
    }

    fn attempts(&self, location: usize, program: &LabProgram) -> io::Result<Vec<Attempt>> {
        let bytes = program.bytes()?;
        let mut command = self.command(location);
        command.args(["--bytes", &bytes.len().to_string()]);
        Ok(vec![Attempt {
            command,
            sends: Some(bytes),
            sha256: Some(program.sha256()?.to_owned()),
        }])
    }

    /// Returns no timeout, because a pod may have to wait for a node with enough resources.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    fn kill(&self, location: usize, _: i32) -> Option<Command> {
        let mut command = self.command(location);
        command.arg("--delete");
        Some(command)
    }
}
