// SPDX-License-Identifier: Apache-2.0
//! The warm-up and the pilot of a server. The pilot finds the steady level of the server, and the
//! number of requests until the server reaches that level.
//!
//! The level is the cost of a request as a multiple of its cost on the baseline's server. The
//! baseline's server is therefore loaded after each period of load, because the speed of a shared
//! machine changes while a server warms up. The baseline itself has no such reference. If its pilot
//! finds no steady level, which may be due to the machine, a second process of the baseline has a
//! pilot with the first one as its reference.

use super::proof::Proven;
use super::running_server::{LEAD_IN, RunningServer, ServerSetup};
use crate::subject::fault::SubjectResult;
use lab_load::Engine;
use lab_model::{Age, Batch, CaseId, Pilot, Plan, PointId, SubjectId, WarmUp};
use lab_stats::order;
use lab_stats::pilot_time::PilotTime;
use lab_stats::steady::{Steady, log_levels, next_check, steady_rounds};
use std::time::{Duration, Instant};

/// The length of the evaluated period in a round while a server still compiles. The generator uses
/// about [`CONNECTIONS`] connections.
const CROWDED: Duration = Duration::from_millis(50);

/// The length of the evaluated period in a round after the server has finished compiling.
const LOADED: Duration = Duration::from_millis(80);

/// The length of the period in a round in which the baseline's server is loaded.
const BASELINE: Duration = Duration::from_millis(20);

/// The length of the period in a round with only one connection at a time.
///
/// If the case uses both keep-alive connections and a connection per request, the period is divided
/// between them. Without this period, the compiler of a virtual machine competes with full load and
/// takes a minute instead of ten seconds.
const ALONE: Duration = Duration::from_millis(120);

/// The length of the idle period at the end of a round. A server that is busy in this period is
/// still compiling.
///
/// The period is shorter than 50 ms, the time after which HotSpot gives up compiling code that is
/// no longer called.
const IDLE: Duration = Duration::from_millis(30);

/// The approximate length of a warm-up round, used in a plan's estimates.
const ROUND: Duration = Duration::from_millis(200);

/// The number of consecutive rounds with an idle end after which a server counts as having finished
/// compiling.
const QUIET: usize = 8;

/// The counterpart of [`QUIET`] for a server that was never seen compiling.
const NEVER_BUSY: usize = 3;

/// The preferred number of connections in the evaluated period. The plan's point with the nearest
/// number is used.
const CONNECTIONS: usize = 64;

/// The maximum excess of the last rounds' cost over the steady level, as a difference of natural
/// logarithms.
const TOLERANCE: f64 = 0.05;

/// The factor by which the machine may be slower than in the pilot, if no baseline shows its speed.
const MACHINE_FACTOR: f64 = 1.3;

/// The limits of a server's warm-up, as a multiple of the requests and the time that the pilot's
/// process needed to reach its level. The time limit is at least the time of the whole pilot.
///
/// A server that exceeds both limits, or twice the time limit, is measured even if it has not
/// reached its level. Its turns show whether it is steady.
const MAX_FACTOR: u32 = 2;
const MAX_EXTRA: Duration = Duration::from_secs(2);

/// The length of the load periods that bring a server to its required age. The server exceeds the
/// age by less than this length.
const STEP: Duration = Duration::from_millis(2);

/// The number of requests that a pilot serves even if the server is steady earlier.
const REPORTED_REQUESTS: u64 = 100_000;
const REPORTED_DIVISOR: u32 = 4;

/// All pilots together take about 1 / `PILOTS_DIVISOR` of a run's budget.
const PILOTS_DIVISOR: u32 = 3;
/// The minimum length of each pilot.
const MIN_PILOT: Duration = Duration::from_secs(3);

/// Returns the point for the pilot of a case. It has a closed loop, and keep-alive connections if
/// the case uses them.
pub fn point(plan: &Plan, case: CaseId) -> Option<PointId> {
    let points = plan.points.ids();
    let closed = points.filter(|&p| plan.points[p].case == case && !plan.is_open(p));
    closed.min_by_key(|&p| {
        (
            !plan.keeps_alive(p),
            plan.connections(p).abs_diff(CONNECTIONS),
        )
    })
}

/// Returns the maximum length of a pilot regardless of the budget.
pub fn max_pilot(plan: &Plan) -> Duration {
    ROUND * plan.measure.max_warmup
}

/// Returns the maximum length of the next pilot.
///
/// `left` is the number of remaining pilots out of `pilots`, including this one. `spent` is the
/// time that the earlier pilots took. A pilot may use the time that other pilots do not need.
pub fn max_length(plan: &Plan, spent: Duration, left: usize, pilots: usize) -> Duration {
    let Some(budget_ns) = plan.measure.budget_ns else {
        return max_pilot(plan);
    };
    let all = Duration::from_nanos(budget_ns) / PILOTS_DIVISOR;
    let max_time = PilotTime::divide(all, pilots).max_time(spent, left);
    max_time.max(MIN_PILOT).min(max_pilot(plan))
}

/// Returns true if a pilot ended at a steady level.
pub fn is_steady(pilot: &Pilot) -> bool {
    lab_stats::steady::steady(pilot).is_none_or(|level| level.reached)
}

/// Returns the maximum length of the baseline's first pilot, given the maximum length of a pilot.
///
/// The rest of the time is for the pilot of a second process.
pub fn max_length_without_reference(max_length: Duration) -> Duration {
    (max_length / 2).max(MIN_PILOT)
}

/// The baseline's server, which shows the speed of the machine.
pub struct Yardstick<'y> {
    server: &'y mut RunningServer,
    engine: Engine,
}

impl<'y> Yardstick<'y> {
    /// Opens the connections at a point. `proven` contains the server's expected responses.
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

    /// Puts the baseline under load. Returns the number of served requests and their CPU time in
    /// ns.
    fn read(&mut self) -> SubjectResult<(u64, u64)> {
        self.server.process.wake()?;
        let before = self.server.read()?;
        let record = self.server.load(&mut self.engine, BASELINE)?;
        let after = self.server.read()?;
        self.server.rest()?;
        Ok((record.served, after.cpu_ns.saturating_sub(before.cpu_ns)))
    }
}

/// The warm-up of a server for a case.
pub struct Warming<'w, 'y> {
    setup: &'w ServerSetup<'w>,
    point: PointId,
    /// The server's expected responses.
    proven: &'w Proven,
    /// The server's cores in blocks.
    cores: &'w [usize],
    alone: Vec<Engine>,
    yardstick: Option<Yardstick<'y>>,
    /// The CPU time and requests of each round's evaluated period.
    batches: Vec<Batch>,
    /// The age of the server at the end of each round.
    ages: Vec<Age>,
    began: Instant,
    cpu_before_ns: u64,
    /// The last round, counted from 1, at whose end the server was busy. 0 if there was none.
    last_busy: usize,
    /// True if the server has finished compiling and runs on its own cores.
    has_compiled: bool,
}

impl<'w, 'y> Warming<'w, 'y> {
    /// Opens the connections. `cores` are the cores on which the server runs during blocks. `point`
    /// is the result of the function [`point`].
    pub fn new(
        setup: &'w ServerSetup<'w>,
        server: &mut RunningServer,
        (cores, point): (&'w [usize], PointId),
        proven: &'w Proven,
        yardstick: Option<Yardstick<'y>>,
    ) -> SubjectResult<Warming<'w, 'y>> {
        let plan = setup.plan;
        let case = plan.points[point].case;
        let of_case = |keep_alive: bool| {
            let mut points = plan.points.ids();
            points.find(|&p| plan.points[p].case == case && plan.keeps_alive(p) == keep_alive)
        };
        let alone = [true, false].into_iter().filter_map(of_case);
        let alone = alone.map(|point| setup.lone_connection(server, point, proven));
        Ok(Warming {
            setup,
            point,
            proven,
            cores,
            alone: alone.collect::<SubjectResult<_>>()?,
            yardstick,
            batches: Vec::new(),
            ages: Vec::new(),
            began: Instant::now(),
            cpu_before_ns: server.read()?.cpu_ns,
            last_busy: 0,
            has_compiled: false,
        })
    }

    /// Runs rounds until the server is steady or the time `max_time` has passed. The server may use
    /// all cores while it compiles.
    pub fn find_level(
        &mut self,
        server: &mut RunningServer,
        max_time: Duration,
    ) -> SubjectResult<Option<Steady>> {
        server.free()?;
        let mut check = next_check(0);
        loop {
            self.round(server)?;
            let (rounds, elapsed) = (self.batches.len(), self.began.elapsed());
            if rounds < check && elapsed < max_time {
                continue;
            }
            check = next_check(rounds);
            let level = steady_rounds(&self.batches, &self.ages);
            let steady = self.has_compiled && level.is_some_and(|level| level.reached);
            // If there is enough time, continue until the cost of the first 100,000 requests is known.
            let served = self.ages.last().map_or(0, |age| age.requests);
            let is_old = served >= REPORTED_REQUESTS || elapsed >= max_time / REPORTED_DIVISOR;
            if steady && is_old || elapsed >= max_time {
                server.keep_on(self.cores)?;
                return Ok(level);
            }
        }
    }

    /// Runs rounds until the server has reached the pilot's level and has served as many requests
    /// as the pilot's process needed to reach it. Stops earlier at the limits of [`MAX_FACTOR`].
    ///
    /// If the pilot ended before it reached its steady level, stops when the server has served as
    /// many requests as the pilot's process.
    pub fn reach(&mut self, server: &mut RunningServer, pilot: &Pilot) -> SubjectResult<()> {
        let Some(level) = lab_stats::steady::steady(pilot) else {
            return Ok(());
        };
        let warm = lab_stats::steady::warm_age(pilot, &level);
        server.free()?;
        let end = pilot.ages.last().copied().unwrap_or_default();
        loop {
            self.round(server)?;
            let served = self.ages.last().map_or(0, |age| age.requests);
            let elapsed = self.began.elapsed();
            let is_over = if level.reached {
                let max_ns = (u64::from(MAX_FACTOR) * warm.wall_ns).max(end.wall_ns);
                let max_time = Duration::from_nanos(max_ns) + MAX_EXTRA;
                let needed = warm.requests;
                let is_old = self.has_compiled && served >= needed;
                let is_too_old = served >= u64::from(MAX_FACTOR) * needed && elapsed >= max_time;
                is_old && self.is_at(&level) || is_too_old || elapsed >= 2 * max_time
            } else {
                // Measure the server at the age that it had at the end of the pilot.
                let max_time = Duration::from_nanos(end.wall_ns) + MAX_EXTRA;
                self.has_compiled && served >= end.requests || elapsed >= max_time
            };
            if is_over {
                break;
            }
        }
        server.keep_on(self.cores)
    }

    /// Sends load until the server has served a number of requests, on the cores that it uses in
    /// its turns.
    pub fn reach_age(&mut self, server: &mut RunningServer, requests: u64) -> SubjectResult<()> {
        server.keep_on(self.cores)?;
        let mut engine = self.connect(server)?;
        let mut served = 0;
        while served < requests {
            let record = server.load(&mut engine, STEP)?;
            // Counts at least one request, so that the loop ends even if the server fails all requests.
            served += record.served.max(1);
        }
        Ok(())
    }

    /// Returns true if the last rounds cost no more than the steady level allows.
    fn is_at(&self, level: &Steady) -> bool {
        let rounds = self.batches.len();
        let from = rounds.saturating_sub(level.last_rounds());
        let expected = match (level.ratio, &self.yardstick) {
            (Some(ratio), Some(_)) => ratio,
            // Without a baseline, the machine may be slower than it was during the pilot.
            (_, None) => MACHINE_FACTOR * level.cost_ns,
            // There is no level to compare with.
            (None, Some(_)) => return true,
        };
        let last = log_levels(&self.batches[from..], &self.ages[from..]);
        order::median(&last).is_some_and(|last| last <= expected.ln() + TOLERANCE)
    }

    /// Opens many connections. A round closes them at its end.
    ///
    /// The turns of blocks do the same. A JIT compiler whose server has not closed a connection for
    /// some time compiles again after the server closes one, and each of the next 100,000 or so
    /// requests then costs more.
    fn connect(&self, server: &RunningServer) -> SubjectResult<Engine> {
        self.setup
            .generator(server, self.point, self.proven, None, 0)
    }

    fn round(&mut self, server: &mut RunningServer) -> SubjectResult<()> {
        let length = if self.has_compiled { LOADED } else { CROWDED };
        let mut engine = self.connect(server)?;
        let mut requests = server.load(&mut engine, length / LEAD_IN)?.served;
        let before = server.read()?;
        let record = server.load(&mut engine, length)?;
        let after = server.read()?;
        requests += record.served;
        let (baseline_requests, baseline_cpu_ns) = match &mut self.yardstick {
            Some(yardstick) => yardstick.read()?,
            None => (0, 0),
        };
        if !self.has_compiled {
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
                self.has_compiled = true;
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

/// Warms up a fresh server until it is steady or the time limit is reached.
pub fn pilot(
    server: &mut RunningServer,
    mut warming: Warming,
    point: PointId,
    max_time: Duration,
) -> SubjectResult<Pilot> {
    let level = warming.find_level(server, max_time)?;
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
        subject: SubjectId(0),
        point,
        operations: warming.batches.last().map_or(1, |last| last.operations),
        warmup_batches: level.map_or(1, |level| level.from.max(1) as u32),
        class,
        cold_ns: 0,
        batches: warming.batches,
        ages: warming.ages,
    })
}
