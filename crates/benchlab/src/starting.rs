// SPDX-License-Identifier: Apache-2.0
//! Agents as the command line asks for them, and how the lab ends when they cannot be had.

use crate::cli::{AgentLoss, AgentPlacement};
use crate::exit::{self, Exit};
use lab_bench::interrupt;
use lab_many::launcher::Launcher;
use lab_many::{StartError, Starting};
use std::sync::Arc;
use std::time::Duration;

/// How long an agent may be silent where nothing else is asked for.
const LOST_AFTER: Duration = Duration::from_secs(10);

impl AgentPlacement {
    /// How agents are started by a launcher.
    pub fn starting(&self, launcher: &Arc<dyn Launcher>) -> Starting {
        self.lost.starting(launcher)
    }
}

impl AgentLoss {
    /// The same.
    pub fn starting(&self, launcher: &Arc<dyn Launcher>) -> Starting {
        Starting {
            launcher: launcher.clone(),
            lost_after: self.lost_after.unwrap_or(LOST_AFTER),
            stops: interrupt::requested,
            tells: |line| eprintln!("benchlab: {}", lab_report::clean(line)),
        }
    }
}

/// The end of a lab whose agents cannot be had.
pub fn exit_of(error: StartError) -> Exit {
    match error {
        StartError::Stopped => Exit::new(exit::INTERRUPTED, "stopped; nothing was kept"),
        StartError::Refused(why) => Exit::new(exit::FAILED, why),
    }
}
