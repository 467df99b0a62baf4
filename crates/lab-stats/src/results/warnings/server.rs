// SPDX-License-Identifier: Apache-2.0
//! Servers under load: their figures, and which of them a warning concerns.

use super::{WarningBasis, percent};
use crate::load::{BUSY_SHARE, OWN_LATENCY, error_share, is_generators};
use crate::results::{Cell, Value, Warning, WarningKind};
use crate::stopping;
use lab_model::{Load, Metric, Plan, PointId, Run, SubjectId};

/// Who waits for an answer for less than a second is not said to starve.
const STARVED_NS: f64 = 1e9;

/// What warnings of a load are found in.
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

    /// The servers at the points at which something is so.
    pub fn cells(&self, which: impl Fn(&ServerCells) -> bool) -> Vec<&ServerCells<'e>> {
        self.servers.iter().filter(|cell| which(cell)).collect()
    }

    /// Those of which requests failed.
    pub fn failing(&self) -> Vec<&ServerCells<'e>> {
        self.cells(|cell| cell.errors() > 0)
    }

    /// Those at which the generator's busiest thread was the limit.
    pub fn busy(&self) -> Vec<&ServerCells<'e>> {
        self.cells(|cell| cell.number(&Metric::GENERATOR_BUSY) > BUSY_SHARE)
    }

    /// Those of which more than a tenth of a percentile can be the generator's own latency.
    pub fn late(&self) -> Vec<&ServerCells<'e>> {
        let load = self.plan.load();
        self.cells(|cell| {
            let latencies = load.into_iter().flat_map(|load| cell.of_generator(load));
            self.plan.is_open(cell.point) && latencies.count() > 0
        })
    }

    /// Those that left requests of a closed loop waiting for longer than the load lasted.
    pub fn starving(&self) -> Vec<&ServerCells<'e>> {
        let load_ns = self
            .plan
            .load()
            .map_or(f64::MAX, |load| load.stretch_ns as f64);
        self.cells(|cell| {
            !self.plan.is_open(cell.point) && cell.number(&Metric::DRAIN) > load_ns.max(STARVED_NS)
        })
    }

    /// Those that did not keep up with the rate.
    pub fn overloaded(&self) -> Vec<&ServerCells<'e>> {
        self.cells(|cell| cell.value(&Metric::BACKLOG).is_some())
    }
}

/// The figures of a server at a point.
pub(super) struct ServerCells<'c> {
    pub subject: SubjectId,
    pub point: PointId,
    cells: &'c [Cell],
}

/// All servers at all points, of cells that are ordered by point, then subject.
fn servers(cells: &[Cell]) -> Vec<ServerCells<'_>> {
    let places = cells.chunk_by(|a, b| a.key.place() == b.key.place());
    let server = |cells: &'_ [Cell]| {
        let key = cells.first().map(|cell| (cell.key.subject, cell.key.point));
        key.and_then(|(subject, point)| Some((subject, point?)))
    };
    places
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

    /// 0 where it is not known.
    pub fn number(&self, metric: &Metric) -> f64 {
        self.value(metric).map_or(0.0, |value| value.value())
    }

    /// Percentiles in which the generator's own latency counts, and that.
    pub fn of_generator(&self, load: &Load) -> impl Iterator<Item = (&'static Metric, f64)> {
        OWN_LATENCY.iter().filter_map(|(response, lag)| {
            let response_ns = self.value(response)?.value();
            let lag_ns = self.value(lag)?.value();
            is_generators(load, response_ns, lag_ns).then_some((response, lag_ns))
        })
    }

    pub fn errors(&self) -> u64 {
        self.number(&Metric::ERRORS) as u64
    }

    pub fn served(&self) -> u64 {
        self.number(&Metric::SERVED) as u64
    }

    /// The part of the requests that failed, 0 to 1.
    pub fn error_share(&self) -> f64 {
        error_share(self.errors(), self.served()).unwrap_or(0.0)
    }
}

pub(super) fn interrupted(run: &Run) -> Option<Warning> {
    let state = stopping::unfinished(run)?;
    let text = format!("The run {state}: what it has is shown.");
    Some(Warning::new(WarningKind::Interrupted, text))
}

/// A warning of some cells, if there are any.
pub(super) fn warning(
    kind: WarningKind,
    cells: &[&ServerCells],
    text: impl FnOnce() -> String,
) -> Option<Warning> {
    (!cells.is_empty()).then(|| Warning::about(kind, text(), of_servers(cells)))
}

pub(super) fn of_servers(servers: &[&ServerCells]) -> Vec<(SubjectId, Option<PointId>)> {
    let place = |server: &&ServerCells| (server.subject, Some(server.point));
    servers.iter().map(place).collect()
}

/// Parts in whole percent.
pub(super) fn whole_percent(part: f64) -> f64 {
    (100.0 * part).round() / 100.0
}

/// `2.1 %`, and never 0 % of something.
pub(super) fn percent_of_errors(share: f64) -> String {
    match share {
        share if share < 0.0001 => "less than 0.01 %".to_string(),
        share => percent(share),
    }
}
