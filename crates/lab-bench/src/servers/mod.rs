// SPDX-License-Identifier: Apache-2.0
//! Measures servers: verifies them, warms them up, and loads them in turns.

mod files;
mod others;
mod pilot;
mod process_set;
mod proof;
mod proof_connection;
mod running_server;
mod sockets;
mod split;
pub mod usage;

use crate::driver::context::{BlockContext, Progress, RunContext, Stop, TurnRecord, record_log};
use crate::driver::session::{BenchError, usable_cores};
use crate::driver::workload::{Done, Turn, TurnResult, Workload};
use crate::host::scratch::Scratch;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::protocol::Reply;
pub(crate) use files::ServedFiles;
use lab_load::{Engine, allow_files};
use lab_model::{
    BlockState, CaseId, Metric, Pilot, Plan, PointId, Reading, Run, Serving, Setting, SubjectId,
};
use lab_stats::load::peaks::{Peak, Peaks, calibrating_blocks};
use lab_store::{RunWriter, StoreError};
use others::Others;
use pilot::{Warming, Yardstick};
use process_set::{ProcessSet, REHEARSED_PASSES, SetCosts};
pub(crate) use proof::Proven;
pub(crate) use running_server::{LEAD_IN, RunningServer, ServerSetup};
pub(crate) use split::Split;
pub use split::generator_threads;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;
use usage::with_server;

/// The workload of a run that measures servers.
pub struct ServerWorkload<'a> {
    setup: ServerSetup<'a>,
    cores: Vec<usize>,
    /// Pilots by subject and case.
    pilots: HashMap<(SubjectId, CaseId), Pilot>,
    proven: HashMap<SubjectId, Proven>,
    peaks: Peaks,
    /// True if the current block contributes to finding the peaks.
    is_calibrating: bool,
    /// The cores of the server and the generator in the current block.
    split: Split,
    others: Others,
    running: BTreeMap<SubjectId, RunningServer>,
    /// True if processes may serve multiple blocks. False on hosts that measure single blocks of a run.
    may_nest: bool,
    set: ProcessSet,
    costs: SetCosts,
    /// The load generators of the current point. Their connections stay open between passes.
    engines: HashMap<SubjectId, Engine>,
    _scratch: Scratch,
}

/// Returns true if some points depend on peaks that have not been found yet.
pub fn finds_peaks(plan: &Plan, run: &Run) -> bool {
    let mut points = plan.points.ids();
    let has_parts = points.any(|point| plan.fraction_of_peak(point).is_some());
    has_parts && run.complete_blocks().count() < calibrating_blocks(plan) as usize
}

impl<'a> ServerWorkload<'a> {
    /// Creates the workload of a plan for a new or resumed run. `peaks` are the peaks known so far. `folder` is the
    /// project's directory.
    ///
    /// # Errors
    /// Returns an error if this process may not open as many connections as the load has, or if the
    /// files to serve cannot be created.
    pub fn new(
        plan: &'a Plan,
        serving: &'a Serving,
        folder: &'a Path,
        (run, peaks): (&Run, Peaks),
        scratch: Scratch,
    ) -> Result<ServerWorkload<'a>, BenchError> {
        allow_files(plan.max_open_connections(1) as u64)?;
        let cores = usable_cores()?;
        let directory = scratch.folder().join("files");
        let files = ServedFiles::make(directory, &serving.files, plan.seed)
            .map_err(BenchError::system("cannot create the files to serve"))?;
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
            split: Split::new(&cores, plan.seed, 0),
            others: Others::default(),
            running: BTreeMap::new(),
            may_nest: false,
            set: ProcessSet::default(),
            costs: SetCosts::default(),
            engines: HashMap::new(),
            cores,
            pilots: pilots.map(by_case).collect(),
            proven: HashMap::new(),
            peaks,
            is_calibrating: false,
            _scratch: scratch,
        })
    }

    /// Allows processes to serve multiple blocks if the plan has a budget.
    pub fn nested(self) -> ServerWorkload<'a> {
        ServerWorkload {
            may_nest: true,
            ..self
        }
    }

    /// Starts a server and verifies its responses.
    fn prove(
        &mut self,
        subject: SubjectId,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let split = Split::new(&self.cores, self.setup.plan.seed, 0);
        pin_lab(&split);
        let (server, opened) = match self.setup.start(subject, &split.server) {
            Ok(started) => started,
            Err(fault) => return self.keep_failure(fault, subject, None, run, progress),
        };
        let is_recorded = run.run.settings.iter().any(|s| s.subject == subject);
        let proven = self.setup.prove(&server).and_then(|proven| {
            self.same_as_others(&proven)?;
            Ok(proven)
        });
        let proven = match proven {
            Ok(proven) => proven,
            Err(fault) => return self.keep_failure(fault, subject, Some(server), run, progress),
        };
        if !is_recorded {
            settings(subject, &server, &opened, &proven, &split)
                .into_iter()
                .try_for_each(|setting| run.setting(setting))?;
        }
        self.costs
            .started(subject, server.process.startup_ns + proven.first_ns);
        self.proven.insert(subject, proven);
        self.end_pilot(subject, server, run, progress)
    }

    /// Runs the missing pilots of a subject in a fresh process.
    ///
    /// `baseline` is the baseline's server after its own pilots, if available. Returns the server,
    /// or `None` if the server failed. Also returns `None` if no pilot of a subject other than the
    /// baseline was missing.
    fn pilot(
        &mut self,
        subject: SubjectId,
        baseline: Option<&mut RunningServer>,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<RunningServer>, Stop> {
        let plan = self.setup.plan;
        let has_all = plan.cases.ids().all(|case| {
            pilot::point(plan, case).is_none() || self.pilots.contains_key(&(subject, case))
        });
        if has_all && subject != plan.baseline {
            return Ok(None);
        }
        let split = Split::new(&self.cores, plan.seed, 0);
        let mut server = match self.setup.start(subject, &split.server) {
            Ok((server, _)) => server,
            Err(fault) => {
                self.keep_failure(fault, subject, None, run, progress)?;
                return Ok(None);
            }
        };
        let found = self.pilot_cases((subject, &mut server), baseline, &split, progress);
        let found = found.and_then(|pilots| server.rest().map(|()| pilots));
        let found = match found {
            Ok(pilots) if subject == plan.baseline && !pilots.iter().all(pilot::is_steady) => {
                self.pilot_with_reference(subject, &mut server, run, progress)?
            }
            found => found,
        };
        match found {
            Ok(pilots) => {
                for pilot in pilots {
                    let case = plan.points[pilot.point].case;
                    self.pilots.insert((subject, case), pilot.clone());
                    run.pilot(pilot)?;
                }
                Ok(Some(server))
            }
            Err(fault) => {
                self.keep_failure(fault, subject, Some(server), run, progress)?;
                Ok(None)
            }
        }
    }

    /// Runs the missing pilots of a subject in another fresh process. `older` is a process of the
    /// same subject that shows the speed of the machine.
    fn pilot_with_reference(
        &mut self,
        subject: SubjectId,
        older: &mut RunningServer,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<SubjectResult<Vec<Pilot>>, Stop> {
        let split = Split::new(&self.cores, self.setup.plan.seed, 0);
        let mut server = match self.setup.start(subject, &split.server) {
            Ok((server, _)) => server,
            Err(fault) => return Ok(Err(fault)),
        };
        let found = self.pilot_cases((subject, &mut server), Some(older), &split, progress);
        let found = found.and_then(|pilots| server.rest().map(|()| pilots));
        if found.is_ok() {
            self.end_pilot(subject, server, run, progress)?;
        }
        Ok(found.and_then(|pilots| older.rest().map(|()| pilots)))
    }

    /// Runs a server's missing pilots. Warms up the server for the other cases.
    fn pilot_cases(
        &self,
        (subject, server): (SubjectId, &mut RunningServer),
        mut baseline: Option<&mut RunningServer>,
        split: &Split,
        progress: &mut dyn FnMut(Progress),
    ) -> SubjectResult<Vec<Pilot>> {
        let plan = self.setup.plan;
        let may_be_repeated = subject == plan.baseline && baseline.is_none();
        let mut pilots: Vec<Pilot> = Vec::new();
        for case in plan.cases.ids() {
            let Some(point) = pilot::point(plan, case) else {
                continue;
            };
            progress(Progress::Pilot {
                subject,
                point,
                done: subject.index() * plan.cases.len() + case.index(),
                of: plan.subjects.len() * plan.cases.len(),
            });
            let cell = (&*split.server, point);
            let mut warming = self.warming((subject, server), cell, baseline.as_deref_mut())?;
            match self.pilots.get(&(subject, case)) {
                Some(pilot) => warming.reach(server, pilot)?,
                None => {
                    let max_time = self.pilot_length(&pilots);
                    let max_time = if may_be_repeated {
                        pilot::max_length_without_reference(max_time)
                    } else {
                        max_time
                    };
                    pilots.push(Pilot {
                        subject,
                        cold_ns: self.proven[&subject].first_ns,
                        ..pilot::pilot(server, warming, point, max_time)?
                    });
                }
            }
        }
        Ok(pilots)
    }

    /// Returns the maximum length of the next pilot. `more` contains completed pilots that have not
    /// been stored yet.
    fn pilot_length(&self, more: &[Pilot]) -> Duration {
        let plan = self.setup.plan;
        let done = self.pilots.values().chain(more);
        let spent_ns: u64 = done
            .filter_map(|pilot| Some(pilot.ages.last()?.wall_ns))
            .sum();
        let all = plan.subjects.len() * plan.cases.len();
        let left = all.saturating_sub(self.pilots.len() + more.len());
        pilot::max_length(plan, Duration::from_nanos(spent_ns), left, all)
    }

    /// Prepares the warm-up of a server at a point. `baseline` is the baseline's server, or `None`
    /// if this server is the baseline.
    fn warming<'c, 'y>(
        &'c self,
        (subject, server): (SubjectId, &mut RunningServer),
        (cores, point): (&'c [usize], PointId),
        baseline: Option<&'y mut RunningServer>,
    ) -> SubjectResult<Warming<'c, 'y>> {
        let setup = &self.setup;
        let yardstick = baseline.map(|baseline| {
            let proven = &self.proven[&setup.plan.baseline];
            Yardstick::new(setup, baseline, point, proven)
        });
        let yardstick = yardstick.transpose()?;
        Warming::new(
            setup,
            server,
            (cores, point),
            &self.proven[&subject],
            yardstick,
        )
    }

    fn end_pilot(
        &self,
        subject: SubjectId,
        server: RunningServer,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        match shut_down(server, self.setup.serving, &run.writer, subject, None)? {
            Ok(_) => Ok(()),
            Err(fault) => self.keep_failure(fault, subject, None, run, progress),
        }
    }

    /// Returns a fault if servers respond differently to a request without a required response.
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
                    "the response to {} {} differs from that of {other}",
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
    /// Warms up a server, one case after another.
    ///
    /// The server is warm when it reaches the level of its pilot, or when it has served the number
    /// of requests that the run requires.
    fn warm_up_cases(
        &self,
        block: &mut BlockContext,
        (subject, server): (SubjectId, &mut RunningServer),
        mut baseline: Option<&mut RunningServer>,
    ) -> SubjectResult<()> {
        let plan = self.setup.plan;
        server.process.wake()?;
        for case in plan.cases.ids() {
            let Some(pilot) = self.pilots.get(&(subject, case)) else {
                continue;
            };
            (block.progress)(Progress::Point {
                block: block.block.number,
                point: pilot.point,
                subject: Some(subject),
                done: 0,
                of: plan.points.len(),
            });
            let cell = (&*self.split.server, pilot.point);
            let baseline = baseline
                .as_deref_mut()
                .filter(|_| plan.measure.age.is_none());
            let mut warming = self.warming((subject, server), cell, baseline)?;
            match plan.measure.age {
                Some(age) => warming.reach_age(server, age)?,
                None => warming.reach(server, pilot)?,
            }
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
            plan.fraction_of_peak(point),
            self.peaks.peak(plan, subject, point),
        ) {
            (None, _) => plan.rate(point),
            (Some(part), Some(Peak::Rate(peak))) => Some(part * peak),
            (Some(_), _) => {
                let message = "the server served no requests, so it has no peak";
                return Err(Fault::Failed("load", message.into()));
            }
        };
        let server = &self.running[&subject];
        self.setup
            .generator(server, point, proven, rate, block.block.number)
    }

    /// Runs `work` with a running server and the baseline's server. If the running server is the
    /// baseline, `work` gets `None` as the baseline's server.
    fn with_baseline(
        &mut self,
        subject: SubjectId,
        work: impl FnOnce(&Self, &mut RunningServer, Option<&mut RunningServer>) -> SubjectResult<()>,
    ) -> Done<()> {
        let base = self.setup.plan.baseline;
        let Some(mut server) = self.running.remove(&subject) else {
            return Ok(());
        };
        let mut baseline = self.running.remove(&base);
        let done = work(self, &mut server, baseline.as_mut());
        self.running.insert(subject, server);
        self.running.extend(baseline.map(|server| (base, server)));
        Ok(done?)
    }

    fn running(&mut self, subject: SubjectId) -> &mut RunningServer {
        let server = self.running.get_mut(&subject);
        server.expect("only running servers take turns")
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
        let plan = self.setup.plan;
        // Start with the baseline, because its server shows the speed of the machine during the pilots of the others.
        let mut order: Vec<SubjectId> = plan.subjects.ids().collect();
        order.sort_by_key(|&subject| subject != plan.baseline);
        let mut baseline = None;
        for subject in order {
            let takes_part = |run: &RunContext| {
                let mut points = plan.points.ids();
                points.any(|point| run.participants.takes_part(subject, point))
            };
            if !takes_part(run) {
                continue;
            }
            if !self.proven.contains_key(&subject) {
                self.prove(subject, run, progress)?;
            }
            // A verified server may have failed while it shut down.
            if self.proven.contains_key(&subject) && takes_part(run) {
                let server = self.pilot(subject, baseline.as_mut(), run, progress)?;
                let Some(server) = server else { continue };
                if subject == plan.baseline {
                    baseline = Some(server);
                } else {
                    self.end_pilot(subject, server, run, progress)?;
                }
            }
        }
        match baseline {
            Some(server) => self.end_pilot(plan.baseline, server, run, progress),
            None => Ok(()),
        }
    }

    fn process_set(&mut self, context: &mut RunContext) -> Option<u32> {
        let plan = self.setup.plan;
        if !self.may_nest || plan.measure.max_process_sets.is_none() {
            self.set = ProcessSet::default();
            return None;
        }
        if !self.set.goes_on() {
            for subject in self.costs.excluded_subjects(plan, context) {
                context.participants.exclude(subject, None);
            }
            self.set = self.costs.next_set(plan, context);
        }
        self.costs.extend(&mut self.set, plan, context);
        Some(self.set.number)
    }

    fn is_amid_set(&self) -> bool {
        self.set.goes_on()
    }

    fn keeps_processes(&mut self, state: BlockState) -> bool {
        self.costs.block_ended();
        self.set.block_ended(state);
        self.set.goes_on()
    }

    fn begin_block(&mut self, number: u32, _: usize) {
        self.engines.clear();
        if !self.set.block_begins() {
            // Drop the servers of an interrupted block.
            self.running.clear();
        }
        self.costs.block_begins();
        self.others = Others::default();
        self.split = Split::new(&self.cores, self.setup.plan.seed, number);
        pin_lab(&self.split);
        // Peaks found by an earlier attempt at this block do not count.
        self.peaks.forget(number);
        self.is_calibrating = number < calibrating_blocks(self.setup.plan);
    }

    fn end_block(&mut self, block: &mut BlockContext) {
        let block = &block.block;
        self.peaks
            .learn(self.setup.plan, block.number, &block.slices);
    }

    /// Returns true for load at a fraction of a peak, because the peak must be found first.
    fn comes_last(&self, point: PointId) -> bool {
        self.is_calibrating && self.setup.plan.fraction_of_peak(point).is_some()
    }

    fn begin_point(&mut self, block: &mut BlockContext, point: PointId) {
        self.costs.turns_begin();
        let number = block.block.number;
        let is_last = number + 1 == calibrating_blocks(self.setup.plan);
        if is_last && self.comes_last(point) {
            self.peaks
                .learn(self.setup.plan, number, &block.block.slices);
        }
    }

    /// Returns false if the point's load is a fraction of the server's peak, but the server has no
    /// peak or its peak is unknown.
    fn has_turns(&self, subject: SubjectId, point: PointId) -> bool {
        let plan = self.setup.plan;
        let peak = || self.peaks.peak(plan, subject, point);
        plan.fraction_of_peak(point).is_none() || !matches!(peak(), None | Some(Peak::Generator))
    }

    /// Starts a server, unless it is still running from the previous block.
    fn open(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        if let Some(server) = self.running.get_mut(&subject) {
            return Ok(server.keep_on(&self.split.server)?);
        }
        let (mut server, _) = self.setup.start(subject, &self.split.server)?;
        block.process_start(lab_model::ProcessStart {
            subject,
            startup_ns: server.process.startup_ns,
            startup_cpu_ns: server.process.startup_cpu_ns,
        })?;
        let rested = server.rest();
        self.running.insert(subject, server);
        Ok(rested?)
    }

    fn warm_up_opened(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        if self.set.is_warm() {
            return Ok(());
        }
        self.with_baseline(subject, |workload, server, baseline| {
            workload.warm_up_cases(block, (subject, server), baseline)
        })
    }

    fn rehearsed_passes(&self) -> u32 {
        let counts_requests = self.setup.plan.measure.age.is_some();
        if self.set.is_warm() || counts_requests {
            0
        } else {
            REHEARSED_PASSES
        }
    }

    fn rehearse(&mut self, block: &mut BlockContext, turn: Turn) -> Done<()> {
        self.begin_turn(block, turn)?;
        self.take_turn(block, turn)?;
        // The next turn may be at another point.
        self.engines.remove(&turn.subject);
        self.end_turn(block, turn)
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
        let server = server.expect("only running servers take turns");
        let engine = self.engines.get_mut(&subject);
        let engine = engine.expect("a turn has begun");
        let others = self.others.clocks(server.process.pid());
        server.load(engine, stretch / LEAD_IN)?;
        let (before, others_before) = (server.read()?, others.read());
        let record = server.load(engine, stretch)?;
        let (others_after, after) = (others.read(), server.read()?);
        let used_ns = others_after.max_since(&others_before);
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
            point: PointId(0),
            subject,
            pass: 0,
            metric: metric.id.to_string(),
            value,
        };
        Ok(block.record(TurnRecord::Readings(values.map(reading).collect()))?)
    }

    /// Excludes a faulty server. A server that cannot be loaded at a point is excluded only from
    /// that point. Any other fault excludes it from all points.
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

/// Shuts down a server and stores its log. Returns the values of the experiment's metrics.
fn shut_down(
    mut server: RunningServer,
    serving: &Serving,
    run: &RunWriter,
    subject: SubjectId,
    block: Option<u32>,
) -> Result<SubjectResult<Vec<f64>>, StoreError> {
    let closed = server.close(&serving.metrics);
    record_log(run, &mut server.process, subject, block)?;
    Ok(closed.and_then(|values| server.quit().map(|()| values)))
}

/// Pins this thread to the generator's cores. The generator's threads inherit them.
pub(crate) fn pin_lab(split: &Split) {
    // Without permission, the scheduler decides. Results then vary more, but stay correct.
    let _ = sys::pin(nix::unistd::Pid::from_raw(0), &split.generator);
}

/// Returns settings for the run file: the settings that a server reports, the number of verified
/// responses, and the numbers of cores of the server and the generator.
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
    settings.push(setting("verified responses", proven.responses.to_string()));
    settings
}
