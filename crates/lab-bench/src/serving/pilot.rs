// SPDX-License-Identifier: Apache-2.0
//! The warm-up of a server, and its pilot: how long it takes until it is steady.

use super::proof::Proven;
use super::running_server::{RunningServer, ServerSetup};
use crate::fault::SubjectResult;
use lab_load::Engine;
use lab_model::{Batch, Pilot, Plan, PointId};
use lab_stats::warmup;
use std::time::Duration;

/// The part of a round that is judged: as many connections as servers are compared with.
const CROWDED: Duration = Duration::from_millis(50);

/// The part of a round over one connection, kept alive, and then over a new one for each request, if the case has both.
/// Without it a virtual machine, whose compiler competes with full load, compiles for a minute instead of ten seconds.
const ALONE: Duration = Duration::from_millis(120);

/// The idle end of a round: a server that computes now still compiles. It is shorter than the 50 ms after which
/// HotSpot forgets to compile what is not called any more.
const IDLE: Duration = Duration::from_millis(30);

/// A server is quiet after so many rounds in a row at whose end it was idle. Then it has as many rounds on its own
/// cores as it was busy for. (Servers in Java were busy for 23 to 31 rounds, and got cheaper until the 50th.)
const QUIET: usize = 8;

/// Rounds after which the pilot looks whether the server is steady, where it may take so many; then at twice as
/// many, and so on.
const FIRST_LOOK: usize = 20;

/// The most rounds for a server that is quiet: later changes are not its own.
const ENOUGH: usize = 40;

/// Connections of the crowded part, or as near to it as the plan has points.
const CONNECTIONS: usize = 64;

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

/// The warming up of a server for a case.
pub struct Warming<'a> {
    /// The server's cores in a block.
    cores: &'a [usize],
    alone: Vec<Engine>,
    crowded: Engine,
    /// CPU time and requests of each round's crowded part.
    rounds: Vec<Batch>,
    /// The last round at whose end the server was busy, from 1; 0: none. Later activity after [`QUIET`] rounds is not
    /// the start-up any more.
    last_busy: usize,
    max_rounds: usize,
}

impl<'a> Warming<'a> {
    /// Opens its connections, and lets the server use all cores. `cores`: those that it has in a block;
    /// `point`: see [`point`].
    pub fn new(
        setup: &ServerSetup,
        server: &RunningServer,
        cores: &'a [usize],
        point: PointId,
        proven: &Proven,
    ) -> SubjectResult<Warming<'a>> {
        server.free()?;
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
            rounds: Vec::new(),
            last_busy: 0,
            max_rounds: plan.measure.max_warmup as usize,
        })
    }

    /// Runs at least so many rounds, and more until the server is quiet or the most are done.
    pub fn run_rounds(
        &mut self,
        server: &mut RunningServer,
        min_rounds: usize,
    ) -> SubjectResult<()> {
        while self.rounds.len() < min_rounds || !(self.is_quiet() || self.is_over()) {
            self.round(server)?;
            if self.rounds.len() == self.last_busy + QUIET {
                server.keep_on(self.cores)?;
            }
        }
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.last_busy == 0 || self.rounds.len() >= 2 * self.last_busy + QUIET
    }

    fn is_over(&self) -> bool {
        self.rounds.len() >= self.max_rounds
    }

    fn round(&mut self, server: &mut RunningServer) -> SubjectResult<()> {
        let before = server.read()?;
        let record = server.load(&mut self.crowded, CROWDED)?;
        let after = server.read()?;
        let each = ALONE / self.alone.len() as u32;
        for alone in &mut self.alone {
            server.load(alone, each)?;
        }
        let is_busy = server.is_busy(IDLE)?;
        self.rounds.push(Batch {
            operations: record.served.max(1),
            wall_ns: record.wall_ns,
            cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            server_cpu_ns: None,
        });
        let round = self.rounds.len();
        if is_busy && (self.last_busy == 0 || round <= self.last_busy + QUIET) {
            self.last_busy = round;
        }
        Ok(())
    }

    /// CPU time of each request, ns. A server's rate depends on the machine's load, its CPU time does not.
    fn times(&self) -> Vec<f64> {
        let cost = |b: &Batch| b.cpu_ns.max(1) as f64 / b.operations as f64;
        self.rounds.iter().map(cost).collect()
    }
}

/// Warms a fresh server up until it is steady, or the most rounds are spent.
pub fn pilot(
    setup: &ServerSetup,
    server: &mut RunningServer,
    cores: &[usize],
    point: PointId,
    proven: &Proven,
) -> SubjectResult<Pilot> {
    let mut warming = Warming::new(setup, server, cores, point, proven)?;
    let mut look = FIRST_LOOK.min(warming.max_rounds);
    let (steady_from, class) = loop {
        warming.run_rounds(server, look)?;
        let rounds = warming.rounds.len();
        let classified = warmup::classify(&warming.times());
        let steady = classified.steady_from.filter(|from| *from <= rounds / 2);
        match steady {
            Some(from) => break (from, classified.class),
            None if warming.is_quiet() && rounds >= ENOUGH => {
                break (warming.last_busy, classified.class);
            }
            None if warming.is_over() => break (rounds, classified.class),
            None => look *= 2,
        }
    };
    Ok(Pilot {
        subject: 0,
        point,
        operations: warming.rounds.last().map_or(1, |last| last.operations),
        warmup_batches: (steady_from as u32).max(1),
        class,
        cold_ns: 0,
        batches: warming.rounds,
    })
}
