// SPDX-License-Identifier: Apache-2.0
//! A run from its first pilot to its end: what is missing in the run file is measured, block by block.

use crate::block::Bench;
use crate::expected::{Expected, Outcome, compare, majority};
use crate::host::Gauge;
use crate::pilot::pilot;
use crate::process::{Answer, Fault, Process};
use crate::roster::{Roster, Stop, keep_log};
use crate::scratch::Scratch;
use crate::sys;
use crate::target::Targets;
use crate::visit::Visit;
use lab_model::{
    Block, BlockState, Ending, Failure, Pilot, Plan, PointId, Run, Setting, SubjectId,
};
use lab_plan::Schedule;
use lab_store::{RunWriter, StoreError};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// A disturbed block is begun this often at most; then it is kept, and reported as disturbed.
const MOST_ATTEMPTS: u32 = 3;

/// The part of the budget by which a run may overrun it to reach the blocks that its level needs.
const OVERRUN: u64 = 4;

/// Operations after which subjects are compared before anything is measured.
const TRIAL: u64 = 3;

/// Steps of a run, for those who watch.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The pilot is at a subject and point.
    Pilot {
        /// Whom it tries.
        subject: SubjectId,
        /// At what.
        point: PointId,
        /// Trials that are behind it.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A block is at a point.
    Point {
        /// Its number, from 0.
        block: u32,
        /// What is measured.
        point: PointId,
        /// Who warms up for it; `None`: all take turns.
        subject: Option<SubjectId>,
        /// Points that are behind it.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A block was disturbed and is redone.
    Disturbed(u32),
    /// A block is complete and took this long.
    Complete(u32, Duration),
    /// A subject failed.
    Failed(Failure),
}

/// Why a run could not be carried out. What was measured is in the run file.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
    /// The target's templates.
    #[error("the target cannot be made: {0}")]
    Target(#[from] rusqlite::Error),
}

/// Those who are measured, and where.
pub struct Crew<'a> {
    /// The plan.
    pub plan: &'a Plan,
    folder: &'a Path,
    cores: Vec<usize>,
}

/// A run that is being carried out.
pub struct Session<'a> {
    crew: Crew<'a>,
    writer: RunWriter,
    run: Run,
    roster: Roster,
    expected: Expected,
    pilots: HashMap<(SubjectId, PointId), Pilot>,
    targets: Option<Targets>,
    _scratch: Scratch,
}

impl Crew<'_> {
    /// Starts a subject, its working thread on this core.
    pub fn start(&self, subject: SubjectId, core: usize) -> Answer<(Process, lab_model::Process)> {
        let limit = Duration::from_nanos(self.plan.measure.time_limit_ns);
        let process = Process::start(&self.plan.subjects[subject], self.folder, limit)?;
        sys::pin(process.thread, &[core]).map_err(|e| {
            Fault::Failed(
                "start",
                format!("its thread cannot be kept on core {core}: {e}"),
            )
        })?;
        let started = lab_model::Process {
            subject,
            startup_ns: process.startup_ns,
            startup_cpu_ns: process.startup_cpu_ns,
        };
        Ok((process, started))
    }
}

impl<'a> Session<'a> {
    /// Prepares to carry out what is missing in a run. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        writer: RunWriter,
        run: Run,
        scratch: Scratch,
    ) -> Result<Session<'a>, BenchError> {
        let cores = sys::allowed_cores()
            .map_err(|e| BenchError::System("the cores cannot be listed".into(), e))?;
        let targets = plan.target.as_ref();
        let targets = targets
            .map(|t| Targets::new(scratch.folder(), t, plan.seed))
            .transpose()?;
        Ok(Session {
            crew: Crew {
                plan,
                folder,
                cores,
            },
            roster: Roster::new(&run.failures),
            pilots: run
                .pilots
                .iter()
                .map(|p| ((p.subject, p.point), p.clone()))
                .collect(),
            expected: Expected::default(),
            writer,
            run,
            targets,
            _scratch: scratch,
        })
    }

    /// Measures until the run is decided, or stopped. The run file is complete when this returns.
    pub fn measure(mut self, progress: &mut dyn FnMut(Progress)) -> Result<Ending, BenchError> {
        let began = Instant::now();
        let ending = match self.carry_out(began, progress) {
            Ok(ending) => ending,
            Err(Stop::Interrupted) => Ending::Interrupted,
            Err(Stop::Store(e)) => return Err(e.into()),
        };
        // An interrupted run has not ended: it can be resumed.
        let kept = (ending != Ending::Interrupted).then_some(ending);
        self.writer.finish(kept, lab_cost())?;
        Ok(ending)
    }

    fn carry_out(
        &mut self,
        began: Instant,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Ending, Stop> {
        sys::share_core(self.pilot_core());
        self.pilot_points(progress)?;
        self.expect_outcomes()?;
        let plan = self.crew.plan;
        let earlier: u64 = self.run.blocks.iter().map(|b| b.duration_ns).sum();
        loop {
            let complete = self.run.complete_blocks().count() as u32;
            if !(0..plan.subjects.len()).any(|s| self.alive_somewhere(s)) {
                return Ok(Ending::Failed);
            }
            if let Some(ending) = lab_stats::stop(&self.run) {
                return Ok(ending);
            }
            if complete >= plan.measure.max_blocks {
                return Ok(Ending::Blocks);
            }
            if plan.measure.looks.contains(&complete) && !self.run.looks.contains(&complete) {
                self.writer.look(complete)?;
                self.run.looks.push(complete);
            }
            if self.out_of_time(earlier + began.elapsed().as_nanos() as u64, complete) {
                return Ok(Ending::Budget);
            }
            self.block(complete, progress)?;
        }
    }

    /// Whether another block would not fit into the budget. It may be overrun by a quarter where
    /// fewer blocks than the level needs would otherwise make the whole run inconclusive.
    fn out_of_time(&self, spent_ns: u64, complete: u32) -> bool {
        let plan = self.crew.plan;
        let Some(budget) = plan.measure.budget_ns else {
            return false;
        };
        let Some(last) = self.run.complete_blocks().last() else {
            return false;
        };
        let family = plan.compared().count() - 1;
        let needed = lab_stats::family::blocks_needed(plan.measure.alpha, family.max(1));
        let grace = if needed.is_some_and(|n| complete < n) {
            budget / OVERRUN
        } else {
            0
        };
        spent_ns + last.duration_ns > budget + grace
    }

    fn alive_somewhere(&self, subject: SubjectId) -> bool {
        (0..self.crew.plan.points.len()).any(|point| self.roster.takes_part(subject, point))
    }

    fn pilot_core(&self) -> usize {
        self.crew.cores[0]
    }

    /// Pilots what has none yet, and has subjects that do other work than most fail.
    fn pilot_points(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        let plan = self.crew.plan;
        let points = Schedule::new(plan.seed, u32::MAX).points(plan.points.len());
        let of = points.len() * plan.subjects.len();
        let mut done = 0;
        for point in points {
            let mut outcomes = Vec::new();
            for subject in 0..plan.subjects.len() {
                progress(Progress::Pilot {
                    subject,
                    point,
                    done,
                    of,
                });
                done += 1;
                if !self.roster.takes_part(subject, point)
                    || self.pilots.contains_key(&(subject, point))
                {
                    continue;
                }
                match self.pilot_one(subject, point)? {
                    Ok(outcome) => outcomes.push((subject, outcome)),
                    Err(failure) => progress(Progress::Failed(failure)),
                }
            }
            let wanted = majority(&outcomes, plan.baseline);
            for (subject, outcome) in outcomes {
                if let Err(fault) = compare(wanted.unwrap_or(outcome), outcome, TRIAL) {
                    let failure = self.fail(fault, subject, Some(point), None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Pilots one subject at one point: the outcome of its trial.
    fn pilot_one(
        &mut self,
        subject: SubjectId,
        point: PointId,
    ) -> Result<Result<Outcome, Failure>, Stop> {
        let mut process = match self.crew.start(subject, self.pilot_core()) {
            Ok((process, _)) => process,
            Err(fault) => return Ok(Err(self.fail(fault, subject, None, None)?)),
        };
        let found = self.try_point(&mut process, subject, point);
        let (pilot, outcome, settings) = match found {
            Ok(found) => found,
            Err(fault) => {
                return Ok(Err(self.fail(
                    fault,
                    subject,
                    Some(point),
                    Some(&mut process),
                )?));
            }
        };
        keep_log(&self.writer, &mut process, subject, None)?;
        for setting in settings {
            self.writer.setting(&setting)?;
            self.run.settings.push(setting);
        }
        self.writer.pilot(&pilot)?;
        self.run.pilots.push(pilot.clone());
        self.pilots.insert((subject, point), pilot);
        match process.quit() {
            Ok(()) => Ok(Ok(outcome)),
            Err(fault) => Ok(Err(self.fail(fault, subject, Some(point), None)?)),
        }
    }

    fn try_point(
        &self,
        process: &mut Process,
        subject: SubjectId,
        point: PointId,
    ) -> Answer<(Pilot, Outcome, Vec<Setting>)> {
        let plan = self.crew.plan;
        let (mut visit, settings) = Visit::begin(process, plan, point, self.targets.as_ref())?;
        let (mut found, _) = pilot(process, &mut visit, plan, subject, point)?;
        let outcome = visit.verify(process, TRIAL)?;
        visit.look(plan)?;
        process.close()?;
        // The control does what its original does, to the letter.
        if let Some(original) = plan.subjects[subject]
            .control_of
            .and_then(|o| self.pilots.get(&(o, point)))
        {
            found.operations = original.operations;
            found.warmup_batches = original.warmup_batches;
        }
        let hello = process.hello.args().iter().map(|(k, v)| (None, k, v));
        let opened = settings.iter().map(|(k, v)| (Some(point), k, v));
        let settings = hello
            .chain(opened)
            .filter(|(_, key, _)| !["thread", "protocol", "subject"].contains(&key.as_str()))
            .map(|(point, key, value)| Setting {
                subject,
                point,
                key: key.clone(),
                value: value.clone(),
            })
            .collect();
        Ok((found, outcome, settings))
    }

    /// Has a trusted subject compute what every batch must yield.
    fn expect_outcomes(&mut self) -> Result<(), Stop> {
        let plan = self.crew.plan;
        for point in 0..plan.points.len() {
            let by_trust = [plan.baseline].into_iter().chain(0..plan.subjects.len());
            for judge in by_trust {
                if !self.roster.takes_part(judge, point) {
                    continue;
                }
                match self.outcomes_by(judge, point) {
                    Ok(outcomes) => {
                        for (operations, outcome) in outcomes {
                            self.expected.insert(point, operations, outcome);
                        }
                        break;
                    }
                    Err(fault) => drop(self.fail(fault, judge, Some(point), None)?),
                }
            }
        }
        Ok(())
    }

    fn outcomes_by(&self, judge: SubjectId, point: PointId) -> Answer<Vec<(u64, Outcome)>> {
        let plan = self.crew.plan;
        let mut counts: Vec<u64> = (0..plan.subjects.len())
            .filter_map(|s| self.pilots.get(&(s, point)).map(|p| p.operations))
            .collect();
        counts.sort();
        counts.dedup();
        let (mut process, _) = self.crew.start(judge, self.pilot_core())?;
        let (mut visit, _) = Visit::begin(&mut process, plan, point, self.targets.as_ref())?;
        let outcomes = counts
            .into_iter()
            .map(|operations| Ok((operations, visit.verify(&mut process, operations)?)))
            .collect();
        visit.look(plan)?;
        outcomes
    }

    fn block(&mut self, number: u32, progress: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        let plan = self.crew.plan;
        let attempt = self
            .run
            .blocks
            .iter()
            .filter(|b| b.number == number)
            .count() as u32;
        let core = self.crew.cores[Schedule::new(plan.seed, number).core(self.crew.cores.len())];
        sys::share_core(core);
        let (began, gauge) = (Instant::now(), Gauge::start());
        let writer = self
            .writer
            .begin_block(number, attempt, core as u32, sys::unix_seconds())?;
        let mut block = Block {
            number,
            attempt,
            core: core as u32,
            state: BlockState::Incomplete,
            started_unix_s: sys::unix_seconds(),
            duration_ns: 0,
            disturbance: Default::default(),
            processes: Vec::new(),
            resources: Vec::new(),
            samples: Vec::new(),
            exits: Vec::new(),
        };
        let mut bench = Bench {
            crew: &self.crew,
            run: &self.writer,
            targets: self.targets.as_ref(),
            pilots: &self.pilots,
            expected: &self.expected,
            roster: &mut self.roster,
            failures: Vec::new(),
            progress,
        };
        bench.block(&writer, &mut block)?;
        self.run.failures.append(&mut bench.failures);
        block.duration_ns = began.elapsed().as_nanos() as u64;
        block.disturbance = gauge.read();
        let redo =
            block.disturbance.disturbed() && attempt + 1 < MOST_ATTEMPTS && !self.host_is_so();
        block.state = if redo {
            BlockState::Disturbed
        } else {
            BlockState::Complete
        };
        writer.finish(block.state, block.duration_ns, &block.disturbance)?;
        progress(match redo {
            true => Progress::Disturbed(number),
            false => Progress::Complete(number, began.elapsed()),
        });
        self.run.blocks.push(block);
        Ok(())
    }

    /// The last block that counts was kept although it was disturbed: this host is like that, and
    /// redoing blocks would only use up the time. The report says so.
    fn host_is_so(&self) -> bool {
        let last = self.run.complete_blocks().last();
        last.is_some_and(|b| b.disturbance.disturbed())
    }

    fn fail(
        &mut self,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
        process: Option<&mut Process>,
    ) -> Result<Failure, Stop> {
        let failure = self
            .roster
            .keep(&self.writer, fault, subject, point, None, process)?;
        self.run.failures.push(failure.clone());
        Ok(failure)
    }
}

/// The lab's own CPU time in ns and peak resident memory in bytes.
fn lab_cost() -> Option<(u64, u64)> {
    let here = nix::unistd::Pid::this();
    let usage = crate::procfs::usage(here).ok()?;
    Some((
        crate::sys::CpuClock::of(here).ok()?.now_ns().ok()?,
        usage.peak_rss_bytes,
    ))
}
