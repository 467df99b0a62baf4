// SPDX-License-Identifier: Apache-2.0
//! Counts a server's events per request under load: without a tracer, under strace, and with the allocation counter.

use super::allocations::{CountingLibrary, has_own_heap};
use super::counting::{
    Adding, REPEATS, USAGE_METRICS, add_usage, events_between, missing, read_events,
    read_trace_file, tracing, usage_between,
};
use super::trace::read_windows;
use crate::driver::session::{BenchError, usable_cores};
use crate::host::hardware::{self, HardwareCounters};
use crate::host::scratch::Scratch;
use crate::host::sys;
use crate::servers::{Proven, RunningServer, ServedFiles, ServerSetup, Split, pin_lab};
use crate::subject::dialog::connection_lost;
use crate::subject::fault::{Fault, SubjectResult};
use lab_host::procfs::{self, ProcessUsage};
use lab_load::Engine;
use lab_model::{Counted, CountedValue, Metric, Plan, PointId, Serving, SubjectId};
use std::path::Path;
use std::time::Duration;

/// The duration of load before the first counted period.
const WARM_UP: Duration = Duration::from_secs(2);

/// The length of a counted period of load. The events of the period are divided by the number of
/// requests.
const STRETCH: Duration = Duration::from_millis(300);

/// Counts the events of a plan's servers.
pub struct ServerExplainer<'a> {
    plan: &'a Plan,
    serving: &'a Serving,
    folder: &'a Path,
    scratch: Scratch,
    split: Split,
    has_hardware: bool,
}

/// A server under load.
struct ExplainedServer {
    server: RunningServer,
    engine: Engine,
}

impl<'a> ServerExplainer<'a> {
    /// Creates an explainer for the servers of a plan. `folder` is the project's directory.
    pub fn new(
        plan: &'a Plan,
        serving: &'a Serving,
        folder: &'a Path,
        scratch: Scratch,
    ) -> Result<ServerExplainer<'a>, BenchError> {
        let cores = usable_cores()?;
        let split = Split::new(&cores, plan.seed, 0);
        pin_lab(&split);
        Ok(ServerExplainer {
            plan,
            serving,
            folder,
            scratch,
            split,
            has_hardware: hardware::unavailable().is_none(),
        })
    }

    /// Counts one server at one point. `tracer` is the path of strace, or `None` if strace is not installed.
    ///
    /// Returns a fault if the server cannot serve the point.
    pub fn count(
        &self,
        subject: SubjectId,
        point: PointId,
        tracer: Option<&Path>,
    ) -> SubjectResult<Counted> {
        if self.plan.fraction_of_peak(point).is_some() {
            let reason = "the server's peak is known only during a run, so load at a fraction of the peak cannot be \
                 explained; use load=closed";
            return Err(Fault::Failed("load", reason.into()));
        }
        let mut counted = Counted {
            subject,
            point,
            ..Counted::default()
        };
        let proven = self.count_usage(&mut counted)?;
        let calls = match tracer {
            Some(tracer) => self.count_calls(&mut counted, &proven, tracer),
            None => Err(missing("strace is not installed; --install installs it")),
        };
        counted.note_missing("system calls", calls)?;
        let allocated = self.count_allocations(&mut counted, &proven);
        counted.note_missing("allocations", allocated)?;
        if !self.has_hardware {
            let reason = "the machine has no hardware counters, and Callgrind runs one thread of a server at a time";
            counted.note_missing("instructions and cache misses", Err(missing(reason)))?;
        }
        Ok(counted)
    }

    /// Counts CPU time, context switches, page faults, memory and processor events. Returns the server's verified
    /// responses.
    fn count_usage(&self, counted: &mut Counted) -> SubjectResult<Proven> {
        let setup = self.setup(self.plan)?;
        let (server, opened) = setup.start(counted.subject, &self.split.server)?;
        let settings = opened.args().iter();
        let is_setting = |key: &str| !["url", "processes", "certificate"].contains(&key);
        let settings = settings.filter(|(key, _)| is_setting(key)).cloned();
        counted.settings = settings.collect();
        let proven = setup.prove(&server)?;
        let mut loaded = self.start_load(&setup, server, counted.point, &proven)?;
        let process = loaded.server.process.pid();
        let counters = self.has_hardware.then(|| HardwareCounters::open(process));
        let counters = counters.transpose().map_err(connection_lost)?;
        let events = || read_events(counters.as_ref());
        let rows = loaded.stretches(|loaded| {
            let cpu_before = loaded.server.read()?.cpu_ns;
            let (before, events_before) = (usage(&loaded.server), events()?);
            let served = loaded.served()?;
            let (events_after, after) = (events()?, usage(&loaded.server));
            let cpu_ns = loaded.server.read()?.cpu_ns.saturating_sub(cpu_before);
            let mut cost = usage_between(cpu_ns, &before, &after).to_vec();
            cost.extend(events_between(
                events_before.as_ref(),
                events_after.as_ref(),
            ));
            counted.operations = counted.operations.max(served);
            Ok(cost.into_iter().map(|cost| cost / served as f64).collect())
        })?;
        // The wall time of a request depends on the load.
        add_usage(counted, &USAGE_METRICS[1..], &rows, self.has_hardware)?;
        if let Some(bytes) = loaded.server.read()?.bytes {
            counted.add_metrics([Metric::MEMORY].iter(), &[vec![bytes as f64]]);
        }
        loaded.end(self.serving)?;
        Ok(proven)
    }

    /// Counts the system calls of each period. A call belongs to the period in which it started.
    fn count_calls(
        &self,
        counted: &mut Counted,
        proven: &Proven,
        tracer: &Path,
    ) -> SubjectResult<()> {
        let file = self.scratch.folder().join("trace");
        let prefix = tracing(tracer, &file, &["-D", "-ttt"]);
        let mut loaded = self.start_with_prefix(&prefix, counted, proven)?;
        let mut windows = Vec::new();
        let mut served = Vec::new();
        loaded.stretches(|loaded| {
            let begin = sys::unix_seconds();
            served.push(loaded.served()?);
            windows.push((begin, sys::unix_seconds()));
            Ok(Vec::new())
        })?;
        loaded.end(self.serving)?;
        let calls = read_trace_file(&file, |trace| read_windows(trace, &windows))?;
        let served = served.into_iter().map(|served| served as f64);
        let each: Vec<_> = calls.into_iter().zip(served).collect();
        counted.calls(&each);
        // Each request consists of one receive and one send, so a client's connection has no round trips.
        counted
            .figures
            .retain(|figure: &CountedValue| figure.metric != Metric::ROUND_TRIPS);
        Ok(())
    }

    fn count_allocations(&self, counted: &mut Counted, proven: &Proven) -> SubjectResult<()> {
        if has_own_heap(&self.plan.subjects[counted.subject].language) {
            return Err(missing(
                "the server's runtime has its own heap, and servers do not report the runtime's counters",
            ));
        }
        let library = CountingLibrary::new(self.scratch.folder())?;
        let mut loaded = self.start_with_prefix(&library.prefix(), counted, proven)?;
        if library.read()?[1] == 0.0 {
            return Err(missing(
                "the program does not allocate memory through a shared C library",
            ));
        }
        let rows = loaded.stretches(|loaded| {
            let before = library.read()?;
            let served = loaded.served()?;
            let growth = library.read()?.into_iter().zip(before);
            Ok(growth
                .map(|(after, before)| (after - before) / served as f64)
                .collect())
        })?;
        counted.add_metrics([Metric::ALLOCATED_BYTES, Metric::ALLOCATIONS].iter(), &rows);
        loaded.end(self.serving)
    }

    fn setup<'p>(&'p self, plan: &'p Plan) -> SubjectResult<ServerSetup<'p>> {
        let directory = self.scratch.folder().join("files");
        let files = ServedFiles::make(directory, &self.serving.files, self.plan.seed);
        Ok(ServerSetup {
            plan,
            serving: self.serving,
            folder: self.folder,
            temporary: self.scratch.temporary(),
            files: files.map_err(connection_lost)?,
        })
    }

    /// Starts a server with a command prefix, and puts it under load.
    fn start_with_prefix(
        &self,
        prefix: &[String],
        counted: &Counted,
        proven: &Proven,
    ) -> SubjectResult<ExplainedServer> {
        let mut plan = self.plan.clone();
        let program = &mut plan.subjects[counted.subject].program;
        program.splice(0..0, prefix.iter().cloned());
        let setup = self.setup(&plan)?;
        let (server, _) = setup.start(counted.subject, &self.split.server)?;
        self.start_load(&setup, server, counted.point, proven)
    }

    /// Warms up a server's connections.
    fn start_load(
        &self,
        setup: &ServerSetup,
        mut server: RunningServer,
        point: PointId,
        proven: &Proven,
    ) -> SubjectResult<ExplainedServer> {
        let mut engine = setup.generator(&server, point, proven, self.plan.rate(point), 0)?;
        server.load(&mut engine, WARM_UP)?;
        Ok(ExplainedServer { server, engine })
    }
}

impl ExplainedServer {
    fn stretches(
        &mut self,
        mut count: impl FnMut(&mut ExplainedServer) -> SubjectResult<Vec<f64>>,
    ) -> SubjectResult<Vec<Vec<f64>>> {
        (0..REPEATS).map(|_| count(self)).collect()
    }

    /// Applies load for one period. Returns the number of requests served.
    fn served(&mut self) -> SubjectResult<u64> {
        let record = self.server.load(&mut self.engine, STRETCH)?;
        match record.served {
            0 => Err(Fault::Failed(
                "load",
                "the server served no requests".into(),
            )),
            served => Ok(served),
        }
    }

    fn end(self, serving: &Serving) -> SubjectResult<()> {
        let ExplainedServer { mut server, engine } = self;
        drop(engine);
        server.close(&serving.metrics)?;
        server.quit()
    }
}

/// Adds up the usage of a server's processes.
fn usage(server: &RunningServer) -> ProcessUsage {
    // The switches of a process that just exited are no longer included.
    let each = server
        .processes()
        .into_iter()
        .filter_map(|pid| procfs::usage(pid).ok());
    each.fold(ProcessUsage::default(), |sum, one| ProcessUsage {
        voluntary_switches: sum.voluntary_switches + one.voluntary_switches,
        involuntary_switches: sum.involuntary_switches + one.involuntary_switches,
        minor_faults: sum.minor_faults + one.minor_faults,
        major_faults: sum.major_faults + one.major_faults,
        ..sum
    })
}
