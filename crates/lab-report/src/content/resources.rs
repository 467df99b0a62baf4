// SPDX-License-Identifier: Apache-2.0
//! Memory, threads, start-up and warm-up.

use super::Room;
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Table, Tone};
use crate::view::View;
use lab_model::WarmUp;
use lab_stats::analysis::Cell as Figures;

/// Memory, threads and start-up.
pub fn resource_table(view: &View, room: Room) -> Table {
    let columns = ["subject", "start-up", "resident", "peak", "threads"];
    let mut table = Table::new(
        "Start-up, memory, and the most threads seen",
        columns.map(String::from),
    );
    for print in &view.analysis.footprints {
        let show = |quantity, interval| match room {
            Room::Narrow => short(quantity, interval),
            Room::Wide => full(quantity, interval),
        };
        table.rows.push(vec![
            view.name(print.subject).into(),
            show(Quantity::Time, &print.startup_ns).into(),
            show(Quantity::Size, &print.rss_bytes).into(),
            show(Quantity::Size, &print.peak_rss_bytes).into(),
            print.threads.to_string().into(),
        ]);
    }
    table
}

/// How the first batches of fresh processes behaved, and the very first operation; no rows for whole
/// commands, whose every run is a fresh process.
pub fn warm_up_table(view: &View) -> Table {
    let subjects = view.shown();
    let names = subjects.iter().map(|&s| view.name(s).to_string());
    let title = "Warm-up, and the first operation of a fresh process (a single reading)";
    let columns = std::iter::once("point".to_string()).chain(names);
    let mut table = Table::new(title, columns);
    if view.commands().is_some() {
        return table;
    }
    for point in 0..view.plan.points.len() {
        let cells = subjects.iter().map(|&s| match view.cell(s, point) {
            Some(cell) => warm_up_cell(cell),
            None => Cell::from("–"),
        });
        let row: Vec<Cell> = std::iter::once(view.plan.label(point).into())
            .chain(cells)
            .collect();
        table.rows.push(row);
    }
    table
}

fn warm_up_cell(cell: &Figures) -> Cell {
    let class = match cell.warm_up {
        Some(WarmUp::Flat) => "flat",
        Some(WarmUp::Warming) => "warming",
        Some(WarmUp::Slowing) => "slowing",
        Some(WarmUp::NoSteadyState) => "no steady state",
        None => "–",
    };
    let alarm = cell.warm_up == Some(WarmUp::NoSteadyState);
    let cold = cell.cold_ns.map_or(String::new(), |ns| {
        number::single(Quantity::Time, ns as f64)
    });
    Cell::from(class)
        .sub(cold)
        .tone(if alarm { Tone::Open } else { Tone::Plain })
}
