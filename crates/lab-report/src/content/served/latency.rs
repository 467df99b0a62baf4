// SPDX-License-Identifier: Apache-2.0
//! How long requests take where each server is offered a part of its own peak: the only rates at which
//! latencies can be compared.

use super::{by_case, figure, figure_in, marks, none, ranked, unit, with_verdict};
use crate::content::Room;
use crate::load::{QUANTILES, Quantile};
use crate::number::{Quantity, alone};
use crate::served::{ServedView, percent_of_peak};
use crate::table::{Cell, Table};
use lab_model::{PointId, SubjectId};
use lab_stats::load::analysis::Metric;

/// The quantiles that are compared.
const COMPARED: [(usize, Metric); 3] = [(0, Metric::P50), (2, Metric::P90), (3, Metric::P99)];

/// What the rates are.
const OWN: &str = "Each server is offered a part of its own peak, whatever becomes of the requests before: response \
                   times count from the moment when a request was due.";

/// The p99 at the part in the middle, case by case; no rows without such points.
pub fn p99_table(view: &ServedView, room: Room) -> Table {
    let keep_alive = view.usual();
    let Some(part) = view.middle_part() else {
        return Table::default();
    };
    let cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    let point = |case: Option<usize>| view.at_part(case?, keep_alive, part).first().copied();
    let p99 = |subject, point| view.load.cell(subject, point)?.response.p99_ns;
    let known = cases.iter().filter_map(|&case| point(case));
    let known = known.flat_map(|point| ranked(view).into_iter().map(move |s| (s, point)));
    let known = known.filter_map(|(subject, point)| Some(p99(subject, point)?.estimate));
    let (scale, in_unit) = unit(Quantity::Time, room, known);
    let title = format!(
        "p99 of the response time at {} of each server's own peak{in_unit}",
        percent_of_peak(part)
    );
    let mut table = by_case(view, title, &cases, |subject, case| {
        let here = point(case);
        let time = here.and_then(|point| p99(subject, point));
        match (here, time) {
            (Some(point), Some(time)) => {
                let shown = figure_in(Quantity::Time, scale, &time, room);
                marked(view, subject, point, Metric::P99, shown, room)
            }
            _ => none(view, subject, here),
        }
    });
    table.notes.push(format!(
        "{OWN} Verdicts are on {}'s; where there is none, too few requests were served for it, or too many failed.{}",
        view.common().baseline(),
        marks(room),
    ));
    table
}

/// A table of a case for each part: what was offered, and how long requests took.
pub fn latency_tables(view: &ServedView, case: usize, room: Room) -> Vec<Table> {
    let mut tables = Vec::new();
    for keep_alive in [true, false] {
        for part in view.parts() {
            for point in view.at_part(case, keep_alive, part) {
                tables.push(latency_table(view, point, part, keep_alive, room));
            }
        }
    }
    if let Some(last) = tables.last_mut() {
        last.notes.push(format!(
            "{OWN} Percentiles are those of all requests served; – where there are too few. Verdicts are on {}'s.",
            view.common().baseline()
        ));
    }
    tables
}

fn latency_table(
    view: &ServedView,
    point: PointId,
    part: f64,
    keep_alive: bool,
    room: Room,
) -> Table {
    let plan = view.common().plan;
    let title = format!(
        "{}: response time at {} of each server's own peak, over {} connections{}",
        plan.case(point).name,
        percent_of_peak(part),
        plan.connections(point),
        if keep_alive {
            ""
        } else {
            ", a new one for each request"
        },
    );
    let quantiles = [0, 2, 3, 4].map(|i| QUANTILES[i]);
    let names = quantiles.iter().map(|(name, ..)| name.to_string());
    let columns = ["server", "offered", "served"].map(String::from);
    let mut table = Table::new(title, columns.into_iter().chain(names));
    for subject in ranked(view) {
        let Some(cell) = view.load.cell(subject, point) else {
            continue;
        };
        let mut row = vec![
            Cell::from(view.name(subject)),
            alone(Quantity::Rate, &cell.offered_per_s).into(),
            figure(Quantity::Rate, &cell.served_per_s, room),
        ];
        row.extend(quantiles.iter().map(|(name, _, of): &Quantile| {
            let Some(time) = of(&cell.response) else {
                return Cell::from("–");
            };
            let shown = figure(Quantity::Time, &time, room);
            let compared = COMPARED.iter().find(|(i, _)| QUANTILES[*i].0 == *name);
            match compared {
                Some((_, metric)) => marked(view, subject, point, *metric, shown, room),
                None => shown,
            }
        }));
        table.rows.push(row);
    }
    table
}

/// With the verdict on it.
fn marked(
    view: &ServedView,
    subject: SubjectId,
    point: PointId,
    metric: Metric,
    shown: Cell,
    room: Room,
) -> Cell {
    let comparison = view.load.comparison(subject, point, metric);
    with_verdict(shown, comparison.map(|c| &c.verdict), room)
}
