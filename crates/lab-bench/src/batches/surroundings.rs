// SPDX-License-Identifier: Apache-2.0
//! The surroundings of subjects that run batches: their targets, and the fixtures that change the
//! environment.

use crate::driver::session::BenchError;
use crate::fixture::running::{Fixtures, SharedFixtures};
use crate::host::scratch::Scratch;
use crate::targets::TargetMaker;
use crate::targets::database::{Server, Servers};
use crate::targets::own_sql;
use crate::targets::sqlite::Files;
use lab_model::{IdVec, Plan, PointId, TargetId, TargetKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The targets and the fixtures of a plan.
pub struct Surroundings {
    /// The targets, in the plan's order.
    pub targets: IdVec<TargetId, TargetMaker>,
    /// The fixtures. Dropping them undoes their changes.
    pub fixtures: SharedFixtures,
    /// The files with the values that subjects bind to the parameters of the user's own statements.
    pub inputs: HashMap<PointId, PathBuf>,
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
        let targets = targets(plan, scratch, servers)?;
        let inputs = own_sql::write_inputs(plan, scratch.folder());
        let inputs = inputs.map_err(|e| BenchError::System("cannot write the inputs".into(), e))?;
        let fixtures = Fixtures::new(plan, folder, scratch.temporary())?;
        Ok(Surroundings {
            targets,
            fixtures: Rc::new(RefCell::new(fixtures)),
            inputs,
        })
    }
}

/// Creates the plan's targets: files, and the servers that were started for the plan.
fn targets(
    plan: &Plan,
    scratch: &Scratch,
    servers: Servers,
) -> Result<IdVec<TargetId, TargetMaker>, BenchError> {
    let mut servers: HashMap<TargetId, Server> = servers.0.into_iter().collect();
    let target = |(id, target): (TargetId, &lab_model::Target)| match servers.remove(&id) {
        Some(server) => Ok(TargetMaker::Server(Rc::new(server))),
        None if target.kind.is_service() => Ok(TargetMaker::Absent),
        None if target.kind == TargetKind::Folder => folders(plan),
        None => Ok(TargetMaker::Files(Files::new(
            scratch.folder(),
            target,
            plan.seed,
        )?)),
    };
    plan.targets.enumerated().map(target).collect()
}

/// Creates a scratch directory in each directory that subjects work in.
fn folders(plan: &Plan) -> Result<TargetMaker, BenchError> {
    let directories = plan.subjects.iter().filter_map(|s| s.place.as_ref());
    let mut folders = HashMap::new();
    for directory in directories {
        if !folders.contains_key(directory) {
            let scratch = Scratch::new(Some(Path::new(directory)));
            let scratch = scratch.map_err(|e| {
                BenchError::System(format!("cannot create a directory in {directory}"), e)
            })?;
            folders.insert(directory.clone(), scratch);
        }
    }
    Ok(TargetMaker::Folders(folders))
}
