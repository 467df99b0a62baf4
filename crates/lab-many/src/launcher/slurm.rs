// SPDX-License-Identifier: Apache-2.0
//! Agents on a cluster's nodes, by Slurm's `srun`: each is a job of one task, or within an allocation a step.
//!
//! Partition, account, time and the like are Slurm's own variables, such as SLURM_PARTITION (srun(1), INPUT ENVIRONMENT
//! VARIABLES).

use super::{Attempt, Launcher, receive_and_run};
use crate::program::Program;
use std::io;
use std::process::Command;

/// Starts agents on a cluster's nodes.
pub struct Slurm {
    places: Vec<String>,
}

impl Slurm {
    /// So many, each on a node of its own.
    pub fn new(agents: usize) -> Slurm {
        let places = (1..=agents).map(|n| format!("slurm {n}"));
        Slurm {
            places: places.collect(),
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

    /// A copy: nodes may share no folder. Slurm ends the task when `srun` ends (srun(1), SIGNALS AND ESCAPE SEQUENCES).
    fn attempts(&self, _: usize, program: &Program) -> io::Result<Vec<Attempt>> {
        let bytes = program.bytes()?;
        let mut command = Command::new("srun");
        command.args(["--job-name=benchlab", "--nodes=1", "--ntasks=1"]);
        // No other job, and no other step of the allocation, has the node's cores meanwhile.
        command.args(["--exclusive", "--unbuffered", "--quiet"]);
        command.args(["sh", "-c", &receive_and_run(bytes.len())]);
        Ok(vec![Attempt {
            command,
            sends: Some(bytes),
            sha256: Some(program.sha256()?.to_owned()),
        }])
    }
}
