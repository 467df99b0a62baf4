// SPDX-License-Identifier: Apache-2.0
//! Where the time of an operation goes: the client's CPU, the server's CPU, waiting.

use super::Room;
use super::targets::short_label;
use crate::number::{Quantity, full, short};
use crate::table::{Cell, Table};
use crate::view::View;
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, ServerCost};

/// What the parts are, for captions.
pub const PARTS: &str = "Means over whole blocks, pauses and all. Client and server: CPU time of their processes, \
                         all threads; waiting: what is left of the wall time.";

/// What there is to say where client and server worked at once.
const OVERLAP: &str = "Where both worked at once, or helper threads did, the CPU times exceed the wall time by the \
                       overlap, and waiting is 0.";

/// A subject at a point, or in its place one at which it can do what it cannot do there.
pub struct Bar<'a> {
    /// Who, and what it does otherwise: `pymysql (text)`.
    pub name: String,
    /// Who.
    pub subject: SubjectId,
    /// Where its time goes.
    pub cost: &'a ServerCost,
}

/// The main points, each with the subjects of which the parts are known: of every case that does one
/// operation at a time the point with the first values of its factors, and the largest of its sweep.
pub fn splits<'a>(view: &View<'a>) -> Vec<(PointId, Vec<Bar<'a>>)> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for group in view.groups() {
        let largest = group.points.iter().copied().max_by(|&a, &b| {
            let x = |p: PointId| view.plan.points[p].x.unwrap_or(0.0);
            x(a).total_cmp(&x(b))
        });
        let Some(point) = largest.filter(|_| !seen.contains(&group.case)) else {
            continue;
        };
        seen.push(group.case);
        let bars = view.shown().into_iter().filter_map(|s| bar(view, s, point));
        let bars: Vec<Bar> = bars.collect();
        if !bars.is_empty() {
            found.push((point, bars));
        }
    }
    found
}

/// Narrow, a table for each main point; wide, one for all points.
pub fn split_tables(view: &View, room: Room) -> Vec<Table> {
    let mut tables = match room {
        Room::Narrow => splits(view)
            .iter()
            .map(|(point, bars)| narrow(view, *point, bars))
            .collect(),
        Room::Wide => vec![wide(view)],
    };
    tables.retain(|table: &Table| !table.rows.is_empty());
    if let Some(last) = tables.last_mut() {
        last.notes.push(PARTS.into());
        if view.analysis.server_costs.iter().any(overlaps) {
            last.notes.push(OVERLAP.into());
        }
    }
    tables
}

/// Whether client and server are shown to have worked at once.
fn overlaps(cost: &ServerCost) -> bool {
    cost.overlap_ns.estimate > 0.0
}

fn bar<'a>(view: &View<'a>, subject: SubjectId, point: PointId) -> Option<Bar<'a>> {
    let place = match view.plan.takes_part(subject, point) {
        true => point,
        false => sibling(view, subject, point)?,
    };
    let mut costs = view.analysis.server_costs.iter();
    let cost = costs.find(|c| (c.subject, c.point) == (subject, place))?;
    let params = &view.plan.points[point].params;
    let other = view.plan.points[place].params.iter();
    let other = other.filter(|param| !params.contains(param));
    let words: Vec<&str> = other.map(|(_, value)| value.as_str()).collect();
    let name = view.name(subject);
    Some(Bar {
        name: match words.is_empty() {
            true => name.into(),
            false => format!("{name} ({})", words.join(", ")),
        },
        subject,
        cost,
    })
}

/// The first point of the same case and value of the sweep that a subject can do.
fn sibling(view: &View, subject: SubjectId, point: PointId) -> Option<PointId> {
    let here = &view.plan.points[point];
    (0..view.plan.points.len()).find(|&other| {
        let there = &view.plan.points[other];
        there.case == here.case && there.x == here.x && view.plan.takes_part(subject, other)
    })
}

fn headings(view: &View, first: &[&str]) -> Vec<String> {
    let costs = &view.analysis.server_costs;
    let server = costs.iter().any(|c| c.server_ns.is_some());
    let overlap = costs.iter().any(overlaps);
    let parts = [
        "wall",
        "client",
        if server { "server" } else { "" },
        "waiting",
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let all = first.iter().copied().chain(parts);
    all.chain(overlap.then_some("overlap"))
        .map(String::from)
        .collect()
}

fn cells(view: &View, cost: &ServerCost, show: fn(Quantity, &Interval) -> String) -> Vec<Cell> {
    let headings = headings(view, &[]);
    let part = |name: &str| match name {
        "wall" => Some(cost.wall_ns),
        "client" => Some(cost.client_ns),
        "server" => cost.server_ns,
        "waiting" => Some(cost.waiting_ns),
        _ => Some(cost.overlap_ns),
    };
    let cell = |name: &String| match part(name) {
        Some(i) if i.high <= 0.0 => Cell::from("0"),
        Some(i) => show(Quantity::Time, &i).into(),
        None => "–".into(),
    };
    headings.iter().map(cell).collect()
}

fn narrow(view: &View, point: PointId, bars: &[Bar]) -> Table {
    let mut headings = headings(view, &["subject"]);
    headings[0] = short_label(view, point);
    let mut table = Table::new("", headings);
    for bar in bars {
        let name = std::iter::once(Cell::from(bar.name.as_str()));
        table
            .rows
            .push(name.chain(cells(view, bar.cost, short)).collect());
    }
    table
}

fn wide(view: &View) -> Table {
    let title = "Where the time of an operation goes";
    let mut table = Table::new(title, headings(view, &["subject", "point"]));
    table.columns[1].numeric = false;
    let shown = view.shown();
    for cost in &view.analysis.server_costs {
        if shown.contains(&cost.subject) {
            let head = [
                Cell::from(view.name(cost.subject)),
                view.plan.label(cost.point).into(),
            ];
            table
                .rows
                .push(head.into_iter().chain(cells(view, cost, full)).collect());
        }
    }
    table
}
