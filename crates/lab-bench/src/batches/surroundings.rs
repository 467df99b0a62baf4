// SPDX-License-Identifier: Apache-2.0
//! What subjects that run batches work with: targets, and the fixtures that change their surroundings.

use crate::driver::session::BenchError;
use crate::fixture::running::Fixtures;
use crate::host::scratch::Scratch;
use crate::targets::TargetMaker;
use crate::targets::database::Servers;
use lab_model::Plan;
use std::cell::RefCell;
use std::path::Path;

/// The targets and the fixtures of a plan.
pub struct Surroundings {
    /// The targets, in the plan's order.
    pub targets: Vec<TargetMaker>,
    /// The fixtures. Dropping them undoes their changes.
    pub fixtures: RefCell<Fixtures>,
}

impl Surroundings {
    /// Creates the targets of a plan and starts its fixtures. `folder` is the project's directory.
    ///
    /// # Errors
    /// Returns an error if a target cannot be created or a fixture cannot be started.
    pub fn new(
        plan: &Plan,
        folder: &Path,
        scratch: &Scratch,
        servers: Servers,
    ) -> Result<Surroundings, BenchError> {
        let targets = super::targets(plan, scratch, servers)?;
        let fixtures = Fixtures::new(plan, folder, scratch.temporary())?;
        Ok(Surroundings {
            targets,
            fixtures: RefCell::new(fixtures),
        })
    }
}
