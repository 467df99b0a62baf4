// SPDX-License-Identifier: Apache-2.0
//! Who may still take part where, and the keeping of failures and log lines.

use crate::process::{Fault, Process};
use lab_model::{Failure, LogLine, Plan, PointId, SubjectId};
use lab_store::{RunWriter, StoreError};
use std::collections::HashSet;

/// Who takes no part where: who has none in the plan, and who failed there, for a subject that failed
/// at a point is not asked again in this run.
#[derive(Default)]
pub struct Roster {
    everywhere: HashSet<SubjectId>,
    at: HashSet<(SubjectId, PointId)>,
}

/// Why carrying out stops.
#[derive(Debug)]
pub enum Stop {
    /// The reader wants it.
    Interrupted,
    /// The run file cannot be written.
    Store(StoreError),
    /// A server does not answer any more: in a sentence.
    ServerLost(String),
}

impl From<StoreError> for Stop {
    fn from(e: StoreError) -> Stop {
        Stop::Store(e)
    }
}

impl Roster {
    /// Who has a part in the plan, without those who failed in a run that is resumed.
    pub fn new(plan: &Plan, failures: &[Failure]) -> Roster {
        let mut roster = Roster::default();
        for subject in 0..plan.subjects.len() {
            let absent = (0..plan.points.len()).filter(|&p| !plan.takes_part(subject, p));
            roster.at.extend(absent.map(|point| (subject, point)));
        }
        for f in failures {
            roster.strike(f.subject, f.point);
        }
        roster
    }

    /// Whether a subject may still take part at a point.
    pub fn takes_part(&self, subject: SubjectId, point: PointId) -> bool {
        !self.everywhere.contains(&subject) && !self.at.contains(&(subject, point))
    }

    /// Keeps a fault as a failure, with the last log lines. Stops on an interrupt.
    pub fn keep(
        &mut self,
        run: &RunWriter,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
        block: Option<u32>,
        process: Option<&mut Process>,
    ) -> Result<Failure, Stop> {
        let (kind, message) = match fault {
            Fault::Interrupted => return Err(Stop::Interrupted),
            Fault::ServerLost(why) => return Err(Stop::ServerLost(why)),
            Fault::Failed(kind, message) => (kind, message),
        };
        let mut log = Vec::new();
        if let Some(process) = process {
            keep_log(run, process, subject, block)?;
            log = process.last_log();
        }
        let (message, rest) = message.split_once('\n').unwrap_or((&message, ""));
        log.extend(rest.lines().map(str::to_owned));
        let failure = Failure {
            subject,
            point,
            block,
            kind: kind.to_owned(),
            message: message.to_owned(),
            log,
        };
        run.failure(&failure)?;
        self.strike(subject, point);
        Ok(failure)
    }

    fn strike(&mut self, subject: SubjectId, point: Option<PointId>) {
        match point {
            Some(point) => self.at.insert((subject, point)),
            None => self.everywhere.insert(subject),
        };
    }
}

/// Keeps the log lines that a process wrote since the last time.
pub fn keep_log(
    run: &RunWriter,
    process: &mut Process,
    subject: SubjectId,
    block: Option<u32>,
) -> Result<(), StoreError> {
    process.take_log().into_iter().try_for_each(|line| {
        run.log(&LogLine {
            subject,
            block,
            line,
        })
    })
}
