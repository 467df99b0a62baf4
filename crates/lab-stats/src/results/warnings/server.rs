// SPDX-License-Identifier: Apache-2.0
//! Values of servers under load, and warnings that apply to both running servers and servers that
//! benchlab starts.

use super::basis::WarningBasis;
use crate::load::visits::per_10_000;
use crate::load::{BUSY_FRACTION, OWN_LATENCY, error_fraction, hidden, is_generators};
use crate::results::warning::{
    BusyAt, CellName, ErrorsAt, LateAt, OverloadAt, OwnLatency, StarvedAt,
};
use crate::results::{Cell, Value, Warning, WarningFact};
use lab_model::{LoadSpec, Metric, Plan, PointId, Run, SubjectId};

/// A connection is starved if it waits at least this long for its response, in ns.
const STARVED_NS: f64 = 1e9;

/// The data from which warnings about a load are derived.
pub(super) struct Loaded<'e> {
    pub run: &'e Run,
    pub plan: &'e Plan,
    pub evidence: &'e WarningBasis<'e>,
    servers: Vec<ServerCells<'e>>,
}

impl<'e> Loaded<'e> {
    pub fn new(evidence: &'e WarningBasis<'e>) -> Loaded<'e> {
        Loaded {
            run: evidence.basis.run,
            plan: evidence.basis.plan,
            evidence,
            servers: servers(evidence.cells),
        }
    }

    /// Returns the cells of the servers and points for which `which` returns true.
    pub fn cells(&self, which: impl Fn(&ServerCells) -> bool) -> Vec<&ServerCells<'e>> {
        self.servers.iter().filter(|cell| which(cell)).collect()
    }

    /// Returns true if benchlab starts the servers and compares them.
    fn are_started(&self) -> bool {
        self.plan.serving().is_some()
    }

    /// Returns the names of a cell's server and point.
    ///
    /// A name is `None` if the run has only one server or only one point.
    pub fn name_cell(&self, cell: &ServerCells) -> CellName {
        let name = || self.plan.subjects[cell.subject].name.clone();
        if self.are_started() {
            return CellName {
                subject: Some(name()),
                point: Some(self.plan.label(cell.point)),
            };
        }
        let params = self.plan.points[cell.point].params.iter();
        let params: Vec<String> = params
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        CellName {
            subject: (self.plan.subjects.len() > 1).then(name),
            point: (self.plan.points.len() > 1).then(|| params.join(" ")),
        }
    }

    pub fn errors(&self) -> Option<Warning> {
        let failing = self.cells(|cell| cell.errors() > 0);
        let hides = |cell: &ServerCells| {
            let part = per_10_000(&Metric::P999);
            part.is_some_and(|part| hidden(cell.errors(), cell.served(), part))
        };
        let has_multiple = self.plan.subjects.len() > 1;
        let hide_percentiles =
            self.are_started() || has_multiple && failing.iter().any(|cell| hides(cell));
        let at = |cell: &&ServerCells| {
            let all = self.evidence.errors.iter();
            let of_cell = all.filter(|e| (e.0, e.1) == (cell.subject, cell.point));
            ErrorsAt {
                place: self.name_cell(cell),
                fraction: cell.error_fraction(),
                kinds: of_cell.map(|(.., kind, count)| (*kind, *count)).collect(),
            }
        };
        warning(&failing, || WarningFact::Errors {
            at: failing.iter().map(at).collect(),
            hide_percentiles,
        })
    }

    /// Returns a warning about points at which the generator's busiest thread was the bottleneck.
    pub fn saturated(&self) -> Option<Warning> {
        let busy = self.cells(|cell| cell.number(&Metric::GENERATOR_BUSY) > BUSY_FRACTION);
        let at = |cell: &&ServerCells| BusyAt {
            place: self.name_cell(cell),
            busy: cell.number(&Metric::GENERATOR_BUSY),
        };
        warning(&busy, || WarningFact::GeneratorSaturated {
            at: busy.iter().map(at).collect(),
            started: self.are_started(),
        })
    }

    /// Returns a warning about points at which the generator's own latency may exceed a tenth of a
    /// percentile.
    pub fn late(&self) -> Option<Warning> {
        let load = self.plan.load()?;
        let late = self.cells(|cell| {
            self.plan.is_open(cell.point) && cell.of_generator(load).next().is_some()
        });
        let at = |cell: &&ServerCells| {
            let percentiles = cell.of_generator(load);
            let percentiles = percentiles.map(|(metric, delay_ns)| OwnLatency {
                percentile: metric.title.to_string(),
                delay_ns,
            });
            LateAt {
                place: self.name_cell(cell),
                percentiles: percentiles.collect(),
                p99_ns: cell.number(&Metric::SEND_DELAY_P99),
            }
        };
        warning(&late, || WarningFact::GeneratorLate {
            at: late.iter().map(at).collect(),
            started: self.are_started(),
        })
    }

    /// Returns a warning about requests of a closed loop that waited for longer than the load
    /// lasted.
    pub fn starved(&self) -> Option<Warning> {
        let load_ns = self.plan.load()?.stretch_ns as f64;
        let starving = self.cells(|cell| {
            !self.plan.is_open(cell.point) && cell.number(&Metric::DRAIN) > load_ns.max(STARVED_NS)
        });
        let at = |cell: &&ServerCells| StarvedAt {
            place: self.name_cell(cell),
            longest_ns: cell.number(&Metric::DRAIN),
        };
        warning(&starving, || WarningFact::ConnectionsStarved {
            at: starving.iter().map(at).collect(),
            started: self.are_started(),
        })
    }

    /// Returns a warning about points at which a server did not keep up with the offered rate.
    pub fn overloaded(&self) -> Option<Warning> {
        let short = self.cells(|cell| cell.value(&Metric::BACKLOG).is_some());
        let at = |cell: &&ServerCells| OverloadAt {
            place: self.name_cell(cell),
            served: cell.number(&Metric::THROUGHPUT),
            offered: cell.number(&Metric::OFFERED),
            drain_ns: cell.number(&Metric::DRAIN),
        };
        warning(&short, || WarningFact::Overloaded {
            at: short.iter().map(at).collect(),
            started: self.are_started(),
        })
    }
}

/// The values of a server at a point.
pub(super) struct ServerCells<'c> {
    pub subject: SubjectId,
    pub point: PointId,
    cells: &'c [Cell],
}

/// Returns all servers at all points.
///
/// `cells` must be sorted by point, then subject.
fn servers(cells: &[Cell]) -> Vec<ServerCells<'_>> {
    let cells_by_key = cells.chunk_by(|a, b| a.key.sort_key() == b.key.sort_key());
    let server = |cells: &'_ [Cell]| {
        let key = cells.first().map(|cell| (cell.key.subject, cell.key.point));
        key.and_then(|(subject, point)| Some((subject, point?)))
    };
    cells_by_key
        .filter_map(|cells| {
            let (subject, point) = server(cells)?;
            Some(ServerCells {
                subject,
                point,
                cells,
            })
        })
        .collect()
}

impl ServerCells<'_> {
    pub fn value(&self, metric: &Metric) -> Option<Value> {
        let found = self.cells.iter().find(|cell| cell.key.metric == *metric);
        found.map(|cell| cell.value)
    }

    /// Returns the value of a metric, or 0 if the value is unknown.
    pub fn number(&self, metric: &Metric) -> f64 {
        self.value(metric).map_or(0.0, |value| value.value())
    }

    /// Returns the percentiles that the generator's own latency affects, each with this latency in
    /// ns.
    pub fn of_generator(&self, load: &LoadSpec) -> impl Iterator<Item = (&'static Metric, f64)> {
        OWN_LATENCY.iter().filter_map(|(response, send_delay)| {
            let response_ns = self.value(response)?.value();
            let send_delay_ns = self.value(send_delay)?.value();
            is_generators(load, response_ns, send_delay_ns).then_some((response, send_delay_ns))
        })
    }

    pub fn errors(&self) -> u64 {
        self.number(&Metric::ERRORS) as u64
    }

    pub fn served(&self) -> u64 {
        self.number(&Metric::SERVED) as u64
    }

    /// Returns the fraction of failed requests, from 0 to 1.
    pub fn error_fraction(&self) -> f64 {
        error_fraction(self.errors(), self.served()).unwrap_or(0.0)
    }
}

/// Creates a warning about cells, or returns `None` if there are no cells.
pub(super) fn warning(
    cells: &[&ServerCells],
    fact: impl FnOnce() -> WarningFact,
) -> Option<Warning> {
    (!cells.is_empty()).then(|| Warning::with_cells(fact(), of_servers(cells)))
}

pub(super) fn of_servers(servers: &[&ServerCells]) -> Vec<(SubjectId, Option<PointId>)> {
    let key = |server: &&ServerCells| (server.subject, Some(server.point));
    servers.iter().map(key).collect()
}
