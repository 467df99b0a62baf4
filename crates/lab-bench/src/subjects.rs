// SPDX-License-Identifier: Apache-2.0
//! Subjects that speak the protocol as a way to fill blocks: piloted, judged, and measured in batches.

use crate::block::Bench;
use crate::expected::{Expected, Outcome, compare, majority};
use crate::pilot::pilot;
use crate::process::{Answer, Fault, Process};
use crate::roster::{Stop, keep_log};
use crate::scratch::Scratch;
use crate::server::{Server, Servers};
use crate::session::{BenchError, Desk, Ledger, Method, Progress};
use crate::sqlite::Files;
use crate::sys;
use crate::target::Target;
use crate::visit::Visit;
use lab_model::{Failure, Pilot, Plan, PointId, Run, Setting, SubjectId, TargetId};
use lab_plan::Schedule;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Operations after which subjects are compared before anything is measured.
const TRIAL: u64 = 3;

/// What numbers of operations yield.
type Outcomes = Vec<(u64, Outcome)>;

/// Those who are measured, and where.
pub struct Crew<'a> {
    /// The plan.
    pub plan: &'a Plan,
    folder: &'a Path,
    pilot_core: usize,
}

/// The subjects of a run.
pub struct Subjects<'a> {
    crew: Crew<'a>,
    expected: Expected,
    pilots: HashMap<(SubjectId, PointId), Pilot>,
    targets: Vec<Target>,
    _scratch: Scratch,
}

impl Crew<'_> {
    /// Starts a subject, its working thread on this core.
    pub fn start(&self, subject: SubjectId, core: usize) -> Answer<(Process, lab_model::Process)> {
        let limit = Duration::from_nanos(self.plan.measure.time_limit_ns);
        let process = Process::start(&self.plan.subjects[subject], self.folder, limit)?;
        process.keep_on(core)?;
        let started = lab_model::Process {
            subject,
            startup_ns: process.startup_ns,
            startup_cpu_ns: process.startup_cpu_ns,
        };
        Ok((process, started))
    }

    /// Who is to blame for a fault: a subject whose server is gone did nothing wrong.
    pub fn blamed(&self, fault: Fault, targets: &[Target], point: PointId) -> Fault {
        let target = targets.get(self.plan.points[point].target);
        match (fault, target.and_then(Target::server)) {
            (Fault::Failed(kind, why), Some(server)) => match server.lost() {
                Some(lost) => Fault::ServerLost(lost),
                None => Fault::Failed(kind, why),
            },
            (fault, _) => fault,
        }
    }
}

impl<'a> Subjects<'a> {
    /// Those of a plan, for a run that is begun or gone on with. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        run: &Run,
        scratch: Scratch,
        servers: Servers,
    ) -> Result<Subjects<'a>, BenchError> {
        let cores = sys::allowed_cores()
            .map_err(|e| BenchError::System("the cores cannot be listed".into(), e))?;
        let targets = targets(plan, &scratch, servers)?;
        let pilots = run.pilots.iter();
        Ok(Subjects {
            crew: Crew {
                plan,
                folder,
                pilot_core: cores[0],
            },
            expected: Expected::default(),
            pilots: pilots.map(|p| ((p.subject, p.point), p.clone())).collect(),
            targets,
            _scratch: scratch,
        })
    }

    fn servers(&self) -> impl Iterator<Item = (TargetId, &Server)> {
        let servers = self.targets.iter().map(Target::server).enumerate();
        servers.filter_map(|(target, server)| Some((target, &**server?)))
    }

    /// Pilots what has none yet, and has subjects that do other work than most fail.
    fn pilot_points(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let plan = self.crew.plan;
        let points = Schedule::new(plan.seed, u32::MAX).points(&plan.point_targets());
        let pairs = points.iter().map(|&p| participants(plan, p).count());
        let (of, mut done) = (pairs.sum(), 0);
        for point in points {
            let mut outcomes = Vec::new();
            for subject in participants(plan, point) {
                progress(Progress::Pilot {
                    subject,
                    point,
                    done,
                    of,
                });
                done += 1;
                if !ledger.roster.takes_part(subject, point)
                    || self.pilots.contains_key(&(subject, point))
                {
                    continue;
                }
                match self.pilot_one(ledger, subject, point)? {
                    Ok(outcome) => outcomes.push((subject, outcome)),
                    Err(failure) => progress(Progress::Failed(failure)),
                }
            }
            let baseline = plan.baseline_on(plan.points[point].target);
            let wanted = majority(&outcomes, baseline);
            for (subject, outcome) in outcomes {
                if let Err(fault) = compare(wanted.unwrap_or(outcome), outcome, TRIAL) {
                    let failure = ledger.fail(fault, subject, Some(point), None)?;
                    progress(Progress::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Pilots one subject at one point: the outcome of its trial.
    fn pilot_one(
        &mut self,
        ledger: &mut Ledger,
        subject: SubjectId,
        point: PointId,
    ) -> Result<Result<Outcome, Failure>, Stop> {
        let mut process = match self.crew.start(subject, self.crew.pilot_core) {
            Ok((process, _)) => process,
            Err(fault) => return Ok(Err(ledger.fail(fault, subject, None, None)?)),
        };
        let found = self.try_point(&mut process, subject, point);
        let (pilot, outcome, settings) = match found {
            Ok(found) => found,
            Err(fault) => {
                let fault = self.crew.blamed(fault, &self.targets, point);
                return Ok(Err(ledger.fail(
                    fault,
                    subject,
                    Some(point),
                    Some(&mut process),
                )?));
            }
        };
        keep_log(&ledger.writer, &mut process, subject, None)?;
        for setting in settings {
            ledger.setting(setting)?;
        }
        self.pilots.insert((subject, point), pilot.clone());
        ledger.pilot(pilot)?;
        match process.quit() {
            Ok(()) => Ok(Ok(outcome)),
            Err(fault) => Ok(Err(ledger.fail(fault, subject, Some(point), None)?)),
        }
    }

    fn try_point(
        &self,
        process: &mut Process,
        subject: SubjectId,
        point: PointId,
    ) -> Answer<(Pilot, Outcome, Vec<Setting>)> {
        let plan = self.crew.plan;
        let (mut visit, settings) = Visit::begin(process, plan, point, &self.targets)?;
        let (mut found, _) = pilot(process, &mut visit, plan, subject, point)?;
        let outcome = visit.verify(process, TRIAL)?;
        visit.look(plan)?;
        process.close()?;
        // The control does what its original does, to the letter.
        if let Some(original) = plan.subjects[subject]
            .control_of
            .and_then(|o| self.pilots.get(&(o, point)))
        {
            found.operations = original.operations;
            found.warmup_batches = original.warmup_batches;
        }
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
            .collect();
        Ok((found, outcome, settings))
    }

    /// Has a trusted subject compute what every batch must yield.
    fn expect_outcomes(&mut self, ledger: &mut Ledger) -> Result<(), Stop> {
        let plan = self.crew.plan;
        for point in 0..plan.points.len() {
            let baseline = plan.baseline_on(plan.points[point].target);
            let by_trust = [baseline].into_iter().chain(participants(plan, point));
            for judge in by_trust {
                if !ledger.roster.takes_part(judge, point) {
                    continue;
                }
                match self.outcomes_by(judge, point) {
                    Ok((outcomes, content)) => {
                        if let Some(content) = content {
                            self.expected.insert_content(point, content);
                        }
                        for (operations, outcome) in outcomes {
                            self.expected.insert(point, operations, outcome);
                        }
                        break;
                    }
                    Err(fault) => {
                        let fault = self.crew.blamed(fault, &self.targets, point);
                        drop(ledger.fail(fault, judge, Some(point), None)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// What every number of operations yields, and what one leaves in a fresh target.
    fn outcomes_by(&self, judge: SubjectId, point: PointId) -> Answer<(Outcomes, Option<String>)> {
        let plan = self.crew.plan;
        let mut counts: Vec<u64> = (0..plan.subjects.len())
            .filter_map(|s| self.pilots.get(&(s, point)).map(|p| p.operations))
            .collect();
        counts.sort();
        counts.dedup();
        let (mut process, _) = self.crew.start(judge, self.crew.pilot_core)?;
        let (mut visit, _) = Visit::begin(&mut process, plan, point, &self.targets)?;
        visit.verify(&mut process, 1)?;
        visit.look(plan)?;
        let content = visit.content(plan)?;
        let outcomes: Answer<Outcomes> = counts
            .into_iter()
            .map(|operations| Ok((operations, visit.verify(&mut process, operations)?)))
            .collect();
        visit.look(plan)?;
        Ok((outcomes?, content))
    }
}

/// The plan's targets: files, and the servers that were started for it.
fn targets(plan: &Plan, scratch: &Scratch, servers: Servers) -> Result<Vec<Target>, BenchError> {
    let mut servers: HashMap<TargetId, Server> = servers.0.into_iter().collect();
    let target = |(id, target): (TargetId, &lab_model::Target)| match servers.remove(&id) {
        Some(server) => Ok(Target::Server(Rc::new(server))),
        None if target.kind.is_service() => Ok(Target::Absent),
        None => Ok(Target::Files(Files::new(
            scratch.folder(),
            target,
            plan.seed,
        )?)),
    };
    plan.targets.iter().enumerate().map(target).collect()
}

/// The subjects that have a part in a point.
fn participants(plan: &Plan, point: PointId) -> impl Iterator<Item = SubjectId> + '_ {
    (0..plan.subjects.len()).filter(move |&subject| plan.takes_part(subject, point))
}

impl Method for Subjects<'_> {
    fn prepare(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        for (target, server) in self.servers() {
            server.keep_off(Some(self.crew.pilot_core));
            ledger.service(target, server.facts())?;
        }
        self.pilot_points(ledger, progress)?;
        self.expect_outcomes(ledger)
    }

    /// Starts the servers anew that do not answer.
    fn restore(&mut self) -> Result<(), String> {
        let mut lost = self.servers().filter(|(_, server)| server.lost().is_some());
        lost.try_for_each(|(_, server)| server.restart())
    }

    fn block(&mut self, desk: Desk) -> Result<(), Stop> {
        Bench {
            crew: &self.crew,
            targets: &self.targets,
            pilots: &self.pilots,
            expected: &self.expected,
            desk,
        }
        .block()
    }

    /// Its processes end with every block.
    fn finish(&mut self, _: &mut Ledger) -> Result<(), Stop> {
        Ok(())
    }
}
