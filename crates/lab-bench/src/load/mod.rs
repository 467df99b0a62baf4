// SPDX-License-Identifier: Apache-2.0
//! Measures load on running servers.
//!
//! Each slice is written to the run file before the next slice is handled. Multiple servers or
//! points take turns. A single server at a single point is loaded without pauses, and each of its
//! slices counts as a block.

mod generator;
mod running_load;
mod server;

pub use generator::{Generator, Generators, LoadFault, Piece, first_errors};
pub use server::{LoadedServers, LocalGenerators};

use crate::driver::context::{BlockContext, Progress, Stop, TurnRecord};
use crate::driver::workload::{Done, Turn, TurnResult, Workload};
use crate::host::interrupt;
use crate::servers::usage::{ServerWatch, Usage, with_server};
use crate::subject::fault::Fault;
use lab_host::netstat;
use lab_model::{
    AgentId, Block, ErrorKind, IdVec, LoadSpec, LogLine, Plan, PointId, Run, Slice, SubjectId,
};
use lab_store::StoreError;
use running_load::RunningLoad;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The monitor of each server's resource usage, or `None` if the server's processes are unknown.
pub type Watches<'a> = IdVec<SubjectId, Option<Box<dyn ServerWatch + 'a>>>;

/// The servers of a run and their load generators.
pub struct LoadWorkload<'a> {
    plan: &'a Plan,
    load: &'a LoadSpec,
    generators: &'a dyn Generators,
    /// The generators for the current point. Their connections stay open until the point changes.
    connected: HashMap<SubjectId, Box<dyn Generator>>,
    current_point: PointId,
    /// The load on a single server, which runs without pauses.
    stretch: Option<RunningLoad>,
    usage: ServerUsage<'a>,
    local_parts: LocalParts,
    /// The kinds of errors already reported. Only the first error of each kind is reported.
    reported: HashSet<(SubjectId, ErrorKind)>,
    /// The number of slices written.
    done: u32,
    /// The planned number of slices. The actual number differs if a turn fails or is repeated.
    planned: u32,
}

/// The participants in a load that this machine runs: load generators, agents and servers.
struct LocalParts {
    is_any: bool,
    agents: Vec<AgentId>,
    /// True if a server is, or may be, on this machine.
    server: bool,
}

/// The resource usage of the servers.
struct ServerUsage<'a> {
    watches: Watches<'a>,
    last: HashMap<SubjectId, Usage>,
    /// The number of accept-queue overflows at the start of the current slice, if the servers are
    /// on this machine.
    last_overflows: Option<u64>,
    are_here: bool,
}

impl<'a> LoadWorkload<'a> {
    /// Creates the workload of a plan with a load, for a new or a resumed run.
    ///
    /// `watches` contains a monitor of each subject's server, for CPU time and memory.
    pub fn new(
        plan: &'a Plan,
        load: &'a LoadSpec,
        run: &Run,
        generators: &'a dyn Generators,
        watches: Watches<'a>,
    ) -> LoadWorkload<'a> {
        let mut workload = LoadWorkload {
            plan,
            load,
            generators,
            connected: HashMap::new(),
            current_point: PointId(0),
            stretch: None,
            usage: ServerUsage {
                watches,
                last: HashMap::new(),
                last_overflows: None,
                are_here: run.has_server_here() || run.agents.is_empty() && load.is_loopback(),
            },
            local_parts: LocalParts {
                is_any: run.is_loaded_here(),
                agents: run.agents_here().collect(),
                server: load.server_host.is_none() || run.has_server_here(),
            },
            reported: HashSet::new(),
            done: 0,
            planned: 0,
        };
        let complete = run.complete_blocks().count() as u32;
        let blocks = plan.measure.max_blocks.saturating_sub(complete);
        workload.planned = blocks * workload.slices_of_a_block();
        workload
    }

    fn slices_of_a_block(&self) -> u32 {
        if self.plan.is_uninterrupted() {
            return 1;
        }
        let subjects: Vec<SubjectId> = self.plan.subjects.ids().collect();
        let visits =
            (subjects.len() * self.plan.points.len()) as u32 * self.passes(PointId(0), &subjects);
        let turn_ns = self.plan.measure.turn_ns.max(1);
        visits * self.load.stretch_ns.div_ceil(turn_ns) as u32
    }

    /// Returns the generator for a server at a point in a block. Starts it if necessary.
    fn generator(
        &mut self,
        (subject, point): (SubjectId, PointId),
        block: u32,
    ) -> Done<Box<dyn Generator>> {
        if let Some(generator) = self.connected.remove(&subject) {
            return Ok(generator);
        }
        let started = self.generators.start(subject, point, block);
        started.map_err(|fault| {
            if interrupt::requested() {
                Fault::Interrupted.into()
            } else {
                fault.into()
            }
        })
    }

    /// Returns the next slice of a load without pauses.
    ///
    /// The load may end before all slices have been measured, because some were repeated or the run
    /// was resumed. In this case, starts another period of load.
    fn next_slice(&mut self, block: &mut BlockContext, turn: Turn) -> Done<Slice> {
        loop {
            let mut stretch = match self.stretch.take() {
                Some(stretch) => stretch,
                None if interrupt::requested() => return Err(Fault::Interrupted.into()),
                None => self.begin_stretch(block, turn)?,
            };
            let Some(piece) = stretch.next() else {
                let (generator, loaded) = stretch.end();
                loaded?;
                self.connected.insert(turn.subject, generator);
                continue;
            };
            self.stretch = Some(stretch);
            if let Some(slice) = self.accept(block, turn, piece)? {
                return Ok(slice);
            }
        }
    }

    fn begin_stretch(&mut self, block: &mut BlockContext, turn: Turn) -> Done<RunningLoad> {
        let generator = self.generator((turn.subject, turn.point), block.block.number)?;
        self.usage.begin(turn.subject, block)?;
        let slice_ns = self.plan.measure.turn_ns;
        let done_ns = u64::from(block.block.number) * slice_ns;
        let remaining_ns = self.load.stretch_ns.saturating_sub(done_ns);
        let length = Duration::from_nanos(if remaining_ns > 0 {
            remaining_ns
        } else {
            slice_ns
        });
        Ok(RunningLoad::begin(
            generator,
            length,
            Duration::from_nanos(slice_ns),
        ))
    }

    /// Handles a report of a generator. If the report contains a slice of a turn, returns the slice with the server's
    /// resource usage.
    fn accept(
        &mut self,
        block: &mut BlockContext,
        turn: Turn,
        piece: Piece,
    ) -> Result<Option<Slice>, StoreError> {
        let in_turn = |slice: Slice| Slice {
            point: turn.point,
            subject: turn.subject,
            pass: turn.pass,
            ..slice
        };
        let slice = piece
            .slice
            .map(|slice| self.usage.with_usage(in_turn(slice), block));
        let slice = slice.transpose()?;
        for (agent, reason) in &piece.lost {
            block.run.agent_lost(*agent, reason)?;
        }
        for note in &piece.notes {
            (block.progress)(Progress::Note(note));
        }
        self.report(block, turn.subject, &piece.errors)?;
        Ok(slice)
    }

    /// Measures the turn of one server. Each slice is written immediately.
    fn visit(&mut self, block: &mut BlockContext, turn: Turn) -> Done<()> {
        let subject = turn.subject;
        let mut generator = self.generator((subject, turn.point), block.block.number)?;
        self.usage.begin(subject, block)?;
        let [length, slice] =
            [self.load.stretch_ns, self.plan.measure.turn_ns].map(Duration::from_nanos);
        let mut outcome = Ok(());
        let loaded = generator.load(length, slice, &mut |piece| {
            let accepted = self.accept(block, turn, piece);
            outcome =
                accepted.and_then(|slice| slice.map_or(Ok(()), |slice| self.record(block, slice)));
            outcome.is_ok() && !interrupt::requested()
        });
        outcome?;
        loaded?;
        self.connected.insert(subject, generator);
        Ok(())
    }

    fn record(&mut self, block: &mut BlockContext, slice: Slice) -> Result<(), StoreError> {
        block.record(TurnRecord::Slice(slice.clone()))?;
        self.done += 1;
        (block.progress)(Progress::Slice {
            slice: &slice,
            done: self.done,
            of: self.planned.max(self.done),
        });
        Ok(())
    }

    /// Shows and logs the first error of each kind.
    fn report(
        &mut self,
        block: &mut BlockContext,
        subject: SubjectId,
        errors: &[(ErrorKind, String)],
    ) -> Result<(), StoreError> {
        for (kind, words) in errors {
            if !self.reported.insert((subject, *kind)) {
                continue;
            }
            let line = format!("the first {} error: {words}", kind.name());
            (block.progress)(Progress::Note(&match self.plan.subjects.len() {
                1 => line.clone(),
                _ => format!("{}: {line}", self.plan.subjects[subject].name),
            }));
            block.run.log(&LogLine {
                subject,
                block: Some(block.block.number),
                line,
            })?;
        }
        Ok(())
    }
}

impl Workload for LoadWorkload<'_> {
    /// Returns no cores: the operating system chooses the cores of the generator's threads.
    fn cores(&self) -> &[usize] {
        &[0]
    }

    fn can_resume(&self) -> bool {
        self.plan.can_resume()
    }

    fn can_redo_blocks(&self) -> bool {
        self.plan.can_resume()
    }

    fn is_local(&self) -> bool {
        self.local_parts.is_any
    }

    fn outside_cpu_ns(&self, block: &Block) -> Option<u64> {
        let slices = || block.slices.iter();
        let server: Option<u64> = if self.local_parts.server {
            slices().map(|slice| slice.server_cpu_ns).sum()
        } else {
            Some(0)
        };
        let parts = slices().flat_map(|slice| &slice.agents);
        let local = parts.filter(|part| self.local_parts.agents.contains(&part.agent));
        Some(server? + local.map(|part| part.slice.cpu_ns).sum::<u64>())
    }

    fn begin_point(&mut self, _: &mut BlockContext, point: PointId) {
        if std::mem::replace(&mut self.current_point, point) != point {
            self.connected.clear();
        }
    }

    /// Returns one pass for a single server, because it needs no mirrored passes.
    fn passes(&self, _: PointId, _: &[SubjectId]) -> u32 {
        match self.plan.subjects.len() {
            1 => 1,
            _ => 2 * self.plan.measure.pairs,
        }
    }

    fn take_turn(&mut self, block: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        if self.plan.is_uninterrupted() {
            let slice = self.next_slice(block, turn)?;
            self.record(block, slice)?;
        } else {
            self.visit(block, turn)?;
        }
        // The last slice was cut off, and its requests in flight are errors. A resumed load measures
        // the block again.
        if interrupt::requested() && self.can_resume() {
            return Err(Fault::Interrupted.into());
        }
        Ok(TurnResult {
            record: None,
            disturbed: false,
        })
    }

    fn exclude(
        &mut self,
        block: &mut BlockContext,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
    ) -> Result<(), Stop> {
        self.connected.remove(&subject);
        block.fail(fault, subject, point, None)
    }
}

impl ServerUsage<'_> {
    /// Starts measuring the resource usage of a server.
    fn begin(&mut self, subject: SubjectId, block: &mut BlockContext) -> Result<(), StoreError> {
        let now = self.read(subject, block)?;
        self.last.extend(now.map(|now| (subject, now)));
        self.last_overflows = self.queue_overflows();
        Ok(())
    }

    /// Reads how often the accept queues of this machine have overflowed. Returns `None` if the
    /// servers are on other machines.
    fn queue_overflows(&self) -> Option<u64> {
        self.are_here.then(netstat::queue_overflows).flatten()
    }

    /// Adds the server's resource usage to a slice that has just been measured.
    fn with_usage(&mut self, slice: Slice, block: &mut BlockContext) -> Result<Slice, StoreError> {
        let subject = slice.subject;
        let before = self.last.remove(&subject);
        let now = self.read(subject, block)?;
        self.last.extend(now.map(|now| (subject, now)));
        let overflows = self.queue_overflows();
        let last_overflows = std::mem::replace(&mut self.last_overflows, overflows);
        let slice = Slice {
            queue_overflows: overflows
                .zip(last_overflows)
                .map(|(now, before)| now.saturating_sub(before)),
            ..slice
        };
        Ok(with_server(slice, before, now))
    }

    /// Reads the resource usage of the server's processes. If they have exited, reports this the
    /// first time.
    fn read(
        &mut self,
        subject: SubjectId,
        block: &mut BlockContext,
    ) -> Result<Option<Usage>, StoreError> {
        let Some(watch) = self.watches.get_mut(subject).and_then(Option::as_mut) else {
            return Ok(None);
        };
        let usage = watch.read();
        if let Err(reason) = &usage {
            (block.progress)(Progress::Note(reason));
            block.run.log(&LogLine {
                subject,
                block: Some(block.block.number),
                line: LogLine::server_unknown(reason),
            })?;
            self.watches[subject] = None;
        }
        Ok(usage.ok())
    }
}
