// SPDX-License-Identifier: Apache-2.0
//! Multiple agents on this machine.

use super::{Attempt, Launcher, locations};
use crate::program::{LabProgram, OWN};
use std::io;
use std::process::Command;

/// Starts agents on this machine.
pub struct Local {
    locations: Vec<String>,
}

impl Local {
    /// Creates a launcher for `agents` agents.
    pub fn new(agents: usize) -> Local {
        Local {
            locations: locations("local", agents),
        }
    }
}

impl Launcher for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn locations(&self) -> &[String] {
        &self.locations
    }

    fn attempts(&self, _: usize, _: &LabProgram) -> io::Result<Vec<Attempt>> {
        let mut command = Command::new(OWN);
        command.arg("agent");
        Ok(vec![Attempt {
            command,
            sends: None,
            sha256: None,
        }])
    }
}
