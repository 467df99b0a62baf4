// SPDX-License-Identifier: Apache-2.0
//! The interface of workloads. The session calls its functions to measure blocks.

use crate::driver::context::{BlockContext, Progress, RunContext, Stop, TurnRecord};
use crate::subject::fault::Fault;
use lab_model::{Block, BlockState, Metric, Outcome, PointId, SubjectId};
use lab_store::StoreError;

/// A workload, whose functions the session calls.
///
/// Within a block the order of calls is:
///
/// ```text
/// begin_block
///   open                          once for each target, or at each point; see Opening
///   warm_up_opened                subjects opened for a target: the baseline first, then the others in a random order
///   rehearse                      a number of passes; see Workload::rehearsed_passes
///   begin_point, warm_up          each point; its subjects in a random order
///     before_pass                 each pass; its subjects in the pass's order
///     begin_turn, take_turn, end_turn     take_turn again if other processes disturbed it
///   close                         the subjects that remain at the point
///   quit                          all subjects
/// end_block
/// ```
///
/// A fault excludes its subject, either at the point where it happened or as [`Workload::exclude`] decides. Waiting
/// code must check [`crate::host::interrupt::requested`] and return [`Fault::Interrupted`].
pub trait Workload {
    /// Returns the cores among which the blocks rotate. There is at least one.
    fn cores(&self) -> &[usize];

    /// Returns the metrics whose readings the turns record.
    fn metrics(&self) -> Vec<Metric> {
        Vec::new()
    }

    /// Does the work that is necessary before the first block, unless the run file already contains its results.
    fn prepare(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let _ = (run, progress);
        Ok(())
    }

    /// Returns the known expected outcomes of batches.
    fn outcomes(&self) -> Vec<Outcome> {
        Vec::new()
    }

    /// Restores a prerequisite of the run, such as a server that no longer responds. Returns an
    /// error with the reason if this fails.
    fn restore(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Cleans up after the last block, even if the run was stopped.
    fn finish(&mut self, _run: &mut RunContext) -> Result<(), Stop> {
        Ok(())
    }

    /// Returns the set of processes for the next block, or `None` if the block has its own
    /// processes.
    fn process_set(&mut self, _context: &mut RunContext) -> Option<u32> {
        None
    }

    /// Returns true if the processes of the last block continue with another block.
    fn is_amid_set(&self) -> bool {
        false
    }

    /// Handles the end of a block. Returns true if the processes are kept for the next block.
    fn keeps_processes(&mut self, _state: BlockState) -> bool {
        false
    }

    /// Handles the start of a block.
    fn begin_block(&mut self, _number: u32, _core: usize) {}

    /// Processes the results of a block after all of its turns.
    fn end_block(&mut self, _block: &mut BlockContext) {}

    /// Returns true if a run can be resumed after the user stops it. If false, stopping the run
    /// ends it.
    fn can_resume(&self) -> bool {
        true
    }

    /// Returns true if a disturbed block is measured again.
    fn can_redo_blocks(&self) -> bool {
        true
    }

    /// Returns true if the measured subjects are on this machine. If they are not, other activity on this machine is
    /// not a disturbance.
    fn is_local(&self) -> bool {
        true
    }

    /// Returns the CPU time of agents on this machine, and of servers that benchlab did not start,
    /// in ns. This time does not count as a disturbance.
    ///
    /// `None` means that the time is unknown. In this case, no CPU time of other processes counts
    /// as a disturbance.
    fn outside_cpu_ns(&self, _block: &Block) -> Option<u64> {
        Some(0)
    }

    /// Returns true if a point depends on results of other points of the block and must come after them.
    fn comes_last(&self, _point: PointId) -> bool {
        false
    }

    /// Returns true if a subject has turns at a point in the current block.
    fn has_turns(&self, _subject: SubjectId, _point: PointId) -> bool {
        true
    }

    /// Returns the time at which subjects are opened.
    fn opening(&self) -> Opening {
        Opening::Target
    }

    /// Starts the processes that a subject needs for a block, unless they are already running.
    fn open(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Brings a subject that was opened for a target to its steady state at all its points.
    fn warm_up_opened(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Returns the number of passes that the warm subjects of a target complete before the first recorded turn.
    fn rehearsed_passes(&self) -> u32 {
        0
    }

    /// Runs a turn that is not recorded.
    fn rehearse(&mut self, _block: &mut BlockContext, _turn: Turn) -> Done<()> {
        Ok(())
    }

    /// Prepares for a point. Called before the subjects are warmed up for the point, and before the
    /// turns at the point.
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

    /// Returns the number of passes at a point. Passes 2k and 2k+1 are a mirrored pair.
    fn passes(&self, point: PointId, subjects: &[SubjectId]) -> u32;

    /// Prepares for a pass. Called before the pass, for the turn of each subject in the pass.
    /// `remaining` is the number of passes to go, including this pass.
    fn before_pass(&mut self, _block: &mut BlockContext, _turn: Turn, _remaining: u32) -> Done<()> {
        Ok(())
    }

    /// Prepares a subject for its turn.
    fn begin_turn(&mut self, _block: &mut BlockContext, _turn: Turn) -> Done<()> {
        Ok(())
    }

    /// Runs a turn. Its result is recorded after [`Workload::end_turn`].
    fn take_turn(&mut self, block: &mut BlockContext, turn: Turn) -> Done<TurnResult>;

    /// Stops a subject after its turn, so that it is idle.
    fn end_turn(&mut self, _block: &mut BlockContext, _turn: Turn) -> Done<()> {
        Ok(())
    }

    /// Finishes a subject's work at a point.
    fn close(
        &mut self,
        _block: &mut BlockContext,
        _subject: SubjectId,
        _point: PointId,
    ) -> Done<()> {
        Ok(())
    }

    /// Shuts down the processes that [`Workload::open`] started, if they are running.
    fn quit(&mut self, _block: &mut BlockContext, _subject: SubjectId) -> Done<()> {
        Ok(())
    }

    /// Shuts down the processes of a faulty subject, and records its fault as a failure at a point or at all points.
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

/// The time at which a workload's subjects are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// All subjects are opened in a random order before the first point of their target. [`Workload::open`] also
    /// warms them up for all points.
    Target,
    /// Each subject is opened when it is warmed up for a point.
    Point,
}

/// A turn: one measurement of a subject at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The subject whose turn it is.
    pub subject: SubjectId,
    /// The point at which the subject is measured.
    pub point: PointId,
    /// The pass over the point, from 0.
    pub pass: u32,
    /// The turn within the pass, from 0.
    pub turn: u32,
}

/// The outcome of a turn: its record, and whether other processes disturbed it.
#[derive(Clone, Debug)]
pub struct TurnResult {
    /// The record to store, or `None` if it is already stored.
    pub record: Option<TurnRecord>,
    /// True if other processes disturbed the turn. The driver repeats such a turn a limited number
    /// of times.
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

/// The reason for not completing a step.
#[derive(Debug)]
pub enum StepError {
    /// The subject is at fault.
    Fault(Fault),
    /// Measuring must stop.
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
