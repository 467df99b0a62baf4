// SPDX-License-Identifier: Apache-2.0
//! Subjects that speak the protocol as a way to fill blocks: piloted, judged, and measured in batches.

use crate::block::Bench;
use crate::expected::{Expected, Outcome, compare, majority};
use crate::pilot::pilot;
use crate::process::{Answer, Fault, Process};
use crate::roster::{Stop, keep_log};
use crate::scratch::Scratch;
use crate::session::{BenchError, Desk, Ledger, Method, Progress};
use crate::sys;
use crate::target::Targets;
use crate::visit::Visit;
use lab_model::{Failure, Pilot, Plan, PointId, Run, Setting, SubjectId};
use lab_plan::Schedule;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Operations after which subjects are compared before anything is measured.
const TRIAL: u64 = 3;

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
    targets: Option<Targets>,
    _scratch: Scratch,
}

impl Crew<'_> {
    /// Starts a subject, its working thread on this core.
    pub fn start(&self, subject: SubjectId, core: usize) -> Answer<(Process, lab_model::Process)> {
        let limit = Duration::from_nanos(self.plan.measure.time_limit_ns);
        let process = Process::start(&self.plan.subjects[subject], self.folder, limit)?;
        sys::pin(process.thread, &[core]).map_err(|e| {
            Fault::Failed(
                "start",
                format!("its thread cannot be kept on core {core}: {e}"),
            )
        })?;
        let started = lab_model::Process {
            subject,
            startup_ns: process.startup_ns,
            startup_cpu_ns: process.startup_cpu_ns,
        };
        Ok((process, started))
    }
}

impl<'a> Subjects<'a> {
    /// Those of a plan, for a run that is begun or gone on with. `folder` is the project's.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        run: &Run,
        scratch: Scratch,
    ) -> Result<Subjects<'a>, BenchError> {
        let cores = sys::allowed_cores()
            .map_err(|e| BenchError::System("the cores cannot be listed".into(), e))?;
        let targets = plan.target.as_ref();
        let targets = targets
            .map(|t| Targets::new(scratch.folder(), t, plan.seed))
            .transpose()?;
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

    /// Pilots what has none yet, and has subjects that do other work than most fail.
    fn pilot_points(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        let plan = self.crew.plan;
        let points = Schedule::new(plan.seed, u32::MAX).points(plan.points.len());
        let of = points.len() * plan.subjects.len();
        let mut done = 0;
        for point in points {
            let mut outcomes = Vec::new();
            for subject in 0..plan.subjects.len() {
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
            let wanted = majority(&outcomes, plan.baseline);
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
        let (mut visit, settings) = Visit::begin(process, plan, point, self.targets.as_ref())?;
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
            let by_trust = [plan.baseline].into_iter().chain(0..plan.subjects.len());
            for judge in by_trust {
                if !ledger.roster.takes_part(judge, point) {
                    continue;
                }
                match self.outcomes_by(judge, point) {
                    Ok(outcomes) => {
                        for (operations, outcome) in outcomes {
                            self.expected.insert(point, operations, outcome);
                        }
                        break;
                    }
                    Err(fault) => drop(ledger.fail(fault, judge, Some(point), None)?),
                }
            }
        }
        Ok(())
    }

    fn outcomes_by(&self, judge: SubjectId, point: PointId) -> Answer<Vec<(u64, Outcome)>> {
        let plan = self.crew.plan;
        let mut counts: Vec<u64> = (0..plan.subjects.len())
            .filter_map(|s| self.pilots.get(&(s, point)).map(|p| p.operations))
            .collect();
        counts.sort();
        counts.dedup();
        let (mut process, _) = self.crew.start(judge, self.crew.pilot_core)?;
        let (mut visit, _) = Visit::begin(&mut process, plan, point, self.targets.as_ref())?;
        let outcomes = counts
            .into_iter()
            .map(|operations| Ok((operations, visit.verify(&mut process, operations)?)))
            .collect();
        visit.look(plan)?;
        outcomes
    }
}

impl Method for Subjects<'_> {
    fn prepare(
        &mut self,
        ledger: &mut Ledger,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Stop> {
        self.pilot_points(ledger, progress)?;
        self.expect_outcomes(ledger)
    }

    fn block(&mut self, desk: Desk) -> Result<(), Stop> {
        Bench {
            crew: &self.crew,
            targets: self.targets.as_ref(),
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
