// SPDX-License-Identifier: Apache-2.0
//! How long requests took: a table of quantiles, and the distributions and slices that plots are made of.

use super::tables::{UPRIGHT, errors, figure, head, shown};
use super::trouble::failed;
use crate::content::Room;
use crate::load::{LoadView, QUANTILES, Series};
use crate::number::{Quantity, single};
use crate::table::{Cell, Table};
use lab_model::Counts;
use lab_stats::analysis::Interval;
use lab_stats::load::analysis::{LoadCell, Quantiles};
use std::collections::BTreeMap;

/// A slice on the axis of the time under load: parts of a second, rates, and quantiles of those served.
pub struct Moment {
    /// When it began, in seconds of load on this server at this point.
    pub from_s: f64,
    /// When it ended.
    pub to_s: f64,
    /// Requests due per second.
    pub offered: f64,
    /// Requests served per second.
    pub served: f64,
    /// Requests that failed, per second.
    pub errors: f64,
    /// The median response time, ns.
    pub p50_ns: Option<u64>,
    /// Its 99th percentile.
    pub p99_ns: Option<u64>,
}

/// One after the other.
pub fn moments(series: &Series) -> Vec<Moment> {
    let mut begin = 0.0;
    let moment = |slice: &&lab_model::Slice| {
        let [length, served_in] =
            [slice.wall_ns, slice.served_in_ns()].map(|ns| ns.max(1) as f64 / 1e9);
        let from_s = begin;
        begin += length;
        let errors = slice.errors.iter().map(|(_, n)| *n as f64).sum::<f64>();
        let at = |q| quantile(&slice.response.0, q);
        Moment {
            from_s,
            to_s: begin,
            offered: slice.offered as f64 / length,
            served: slice.served as f64 / served_in,
            errors: errors / length,
            p50_ns: at(0.5),
            p99_ns: at(0.99),
        }
    };
    series.slices.iter().map(moment).collect()
}

/// The sum of distributions, ascending.
pub fn merged<'c>(all: impl Iterator<Item = &'c Counts>) -> Vec<(u64, u64)> {
    let mut sum: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in all.flat_map(|counts| &counts.0) {
        let known = sum.entry(*value).or_default();
        *known = known.saturating_add(*count);
    }
    sum.into_iter().collect()
}

/// The least value that so great a part of a distribution does not exceed.
pub fn quantile(counts: &[(u64, u64)], part: f64) -> Option<u64> {
    let total = counts.iter().map(|(_, n)| *n as f64).sum::<f64>();
    let mut below = 0.0;
    let found = counts.iter().find(|(_, count)| {
        below += *count as f64;
        below >= part * total && below > 0.0
    });
    found.map(|(value, _)| *value)
}

/// Response times, and in an open loop service times beside them. A single point has its quantiles as
/// rows; otherwise rows are servers and points.
pub fn time_table(view: &LoadView, room: Room) -> Vec<Table> {
    let mut tables = match view.analysis.cells.len() {
        0 => return Vec::new(),
        1..=UPRIGHT => vec![upright(view, room)],
        _ => level(view, room),
    };
    let note = match view.open() {
        true => {
            "Response: from the moment when a request was due. Service: from the moment when it was sent. What \
                 is between the two is waiting."
        }
        false => "From the sending of a request to the end of its answer.",
    };
    if let Some(last) = tables.last_mut() {
        last.notes.push(format!(
            "{note} The maximum is a single reading; – where there are too few requests."
        ));
    }
    tables
}

type Times = (&'static str, fn(&LoadCell) -> &Quantiles);

fn kinds(view: &LoadView) -> Vec<Times> {
    let mut kinds: Vec<Times> = vec![("response time", |cell| &cell.response)];
    if view.open() {
        kinds.push(("service time", |cell| &cell.service));
    }
    kinds
}

fn upright(view: &LoadView, room: Room) -> Table {
    let (cells, kinds) = (&view.analysis.cells, kinds(view));
    let columns: Vec<(&LoadCell, Times)> = cells
        .iter()
        .flat_map(|cell| kinds.iter().map(move |kind| (cell, *kind)))
        .collect();
    let title = |(cell, (kind, _)): &(&LoadCell, Times)| match cells.len() {
        1 => kind.to_string(),
        _ => format!("{}: {kind}", view.label(cell.subject, cell.point)),
    };
    let headings = columns.iter().map(title);
    let mut table = Table::new(
        "Response time",
        std::iter::once("of all".into()).chain(headings),
    );
    // An interval in full where two of them fit a terminal.
    let show = shown(if columns.len() > 2 { room } else { Room::Wide });
    for (name, _, of) in QUANTILES {
        let cell = |(cell, (_, times)): &(&LoadCell, Times)| time(of(times(cell)), show);
        let row = std::iter::once(Cell::from(name)).chain(columns.iter().map(cell));
        table.rows.push(row.collect());
    }
    let most = |(cell, (_, times)): &(&LoadCell, Times)| most(times(cell));
    let row = std::iter::once(Cell::from("max")).chain(columns.iter().map(most));
    table.rows.push(row.collect());
    if cells.iter().any(|cell| failed(cell) > 0) {
        let errors = |(cell, _): &(&LoadCell, Times)| errors(cell);
        let row = std::iter::once(Cell::from("failed")).chain(columns.iter().map(errors));
        table.rows.push(row.collect());
    }
    table
}

/// A table for each kind of time.
fn level(view: &LoadView, room: Room) -> Vec<Table> {
    let table = |(kind, times): Times| {
        let quantiles: Vec<_> = match room {
            Room::Narrow => [0, 2, 3, 4].map(|i| QUANTILES[i]).to_vec(),
            Room::Wide => QUANTILES.to_vec(),
        };
        let headings = quantiles.iter().map(|(name, ..)| name.to_string());
        let headings = headings.chain(["max".into(), "failed".into()]);
        let mut table = Table::new(
            crate::view::capital(kind),
            std::iter::once(head(view)).chain(headings),
        );
        for cell in &view.analysis.cells {
            let mut row = vec![Cell::from(view.label(cell.subject, cell.point))];
            let of = |(.., of): &crate::load::Quantile| match of(times(cell)) {
                Some(interval) => figure(view, room, Quantity::Time, &interval),
                None => "–".into(),
            };
            row.extend(quantiles.iter().map(of));
            row.push(most(times(cell)));
            row.push(errors(cell));
            table.rows.push(row);
        }
        table
    };
    kinds(view).into_iter().map(table).collect()
}

fn time(interval: Option<Interval>, show: fn(Quantity, &Interval) -> String) -> Cell {
    interval.map_or("–".into(), |i| show(Quantity::Time, &i).into())
}

fn most(times: &Quantiles) -> Cell {
    times
        .max_ns
        .map_or("–".into(), |ns| single(Quantity::Time, ns as f64).into())
}
