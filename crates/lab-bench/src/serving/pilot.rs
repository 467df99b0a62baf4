// SPDX-License-Identifier: Apache-2.0
//! The warm-up of a server, and its pilot: at which level it is steady, and how many requests that takes.
//!
//! The speed of a shared machine changes while a server warms up. So after each stretch of load on it the baseline's
//! server is loaded, too, and what counts is the cost of a request as a multiple of the baseline's.

use super::proof::Proven;
use super::running_server::{RunningServer, ServerSetup};
use crate::fault::SubjectResult;
use crate::pilot::PilotTime;
use lab_load::Engine;
use lab_model::{Age, Batch, Pilot, Plan, PointId, WarmUp};
use lab_stats::order;
use lab_stats::steady::{Steady, log_levels, steady_rounds};
use std::time::{Duration, Instant};

/// The part of a round that is judged while a server still compiles: as many connections as servers are compared with.
const CROWDED: Duration = Duration::from_millis(50);

/// The same once it compiles nothing any more.
const LOADED: Duration = Duration::from_millis(80);

/// The part of a round in which the baseline's server is loaded.
const BASELINE: Duration = Duration::from_millis(20);

/// The part of a round over one connection, kept alive, and then over a new one for each request, if the case has both.
/// Without it a virtual machine, whose compiler competes with full load, compiles for a minute instead of ten seconds.
const ALONE: Duration = Duration::from_millis(120);

/// The idle end of a round: a server that computes now still compiles. It is shorter than the 50 ms after which
/// HotSpot forgets to compile what is not called any more.
const IDLE: Duration = Duration::from_millis(30);

/// The length of a warm-up's round, about, by which a plan counts.
const ROUND: Duration = Duration::from_millis(200);

/// A server that compiled has finished after so many rounds in a row at whose end it was idle.
const QUIET: usize = 8;

/// One that never compiled has nothing to finish after so many.
const NEVER_BUSY: usize = 3;

/// Connections of the crowded part, or as near to it as the plan has points.
const CONNECTIONS: usize = 64;

/// A process is at the steady level if its last rounds cost at most so much more, in logarithms.
const TOLERANCE: f64 = 0.05;
const LAST_ROUNDS: usize = 6;

/// So much slower than in the pilot the machine may be where no baseline shows its speed.
const MACHINE_FACTOR: f64 = 1.3;

/// The most rounds that bring a warm process back to its level after it was idle.
const MAX_REFRESHING: usize = 10;

/// A process that is not at the level after so many times the requests that the pilot needed is measured all the same:
/// its turns show it.
const MAX_FACTOR: u32 = 2;
const MAX_EXTRA: Duration = Duration::from_secs(2);

/// A stretch of load on the way to an age: the age is exceeded by less than that.
const STEP: Duration = Duration::from_millis(2);

/// A pilot goes on until so many requests in this part of its longest time, as a divisor.
const TOLD_REQUESTS: u64 = 100_000;
const TOLD_PART: u32 = 4;

/// All pilots of a run with a budget take about this part of it, as a divisor.
const PILOTS_PART: u32 = 3;
/// The least that each has.
const MIN_PILOT: Duration = Duration::from_secs(3);

/// The point at which a case is piloted: in a closed loop, with connections kept alive if the case has them.
pub fn point(plan: &Plan, case: usize) -> Option<PointId> {
    let points = 0..plan.points.len();
    let closed = points.filter(|&p| plan.points[p].case == case && !plan.is_open(p));
    closed.min_by_key(|&p| {
        (
            !plan.keeps_alive(p),
            plan.connections(p).abs_diff(CONNECTIONS),
        )
    })
}

/// How long a pilot goes on at the most, whatever the budget is.
pub fn most(plan: &Plan) -> Duration {
    ROUND * plan.measure.max_warmup
}

/// How long the pilot of one server and case goes on at the most, where `left` of all `pilots` are left, this one included,
/// and those before took `spent`. One that needs more than its share may have a part of another's, which will need less.
pub fn max_length(plan: &Plan, spent: Duration, left: usize, pilots: usize) -> Duration {
    let Some(budget_ns) = plan.measure.budget_ns else {
        return most(plan);
    };
    let all = Duration::from_nanos(budget_ns) / PILOTS_PART;
    let share = PilotTime::of(all, pilots).share(spent, left);
    share.max(MIN_PILOT).min(most(plan))
}

/// The baseline's server, which shows how fast the machine is.
pub struct Yardstick<'y> {
    server: &'y mut RunningServer,
    engine: Engine,
}

impl<'y> Yardstick<'y> {
    /// Opens its connections at a point. `proven`: what it answers.
    pub fn new(
        setup: &ServerSetup,
        server: &'y mut RunningServer,
        point: PointId,
        proven: &Proven,
    ) -> SubjectResult<Yardstick<'y>> {
        server.process.wake()?;
        Ok(Yardstick {
            engine: setup.generator(server, point, proven, None, 0)?,
            server,
        })
    }

    /// Requests and the CPU time that they cost.
    fn read(&mut self) -> SubjectResult<(u64, u64)> {
        self.server.process.wake()?;
        let before = self.server.read()?;
        let record = self.server.load(&mut self.engine, BASELINE)?;
        let after = self.server.read()?;
        self.server.rest()?;
        Ok((record.served, after.cpu_ns.saturating_sub(before.cpu_ns)))
    }
}

/// The warming up of a server for a case.
pub struct Warming<'a, 'y> {
    /// The server's cores in a block.
    cores: &'a [usize],
    alone: Vec<Engine>,
    crowded: Engine,
    yardstick: Option<Yardstick<'y>>,
    /// CPU time and requests of each round's crowded part.
    batches: Vec<Batch>,
    /// How old the server was at the end of each round.
    ages: Vec<Age>,
    began: Instant,
    cpu_before_ns: u64,
    /// The last round at whose end the server was busy, from 1; 0: none.
    last_busy: usize,
    /// It has compiled what it was busy with, and is on its own cores.
    settled: bool,
}

impl<'a, 'y> Warming<'a, 'y> {
    /// Opens its connections. `cores`: those that it has in a block; `point`: see [`point`].
    pub fn new(
        setup: &ServerSetup,
        server: &mut RunningServer,
        (cores, point): (&'a [usize], PointId),
        proven: &Proven,
        yardstick: Option<Yardstick<'y>>,
    ) -> SubjectResult<Warming<'a, 'y>> {
        let plan = setup.plan;
        let case = plan.points[point].case;
        let of_case = |keep_alive: bool| {
            let mut points = 0..plan.points.len();
            points.find(|&p| plan.points[p].case == case && plan.keeps_alive(p) == keep_alive)
        };
        let alone = [true, false].into_iter().filter_map(of_case);
        let alone = alone.map(|point| setup.lone_connection(server, point, proven));
        Ok(Warming {
            cores,
            alone: alone.collect::<SubjectResult<_>>()?,
            crowded: setup.generator(server, point, proven, None, 0)?,
            yardstick,
            batches: Vec::new(),
            ages: Vec::new(),
            began: Instant::now(),
            cpu_before_ns: server.read()?.cpu_ns,
            last_busy: 0,
            settled: false,
        })
    }

    /// Runs rounds until the server is steady, or for so long. Until it has compiled what it compiles, it has all cores.
    pub fn find_level(
        &mut self,
        server: &mut RunningServer,
        longest: Duration,
    ) -> SubjectResult<Option<Steady>> {
        server.free()?;
        loop {
            self.round(server)?;
            let level = steady_rounds(&self.batches, &self.ages);
            let steady = self.settled && level.is_some_and(|level| level.reached);
            let elapsed = self.began.elapsed();
            // What the first 100,000 cost is told where there is time for it.
            let served = self.ages.last().map_or(0, |age| age.requests);
            let is_old = served >= TOLD_REQUESTS || elapsed >= longest / TOLD_PART;
            if steady && is_old || elapsed >= longest {
                server.keep_on(self.cores)?;
                return Ok(level);
            }
        }
    }

    /// Runs rounds until the server is at the level that a pilot found and has served as many requests as that took.
    pub fn reach(&mut self, server: &mut RunningServer, pilot: &Pilot) -> SubjectResult<()> {
        let Some(level) = lab_stats::steady::steady(pilot) else {
            return Ok(());
        };
        server.free()?;
        let end = pilot.ages.last().copied().unwrap_or_default();
        loop {
            self.round(server)?;
            let served = self.ages.last().map_or(0, |age| age.requests);
            let elapsed = self.began.elapsed();
            let is_over = if level.reached {
                let longest = Duration::from_nanos(level.age.wall_ns) * MAX_FACTOR + MAX_EXTRA;
                let needed = level.age.requests;
                let is_old = self.settled && served >= needed;
                let is_too_old = served >= u64::from(MAX_FACTOR) * needed && elapsed >= longest;
                is_old && self.is_at(&level, LAST_ROUNDS) || is_too_old || elapsed >= 2 * longest
            } else {
                // It is measured at the age of the pilot's end.
                let longest = Duration::from_nanos(end.wall_ns) + MAX_EXTRA;
                self.settled && served >= end.requests || elapsed >= longest
            };
            if is_over {
                break;
            }
        }
        server.keep_on(self.cores)
    }

    /// Loads a server that was idle while others were warmed up, until it is as it was: some collect garbage or forget code
    /// meanwhile.
    pub fn refresh(&mut self, server: &mut RunningServer, pilot: &Pilot) -> SubjectResult<()> {
        let level = lab_stats::steady::steady(pilot);
        server.keep_on(self.cores)?;
        self.settled = true;
        for _ in 0..MAX_REFRESHING {
            self.round(server)?;
            let is_at = |level: Steady| self.is_at(&level, 1);
            if level.is_none_or(is_at) {
                break;
            }
        }
        Ok(())
    }

    /// Has the server serve so many requests, on the cores of its turns.
    pub fn reach_age(&mut self, server: &mut RunningServer, requests: u64) -> SubjectResult<()> {
        server.keep_on(self.cores)?;
        let mut served = 0;
        while served < requests {
            let record = server.load(&mut self.crowded, STEP)?;
            // One that fails all requests does not get any older.
            served += record.served.max(1);
        }
        Ok(())
    }

    /// True if the last rounds cost as much as the steady level.
    fn is_at(&self, level: &Steady, last_rounds: usize) -> bool {
        let rounds = self.batches.len();
        let from = rounds.saturating_sub(last_rounds);
        let wanted = match (level.ratio, &self.yardstick) {
            (Some(ratio), Some(_)) => ratio,
            // The machine may be slower than it was then.
            (None, None) => MACHINE_FACTOR * level.cost_ns,
            // Nothing to compare with.
            _ => return true,
        };
        let last = log_levels(&self.batches[from..], &self.ages[from..]);
        order::median(&last).is_some_and(|last| last <= wanted.ln() + TOLERANCE)
    }

    fn round(&mut self, server: &mut RunningServer) -> SubjectResult<()> {
        let before = server.read()?;
        let length = if self.settled { LOADED } else { CROWDED };
        let record = server.load(&mut self.crowded, length)?;
        let after = server.read()?;
        let mut requests = record.served;
        let (baseline_requests, baseline_cpu_ns) = match &mut self.yardstick {
            Some(yardstick) => yardstick.read()?,
            None => (0, 0),
        };
        if !self.settled {
            let each = ALONE / self.alone.len() as u32;
            for alone in &mut self.alone {
                requests += server.load(alone, each)?.served;
            }
            let is_busy = server.is_busy(IDLE)?;
            let round = self.batches.len() + 1;
            if is_busy {
                self.last_busy = round;
            }
            let calm = if self.last_busy == 0 {
                NEVER_BUSY
            } else {
                QUIET
            };
            if round >= self.last_busy + calm {
                self.settled = true;
                server.keep_on(self.cores)?;
            }
        }
        let earlier = self.ages.last().map_or(0, |age| age.requests);
        self.batches.push(Batch {
            operations: record.served.max(1),
            wall_ns: record.wall_ns,
            cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            server_cpu_ns: None,
        });
        self.ages.push(Age {
            requests: earlier + requests,
            cpu_ns: server.read()?.cpu_ns.saturating_sub(self.cpu_before_ns),
            wall_ns: self.began.elapsed().as_nanos() as u64,
            baseline_requests,
            baseline_cpu_ns,
        });
        Ok(())
    }
}

/// Warms a fresh server up until it is steady, or its time is spent.
pub fn pilot(
    server: &mut RunningServer,
    mut warming: Warming,
    point: PointId,
    longest: Duration,
) -> SubjectResult<Pilot> {
    let level = warming.find_level(server, longest)?;
    let logs = log_levels(&warming.batches, &warming.ages);
    let class = match level {
        Some(level) if !level.reached => WarmUp::NoSteadyState,
        Some(level) if level.from > 0 => {
            let [before, after] = [&logs[..level.from], &logs[level.from..]].map(order::median);
            if before > after {
                WarmUp::Warming
            } else {
                WarmUp::Slowing
            }
        }
        _ => WarmUp::Flat,
    };
    Ok(Pilot {
        subject: 0,
        point,
        operations: warming.batches.last().map_or(1, |last| last.operations),
        warmup_batches: level.map_or(1, |level| level.from.max(1) as u32),
        class,
        cold_ns: 0,
        batches: warming.batches,
        ages: warming.ages,
    })
}
