// SPDX-License-Identifier: Apache-2.0
//! Records a run and a block: in the run file first, then in memory.

use crate::fault::Fault;
use crate::participants::Participants;
use crate::process::SubjectProcess;
use lab_model::{
    Block, Failure, Latencies, LogLine, Pilot, Plan, PointId, ProcessExit, ProcessStart, Reading,
    Resources, Run, Sample, Service, Setting, Slice, SubjectId, TargetId, Timeline,
};
use lab_store::{BlockWriter, RunWriter, StoreError};
use std::time::Duration;

/// Steps of a run, for those who watch.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// The pilot is at a subject and point.
    Pilot {
        /// The subject.
        subject: SubjectId,
        /// The point.
        point: PointId,
        /// Trials that are done.
        done: usize,
        /// Trials in all.
        of: usize,
    },
    /// A block is at a point.
    Point {
        /// The block's number, from 0.
        block: u32,
        /// The point.
        point: PointId,
        /// The subject that warms up for it; `None`: all take turns.
        subject: Option<SubjectId>,
        /// Points that are done.
        done: usize,
        /// Points in all.
        of: usize,
    },
    /// One more slice of load is in the run file.
    Slice {
        /// The slice.
        slice: &'a Slice,
        /// Slices that were written since the session began, this one included.
        done: u32,
        /// Slices in all, if nothing fails and nothing is redone.
        of: u32,
    },
    /// Something that the reader must know now.
    Note(&'a str),
    /// A block was disturbed and is redone.
    Disturbed(u32),
    /// A server was lost, why, and is started anew; what it was lost in is redone.
    Restored(String),
    /// One more block is complete and took this long; the run so far, without slices.
    Complete(&'a Run, Duration),
    /// A subject failed.
    Failed(Failure),
}

/// Why measuring stops.
#[derive(Debug)]
pub enum Stop {
    /// The reader wants it.
    Interrupted,
    /// The run file cannot be written.
    Store(StoreError),
    /// A server does not answer any more: in a sentence.
    ServerLost(String),
    /// Agents that measure are gone: all of them, or one where none may be; in a sentence.
    AgentsLost(String),
}

impl From<StoreError> for Stop {
    fn from(e: StoreError) -> Stop {
        Stop::Store(e)
    }
}

/// A run, in its file and in memory.
pub struct RunContext<'a> {
    /// The run file.
    pub writer: RunWriter,
    /// The content of the file, without the slices of blocks that are over.
    pub run: Run,
    /// The subjects that still take part.
    pub participants: Participants,
    /// Time that the run has taken so far.
    pub spent_ns: u64,
    plan: &'a Plan,
}

impl<'a> RunContext<'a> {
    /// The context of a run that begins or is resumed.
    pub fn new(plan: &'a Plan, writer: RunWriter, mut run: Run) -> RunContext<'a> {
        run.blocks.iter_mut().for_each(Block::forget_slices);
        RunContext {
            participants: Participants::new(plan, &run.failures),
            spent_ns: 0,
            writer,
            run,
            plan,
        }
    }

    /// Keeps a fault as a failure. `process`: the one that it came from, for its log.
    pub fn fail(
        &mut self,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
        process: Option<&mut SubjectProcess>,
    ) -> Result<Failure, Stop> {
        let failure = failure(&self.writer, fault, (subject, point, None), process)?;
        self.participants.exclude(subject, point);
        self.run.failures.push(failure.clone());
        Ok(failure)
    }

    /// Keeps what a pilot found.
    pub fn pilot(&mut self, pilot: Pilot) -> Result<(), StoreError> {
        self.writer.pilot(&pilot)?;
        let place = (pilot.subject, pilot.point);
        self.run.pilots.retain(|p| (p.subject, p.point) != place);
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

    /// True if a subject that is compared still takes part somewhere.
    pub fn has_participants(&self) -> bool {
        let takes_part = |subject: SubjectId| {
            let mut points = 0..self.plan.points.len();
            points.any(|point| self.participants.takes_part(subject, point))
        };
        let compared = |&subject: &SubjectId| !self.plan.subjects[subject].overhead;
        (0..self.plan.subjects.len())
            .filter(compared)
            .any(takes_part)
    }
}

/// The result of a turn.
#[derive(Clone, Debug)]
pub enum TurnRecord {
    /// A batch of a subject that speaks the protocol.
    Batch {
        /// The batch and its place in the schedule.
        sample: Sample,
        /// The sum over the operations' results.
        units: u64,
        /// Fold of all values.
        check: u64,
        /// The latency of each operation, where several run at once.
        latencies: Option<Latencies>,
        /// How long its operations took, in the order of time, where they are due at a rate.
        timeline: Option<Timeline>,
        /// Values of the metrics that its case defines.
        readings: Vec<Reading>,
    },
    /// A process that ended.
    Process {
        /// The process as a batch of one operation.
        sample: Sample,
        /// The system's data on its end.
        exit: ProcessExit,
        /// Check value of its output.
        check: u64,
        /// The processor's counts, if it has counters.
        readings: Vec<Reading>,
    },
    /// A stretch of load.
    Slice(Slice),
    /// Values of the workload's own metrics.
    Readings(Vec<Reading>),
}

/// A block that is being measured, in its file and in memory.
pub struct BlockContext<'a> {
    /// The run file.
    pub run: &'a RunWriter,
    /// The block in it.
    pub writer: &'a BlockWriter<'a>,
    /// The block.
    pub block: &'a mut Block,
    /// The subjects that still take part.
    pub participants: &'a mut Participants,
    /// Failures of this block.
    pub failures: &'a mut Vec<Failure>,
    /// Called with every step.
    pub progress: &'a mut dyn FnMut(Progress),
}

impl BlockContext<'_> {
    /// Keeps a fault as a failure of this block. `process`: the one that it came from, for its log.
    pub fn fail(
        &mut self,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
        process: Option<&mut SubjectProcess>,
    ) -> Result<(), Stop> {
        let at = (subject, point, Some(self.block.number));
        let failure = failure(self.run, fault, at, process)?;
        self.participants.exclude(subject, point);
        (self.progress)(Progress::Failed(failure.clone()));
        self.failures.push(failure);
        Ok(())
    }

    /// Keeps what a turn yielded.
    pub fn keep(&mut self, record: TurnRecord) -> Result<(), StoreError> {
        let (writer, block) = (self.writer, &mut *self.block);
        match record {
            TurnRecord::Batch {
                sample,
                units,
                check,
                latencies,
                timeline,
                readings,
            } => {
                match &latencies {
                    None => writer.sample(&sample, units, check)?,
                    Some(latencies) => writer.latencies(&sample, units, check, latencies)?,
                }
                if let Some(timeline) = &timeline {
                    writer.timeline(timeline)?;
                }
                writer.readings(&readings, 0)?;
                block.samples.push(sample);
                block.latencies.extend(latencies);
                block.timelines.extend(timeline);
                block.readings.extend(readings);
            }
            TurnRecord::Process {
                sample,
                exit,
                check,
                readings,
            } => {
                writer.exit(&sample, &exit, check)?;
                writer.readings(&readings, 0)?;
                block.readings.extend(readings);
                block.samples.push(sample);
                block.exits.push(exit);
            }
            TurnRecord::Slice(slice) => block.slices.push(writer.move_to_file(slice, false)?),
            TurnRecord::Readings(readings) => {
                writer.readings(&readings, 0)?;
                block.readings.extend(readings);
            }
        }
        Ok(())
    }

    /// Keeps what the `attempt`th try of a turn yielded, from 1, that is taken again: it does not count.
    pub fn keep_redone(&mut self, record: &TurnRecord, attempt: u32) -> Result<(), StoreError> {
        match record {
            TurnRecord::Slice(slice) => {
                let slice = self.writer.move_to_file(slice.clone(), true)?;
                self.block.redone_slices.push(slice);
            }
            TurnRecord::Readings(readings) => {
                self.writer.readings(readings, attempt)?;
                self.block.redone_readings += 1;
            }
            TurnRecord::Batch { .. } | TurnRecord::Process { .. } => {}
        }
        Ok(())
    }

    /// Keeps the times that a fresh process took to start.
    pub fn process_start(&mut self, process_start: ProcessStart) -> Result<(), StoreError> {
        self.writer.process(&process_start)?;
        self.block.processes.push(process_start);
        Ok(())
    }

    /// Keeps what a process held after a point.
    pub fn resources(&mut self, resources: Resources) -> Result<(), StoreError> {
        self.writer.resources(&resources)?;
        self.block.resources.push(resources);
        Ok(())
    }

    /// Keeps the log lines that a process wrote since the last time.
    pub fn log(
        &mut self,
        process: &mut SubjectProcess,
        subject: SubjectId,
    ) -> Result<(), StoreError> {
        keep_log(self.run, process, subject, Some(self.block.number))
    }
}

impl TurnRecord {
    /// True if it can be kept as one that does not count. Batches and processes take their turns so often
    /// that a disturbed one needs no repetition.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, TurnRecord::Slice(_) | TurnRecord::Readings(_))
    }
}

/// Keeps a fault as a failure, with the last log lines. Stops where nobody failed.
fn failure(
    run: &RunWriter,
    fault: Fault,
    (subject, point, block): (SubjectId, Option<PointId>, Option<u32>),
    process: Option<&mut SubjectProcess>,
) -> Result<Failure, Stop> {
    let (kind, message) = match fault {
        Fault::Interrupted => return Err(Stop::Interrupted),
        Fault::ServerLost(reason) => return Err(Stop::ServerLost(reason)),
        Fault::Failed(kind, message) => (kind, message),
    };
    let mut log = Vec::new();
    if let Some(process) = process {
        keep_log(run, process, subject, block)?;
        log = process.last_log();
    }
    let (message, rest) = message.split_once('\n').unwrap_or((&message, ""));
    log.extend(rest.lines().map(str::to_owned));
    let failure = Failure {
        subject,
        point,
        block,
        kind: kind.to_owned(),
        message: message.to_owned(),
        log,
    };
    run.failure(&failure)?;
    Ok(failure)
}

/// Keeps the log lines that a process wrote since the last time.
pub fn keep_log(
    run: &RunWriter,
    process: &mut SubjectProcess,
    subject: SubjectId,
    block: Option<u32>,
) -> Result<(), StoreError> {
    process.take_log().into_iter().try_for_each(|line| {
        run.log(&LogLine {
            subject,
            block,
            line,
        })
    })
}
