// SPDX-License-Identifier: Apache-2.0
//! The records of a run and of a block. Each record is written to the run file before it is added
//! in memory.

use crate::driver::participants::Participants;
use crate::subject::fault::Fault;
use crate::subject::process::SubjectProcess;
use lab_model::{
    Block, Failure, Latencies, LogLine, Pilot, Plan, PointId, ProcessExit, ProcessStart, Reading,
    Resources, Run, Sample, Service, Setting, Slice, SubjectId, TargetId, Timeline,
};
use lab_store::{BlockWriter, RunWriter, StoreError};
use std::time::Duration;

/// The steps of a run, for progress displays.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// A pilot starts.
    Pilot {
        /// The subject that the pilot runs.
        subject: SubjectId,
        /// The point that the pilot measures.
        point: PointId,
        /// The number of completed pilots.
        done: usize,
        /// The total number of pilots.
        of: usize,
    },
    /// Measuring continues at another point of a block.
    Point {
        /// The block's index, from 0.
        block: u32,
        /// The point at which measuring continues.
        point: PointId,
        /// The subject that is being warmed up, or `None` while all subjects take turns.
        subject: Option<SubjectId>,
        /// The number of completed points.
        done: usize,
        /// The total number of points.
        of: usize,
    },
    /// A slice of load was written to the run file.
    Slice {
        /// The slice that was written.
        slice: &'a Slice,
        /// The number of slices written since the session began, including this slice.
        done: u32,
        /// The total number of slices. The actual number differs if a turn fails or is repeated.
        of: u32,
    },
    /// A message that the user must see now.
    Note(&'a str),
    /// A disturbed block will be measured again.
    Disturbed(u32),
    /// A lost server has been restarted, and the interrupted work will be repeated. Contains the
    /// reason for the loss.
    Restored(String),
    /// A block is complete. Contains the run so far, without slices, and the duration of the block.
    Complete(&'a Run, Duration),
    /// A subject failed.
    Failed(Failure),
}

/// The reason for stopping a run.
#[derive(Debug)]
pub enum Stop {
    /// The user requested a stop.
    Interrupted,
    /// The run file cannot be written.
    Store(StoreError),
    /// A server no longer responds. Contains a description.
    ServerLost(String),
    /// Measuring agents were lost, and the run cannot continue without them. Contains the reason.
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
    /// The contents of the file, without the slices of completed blocks.
    pub run: Run,
    /// The subjects that still take part.
    pub participants: Participants,
    /// The time that the run has taken so far, in ns.
    pub spent_ns: u64,
    /// True if blocks of the run use the results of its pilots. Their warm-up and batch sizes must
    /// not change after that, so the pilots are not repeated.
    pub pilots_are_final: bool,
    plan: &'a Plan,
}

impl<'a> RunContext<'a> {
    /// Creates the context of a new or resumed run.
    pub fn new(plan: &'a Plan, writer: RunWriter, mut run: Run) -> RunContext<'a> {
        run.blocks.iter_mut().for_each(Block::drop_slices);
        let has_blocks = run.complete_blocks().next().is_some();
        RunContext {
            participants: Participants::new(plan, run.spoiling_failures()),
            spent_ns: 0,
            pilots_are_final: has_blocks,
            writer,
            run,
            plan,
        }
    }

    /// Records a fault as a failure. If `process` is given, also records the log of that process.
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

    /// Records the result of a pilot.
    pub fn pilot(&mut self, pilot: Pilot) -> Result<(), StoreError> {
        self.writer.pilot(&pilot)?;
        self.run.add_pilot(pilot);
        Ok(())
    }

    /// Records facts about a server.
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

    /// Records a setting.
    pub fn setting(&mut self, setting: Setting) -> Result<(), StoreError> {
        self.writer.setting(&setting)?;
        self.run.settings.push(setting);
        Ok(())
    }

    /// Returns true if a compared subject still takes part at any point.
    pub fn has_participants(&self) -> bool {
        let takes_part = |subject: SubjectId| {
            let mut points = self.plan.points.ids();
            points.any(|point| self.participants.takes_part(subject, point))
        };
        let compared = |&subject: &SubjectId| !self.plan.subjects[subject].overhead;
        self.plan.subjects.ids().filter(compared).any(takes_part)
    }
}

/// The results of a turn that the run file stores, one variant for each kind of measurement.
#[derive(Clone, Debug)]
pub enum TurnRecord {
    /// The result of a batch, for a subject that implements the protocol.
    Batch {
        /// The batch and its position in the schedule.
        sample: Sample,
        /// The number of units that the operations produced.
        units: u64,
        /// A hash of all values that the operations produced.
        check: u64,
        /// The latency of each operation, if multiple operations run concurrently.
        latencies: Option<Latencies>,
        /// The latency of the operations over time, if they are due at a fixed rate and the subject
        /// reports it.
        timeline: Option<Timeline>,
        /// Values of the metrics that the batch's case defines.
        readings: Vec<Reading>,
    },
    /// The result of a process that has exited.
    Process {
        /// The process as a batch of one operation.
        sample: Sample,
        /// The exit data that the operating system reports.
        exit: ProcessExit,
        /// The check value of the process's output.
        check: u64,
        /// The processor's event counts, if counters are available.
        readings: Vec<Reading>,
    },
    /// A period of load.
    Slice(Slice),
    /// Values of the workload's own metrics.
    Readings(Vec<Reading>),
}

/// A block during its measurement, in its file and in memory.
pub struct BlockContext<'a> {
    /// The run file.
    pub run: &'a RunWriter,
    /// The writer of the block's records in the run file.
    pub writer: &'a BlockWriter<'a>,
    /// The block in memory, to which the samples are added.
    pub block: &'a mut Block,
    /// The subjects that still take part.
    pub participants: &'a mut Participants,
    /// The failures of the block so far.
    pub failures: &'a mut Vec<Failure>,
    /// The callback that receives every step.
    pub progress: &'a mut dyn FnMut(Progress),
}

impl BlockContext<'_> {
    /// Records a fault as a failure of this block. If `process` is given, also records the log of
    /// that process.
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

    /// Records the result of a turn.
    pub fn record(&mut self, record: TurnRecord) -> Result<(), StoreError> {
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

    /// Records the result of a turn that will be repeated, without counting it. Attempts are numbered from 1.
    pub fn record_redone(&mut self, record: &TurnRecord, attempt: u32) -> Result<(), StoreError> {
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

    /// Records the start-up times of a fresh process.
    pub fn process_start(&mut self, process_start: ProcessStart) -> Result<(), StoreError> {
        self.writer.process(&process_start)?;
        self.block.processes.push(process_start);
        Ok(())
    }

    /// Records the resources of a process after a point.
    pub fn resources(&mut self, resources: Resources) -> Result<(), StoreError> {
        self.writer.resources(&resources)?;
        self.block.resources.push(resources);
        Ok(())
    }

    /// Records the lines that a process has logged since the last call.
    pub fn log(
        &mut self,
        process: &mut SubjectProcess,
        subject: SubjectId,
    ) -> Result<(), StoreError> {
        record_log(self.run, process, subject, Some(self.block.number))
    }
}

impl TurnRecord {
    /// Returns true if the result of a disturbed turn can be recorded without counting it, so that
    /// the turn can be repeated.
    ///
    /// Workloads with other kinds of results run many turns, and tolerate a few disturbed turns.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, TurnRecord::Slice(_) | TurnRecord::Readings(_))
    }
}

/// Records a fault as a failure, with the last log lines. Returns an error if the fault is not the
/// subject's.
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
        record_log(run, process, subject, block)?;
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

/// Records the lines that a process has logged since the last call.
pub fn record_log(
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
