// SPDX-License-Identifier: Apache-2.0
//! Queries within pages, of logs that share ids: how often a request of a page runs them, and which are run for each of
//! many rows.

use super::pages::shortened;
use crate::kind::{cell, say};
use lab_document::{Cell, Column, Finding, Quantity, Section, Table, Tone};
use lab_model::{QueryWithin, Unit, Watched};

/// A query that a request runs so often is run in a loop.
const MIN_LOOP: f64 = 10.0;
/// Rows of the table.
const ROWS: usize = 40;

/// Executions in a request of the page, on average.
fn per_request(within: &QueryWithin) -> f64 {
    within.executions as f64 / within.requests.max(1) as f64
}

/// The part of the requests' time that the query takes; `None`: it is not known.
fn share(within: &QueryWithin) -> Option<f64> {
    let is_known = within.page_ns > 0 && within.total_ns > 0;
    is_known.then(|| within.total_ns as f64 / within.page_ns as f64)
}

/// The query that is run in a loop and takes most time.
pub fn finding(watched: &Watched) -> Option<Finding> {
    let looped = watched
        .within
        .iter()
        .filter(|within| per_request(within) >= MIN_LOOP);
    let most = looped.max_by_key(|within| (within.total_ns, within.executions))?;
    let share = share(most).map_or(String::new(), |share| {
        format!(
            ", {} of its time",
            say::percent((share * 100.0).round() / 100.0)
        )
    });
    let text = format!(
        "{} runs `{}` {:.0} times per request{share}.",
        shortened(&most.page),
        shortened(&most.query),
        per_request(most),
    );
    Some(Finding::new("N+1", text, Tone::Alarm))
}

/// The queries of each page, those that take most first.
pub fn section(watched: &Watched) -> Section {
    let mut section = Section::new("Queries within pages");
    let columns = vec![
        "page".into(),
        "query".into(),
        Column::of("requests", Unit::Count("requests".into())),
        Column::from("per request"),
        Column::of("total", Unit::Nanoseconds),
        Column::of("share", Unit::Share),
    ];
    let mut table = Table::new("", columns);
    table.caption = "Requests and statements that have the same id in their logs. Share: the part of these requests' time.".into();
    for within in watched.within.iter().take(ROWS) {
        table.row(vec![
            within.page.as_str().into(),
            within.query.as_str().into(),
            Quantity::count(within.requests, "requests").into(),
            format!("{:.1}", per_request(within)).into(),
            cell::time((within.total_ns > 0).then_some(within.total_ns as f64)),
            share(within).map_or(Cell::default(), |share| {
                Quantity::exact(share, Unit::Share).into()
            }),
        ]);
    }
    section.table(table.without_empty_columns());
    section.items.extend(finding(watched).map(Into::into));
    section
}
