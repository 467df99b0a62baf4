// SPDX-License-Identifier: Apache-2.0
//! Load on running servers as a workload: every slice is in the run file before the next one is looked
//! at. Several servers or points take turns; one server at one point is loaded without a pause, and each slice
//! is a block.

mod generator;
mod running_load;
mod server;

pub use generator::{Generator, Generators, LoadFault, Piece, first_errors};
pub use server::{LoadShare, LoadedServer, LoadedServers};

use crate::driver::context::{BlockContext, Progress, Stop, TurnRecord};
use crate::driver::workload::{Done, Turn, TurnResult, Workload};
use crate::host::interrupt;
use crate::servers::usage::{ServerWatch, Usage, with_server};
use crate::subject::fault::Fault;
use lab_model::{AgentId, Block, ErrorKind, Load, LogLine, Plan, PointId, Run, Slice, SubjectId};
use lab_store::StoreError;
use running_load::RunningLoad;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// For each server what reads the usage of its processes, if they are known.
pub type Watches<'a> = Vec<Option<Box<dyn ServerWatch + 'a>>>;

/// The servers of a run, and what puts load on them.
pub struct LoadWorkload<'a> {
    plan: &'a Plan,
    load: &'a Load,
    generators: &'a dyn Generators,
    /// Generators that were started for a point; they stay connected until another point is visited.
    connected: HashMap<SubjectId, Box<dyn Generator>>,
    current_point: PointId,
    /// The load without pauses on the only server.
    stretch: Option<RunningLoad>,
    usage: ServerUsage<'a>,
    local_parts: LocalParts,
    /// The kinds of errors of which the first was reported.
    reported: HashSet<(SubjectId, ErrorKind)>,
    /// Slices that were written.
    done: u32,
    /// Slices that will be, if nothing fails and nothing is redone.
    of: u32,
    resumable: bool,
}

/// The parts of a load that are on this machine.
struct LocalParts {
    is_any: bool,
    agents: Vec<AgentId>,
    /// True if the server is, or may be.
    server: bool,
}

/// The usage of the servers' processes, where they are known.
struct ServerUsage<'a> {
    watches: Watches<'a>,
    last: HashMap<SubjectId, Usage>,
}

impl<'a> LoadWorkload<'a> {
    /// Creates the workload of a plan with a load, for a run that is begun or resumed. `watches` holds for
    /// each subject the reader of its server's CPU time and memory.
    pub fn new(
        plan: &'a Plan,
        load: &'a Load,
        run: &Run,
        generators: &'a dyn Generators,
        watches: Watches<'a>,
    ) -> LoadWorkload<'a> {
        let mut workload = LoadWorkload {
            plan,
            load,
            generators,
            connected: HashMap::new(),
            current_point: 0,
            stretch: None,
            usage: ServerUsage {
                watches,
                last: HashMap::new(),
            },
            local_parts: LocalParts {
                is_any: run.is_loaded_here(),
                agents: run.agents_here().collect(),
                server: load.server_host.is_none() || run.has_server_here(),
            },
            reported: HashSet::new(),
            done: 0,
            of: 0,
            resumable: true,
        };
        let complete = run.complete_blocks().count() as u32;
        let blocks = plan.measure.max_blocks.saturating_sub(complete);
        workload.of = blocks * workload.slices_of_a_block();
        workload
    }

    /// The same workload, with whether a stopped run can be resumed.
    pub fn resumable(self, resumable: bool) -> LoadWorkload<'a> {
        LoadWorkload { resumable, ..self }
    }

    /// True if nobody takes turns: the load goes on without a pause.
    fn is_one_stretch(&self) -> bool {
        self.plan.points.len() * self.plan.subjects.len() == 1
    }

    fn slices_of_a_block(&self) -> u32 {
        if self.is_one_stretch() {
            return 1;
        }
        let subjects: Vec<SubjectId> = (0..self.plan.subjects.len()).collect();
        let visits = (subjects.len() * self.plan.points.len()) as u32 * self.passes(0, &subjects);
        let turn_ns = self.plan.measure.turn_ns.max(1);
        visits * self.load.stretch_ns.div_ceil(turn_ns) as u32
    }

    /// The generator of a server at a point, in a block.
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

    /// The next slice of a load without pauses. Slices that are still missing when it ends, because some were redone or
    /// the run was resumed, are measured in another stretch.
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

    /// Accepts what a generator reports: a slice of a turn, if it is one, with what the server used in it.
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

    /// One server's turn. Each slice is written at once.
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
                accepted.and_then(|slice| slice.map_or(Ok(()), |slice| self.keep(block, slice)));
            outcome.is_ok() && !interrupt::requested()
        });
        outcome?;
        loaded?;
        self.connected.insert(subject, generator);
        if interrupt::requested() {
            Err(Fault::Interrupted.into())
        } else {
            Ok(())
        }
    }

    fn keep(&mut self, block: &mut BlockContext, slice: Slice) -> Result<(), StoreError> {
        block.keep(TurnRecord::Slice(slice.clone()))?;
        self.done += 1;
        (block.progress)(Progress::Slice {
            slice: &slice,
            done: self.done,
            of: self.of.max(self.done),
        });
        Ok(())
    }

    /// Reports and logs the first error of each kind, in words.
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
    /// The generator's threads run wherever the system puts them.
    fn cores(&self) -> &[usize] {
        &[0]
    }

    fn can_resume(&self) -> bool {
        self.resumable
    }

    /// Where the rate changes over time, a repetition would be another load.
    fn can_redo_blocks(&self) -> bool {
        !(self.is_one_stretch() && self.load.arrivals.changes())
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

    /// A single server needs no mirrored passes.
    fn passes(&self, _: PointId, _: &[SubjectId]) -> u32 {
        match self.plan.subjects.len() {
            1 => 1,
            _ => 2 * self.plan.measure.pairs,
        }
    }

    fn take_turn(&mut self, block: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        if self.is_one_stretch() {
            let slice = self.next_slice(block, turn)?;
            self.keep(block, slice)?;
        } else {
            self.visit(block, turn)?;
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
    /// Begins to count what a server uses.
    fn begin(&mut self, subject: SubjectId, block: &mut BlockContext) -> Result<(), StoreError> {
        let now = self.read(subject, block)?;
        self.last.extend(now.map(|now| (subject, now)));
        Ok(())
    }

    /// Adds to a slice that has just ended what its server used in it.
    fn with_usage(&mut self, slice: Slice, block: &mut BlockContext) -> Result<Slice, StoreError> {
        let subject = slice.subject;
        let before = self.last.remove(&subject);
        let now = self.read(subject, block)?;
        self.last.extend(now.map(|now| (subject, now)));
        Ok(with_server(slice, before, now))
    }

    /// Reads the usage of the server's processes. That they have exited is reported once.
    fn read(
        &mut self,
        subject: SubjectId,
        block: &mut BlockContext,
    ) -> Result<Option<Usage>, StoreError> {
        let Some(watch) = self.watches.get_mut(subject).and_then(Option::as_mut) else {
            return Ok(None);
        };
        let usage = watch.read();
        if let Err(gone) = &usage {
            (block.progress)(Progress::Note(gone));
            block.run.log(&LogLine {
                subject,
                block: Some(block.block.number),
                line: LogLine::server_unknown(gone),
            })?;
            self.watches[subject] = None;
        }
        Ok(usage.ok())
    }
}
