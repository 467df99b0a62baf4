// SPDX-License-Identifier: Apache-2.0
//! Measures whole commands. Every turn is one process, from start to exit.

mod outputs;
mod start_error;
pub mod starter;
pub mod wrapper;

use crate::driver::context::{BlockContext, Progress, RunContext, Stop, TurnRecord};
use crate::driver::session::{BenchError, usable_cores};
use crate::driver::workload::{Done, Turn, TurnResult, Workload};
use crate::host::hardware::{COUNTED, EventCounts, HardwareCounters};
use crate::host::interrupt;
use crate::host::random::random;
use crate::host::scratch::Scratch;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use lab_model::{
    Batch, Commands, Cores, Metric, Pilot, Plan, PointId, ProcessExit, Reading, Run, Sample,
    Setting, Subject, SubjectId, WarmUp,
};
use lab_plan::filled;
use lab_store::StoreError;
use outputs::Outputs;
use starter::{Ended, StartRequest, Starter};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// The maximum number of pilot processes per command and point. No further process is started once
/// the processes have taken [`PILOT_NS`] in total.
const PILOT_RUNS: usize = 3;
const PILOT_NS: u64 = 300_000_000;

/// The minimum ratio of CPU time to wall time for a command to count as parallel.
const PARALLEL: f64 = 1.1;

/// The minimum CPU time per process for a command to count as parallel, in ns.
///
/// Shorter processes do not count, because the kernel does some of the work of process start and
/// exit on other cores.
const MIN_CPU_NS: u64 = 5_000_000;

/// The upper bound, exclusive, of the padding in a command's environment if there are multiple
/// builds, in bytes: one page.
const MAX_PADDING: u64 = 4096;

/// The setting of a command that leaves processes running when it ends.
const LEFT_RUNNING: &str = "leaves processes running";

/// The maximum number of lines stored from the end of a failed command's standard error.
const LAST_LINES: usize = 10;
/// The maximum number of bytes read from the end of a failed command's standard error.
const LAST_BYTES: usize = 4096;

/// The workload of a run that measures commands.
pub struct CommandWorkload<'a> {
    plan: &'a Plan,
    options: &'a Commands,
    starter: Starter,
    cores: Vec<usize>,
    /// The cores for the current block's commands.
    block_cores: Vec<usize>,
    pilots: HashMap<(SubjectId, PointId), Pilot>,
    outputs: Option<Outputs>,
    errors: PathBuf,
    /// The commands and points whose setup has run and whose cleanup is still due.
    set_up: HashSet<(SubjectId, PointId)>,
    /// The commands that left processes running.
    left_running: HashSet<SubjectId>,
    /// The index of the build that the current block runs.
    build: usize,
    /// The processor's counters for all processes started by the starter.
    counters: Option<HardwareCounters>,
    /// The number of processes started so far.
    starts: std::cell::Cell<u64>,
    _scratch: Scratch,
}

impl<'a> CommandWorkload<'a> {
    /// Creates the workload of a plan for a new or resumed run.
    pub fn new(
        plan: &'a Plan,
        options: &'a Commands,
        run: &Run,
        scratch: Scratch,
    ) -> Result<CommandWorkload<'a>, BenchError> {
        let cores = usable_cores()?;
        let starter =
            Starter::new().map_err(BenchError::system("the process that starts commands"))?;
        let pilots = run.pilots.iter();
        let counters = HardwareCounters::open(starter.pid()).ok();
        Ok(CommandWorkload {
            counters,
            plan,
            options,
            starter,
            block_cores: Vec::new(),
            cores,
            pilots: pilots.map(|p| ((p.subject, p.point), p.clone())).collect(),
            outputs: options.same_output.then(|| Outputs::new(scratch.folder())),
            errors: scratch.folder().join("stderr"),
            set_up: HashSet::new(),
            left_running: HashSet::new(),
            build: 0,
            starts: std::cell::Cell::new(0),
            _scratch: scratch,
        })
    }

    /// Runs the prepare command and then the command itself.
    ///
    /// Returns the process's resource usage, the check value of its output, and the processor's event counts.
    fn execute(
        &mut self,
        cell: CommandPoint,
        cores: &[usize],
    ) -> SubjectResult<(Ended, u64, Vec<f64>)> {
        let subject = &self.plan.subjects[cell.subject];
        if let Some(prepare) = subject.command.as_ref().and_then(|c| c.prepare.as_ref()) {
            self.hook("prepare", prepare, cell)?;
        }
        let mut order = self.order(&subject.program, cell, cores);
        let compared = self.outputs.as_ref().filter(|_| !subject.overhead);
        order.output = compared.map(Outputs::output_file);
        let before = self.counted();
        let ended = self.starter.run(&order)?;
        let counted = before.zip(self.counted());
        let counted = counted.and_then(|(before, after)| after.since(&before).ok());
        let counted = counted.unwrap_or_default();
        if ended.timed_out {
            let seconds = order.time_limit.as_secs_f64();
            let message = format!("the command did not finish within {seconds} s (--time-limit)");
            return Err(self.failed("timeout", message));
        }
        if !self.options.accepts(ended.code()) {
            let message = match self.options.expected_statuses.as_slice() {
                [] => format!(
                    "the command ended with {}; fix the command, or use --ignore-failure={} if this is expected",
                    ended.status,
                    ended.code()
                ),
                _ => format!(
                    "the command ended with {}, which is not listed in --ignore-failure",
                    ended.status
                ),
            };
            return Err(self.failed("exit", message));
        }
        if ended.left_running {
            self.left_running.insert(cell.subject);
        }
        let of_baseline = self.plan.baseline == cell.subject;
        let check = match &mut self.outputs {
            Some(outputs) if !subject.overhead => outputs.check(cell.point, of_baseline)?,
            _ => 0,
        };
        Ok((ended, check, counted))
    }

    /// Returns the processor's event counts of all commands so far, or `None` if there are no
    /// counters.
    fn counted(&self) -> Option<EventCounts> {
        self.counters.as_ref()?.read().ok()
    }

    /// Runs one of the user's setup, prepare or cleanup commands on all cores, without timing it.
    fn hook(
        &mut self,
        stage: &'static str,
        program: &[String],
        cell: CommandPoint,
    ) -> SubjectResult<()> {
        let cores = self.cores.clone();
        let mut order = self.order(program, cell, &cores);
        order.input = None;
        let ended = self.starter.run(&order)?;
        if ended.timed_out || ended.code() != 0 {
            let line = order.program.join(" ");
            let message = format!("--{stage} `{line}` ended with {}", ended.status);
            return Err(self.failed(stage, message));
        }
        Ok(())
    }

    fn order(&self, program: &[String], cell: CommandPoint, cores: &[usize]) -> StartRequest {
        let at = (cell.subject, cell.point);
        StartRequest {
            errors: Some(self.errors.clone()),
            variables: self.variables(cell.subject),
            ..order((self.plan, self.options), at, program, self.build, cores)
        }
    }

    /// Returns the environment variables that vary the layout if there are multiple builds.
    fn variables(&self, subject: SubjectId) -> Vec<(&'static str, String)> {
        if self.plan.builds() == 1 {
            return Vec::new();
        }
        let start = self.starts.replace(self.starts.get() + 1);
        layout_variables(self.plan, subject, self.build, start)
    }

    /// Creates a fault that includes the last lines of the command's standard error.
    fn failed(&self, kind: &'static str, message: String) -> Fault {
        let text = std::fs::read(&self.errors).unwrap_or_default();
        let last = &text[text.len().saturating_sub(LAST_BYTES)..];
        let last = String::from_utf8_lossy(last);
        let lines: Vec<&str> = last.lines().collect();
        let lines = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let message = [&[message.as_str()], lines].concat().join("\n");
        Fault::Failed(kind, message)
    }

    fn set_up(&mut self, cell: CommandPoint) -> SubjectResult<()> {
        let command = self.plan.subjects[cell.subject].command.as_ref();
        if let Some(setup) = command.and_then(|c| c.setup.as_ref()) {
            for build in 0..self.plan.builds() {
                self.build = build;
                self.hook("setup", setup, cell)?;
            }
            self.build = 0;
        }
        self.set_up.insert((cell.subject, cell.point));
        Ok(())
    }

    /// Runs a command a few times on all cores. This loads the command's files into memory and
    /// measures its duration.
    fn pilot(&mut self, cell: CommandPoint) -> SubjectResult<Pilot> {
        let cores = self.cores.clone();
        let mut batches: Vec<Batch> = Vec::new();
        // Check whether the baseline's output changes before blaming other commands for differences.
        let runs_twice = self.outputs.is_some() && cell.subject == self.plan.baseline;
        let min_runs = if runs_twice { 2 } else { 1 };
        let spent = |batches: &[Batch]| batches.iter().map(|b| b.wall_ns).sum::<u64>();
        while batches.len() < min_runs || (batches.len() < PILOT_RUNS && spent(&batches) < PILOT_NS)
        {
            let (ended, ..) = self.execute(cell, &cores)?;
            batches.push(batch(&ended));
        }
        Ok(Pilot {
            subject: cell.subject,
            point: cell.point,
            operations: 1,
            warmup_batches: 0,
            class: WarmUp::Flat,
            cold_ns: batches[0].wall_ns,
            batches,
            ages: Vec::new(),
        })
    }

    /// Returns the cores for commands: a single core, or all cores if a command used more than one.
    fn cores_of_commands(&self) -> Cores {
        let mut batches = self.pilots.values().flat_map(|pilot| &pilot.batches);
        let any_parallel = batches.any(is_parallel);
        let default_cores = if any_parallel { Cores::All } else { Cores::One };
        self.options.cores.unwrap_or(default_cores)
    }

    fn pilot_all(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let of = self.plan.points.len() * self.plan.subjects.len();
        for (done, cell) in self.cells().into_iter().enumerate() {
            let CommandPoint { subject, point } = cell;
            progress(Progress::Pilot {
                subject,
                point,
                done,
                of,
            });
            if !run.participants.takes_part(subject, point) {
                continue;
            }
            let is_piloted = self.pilots.contains_key(&(subject, point));
            // The baseline's output is needed again, because the other commands' output is compared with it.
            let needed = !is_piloted || (subject == self.plan.baseline && self.outputs.is_some());
            let outcome = self.set_up(cell).and_then(|()| {
                if needed {
                    self.pilot(cell).map(Some)
                } else {
                    Ok(None)
                }
            });
            match outcome {
                Ok(Some(pilot)) if !is_piloted => {
                    self.pilots.insert((subject, point), pilot.clone());
                    run.pilot(pilot)?;
                }
                Ok(_) => {}
                Err(fault) => {
                    let failure = run.fail(fault, subject, Some(point), None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Records which commands left processes running, unless an earlier session recorded it.
    fn record_left_running(&self, run: &mut RunContext) -> Result<(), StoreError> {
        let subjects = self.plan.subjects.ids();
        for subject in subjects.filter(|subject| self.left_running.contains(subject)) {
            let mut recorded = run.run.settings.iter().filter(|s| s.subject == subject);
            if !recorded.any(|s| s.key == LEFT_RUNNING) {
                run.setting(Setting {
                    subject,
                    point: None,
                    key: LEFT_RUNNING.into(),
                    value: "yes".into(),
                })?;
            }
        }
        Ok(())
    }

    /// Returns every combination of command and point, baseline first.
    fn cells(&self) -> Vec<CommandPoint> {
        let baseline = self.plan.baseline;
        let others = self.plan.subjects.ids().filter(|&s| s != baseline);
        let subjects: Vec<SubjectId> = [baseline].into_iter().chain(others).collect();
        let points = self.plan.points.ids();
        let at = |point| {
            subjects
                .iter()
                .map(move |&subject| CommandPoint { subject, point })
        };
        points.flat_map(at).collect()
    }
}

/// Returns environment variables that vary the memory layout of a command's process: the number of
/// the build, a seed for it, and a padding.
///
/// The length of the padding depends on `start`, because the length of the environment determines
/// where the stack starts (Mytkowicz et al., ASPLOS 2009).
pub fn layout_variables(
    plan: &Plan,
    subject: SubjectId,
    build: usize,
    start: u64,
) -> Vec<(&'static str, String)> {
    let revision = plan.subjects[subject].control_of.unwrap_or(subject);
    let build = build as u64;
    let seed = random(plan.seed, &[u64::from(revision.0), build]) >> 32;
    let padding = random(plan.seed, &[u64::MAX, start]) % MAX_PADDING;
    vec![
        ("BENCHLAB_BUILD", (build + 1).to_string()),
        ("BENCHLAB_BUILD_SEED", seed.to_string()),
        ("BENCHLAB_PADDING", "x".repeat(padding as usize)),
    ]
}

/// Returns the request to start a program for a command at a point, in one of its builds.
pub fn order(
    (plan, options): (&Plan, &Commands),
    (subject, point): (SubjectId, PointId),
    program: &[String],
    build: usize,
    cores: &[usize],
) -> StartRequest {
    let params = &plan.points[point].params;
    let command = plan.subjects[subject].command.as_ref();
    let folder = command.and_then(|c| c.builds.get(build).or(c.folder.as_ref()));
    StartRequest {
        program: program.iter().map(|word| filled(word, params)).collect(),
        folder: folder.map_or_else(|| "/".into(), PathBuf::from),
        input: options.input.as_ref().map(PathBuf::from),
        cores: cores.to_vec(),
        time_limit: Duration::from_nanos(plan.measure.time_limit_ns),
        ..StartRequest::default()
    }
}

/// A command at a point.
#[derive(Clone, Copy)]
struct CommandPoint {
    subject: SubjectId,
    point: PointId,
}

impl Workload for CommandWorkload<'_> {
    fn metrics(&self) -> Vec<Metric> {
        self.counters
            .as_ref()
            .map_or_else(Vec::new, |_| COUNTED.to_vec())
    }

    fn cores(&self) -> &[usize] {
        &self.cores
    }

    fn prepare(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        sys::pin_to_core(self.cores[0]);
        self.pilot_all(run, progress)?;
        let cores = match self.cores_of_commands() {
            Cores::One => "one",
            Cores::All => "all",
        };
        let is_recorded = run.run.settings.iter().any(|s| s.key == "cores");
        let measured = |s: &Subject| !s.overhead && s.control_of.is_none();
        for subject in self.plan.subjects.ids() {
            if !is_recorded && measured(&self.plan.subjects[subject]) {
                run.setting(Setting {
                    subject,
                    point: None,
                    key: "cores".into(),
                    value: cores.into(),
                })?;
            }
        }
        Ok(())
    }

    fn begin_block(&mut self, number: u32, core: usize) {
        self.build = self.plan.build_of(number);
        sys::pin_to_core(core);
        self.block_cores = match self.cores_of_commands() {
            Cores::One => vec![core],
            Cores::All => self.cores.clone(),
        };
    }

    fn passes(&self, point: PointId, subjects: &[SubjectId]) -> u32 {
        let last = |&subject: &SubjectId| {
            let pilot = self.pilots.get(&(subject, point));
            pilot
                .and_then(|p| p.batches.last())
                .map_or(0, |b| b.wall_ns)
        };
        2 * self.plan.pairs(2 * subjects.iter().map(last).sum::<u64>())
    }

    fn take_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        let Turn {
            subject,
            point,
            pass,
            turn,
        } = turn;
        let cores = self.block_cores.clone();
        let (ended, check, counted) = self.execute(CommandPoint { subject, point }, &cores)?;
        let sample = Sample {
            point,
            subject,
            pass,
            turn,
            batch: batch(&ended),
        };
        let readings = COUNTED.iter().zip(counted).map(|(metric, value)| Reading {
            point,
            subject,
            pass,
            metric: metric.id.to_string(),
            value,
        });
        let record = TurnRecord::Process {
            sample,
            exit: exit(&sample, &ended),
            check,
            readings: readings.collect(),
        };
        Ok(record.into())
    }

    /// Runs all cleanups, even if the run was stopped or an earlier cleanup failed.
    fn finish(&mut self, run: &mut RunContext) -> Result<(), Stop> {
        if interrupt::requested() {
            // The old starter is still running a command, which is killed together with the starter.
            self.starter = Starter::new().map_err(|_| Stop::Interrupted)?;
            self.starter.undisturbed = true;
        }
        for cell in self.cells() {
            let CommandPoint { subject, point } = cell;
            if !self.set_up.remove(&(subject, point)) {
                continue;
            }
            let command = self.plan.subjects[subject].command.as_ref();
            let Some(cleanup) = command.and_then(|c| c.cleanup.as_ref()) else {
                continue;
            };
            for build in 0..self.plan.builds() {
                self.build = build;
                if let Err(fault @ Fault::Failed(..)) = self.hook("cleanup", cleanup, cell) {
                    run.fail(fault, subject, Some(point), None)?;
                }
            }
        }
        Ok(self.record_left_running(run)?)
    }
}

fn is_parallel(run: &Batch) -> bool {
    run.cpu_ns > MIN_CPU_NS && run.cpu_ns as f64 > run.wall_ns as f64 * PARALLEL
}

fn batch(ended: &Ended) -> Batch {
    Batch {
        operations: 1,
        wall_ns: ended.wall_ns,
        cpu_ns: ended.user_ns + ended.sys_ns,
        server_cpu_ns: None,
    }
}

fn exit(sample: &Sample, ended: &Ended) -> ProcessExit {
    ProcessExit {
        point: sample.point,
        subject: sample.subject,
        pass: sample.pass,
        user_ns: ended.user_ns,
        sys_ns: ended.sys_ns,
        peak_rss_bytes: ended.peak_rss_bytes,
        minor_faults: ended.minor_faults,
        major_faults: ended.major_faults,
        voluntary_switches: ended.voluntary_switches,
        involuntary_switches: ended.involuntary_switches,
        status: ended.code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_work_uses_more_cpu_time_than_wall_time() {
        let run = |wall_ns, cpu_ns| Batch {
            operations: 1,
            wall_ns,
            cpu_ns,
            server_cpu_ns: None,
        };
        assert!(is_parallel(&run(100_000_000, 190_000_000)));
        assert!(!is_parallel(&run(100_000_000, 100_000_000)), "one thing");
        assert!(
            !is_parallel(&run(100_000_000, 105_000_000)),
            "and a kernel's thread"
        );
        assert!(
            !is_parallel(&run(1_000_000, 4_000_000)),
            "too short to be distinguished"
        );
    }
}
