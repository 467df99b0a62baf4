// SPDX-License-Identifier: Apache-2.0
//! Warnings about the load on servers that were already running.

use super::agents::of_agents;
use super::basis::{
    WarningBasis, disturbances, failed, interrupted, level_not_reached, shortest_comparison,
    shortfall, tails, unfit,
};
use super::server::{Loaded, ServerCells, of_servers, warning};
use super::servers;
use crate::forecast;
use crate::results::warning::ReadBy;
use crate::results::{Warning, WarningFact};
use lab_model::{AgentId, Arrivals, Block, Host, LoadCount, LoadSpec, LogLine, Metric, Slice};

/// The maximum fraction of responses that the generator may time when it reads them instead of when
/// they arrive. benchlab warns about a larger fraction.
const MANY_READ_FRACTION: f64 = 0.01;

/// The generator and the server compete for cores if together they use more than this fraction of
/// all cores.
const FULL_FRACTION: f64 = 0.9;

/// Returns all warnings about a load, most serious first.
pub(in crate::results) fn of_load(evidence: &WarningBasis) -> Vec<Warning> {
    let loaded = Loaded::new(evidence);
    let (run, plan) = (loaded.run, loaded.plan);
    let Some(load) = plan.load() else {
        return Vec::new();
    };
    if plan.serving().is_some() {
        return servers::of_servers(&loaded);
    }
    let mut all: Vec<Warning> = interrupted(run, plan).into_iter().collect();
    all.extend(failed(run, plan));
    all.extend(of_agents(run, plan));
    all.extend(loaded.server_unknown());
    all.extend(loaded.errors());
    all.extend(loaded.saturated());
    all.extend(loaded.late());
    all.extend(loaded.timed_by_reading());
    all.extend(loaded.overloaded());
    all.extend(loaded.starved());
    all.extend(loaded.shared_cores());
    if run.is_loaded_here() {
        all.extend(unfit(run));
    }
    all.extend(loaded.few_blocks());
    all.extend(tails(loaded.evidence.cells, |blocks| {
        forecast::time_for(run, blocks)
    }));
    all.extend(if load.arrivals.changes() {
        loaded.stages()
    } else {
        loaded.dependent()
    });
    all.extend(disturbances(run));
    all.extend(loaded.closed_loop(load));
    all
}

impl Loaded<'_> {
    /// Returns a warning about responses that were timed when the generator read them.
    ///
    /// The warning lists the agents separately, because each agent has its own clock.
    fn timed_by_reading(&self) -> Option<Warning> {
        let slices = || self.run.complete_blocks().flat_map(|block| &block.slices);
        let by_agent = self.run.agents.ids().filter_map(|id| {
            let parts = slices().flat_map(|slice| &slice.agents);
            let of_agent = parts
                .filter(|part| part.agent == id)
                .map(|part| &part.slice);
            Some(ReadBy {
                agent: Some(self.run.agent_name(id)),
                fraction: many_read(of_agent)?,
            })
        });
        let mut generators: Vec<ReadBy> = by_agent.collect();
        if self.run.agents.is_empty() {
            generators.extend(many_read(slices()).map(|fraction| ReadBy {
                agent: None,
                fraction,
            }));
        }
        (!generators.is_empty()).then(|| Warning::new(WarningFact::TimedByReading { generators }))
    }

    /// Returns a warning if the server's resource usage is unknown from some slice to the end of
    /// the run.
    ///
    /// There is no warning if the user excluded an agent. The resource usage is then always
    /// unknown, because the server also served the excluded agent.
    fn server_unknown(&self) -> Option<Warning> {
        if !self.run.excluded_agents().is_empty() {
            return None;
        }
        let lines = self.run.log.iter();
        let reason = lines.rev().find_map(LogLine::why_server_unknown)?;
        let is_known = |block: &&Block| {
            let mut slices = block.slices.iter();
            slices.all(|slice| slice.server_cpu_ns.is_some())
        };
        let known = self.run.complete_blocks().filter(is_known).count();
        let all = self.run.complete_blocks().count();
        (known < all).then(|| {
            Warning::new(WarningFact::ServerUnknown {
                known,
                blocks: all,
                reason: reason.into(),
            })
        })
    }

    /// Returns the agents that run on the server's machine, and the server's machine.
    ///
    /// If there are no agents, this process is the generator.
    fn agents_on_server_host(&self) -> Option<(Vec<AgentId>, &Host)> {
        let (run, host) = (self.run, &self.run.host);
        let machine = host.fact(Host::MACHINE_ID);
        let server = match self.plan.load()?.server_host {
            Some(_) => Some(host.fact(Host::SERVER_MACHINE_ID)?),
            None => machine,
        };
        if run.agents.is_empty() {
            return (server == machine).then_some((Vec::new(), host));
        }
        let is_beside = |id: &AgentId| run.agents[*id].host.fact(Host::MACHINE_ID) == server;
        let agents: Vec<AgentId> = run.agents.ids().filter(is_beside).collect();
        let first = *agents.first().filter(|_| server.is_some())?;
        Some((agents, &run.agents[first].host))
    }

    /// Returns a warning if the server and the generators together use nearly all cores of one
    /// machine.
    ///
    /// Only points at which the server's CPU time is known are considered.
    fn shared_cores(&self) -> Option<Warning> {
        let (agents, host) = self.agents_on_server_host()?;
        let cores = host.cores()?;
        let generator = |cell: &ServerCells| {
            let request_ns = cell.number(&Metric::GENERATOR_CPU);
            let part = self.part_of_cpu(cell, &agents);
            cell.number(&Metric::THROUGHPUT) * request_ns / 1e9 * part
        };
        let used = |cell: &ServerCells| {
            let server = cell.value(&Metric::SERVER_CORES)?.value();
            Some(server + generator(cell))
        };
        let mut full =
            self.cells(|cell| used(cell).is_some_and(|used| used > FULL_FRACTION * cores));
        full.retain(|_| cores > 0.0);
        warning(&full, || WarningFact::CoresFull {
            agents: agents.iter().map(|id| self.run.agent_name(*id)).collect(),
            cores,
            at: full.iter().map(|cell| self.name_cell(cell)).collect(),
        })
    }

    /// Returns the fraction of all generators' CPU time at a point that the given agents used.
    /// Returns 1 if `agents` is empty.
    fn part_of_cpu(&self, cell: &ServerCells, agents: &[AgentId]) -> f64 {
        let slices = self.run.complete_blocks().flat_map(|block| &block.slices);
        let at_point =
            slices.filter(|slice| (slice.subject, slice.point) == (cell.subject, cell.point));
        let (mut of_agents, mut all) = (0, 0);
        for part in at_point.flat_map(|slice| &slice.agents) {
            all += part.slice.cpu_ns;
            of_agents += if agents.contains(&part.agent) {
                part.slice.cpu_ns
            } else {
                0
            };
        }
        if agents.is_empty() {
            1.0
        } else {
            of_agents as f64 / all.max(1) as f64
        }
    }

    fn few_blocks(&self) -> Option<Warning> {
        let pairs = self.evidence.pairs;
        let time = |_| None;
        Some(Warning::new(match shortest_comparison(pairs) {
            None => level_not_reached(self.run, self.plan, pairs.is_empty(), time)?,
            Some(pair) => shortfall(self.run, self.plan, pair, time),
        }))
    }

    fn dependent(&self) -> Option<Warning> {
        let (measured, compared) = (self.evidence.depending, self.evidence.pairs);
        let open = measured.iter().any(|m| m.unresolved)
            || compared.iter().any(|pair| pair.ratio.unresolved);
        let merged = measured.iter().any(|m| m.dependent)
            || compared.iter().any(|pair| pair.ratio.dependent);
        let depends = |cell: &ServerCells| {
            let key = (cell.subject, cell.point);
            let mut all = measured.iter().filter(|m| m.dependent);
            all.any(|m| (m.subject, m.point) == key)
        };
        let cells = self.cells(depends);
        (open || merged).then(|| {
            let fact = WarningFact::BlocksDepend {
                at: cells.iter().map(|cell| self.name_cell(cell)).collect(),
                comparisons: None,
                merged: !open,
            };
            Warning::with_cells(fact, of_servers(&cells))
        })
    }

    /// Returns a warning about planned changes of the rate.
    ///
    /// Planned changes make neighboring blocks depend on each other, so the dependence is then no
    /// sign of a problem with the server.
    fn stages(&self) -> Option<Warning> {
        let has_figures = !self.cells(|_| true).is_empty();
        has_figures.then(|| Warning::new(WarningFact::RateChanges))
    }

    fn closed_loop(&self, load: &LoadSpec) -> Option<Warning> {
        let timed = self.cells(|cell| cell.number(&Metric::RESPONSES) > 0.0);
        let is_closed = load.arrivals == Arrivals::Closed;
        (is_closed && !timed.is_empty()).then(|| Warning::new(WarningFact::ClosedLoop))
    }
}

/// Returns the fraction of responses that were timed when they were read, if it exceeds
/// [`MANY_READ_FRACTION`].
fn many_read<'s>(slices: impl Iterator<Item = &'s Slice>) -> Option<f64> {
    let (mut read, mut all) = (0_u64, 0_u64);
    for slice in slices {
        read = read.saturating_add(slice.counts[LoadCount::ReadTimes]);
        let counts = slice.errors.iter().map(|(_, n)| *n).chain([slice.served]);
        all = counts.fold(all, u64::saturating_add);
    }
    let part = read as f64 / all.max(1) as f64;
    (part > MANY_READ_FRACTION).then_some(part)
}
