// SPDX-License-Identifier: Apache-2.0
//! Targets of any kind. benchlab creates a target for each visit and checks its contents itself.

mod content;
pub mod database;
pub mod effects;
pub mod own_sql;
pub mod reported;
mod round_trip_proxy;
pub mod sqlite;
mod sqlite_header;
mod statements;

use crate::host::scratch::Scratch;
use crate::subject::fault::{Fault, SubjectResult};
use database::{Server, VisitTable};
use effects::{CallBatch, Effects};
use lab_model::{Check, Plan, PointId, SubjectId, VARIANT};
use reported::Reported;
use sqlite::{Files, Opens};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// A factory for one of the plan's targets, which creates a separate copy of the target for each
/// visit.
pub enum TargetMaker {
    /// Database files.
    Files(Files),
    /// A server, on which each visit gets its own table.
    Server(Rc<Server>),
    /// A server that was not started, because none of the subjects that need it can run.
    Absent,
    /// Scratch directories, by the directory that contains them.
    Folders(HashMap<String, Scratch>),
}

/// The file, table or directory that one visit works on.
pub enum VisitTarget {
    /// A separate file, and a counter of its opens if they are counted.
    File(Box<sqlite::DatabaseFile>, Option<Opens>),
    /// A table on a server.
    Table(VisitTable),
    /// A scratch directory that subjects share. Files that take a long time to create are therefore
    /// created only once.
    Folder(PathBuf),
}

impl TargetMaker {
    /// Creates a target for a visit to a point.
    pub fn fresh(
        &self,
        plan: &Plan,
        subject: SubjectId,
        point: PointId,
    ) -> SubjectResult<VisitTarget> {
        Ok(match self {
            TargetMaker::Files(files) => {
                let variant = plan.points[point]
                    .sql
                    .as_ref()
                    .and(plan.points[point].param(VARIANT));
                let file = files.fresh(plan.case(point).empty, variant)?;
                VisitTarget::File(Box::new(file), None)
            }
            TargetMaker::Server(server) => VisitTarget::Table(server.fresh(plan, point)?),
            TargetMaker::Absent => {
                let message = "the target's server was not started".to_owned();
                return Err(Fault::Failed("target", message));
            }
            TargetMaker::Folders(folders) => {
                let directory = plan.subjects[subject].place.as_ref();
                let folder = directory.and_then(|directory| folders.get(directory));
                let no_folder = || {
                    Fault::Failed(
                        "target",
                        "the subject has no directory to work in".to_owned(),
                    )
                };
                VisitTarget::Folder(folder.ok_or_else(no_folder)?.folder().to_path_buf())
            }
        })
    }

    /// Returns the server if the target is on a server.
    pub fn server(&self) -> Option<&Rc<Server>> {
        match self {
            TargetMaker::Files(_) | TargetMaker::Absent | TargetMaker::Folders(_) => None,
            TargetMaker::Server(server) => Some(server),
        }
    }
}

impl VisitTarget {
    /// Returns the value of the subject's `target=` parameter.
    pub fn url(&self) -> String {
        match self {
            VisitTarget::File(file, _) => format!("sqlite:{}", file.path().display()),
            VisitTarget::Table(table) => table.url().to_owned(),
            VisitTarget::Folder(folder) => format!("folder:{}", folder.display()),
        }
    }

    /// Returns a fault unless the target's changes since the last check match the reported
    /// operations exactly.
    pub fn check_work(
        &mut self,
        plan: &Plan,
        point: PointId,
        reported: Reported,
    ) -> SubjectResult<()> {
        if plan.case(point).check == Check::Effects {
            return Ok(()); // The effects of calls are compared separately.
        }
        match self {
            VisitTarget::File(file, opens) => {
                opens
                    .as_ref()
                    .map_or(Ok(()), |o| o.check_work(reported.operations))?;
                file.check_work(plan.points[point].writes, reported)
            }
            VisitTarget::Table(table) => table.check_work(plan, point, reported),
            VisitTarget::Folder(_) => Ok(()),
        }
    }

    /// Returns the number of round trips to a server so far, in a visit whose round trips are counted.
    pub fn round_trips(&self) -> u64 {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) => 0,
            VisitTarget::Table(table) => table.round_trips(),
        }
    }

    /// Kills the target's server. Does nothing if the target has no server.
    pub fn kill(&self) -> SubjectResult<()> {
        self.server().map_or(Ok(()), |server| server.kill())
    }

    /// Starts the target's server again. Does nothing if the target has no server.
    pub fn start_again(&self) -> SubjectResult<()> {
        self.server().map_or(Ok(()), |server| server.start_again())
    }

    /// Returns the effects of the calls in batches.
    pub fn effects(&self, batches: &[CallBatch]) -> SubjectResult<Effects> {
        match self {
            VisitTarget::File(file, _) => file.effects(batches),
            VisitTarget::Table(table) => table.effects(batches),
            VisitTarget::Folder(_) => Err(Fault::Failed(
                "target",
                "effects are checked only in databases".to_owned(),
            )),
        }
    }

    /// Returns a checksum of the whole table, for points that write. Equal checksums mean equal contents.
    pub fn content(&mut self, plan: &Plan, point: PointId) -> SubjectResult<Option<String>> {
        if plan.case(point).check != Check::Writes {
            return Ok(None);
        }
        match self {
            VisitTarget::File(file, _) => file.content().map(Some),
            VisitTarget::Table(table) => table.content().map(Some),
            VisitTarget::Folder(_) => Ok(None),
        }
    }

    /// Excludes a server's work so far from the next check, because it is not the subject's work.
    pub fn exclude_past_work(&mut self) -> SubjectResult<()> {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) => Ok(()),
            VisitTarget::Table(table) => table.exclude_past_work(),
        }
    }

    /// Starts counting a file's opens if the case checks them. A server's connections are always
    /// counted.
    pub fn count_opens(&mut self, plan: &Plan, point: PointId) -> SubjectResult<()> {
        if let (Check::Opens, VisitTarget::File(file, opens)) = (&plan.case(point).check, self) {
            *opens = Some(Opens::watch(file.path())?);
        }
        Ok(())
    }

    /// Stops counting a file's opens, because monitoring slows down each open.
    pub fn stop_counting_opens(&mut self) {
        if let VisitTarget::File(_, opens) = self {
            *opens = None;
        }
    }

    /// Returns the server that contains the target.
    pub fn server(&self) -> Option<&Rc<Server>> {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) => None,
            VisitTarget::Table(table) => Some(table.server()),
        }
    }
}
