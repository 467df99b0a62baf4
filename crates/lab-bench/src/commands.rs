// SPDX-License-Identifier: Apache-2.0
//! Whole commands as a way to fill blocks: every turn is one process, from its start to its end.

use crate::interrupt;
use crate::outputs::Outputs;
use crate::process::{Answer, Fault};
use crate::roster::Stop;
use crate::scratch::Scratch;
use crate::session::{BenchError, Desk, Ledger, Method, Progress};
use crate::starter::{Ended, Order, Starter};
use crate::sys;
use lab_model::{
    Batch, Commands, Cores, Exit, Pilot, Plan, PointId, Run, Sample, Setting, Subject, SubjectId,
    WarmUp,
};
use lab_plan::{Schedule, filled};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// Processes that the pilot runs of a command at a point, unless they take longer than this.
const PILOT_RUNS: usize = 3;
const PILOT_NS: u64 = 300_000_000;

/// A command that uses this much more CPU time than wall time does several things at once.
const PARALLEL: f64 = 1.1;

/// Commands that hold less CPU time than this per process are not asked whether they are parallel:
/// starting and ending are partly done by the kernel on other cores.
const LEAST_CPU_NS: u64 = 5_000_000;

/// Passes of a block in which overheads take their turns too: the first mirrored pair.
const OVERHEAD_PASSES: usize = 2;

/// The last lines of a failed command's standard error that are kept, and their bytes.
const LAST_LINES: usize = 10;
const LAST_BYTES: usize = 4096;

/// The commands of a run.
pub struct CommandTurns<'a> {
    plan: &'a Plan,
    how: &'a Commands,
    starter: Starter,
    cores: Vec<usize>,
    pilots: HashMap<(SubjectId, PointId), Pilot>,
    outputs: Option<Outputs>,
    errors: PathBuf,
    /// Whose setup was done, and so whose cleanup is due.
    set_up: HashSet<(SubjectId, PointId)>,
    left_running: HashSet<SubjectId>,
    _scratch: Scratch,
}

impl<'a> CommandTurns<'a> {
    /// Those of a plan of commands, for a run that is begun or gone on with.
    pub fn new(
        plan: &'a Plan,
        how: &'a Commands,
        run: &Run,
        scratch: Scratch,
    ) -> Result<CommandTurns<'a>, BenchError> {
        let system = |what: &str| {
            let what = what.to_owned();
            |e| BenchError::System(what, e)
        };
        let cores = sys::allowed_cores().map_err(system("the cores cannot be listed"))?;
        let starter = Starter::new().map_err(system("the process that starts commands"))?;
        let pilots = run.pilots.iter();
        Ok(CommandTurns {
            plan,
            how,
            starter,
            cores,
            pilots: pilots.map(|p| ((p.subject, p.point), p.clone())).collect(),
            outputs: how.same_output.then(|| Outputs::new(scratch.folder())),
            errors: scratch.folder().join("stderr"),
            set_up: HashSet::new(),
            left_running: HashSet::new(),
            _scratch: scratch,
        })
    }

    /// Runs the preparation and then the command: what the system says of it, and the check value of
    /// its output.
    fn turn(&mut self, place: Place, cores: &[usize]) -> Answer<(Ended, u64)> {
        let subject = &self.plan.subjects[place.subject];
        if let Some(prepare) = subject.command.as_ref().and_then(|c| c.prepare.as_ref()) {
            self.hook("prepare", prepare, place)?;
        }
        let mut order = self.order(&subject.program, place, cores);
        let compared = self.outputs.as_ref().filter(|_| !subject.overhead);
        order.output = compared.map(Outputs::fresh);
        let ended = self.starter.run(&order)?;
        if ended.timed_out {
            let seconds = order.time_limit.as_secs_f64();
            let message = format!("it did not end within {seconds} s (--time-limit)");
            return Err(self.failed("timeout", message));
        }
        if ended.code() != 0 && !self.how.ignore_failure {
            let message = format!(
                "it ended with {}; --ignore-failure measures it nevertheless",
                ended.status
            );
            return Err(self.failed("exit", message));
        }
        let of_baseline = self.plan.baseline == place.subject;
        let check = match &mut self.outputs {
            Some(outputs) if !subject.overhead => outputs.check(place.point, of_baseline)?,
            _ => 0,
        };
        Ok((ended, check))
    }

    /// Runs a line of the reader's besides the commands, on all cores and untimed.
    fn hook(&mut self, what: &'static str, program: &[String], place: Place) -> Answer<()> {
        let cores = self.cores.clone();
        let mut order = self.order(program, place, &cores);
        order.input = None;
        let ended = self.starter.run(&order)?;
        if ended.timed_out || ended.code() != 0 {
            let line = order.program.join(" ");
            let message = format!("--{what} `{line}` ended with {}", ended.status);
            return Err(self.failed(what, message));
        }
        Ok(())
    }

    fn order(&self, program: &[String], place: Place, cores: &[usize]) -> Order {
        let params = &self.plan.points[place.point].params;
        let command = self.plan.subjects[place.subject].command.as_ref();
        let folder = command.and_then(|c| c.folder.as_ref());
        Order {
            program: program.iter().map(|word| filled(word, params)).collect(),
            folder: folder.map_or_else(|| "/".into(), PathBuf::from),
            input: self.how.input.as_ref().map(PathBuf::from),
            output: None,
            errors: Some(self.errors.clone()),
            cores: cores.to_vec(),
            time_limit: Duration::from_nanos(self.plan.measure.time_limit_ns),
        }
    }

    /// A fault with what the command wrote last on its standard error.
    fn failed(&self, kind: &'static str, message: String) -> Fault {
        let text = std::fs::read(&self.errors).unwrap_or_default();
        let last = &text[text.len().saturating_sub(LAST_BYTES)..];
        let last = String::from_utf8_lossy(last);
        let lines: Vec<&str> = last.lines().collect();
        let lines = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let message = [&[message.as_str()], lines].concat().join("\n");
        Fault::Failed(kind, message)
    }

    fn set_up(&mut self, place: Place) -> Answer<()> {
        let command = self.plan.subjects[place.subject].command.as_ref();
        if let Some(setup) = command.and_then(|c| c.setup.as_ref()) {
            self.hook("setup", setup, place)?;
        }
        self.set_up.insert((place.subject, place.point));
        Ok(())
    }

    /// The first runs, on all cores: warm files, and how long the command takes.
    fn pilot(&mut self, place: Place) -> Answer<Pilot> {
        let cores = self.cores.clone();
        let mut batches: Vec<Batch> = Vec::new();
        // Whether the baseline's output changes must be known before others are blamed for it.
        let twice = self.outputs.is_some() && place.subject == self.plan.baseline;
        let least = if twice { 2 } else { 1 };
        let spent = |batches: &[Batch]| batches.iter().map(|b| b.wall_ns).sum::<u64>();
        while batches.len() < least || (batches.len() < PILOT_RUNS && spent(&batches) < PILOT_NS) {
            let (ended, _) = self.turn(place, &cores)?;
            batches.push(batch(&ended));
        }
        Ok(Pilot {
            subject: place.subject,
            point: place.point,
            operations: 1,
            warmup_batches: 0,
            class: WarmUp::Flat,
            cold_ns: batches[0].wall_ns,
            batches,
        })
    }

    /// Where the commands run: on one core, unless one of them was seen to use several at once.
    fn placed(&self) -> Cores {
        let parallel = |pilot: &Pilot| {
            pilot
                .batches
                .iter()
                .any(|b| b.cpu_ns > LEAST_CPU_NS && b.cpu_ns as f64 > b.wall_ns as f64 * PARALLEL)
        };
        let all = self.pilots.values().any(parallel);
        let found = if all { Cores::All } else { Cores::One };
        self.how.cores.unwrap_or(found)
    }

    /// Mirrored pairs of a point in every block: as many as fit into its part of the block.
    fn pairs(&self, subjects: &[SubjectId], point: PointId) -> u32 {
        let last = |&subject: &SubjectId| {
            let pilot = self.pilots.get(&(subject, point));
            pilot
                .and_then(|p| p.batches.last())
                .map_or(0, |b| b.wall_ns)
        };
        self.plan.pairs(2 * subjects.iter().map(last).sum::<u64>())
    }

    /// One turn of a block, written down.
    fn measure(&mut self, desk: &mut Desk, at: Turn, cores: &[usize]) -> Result<(), Stop> {
        let Turn { place, pass, turn } = at;
        let Place { subject, point } = place;
        let (ended, check) = match self.turn(place, cores) {
            Ok(found) => found,
            Err(fault) => return desk.fail(fault, subject, Some(point), None),
        };
        let batch = batch(&ended);
        let sample = Sample {
            point,
            subject,
            pass,
            turn,
            batch,
        };
        let exit = exit(&sample, &ended);
        desk.writer.exit(&sample, &exit, check)?;
        desk.block.samples.push(sample);
        desk.block.exits.push(exit);
        if ended.left_running && self.left_running.insert(subject) {
            desk.run.setting(&Setting {
                subject,
                point: None,
                key: "leaves processes running".into(),
                value: "yes".into(),
            })?;
        }
        Ok(())
    }

    fn pilot_all(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let of = self.plan.points.len() * self.plan.subjects.len();
        for (done, place) in self.places().into_iter().enumerate() {
            let Place { subject, point } = place;
            progress(Progress::Pilot {
                subject,
                point,
                done,
                of,
            });
            if !ledger.roster.takes_part(subject, point) {
                continue;
            }
            let known = self.pilots.contains_key(&(subject, point));
            // The other commands' output is compared with the baseline's, so that is needed anew.
            let needed = !known || (subject == self.plan.baseline && self.outputs.is_some());
            let found = self.set_up(place).and_then(|()| match needed {
                true => self.pilot(place).map(Some),
                false => Ok(None),
            });
            match found {
                Ok(Some(pilot)) if !known => {
                    self.pilots.insert((subject, point), pilot.clone());
                    ledger.pilot(pilot)?;
                }
                Ok(_) => {}
                Err(fault) => {
                    let failure = ledger.fail(fault, subject, Some(point), None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Every command at every point, the baseline first.
    fn places(&self) -> Vec<Place> {
        let baseline = self.plan.baseline;
        let others = (0..self.plan.subjects.len()).filter(|&s| s != baseline);
        let subjects: Vec<SubjectId> = [baseline].into_iter().chain(others).collect();
        let points = 0..self.plan.points.len();
        let at = |point| {
            subjects
                .iter()
                .map(move |&subject| Place { subject, point })
        };
        points.flat_map(at).collect()
    }
}

/// A command at a point.
#[derive(Clone, Copy)]
struct Place {
    subject: SubjectId,
    point: PointId,
}

/// Its place in the schedule.
#[derive(Clone, Copy)]
struct Turn {
    place: Place,
    pass: u32,
    turn: u32,
}

impl Method for CommandTurns<'_> {
    fn prepare(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        self.pilot_all(ledger, progress)?;
        let cores = match self.placed() {
            Cores::One => "one",
            Cores::All => "all",
        };
        let told = ledger.run.settings.iter().any(|s| s.key == "cores");
        let measured = |s: &Subject| !s.overhead && s.control_of.is_none();
        for subject in 0..self.plan.subjects.len() {
            if !told && measured(&self.plan.subjects[subject]) {
                ledger.setting(Setting {
                    subject,
                    point: None,
                    key: "cores".into(),
                    value: cores.into(),
                })?;
            }
        }
        Ok(())
    }

    fn block(&mut self, mut desk: Desk) -> Result<(), Stop> {
        let plan = self.plan;
        let schedule = Schedule::new(plan.seed, desk.block.number);
        let cores = match self.placed() {
            Cores::One => vec![desk.block.core as usize],
            Cores::All => self.cores.clone(),
        };
        let order = schedule.points(&plan.point_targets());
        for (done, &point) in order.iter().enumerate() {
            (desk.progress)(Progress::Point {
                block: desk.block.number,
                point,
                subject: None,
                done,
                of: order.len(),
            });
            let takes_part = |&s: &SubjectId| desk.roster.takes_part(s, point);
            let subjects: Vec<SubjectId> = (0..plan.subjects.len()).filter(takes_part).collect();
            let pairs = self.pairs(&subjects, point);
            for (pass, order) in schedule.passes(point, &subjects, pairs).enumerate() {
                for (turn, subject) in order.into_iter().enumerate() {
                    let rests = plan.subjects[subject].overhead && pass >= OVERHEAD_PASSES;
                    if rests || !desk.roster.takes_part(subject, point) {
                        continue;
                    }
                    let at = Turn {
                        place: Place { subject, point },
                        pass: pass as u32,
                        turn: turn as u32,
                    };
                    self.measure(&mut desk, at, &cores)?;
                }
            }
        }
        Ok(())
    }

    /// Cleanups run even if the reader stopped the run, and whatever the one before did.
    fn finish(&mut self, ledger: &mut Ledger) -> Result<(), Stop> {
        if interrupt::requested() {
            // The old one is still in the middle of a command, which ends with it.
            self.starter = Starter::new().map_err(|_| Stop::Interrupted)?;
            self.starter.undisturbed = true;
        }
        for place in self.places() {
            let Place { subject, point } = place;
            if !self.set_up.remove(&(subject, point)) {
                continue;
            }
            let command = self.plan.subjects[subject].command.as_ref();
            if let Some(cleanup) = command.and_then(|c| c.cleanup.as_ref())
                && let Err(fault @ Fault::Failed(..)) = self.hook("cleanup", cleanup, place)
            {
                ledger.fail(fault, subject, Some(point), None)?;
            }
        }
        Ok(())
    }
}

fn batch(ended: &Ended) -> Batch {
    Batch {
        operations: 1,
        wall_ns: ended.wall_ns,
        cpu_ns: ended.user_ns + ended.sys_ns,
        server_cpu_ns: None,
    }
}

fn exit(sample: &Sample, ended: &Ended) -> Exit {
    Exit {
        point: sample.point,
        subject: sample.subject,
        pass: sample.pass,
        user_ns: ended.user_ns,
        sys_ns: ended.sys_ns,
        peak_rss_bytes: ended.peak_rss_bytes,
        minor_faults: ended.minor_faults,
        major_faults: ended.major_faults,
        voluntary_switches: ended.voluntary_switches,
        involuntary_switches: ended.involuntary_switches,
        status: ended.code(),
    }
}
