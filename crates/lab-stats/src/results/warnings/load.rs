// SPDX-License-Identifier: Apache-2.0
//! What a reader of the figures of a load must know.

use super::agents::of_agents;
use super::server::{
    Loaded, ServerCells, interrupted, of_servers, percent_of_errors, warning, whole_percent,
};
use super::{
    WarningBasis, alone, disturbances, failed, fewest, list, percent, servers, shortfall, tails,
    unfit,
};
use crate::load::hidden;
use crate::load::visits::per_10_000;
use crate::results::{Warning, WarningKind};
use lab_model::{AgentId, Arrivals, Block, Host, Load, LogLine, Metric, Slice};
use std::ops::Deref;

/// Answers are many from this part of all on.
const MANY_READ_SHARE: f64 = 0.01;

/// Generator and server take from each other where together they use more than this part of the cores.
const FULL_SHARE: f64 = 0.9;

/// All warnings about a load, the gravest first.
pub(in crate::results) fn of_load(evidence: &WarningBasis) -> Vec<Warning> {
    let loaded = Loaded::new(evidence);
    let (run, plan) = (loaded.run, loaded.plan);
    let Some(load) = plan.load() else {
        return Vec::new();
    };
    if plan.serving().is_some() {
        return servers::of_servers(&loaded);
    }
    let loaded = Naming(&loaded);
    let mut all: Vec<Warning> = interrupted(run).into_iter().collect();
    all.extend(failed(run, plan));
    all.extend(of_agents(run, plan));
    all.extend(loaded.server_unknown());
    all.extend(loaded.errors());
    all.extend(loaded.saturated());
    all.extend(loaded.came_late(load));
    all.extend(loaded.timed_by_reading());
    all.extend(loaded.overload());
    all.extend(loaded.starved());
    all.extend(loaded.shared_cores());
    if run.is_loaded_here() {
        all.extend(unfit(run));
    }
    all.extend(loaded.few_blocks());
    all.extend(tails(loaded.evidence.cells));
    all.extend(if load.arrivals.changes() {
        loaded.stages()
    } else {
        loaded.dependent()
    });
    all.extend(disturbances(run));
    all.extend(loaded.closed_loop(load));
    all
}

/// Names every place where something is so.
struct Naming<'l>(&'l Loaded<'l>);

impl<'l> Deref for Naming<'l> {
    type Target = Loaded<'l>;

    fn deref(&self) -> &Loaded<'l> {
        self.0
    }
}

impl Naming<'_> {
    /// A cell's server and point, as far as they do not go without saying.
    fn place(&self, cell: &ServerCells) -> String {
        let several = self.plan.subjects.len() > 1;
        let subject = several.then(|| self.plan.subjects[cell.subject].name.clone());
        let point = self.plan.points[cell.point].params.iter();
        let point: Vec<String> = point.map(|(key, value)| format!("{key}={value}")).collect();
        let point = (self.plan.points.len() > 1).then(|| point.join(" "));
        let words: Vec<String> = subject.into_iter().chain(point).collect();
        words.join(" at ")
    }

    /// ` at connections=8 and connections=16`, ` for A at connections=8`, or nothing.
    fn at(&self, cells: &[&ServerCells]) -> String {
        let preposition = match self.plan.subjects.len() {
            1 => "at",
            _ => "for",
        };
        let places = list(cells.iter().map(|cell| self.place(cell)));
        if places.is_empty() {
            places
        } else {
            format!(" {preposition} {places}")
        }
    }

    /// Of the cells, each with something to say of it.
    fn each(&self, cells: &[&ServerCells], describe: impl Fn(&ServerCells) -> String) -> String {
        list(
            cells
                .iter()
                .map(|cell| format!("{}{}", describe(cell), self.at(&[cell]))),
        )
    }

    fn errors(&self) -> Option<Warning> {
        let failing = self.failing();
        let hides = |cell: &ServerCells| {
            let part = per_10_000(&Metric::P999);
            part.is_some_and(|part| hidden(cell.errors(), cell.served(), part))
        };
        let several = self.plan.subjects.len() > 1;
        let left_out = if several && failing.iter().any(|cell| hides(cell)) {
            " Percentiles are not compared where more failed than lie beyond them."
        } else {
            ""
        };
        let shares = self.each(&failing, |cell| {
            let all = self.evidence.errors.iter();
            let of_cell = all.filter(|e| (e.0, e.1) == (cell.subject, cell.point));
            let kinds = of_cell.map(|(.., kind, count)| format!("{count} {}", kind.name()));
            format!(
                "{} ({})",
                percent_of_errors(cell.error_share()),
                list(kinds)
            )
        });
        warning(WarningKind::Errors, &failing, || {
            format!(
                "Of the requests, these were not answered as they should be: {shares}. They are in no \
                 percentile: those are of what was served.{left_out}"
            )
        })
    }

    fn saturated(&self) -> Option<Warning> {
        let busy = self.busy();
        let parts = self.each(&busy, |cell| {
            percent(whole_percent(cell.number(&Metric::GENERATOR_BUSY)))
        });
        warning(WarningKind::Saturated, &busy, || {
            format!(
                "The load generator was the limit. Its busiest thread used so much of a core: {parts}. \
                 Figures there tell what the generator can do, not the server. Give it more threads (--threads), \
                 have the server send smaller answers, or generate the load on another machine."
            )
        })
    }

    fn came_late(&self, load: &Load) -> Option<Warning> {
        let late = self.late();
        let lags = self.each(&late, |cell| {
            let latencies = cell.of_generator(load);
            list(
                latencies.map(|(metric, ns)| format!("{:.2} ms of the {}", ns / 1e6, metric.title)),
            )
        });
        warning(WarningKind::Late, &late, || {
            format!(
                "The load generator itself was late. More than a tenth of these percentiles can be its own latency: \
                 {lags}. None of them is called equivalent. Give it a core of its own or more threads (--threads), a \
                 lower --rate, or another machine."
            )
        })
    }

    /// Of agents each has a clock of its own.
    fn timed_by_reading(&self) -> Option<Warning> {
        let slices = || self.run.complete_blocks().flat_map(|block| &block.slices);
        let of_agents = (0..self.run.agents.len()).filter_map(|id| {
            let parts = slices().flat_map(|slice| &slice.agents);
            let of_agent = parts
                .filter(|part| part.agent == id)
                .map(|part| &part.slice);
            Some(format!(
                "{} on {}",
                percent(many_read(of_agent)?),
                self.run.agent_name(id)
            ))
        });
        let mut parts: Vec<String> = of_agents.collect();
        if self.run.agents.is_empty() {
            parts.extend(many_read(slices()).map(percent));
        }
        (!parts.is_empty()).then(|| {
            let text = format!(
                "The time of day was set during the load, or is not the one that the kernel notes arrivals by. So \
                 these answers were timed when the generator read them, which may be later than they came: {}.",
                list(parts)
            );
            Warning::new(WarningKind::Late, text)
        })
    }

    fn overload(&self) -> Option<Warning> {
        let short = self.overloaded();
        let rates = self.each(&short, |cell| {
            let rates = [Metric::THROUGHPUT, Metric::OFFERED];
            let [served, offered] = rates.map(|metric| cell.number(&metric));
            let late_s = cell.number(&Metric::DRAIN) / 1e9;
            format!("{served:.0} of {offered:.0}, until {late_s:.2} s after the end")
        });
        warning(WarningKind::Overloaded, &short, || {
            format!(
                "The server is overloaded: not all that was due was served in time; of the requests per second: \
                 {rates}. Where requests pile up, response times grow as long as the load lasts: there are no \
                 percentiles. Look for the highest rate that is served, or raise --connections."
            )
        })
    }

    fn starved(&self) -> Option<Warning> {
        let starving = self.starving();
        let longest = self.each(&starving, |cell| {
            format!("{:.1} s", cell.number(&Metric::DRAIN) / 1e9)
        });
        warning(WarningKind::Starved, &starving, || {
            format!(
                "Some connections waited for their answer while others were served, the longest for: {longest}. The \
                 rate is that of the load's own time. The server may serve fewer connections at once than there were."
            )
        })
    }

    /// From some slice on nobody could tell what the server used. That is never known where an agent is left out: the
    /// server served it, too.
    fn server_unknown(&self) -> Option<Warning> {
        if !self.run.left_out().is_empty() {
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
        let text = match known {
            0 => format!("What the server used is not known: {reason}."),
            _ => format!(
                "What the server used is known of {known} of {all} blocks only, and its figures are of those: {reason}."
            ),
        };
        (known < all).then(|| Warning::new(WarningKind::Agents, text))
    }

    /// Those that put load on from the server's machine, and that machine; of no agents it is the lab itself.
    fn beside_the_server(&self) -> Option<(Vec<AgentId>, &Host)> {
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
        let agents: Vec<AgentId> = (0..run.agents.len()).filter(is_beside).collect();
        let first = *agents.first().filter(|_| server.is_some())?;
        Some((agents, &run.agents[first].host))
    }

    /// That the server is on a generator's machine is known where its CPU time is.
    fn shared_cores(&self) -> Option<Warning> {
        let (agents, host) = self.beside_the_server()?;
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
        let mut full = self.cells(|cell| used(cell).is_some_and(|used| used > FULL_SHARE * cores));
        full.retain(|_| cores > 0.0);
        warning(WarningKind::SharedCores, &full, || {
            let whose = match &agents[..] {
                [] => "the generator's machine".into(),
                agents => {
                    let names = agents.iter().map(|agent| self.run.agent_name(*agent));
                    format!("the machine of {}", list(names))
                }
            };
            format!(
                "The server is on {whose}, and together they used nearly all of its \
                 {cores:.0} core{}{}: each took from the other. On two machines more would be served.",
                if cores == 1.0 { "" } else { "s" },
                self.at(&full),
            )
        })
    }

    /// Of the generators' CPU time at a point that of these agents; of none it is the lab's own.
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
        let text = match fewest(self.evidence.pairs) {
            None => alone(self.run, self.plan, self.evidence.pairs.is_empty())?,
            Some(pair) => shortfall(self.run, pair),
        };
        let text = format!("{text}. Give the run more time (--for).");
        Some(Warning::new(WarningKind::FewBlocks, text))
    }

    fn dependent(&self) -> Option<Warning> {
        let (measured, compared) = (self.evidence.depending, self.evidence.pairs);
        let open = measured.iter().any(|m| m.unresolved)
            || compared.iter().any(|pair| pair.ratio.unresolved);
        let merged = measured.iter().any(|m| m.dependent)
            || compared.iter().any(|pair| pair.ratio.dependent);
        let depends = |cell: &ServerCells| {
            let place = (cell.subject, cell.point);
            let mut all = measured.iter().filter(|m| m.dependent);
            all.any(|m| (m.subject, m.point) == place)
        };
        let cells = self.cells(depends);
        let at = self.at(&cells);
        let text = match (open, merged) {
            (true, _) => format!(
                "Neighbouring blocks depend on each other{at}, and there are too few to merge them: the \
                 intervals may be too narrow. The server may still be warming up or filling a cache. \
                 Give the run more time (--for)."
            ),
            (false, true) => format!(
                "Neighbouring blocks depend on each other{at}: they were merged, and fewer count."
            ),
            (false, false) => return None,
        };
        Some(Warning::about(
            WarningKind::Dependent,
            text,
            of_servers(&cells),
        ))
    }

    /// Where the rate changes as planned, that neighbours are alike says nothing of the server.
    fn stages(&self) -> Option<Warning> {
        let text = (!self.cells(|_| true).is_empty()).then(|| {
            "The rate changed as it was planned to: rates and costs are those of the middle of it, percentiles \
             those of all of it, and the intervals say little. Look at the course over time."
                .to_string()
        });
        Some(Warning::new(WarningKind::Stages, text?))
    }

    fn closed_loop(&self, load: &Load) -> Option<Warning> {
        let timed = !self
            .cells(|cell| cell.number(&Metric::RESPONSES) > 0.0)
            .is_empty();
        let text = (timed && load.arrivals == Arrivals::Closed).then(|| {
            "Each connection waits for its answer before it sends the next request. So a server that \
             stalls gets fewer requests while it does, and the percentiles leave out the waits of users who do \
             not hold back (coordinated omission). `--rate` sends requests when they are due."
                .to_string()
        });
        Some(Warning::new(WarningKind::ClosedLoop, text?))
    }
}

/// The part of the answers whose times end when they were read, if they are many.
fn many_read<'s>(slices: impl Iterator<Item = &'s Slice>) -> Option<f64> {
    let (mut read, mut all) = (0_u64, 0_u64);
    for slice in slices {
        read = read.saturating_add(slice.read_times);
        let counts = slice.errors.iter().map(|(_, n)| *n).chain([slice.served]);
        all = counts.fold(all, u64::saturating_add);
    }
    let part = read as f64 / all.max(1) as f64;
    (part > MANY_READ_SHARE).then_some(part)
}
