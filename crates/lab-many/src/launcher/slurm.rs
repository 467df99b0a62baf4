// SPDX-License-Identifier: Apache-2.0
//! Agents on a cluster's nodes, by Slurm's `srun`: each is a job of one task, or within an allocation a step.
//!
//! Partition, account, time and the like are Slurm's own variables, such as SLURM_PARTITION (srun(1), INPUT ENVIRONMENT
//! VARIABLES). `sbatch` connects nobody to what it starts; what it starts can be the coordinator.

use super::{Attempt, Launcher, places, receive_and_run};
use crate::program::LabProgram;
use std::io;
use std::process::Command;
use std::time::Duration;

/// Slurm's variable with the number of the allocation that a process runs in.
const ALLOCATION: &str = "SLURM_JOB_ID";

/// Starts agents on a cluster's nodes.
pub struct Slurm {
    places: Vec<String>,
    /// True if the coordinator is in an allocation: its nodes are the agents'.
    has_nodes: bool,
}

impl Slurm {
    /// So many agents, each on a node of its own.
    pub fn new(agents: usize) -> Slurm {
        Slurm {
            places: places("slurm", agents),
            has_nodes: std::env::var_os(ALLOCATION).is_some(),
        }
    }
}

impl Launcher for Slurm {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn places(&self) -> &[String] {
        &self.places
    }

    /// Copies the program: nodes may share no folder. Slurm ends the task with `srun` (srun(1), SIGNALS AND ESCAPE
    /// SEQUENCES).
    fn attempts(&self, place: usize, program: &LabProgram) -> io::Result<Vec<Attempt>> {
        let bytes = program.bytes()?;
        let mut command = Command::new("srun");
        command.args(["--job-name=benchlab", "--nodes=1", "--ntasks=1"]);
        if self.has_nodes {
            // A step that requests no part of a node gets all of it.
            command.arg(format!("--relative={place}"));
        } else {
            command.arg("--exclusive");
        }
        // The agent binds its threads itself.
        command.args(["--cpu-bind=none", "--unbuffered"]);
        command.args(["sh", "-c", &receive_and_run(bytes.len())]);
        Ok(vec![Attempt {
            command,
            sends: Some(bytes),
            sha256: Some(program.sha256()?.to_owned()),
        }])
    }

    /// A job waits in the queue until nodes are free.
    fn timeout(&self) -> Option<Duration> {
        None
    }
}
