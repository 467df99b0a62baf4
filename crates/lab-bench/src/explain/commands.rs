// SPDX-License-Identifier: Apache-2.0
//! Counts the events of a whole command: in a few runs without a tracer, and in a few runs under
//! each tool.

use super::allocations::{CountingLibrary, has_own_heap};
use super::counting::{
    Adding, REPEATS, USAGE_METRICS, add_usage, events_between, missing, read_events,
    read_trace_file, tracing,
};
use super::simulated::{
    SIMULATED_METRICS, callgrind_command, cost_by_function, cost_by_library, read_profile,
    select_costliest,
};
use super::trace::read_all_calls;
use crate::build::in_path;
use crate::commands::order;
use crate::commands::starter::{Ended, StartRequest, Starter};
use crate::host::hardware::HardwareCounters;
use crate::host::scratch::Scratch;
use crate::subject::fault::SubjectResult;
use lab_model::{Commands, Counted, Metric, Plan, PointId, SubjectId};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// The number of runs under each tool. It is small because tools slow the command down.
const UNDER_TOOLS: usize = 2;

/// The maximum duration of a command for the full number of runs without a tracer. Longer commands
/// run less often.
const LONG_COMMAND: Duration = Duration::from_secs(2);

/// Counts the events of a plan's commands.
pub struct CommandExplainer<'a> {
    plan: &'a Plan,
    options: &'a Commands,
    starter: Starter,
    cores: Vec<usize>,
    counters: Option<HardwareCounters>,
    scratch: Scratch,
}

impl<'a> CommandExplainer<'a> {
    /// Creates an explainer for the commands of a plan.
    pub fn new(
        plan: &'a Plan,
        options: &'a Commands,
        scratch: Scratch,
    ) -> std::io::Result<CommandExplainer<'a>> {
        let starter = Starter::new()?;
        Ok(CommandExplainer {
            counters: HardwareCounters::open(starter.pid()).ok(),
            starter,
            cores: lab_host::allowed_cores()?,
            plan,
            options,
            scratch,
        })
    }

    /// Counts the resources that one command uses at one point. `tracer` is the path of strace, or `None` if strace is not installed.
    ///
    /// Returns a fault if the command cannot run at all, or if it fails.
    pub fn count(
        &mut self,
        subject: SubjectId,
        point: PointId,
        tracer: Option<&Path>,
    ) -> SubjectResult<Counted> {
        let mut counted = Counted {
            subject,
            point,
            operations: 1,
            ..Counted::default()
        };
        self.count_usage(&mut counted)?;
        let calls = match tracer {
            Some(tracer) => self.count_calls(&mut counted, tracer),
            None => Err(missing("strace is not installed; --install installs it")),
        };
        counted.note_missing("system calls and round trips", calls)?;
        let allocated = self.count_allocations(&mut counted);
        counted.note_missing("allocations", allocated)?;
        if self.counters.is_none() {
            let simulated = self.count_instructions(&mut counted);
            counted.note_missing("instructions and cache misses", simulated)?;
        }
        Ok(counted)
    }

    /// Runs the command with a prefix. Returns a fault if the command fails, because a failed
    /// command does not do its work.
    fn run(&mut self, counted: &Counted, prefix: &[String]) -> SubjectResult<Ended> {
        let mut order = self.order(counted);
        order.program.splice(0..0, prefix.iter().cloned());
        let ended = self.starter.run(&order)?;
        if ended.timed_out {
            Err(missing("the command exceeds --time-limit"))
        } else if !self.options.accepts(ended.code()) {
            let reason = format!("the command ended with {}", ended.status);
            Err(missing(&reason))
        } else {
            Ok(ended)
        }
    }

    fn order(&self, counted: &Counted) -> StartRequest {
        let at = (counted.subject, counted.point);
        let program = &self.plan.subjects[counted.subject].program;
        order((self.plan, self.options), at, program, 0, &self.cores)
    }

    fn count_usage(&mut self, counted: &mut Counted) -> SubjectResult<()> {
        // Load the files into memory.
        let first = self.run(counted, &[])?;
        let repeats = if Duration::from_nanos(first.wall_ns) > LONG_COMMAND {
            UNDER_TOOLS
        } else {
            REPEATS
        };
        let mut rows = Vec::new();
        for _ in 0..repeats {
            let before = read_events(self.counters.as_ref())?;
            let ended = self.run(counted, &[])?;
            let after = read_events(self.counters.as_ref())?;
            let mut row = vec![
                ended.wall_ns as f64,
                (ended.user_ns + ended.sys_ns) as f64,
                ended.voluntary_switches as f64,
                ended.involuntary_switches as f64,
                ended.minor_faults as f64,
                ended.major_faults as f64,
            ];
            row.extend(events_between(before.as_ref(), after.as_ref()));
            rows.push(row);
        }
        add_usage(counted, &USAGE_METRICS, &rows, self.counters.is_some())
    }

    fn count_calls(&mut self, counted: &mut Counted, tracer: &Path) -> SubjectResult<()> {
        let file = self.scratch.folder().join("trace");
        let mut traces = Vec::new();
        for _ in 0..UNDER_TOOLS {
            self.run(counted, &tracing(tracer, &file, &[]))?;
            traces.push(read_trace_file(&file, read_all_calls)?);
        }
        let rows: Vec<_> = traces.iter().map(|calls| (calls.clone(), 1.0)).collect();
        counted.messages = traces.pop().map_or(Vec::new(), |calls| calls.messages);
        counted.calls(&rows);
        Ok(())
    }

    fn count_allocations(&mut self, counted: &mut Counted) -> SubjectResult<()> {
        let language = &self.plan.subjects[counted.subject].language;
        let mut rows = Vec::new();
        for _ in 0..UNDER_TOOLS {
            let library = CountingLibrary::new(self.scratch.folder())?;
            self.run(counted, &library.prefix())?;
            rows.push(library.read()?);
        }
        if has_own_heap(language) || rows.iter().any(|row| row[1] == 0.0) {
            return Err(missing(
                "the program does not allocate memory through a shared C library",
            ));
        }
        counted.add_metrics([Metric::ALLOCATED_BYTES, Metric::ALLOCATIONS].iter(), &rows);
        Ok(())
    }

    fn count_instructions(&mut self, counted: &mut Counted) -> SubjectResult<()> {
        if in_path("valgrind").is_none() {
            return Err(missing("valgrind is not installed; --install installs it"));
        }
        if self.plan.subjects[counted.subject]
            .command
            .as_ref()
            .is_some_and(|c| c.shell)
        {
            return Err(missing(
                "the command contains shell syntax, so Callgrind would profile the shell",
            ));
        }
        let file = self.scratch.folder().join("callgrind");
        self.run(counted, &callgrind_command(&file))?;
        let profile = read_profile(&file)?;
        let figures = SIMULATED_METRICS.iter();
        let figures =
            figures.filter_map(|(metric, event)| Some((metric, profile.total_of(event)? as f64)));
        let (metrics, row): (Vec<&Metric>, Vec<f64>) = figures.unzip();
        counted.add_metrics(metrics.into_iter(), &[row]);
        let largest = |by: HashMap<String, u64>| {
            let costs = by.into_iter();
            select_costliest(costs.map(|(name, cost)| (name, cost as f64)))
        };
        counted.functions = largest(cost_by_function(&profile));
        counted.libraries = largest(cost_by_library(&profile));
        Ok(())
    }
}
