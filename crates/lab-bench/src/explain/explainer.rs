// SPDX-License-Identifier: Apache-2.0
//! Counts the events of subjects that run batches.

use super::counting::{
    Adding, ExplainedBatches, REPEATS, USAGE_METRICS, add_usage, events_between, missing,
    read_events, read_trace_file, tracing, usage_between,
};
use super::trace::read_trace;
use crate::batches::open_case::OpenCase;
use crate::batches::running_subject::BatchStart;
use crate::batches::surroundings::Surroundings;
use crate::driver::session::{BenchError, usable_cores};
use crate::host::hardware::{self, HardwareCounters};
use crate::host::scratch::Scratch;
use crate::subject::dialog::connection_lost;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::{BatchResult, SubjectProcess};
use crate::targets::TargetMaker;
use crate::targets::database::Servers;
use lab_host::procfs;
use lab_model::{Counted, Plan, PointId, SubjectId};
use std::path::Path;

/// The maximum and minimum number of operations of the smaller batch.
const OPERATIONS: (u64, u64) = (200, 2);

/// The target duration of the smaller batch without a tracer.
const BATCH_NS: u64 = 50_000_000;

/// The maximum number of operations before the first counted batch. During these operations,
/// runtimes compile, and drivers prepare statements on the server.
const WARM_UP: u64 = 2000;

/// The maximum duration of the warm-up operations without a tracer.
const WARM_UP_NS: u64 = 500_000_000;

/// Counts the events of a plan's subjects.
pub struct Explainer<'a> {
    pub(super) plan: &'a Plan,
    pub(super) folder: &'a Path,
    surroundings: Surroundings,
    pub(super) core: usize,
    pub(super) scratch: Scratch,
    /// True if the processor's counters can be read.
    has_hardware: bool,
}

impl<'a> Explainer<'a> {
    /// Creates an explainer for subjects that run batches. `folder` is the project's directory.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        scratch: Scratch,
        servers: Servers,
    ) -> Result<Explainer<'a>, BenchError> {
        let cores = usable_cores()?;
        let surroundings = Surroundings::new(plan, folder, &scratch, servers)?;
        let core = cores[0];
        for server in surroundings.targets.iter().filter_map(TargetMaker::server) {
            server.keep_off((cores.len() > 1).then_some(core));
        }
        Ok(Explainer {
            plan,
            folder,
            surroundings,
            core,
            scratch,
            has_hardware: hardware::unavailable().is_none(),
        })
    }

    /// Counts the events of one subject at one point.
    ///
    /// `operations` is the size of the smaller batch, or `None` to choose a size that takes little
    /// time. `tracer` is the path of strace, or `None` if strace is not installed. Returns a fault
    /// if the subject cannot run the point at all.
    pub fn count(
        &self,
        subject: SubjectId,
        point: PointId,
        operations: Option<u64>,
        tracer: Option<&Path>,
    ) -> SubjectResult<Counted> {
        let mut counted = Counted {
            subject,
            point,
            ..Counted::default()
        };
        let batches = self.count_usage(&mut counted, operations)?;
        counted.operations = batches.operations;
        let calls = match tracer {
            Some(tracer) => self.count_calls(&mut counted, batches, tracer),
            None => Err(missing("strace is not installed; --install installs it")),
        };
        counted.note_missing("system calls and round trips", calls)?;
        let allocated = self.count_allocations(&mut counted, batches);
        counted.note_missing("allocations", allocated)?;
        if !self.has_hardware {
            let simulated = self.count_instructions(&mut counted, batches);
            counted.note_missing("instructions and cache misses", simulated)?;
        }
        Ok(counted)
    }

    /// Counts CPU time, context switches, page faults and processor events. The subject runs
    /// without a tracer, because the cost of a tracer would dominate.
    fn count_usage(
        &self,
        counted: &mut Counted,
        operations: Option<u64>,
    ) -> SubjectResult<ExplainedBatches> {
        let starting = self.starting(self.plan);
        let (mut process, _) = starting.process(counted.subject, self.core)?;
        let (mut visit, settings) = OpenCase::begin(
            &mut process,
            self.plan,
            (counted.subject, counted.point),
            &self.surroundings,
        )?;
        counted.settings = settings;
        visit.verify(&mut process, self.plan, 1)?;
        visit.check_work(self.plan)?;
        let batches = self.size_batches(&mut process, &mut visit, operations)?;
        let usage =
            |process: &SubjectProcess| procfs::usage(process.pid()).map_err(connection_lost);
        let counters = self
            .has_hardware
            .then(|| HardwareCounters::open(process.pid()));
        let counters = counters.transpose().map_err(connection_lost)?;
        let events = || read_events(counters.as_ref());
        let rows = self.differences(&mut process, &mut visit, batches, |process, run| {
            let (before, events_before) = (usage(process)?, events()?);
            let result = run(process)?;
            let (events_after, after) = (events()?, usage(process)?);
            let mut cost = vec![result.wall_ns as f64];
            cost.extend(usage_between(result.cpu_ns, &before, &after));
            cost.extend(events_between(
                events_before.as_ref(),
                events_after.as_ref(),
            ));
            Ok(cost)
        })?;
        process.close()?;
        process.quit()?;
        add_usage(counted, &USAGE_METRICS, &rows, self.has_hardware)?;
        Ok(batches)
    }

    /// Measures multiple metrics per operation, from pairs of batches in a warm process.
    pub(super) fn differences(
        &self,
        process: &mut SubjectProcess,
        visit: &mut OpenCase,
        batches: ExplainedBatches,
        cost: impl Fn(
            &mut SubjectProcess,
            &mut dyn FnMut(&mut SubjectProcess) -> SubjectResult<BatchResult>,
        ) -> SubjectResult<Vec<f64>>,
    ) -> SubjectResult<Vec<Vec<f64>>> {
        let mut rows = Vec::new();
        for _ in 0..REPEATS {
            let mut costs = [Vec::new(), Vec::new()];
            for (costs, times) in costs.iter_mut().zip([1, 2]) {
                let mut run = |process: &mut SubjectProcess| {
                    visit.run(process, self.plan, times * batches.operations)
                };
                *costs = cost(process, &mut run)?;
                visit.check_work(self.plan)?;
            }
            let each = costs[1].iter().zip(&costs[0]);
            let each = each.map(|(twice, once)| (twice - once) / batches.operations as f64);
            rows.push(each.collect());
        }
        Ok(rows)
    }

    /// Starts a subject with a command prefix, opens a point, and warms the subject up.
    pub(super) fn warm(
        &self,
        counted: &Counted,
        batches: ExplainedBatches,
        prefix: &[String],
    ) -> SubjectResult<(SubjectProcess, OpenCase)> {
        let mut plan = self.plan.clone();
        let program = &mut plan.subjects[counted.subject].program;
        program.splice(0..0, prefix.iter().cloned());
        let (mut process, _) = self.starting(&plan).process(counted.subject, self.core)?;
        let (mut visit, _) = OpenCase::begin(
            &mut process,
            self.plan,
            (counted.subject, counted.point),
            &self.surroundings,
        )?;
        for _ in 0..batches.warm_up {
            visit.run(&mut process, self.plan, batches.operations)?;
            visit.check_work(self.plan)?;
        }
        Ok((process, visit))
    }

    /// Determines the sizes of the batches, and warms up the process.
    pub(super) fn size_batches(
        &self,
        process: &mut SubjectProcess,
        visit: &mut OpenCase,
        requested: Option<u64>,
    ) -> SubjectResult<ExplainedBatches> {
        let plan = self.plan;
        let mut one_ns = u64::MAX;
        for _ in 0..3 {
            let result = visit.run(process, plan, 1)?;
            visit.check_work(plan)?;
            one_ns = one_ns.min(result.wall_ns.max(1));
        }
        let (most, least) = OPERATIONS;
        let operations = requested.unwrap_or((BATCH_NS / one_ns).clamp(least, most));
        let warm_up = (WARM_UP_NS / one_ns).min(WARM_UP).div_ceil(operations);
        let batches = ExplainedBatches {
            warm_up: warm_up.max(1),
            operations,
        };
        for _ in 0..batches.warm_up {
            visit.run(process, plan, batches.operations)?;
            visit.check_work(plan)?;
        }
        Ok(batches)
    }

    /// Counts the system calls of batches under strace. The batches have the same sizes as without
    /// a tracer, and one further batch has a single operation.
    fn count_calls(
        &self,
        counted: &mut Counted,
        batches: ExplainedBatches,
        tracer: &Path,
    ) -> SubjectResult<()> {
        let file = self.scratch.folder().join("trace");
        // With `-D`, strace becomes a child of the subject instead of its parent. The subject thus remains a direct
        // child of benchlab, with the usual process ID, process group and pipes.
        let prefix = tracing(tracer, &file, &["-D"]);
        let (mut process, mut visit) = self.warm(counted, batches, &prefix)?;
        let n = batches.operations;
        for operations in [n, 2 * n].repeat(REPEATS).into_iter().chain([1]) {
            visit.run(&mut process, self.plan, operations)?;
            visit.check_work(self.plan)?;
        }
        process.close()?;
        process.quit()?;
        let calls = read_trace_file(&file, read_trace)?;
        let expected = batches.warm_up as usize + 2 * REPEATS + 1;
        if calls.len() == expected {
            counted.add(batches, calls);
            Ok(())
        } else {
            let message = format!(
                "the number of batches in the trace is {} instead of {expected}",
                calls.len()
            );
            Err(Fault::Failed("trace", message))
        }
    }

    pub(super) fn starting<'s>(&'s self, plan: &'s Plan) -> BatchStart<'s> {
        BatchStart {
            plan,
            folder: self.folder,
            temporary: self.scratch.temporary(),
        }
    }
}
