// SPDX-License-Identifier: Apache-2.0
//! Counts what one operation of a subject costs in system calls, round trips, switches, faults, allocations,
//! instructions and misses, outside of all measuring. A batch and one of twice its length are set against each
//! other, so that the start, the opening and the protocol cost nothing.

mod allocations;
mod commands;
mod serving;
mod simulated;
mod trace;

pub use commands::CommandExplainer;
pub use serving::ServerExplainer;
pub use trace::{TraceError, read_trace};

use crate::batch_subject::BatchStart;
use crate::batches::targets;
use crate::fault::{Fault, SubjectResult};
use crate::hardware::{self, COUNTED, HardwareCounters};
use crate::process::{BatchResult, SubjectProcess, connection_lost};
use crate::scratch::Scratch;
use crate::server::Servers;
use crate::session::{BenchError, usable_cores};
use crate::target::TargetMaker;
use crate::visit::OpenCase;
use lab_model::{Counted, CountedFigure, Direction, Metric, Plan, PointId, SubjectId, Unit};
use lab_services::procfs::{self, ProcessUsage};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use trace::SystemCalls;

/// Differences of which the median is taken. From the least to the greatest of six is an interval of the
/// median at 1 - 2/2^6 = 96.9 %.
const REPEATS: usize = 6;

/// The most operations of the smaller batch, and the least.
const OPERATIONS: (u64, u64) = (200, 2);

/// The wanted length of the smaller batch, untraced.
const BATCH_NS: u64 = 50_000_000;

/// Operations before the first batch that counts: runtimes compile, drivers prepare on the server.
const WARM_UP: u64 = 2000;

/// The time for them, untraced.
const WARM_UP_NS: u64 = 500_000_000;

/// The characters of a message that strace writes.
const SHOWN: &str = "48";

/// The batches that a process does at a point, the same with and without a tracer.
#[derive(Clone, Copy)]
struct ExplainedBatches {
    /// Batches of the smaller size that do not count.
    warm_up: u64,
    /// The smaller size.
    operations: u64,
}

/// Counts subjects of a plan.
pub struct Explainer<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    targets: Vec<TargetMaker>,
    core: usize,
    scratch: Scratch,
    /// Whether the processor's counters can be read.
    has_hardware: bool,
}

impl<'a> Explainer<'a> {
    /// For subjects that do batches. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        scratch: Scratch,
        servers: Servers,
    ) -> Result<Explainer<'a>, BenchError> {
        let cores = usable_cores()?;
        let targets = targets(plan, &scratch, servers)?;
        let core = cores[0];
        for server in targets.iter().filter_map(TargetMaker::server) {
            server.keep_off((cores.len() > 1).then_some(core));
        }
        Ok(Explainer {
            plan,
            folder,
            targets,
            core,
            scratch,
            has_hardware: hardware::unavailable().is_none(),
        })
    }

    /// Counts one subject at one point. `operations`: of the smaller batch; `None`: as many as are quick.
    /// `tracer`: strace; `None`: there is none. Fault: the subject cannot do the point at all.
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

    /// Counts CPU time, switches, faults and the processor's events, without a tracer, which would be most of them.
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
            &self.targets,
        )?;
        counted.settings = settings;
        visit.verify(&mut process, self.plan, 1)?;
        visit.check_work(self.plan)?;
        let batches = self.size_batches(&mut process, &mut visit, operations)?;
        let usage =
            |process: &SubjectProcess| procfs::usage(process.pid()).map_err(connection_lost);
        let counters = self
            .has_hardware
            .then(|| HardwareCounters::of(process.pid()));
        let counters = counters.transpose().map_err(connection_lost)?;
        let events = || read_events(counters.as_ref());
        let rows = self.differences(&mut process, &mut visit, batches, |process, run| {
            let (before, events_before) = (usage(process)?, events()?);
            let result = run(process)?;
            let (events_after, after) = (events()?, usage(process)?);
            let mut cost = used(result.cpu_ns, &before, &after).to_vec();
            cost.extend(events_after.iter().zip(&events_before).map(|(a, b)| a - b));
            Ok(cost)
        })?;
        process.close()?;
        process.quit()?;
        counted.figures(USED.iter().chain(&COUNTED), &rows);
        Ok(batches)
    }

    /// What an operation costs in several respects, by several pairs of batches in a warm process.
    fn differences(
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

    /// Starts a subject, with these words in front of its program, opens a point and warms it up.
    fn warm(
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
            &self.targets,
        )?;
        for _ in 0..batches.warm_up {
            visit.run(&mut process, self.plan, batches.operations)?;
            visit.check_work(self.plan)?;
        }
        Ok((process, visit))
    }

    /// Finds the sizes of the batches, and warms up.
    fn size_batches(
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

    /// Counts the calls of the same batches under strace, and of one with a single operation.
    fn count_calls(
        &self,
        counted: &mut Counted,
        batches: ExplainedBatches,
        tracer: &Path,
    ) -> SubjectResult<()> {
        let file = self.scratch.folder().join("trace");
        // strace is the child of the subject and not its parent (`-D`): the lab has the subject itself for a child,
        // with its process id, its group and its pipes, as always.
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
            let message = format!("the trace shows {} batches of {expected}", calls.len());
            Err(Fault::Failed("trace", message))
        }
    }

    fn starting<'s>(&'s self, plan: &'s Plan) -> BatchStart<'s> {
        BatchStart {
            plan,
            folder: self.folder,
            temporary: self.scratch.temporary(),
        }
    }
}

/// Words in front of a program that trace it.
fn tracing(tracer: &Path, file: &Path, further: &[&str]) -> Vec<String> {
    let options = [
        "-f",
        "-y",
        "-q",
        "-q",
        "-s",
        SHOWN,
        "-e",
        "signal=none",
        "-o",
    ];
    let words = [tracer.display().to_string()].into_iter();
    let further = further.iter().map(|option| (*option).to_owned());
    let words = words.chain(further).chain(options.map(str::to_owned));
    words
        .chain([file.display().to_string(), "--".into()])
        .collect()
}

/// Reads what is needed of a trace.
fn read_trace_file<T>(
    file: &Path,
    read: impl FnOnce(BufReader<File>) -> Result<T, TraceError>,
) -> SubjectResult<T> {
    let trace = File::open(file).map_err(TraceError::from);
    let content = trace.and_then(|trace| read(BufReader::new(trace)));
    content.map_err(|e| Fault::Failed("trace", e.to_string()))
}

/// The processor's counts so far; empty where it has no counters.
fn read_events(counters: Option<&HardwareCounters>) -> SubjectResult<Vec<f64>> {
    match counters {
        Some(counters) => counters.read().map_err(connection_lost),
        None => Ok(Vec::new()),
    }
}

/// What the system says of a process.
static USED: [Metric; 5] = [
    Metric::MEAN_CPU,
    Metric::VOLUNTARY_SWITCHES,
    Metric::INVOLUNTARY_SWITCHES,
    Metric::MINOR_FAULTS,
    Metric::MAJOR_FAULTS,
];

/// CPU time, switches and faults between two readings, in the order of [`USED`].
fn used(cpu_ns: u64, before: &ProcessUsage, after: &ProcessUsage) -> [f64; 5] {
    // A thread that ended takes its switches along.
    let increase =
        |figure: fn(&ProcessUsage) -> u64| figure(after).saturating_sub(figure(before)) as f64;
    [
        cpu_ns as f64,
        increase(|u| u.voluntary_switches),
        increase(|u| u.involuntary_switches),
        increase(|u| u.minor_faults),
        increase(|u| u.major_faults),
    ]
}

/// Additions to what was counted of a subject.
trait Adding {
    /// Notes what could not be counted, and why. An interruption is returned.
    fn note_missing(&mut self, quantity: &str, outcome: SubjectResult<()>) -> SubjectResult<()>;

    /// A figure of each of the metrics that the rows have, one row for each pair of batches.
    fn figures<'m>(&mut self, metrics: impl Iterator<Item = &'m Metric>, rows: &[Vec<f64>]);

    /// The calls of all batches, the last of which is of a single operation.
    fn add(&mut self, batches: ExplainedBatches, calls: Vec<SystemCalls>);

    /// Figures of calls, each counted over so many operations.
    fn calls(&mut self, counted: &[(SystemCalls, f64)]);
}

/// The fault of something that cannot be counted.
fn missing(reason: &str) -> Fault {
    Fault::Failed("missing", reason.into())
}

impl Adding for Counted {
    fn note_missing(&mut self, quantity: &str, outcome: SubjectResult<()>) -> SubjectResult<()> {
        match outcome {
            Err(Fault::Failed(_, reason)) => self.missing.push((quantity.into(), reason)),
            outcome => return outcome,
        }
        Ok(())
    }

    fn figures<'m>(&mut self, metrics: impl Iterator<Item = &'m Metric>, rows: &[Vec<f64>]) {
        let width = rows.first().map_or(0, Vec::len);
        for (i, metric) in metrics.take(width).enumerate() {
            self.figures.push(CountedFigure {
                metric: metric.clone(),
                differences: rows.iter().map(|row| row[i]).collect(),
            });
        }
    }

    fn add(&mut self, batches: ExplainedBatches, mut calls: Vec<SystemCalls>) {
        self.messages = calls.pop().map_or(Vec::new(), |single| single.messages);
        let pairs = calls[batches.warm_up as usize..].chunks_exact(2);
        let differences = pairs.map(|pair| (pair[1].minus(&pair[0]), batches.operations as f64));
        let differences: Vec<(SystemCalls, f64)> = differences.collect();
        self.calls(&differences);
    }

    fn calls(&mut self, counted: &[(SystemCalls, f64)]) {
        let mut figure = |metric: Metric, value: &dyn Fn(&SystemCalls) -> i64| {
            let each = counted
                .iter()
                .map(|(calls, operations)| value(calls) as f64 / operations);
            self.figures.push(CountedFigure {
                metric,
                differences: each.collect(),
            });
        };
        figure(Metric::ROUND_TRIPS, &|c| c.round_trips);
        figure(Metric::SENT_BYTES, &|c| c.sent_bytes);
        figure(Metric::RECEIVED_BYTES, &|c| c.received_bytes);
        figure(Metric::FUTEX_WAITS, &|c| c.futex_waits);
        figure(Metric::SYSTEM_CALLS, &|c| c.kinds.values().sum());
        let kinds: BTreeSet<&String> = counted.iter().flat_map(|(c, _)| c.kinds.keys()).collect();
        for kind in kinds {
            figure(call(kind), &|c| c.kinds.get(kind).copied().unwrap_or(0));
        }
    }
}

/// The metric of one kind of system call.
fn call(kind: &str) -> Metric {
    Metric {
        id: format!("call_{kind}").into(),
        title: kind.to_owned().into(),
        unit: Unit::Count("calls".into()),
        better: Direction::Neither,
    }
}

/// The path of strace, if it is installed.
pub fn tracer() -> Option<PathBuf> {
    crate::build::in_path("strace")
}
