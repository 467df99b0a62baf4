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

/// The part of a round behind: one connection, kept alive, and then a new one for each request, as far as the
/// case has both. A virtual machine compiles what it runs in threads that compete with those that serve. Under
/// full load they get so little of a core that it takes a minute what else takes ten seconds.
const ALONE: Duration = Duration::from_millis(120);

/// The end of a round: nothing is asked. Who computes now still compiles. (It is shorter than the 50 ms after
/// which HotSpot forgets to compile what is not called any more.)
const IDLE: Duration = Duration::from_millis(30);

/// It has done with it after so many rounds in turn in which it did not. Then it is kept on its own cores and
/// given as many rounds as it was busy for: what is called less often is compiled later, in pieces that no round
/// shows, and where threads wait for each other on one core other code is hot. (Servers in Java were seen to be
/// busy for 23 to 31 rounds, and to get cheaper until the 50th.)
const QUIET: usize = 8;

/// Rounds after which the pilot looks whether the server is steady, where it may take so many; then at twice as
/// many, and so on.
const FIRST_LOOK: usize = 20;

/// The most rounds for a server that is quiet: what still changes is not its own doing.
const ENOUGH: usize = 40;

/// Connections of the crowded part, or as near to it as the plan has points.
const CONNECTIONS: usize = 64;

/// Where a case is piloted: over connections that are kept alive if there are such, as fast as it goes.
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
    /// Those that are the server's in a block.
    cores: &'a [usize],
    alone: Vec<Engine>,
    crowded: Engine,
    /// Of each round, what its crowded part cost.
    rounds: Vec<Batch>,
    /// The last round in which the server was busy while nothing was asked, from 1; 0: none was. What comes
    /// after a time of quiet is no longer the start, but the server's life.
    busy: usize,
    most: usize,
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
        let of_case = |kept: bool| {
            let mut points = 0..plan.points.len();
            points.find(|&p| plan.points[p].case == case && plan.keeps_alive(p) == kept)
        };
        let alone = [true, false].into_iter().filter_map(of_case);
        let alone = alone.map(|point| setup.lone_connection(server, point, proven));
        Ok(Warming {
            cores,
            alone: alone.collect::<SubjectResult<_>>()?,
            crowded: setup.generator(server, point, proven, None, 0)?,
            rounds: Vec::new(),
            busy: 0,
            most: plan.measure.max_warmup as usize,
        })
    }

    /// At least so many rounds, and more until the server is quiet, or the most are spent.
    pub fn go_on(&mut self, server: &mut RunningServer, least: usize) -> SubjectResult<()> {
        while self.rounds.len() < least || !(self.is_quiet() || self.is_over()) {
            self.round(server)?;
            if self.rounds.len() == self.busy + QUIET {
                server.keep_on(self.cores)?;
            }
        }
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.busy == 0 || self.rounds.len() >= 2 * self.busy + QUIET
    }

    fn is_over(&self) -> bool {
        self.rounds.len() >= self.most
    }

    fn round(&mut self, server: &mut RunningServer) -> SubjectResult<()> {
        let before = server.read()?;
        let record = server.load(&mut self.crowded, CROWDED)?;
        let after = server.read()?;
        let each = ALONE / self.alone.len() as u32;
        for alone in &mut self.alone {
            server.load(alone, each)?;
        }
        let busy = server.is_busy(IDLE)?;
        self.rounds.push(Batch {
            operations: record.served.max(1),
            wall_ns: record.wall_ns,
            cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            server_cpu_ns: None,
        });
        let round = self.rounds.len();
        if busy && (self.busy == 0 || round <= self.busy + QUIET) {
            self.busy = round;
        }
        Ok(())
    }

    /// CPU time for each request: a server's rate is the machine's too, its cost is its own.
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
    let mut look = FIRST_LOOK.min(warming.most);
    let (steady_from, class) = loop {
        warming.go_on(server, look)?;
        let rounds = warming.rounds.len();
        let found = warmup::classify(&warming.times());
        let early = found.steady_from.filter(|from| *from <= rounds / 2);
        match early {
            Some(from) => break (from, found.class),
            None if warming.is_quiet() && rounds >= ENOUGH => break (warming.busy, found.class),
            None if warming.is_over() => break (rounds, found.class),
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
