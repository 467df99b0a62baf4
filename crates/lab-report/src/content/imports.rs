// SPDX-License-Identifier: Apache-2.0
//! Figures taken over from other tools.

use crate::Report;
use crate::number::{self, Quantity};
use crate::table::{Cell, Table};
use lab_model::{ImportedTime, Run};

/// Figures taken over from other tools, of this run and of the others.
pub fn import_tables(report: &Report) -> Vec<Table> {
    let runs = std::iter::once(report.run).chain(report.others);
    runs.filter(|run| !run.imports.is_empty())
        .map(import_table)
        .collect()
}

/// Rows are titles, columns the imported benchmarks.
fn import_table(run: &Run) -> Table {
    let names = run
        .imports
        .iter()
        .map(|i| format!("{} {}", i.language, i.driver).trim().to_string());
    let title = format!(
        "Imported from {}: single readings, without intervals, under other conditions",
        run.name
    );
    let mut table = Table::new(title, std::iter::once("title".to_string()).chain(names));
    let mut titles: Vec<&str> = Vec::new();
    for time in run.imports.iter().flat_map(|i| &i.times) {
        if !titles.contains(&time.title.as_str()) {
            titles.push(&time.title);
        }
    }
    for title in titles {
        let cells = run
            .imports
            .iter()
            .map(|i| imported_cell(i.times.iter().find(|t| t.title == title)));
        table
            .rows
            .push(std::iter::once(Cell::from(title)).chain(cells).collect());
    }
    table
}

fn imported_cell(time: Option<&ImportedTime>) -> Cell {
    time.map_or("–".into(), |t| {
        Cell::from(number::single(Quantity::Time, t.time_ns))
    })
}
