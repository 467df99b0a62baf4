// SPDX-License-Identifier: Apache-2.0
//! Targets of any kind: made for each visit, and checked by benchlab itself.

use crate::effects::{CallBatch, Effects};
use crate::fault::{Fault, SubjectResult};
use crate::injection::{FileInjector, Recovery};
use crate::link::{Links, ShapedLink};
use crate::process::SubjectProcess;
use crate::reported::Reported;
use crate::scratch::Scratch;
use crate::server::{Server, VisitTable};
use crate::sqlite::{self, Files, Opens};
use lab_model::{Check, Plan, PointId, SubjectId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// A plan's target, which makes what subjects work on.
pub enum TargetMaker {
    /// Database files.
    Files(Files),
    /// A server.
    Server(Rc<Server>),
    /// A server that was not started: none of its subjects can run.
    Absent,
    /// Private folders, by the place that they are in.
    Folders(HashMap<String, Scratch>),
    /// Links between clients and servers.
    Links(Links),
}

/// The target of one visit.
pub enum VisitTarget {
    /// A file of its own, with its openings where they are counted.
    File(Box<sqlite::DatabaseFile>, Option<Opens>),
    /// A table on a server.
    Table(VisitTable),
    /// A folder of the run, which the subjects of a place share: files that are costly to make are made once.
    Folder(PathBuf),
    /// A link of its own.
    Link(ShapedLink),
}

impl TargetMaker {
    /// Creates a target for a visit at a point.
    pub fn fresh(
        &self,
        plan: &Plan,
        subject: SubjectId,
        point: PointId,
    ) -> SubjectResult<VisitTarget> {
        Ok(match self {
            TargetMaker::Files(files) => {
                let (empty, injection) = (plan.case(point).empty, plan.injection(point));
                let file = files.fresh(empty, injection, clients(plan, point))?;
                VisitTarget::File(Box::new(file), None)
            }
            TargetMaker::Server(server) => VisitTarget::Table(server.fresh(plan, point)?),
            TargetMaker::Absent => {
                let message = "its server was not started".to_owned();
                return Err(Fault::Failed("target", message));
            }
            TargetMaker::Folders(folders) => {
                let place = plan.subjects[subject].place.as_ref();
                let folder = place.and_then(|place| folders.get(place));
                let no_folder =
                    || Fault::Failed("target", "it has no folder to work in".to_owned());
                VisitTarget::Folder(folder.ok_or_else(no_folder)?.folder().to_path_buf())
            }
            TargetMaker::Links(links) => VisitTarget::Link(links.fresh(plan, point)?),
        })
    }

    /// The server, if it is one.
    pub fn server(&self) -> Option<&Rc<Server>> {
        match self {
            TargetMaker::Files(_)
            | TargetMaker::Absent
            | TargetMaker::Folders(_)
            | TargetMaker::Links(_) => None,
            TargetMaker::Server(server) => Some(server),
        }
    }
}

impl VisitTarget {
    /// The subject's `target=`.
    pub fn url(&self) -> String {
        match self {
            VisitTarget::File(file, _) => format!("sqlite:{}", file.path().display()),
            VisitTarget::Table(table) => table.url().to_owned(),
            VisitTarget::Folder(folder) => format!("folder:{}", folder.display()),
            VisitTarget::Link(link) => link.url(),
        }
    }

    /// Checks that just what the reported operations leave behind was done since the last check. Fault: it was not.
    pub fn check_work(
        &mut self,
        plan: &Plan,
        point: PointId,
        reported: Reported,
    ) -> SubjectResult<()> {
        if plan.case(point).check == Check::Effects {
            return Ok(()); // The effects of calls are compared by themselves.
        }
        match self {
            VisitTarget::File(file, opens) => {
                opens
                    .as_ref()
                    .map_or(Ok(()), |o| o.check_work(reported.operations))?;
                file.check_work(plan.points[point].writes, reported)
            }
            VisitTarget::Table(table) => table.check_work(plan, point, reported),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => Ok(()),
        }
    }

    /// True if the subject is at work: some faults are made only then.
    pub fn set_at_work(&self, is_at_work: bool) {
        match self {
            VisitTarget::File(file, _) => {
                if let Some(injector) = file.injector() {
                    injector.set_at_work(is_at_work);
                }
            }
            VisitTarget::Table(table) => table.set_at_work(is_at_work),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => {}
        }
    }

    /// Round trips to a server so far, in a visit whose round trips are counted.
    pub fn round_trips(&self) -> u64 {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) | VisitTarget::Link(_) => 0,
            VisitTarget::Table(table) => table.round_trips(),
        }
    }

    /// True if measured batches have an outage there.
    pub fn has_outages(&self) -> bool {
        match self {
            VisitTarget::File(file, _) => file.injector().is_some_and(FileInjector::has_outages),
            VisitTarget::Table(table) => table.has_outages(),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => false,
        }
    }

    /// Makes an outage in a batch that the subject is doing, of about this length.
    pub fn interrupt(
        &self,
        process: &mut SubjectProcess,
        turn: Duration,
    ) -> SubjectResult<Recovery> {
        match self {
            VisitTarget::File(file, _) => file.interrupt(process, turn),
            VisitTarget::Table(table) => table.interrupt(process, turn),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => Ok(Recovery::default()),
        }
    }

    /// The effects of the calls of some batches.
    pub fn effects(&self, batches: &[CallBatch]) -> SubjectResult<Effects> {
        match self {
            VisitTarget::File(file, _) => file.effects(batches),
            VisitTarget::Table(table) => table.effects(batches),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => Err(Fault::Failed(
                "target",
                "only a database has effects".to_owned(),
            )),
        }
    }

    /// A sum over the whole table, for points that write: equal sums mean equal contents.
    pub fn content(&mut self, plan: &Plan, point: PointId) -> SubjectResult<Option<String>> {
        if plan.case(point).check != Check::Writes {
            return Ok(None);
        }
        match self {
            VisitTarget::File(file, _) => file.content().map(Some),
            VisitTarget::Table(table) => table.content().map(Some),
            VisitTarget::Folder(_) | VisitTarget::Link(_) => Ok(None),
        }
    }

    /// Discards what a server counted so far, where that is no subject's work.
    pub fn begin_anew(&mut self) -> SubjectResult<()> {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) | VisitTarget::Link(_) => Ok(()),
            VisitTarget::Table(table) => table.begin_anew(),
        }
    }

    /// Begins to count a file's openings, where the case is about them. A server's are always counted.
    pub fn count_opens(&mut self, plan: &Plan, point: PointId) -> SubjectResult<()> {
        if let (Check::Opens, VisitTarget::File(file, opens)) = (&plan.case(point).check, self) {
            *opens = Some(Opens::of(file.path())?);
        }
        Ok(())
    }

    /// Stops to count a file's openings: watching them costs each a little.
    pub fn stop_counting_opens(&mut self) {
        if let VisitTarget::File(_, opens) = self {
            *opens = None;
        }
    }

    /// The server that it is on.
    pub fn server(&self) -> Option<&Rc<Server>> {
        match self {
            VisitTarget::File(..) | VisitTarget::Folder(_) | VisitTarget::Link(_) => None,
            VisitTarget::Table(table) => Some(table.server()),
        }
    }

    /// Bytes that were sent over it, if it is a link.
    pub fn sent(&self) -> Option<u64> {
        match self {
            VisitTarget::Link(link) => Some(link.sent()),
            VisitTarget::File(..) | VisitTarget::Table(_) | VisitTarget::Folder(_) => None,
        }
    }
}

/// How many calls are made at once: the parameter `clients` (docs/protocol.md).
fn clients(plan: &Plan, point: PointId) -> u64 {
    let mut params = plan.points[point].params.iter();
    let clients = params.find(|(key, _)| key == "clients");
    clients.and_then(|(_, n)| n.parse().ok()).unwrap_or(1)
}
