// SPDX-License-Identifier: Apache-2.0
//! Requests per second: the most of each server, and against the number of connections.

use super::{beside, by_case, figure, figure_in, none, ranked, unit, with_verdict};
use crate::content::Room;
use crate::content::load::{errors, failed};
use crate::number::Quantity;
use crate::served::ServedView;
use crate::table::{Cell, Table, Tone};
use lab_model::{PointId, SubjectId};
use lab_stats::load::analysis::{LoadCell, Metric};

/// What stands where the generator was the limit.
const LIMIT: &str = "! The generator was the limit there, not the server: it would serve more.";

/// The most requests per second of each server, and over how many connections.
pub fn peak_table(view: &ServedView, room: Room) -> Table {
    let keep_alive = view.usual();
    let cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    let peaks = cases.iter().flatten();
    let peaks = peaks.flat_map(|&case| ranked(view).into_iter().map(move |s| (s, case)));
    let peaks = peaks.filter_map(|(subject, case)| view.peak(subject, case, keep_alive));
    let (scale, in_unit) = unit(Quantity::Rate, room, peaks.map(|c| c.served_per_s.estimate));
    let title = format!(
        "Most requests per second{}, over {}",
        in_unit.replace(", k", " in thousands"),
        view.connections(None, keep_alive)
    );
    let mut table = by_case(view, title, &cases, |subject, case| {
        let peak = case.and_then(|case| view.peak(subject, case, keep_alive));
        let Some(peak) = peak else {
            return none(view, subject, None);
        };
        let shown = figure_in(Quantity::Rate, scale, &peak.served_per_s, room);
        let shown = limited(peak, shown);
        match room {
            Room::Narrow => shown,
            Room::Wide => beside(shown, &at(view, peak)),
        }
    });
    if table
        .rows
        .iter()
        .flatten()
        .any(|cell| cell.text.ends_with('!'))
    {
        table.notes.push(LIMIT.into());
    }
    table
}

/// `at 128`: over how many connections.
fn at(view: &ServedView, peak: &LoadCell) -> String {
    format!("at {}", view.common().plan.connections(peak.point))
}

/// Requests per second of a case against connections, kept alive and not; no table without points.
pub fn rate_tables(view: &ServedView, case: usize, room: Room) -> Vec<Table> {
    let tables = [true, false].map(|keep_alive| rate_table(view, case, keep_alive, room));
    tables.into_iter().flatten().collect()
}

fn rate_table(view: &ServedView, case: usize, keep_alive: bool, room: Room) -> Option<Table> {
    let points = view.closed(case, keep_alive);
    let plan = view.common().plan;
    let numbers = points
        .iter()
        .map(|&point| plan.connections(point).to_string());
    let title = format!(
        "{}: requests per second over connections {}",
        view.case_name(Some(case)),
        match keep_alive {
            true => "kept alive",
            false => "with a new one for each request",
        }
    );
    let columns = std::iter::once("server".to_string()).chain(numbers);
    let mut table = Table::new(title, columns);
    for subject in ranked(view) {
        let cells = points.iter().map(|&point| rate(view, subject, point, room));
        let name = Cell::from(view.name(subject));
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    let cells = points
        .iter()
        .flat_map(|&point| ranked(view).into_iter().map(move |s| (s, point)));
    let cells: Vec<&LoadCell> = cells.filter_map(|(s, p)| view.load.cell(s, p)).collect();
    table.notes.push(format!(
        "Verdicts are on the time per request as a multiple of {}'s: less time is more requests per second.",
        view.common().baseline()
    ));
    if cells.iter().any(|cell| cell.saturated) {
        table.notes.push(format!(
            "{LIMIT} It is compared only with servers that are behind even so."
        ));
    }
    let failing: Vec<String> = cells
        .iter()
        .filter(|cell| failed(cell) > 0)
        .map(|cell| {
            let n = plan.connections(cell.point);
            format!("{} at {n} {}", view.name(cell.subject), errors(cell).text)
        })
        .collect();
    if !failing.is_empty() {
        table
            .notes
            .push(format!("Requests that failed: {}.", failing.join(", ")));
    }
    (!points.is_empty() && !table.rows.is_empty()).then_some(table)
}

fn rate(view: &ServedView, subject: SubjectId, point: PointId, room: Room) -> Cell {
    let Some(cell) = view.load.cell(subject, point) else {
        return none(view, subject, Some(point));
    };
    let shown = limited(cell, figure(Quantity::Rate, &cell.served_per_s, room));
    match view.load.comparison(subject, point, Metric::Throughput) {
        Some(comparison) => with_verdict(shown, Some(&comparison.verdict), room),
        None => shown,
    }
}

/// A rate that says so where it is the generator's.
pub fn limited(cell: &LoadCell, shown: Cell) -> Cell {
    match cell.saturated {
        false => shown,
        true => Cell {
            text: format!("{} !", shown.text),
            ..shown
        }
        .tone(Tone::Alarm),
    }
}
