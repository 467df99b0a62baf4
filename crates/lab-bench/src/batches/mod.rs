// SPDX-License-Identifier: Apache-2.0
//! Measures subjects that implement the protocol: runs pilots, verifies the subjects' work, and
//! measures it in batches.

mod expected;
mod listing;
pub mod open_case;
mod pilot;
mod round_trips;
pub mod running_subject;
pub mod surroundings;
mod thread_spread;
mod yardstick;

use crate::driver::context::{BlockContext, Progress, RunContext, Stop, TurnRecord, record_log};
use crate::driver::session::{BenchError, usable_cores};
use crate::driver::workload::{Done, Opening, Turn, TurnResult, Workload};
use crate::host::scratch::Scratch;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::{BatchResult, SubjectProcess};
use crate::targets::TargetMaker;
use crate::targets::database::{Server, Servers};
use expected::{Checked, Expected, compare, majority};
use lab_model::{
    Batch, Cores, Failure, Latencies, Metric, Outcome, Pilot, Plan, PointId, Reading, Run, Sample,
    Setting, SubjectId, TargetId, Timeline,
};
use lab_plan::Schedule;
use lab_stats::pilot_time::PilotTime;
use listing::listings;
use open_case::{LEAD_IN, OpenCase};
use pilot::pilot;
use round_trips::round_trips;
use running_subject::{BatchStart, RunningSubject, WarmUpPlan, resources};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};
use surroundings::Surroundings;
use yardstick::Yardstick;

/// The number of operations in the trial that compares the work of subjects before any measurement.
const TRIAL: u64 = 3;

/// The minimum warm-up at each point is 1 / `WARM_UP_AGAIN` of the pilot's warm-up.
///
/// A process runs this minimum even if it is already warm from other points of the case.
const WARM_UP_AGAIN: u32 = 4;

/// The number of mirrored pairs after which a fresh process takes over a subject's turns, if the
/// subject is cheap to start.
///
/// The random addresses of a process's code, stack and heap change its speed by 2 %. Using multiple
/// processes averages this effect out.
const PAIRS_OF_A_PROCESS: u32 = 10;

/// The maximum time in ns for the start and warm-up of a subject that counts as cheap to start.
const CHEAP_NS: u64 = 20_000_000;

/// The outcome for each number of operations.
type Outcomes = Vec<(u64, Checked)>;

/// The workload of a run whose subjects run batches.
pub struct BatchWorkload<'a> {
    plan: &'a Plan,
    starting: BatchStart<'a>,
    expected: Expected,
    pilots: HashMap<(SubjectId, PointId), Pilot>,
    cores: Vec<usize>,
    /// The core on which the block is measured.
    core: usize,
    running: HashMap<SubjectId, RunningSubject>,
    surroundings: Surroundings,
    _scratch: Scratch,
}

impl<'a> BatchWorkload<'a> {
    /// Creates the workload of a plan for a new or resumed run. `folder` is the project's directory.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        run: &Run,
        scratch: Scratch,
        servers: Servers,
    ) -> Result<BatchWorkload<'a>, BenchError> {
        let cores = usable_cores()?;
        let surroundings = Surroundings::new(plan, folder, &scratch, servers)?;
        let pilots = run.pilots.iter();
        Ok(BatchWorkload {
            plan,
            starting: BatchStart {
                plan,
                folder,
                temporary: scratch.temporary(),
            },
            core: cores[0],
            cores,
            running: HashMap::new(),
            expected: Expected::default(),
            pilots: pilots.map(|p| ((p.subject, p.point), p.clone())).collect(),
            surroundings,
            _scratch: scratch,
        })
    }

    /// Attributes a fault to the target's server if the server no longer responds.
    fn attribute(&self, fault: Fault, point: PointId) -> Fault {
        let target = self
            .surroundings
            .targets
            .get(self.plan.points[point].target);
        match (fault, target.and_then(TargetMaker::server)) {
            (Fault::Failed(kind, message), Some(server)) => match server.lost() {
                Some(lost) => Fault::ServerLost(lost),
                None => Fault::Failed(kind, message),
            },
            (fault, _) => fault,
        }
    }

    fn warming<'s>(&'s self, pilot: &'s Pilot) -> WarmUpPlan<'s> {
        WarmUpPlan {
            plan: self.plan,
            surroundings: &self.surroundings,
            expected: &self.expected,
            pilot,
            warm: self.original(pilot),
        }
    }

    fn servers(&self) -> impl Iterator<Item = (TargetId, &Server)> {
        let targets = self.surroundings.targets.enumerated();
        targets.filter_map(|(id, target)| Some((id, &**target.server()?)))
    }

    fn keep_listings(
        &self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        for (subject, listing) in listings(&self.plan.subjects, &run.run, self.starting.folder) {
            match listing {
                Ok(setting) => run.setting(setting)?,
                Err(why) => {
                    let failure = run.fail(Fault::Failed("start", why), subject, None, None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Runs the missing pilots of all subjects, point by point. A subject whose work differs from
    /// the majority's is recorded as failed.
    fn pilot_points(
        &mut self,
        run: &mut RunContext,
        began: Instant,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let plan = self.plan;
        let points = Schedule::new(plan.seed, u32::MAX).points(&plan.point_targets());
        let pairs = points.iter().map(|&p| participants(plan, p).count());
        let (of, mut done) = (pairs.sum::<usize>(), 0);
        let budget = plan.measure.budget_ns.map(Duration::from_nanos);
        let time = budget.map(|budget| PilotTime::new(budget, of));
        let earlier = Duration::from_nanos(run.run.pilots_ns.unwrap_or(0));
        let spent = || earlier + began.elapsed();
        let may_repeat = !run.pilots_are_final && time.is_none_or(|time| !time.is_used_up(earlier));
        let mut kept: HashMap<SubjectId, SubjectProcess> = HashMap::new();
        for point in points {
            self.pin_server(point, self.cores[0]);
            let mut outcomes = Vec::new();
            let target = plan.points[point].target;
            kept.retain(|&subject, _| plan.subjects[subject].target == target);
            let baseline = plan.baseline_for(target);
            let mut subjects: Vec<SubjectId> = participants(plan, point).collect();
            // Pilot the baseline first, because the other subjects alternate with it.
            subjects.sort_by_key(|&subject| subject != baseline);
            let mut yardstick = None;
            for subject in subjects {
                progress(Progress::Pilot {
                    subject,
                    point,
                    done,
                    of,
                });
                let left = of - done;
                done += 1;
                let max_time = time.map(|time| time.max_time(spent(), left));
                let found = self.pilots.get(&(subject, point));
                if !run.participants.takes_part(subject, point)
                    || found
                        .is_some_and(|found| !may_repeat || !pilot::is_repeated(found, max_time))
                {
                    continue;
                }
                let has_turns = subject != baseline && plan.subjects[subject].control_of.is_none();
                if has_turns && yardstick.is_none() && self.has_yardstick(run, baseline, point) {
                    let process = kept.remove(&baseline);
                    yardstick = self.yardstick(run, (baseline, point), process)?;
                }
                let yardstick_in_turns = yardstick.as_mut().filter(|_| has_turns);
                let process = kept.remove(&subject);
                match self.pilot_one(
                    run,
                    (subject, point),
                    process,
                    max_time,
                    yardstick_in_turns,
                )? {
                    Ok((outcome, process)) => {
                        outcomes.push((subject, outcome));
                        kept.extend(process.map(|process| (subject, process)));
                    }
                    Err(failure) => progress(Progress::Failed(failure)),
                }
            }
            let core = (plan.case(point).cores == Cores::All).then_some(self.cores[0]);
            let process = yardstick.and_then(|yardstick| yardstick.close(core));
            if let Some(process) = process.or_else(|| kept.remove(&baseline)) {
                let max_time = time.map(|time| time.max_time(spent(), of - done));
                match end_or_keep(process, max_time) {
                    Ok(process) => kept.extend(process.map(|process| (baseline, process))),
                    Err(fault) => drop(run.fail(fault, baseline, Some(point), None)?),
                }
            }
            if plan.yields_by_state(point) {
                outcomes.clear();
            }
            let majority_outcome = majority(&outcomes, baseline);
            for (subject, outcome) in outcomes {
                if let Err(fault) = compare(majority_outcome.unwrap_or(outcome), outcome, TRIAL) {
                    let failure = run.fail(fault, subject, Some(point), None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Keeps a point's server and the fixtures off the measured core, unless the point's case runs
    /// on all cores.
    fn pin_server(&self, point: PointId, core: usize) {
        let target = self
            .surroundings
            .targets
            .get(self.plan.points[point].target);
        let measured_core = match self.plan.case(point).cores {
            Cores::One => Some(core),
            Cores::All => None,
        };
        if let Some(server) = target.and_then(TargetMaker::server) {
            server.keep_off(measured_core);
        }
        let mut fixtures = self.surroundings.fixtures.borrow_mut();
        fixtures.keep_off(measured_core);
    }

    /// Returns true if the pilots of other subjects alternate with the baseline at a point.
    ///
    /// This requires that the subjects' times are compared, that no faults are injected, and that
    /// no fixture has states that subjects select. Such states are set only during turns in blocks.
    fn has_yardstick(&self, run: &RunContext, baseline: SubjectId, point: PointId) -> bool {
        let plan = self.plan;
        self.pilots.contains_key(&(baseline, point))
            && run.participants.takes_part(baseline, point)
            && plan.fixed_operations(point).is_none()
            && !plan.has_fault(point)
            && !plan.has_states_of_subjects()
            && !plan.case(point).uncompared
    }

    /// Opens a point in the baseline and warms it up. Reuses the process of the baseline's pilot if it is still
    /// available.
    fn yardstick(
        &self,
        run: &mut RunContext,
        (baseline, point): (SubjectId, PointId),
        process: Option<SubjectProcess>,
    ) -> Result<Option<Yardstick>, Stop> {
        let pilot = &self.pilots[&(baseline, point)];
        // A reused process is already warm from its pilot.
        let had = process.as_ref().map_or(0, |_| pilot.warmup_batches);
        let batches = self.warm_up_batches(pilot, had);
        let process = match process {
            Some(process) => Ok(process),
            None => {
                let started = self.starting.process(baseline, self.cores[0]);
                started.map(|(process, _)| process)
            }
        };
        let opened = process.and_then(|mut process| {
            let (visit, _) = self.warming(pilot).visit(&mut process, batches)?;
            Ok(Yardstick::new(process, visit, pilot.operations))
        });
        match opened {
            Ok(yardstick) => Ok(Some(yardstick)),
            Err(fault) => {
                let fault = self.attribute(fault, point);
                drop(run.fail(fault, baseline, Some(point), None)?);
                Ok(None)
            }
        }
    }

    /// Runs the pilot of one subject at one point, in a new process or in the process of the
    /// previous pilot.
    ///
    /// Returns the outcome of the trial, and the process if the next pilot can reuse it.
    fn pilot_one(
        &mut self,
        run: &mut RunContext,
        (subject, point): (SubjectId, PointId),
        process: Option<SubjectProcess>,
        max_time: Option<Duration>,
        yardstick: Option<&mut Yardstick>,
    ) -> Result<Result<(Checked, Option<SubjectProcess>), Failure>, Stop> {
        let is_fresh = process.is_none();
        let process = match process {
            Some(mut process) => process.wake().map(|()| process),
            None => {
                let started = self.starting.process(subject, self.cores[0]);
                started.map(|(process, _)| process)
            }
        };
        let mut process = match process {
            Ok(process) => process,
            Err(fault) => return Ok(Err(run.fail(fault, subject, None, None)?)),
        };
        let trial = self.try_point(
            &mut process,
            (subject, point),
            is_fresh,
            max_time,
            yardstick,
        );
        let (pilot, outcome, settings) = match trial {
            Ok(trial) => trial,
            Err(fault) => {
                let fault = self.attribute(fault, point);
                return Ok(Err(run.fail(
                    fault,
                    subject,
                    Some(point),
                    Some(&mut process),
                )?));
            }
        };
        record_log(&run.writer, &mut process, subject, None)?;
        for setting in settings {
            run.setting(setting)?;
        }
        self.pilots.insert((subject, point), pilot.clone());
        run.pilot(pilot)?;
        let is_baseline = subject == self.plan.baseline_for(self.plan.points[point].target);
        let ended = if is_baseline {
            // The other subjects' pilots alternate with this process.
            process.freeze().map(|()| Some(process))
        } else {
            end_or_keep(process, max_time)
        };
        match ended {
            Ok(kept) => Ok(Ok((outcome, kept))),
            Err(fault) => Ok(Err(run.fail(fault, subject, Some(point), None)?)),
        }
    }

    /// Runs a subject's pilot at a point. `is_fresh` is true if the process has not opened any
    /// other point.
    fn try_point(
        &self,
        process: &mut SubjectProcess,
        (subject, point): (SubjectId, PointId),
        is_fresh: bool,
        max_time: Option<Duration>,
        yardstick: Option<&mut Yardstick>,
    ) -> SubjectResult<(Pilot, Checked, Vec<Setting>)> {
        let plan = self.plan;
        let (mut visit, settings) =
            OpenCase::begin(process, plan, (subject, point), &self.surroundings)?;
        // A control repeats exactly what its original subject did.
        let original = plan.subjects[subject].control_of;
        let original = original.and_then(|original| self.pilots.get(&(original, point)));
        let pilot_time = original.map(|_| Duration::ZERO).or(max_time);
        let (mut pilot, _) = pilot(process, &mut visit, plan, (subject, point), pilot_time)?;
        if let Some(yardstick) = yardstick {
            yardstick.compare(plan, process, &mut visit, &mut pilot, pilot_time)?;
        }
        let outcome = visit.verify(process, plan, TRIAL)?;
        visit.check_work(plan)?;
        process.close()?;
        if plan.case(point).cores == Cores::All {
            process.keep_on(self.cores[0])?;
        }
        if let Some(original) = original {
            pilot.operations = original.operations;
            pilot.warmup_batches = original.warmup_batches;
            pilot.class = original.class;
        }
        if !is_fresh {
            pilot.cold_ns = 0;
        }
        let round_trips = round_trips(process, plan, (subject, point), &self.surroundings)?;
        let hello = process.hello.args().iter().map(|(k, v)| (None, k, v));
        let opened = settings.iter().map(|(k, v)| (Some(point), k, v));
        let settings = hello
            .chain(opened)
            .filter(|(_, key, _)| !["thread", "protocol", "subject"].contains(&key.as_str()))
            .map(|(point, key, value)| Setting {
                subject,
                point,
                key: key.clone(),
                value: value.clone(),
            })
            .chain(round_trips)
            .collect();
        Ok((pilot, outcome, settings))
    }

    /// Returns the minimum and maximum number of warm-up batches at a point. After the minimum,
    /// warm-up continues only while the process compiles.
    ///
    /// `had` is the number of warm-up batches that the process has already run at other points of
    /// the case.
    fn warm_up_batches(&self, pilot: &Pilot, had: u32) -> RangeInclusive<u32> {
        let own = pilot.warmup_batches;
        let (min, all) = match (had, pilot.cold_ns > 0) {
            (0, true) => (own, own),
            // Batches at a fixed rate need no warm-up.
            (0, false) if own > 0 => {
                let all = own.max(self.fresh_warm_up(pilot));
                (all, all)
            }
            (_, true) => {
                let least = own.div_ceil(WARM_UP_AGAIN);
                (own.saturating_sub(had).max(least), own)
            }
            (_, false) => (own, own),
        };
        let paced = self.original(pilot);
        let max = paced.max_warm_up(self.plan.measure.max_warm_up_ns);
        min.min(max)..=all.min(max)
    }

    /// Returns the number of warm-up batches that a fresh process needs. A pilot whose process was
    /// already warm from other points does not show this number.
    ///
    /// The number is the longest warm-up of the subject's pilots in fresh processes, preferably for
    /// the same case.
    fn fresh_warm_up(&self, pilot: &Pilot) -> u32 {
        let case = |point: PointId| self.plan.points[point].case;
        let fresh = self.pilots.values();
        let fresh = fresh.filter(|p| p.subject == pilot.subject && p.cold_ns > 0);
        let (same, other): (Vec<&Pilot>, Vec<&Pilot>) =
            fresh.partition(|p| case(p.point) == case(pilot.point));
        let known = if same.is_empty() { other } else { same };
        let max_batches = known.iter().map(|p| p.warmup_batches).max();
        max_batches.unwrap_or(1)
    }

    /// Returns the pilot that shows the subject in its warm state. For a control, this is the
    /// baseline's pilot, because the control's own pilot is short.
    fn original<'p>(&'p self, pilot: &'p Pilot) -> &'p Pilot {
        let original = self.plan.subjects[pilot.subject].control_of;
        let original = original.and_then(|original| self.pilots.get(&(original, pilot.point)));
        original.unwrap_or(pilot)
    }

    /// Runs a trusted subject to compute the expected results of every batch.
    fn expect_outcomes(&mut self, run: &mut RunContext) -> Result<(), Stop> {
        let plan = self.plan;
        for point in plan.points.ids() {
            let baseline = plan.baseline_for(plan.points[point].target);
            let candidates = [baseline].into_iter().chain(participants(plan, point));
            for trusted in candidates {
                if !run.participants.takes_part(trusted, point) {
                    continue;
                }
                match self.outcomes_by(trusted, point) {
                    Ok((first, outcomes, content)) => {
                        self.expected.insert_first(point, first);
                        if let Some(content) = content {
                            self.expected.insert_content(point, content);
                        }
                        for (operations, outcome) in outcomes {
                            self.expected.insert(point, operations, outcome);
                        }
                        break;
                    }
                    Err(fault) => {
                        let fault = self.attribute(fault, point);
                        drop(run.fail(fault, trusted, Some(point), None)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs a trusted subject at a point. Returns the outcome of its first operation on a fresh
    /// target, the outcome for each number of operations, and the content that the first operation
    /// leaves.
    fn outcomes_by(
        &self,
        trusted: SubjectId,
        point: PointId,
    ) -> SubjectResult<(Checked, Outcomes, Option<String>)> {
        let plan = self.plan;
        let mut counts: Vec<u64> = plan
            .subjects
            .ids()
            .filter_map(|s| self.pilots.get(&(s, point)).map(|p| p.operations))
            .collect();
        counts.sort();
        counts.dedup();
        if plan.yields_by_state(point) {
            counts.clear();
        }
        let (mut process, _) = self.starting.process(trusted, self.cores[0])?;
        let (mut visit, _) =
            OpenCase::begin(&mut process, plan, (trusted, point), &self.surroundings)?;
        let first = visit.verify(&mut process, plan, 1)?;
        visit.check_work(plan)?;
        let content = visit.content(plan)?;
        let outcomes: SubjectResult<Outcomes> = counts
            .into_iter()
            .map(|operations| Ok((operations, visit.verify(&mut process, plan, operations)?)))
            .collect();
        visit.check_work(plan)?;
        Ok((first, outcomes?, content))
    }
}

/// Shuts down a pilot's process, or freezes it for reuse by the next pilot. `max_time` is the
/// maximum duration of that pilot.
fn end_or_keep(
    mut process: SubjectProcess,
    max_time: Option<Duration>,
) -> SubjectResult<Option<SubjectProcess>> {
    process.wake()?;
    if pilot::keeps_process(process.startup_ns, max_time) {
        process.freeze()?;
        return Ok(Some(process));
    }
    process.quit()?;
    Ok(None)
}

/// Returns the subjects that take part in a point.
fn participants(plan: &Plan, point: PointId) -> impl Iterator<Item = SubjectId> + '_ {
    plan.subjects
        .ids()
        .filter(move |&subject| plan.takes_part(subject, point))
}

impl Workload for BatchWorkload<'_> {
    fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// Returns the metrics that the experiment defines.
    fn metrics(&self) -> Vec<Metric> {
        let cases = self.plan.cases.iter();
        cases.flat_map(|case| case.metrics.clone()).collect()
    }

    fn prepare(
        &mut self,
        run: &mut RunContext,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let began = Instant::now();
        sys::pin_to_core(self.cores[0]);
        for (target, server) in self.servers() {
            server.keep_off(Some(self.cores[0]));
            run.service(target, server.facts())?;
        }
        self.keep_listings(run, progress)?;
        self.pilot_points(run, began, progress)?;
        self.expect_outcomes(run)?;
        let pilots = self.pilots.len();
        if let Some(note) = pilot::overrun(self.plan, pilots, began.elapsed()) {
            progress(Progress::Note(&note));
        }
        Ok(())
    }

    fn outcomes(&self) -> Vec<Outcome> {
        self.expected.outcomes()
    }

    /// Restarts the servers that no longer respond.
    fn restore(&mut self) -> Result<(), String> {
        let mut lost = self.servers().filter(|(_, server)| server.lost().is_some());
        lost.try_for_each(|(_, server)| server.restart())
    }

    fn begin_block(&mut self, _: u32, core: usize) {
        // Drop the subjects of an interrupted block.
        self.running.clear();
        self.surroundings.fixtures.borrow_mut().begin_block();
        self.core = core;
        sys::pin_to_core(core);
    }

    fn opening(&self) -> Opening {
        Opening::Point
    }

    fn open(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        if !self.running.contains_key(&subject) {
            let (process, started) = self.starting.process(subject, self.core)?;
            block.process_start(started)?;
            self.running.insert(subject, RunningSubject::new(process));
        }
        Ok(())
    }

    /// Keeps the server and the fixtures off the measured core, unless the point's case runs on all
    /// cores.
    fn begin_point(&mut self, _: &mut BlockContext, point: PointId) {
        self.pin_server(point, self.core);
    }

    fn warm_up(&mut self, _: &mut BlockContext, subject: SubjectId, point: PointId) -> Done<()> {
        let Some(mut running) = self.running.remove(&subject) else {
            return Ok(());
        };
        let pilot = &self.pilots[&(subject, point)];
        let case = self.plan.points[point].case;
        let had = running.warmed.get(&case).copied().unwrap_or(0);
        let batches = self.warm_up_batches(pilot, had);
        let warm = self.warming(pilot).visit(&mut running.process, batches);
        let warm = warm.map(|(visit, batches)| {
            running.visit = Some(visit);
            running.warmed.insert(case, had + batches);
        });
        self.running.insert(subject, running);
        Ok(warm?)
    }

    fn passes(&self, point: PointId, subjects: &[SubjectId]) -> u32 {
        let pilots = subjects
            .iter()
            .filter_map(|&s| self.pilots.get(&(s, point)));
        // At a fixed rate, the pilot has one operation, and a batch has the length of a turn.
        let fixed_ns = self.plan.fixed_operations(point);
        let fixed_ns = fixed_ns.map(|_| self.plan.turn_ns(point));
        let batch_ns = |p: &Pilot| fixed_ns.or_else(|| self.original(p).batch_ns());
        let pass_ns: u64 = pilots.filter_map(batch_ns).sum();
        2 * self.plan.pairs(2 * (pass_ns + pass_ns / LEAD_IN))
    }

    /// Starts a fresh process to take over the turns of each subject that is cheap to start.
    ///
    /// The processes are started in the random order of the coming pass. With a fixed order, the
    /// times of two identical subjects differed by 0.5 %.
    fn before_pass(&mut self, _: &mut BlockContext, turn: Turn, remaining: u32) -> Done<()> {
        let Turn {
            subject,
            point,
            pass,
            ..
        } = turn;
        // A fresh process for only a few remaining passes would cost more than it gains.
        if pass == 0
            || !pass.is_multiple_of(2 * PAIRS_OF_A_PROCESS)
            || remaining < PAIRS_OF_A_PROCESS
        {
            return Ok(());
        }
        let pilot = &self.pilots[&(subject, point)];
        let batches = self.warm_up_batches(pilot, 0);
        let Some(running) = self.running.get_mut(&subject) else {
            return Ok(());
        };
        let warm_up_ns = u64::from(*batches.end()) * self.plan.turn_ns(point);
        if running.process.startup_ns + warm_up_ns > CHEAP_NS {
            return Ok(());
        }
        running.standby = None;
        let (mut process, _) = self.starting.process(subject, self.core)?;
        let warming = self.warming(pilot);
        let (visit, _) = warming.visit(&mut process, batches)?;
        if let Some(running) = self.running.get_mut(&subject) {
            running.standby = Some((process, visit));
        }
        Ok(())
    }

    /// Sets the fixture states that the subject selects. This happens outside of the measured time.
    fn begin_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<()> {
        let mut fixtures = self.surroundings.fixtures.borrow_mut();
        Ok(fixtures.prepare_turn(self.plan, turn.subject, turn.point)?)
    }

    /// Wakes a subject for one batch, freezes it again, and verifies its work.
    fn take_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        let Turn {
            subject,
            point,
            pass,
            turn: number,
        } = turn;
        let operations = self.pilots[&(subject, point)].operations;
        let running = self.running.get_mut(&subject);
        let running = running.expect("only running subjects take turns");
        // An outage in another subject's turn breaks this subject's connections.
        let has_outage = self.plan.outage_s(point).is_some();
        let lead_in = match self.plan.fixed_operations(point) {
            Some(_) if !has_outage => 0,
            _ => (operations / LEAD_IN).max(1),
        };
        let result = running.batch(self.plan, lead_in, operations)?;
        self.expected.compare(point, &result)?;
        let batch = Batch {
            operations,
            wall_ns: result.wall_ns,
            cpu_ns: result.cpu_ns,
            server_cpu_ns: result.server_cpu_ns,
        };
        let record = TurnRecord::Batch {
            sample: Sample {
                point,
                subject,
                pass,
                turn: number,
                batch,
            },
            units: result.units,
            check: result.check,
            readings: readings(self.plan, turn, &result),
            latencies: result.latencies.map(|counts| Latencies {
                point,
                subject,
                pass,
                counts,
            }),
            timeline: result.timeline.map(|longest_ns| Timeline {
                point,
                subject,
                pass,
                longest_ns,
            }),
        };
        Ok(record.into())
    }

    /// Closes the point and records the resources of the process.
    fn close(&mut self, block: &mut BlockContext, subject: SubjectId, point: PointId) -> Done<()> {
        let (plan, core) = (self.plan, self.core);
        if let Some(running) = self.running.get_mut(&subject) {
            running.standby = None;
            let (usage, server_bytes) = running.close(plan, point, core)?;
            block.resources(resources(subject, point, &usage, server_bytes))?;
        }
        Ok(())
    }

    fn quit(&mut self, block: &mut BlockContext, subject: SubjectId) -> Done<()> {
        if let Some(mut running) = self.running.remove(&subject) {
            block.log(&mut running.process, subject)?;
            running.process.quit()?;
        }
        Ok(())
    }

    fn exclude(
        &mut self,
        block: &mut BlockContext,
        fault: Fault,
        subject: SubjectId,
        point: Option<PointId>,
    ) -> Result<(), Stop> {
        let fault = match point {
            Some(point) => self.attribute(fault, point),
            None => fault,
        };
        let running = self.running.remove(&subject);
        let mut process = running.map(RunningSubject::worker);
        block.fail(fault, subject, point, process.as_mut())
    }
}

/// Returns the batch's values of its case's metrics. Skips metrics of events that did not occur in
/// the batch.
fn readings(plan: &Plan, turn: Turn, result: &BatchResult) -> Vec<Reading> {
    let metrics = plan.case(turn.point).metrics.iter();
    let reported = metrics.zip(&result.metrics);
    // A batch that finished before its outage began reports NaN for it.
    let reported = reported.filter(|(_, value)| value.is_finite());
    reported
        .map(|(metric, &value)| Reading {
            point: turn.point,
            subject: turn.subject,
            pass: turn.pass,
            metric: metric.id.to_string(),
            value,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Case, Point, Subject, WarmUp};

    const TURN_NS: u64 = 1_000_000;

    /// Returns a plan with two points of a case, a subject, its control, and another subject.
    fn plan() -> Plan {
        let subject = |control_of| Subject {
            control_of,
            ..Subject::default()
        };
        let mut plan = Plan {
            subjects: [None, Some(SubjectId(0)), None].map(subject).into(),
            cases: [Case::default()].into(),
            points: vec![Point::default(); 2].into(),
            ..Plan::default()
        };
        plan.measure.turn_ns = TURN_NS;
        plan.measure.pairs = 40;
        plan.measure.block_ns = Some(2 * 20 * TURN_NS);
        plan.measure.max_warm_up_ns = 300 * TURN_NS;
        plan
    }

    /// Returns a pilot. If `cold_ns` is 0, the pilot's process had already opened another point.
    fn pilot((subject, point): (SubjectId, PointId), warmup_batches: u32, cold_ns: u64) -> Pilot {
        let batch = Batch {
            operations: 1,
            wall_ns: TURN_NS,
            ..Batch::default()
        };
        Pilot {
            subject,
            point,
            operations: 1,
            warmup_batches,
            class: WarmUp::Warming,
            cold_ns,
            batches: vec![batch; 20],
            ages: Vec::new(),
        }
    }

    fn workload<'p>(plan: &'p Plan, pilots: Vec<Pilot>) -> BatchWorkload<'p> {
        let run = Run {
            pilots,
            ..Run::default()
        };
        let scratch = Scratch::new(None).expect("a folder");
        BatchWorkload::new(plan, Path::new("."), &run, scratch, Servers::default())
            .expect("a workload")
    }

    #[test]
    fn a_process_needs_less_warm_up_after_other_points_of_its_case() {
        let plan = plan();
        let pilots = vec![
            pilot((SubjectId(0), PointId(0)), 120, 5),
            pilot((SubjectId(0), PointId(1)), 30, 0),
            pilot((SubjectId(2), PointId(0)), 2000, 5),
        ];
        let workload = workload(&plan, pilots);
        let batches = |cell, had| {
            let pilot = &workload.pilots[&cell];
            workload.warm_up_batches(pilot, had)
        };
        assert_eq!(batches((SubjectId(0), PointId(0)), 0), 120..=120);
        assert_eq!(batches((SubjectId(0), PointId(0)), 1), 119..=120);
        assert_eq!(batches((SubjectId(0), PointId(0)), 50), 70..=120);
        assert_eq!(batches((SubjectId(0), PointId(0)), 120), 30..=120);
        assert_eq!(batches((SubjectId(0), PointId(0)), 500), 30..=120);
        // This pilot reused another pilot's process.
        assert_eq!(batches((SubjectId(0), PointId(1)), 120), 30..=30);
        assert_eq!(batches((SubjectId(0), PointId(1)), 0), 120..=120);
        // The warm-up is never longer than the plan's maximum.
        assert_eq!(batches((SubjectId(2), PointId(0)), 0), 300..=300);
        assert_eq!(batches((SubjectId(2), PointId(0)), 300), 300..=300);
    }

    #[test]
    fn a_control_is_paced_like_its_original() {
        let plan = plan();
        let original = pilot((SubjectId(0), PointId(0)), 400, 5);
        let mut control = pilot((SubjectId(1), PointId(0)), 400, 5);
        control.batches.truncate(4);
        // The control's own pilot has only a few batches, and they are cold.
        control.batches[3].wall_ns = 50 * TURN_NS;
        let workload = workload(&plan, vec![original, control]);
        let [own, copy] = [0, 1].map(|subject| {
            let pilot = &workload.pilots[&(SubjectId(subject), PointId(0))];
            workload.warm_up_batches(pilot, 0)
        });
        assert_eq!((own.clone(), copy), (300..=300, own));
        let passes = |subjects: [u32; 2]| workload.passes(PointId(0), &subjects.map(SubjectId));
        assert_eq!(passes([0, 1]), passes([0, 0]));
    }
}
