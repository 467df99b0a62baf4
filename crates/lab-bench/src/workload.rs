// SPDX-License-Identifier: Apache-2.0
//! A workload: a kind of thing that can be measured in blocks. The session says when, the workload does it.

use crate::context::{BlockContext, Progress, RunContext, Stop, TurnRecord};
use crate::fault::Fault;
use lab_model::{Block, BlockState, Metric, Outcome, PointId, SubjectId};
use lab_store::StoreError;

/// The work of a run, which the session directs. Within a block the order of calls is:
///
/// ```text
/// begin_block
///   open                          once for each target or at each point, see Opening
///   warm_up_opened                what was opened for a target: the baseline first, then the others in a random order
///   refresh_opened                the same once more, after all are warm
///   begin_point, warm_up          each point; its subjects in a random order
///     before_pass                 each pass; its subjects in the pass's order
///     begin_turn, take_turn, end_turn     take_turn once more where others disturbed it
///   close                         the subjects that are left at the point
///   quit                          all subjects
/// end_block
/// ```
///
/// A fault excludes its subject: at the point where it happened, or as [`Workload::exclude`] decides. Whatever waits
/// checks [`crate::interrupt::requested`] meanwhile, and returns [`Fault::Interrupted`].
pub trait Workload {
    /// Cores that the blocks take in turns; at least one.
    fn cores(&self) -> &[usize];

    /// The metrics of the readings that its turns yield.
    fn metrics(&self) -> Vec<Metric> {
        Vec::new()
    }

    /// Does what a run needs before its first block, as far as its file does not have it yet.
    fn prepare(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let _ = (run, progress);
        Ok(())
    }

    /// The outcomes that batches must have, as far as they are known.
    fn outcomes(&self) -> Vec<Outcome> {
        Vec::new()
    }

    /// Brings back what a run needs and was lost, such as a server. Error: it cannot, and why.
    fn restore(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Cleans up after the last block, also of a run that was stopped.
    fn finish(&mut self, _run: &mut RunContext) -> Result<(), Stop> {
        Ok(())
    }

    /// The set of processes that serves the next block; `None`: it has processes of its own.
    fn process_set(&mut self, _context: &mut RunContext) -> Option<u32> {
        None
    }

    /// True if the processes of the last block are to serve another one.
    fn is_amid_set(&self) -> bool {
        false
    }

    /// Called when a block has ended so; says whether its processes stay for the next one.
    fn keeps_processes(&mut self, _state: BlockState) -> bool {
        false
    }

    /// A block of this number begins, on this core.
    fn begin_block(&mut self, _number: u32, _core: usize) {}

    /// All turns of a block were taken.
    fn end_block(&mut self, _block: &mut BlockContext) {}

    /// True if a run that the reader stops can be resumed; else it has ended.
    fn can_resume(&self) -> bool {
        true
    }

    /// True if a disturbed block is measured again.
    fn can_redo_blocks(&self) -> bool {
        true
    }

    /// True if what is measured is on this machine; else what others do here disturbs nothing.
    fn is_local(&self) -> bool {
        true
    }

    /// CPU time, ns, that agents and servers which the lab did not start took on this machine: it is no disturbance.
    /// `None`: not known, so that all time that the lab did not take may be theirs.
    fn outside_cpu_ns(&self, _block: &Block) -> Option<u64> {
        Some(0)
    }

    /// True if a point needs what others of the block yield, and so comes after them.
    fn comes_last(&self, _point: PointId) -> bool {
        false
    }

    /// True if a subject has turns at a point in this block.
    fn has_turns(&self, _subject: SubjectId, _point: PointId) -> bool {
        true
    }

    /// When its subjects are opened.
    fn opening(&self) -> Opening {
        Opening::Target
    }

    /// Starts what a subject needs for a block, unless it runs already.
    fn open(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Brings a subject that was opened for a target to its steady state at all its points.
    fn warm_up_opened(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Loads it again once the others were warmed up, during which it was idle.
    fn refresh_opened(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Called before the subjects are warmed up for a point, and before the turns at it.
    fn begin_point(&mut self, _block: &mut BlockContext, _point: PointId) {}

    /// Brings a subject to its steady state at a point.
    fn warm_up(
        &mut self,
        _block: &mut BlockContext,
        _subject: SubjectId,
        _point: PointId,
    ) -> Done<()> {
        Ok(())
    }

    /// How many passes these subjects make at a point; passes 2k and 2k+1 are a mirrored pair.
    fn passes(&self, point: PointId, subjects: &[SubjectId]) -> u32;

    /// Called before a pass, for the turn that a subject has in it. `remaining`: passes, this one included.
    fn before_pass(&mut self, _block: &mut BlockContext, _turn: Turn, _remaining: u32) -> Done<()> {
        Ok(())
    }

    /// Prepares a subject for its turn.
    fn begin_turn(&mut self, _block: &mut BlockContext, _turn: Turn) -> Done<()> {
        Ok(())
    }

    /// Takes a turn. Its result is kept after [`Workload::end_turn`].
    fn take_turn(&mut self, block: &mut BlockContext, turn: Turn) -> Done<TurnResult>;

    /// Puts a subject to rest after its turn.
    fn end_turn(&mut self, _block: &mut BlockContext, _turn: Turn) -> Done<()> {
        Ok(())
    }

    /// Ends a subject's work at a point.
    fn close(
        &mut self,
        _block: &mut BlockContext,
        _subject: SubjectId,
        _point: PointId,
    ) -> Done<()> {
        Ok(())
    }

    /// Ends what [`Workload::open`] started, if it runs.
    fn quit(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Ends the processes of a faulty subject, and keeps its fault as a failure: at a point, or at all points.
    fn exclude(
        &mut self,
        block: &mut BlockContext,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
    ) -> Result<(), Stop> {
        block.fail(fault, subject, point, None)
    }
}

/// When the subjects of a workload are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// All in a random order, before the first point of their target. [`Workload::open`] warms them up for
    /// all points, too.
    Target,
    /// Each when it is warmed up for a point.
    Point,
}

/// A subject's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The subject.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// The pass over the point, from 0.
    pub pass: u32,
    /// The turn within the pass, from 0.
    pub turn: u32,
}

/// The result of a turn.
#[derive(Clone, Debug)]
pub struct TurnResult {
    /// The record to keep; `None`: it is kept already.
    pub record: Option<TurnRecord>,
    /// True if other processes disturbed it: it is taken again, as often as the session allows.
    pub disturbed: bool,
}

impl From<TurnRecord> for TurnResult {
    fn from(record: TurnRecord) -> TurnResult {
        TurnResult {
            record: Some(record),
            disturbed: false,
        }
    }
}

/// Why a step was not done.
#[derive(Debug)]
pub enum StepError {
    /// The subject's fault.
    Fault(Fault),
    /// Measuring stops.
    Stop(Stop),
}

/// The result of a step.
pub type Done<T> = Result<T, StepError>;

impl From<Fault> for StepError {
    fn from(fault: Fault) -> StepError {
        StepError::Fault(fault)
    }
}

impl From<StoreError> for StepError {
    fn from(e: StoreError) -> StepError {
        StepError::Stop(e.into())
    }
}
