// SPDX-License-Identifier: Apache-2.0
//! Subjects that are servers as a workload: proven, warmed up, and loaded in turns.

mod files;
mod others;
mod pilot;
mod proof;
mod proof_connection;
mod running_server;
mod sockets;
mod split;

use crate::context::{BlockContext, Progress, RunContext, Stop, TurnRecord, keep_log};
use crate::fault::{Fault, SubjectResult};
use crate::protocol::Reply;
use crate::scratch::Scratch;
use crate::server_usage::with_server;
use crate::session::{BenchError, usable_cores};
use crate::sys;
use crate::workload::{Done, Turn, TurnResult, Workload};
pub(crate) use files::ServedFiles;
use lab_load::Engine;
use lab_model::{Metric, Pilot, Plan, PointId, Reading, Run, Serving, Setting, SubjectId};
use lab_stats::load::peaks::{Peak, Peaks, calibrating_blocks};
use lab_store::{RunWriter, StoreError};
use others::Others;
use pilot::Warming;
pub(crate) use proof::Proven;
pub(crate) use running_server::{RunningServer, ServerSetup};
pub(crate) use split::Split;
pub use split::generator_threads;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

/// A stretch of load before a visit that is not recorded, as a divisor of the visit.
const LEAD_IN: u32 = 10;

/// The servers of a run.
pub struct ServerWorkload<'a> {
    setup: ServerSetup<'a>,
    cores: Vec<usize>,
    /// By subject and case.
    pilots: HashMap<(SubjectId, usize), Pilot>,
    proven: HashMap<SubjectId, Proven>,
    peaks: Peaks,
    /// Whether the block is one of those that find the peaks.
    is_calibrating: bool,
    /// The cores of the block.
    split: Split,
    others: Others,
    running: BTreeMap<SubjectId, RunningServer>,
    /// The load generators of the current point; their connections last from pass to pass.
    engines: HashMap<SubjectId, Engine>,
    _scratch: Scratch,
}

/// Whether blocks must still find the peaks of which points offer parts.
pub fn finds_peaks(plan: &Plan, run: &Run) -> bool {
    let mut points = 0..plan.points.len();
    let has_parts = points.any(|point| plan.part_of_peak(point).is_some());
    has_parts && run.complete_blocks().count() < calibrating_blocks(plan) as usize
}

impl<'a> ServerWorkload<'a> {
    /// The servers of a plan, for a run that begins or is resumed, with its known peaks. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        serving: &'a Serving,
        folder: &'a Path,
        (run, peaks): (&Run, Peaks),
        scratch: Scratch,
    ) -> Result<ServerWorkload<'a>, BenchError> {
        let cores = usable_cores()?;
        let place = scratch.folder().join("files");
        let files = ServedFiles::make(place, &serving.files, plan.seed).map_err(
            BenchError::system("the files that servers serve cannot be made"),
        )?;
        let pilots = run.pilots.iter();
        let by_case = |p: &Pilot| ((p.subject, plan.points[p.point].case), p.clone());
        Ok(ServerWorkload {
            setup: ServerSetup {
                plan,
                serving,
                folder,
                temporary: scratch.temporary(),
                files,
            },
            split: Split::of(&cores, plan.seed, 0),
            others: Others::default(),
            running: BTreeMap::new(),
            engines: HashMap::new(),
            cores,
            pilots: pilots.map(by_case).collect(),
            proven: HashMap::new(),
            peaks,
            is_calibrating: false,
            _scratch: scratch,
        })
    }

    /// Starts a server, has it prove itself, and pilots what has no pilot yet.
    fn prove_and_pilot(
        &mut self,
        subject: SubjectId,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let split = Split::of(&self.cores, self.setup.plan.seed, 0);
        pin_lab(&split);
        let (mut server, opened) = match self.setup.start(subject, &split.server) {
            Ok(started) => started,
            Err(fault) => return self.keep_failure(fault, subject, None, run, progress),
        };
        let is_recorded = run.run.settings.iter().any(|s| s.subject == subject);
        let (proven, pilots) = match self.proof_and_pilots(subject, &mut server, &split, progress) {
            Ok(found) => found,
            Err(fault) => return self.keep_failure(fault, subject, Some(server), run, progress),
        };
        for pilot in pilots {
            let case = self.setup.plan.points[pilot.point].case;
            self.pilots.insert((subject, case), pilot.clone());
            run.pilot(pilot)?;
        }
        if !is_recorded {
            settings(subject, &server, &opened, &proven, &split)
                .into_iter()
                .try_for_each(|setting| run.setting(setting))?;
        }
        self.proven.insert(subject, proven);
        match shut_down(server, self.setup.serving, &run.writer, subject, None)? {
            Ok(_) => Ok(()),
            Err(fault) => self.keep_failure(fault, subject, None, run, progress),
        }
    }

    /// What a server proved, and the pilots of those cases that have none yet.
    fn proof_and_pilots(
        &self,
        subject: SubjectId,
        server: &mut RunningServer,
        split: &Split,
        progress: &mut dyn FnMut(Progress),
    ) -> SubjectResult<(Proven, Vec<Pilot>)> {
        let proven = self.setup.prove(server)?;
        let plan = self.setup.plan;
        self.same_as_others(&proven)?;
        let mut pilots = Vec::new();
        for case in 0..plan.cases.len() {
            let Some(point) = pilot::point(plan, case) else {
                continue;
            };
            progress(Progress::Pilot {
                subject,
                point,
                done: subject * plan.cases.len() + case,
                of: plan.subjects.len() * plan.cases.len(),
            });
            if !self.pilots.contains_key(&(subject, case)) {
                pilots.push(Pilot {
                    subject,
                    cold_ns: proven.first_ns,
                    ..pilot::pilot(&self.setup, server, &split.server, point, &proven)?
                });
            }
        }
        Ok((proven, pilots))
    }

    /// Where an example states no answer, all servers must give the same one.
    fn same_as_others(&self, proven: &Proven) -> SubjectResult<()> {
        let difference = |(&other, other_proof): (&SubjectId, &Proven)| {
            proven
                .first_difference(other_proof)
                .map(|example| (other, example))
        };
        match self.proven.iter().find_map(difference) {
            None => Ok(()),
            Some((other, example)) => {
                let other = &self.setup.plan.subjects[other].name;
                let message = format!(
                    "its answer to {} {} is not that of {other}",
                    example.method, example.path
                );
                Err(Fault::Failed("proof", message))
            }
        }
    }

    fn keep_failure(
        &self,
        fault: Fault,
        subject: SubjectId,
        server: Option<RunningServer>,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let mut process = server.map(|server| server.process);
        let failure = run.fail(fault, subject, None, process.as_mut())?;
        progress(Progress::Failed(failure));
        Ok(())
    }
}

impl ServerWorkload<'_> {
    /// Warms a server up case after case, as the pilot did.
    fn warm_up_all(
        &self,
        block: &mut BlockContext,
        subject: SubjectId,
        server: &mut RunningServer,
    ) -> SubjectResult<()> {
        let proven = &self.proven[&subject];
        for case in 0..self.setup.plan.cases.len() {
            let Some(pilot) = self.pilots.get(&(subject, case)) else {
                continue;
            };
            (block.progress)(Progress::Point {
                block: block.block.number,
                point: pilot.point,
                subject: Some(subject),
                done: 0,
                of: self.setup.plan.points.len(),
            });
            let mut warming =
                Warming::new(&self.setup, server, &self.split.server, pilot.point, proven)?;
            warming.run_rounds(server, pilot.warmup_batches as usize)?;
        }
        server.keep_on(&self.split.server)?;
        server.rest()
    }

    fn engine(
        &self,
        block: &BlockContext,
        subject: SubjectId,
        point: PointId,
    ) -> SubjectResult<Engine> {
        let plan = self.setup.plan;
        let proven = &self.proven[&subject];
        let rate = match (
            plan.part_of_peak(point),
            self.peaks.at(plan, subject, point),
        ) {
            (None, _) => plan.rate(point),
            (Some(part), Some(Peak::Rate(peak))) => Some(part * peak),
            (Some(_), _) => {
                let message = "it served nothing, so it has no peak";
                return Err(Fault::Failed("load", message.into()));
            }
        };
        let server = &self.running[&subject];
        self.setup
            .generator(server, point, proven, rate, block.block.number)
    }

    fn running(&mut self, subject: SubjectId) -> &mut RunningServer {
        let server = self.running.get_mut(&subject);
        server.expect("only servers that run take turns")
    }
}

impl Workload for ServerWorkload<'_> {
    fn cores(&self) -> &[usize] {
        &self.cores
    }

    fn metrics(&self) -> Vec<Metric> {
        self.setup.serving.metrics.clone()
    }

    fn prepare(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        for subject in 0..self.setup.plan.subjects.len() {
            let points = 0..self.setup.plan.points.len();
            let takes_part = |point| run.participants.takes_part(subject, point);
            if !self.proven.contains_key(&subject) && points.into_iter().any(takes_part) {
                self.prove_and_pilot(subject, run, progress)?;
            }
        }
        Ok(())
    }

    fn begin_block(&mut self, number: u32, _: usize) {
        // Servers of a block that was stopped half-way.
        self.engines.clear();
        self.running.clear();
        self.others = Others::default();
        self.split = Split::of(&self.cores, self.setup.plan.seed, number);
        pin_lab(&self.split);
        // Peaks that an earlier attempt at this block found do not count.
        self.peaks.forget(number);
        self.is_calibrating = number < calibrating_blocks(self.setup.plan);
    }

    fn end_block(&mut self, block: &mut BlockContext) {
        let block = &block.block;
        self.peaks
            .learn(self.setup.plan, block.number, &block.slices);
    }

    /// Parts of a peak can only be offered once it is known.
    fn comes_last(&self, point: PointId) -> bool {
        self.is_calibrating && self.setup.plan.part_of_peak(point).is_some()
    }

    fn begin_point(&mut self, block: &mut BlockContext, point: PointId) {
        let number = block.block.number;
        let is_last = number + 1 == calibrating_blocks(self.setup.plan);
        if is_last && self.comes_last(point) {
            self.peaks
                .learn(self.setup.plan, number, &block.block.slices);
        }
    }

    /// Parts of a peak are offered once it is known, and to those that have one.
    fn has_turns(&self, subject: SubjectId, point: PointId) -> bool {
        let plan = self.setup.plan;
        let peak = || self.peaks.at(plan, subject, point);
        plan.part_of_peak(point).is_none() || !matches!(peak(), None | Some(Peak::Generator))
    }

    /// Starts a server and warms it up.
    fn open(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        let (mut server, _) = self.setup.start(subject, &self.split.server)?;
        block.process_start(lab_model::ProcessStart {
            subject,
            startup_ns: server.process.startup_ns,
            startup_cpu_ns: server.process.startup_cpu_ns,
        })?;
        let warm = self.warm_up_all(block, subject, &mut server);
        self.running.insert(subject, server);
        Ok(warm?)
    }

    fn passes(&self, _: PointId, _: &[SubjectId]) -> u32 {
        2 * self.setup.plan.measure.pairs
    }

    fn begin_turn(&mut self, block: &mut BlockContext, turn: Turn) -> Done<()> {
        let Turn { subject, point, .. } = turn;
        self.running(subject).process.wake()?;
        if !self.engines.contains_key(&subject) {
            let engine = self.engine(block, subject, point)?;
            self.engines.insert(subject, engine);
        }
        Ok(())
    }

    fn take_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        let Turn {
            subject,
            point,
            pass,
            ..
        } = turn;
        let stretch = Duration::from_nanos(self.setup.plan.turn_ns(point));
        let server = self.running.get_mut(&subject);
        let server = server.expect("only servers that run take turns");
        let engine = self.engines.get_mut(&subject);
        let engine = engine.expect("a turn has begun");
        let others = self.others.clocks(server.process.pid());
        server.load(engine, stretch / LEAD_IN)?;
        let (before, others_before) = (server.read()?, others.read());
        let record = server.load(engine, stretch)?;
        let (others_after, after) = (others.read(), server.read()?);
        let used_ns = others_after.most_since(&others_before);
        let slice = record.slice(point, subject, pass);
        let disturbed = others::disturbs(used_ns, slice.wall_ns);
        let slice = lab_model::Slice {
            foreign_ns: Some(used_ns),
            ..with_server(slice, Some(before), Some(after))
        };
        Ok(TurnResult {
            record: Some(TurnRecord::Slice(slice)),
            disturbed,
        })
    }

    fn end_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<()> {
        Ok(self.running(turn.subject).rest()?)
    }

    fn close(&mut self, _: &mut BlockContext, subject: SubjectId, _: PointId) -> Done<()> {
        self.engines.remove(&subject);
        Ok(())
    }

    fn quit(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        let Some(server) = self.running.remove(&subject) else {
            return Ok(());
        };
        let serving = self.setup.serving;
        let number = Some(block.block.number);
        let values = shut_down(server, serving, block.run, subject, number)??;
        let values = serving.metrics.iter().zip(values);
        let reading = |(metric, value): (&Metric, f64)| Reading {
            point: 0,
            subject,
            pass: 0,
            metric: metric.id.to_string(),
            value,
        };
        Ok(block.keep(TurnRecord::Readings(values.map(reading).collect()))?)
    }

    /// A server on which no load can be put at a point has failed there; any other has failed everywhere.
    fn exclude(
        &mut self,
        block: &mut BlockContext,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
    ) -> Result<(), Stop> {
        self.engines.remove(&subject);
        if let (Fault::Failed("load", _), Some(server)) = (&fault, self.running.get_mut(&subject))
            && point.is_some()
            && server.rest().is_ok()
        {
            return block.fail(fault, subject, point, Some(&mut server.process));
        }
        let mut process = self.running.remove(&subject).map(|server| server.process);
        block.fail(fault, subject, None, process.as_mut())
    }
}

/// Has a server end in order and keeps its log. Returns the values of the experiment's metrics.
fn shut_down(
    mut server: RunningServer,
    serving: &Serving,
    run: &RunWriter,
    subject: SubjectId,
    block: Option<u32>,
) -> Result<SubjectResult<Vec<f64>>, StoreError> {
    let closed = server.close(&serving.metrics);
    keep_log(run, &mut server.process, subject, block)?;
    Ok(closed.and_then(|values| server.quit().map(|()| values)))
}

/// Pins this thread to the generator's cores: the generator's threads inherit them.
pub(crate) fn pin_lab(split: &Split) {
    // Without permission the scheduler decides, which is less even but not wrong.
    let _ = sys::pin(nix::unistd::Pid::from_raw(0), &split.generator);
}

/// What a server reported of itself, how many answers it proved, and its cores.
fn settings(
    subject: SubjectId,
    server: &RunningServer,
    opened: &Reply,
    proven: &Proven,
    split: &Split,
) -> Vec<Setting> {
    let setting = |key: &str, value: String| Setting {
        subject,
        point: None,
        key: key.into(),
        value,
    };
    let reported = |reply: &Reply, skip: &[&str]| {
        let args = reply.args().iter();
        let args = args.filter(|(key, _)| !skip.contains(&key.as_str()));
        args.map(|(key, value)| setting(key, value.clone()))
            .collect::<Vec<_>>()
    };
    let mut settings = reported(&server.process.hello, &["protocol", "subject", "thread"]);
    settings.extend(reported(opened, &["url", "processes", "certificate"]));
    settings.push(setting("server cores", split.server.len().to_string()));
    settings.push(setting(
        "generator cores",
        split.generator.len().to_string(),
    ));
    if split.server == split.generator {
        settings.push(setting("cores shared", "yes".into()));
    }
    settings.push(setting("proven answers", proven.answers.to_string()));
    settings
}
