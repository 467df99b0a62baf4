// SPDX-License-Identifier: Apache-2.0
//! A subject that implements the protocol, during a block: its process and its open case.
//!
//! The process is frozen except during its turns.

use crate::batches::expected::Expected;
use crate::batches::open_case::OpenCase;
use crate::batches::pilot;
use crate::batches::surroundings::Surroundings;
use crate::subject::dialog::connection_lost;
use crate::subject::fault::SubjectResult;
use crate::subject::process::{BatchResult, SubjectProcess};
use crate::targets::database::Server;
use lab_host::procfs::{self, ProcessUsage};
use lab_model::{CaseId, Check, Cores, Pilot, Plan, PointId, ProcessStart, Resources, SubjectId};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The parameters for starting subjects.
pub struct BatchStart<'a> {
    /// The plan whose subjects are started.
    pub plan: &'a Plan,
    /// The project's directory.
    pub folder: &'a Path,
    /// The directory for the subjects' temporary files.
    pub temporary: PathBuf,
}

impl BatchStart<'_> {
    /// Starts a subject and pins its working thread to `core`.
    pub fn process(
        &self,
        subject: SubjectId,
        core: usize,
    ) -> SubjectResult<(SubjectProcess, ProcessStart)> {
        let limit = Duration::from_nanos(self.plan.measure.time_limit_ns);
        let program = &self.plan.subjects[subject];
        let process = SubjectProcess::start(program, self.folder, &self.temporary, limit)?;
        process.keep_on(core)?;
        let started = ProcessStart {
            subject,
            startup_ns: process.startup_ns,
            startup_cpu_ns: process.startup_cpu_ns,
        };
        Ok((process, started))
    }
}

/// The inputs for warming up a process at a point.
pub struct WarmUpPlan<'a> {
    /// The plan that contains the point.
    pub plan: &'a Plan,
    /// The plan's targets and fixtures.
    pub surroundings: &'a Surroundings,
    /// The expected results of the work.
    pub expected: &'a Expected,
    /// The result of the subject's pilot at the point.
    pub pilot: &'a Pilot,
    /// The pilot that shows the subject in its warm state. For a control, this is the baseline's
    /// pilot.
    pub warm: &'a Pilot,
}

impl WarmUpPlan<'_> {
    /// Opens the point in a process, verifies the work, runs warm-up batches, and freezes the
    /// process.
    ///
    /// Runs the minimum number of batches, and continues while the process compiles, up to the
    /// maximum. Returns the open case and the number of batches.
    pub fn visit(
        &self,
        process: &mut SubjectProcess,
        batches: RangeInclusive<u32>,
    ) -> SubjectResult<(OpenCase, u32)> {
        let Pilot {
            subject,
            point,
            operations,
            ..
        } = *self.pilot;
        process.wake()?;
        let (mut visit, _) =
            OpenCase::begin(process, self.plan, (subject, point), self.surroundings)?;
        let first = visit.verify(process, self.plan, 1)?;
        self.expected.compare_first(point, first)?;
        visit.check_work(self.plan)?;
        let content = visit.content(self.plan)?;
        self.expected.compare_content(point, content)?;
        // Checking all batches together is equally exact, but the kernel's queue of file opens could overflow.
        let checks_each = self.plan.case(point).check == Check::Opens;
        let mut done = Vec::new();
        for batch in 1..=*batches.end() {
            done.push(pilot::batch(&visit.run(process, self.plan, operations)?));
            if checks_each {
                visit.check_work(self.plan)?;
            }
            if batch >= *batches.start() && !pilot::still_compiles(self.warm, &done) {
                break;
            }
        }
        if !done.is_empty() && !checks_each {
            visit.check_work(self.plan)?;
        }
        visit.stop_counting_opens();
        process.freeze()?;
        Ok((visit, done.len() as u32))
    }
}

/// A subject whose process has been started.
pub struct RunningSubject {
    /// The subject's process.
    pub process: SubjectProcess,
    /// The point that the process has open.
    pub visit: Option<OpenCase>,
    /// The number of warm-up batches, by case.
    pub warmed: HashMap<CaseId, u32>,
    /// A fresh process that temporarily takes the subject's turns.
    pub standby: Option<(SubjectProcess, OpenCase)>,
}

impl RunningSubject {
    /// Creates a subject that has no point open.
    pub fn new(process: SubjectProcess) -> RunningSubject {
        RunningSubject {
            process,
            visit: None,
            warmed: HashMap::new(),
            standby: None,
        }
    }

    /// Wakes the process, runs a batch, freezes the process, and checks the work.
    ///
    /// Runs `lead_in` unrecorded operations before the batch.
    pub fn batch(
        &mut self,
        plan: &Plan,
        lead_in: u64,
        operations: u64,
    ) -> SubjectResult<BatchResult> {
        let (process, visit) = match &mut self.standby {
            Some((process, visit)) => (process, visit),
            None => {
                let open = self.visit.as_mut();
                let open = open.expect("only subjects with an open case take turns");
                (&mut self.process, open)
            }
        };
        process.wake()?;
        if lead_in > 0 {
            visit.run(process, plan, lead_in)?;
        }
        let mut result = visit.measure(process, plan, operations)?;
        process.freeze()?;
        visit.check_work(plan)?;
        result.metrics.extend(visit.lab_metrics());
        Ok(result)
    }

    /// Closes the subject's point. Returns the resource usage of the process and the memory of its server.
    pub fn close(
        &mut self,
        plan: &Plan,
        point: PointId,
        core: usize,
    ) -> SubjectResult<(ProcessUsage, Option<u64>)> {
        let usage = procfs::usage(self.process.pid()).map_err(connection_lost)?;
        let server = self.visit.as_ref().and_then(OpenCase::server);
        let server_bytes = server.and_then(Server::memory_bytes);
        self.process.wake()?;
        if let Some(visit) = &mut self.visit {
            // Run one more batch while counting file opens, because a subject cannot detect whether they are counted.
            visit.count_opens(plan)?;
            visit.run(&mut self.process, plan, 1)?;
            visit.check_work(plan)?;
        }
        self.process.close()?;
        if plan.case(point).cores == Cores::All {
            self.process.keep_on(core)?;
        }
        self.process.freeze()?;
        self.visit = None;
        Ok((usage, server_bytes))
    }

    /// Returns the process that currently takes the subject's turns.
    pub fn worker(self) -> SubjectProcess {
        match self.standby {
            Some((process, _)) => process,
            None => self.process,
        }
    }
}

/// Records the memory and threads of a process after a point.
pub fn resources(
    subject: SubjectId,
    point: PointId,
    usage: &ProcessUsage,
    server_bytes: Option<u64>,
) -> Resources {
    Resources {
        subject,
        point,
        rss_bytes: usage.rss_bytes,
        peak_rss_bytes: usage.peak_rss_bytes,
        threads: usage.threads,
        user_ns: usage.user_ns,
        sys_ns: usage.sys_ns,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        server_bytes,
    }
}
