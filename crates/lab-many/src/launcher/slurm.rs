// SPDX-License-Identifier: Apache-2.0
//! Agents on a cluster's nodes, started with Slurm's `srun`. Each agent is a job with one task, or
//! a step within an allocation.
//!
//! Slurm's own variables, such as SLURM_PARTITION, set the partition, account, time limit and other
//! options (srun(1), INPUT ENVIRONMENT VARIABLES). `sbatch` does not connect standard input and
//! output, but it can be used to start the coordinator.

use super::{Attempt, Launcher, locations, receive_and_run};
use crate::program::LabProgram;
use std::io;
use std::process::Command;
use std::time::Duration;

/// Slurm's variable with the ID of the allocation in which a process runs.
const ALLOCATION: &str = "SLURM_JOB_ID";

/// Starts agents on a cluster's nodes.
pub struct Slurm {
    locations: Vec<String>,
    /// True if the coordinator runs in an allocation, whose nodes the agents use.
    has_nodes: bool,
}

impl Slurm {
    /// Creates a launcher for `agents` agents, each on a separate node.
    pub fn new(agents: usize) -> Slurm {
        Slurm {
            locations: locations("slurm", agents),
            has_nodes: std::env::var_os(ALLOCATION).is_some(),
        }
    }
}

impl Launcher for Slurm {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn locations(&self) -> &[String] {
        &self.locations
    }

    /// Returns an attempt that copies the program, because nodes may not share a directory. When
    /// `srun` ends, Slurm ends the task, too (srun(1), SIGNALS AND ESCAPE SEQUENCES).
    fn attempts(&self, location: usize, program: &LabProgram) -> io::Result<Vec<Attempt>> {
        let bytes = program.bytes()?;
        let mut command = Command::new("srun");
        command.args(["--job-name=benchlab", "--nodes=1", "--ntasks=1"]);
        if self.has_nodes {
            // A step that does not limit its resources gets the whole node.
            command.arg(format!("--relative={location}"));
        } else {
            command.arg("--exclusive");
        }
        // The agent pins its threads itself.
        command.args(["--cpu-bind=none", "--unbuffered"]);
        command.args(["sh", "-c", &receive_and_run(bytes.len())]);
        Ok(vec![Attempt {
            command,
            sends: Some(bytes),
            sha256: Some(program.sha256()?.to_owned()),
        }])
    }

    /// Returns no timeout, because a job waits in the queue until nodes are free.
    fn timeout(&self) -> Option<Duration> {
        None
    }
}
