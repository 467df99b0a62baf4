// SPDX-License-Identifier: Apache-2.0
//! Counts what one operation of a subject costs in system calls, round trips, switches and faults, outside
//! of all measuring. A batch and one of twice its length are set against each other, several times, so that
//! the start, the opening and the protocol cost nothing.

mod trace;

pub use trace::{TraceError, read_trace};

use crate::batch_subject::Starting;
use crate::batches::targets;
use crate::process::{Answer, Fault, Process, gone};
use crate::scratch::Scratch;
use crate::server::Servers;
use crate::session::BenchError;
use crate::sys;
use crate::target::Target;
use crate::visit::Visit;
use lab_model::{Counted, CountedFigure, Direction, Metric, Plan, PointId, SubjectId, Unit};
use lab_services::procfs::{self, Usage};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use trace::Calls;

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
struct Batches {
    /// Batches of the smaller size that do not count.
    warm_up: u64,
    /// The smaller size.
    operations: u64,
}

/// Counts subjects of a plan.
pub struct Explainer<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    targets: Vec<Target>,
    core: usize,
    scratch: Scratch,
}

impl<'a> Explainer<'a> {
    /// For subjects that do batches. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        scratch: Scratch,
        servers: Servers,
    ) -> Result<Explainer<'a>, BenchError> {
        let cores = sys::allowed_cores()
            .map_err(|e| BenchError::System("the cores cannot be listed".into(), e))?;
        let targets = targets(plan, &scratch, servers)?;
        let core = cores[0];
        for server in targets.iter().filter_map(Target::server) {
            server.keep_off((cores.len() > 1).then_some(core));
        }
        Ok(Explainer {
            plan,
            folder,
            targets,
            core,
            scratch,
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
    ) -> Answer<Counted> {
        let mut counted = Counted {
            subject,
            point,
            ..Counted::default()
        };
        let batches = self.untraced(&mut counted, operations)?;
        counted.operations = batches.operations;
        let Some(tracer) = tracer else {
            counted.lacks_calls("strace is not installed; --install installs it".into());
            return Ok(counted);
        };
        match self.traced(subject, point, batches, tracer) {
            Ok(traced) => counted.add(traced),
            Err(Fault::Failed(_, why)) => counted.lacks_calls(why),
            Err(fault) => return Err(fault),
        }
        Ok(counted)
    }

    /// CPU time, switches and faults, without a tracer: it would be most of them.
    fn untraced(&self, counted: &mut Counted, operations: Option<u64>) -> Answer<Batches> {
        let starting = self.starting(self.plan);
        let (mut process, _) = starting.process(counted.subject, self.core)?;
        let (mut visit, settings) =
            Visit::begin(&mut process, self.plan, counted.point, &self.targets)?;
        counted.settings = settings;
        visit.verify(&mut process, self.plan, 1)?;
        visit.look(self.plan)?;
        let batches = self.sized(&mut process, &mut visit, operations)?;
        let usage = |process: &Process| procfs::usage(process.pid()).map_err(gone);
        let mut rows: Vec<[f64; 5]> = Vec::new();
        for _ in 0..REPEATS {
            let mut costs = [[0.0; 5]; 2];
            for (cost, times) in costs.iter_mut().zip([1, 2]) {
                let before = usage(&process)?;
                let ran = visit.run(&mut process, self.plan, times * batches.operations)?;
                let after = usage(&process)?;
                visit.look(self.plan)?;
                *cost = used(ran.cpu_ns, &before, &after);
            }
            rows.push(std::array::from_fn(|i| {
                (costs[1][i] - costs[0][i]) / batches.operations as f64
            }));
        }
        process.close()?;
        process.quit()?;
        let metrics = [
            Metric::MEAN_CPU,
            Metric::VOLUNTARY_SWITCHES,
            Metric::INVOLUNTARY_SWITCHES,
            Metric::MINOR_FAULTS,
            Metric::MAJOR_FAULTS,
        ];
        for (i, metric) in metrics.into_iter().enumerate() {
            let differences = rows.iter().map(|row| row[i]).collect();
            counted.figures.push(CountedFigure {
                metric,
                differences,
            });
        }
        Ok(batches)
    }

    /// Finds the sizes of the batches, and warms up.
    fn sized(
        &self,
        process: &mut Process,
        visit: &mut Visit,
        wanted: Option<u64>,
    ) -> Answer<Batches> {
        let plan = self.plan;
        let mut one_ns = u64::MAX;
        for _ in 0..3 {
            let ran = visit.run(process, plan, 1)?;
            visit.look(plan)?;
            one_ns = one_ns.min(ran.wall_ns.max(1));
        }
        let (most, least) = OPERATIONS;
        let operations = wanted.unwrap_or((BATCH_NS / one_ns).clamp(least, most));
        let warm_up = (WARM_UP_NS / one_ns).min(WARM_UP).div_ceil(operations);
        let batches = Batches {
            warm_up: warm_up.max(1),
            operations,
        };
        for _ in 0..batches.warm_up {
            visit.run(process, plan, batches.operations)?;
            visit.look(plan)?;
        }
        Ok(batches)
    }

    /// The same batches under strace, and one of a single operation: their calls.
    fn traced(
        &self,
        subject: SubjectId,
        point: PointId,
        batches: Batches,
        tracer: &Path,
    ) -> Answer<(Batches, Vec<Calls>)> {
        let file = self.scratch.folder().join("trace");
        let mut plan = self.plan.clone();
        let program = std::mem::take(&mut plan.subjects[subject].program);
        plan.subjects[subject].program = under(tracer, &file, program);
        let (mut process, _) = self.starting(&plan).process(subject, self.core)?;
        let plan = self.plan;
        let (mut visit, _) = Visit::begin(&mut process, plan, point, &self.targets)?;
        let n = batches.operations;
        let sizes = std::iter::repeat_n(n, batches.warm_up as usize);
        let sizes = sizes.chain([n, 2 * n].repeat(REPEATS)).chain([1]);
        for operations in sizes {
            visit.run(&mut process, plan, operations)?;
            visit.look(plan)?;
        }
        process.close()?;
        process.quit()?;
        let calls = File::open(&file)
            .map_err(TraceError::from)
            .and_then(|trace| read_trace(BufReader::new(trace)))
            .map_err(|e| Fault::Failed("trace", e.to_string()))?;
        let wanted = batches.warm_up as usize + 2 * REPEATS + 1;
        match calls.len() == wanted {
            true => Ok((batches, calls)),
            false => {
                let found = calls.len();
                let why = format!("the trace shows {found} batches of {wanted}");
                Err(Fault::Failed("trace", why))
            }
        }
    }

    fn starting<'s>(&'s self, plan: &'s Plan) -> Starting<'s> {
        Starting {
            plan,
            folder: self.folder,
        }
    }
}

/// A program under strace, which is its child and not its parent (`-D`): the lab has the subject itself
/// for a child, with its process id, its group and its pipes, as always.
fn under(tracer: &Path, file: &Path, program: Vec<String>) -> Vec<String> {
    let options = [
        "-D",
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
    let words = words.chain(options.map(str::to_owned));
    let words = words.chain([file.display().to_string(), "--".into()]);
    words.chain(program).collect()
}

/// CPU time, switches and faults between two looks, in the order of the metrics.
fn used(cpu_ns: u64, before: &Usage, after: &Usage) -> [f64; 5] {
    // A thread that ended takes its switches along.
    let grown = |of: fn(&Usage) -> u64| of(after).saturating_sub(of(before)) as f64;
    [
        cpu_ns as f64,
        grown(|u| u.voluntary_switches),
        grown(|u| u.involuntary_switches),
        grown(|u| u.minor_faults),
        grown(|u| u.major_faults),
    ]
}

/// What is added to what was counted.
trait Adding {
    fn lacks_calls(&mut self, why: String);
    fn add(&mut self, traced: (Batches, Vec<Calls>));
}

impl Adding for Counted {
    fn lacks_calls(&mut self, why: String) {
        self.missing
            .push(("system calls and round trips".into(), why));
    }

    fn add(&mut self, (batches, mut calls): (Batches, Vec<Calls>)) {
        self.messages = calls.pop().map_or(Vec::new(), |single| single.messages);
        let pairs: Vec<&[Calls]> = calls[batches.warm_up as usize..].chunks_exact(2).collect();
        let mut figure = |metric: Metric, of: &dyn Fn(&Calls) -> u64| {
            let difference = |pair: &&[Calls]| {
                (of(&pair[1]) as f64 - of(&pair[0]) as f64) / batches.operations as f64
            };
            let differences = pairs.iter().map(difference).collect();
            self.figures.push(CountedFigure {
                metric,
                differences,
            });
        };
        figure(Metric::ROUND_TRIPS, &|c| c.round_trips);
        figure(Metric::SENT_BYTES, &|c| c.sent_bytes);
        figure(Metric::RECEIVED_BYTES, &|c| c.received_bytes);
        figure(Metric::FUTEX_WAITS, &|c| c.futex_waits);
        figure(Metric::SYSTEM_CALLS, &|c| c.kinds.values().sum());
        let kinds: BTreeSet<&String> = pairs.iter().flat_map(|p| p[1].kinds.keys()).collect();
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

/// Where strace is, if it is there.
pub fn tracer() -> Option<PathBuf> {
    crate::build::in_path("strace")
}
