// SPDX-License-Identifier: Apache-2.0
//! What a request costs a server: its CPU time, as it is and as a multiple of the baseline's, and what a
//! connection for each request adds.

use super::{beside, by_case, figure_in, judged, marks, none, unit};
use crate::content::Room;
use crate::number::{self, Quantity, alone, level};
use crate::served::{ServedView, per_cpu_second};
use crate::table::{Cell, Table};
use lab_model::{PointId, SubjectId};
use lab_stats::load::analysis::Metric;

/// Where single figures of a case are told: so many connections, asked as fast as they are answered.
pub fn usual_point(view: &ServedView, case: usize) -> Option<PointId> {
    view.closed_at(case, view.usual(), view.usual_connections(case)?)
}

/// CPU time of a request where single figures are told, with the requests per CPU second.
pub fn cost_table(view: &ServedView, room: Room) -> Table {
    let cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    let mut numbers = cases
        .iter()
        .flatten()
        .filter_map(|&c| view.usual_connections(c));
    let point = |case: Option<usize>| usual_point(view, case?);
    let known = view.load.analysis.cells.iter();
    let known = known.filter(|cell| cases.iter().any(|&case| point(case) == Some(cell.point)));
    let known = known.filter_map(|cell| Some(cell.server_cpu_ns?.estimate));
    let (scale, in_unit) = unit(Quantity::Time, room, known);
    let rates = if room == Room::Wide {
        ", and requests per CPU second"
    } else {
        ""
    };
    let title = format!(
        "CPU time of a request over {} {}{in_unit}{rates}",
        number::whole(numbers.next().unwrap_or(0) as u64),
        match view.usual() {
            true => "connections kept alive",
            false => "connections, a new one for each request",
        },
    );
    by_case(view, title, &cases, |subject, case| {
        let here = point(case);
        let cell = here.and_then(|point| view.load.cell(subject, point));
        let Some(cost) = cell.and_then(|cell| cell.server_cpu_ns) else {
            return none(view, subject, here);
        };
        let shown = figure_in(Quantity::Time, scale, &cost, room);
        match room {
            Room::Narrow => shown,
            Room::Wide => beside(shown, &alone(Quantity::Rate, &per_cpu_second(&cost))),
        }
    })
}

/// CPU time of a request as a multiple of the baseline's, over all connections, by case and over all.
pub fn ratio_table(view: &ServedView, keep_alive: bool, room: Room) -> Table {
    let mut cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    // Where there is little room, all together is told beside other figures.
    if cases.len() > 1 && room == Room::Wide {
        cases.push(None);
    }
    let baseline = view.common().baseline();
    let title = format!(
        "CPU time of a request / {baseline}'s, over {} {}",
        view.connections(None, keep_alive),
        match keep_alive {
            true => "kept alive",
            false => "with a new one for each request",
        },
    );
    let cell = |subject: SubjectId, case| match view.overall(subject, case, keep_alive) {
        _ if subject == view.common().plan.baseline => Cell::from("1"),
        Some(overall) => judged(&overall.ratio, &overall.verdict, room),
        None => "–".into(),
    };
    let mut table = by_case(view, title, &cases, cell);
    if table.rows.iter().all(|row| {
        row[1..]
            .iter()
            .all(|c| ["–", "1"].contains(&c.text.as_str()))
    }) {
        table.rows.clear();
        return table;
    }
    let control = view.common().plan.control();
    let copy = control.and_then(|control| view.overall(control, view.whole(), keep_alive));
    if let Some(copy) = copy {
        table.notes.push(format!(
            "A second copy of {baseline}: {}, which shows the run's own noise.",
            number::full(Quantity::Ratio, &copy.ratio)
        ));
    }
    table.notes.push(format!(
        "Geometric means over the numbers of connections; below 1 is less CPU time, more requests per CPU second; \
         margin {}.{}",
        level(view.load.analysis.margin),
        marks(room),
    ));
    table
}

/// CPU time with a connection for each request as a multiple of that with connections kept alive; no rows
/// where not both were measured.
pub fn reconnect_table(view: &ServedView, room: Room) -> Table {
    let mut cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    if cases.len() > 1 {
        cases.push(None);
    }
    let title =
        "A connection for each request: CPU time of a request / that over connections kept alive";
    let mut table = by_case(view, title.into(), &cases, |subject, case| {
        match view.reconnect(subject, case, Metric::ServerCpu) {
            Some(effect) => figure_in(Quantity::Ratio, 1.0, &effect.ratio, room),
            None => "–".into(),
        }
    });
    if view.load.analysis.reconnects.is_empty() {
        table.rows.clear();
    }
    table.notes.push(format!(
        "Within each server, over {}; intervals are individual.",
        view.connections(None, false)
    ));
    table
}
