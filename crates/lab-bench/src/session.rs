// SPDX-License-Identifier: Apache-2.0
//! A run from its first pilot to its end: what is missing in the run file is measured, block by block.

use crate::host::Gauge;
use crate::process::{Fault, Process};
use crate::roster::{Roster, Stop};
use crate::sys;
use lab_model::{
    Block, BlockState, Ending, Failure, Pilot, Plan, PointId, Run, Service, Setting, SubjectId,
    TargetId,
};
use lab_plan::Schedule;
use lab_store::{BlockWriter, RunWriter, StoreError};
use std::time::{Duration, Instant};

/// A disturbed block is begun this often at most; then it is kept, and reported as disturbed.
const MOST_ATTEMPTS: u32 = 3;

/// A server that is lost more often than this in one run ends it.
const MOST_LOSSES: u32 = 3;

/// The part of the budget by which a run may overrun it to reach the blocks that its level needs.
const OVERRUN: u64 = 4;

/// Steps of a run, for those who watch.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
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
    /// A server was lost, why, and is started anew; what it was lost in is redone.
    Restored(String),
    /// One more block is complete and took this long; the run so far.
    Complete(&'a Run, Duration),
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
    /// A server that subjects work on is gone, and cannot be started again, or went too often.
    #[error("{0}")]
    ServerLost(String),
}

/// How the blocks of a run are filled.
pub trait Method {
    /// Does what a run needs before its first block, as far as its file does not have it yet.
    fn prepare(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop>;

    /// Takes all samples of a block.
    fn block(&mut self, desk: Desk) -> Result<(), Stop>;

    /// Brings back what a run needs and was lost, such as a server. Error: it cannot, and why.
    fn restore(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Cleans up after the last block.
    fn finish(&mut self, ledger: &mut Ledger) -> Result<(), Stop>;
}

/// A run, in its file and in memory, and who still takes part in it.
pub struct Ledger {
    /// The run file.
    pub writer: RunWriter,
    /// What it holds.
    pub run: Run,
    /// Who takes part where.
    pub roster: Roster,
}

/// What a block is written down with.
pub struct Desk<'a> {
    /// The run file.
    pub run: &'a RunWriter,
    /// The block in it.
    pub writer: &'a BlockWriter<'a>,
    /// The block.
    pub block: &'a mut Block,
    /// Who takes part; failures are struck off.
    pub roster: &'a mut Roster,
    /// Failures of this block.
    pub failures: &'a mut Vec<Failure>,
    /// Told of every step.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// A run that is being carried out.
pub struct Session<'a> {
    plan: &'a Plan,
    cores: Vec<usize>,
    ledger: Ledger,
    method: Box<dyn Method + 'a>,
    losses: u32,
}

impl Ledger {
    /// Keeps a fault as a failure.
    pub fn fail(
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

    /// Keeps what a pilot found.
    pub fn pilot(&mut self, pilot: Pilot) -> Result<(), StoreError> {
        self.writer.pilot(&pilot)?;
        self.run.pilots.push(pilot);
        Ok(())
    }

    /// Keeps what a server is.
    pub fn service(
        &mut self,
        target: TargetId,
        facts: Vec<(String, String)>,
    ) -> Result<(), StoreError> {
        let service = Service { target, facts };
        self.writer.service(&service)?;
        self.run.services.retain(|s| s.target != target);
        self.run.services.push(service);
        Ok(())
    }

    /// Keeps a setting.
    pub fn setting(&mut self, setting: Setting) -> Result<(), StoreError> {
        self.writer.setting(&setting)?;
        self.run.settings.push(setting);
        Ok(())
    }
}

impl Desk<'_> {
    /// Keeps a fault as a failure of this block.
    pub fn fail(
        &mut self,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
        process: Option<&mut Process>,
    ) -> Result<(), Stop> {
        let block = Some(self.block.number);
        let failure = self
            .roster
            .keep(self.run, fault, subject, point, block, process)?;
        (self.progress)(Progress::Failed(failure.clone()));
        self.failures.push(failure);
        Ok(())
    }
}

impl<'a> Session<'a> {
    /// Prepares to carry out what is missing in a run.
    pub fn new(
        plan: &'a Plan,
        writer: RunWriter,
        run: Run,
        method: Box<dyn Method + 'a>,
    ) -> Result<Session<'a>, BenchError> {
        let cores = sys::allowed_cores()
            .map_err(|e| BenchError::System("the cores cannot be listed".into(), e))?;
        let roster = Roster::new(plan, &run.failures);
        Ok(Session {
            plan,
            cores,
            ledger: Ledger {
                writer,
                run,
                roster,
            },
            method,
            losses: 0,
        })
    }

    /// Measures until the run is decided, or stopped. The run file is complete when this returns.
    pub fn measure(mut self, progress: &mut dyn FnMut(Progress)) -> Result<Ending, BenchError> {
        let began = Instant::now();
        let ended = self.carry_out(began, progress);
        let cleaned = self.method.finish(&mut self.ledger);
        let ending = match ended.and_then(|ending| cleaned.map(|()| ending)) {
            Ok(ending) => ending,
            Err(Stop::Interrupted) => Ending::Interrupted,
            Err(Stop::Store(e)) => return Err(e.into()),
            Err(Stop::ServerLost(why)) => {
                self.ledger.writer.finish(None, lab_cost())?;
                return Err(BenchError::ServerLost(why));
            }
        };
        // An interrupted run has not ended: it can be resumed.
        let kept = (ending != Ending::Interrupted).then_some(ending);
        self.ledger.writer.finish(kept, lab_cost())?;
        Ok(ending)
    }

    fn carry_out(
        &mut self,
        began: Instant,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Ending, Stop> {
        sys::share_core(self.cores[0]);
        while let Err(stop) = self.method.prepare(&mut self.ledger, progress) {
            self.recover(stop, progress)?;
        }
        let plan = self.plan;
        let earlier: u64 = self.ledger.run.blocks.iter().map(|b| b.duration_ns).sum();
        loop {
            let complete = self.ledger.run.complete_blocks().count() as u32;
            if !(0..plan.subjects.len()).any(|s| self.alive_somewhere(s)) {
                return Ok(Ending::Failed);
            }
            if let Some(ending) = lab_stats::stop(&self.ledger.run) {
                return Ok(ending);
            }
            if complete >= plan.measure.max_blocks {
                return Ok(Ending::Blocks);
            }
            let looked = self.ledger.run.looks.contains(&complete);
            if plan.measure.looks.contains(&complete) && !looked {
                self.ledger.writer.look(complete)?;
                self.ledger.run.looks.push(complete);
            }
            if self.out_of_time(earlier + began.elapsed().as_nanos() as u64, complete) {
                return Ok(Ending::Budget);
            }
            if let Err(stop) = self.block(complete, progress) {
                self.recover(stop, progress)?;
            }
        }
    }

    /// After the loss of a server what was done is done again; any other reason to stop is one.
    fn recover(&mut self, stop: Stop, progress: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        let Stop::ServerLost(why) = stop else {
            return Err(stop);
        };
        self.losses += 1;
        if self.losses > MOST_LOSSES {
            let why = format!("{why}; that was the {}th time in this run", self.losses);
            return Err(Stop::ServerLost(why));
        }
        let restored = self.method.restore();
        restored
            .map_err(|e| Stop::ServerLost(format!("{why}; it cannot be started again: {e}")))?;
        progress(Progress::Restored(why));
        Ok(())
    }

    /// Whether another block would not fit into the budget. It may be overrun by a quarter, or as far
    /// as it takes, where fewer blocks than the level needs would otherwise make the whole run
    /// inconclusive.
    fn out_of_time(&self, spent_ns: u64, complete: u32) -> bool {
        let measure = &self.plan.measure;
        let Some(budget) = measure.budget_ns else {
            return false;
        };
        let Some(last) = self.ledger.run.complete_blocks().last() else {
            return false;
        };
        let family = self.plan.compared().count().saturating_sub(1);
        let needed = lab_stats::family::blocks_needed(measure.alpha, family.max(1));
        let grace = match needed.is_some_and(|n| complete < n) {
            true if measure.at_least_level => return false,
            true => budget / OVERRUN,
            false => 0,
        };
        spent_ns + last.duration_ns > budget + grace
    }

    fn alive_somewhere(&self, subject: SubjectId) -> bool {
        let roster = &self.ledger.roster;
        !self.plan.subjects[subject].overhead
            && (0..self.plan.points.len()).any(|point| roster.takes_part(subject, point))
    }

    fn block(&mut self, number: u32, progress: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        let plan = self.plan;
        let attempt = self
            .ledger
            .run
            .blocks
            .iter()
            .filter(|b| b.number == number)
            .count() as u32;
        let core = self.cores[Schedule::new(plan.seed, number).core(self.cores.len())];
        sys::share_core(core);
        let (began, gauge) = (Instant::now(), Gauge::start());
        let writer =
            self.ledger
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
            latencies: Vec::new(),
            slices: Vec::new(),
            redone_visits: 0,
        };
        let mut failures = Vec::new();
        let filled = self.method.block(Desk {
            run: &self.ledger.writer,
            writer: &writer,
            block: &mut block,
            roster: &mut self.ledger.roster,
            failures: &mut failures,
            progress,
        });
        self.ledger.run.failures.append(&mut failures);
        block.duration_ns = began.elapsed().as_nanos() as u64;
        if let Err(stop) = filled {
            self.ledger.run.blocks.push(block);
            return Err(stop);
        }
        block.disturbance = gauge.read();
        let redo =
            block.disturbance.disturbed() && attempt + 1 < MOST_ATTEMPTS && !self.host_is_so();
        block.state = if redo {
            BlockState::Disturbed
        } else {
            BlockState::Complete
        };
        writer.finish(block.state, block.duration_ns, &block.disturbance)?;
        self.ledger.run.blocks.push(block);
        match redo {
            true => progress(Progress::Disturbed(number)),
            false => progress(Progress::Complete(&self.ledger.run, began.elapsed())),
        }
        Ok(())
    }

    /// The last block that counts was kept although it was disturbed: this host is like that, and
    /// redoing blocks would only use up the time. The report says so.
    fn host_is_so(&self) -> bool {
        let last = self.ledger.run.complete_blocks().last();
        last.is_some_and(|b| b.disturbance.disturbed())
    }
}

/// The lab's own CPU time in ns and peak resident memory in bytes.
pub(crate) fn lab_cost() -> Option<(u64, u64)> {
    let here = nix::unistd::Pid::this();
    let usage = crate::procfs::usage(here).ok()?;
    Some((
        crate::sys::CpuClock::of(here).ok()?.now_ns().ok()?,
        usage.peak_rss_bytes,
    ))
}
