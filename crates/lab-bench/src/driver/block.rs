// SPDX-License-Identifier: Apache-2.0
//! Measures one block: every point in random order, and at each point the subjects in mirrored passes.

use crate::driver::context::{BlockContext, Progress, Stop};
use crate::driver::machine::{HostWatch, Machine};
use crate::driver::pace::BlockPace;
use crate::driver::workload::{Done, Opening, StepError, Turn, Workload};
use crate::subject::fault::Fault;
use lab_model::{Plan, PointId, SubjectId, TargetId};
use lab_plan::Schedule;

/// The number of passes in which overheads are measured: the first mirrored pair.
const OVERHEAD_PASSES: u32 = 2;

/// The maximum fraction of a block's turns that may be repeated.
///
/// On a machine that is disturbed all the time, more repetitions would not help.
const MAX_REDONE_FRACTION: f64 = 0.25;

/// The number of points after which benchlab starts to check whether a block is too disturbed. With
/// fewer points, the host's counters are too coarse.
const MIN_POINTS_SEEN: usize = 2;

/// A block during its measurement.
pub struct BlockRun<'a, 'b> {
    plan: &'a Plan,
    workload: &'a mut dyn Workload,
    schedule: Schedule,
    block: BlockContext<'b>,
    /// The number of undisturbed turns in the block so far.
    counted_turns: u32,
    pace: BlockPace,
    machine: &'a dyn Machine,
    passes_ns: u64,
    /// The monitor of the host, and the usual duration of a block in ns. `None` if a disturbed
    /// block is not repeated.
    host: Option<(&'a dyn HostWatch, u64)>,
    began_ns: u64,
    is_given_up: bool,
}

impl<'a, 'b> BlockRun<'a, 'b> {
    /// Creates a block that writes its records to `block`. `pace` determines its length.
    pub fn new(
        plan: &'a Plan,
        workload: &'a mut dyn Workload,
        block: BlockContext<'b>,
        pace: BlockPace,
        machine: &'a dyn Machine,
    ) -> BlockRun<'a, 'b> {
        BlockRun {
            plan,
            workload,
            schedule: Schedule::new(plan.seed, block.block.number),
            block,
            counted_turns: 0,
            pace,
            machine,
            passes_ns: 0,
            host: None,
            began_ns: machine.now_ns(),
            is_given_up: false,
        }
    }

    /// Makes [`BlockRun::measure`] abandon the block as soon as it is too disturbed to count.
    ///
    /// `typical_ns` is the usual duration of a block, in ns.
    pub fn watching(self, host: &'a dyn HostWatch, typical_ns: u64) -> BlockRun<'a, 'b> {
        BlockRun {
            host: Some((host, typical_ns)),
            ..self
        }
    }

    /// Returns true if the block was abandoned before its last point.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Returns true if the block is already so disturbed that it cannot count, even if no further
    /// disturbances occur.
    fn is_lost(&self, done: usize, of: usize) -> bool {
        let Some((host, typical_ns)) = self.host.filter(|_| (MIN_POINTS_SEEN..of).contains(&done))
        else {
            return false;
        };
        let so_far = host.disturbance(self.workload.outside_cpu_ns(self.block.block));
        let elapsed_ns = (self.machine.now_ns() - self.began_ns) as f64;
        let fraction = elapsed_ns / elapsed_ns.max(typical_ns as f64);
        so_far.spread_over(fraction).disturbed()
    }

    /// Returns the time spent in passes so far, in ns.
    pub fn passes_ns(&self) -> u64 {
        self.passes_ns
    }

    /// Runs all turns of the block.
    pub fn measure(&mut self) -> Result<(), Stop> {
        let mut order = self.schedule.points(&self.plan.point_targets());
        order.sort_by_key(|&point| self.workload.comes_last(point));
        let mut target = None;
        for (done, &point) in order.iter().enumerate() {
            let point_target = self.plan.points[point].target;
            let last_target = target.replace(point_target);
            if last_target != Some(point_target) {
                if last_target.is_some() {
                    self.quit()?;
                }
                self.open_all(point_target)?;
            }
            let of = order.len();
            self.point(point, (done, of))?;
            if self.is_lost(done + 1, of) {
                self.is_given_up = true;
                break;
            }
        }
        self.workload.end_block(&mut self.block);
        Ok(())
    }

    /// Opens the subjects of a target, if the workload opens subjects per target.
    fn open_all(&mut self, target: TargetId) -> Result<(), Stop> {
        if self.workload.opening() != Opening::Target {
            return Ok(());
        }
        let mut order = self.schedule.openings(PointId(0), &self.everyone());
        for &subject in &order {
            if self.takes_part(subject, target) {
                let opened = self.workload.open(&mut self.block, subject);
                self.finish_step(opened, subject, None)?;
            }
        }
        order.sort_by_key(|&subject| subject != self.plan.baseline);
        for &subject in &order {
            if self.takes_part(subject, target) {
                let warm = self.workload.warm_up_opened(&mut self.block, subject);
                self.finish_step(warm, subject, None)?;
            }
        }
        self.rehearse(target, &order)
    }

    /// Gives each subject turns that are not recorded, so that the first recorded turn is like all others. They are
    /// spread over the points of the target.
    fn rehearse(&mut self, target: TargetId, order: &[SubjectId]) -> Result<(), Stop> {
        let points = self.plan.points.ids();
        let points: Vec<PointId> = points
            .filter(|&point| self.plan.points[point].target == target)
            .collect();
        let passes = self.workload.rehearsed_passes();
        let step = (points.len() / passes.max(1) as usize).max(1);
        for (pass, &point) in (0..passes).zip(points.iter().cycle().step_by(step)) {
            let subjects = order.iter().copied();
            let subjects = subjects.filter(|&s| self.workload.has_turns(s, point));
            let turns = (0..).zip(subjects).map(|(turn, subject)| Turn {
                subject,
                point,
                pass,
                turn,
            });
            let turns: Vec<Turn> = turns.collect();
            self.for_each_participant(&turns, |run, turn| {
                let done = run.workload.rehearse(&mut run.block, turn);
                run.finish_step(done, turn.subject, Some(point)).map(drop)
            })?;
        }
        Ok(())
    }

    /// Returns true if a subject takes part in any point of a target.
    fn takes_part(&self, subject: SubjectId, target: TargetId) -> bool {
        let mut points = self.plan.points.ids();
        points.any(|point| {
            self.plan.points[point].target == target
                && self.block.participants.takes_part(subject, point)
        })
    }

    fn point(&mut self, point: PointId, (done, of): (usize, usize)) -> Result<(), Stop> {
        let block = self.block.block.number;
        let step = |subject| Progress::Point {
            block,
            point,
            subject,
            done,
            of,
        };
        self.workload.begin_point(&mut self.block, point);
        if self.workload.opening() == Opening::Point {
            for subject in self.schedule.openings(point, &self.everyone()) {
                if self.block.participants.takes_part(subject, point) {
                    (self.block.progress)(step(Some(subject)));
                    self.prepare(subject, point)?;
                }
            }
        }
        (self.block.progress)(step(None));
        let mut subjects = self.everyone();
        subjects.retain(|&s| {
            self.block.participants.takes_part(s, point) && self.workload.has_turns(s, point)
        });
        let began_ns = self.machine.now_ns();
        self.passes(point, &subjects)?;
        self.passes_ns += self.machine.now_ns() - began_ns;
        for subject in subjects {
            if self.block.participants.takes_part(subject, point) {
                let closed = self.workload.close(&mut self.block, subject, point);
                self.finish_step(closed, subject, Some(point))?;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, subject: SubjectId, point: PointId) -> Result<(), Stop> {
        let opened = self.workload.open(&mut self.block, subject);
        if self.finish_step(opened, subject, None)?.is_some() {
            let warm = self.workload.warm_up(&mut self.block, subject, point);
            self.finish_step(warm, subject, Some(point))?;
        }
        Ok(())
    }

    fn passes(&mut self, point: PointId, subjects: &[SubjectId]) -> Result<(), Stop> {
        let planned = self.workload.passes(point, subjects);
        let of = match planned.div_ceil(2) {
            pairs if self.pace.pairs(pairs) < pairs => 2 * self.pace.pairs(pairs),
            _ => planned,
        };
        let passes = self.schedule.passes(point, subjects, of.div_ceil(2));
        for (pass, order) in (0..of).zip(passes) {
            let turns = (0..).zip(order).map(|(turn, subject)| Turn {
                subject,
                point,
                pass,
                turn,
            });
            let rests = |t: &Turn| self.plan.subjects[t.subject].overhead;
            let turns: Vec<Turn> = turns
                .filter(|t| pass < OVERHEAD_PASSES || !rests(t))
                .collect();
            self.for_each_participant(&turns, |run, turn| {
                let prepared = run
                    .workload
                    .before_pass(&mut run.block, turn, of - turn.pass);
                run.finish_step(prepared, turn.subject, Some(point))
                    .map(drop)
            })?;
            self.for_each_participant(&turns, |run, turn| {
                let outcome = run.turn(turn);
                run.finish_step(outcome, turn.subject, Some(point))
                    .map(drop)
            })?;
        }
        Ok(())
    }

    /// Runs a step for each turn whose subject still takes part.
    fn for_each_participant(
        &mut self,
        turns: &[Turn],
        mut step: impl FnMut(&mut Self, Turn) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        for &turn in turns {
            if self.block.participants.takes_part(turn.subject, turn.point) {
                step(self, turn)?;
            }
        }
        Ok(())
    }

    /// Runs a turn, and repeats it while it is disturbed and repetitions are allowed.
    fn turn(&mut self, turn: Turn) -> Done<()> {
        self.workload.begin_turn(&mut self.block, turn)?;
        let mut tries = 0;
        let final_record = loop {
            let result = self.workload.take_turn(&mut self.block, turn)?;
            tries += 1;
            match result.record {
                Some(record)
                    if result.disturbed && record.is_repeatable() && self.may_redo(tries) =>
                {
                    self.block.record_redone(&record, tries)?;
                }
                record => break record,
            }
        };
        self.workload.end_turn(&mut self.block, turn)?;
        self.counted_turns += 1;
        if let Some(record) = final_record {
            self.block.record(record)?;
        }
        Ok(())
    }

    fn may_redo(&self, tries: u32) -> bool {
        let max_redone = MAX_REDONE_FRACTION * f64::from(self.counted_turns + 1);
        tries <= self.plan.measure.redo && self.block.block.redone_visits() < max_redone as u32
    }

    /// Shuts down all subjects.
    pub fn quit(&mut self) -> Result<(), Stop> {
        for subject in self.everyone() {
            match self.workload.quit(&mut self.block, subject) {
                Ok(()) => {}
                Err(StepError::Fault(fault)) => self.block.fail(fault, subject, None, None)?,
                Err(StepError::Stop(stop)) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Returns the result of a step. If the subject failed, excludes it and returns `None`.
    fn finish_step<T>(
        &mut self,
        step: Done<T>,
        subject: SubjectId,
        point: Option<PointId>,
    ) -> Result<Option<T>, Stop> {
        match step {
            Ok(value) => Ok(Some(value)),
            Err(StepError::Stop(stop)) => Err(stop),
            Err(StepError::Fault(Fault::Interrupted)) => Err(Stop::Interrupted),
            Err(StepError::Fault(fault)) => {
                let block = &mut self.block;
                self.workload.exclude(block, fault, subject, point)?;
                Ok(None)
            }
        }
    }

    fn everyone(&self) -> Vec<SubjectId> {
        self.plan.subjects.ids().collect()
    }
}
