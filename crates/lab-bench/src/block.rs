// SPDX-License-Identifier: Apache-2.0
//! One block: fresh processes, every point in random order, subjects in mirrored turns on one core,
//! frozen while idle.

use crate::expected::Expected;
use crate::process::{Answer, Process, Ran};
use crate::procfs;
use crate::roster::{Stop, keep_log};
use crate::server::Server;
use crate::session::{Desk, Progress};
use crate::subjects::Crew;
use crate::target::Target;
use crate::visit::{Visit, latencies_told};
use lab_model::{Batch, Cores, Latencies, Pilot, PointId, Resources, Sample, SubjectId};
use lab_plan::Schedule;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The part of a batch that follows the waking and is not recorded.
const LEAD_IN: u64 = 10;

/// What a block needs to know of its run.
pub struct Bench<'a, 'd> {
    /// The plan, the processes' folder, the cores.
    pub crew: &'a Crew<'a>,
    /// The targets, in the plan's order.
    pub targets: &'a [Target],
    /// What the pilot found.
    pub pilots: &'a HashMap<(SubjectId, PointId), Pilot>,
    /// What the work must yield.
    pub expected: &'a Expected,
    /// The block, and what it is written down with.
    pub desk: Desk<'d>,
}

/// The part of its warm-up that a process needs when it has visited another point of the case.
const WARM_UP_AGAIN: u32 = 4;

/// After so many mirrored pairs a subject that starts at no cost is relieved by a fresh process.
/// Where the system happens to put a process's code, stack and heap changes its speed by 2 % for as
/// long as it lives; averaged over several processes that is a smaller part of a block's scatter.
const STINT: u32 = 10;

/// Start and warm-up of a process within this time cost nothing.
const CHEAP_NS: u64 = 20_000_000;

/// The warm-up for a point takes no longer than about this, so that operations of a tenth of a second do
/// not take minutes.
const WARM_UP_NS: u64 = 300_000_000;

/// A subject that sits in a block, with its case open or not.
struct Seat {
    process: Process,
    visit: Option<Visit>,
    warm_cases: HashSet<usize>,
    /// A fresh process that takes its turns for a while.
    relief: Option<(Process, Visit)>,
}

type Seats = HashMap<SubjectId, Seat>;

impl Bench<'_, '_> {
    /// Takes all samples of a block.
    pub fn block(mut self) -> Result<(), Stop> {
        let plan = self.crew.plan;
        let schedule = Schedule::new(plan.seed, self.desk.block.number);
        let mut seats = Seats::new();
        let order = schedule.points(&plan.point_targets());
        let mut place = None;
        for (done, &point) in order.iter().enumerate() {
            let target = plan.points[point].target;
            if place.replace(target).is_some_and(|before| before != target) {
                self.leave(std::mem::take(&mut seats))?;
            }
            self.place_server(point);
            let (number, of) = (self.desk.block.number, order.len());
            let step = |subject| Progress::Point {
                block: number,
                point,
                subject,
                done,
                of,
            };
            let everyone: Vec<SubjectId> = (0..plan.subjects.len()).collect();
            for subject in schedule.openings(point, &everyone) {
                (self.desk.progress)(step(Some(subject)));
                self.prepare(&mut seats, subject, point)?;
            }
            let mut taking_part: Vec<SubjectId> = seats
                .iter()
                .filter(|(_, seat)| seat.visit.is_some())
                .map(|(&s, _)| s)
                .collect();
            taking_part.sort();
            (self.desk.progress)(step(None));
            self.passes(&mut seats, &schedule, point, &taking_part)?;
            for subject in taking_part {
                self.conclude(&mut seats, subject, point)?;
            }
        }
        self.leave(seats)
    }

    /// Keeps the server off the measured core, unless the point has all cores for everyone.
    fn place_server(&self, point: PointId) {
        let plan = self.crew.plan;
        let target = self.targets.get(plan.points[point].target);
        if let Some(server) = target.and_then(Target::server) {
            let own = match plan.case(point).cores {
                Cores::One => Some(self.desk.block.core as usize),
                Cores::All => None,
            };
            server.keep_off(own);
        }
    }

    /// Has the subjects of a target end.
    fn leave(&mut self, seats: Seats) -> Result<(), Stop> {
        for (subject, mut seat) in seats {
            keep_log(
                self.desk.run,
                &mut seat.process,
                subject,
                Some(self.desk.block.number),
            )?;
            if let Err(fault) = seat.process.quit() {
                self.desk.fail(fault, subject, None, None)?;
            }
        }
        Ok(())
    }

    /// Opens a point, has the subject prove its work, warms it up and freezes it.
    fn prepare(
        &mut self,
        seats: &mut Seats,
        subject: SubjectId,
        point: PointId,
    ) -> Result<(), Stop> {
        if !self.desk.roster.takes_part(subject, point) {
            return Ok(());
        }
        self.seat(seats, subject)?;
        let Some(seat) = seats.get_mut(&subject) else {
            return Ok(());
        };
        let pilot = &self.pilots[&(subject, point)];
        let known_case = !seat.warm_cases.insert(self.crew.plan.points[point].case);
        let batches = pilot
            .warmup_batches
            .div_ceil(if known_case { WARM_UP_AGAIN } else { 1 })
            .min((WARM_UP_NS / last_ns(pilot).unwrap_or(1).max(1)).max(1) as u32);
        match self.warm_up(pilot, batches, &mut seat.process) {
            Ok(visit) => seat.visit = Some(visit),
            Err(fault) => self.dismiss(fault, seats, subject, point)?,
        }
        Ok(())
    }

    /// Opens a point in a process, has it prove its work, runs batches that do not count, and freezes it.
    fn warm_up(&self, pilot: &Pilot, batches: u32, process: &mut Process) -> Answer<Visit> {
        let plan = self.crew.plan;
        process.wake()?;
        let (mut visit, _) = Visit::begin(process, plan, pilot.point, self.targets)?;
        visit.verify(process, 1)?;
        visit.look(plan)?;
        let content = visit.content(plan)?;
        self.expected.compare_content(pilot.point, content)?;
        for _ in 0..batches {
            visit.run(process, pilot.operations)?;
            visit.look(plan)?;
        }
        visit.stop_counting_opens();
        process.freeze()?;
        Ok(visit)
    }

    /// Starts a subject that has no process, or keeps why it cannot be started.
    fn seat(&mut self, seats: &mut Seats, subject: SubjectId) -> Result<(), Stop> {
        let Entry::Vacant(place) = seats.entry(subject) else {
            return Ok(());
        };
        match self.crew.start(subject, self.desk.block.core as usize) {
            Ok((process, started)) => {
                self.desk.writer.process(&started)?;
                self.desk.block.processes.push(started);
                place.insert(Seat {
                    process,
                    visit: None,
                    warm_cases: HashSet::new(),
                    relief: None,
                });
                Ok(())
            }
            Err(fault) => self.desk.fail(fault, subject, None, None),
        }
    }

    fn passes(
        &mut self,
        seats: &mut Seats,
        schedule: &Schedule,
        point: PointId,
        subjects: &[SubjectId],
    ) -> Result<(), Stop> {
        let pairs = self.pairs(subjects, point);
        let passes = schedule.passes(point, subjects, pairs);
        for (pass, order) in passes.enumerate() {
            let (pass, left) = (pass as u32, 2 * pairs - pass as u32);
            // A fresh process for a few last passes would cost more than it tells.
            if pass > 0 && pass.is_multiple_of(2 * STINT) && left >= STINT {
                self.relieve(seats, point, &order)?;
            }
            for (turn, subject) in order.into_iter().enumerate() {
                let Some(seat) = seats.get_mut(&subject) else {
                    continue;
                };
                let operations = self.pilots[&(subject, point)].operations;
                match take_turn(self.crew, self.expected, seat, point, operations) {
                    Ok(ran) => {
                        let sample = Sample {
                            point,
                            subject,
                            pass,
                            turn: turn as u32,
                            batch: Batch {
                                operations,
                                wall_ns: ran.wall_ns,
                                cpu_ns: ran.cpu_ns,
                                server_cpu_ns: ran.server_cpu_ns,
                            },
                        };
                        self.keep(sample, ran)?;
                    }
                    Err(fault) => self.dismiss(fault, seats, subject, point)?,
                }
            }
        }
        Ok(())
    }

    /// Mirrored pairs of a point in every block.
    fn pairs(&self, subjects: &[SubjectId], point: PointId) -> u32 {
        let pilots = subjects
            .iter()
            .filter_map(|&s| self.pilots.get(&(s, point)));
        let pass_ns: u64 = pilots.filter_map(last_ns).sum();
        self.crew.plan.pairs(2 * (pass_ns + pass_ns / LEAD_IN))
    }

    /// Keeps a sample, in the file first.
    fn keep(&mut self, sample: Sample, ran: Ran) -> Result<(), Stop> {
        let Ran { units, check, .. } = ran;
        match ran.latencies {
            None => self.desk.writer.sample(&sample, units, check)?,
            Some(counts) => {
                let latencies = Latencies {
                    point: sample.point,
                    subject: sample.subject,
                    pass: sample.pass,
                    counts,
                };
                self.desk
                    .writer
                    .latencies(&sample, units, check, &latencies)?;
                self.desk.block.latencies.push(latencies);
            }
        }
        self.desk.block.samples.push(sample);
        Ok(())
    }

    /// Gives the turns of each subject that starts at no cost to a fresh process. They are started
    /// in the random order of the coming pass: of two copies of one program, the one that was always
    /// started first differed from the other by half a percent.
    fn relieve(
        &mut self,
        seats: &mut Seats,
        point: PointId,
        subjects: &[SubjectId],
    ) -> Result<(), Stop> {
        for &subject in subjects {
            let pilot = &self.pilots[&(subject, point)];
            let Some(seat) = seats.get_mut(&subject) else {
                continue;
            };
            let warm_up_ns = u64::from(pilot.warmup_batches) * self.crew.plan.turn_ns(point);
            if seat.process.startup_ns + warm_up_ns > CHEAP_NS {
                continue;
            }
            let fresh = || {
                let (mut process, _) = self.crew.start(subject, self.desk.block.core as usize)?;
                let visit = self.warm_up(pilot, pilot.warmup_batches, &mut process)?;
                Ok((process, visit))
            };
            seat.relief = None;
            match fresh() {
                Ok(relief) => seat.relief = Some(relief),
                Err(fault) => self.dismiss(fault, seats, subject, point)?,
            }
        }
        Ok(())
    }

    /// Closes the point and reads what the process holds.
    fn conclude(
        &mut self,
        seats: &mut Seats,
        subject: SubjectId,
        point: PointId,
    ) -> Result<(), Stop> {
        let Some(seat) = seats.get_mut(&subject) else {
            return Ok(());
        };
        seat.relief = None;
        let (plan, core) = (self.crew.plan, self.desk.block.core as usize);
        let close = |seat: &mut Seat| {
            let usage = procfs::usage(seat.process.pid()).map_err(crate::process::gone)?;
            let server = seat.visit.as_ref().and_then(Visit::server);
            let server_bytes = server.and_then(Server::memory_bytes);
            seat.process.wake()?;
            if let Some(visit) = &mut seat.visit {
                // Once more with its openings counted: a subject cannot tell when they are not.
                visit.count_opens(plan)?;
                visit.run(&mut seat.process, 1)?;
                visit.look(plan)?;
            }
            seat.process.close()?;
            if plan.case(point).cores == Cores::All {
                seat.process.keep_on(core)?;
            }
            seat.process.freeze()?;
            seat.visit = None;
            Ok((usage, server_bytes))
        };
        match close(seat) {
            Ok((usage, server_bytes)) => {
                let resources = Resources {
                    server_bytes,
                    ..resources(subject, point, &usage)
                };
                self.desk.writer.resources(&resources)?;
                self.desk.block.resources.push(resources);
                Ok(())
            }
            Err(fault) => self.dismiss(fault, seats, subject, point),
        }
    }

    /// Keeps a fault and ends the process that it came from.
    fn dismiss(
        &mut self,
        fault: crate::Fault,
        seats: &mut Seats,
        subject: SubjectId,
        point: PointId,
    ) -> Result<(), Stop> {
        let fault = self.crew.blamed(fault, self.targets, point);
        let mut seat = seats.remove(&subject);
        let worker = seat.as_mut().map(|s| match &mut s.relief {
            Some((process, _)) => process,
            None => &mut s.process,
        });
        self.desk.fail(fault, subject, Some(point), worker)
    }
}

/// Wakes a subject for one batch and freezes it again; then the lab looks at what it did.
fn take_turn(
    crew: &Crew,
    expected: &Expected,
    seat: &mut Seat,
    point: PointId,
    operations: u64,
) -> Answer<Ran> {
    let (process, visit) = match &mut seat.relief {
        Some((process, visit)) => (process, visit),
        None => {
            let open = seat.visit.as_mut();
            (
                &mut seat.process,
                open.expect("only subjects with an open case take turns"),
            )
        }
    };
    process.wake()?;
    visit.run(process, (operations / LEAD_IN).max(1))?;
    let ran = visit.run(process, operations)?;
    process.freeze()?;
    visit.look(crew.plan)?;
    latencies_told(crew.plan, point, &ran)?;
    expected.compare(point, &ran)?;
    Ok(ran)
}

/// How long the pilot's last batch took, which has as many operations as those of the blocks.
fn last_ns(pilot: &Pilot) -> Option<u64> {
    pilot.batches.last().map(|b| b.wall_ns)
}

fn resources(subject: SubjectId, point: PointId, usage: &procfs::Usage) -> Resources {
    Resources {
        subject,
        point,
        rss_bytes: usage.rss_bytes,
        peak_rss_bytes: usage.peak_rss_bytes,
        threads: usage.threads,
        user_ns: usage.user_ns,
        sys_ns: usage.sys_ns,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        server_bytes: None,
    }
}
