// SPDX-License-Identifier: Apache-2.0
//! Load as a way to fill blocks: visits to servers, every slice of which is in the run file before the
//! next one is looked at.

mod server;
mod watch;

pub use server::{LoadedServer, LoadedServers};

use crate::host::Gauge;
use crate::interrupt;
use crate::session::{BenchError, lab_cost};
use crate::sys;
use lab_load::Record;
use lab_model::{
    BlockState, Ending, ErrorKind, Failure, Load, LogLine, Plan, PointId, Slice, SubjectId,
};
use lab_plan::Schedule;
use lab_store::{RunWriter, StoreError};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
pub(crate) use watch::{Reading, Watch};

/// What puts load on one server at one point: the engine of lab-load, with its connections.
pub trait Generator {
    /// Puts load on for a length and tells of every slice of it, in the order of time; `false` stops it.
    /// Error: it cannot, and why.
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(&Record) -> bool,
    ) -> Result<(), String>;
}

/// Starts generators.
pub trait Generators {
    /// One for a server and a point, its connections open. Error: it cannot be had, and why.
    fn start(&self, subject: SubjectId, point: PointId) -> Result<Box<dyn Generator>, String>;
}

/// Steps of a load run, for those who watch.
#[derive(Clone, Copy, Debug)]
pub enum LoadProgress<'a> {
    /// Something that the reader must know now.
    Note(&'a str),
    /// One more slice is in the run file.
    Slice {
        /// It.
        slice: &'a Slice,
        /// Slices that are in the run file, this one included.
        done: u32,
        /// As many as will be, if nothing fails.
        of: u32,
    },
}

/// A load run that is being carried out.
pub struct LoadRun<'a> {
    writer: RunWriter,
    site: Site<'a>,
}

type Tell<'t> = &'t mut dyn FnMut(LoadProgress);

impl<'a> LoadRun<'a> {
    /// Of a plan with a load, into a new run file. `processes` holds for each subject the process whose
    /// CPU time and memory are shown beside, if it is on this machine.
    pub fn new(
        plan: &'a Plan,
        writer: RunWriter,
        generators: &'a dyn Generators,
        processes: &[Option<i32>],
    ) -> LoadRun<'a> {
        let site = Site::new(plan, generators, processes);
        LoadRun { writer, site }
    }

    /// Puts the load on. The run file is complete when this returns.
    pub fn measure(mut self, tell: Tell) -> Result<Ending, BenchError> {
        match self.site.one_stretch() {
            true => self.stretch(tell)?,
            false => self.turns(tell)?,
        }
        let ending = match interrupt::requested() {
            true => Ending::Interrupted,
            false if self.site.nobody_is_left() => Ending::Failed,
            false => Ending::Blocks,
        };
        // Connections are closed before the run is said to be over.
        drop(self.site);
        self.writer.finish(Some(ending), lab_cost())?;
        Ok(ending)
    }

    /// Nobody takes turns: the load goes on without a pause, and each slice is a block.
    fn stretch(&mut self, tell: Tell) -> Result<(), StoreError> {
        let (writer, mut number) = (&self.writer, 0);
        let (mut began, mut gauge) = (sys::unix_seconds(), Gauge::start());
        let mut keep = |slice: &Slice| {
            let block = writer.begin_block(number, 0, 0, began)?;
            block.slice(slice)?;
            let disturbance = gauge.read_beside(slice.server_cpu_ns);
            block.finish(BlockState::Complete, slice.wall_ns, &disturbance)?;
            (number, began, gauge) = (number + 1, sys::unix_seconds(), Gauge::start());
            Ok(())
        };
        self.site.visit(Place::default(), writer, &mut keep, tell)
    }

    fn turns(&mut self, tell: Tell) -> Result<(), StoreError> {
        for number in 0..self.site.plan.measure.max_blocks {
            if interrupt::requested() || self.site.nobody_is_left() {
                break;
            }
            self.block(number, tell)?;
        }
        Ok(())
    }

    /// Every point once, or where several servers are compared in mirrored passes.
    fn block(&mut self, number: u32, tell: Tell) -> Result<(), StoreError> {
        let (began, gauge) = (Instant::now(), Gauge::start());
        let block = self.writer.begin_block(number, 0, 0, sys::unix_seconds())?;
        let mut server_cpu_ns = Some(0);
        let mut keep = |slice: &Slice| {
            server_cpu_ns = server_cpu_ns.zip(slice.server_cpu_ns).map(|(a, b)| a + b);
            block.slice(slice)
        };
        for place in self.site.places(number) {
            if interrupt::requested() {
                return Ok(());
            }
            self.site.visit(place, &self.writer, &mut keep, tell)?;
        }
        // What Ctrl-C cut short is not a whole block.
        if interrupt::requested() {
            return Ok(());
        }
        let disturbance = gauge.read_beside(server_cpu_ns);
        let took_ns = began.elapsed().as_nanos() as u64;
        block.finish(BlockState::Complete, took_ns, &disturbance)
    }
}

/// Whom a visit is to, and where in the run.
#[derive(Clone, Copy, Default)]
struct Place {
    block: u32,
    subject: SubjectId,
    point: PointId,
    pass: u32,
}

/// The servers, and what puts load on them.
struct Site<'a> {
    plan: &'a Plan,
    how: &'a Load,
    generators: &'a dyn Generators,
    /// Those that were started, for the point that was visited last.
    started: HashMap<SubjectId, Box<dyn Generator>>,
    at: PointId,
    /// The servers' processes on this machine, where they were named.
    watches: Vec<Option<Watch>>,
    /// Who could not be loaded where.
    failed: HashSet<(SubjectId, PointId)>,
    /// The kinds of errors of which the first was told.
    told: HashSet<(SubjectId, ErrorKind)>,
    done: u32,
}

impl<'a> Site<'a> {
    fn new(plan: &'a Plan, generators: &'a dyn Generators, processes: &[Option<i32>]) -> Site<'a> {
        Site {
            plan,
            how: plan.load.as_ref().expect("a plan with a load"),
            generators,
            started: HashMap::new(),
            at: 0,
            watches: processes.iter().map(|pid| pid.map(Watch::new)).collect(),
            failed: HashSet::new(),
            told: HashSet::new(),
            done: 0,
        }
    }

    fn one_stretch(&self) -> bool {
        self.plan.points.len() * self.plan.subjects.len() == 1
    }

    fn nobody_is_left(&self) -> bool {
        self.failed.len() == self.plan.points.len() * self.plan.subjects.len()
    }

    /// The visits of a block: points in random order, and at each of them the subjects in mirrored passes.
    fn places(&self, block: u32) -> Vec<Place> {
        let schedule = Schedule::new(self.plan.seed, block);
        let subjects: Vec<SubjectId> = (0..self.plan.subjects.len()).collect();
        // Alone there is nothing to mirror.
        let passes = if subjects.len() > 1 { 2 } else { 1 };
        let mut places = Vec::new();
        for point in schedule.points(&self.plan.point_targets()) {
            let pairs = schedule.passes(point, &subjects, self.plan.measure.pairs);
            for (pass, order) in (0..).zip(pairs.take(passes)) {
                places.extend(order.into_iter().map(|subject| Place {
                    block,
                    subject,
                    point,
                    pass,
                }));
            }
        }
        places
    }

    /// Puts load on one server for a while, and has every slice of it kept.
    fn visit(
        &mut self,
        place: Place,
        writer: &RunWriter,
        keep: &mut dyn FnMut(&Slice) -> Result<(), StoreError>,
        tell: Tell,
    ) -> Result<(), StoreError> {
        let Some(mut generator) = self.generator(place, writer, tell)? else {
            return Ok(());
        };
        let mut before = self.read(place.subject, tell);
        let mut kept = Ok(());
        let [length, slice] =
            [self.how.stretch_ns, self.plan.measure.turn_ns].map(Duration::from_nanos);
        let loaded = generator.load(length, slice, &mut |record| {
            let now = self.read(place.subject, tell);
            let slice = with_server(
                record.slice(place.point, place.subject, place.pass),
                before,
                now,
            );
            before = now;
            kept = keep(&slice).and_then(|()| self.errors(place, record, writer, tell));
            self.done += 1;
            tell(LoadProgress::Slice {
                slice: &slice,
                done: self.done,
                of: self.slices(),
            });
            kept.is_ok() && !interrupt::requested()
        });
        self.started.insert(place.subject, generator);
        kept?;
        match loaded {
            Ok(()) => Ok(()),
            Err(why) => self.fail(place, why, writer, tell),
        }
    }

    /// As many slices as there are in a run in which nothing fails.
    fn slices(&self) -> u32 {
        let visits = match self.one_stretch() {
            true => 1,
            false => self.places(0).len() as u32 * self.plan.measure.max_blocks,
        };
        visits
            * self
                .how
                .stretch_ns
                .div_ceil(self.plan.measure.turn_ns.max(1)) as u32
    }

    /// The generator of a place; none where it cannot be had. All that were started at a point stay
    /// connected until another point is visited.
    fn generator(
        &mut self,
        place: Place,
        writer: &RunWriter,
        tell: Tell,
    ) -> Result<Option<Box<dyn Generator>>, StoreError> {
        let Place { subject, point, .. } = place;
        if std::mem::replace(&mut self.at, point) != point {
            self.started.clear();
        }
        if self.failed.contains(&(subject, point)) {
            return Ok(None);
        }
        let started = match self.started.remove(&subject) {
            Some(generator) => Ok(generator),
            None => self.generators.start(subject, point),
        };
        match started {
            Ok(generator) => Ok(Some(generator)),
            Err(why) => self.fail(place, why, writer, tell).map(|()| None),
        }
    }

    /// A generator that cannot do its work is a failure there; the others go on.
    fn fail(
        &mut self,
        place: Place,
        why: String,
        writer: &RunWriter,
        tell: Tell,
    ) -> Result<(), StoreError> {
        let Place { subject, point, .. } = place;
        self.failed.insert((subject, point));
        self.started.remove(&subject);
        let (name, label) = (&self.plan.subjects[subject].name, self.plan.label(point));
        tell(LoadProgress::Note(&format!(
            "{name} failed at {label}: {why}"
        )));
        writer.failure(&Failure {
            subject,
            point: Some(point),
            block: Some(place.block),
            kind: "load".into(),
            message: why,
            log: Vec::new(),
        })
    }

    /// Tells and logs the first error of each kind, in words.
    fn errors(
        &mut self,
        place: Place,
        record: &Record,
        writer: &RunWriter,
        tell: Tell,
    ) -> Result<(), StoreError> {
        let subject = place.subject;
        for (kind, words) in ErrorKind::ALL.into_iter().zip(&record.words) {
            let Some(words) = words else { continue };
            if !self.told.insert((subject, kind)) {
                continue;
            }
            let line = format!("the first {} error: {words}", kind.name());
            tell(LoadProgress::Note(&match self.plan.subjects.len() {
                1 => line.clone(),
                _ => format!("{}: {line}", self.plan.subjects[subject].name),
            }));
            writer.log(&LogLine {
                subject,
                block: Some(place.block),
                line,
            })?;
        }
        Ok(())
    }

    /// What the server's processes have used by now; that they are gone is told once.
    fn read(&mut self, subject: SubjectId, tell: Tell) -> Option<Reading> {
        let watch = self.watches.get_mut(subject)?.as_mut()?;
        let reading = watch.read();
        if let Err(gone) = &reading {
            tell(LoadProgress::Note(&gone.to_string()));
            self.watches[subject] = None;
        }
        reading.ok()
    }
}

pub(crate) fn with_server(slice: Slice, before: Option<Reading>, now: Option<Reading>) -> Slice {
    let used = |(now, before): (Reading, Reading)| now.cpu_ns.saturating_sub(before.cpu_ns);
    Slice {
        server_cpu_ns: now.zip(before).map(used),
        server_bytes: now.and_then(|now| now.bytes),
        server_threads: now.map(|now| now.threads),
        ..slice
    }
}
