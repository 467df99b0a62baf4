// SPDX-License-Identifier: Apache-2.0
//! Subjects that are servers as a way to fill blocks: proven, warmed up, and loaded in turns.

mod dialogue;
mod files;
mod others;
mod peaks;
mod pilot;
mod proof;
mod site;
mod sockets;
mod split;

use crate::load::with_server;
use crate::process::{Answer, Fault};
use crate::protocol::Reply;
use crate::roster::{Stop, keep_log};
use crate::scratch::Scratch;
use crate::session::{BenchError, Desk, Ledger, Method, Progress};
use crate::sys;
use files::ServedFiles;
use lab_load::Engine;
use lab_model::{Pilot, Plan, PointId, Run, Serving, Setting, Slice, SubjectId};
use lab_plan::Schedule;
use lab_store::{RunWriter, StoreError};
use others::Others;
use peaks::Peaks;
use pilot::Warming;
use proof::Proven;
use site::{Ground, Site};
use split::Split;
pub use split::generator_threads;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

/// The part of a visit before it that is not recorded.
const LEAD_IN: u32 = 10;

/// How often a visit is made that others disturb.
const TRIES: usize = 3;

/// The part of a block's visits that may be made again: a machine that is always disturbed does not become
/// quieter by waiting.
const AGAIN: f64 = 0.25;

/// The servers of a run.
pub struct Servings<'a> {
    ground: Ground<'a>,
    cores: Vec<usize>,
    /// By subject and case.
    pilots: HashMap<(SubjectId, usize), Pilot>,
    proven: HashMap<SubjectId, Proven>,
    peaks: Peaks,
    _scratch: Scratch,
}

/// The servers that take part in a block.
type Sites = BTreeMap<SubjectId, Site>;

impl<'a> Servings<'a> {
    /// Those of a plan, for a run that is begun or gone on with. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        serving: &'a Serving,
        folder: &'a Path,
        run: &Run,
        scratch: Scratch,
    ) -> Result<Servings<'a>, BenchError> {
        let system = |what: &str| {
            let what = what.to_owned();
            |e| BenchError::System(what, e)
        };
        let cores = sys::allowed_cores().map_err(system("the cores cannot be listed"))?;
        let place = scratch.folder().join("files");
        let files = ServedFiles::make(place, &serving.files, plan.seed)
            .map_err(system("the files that servers serve cannot be made"))?;
        let pilots = run.pilots.iter();
        let by_case = |p: &Pilot| ((p.subject, plan.points[p.point].case), p.clone());
        Ok(Servings {
            ground: Ground {
                plan,
                serving,
                folder,
                files,
            },
            cores,
            pilots: pilots.map(by_case).collect(),
            proven: HashMap::new(),
            peaks: Peaks::of(plan, run),
            _scratch: scratch,
        })
    }

    /// Starts a server, has it prove itself, and pilots what has no pilot yet.
    fn introduce(
        &mut self,
        subject: SubjectId,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let split = Split::of(&self.cores, self.ground.plan.seed, 0);
        keep_lab_on(&split);
        let (mut site, opened) = match self.ground.start(subject, &split.server) {
            Ok(started) => started,
            Err(fault) => return self.refuse(fault, subject, None, ledger, progress),
        };
        let known = ledger.run.settings.iter().any(|s| s.subject == subject);
        let (proven, pilots) = match self.get_to_know(subject, &mut site, &split, progress) {
            Ok(found) => found,
            Err(fault) => return self.refuse(fault, subject, Some(site), ledger, progress),
        };
        for pilot in pilots {
            let case = self.ground.plan.points[pilot.point].case;
            self.pilots.insert((subject, case), pilot.clone());
            ledger.pilot(pilot)?;
        }
        if !known {
            settings(subject, &site, &opened, &proven, &split)
                .into_iter()
                .try_for_each(|setting| ledger.setting(setting))?;
        }
        self.proven.insert(subject, proven);
        match leave(site, &ledger.writer, subject, None)? {
            Ok(()) => Ok(()),
            Err(fault) => self.refuse(fault, subject, None, ledger, progress),
        }
    }

    /// What a server proved, and the pilots of those cases that have none yet.
    fn get_to_know(
        &self,
        subject: SubjectId,
        site: &mut Site,
        split: &Split,
        progress: &mut dyn FnMut(Progress),
    ) -> Answer<(Proven, Vec<Pilot>)> {
        let proven = self.ground.prove(site)?;
        let plan = self.ground.plan;
        let mut pilots = Vec::new();
        for (case, body) in proven.bodies.iter().enumerate() {
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
                    ..pilot::pilot(&self.ground, site, &split.server, point, body)?
                });
            }
        }
        Ok((proven, pilots))
    }

    fn refuse(
        &self,
        fault: Fault,
        subject: SubjectId,
        site: Option<Site>,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let mut process = site.map(|site| site.process);
        let failure = ledger.fail(fault, subject, None, process.as_mut())?;
        progress(Progress::Failed(failure));
        Ok(())
    }
}

impl Method for Servings<'_> {
    fn prepare(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        for subject in 0..self.ground.plan.subjects.len() {
            let points = 0..self.ground.plan.points.len();
            let wanted = |point| ledger.roster.takes_part(subject, point);
            if !self.proven.contains_key(&subject) && points.into_iter().any(wanted) {
                self.introduce(subject, ledger, progress)?;
            }
        }
        Ok(())
    }

    fn block(&mut self, desk: Desk) -> Result<(), Stop> {
        let split = Split::of(&self.cores, self.ground.plan.seed, desk.block.number);
        keep_lab_on(&split);
        if desk.block.number == 0 {
            // What a block found that is redone is not the run's.
            self.peaks = Peaks::default();
        }
        let mut bench = Bench {
            ground: &self.ground,
            pilots: &self.pilots,
            proven: &self.proven,
            peaks: &self.peaks,
            split,
            others: Others::default(),
            desk,
        };
        let found = bench.block()?;
        self.peaks.get_or_keep(found);
        Ok(())
    }

    /// Its processes end with every block.
    fn finish(&mut self, _: &mut Ledger) -> Result<(), Stop> {
        Ok(())
    }
}

/// What a block needs to know of its run.
struct Bench<'a, 'd> {
    ground: &'a Ground<'a>,
    pilots: &'a HashMap<(SubjectId, usize), Pilot>,
    proven: &'a HashMap<SubjectId, Proven>,
    peaks: &'a Peaks,
    split: Split,
    others: Others,
    desk: Desk<'d>,
}

/// A place in a block.
#[derive(Clone, Copy)]
struct Place {
    subject: SubjectId,
    point: PointId,
    pass: u32,
}

impl Bench<'_, '_> {
    /// Takes all slices of a block: the peaks that it found, if none were known.
    fn block(&mut self) -> Result<Peaks, Stop> {
        let plan = self.ground.plan;
        let schedule = Schedule::new(plan.seed, self.desk.block.number);
        let mut order = schedule.points(&plan.point_targets());
        if self.peaks.is_empty() {
            // Parts of a peak can only be offered once it is known.
            order.sort_by_key(|&point| plan.part_of_peak(point).is_some());
        }
        let mut sites = self.seat(&schedule)?;
        let mut found = Peaks::default();
        for (done, &point) in order.iter().enumerate() {
            (self.desk.progress)(Progress::Point {
                block: self.desk.block.number,
                point,
                subject: None,
                done,
                of: order.len(),
            });
            let first = self.desk.block.slices.len();
            self.point(&mut sites, &schedule, point, &found)?;
            found.see(plan, &self.desk.block.slices[first..]);
        }
        self.leave(sites)?;
        Ok(found)
    }

    /// Starts all servers and warms them up, one after the other.
    fn seat(&mut self, schedule: &Schedule) -> Result<Sites, Stop> {
        let mut everyone: Vec<SubjectId> = self.proven.keys().copied().collect();
        everyone.sort_unstable();
        let mut sites = Sites::new();
        let points = self.ground.plan.points.len();
        for subject in schedule.openings(0, &everyone) {
            if !(0..points).any(|point| self.desk.roster.takes_part(subject, point)) {
                continue;
            }
            let mut site = match self.ground.start(subject, &self.split.server) {
                Ok((site, _)) => site,
                Err(fault) => {
                    self.desk.fail(fault, subject, None, None)?;
                    continue;
                }
            };
            self.keep_start(subject, &site)?;
            match self.warm_up(subject, &mut site) {
                Ok(()) => {
                    sites.insert(subject, site);
                }
                Err(fault) => self
                    .desk
                    .fail(fault, subject, None, Some(&mut site.process))?,
            }
        }
        Ok(sites)
    }

    fn keep_start(&mut self, subject: SubjectId, site: &Site) -> Result<(), Stop> {
        let started = lab_model::Process {
            subject,
            startup_ns: site.process.startup_ns,
            startup_cpu_ns: site.process.startup_cpu_ns,
        };
        self.desk.writer.process(&started)?;
        self.desk.block.processes.push(started);
        Ok(())
    }

    /// Case after case, as the pilot did.
    fn warm_up(&mut self, subject: SubjectId, site: &mut Site) -> Answer<()> {
        for (case, body) in self.proven[&subject].bodies.iter().enumerate() {
            let Some(pilot) = self.pilots.get(&(subject, case)) else {
                continue;
            };
            (self.desk.progress)(Progress::Point {
                block: self.desk.block.number,
                point: pilot.point,
                subject: Some(subject),
                done: 0,
                of: self.ground.plan.points.len(),
            });
            let mut warming =
                Warming::new(self.ground, site, &self.split.server, pilot.point, body)?;
            warming.go_on(site, pilot.warmup_batches as usize)?;
        }
        site.process.keep_all_on(&self.split.server)?;
        site.rest()
    }

    /// All servers at a point, in mirrored passes. Connections are kept from one pass to the other.
    fn point(
        &mut self,
        sites: &mut Sites,
        schedule: &Schedule,
        point: PointId,
        found: &Peaks,
    ) -> Result<(), Stop> {
        let here = |&subject: &SubjectId| self.desk.roster.takes_part(subject, point);
        let subjects: Vec<SubjectId> = sites.keys().copied().filter(here).collect();
        let pairs = self.ground.plan.measure.pairs;
        let mut engines: HashMap<SubjectId, Engine> = HashMap::new();
        for (pass, order) in (0..).zip(schedule.passes(point, &subjects, pairs)) {
            for subject in order {
                let takes_part = self.desk.roster.takes_part(subject, point);
                let Some(site) = sites.get_mut(&subject).filter(|_| takes_part) else {
                    continue;
                };
                let place = Place {
                    subject,
                    point,
                    pass,
                };
                match self.turn(site, engines.remove(&subject), place, found) {
                    Ok((engine, slices)) => {
                        engines.insert(subject, engine);
                        self.keep(slices)?;
                    }
                    Err(fault) => self.dismiss(fault, sites, place)?,
                }
            }
        }
        Ok(())
    }

    /// A server on which no load can be put at a point has failed there; any other has failed.
    fn dismiss(&mut self, fault: Fault, sites: &mut Sites, place: Place) -> Result<(), Stop> {
        let Place { subject, point, .. } = place;
        if let (Fault::Failed("load", _), Some(site)) = (&fault, sites.get_mut(&subject))
            && site.rest().is_ok()
        {
            let process = Some(&mut site.process);
            return self.desk.fail(fault, subject, Some(point), process);
        }
        let mut process = sites.remove(&subject).map(|site| site.process);
        self.desk.fail(fault, subject, None, process.as_mut())
    }

    /// Visits a server, and once more while others disturb it and visits may still be made again.
    fn turn(
        &mut self,
        site: &mut Site,
        engine: Option<Engine>,
        place: Place,
        found: &Peaks,
    ) -> Answer<(Engine, Vec<Slice>)> {
        site.process.wake()?;
        let mut engine = match engine {
            Some(engine) => engine,
            None => self.engine(site, place, found)?,
        };
        let most = AGAIN * (self.desk.block.slices.len() + 1) as f64;
        let left = (most as usize).saturating_sub(self.desk.block.redone_visits as usize);
        let mut slices = Vec::new();
        loop {
            let slice = self.visit(site, &mut engine, place)?;
            let used_ns = slice.foreign_ns.unwrap_or(0);
            let disturbed = others::disturbs(used_ns, slice.wall_ns);
            slices.push(slice);
            if !disturbed || slices.len() == TRIES || slices.len() > left {
                break;
            }
        }
        site.rest()?;
        Ok((engine, slices))
    }

    fn visit(&mut self, site: &mut Site, engine: &mut Engine, place: Place) -> Answer<Slice> {
        let others = self.others.clocks(site.process.pid());
        let how = self.ground.plan.load.as_ref().expect("it has servers");
        let stretch = Duration::from_nanos(how.stretch_ns);
        site.load(engine, stretch / LEAD_IN)?;
        let (before, others_before) = (site.read()?, others.read());
        let record = site.load(engine, stretch)?;
        let (others_after, after) = (others.read(), site.read()?);
        let slice = Slice {
            foreign_ns: Some(others_after.most_since(&others_before)),
            ..record.slice(place.point, place.subject, place.pass)
        };
        Ok(with_server(slice, Some(before), Some(after)))
    }

    /// Of a turn's visits the last counts.
    fn keep(&mut self, mut visits: Vec<Slice>) -> Result<(), Stop> {
        let counts = visits.pop().expect("a visit has been made");
        for visit in &visits {
            self.desk.writer.redone_slice(visit)?;
            self.desk.block.redone_visits += 1;
        }
        self.desk.writer.slice(&counts)?;
        self.desk.block.slices.push(counts);
        Ok(())
    }

    fn engine(&self, site: &Site, place: Place, found: &Peaks) -> Answer<Engine> {
        let Place { subject, point, .. } = place;
        let plan = self.ground.plan;
        let body = &self.proven[&subject].bodies[plan.points[point].case];
        let rate = match plan.part_of_peak(point) {
            None => None,
            Some(part) => {
                let peak = self.peaks.at(plan, subject, point);
                let peak = peak.or_else(|| found.at(plan, subject, point));
                let none = || Fault::Failed("load", "it served nothing, so it has no peak".into());
                Some(part * peak.ok_or_else(none)?)
            }
        };
        self.ground.generator(site, point, body, rate)
    }

    /// Has all servers end as they should.
    fn leave(&mut self, sites: Sites) -> Result<(), Stop> {
        for (subject, site) in sites {
            let block = Some(self.desk.block.number);
            if let Err(fault) = leave(site, self.desk.run, subject, block)? {
                self.desk.fail(fault, subject, None, None)?;
            }
        }
        Ok(())
    }
}

/// Has a server end as it should, and keeps what it logged.
fn leave(
    mut site: Site,
    run: &RunWriter,
    subject: SubjectId,
    block: Option<u32>,
) -> Result<Answer<()>, StoreError> {
    let closed = site.close();
    keep_log(run, &mut site.process, subject, block)?;
    Ok(closed.and_then(|()| site.quit()))
}

/// The generator's threads run where the thread does that starts them.
fn keep_lab_on(split: &Split) {
    // Without the right to do so the scheduler decides: less even, not wrong.
    let _ = sys::pin(nix::unistd::Pid::from_raw(0), &split.generator);
}

/// What a server said of itself, what was proven, and how many cores it has.
fn settings(
    subject: SubjectId,
    site: &Site,
    opened: &Reply,
    proven: &Proven,
    split: &Split,
) -> Vec<Setting> {
    let own = |key: &str, value: String| Setting {
        subject,
        point: None,
        key: key.into(),
        value,
    };
    let said = |reply: &Reply, skip: &[&str]| {
        let args = reply.args().iter();
        let args = args.filter(|(key, _)| !skip.contains(&key.as_str()));
        args.map(|(key, value)| own(key, value.clone()))
            .collect::<Vec<_>>()
    };
    let mut settings = said(&site.process.hello, &["protocol", "subject", "thread"]);
    settings.extend(said(opened, &["url"]));
    settings.push(own("server cores", split.server.len().to_string()));
    settings.push(own("generator cores", split.generator.len().to_string()));
    if split.server == split.generator {
        settings.push(own("cores shared", "yes".into()));
    }
    settings.push(own("proven answers", proven.answers.to_string()));
    settings
}
