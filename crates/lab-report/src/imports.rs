// SPDX-License-Identifier: Apache-2.0
//! Values imported from other tools, next to a run's own measurements.

use crate::parts::{cell, rows, table};
use lab_document::say;
use lab_document::{Column, Quantity, Section, Table};
use lab_model::{Imported, Run, Unit};
use lab_stats::processes;

/// Builds the tables of imported values. The section is empty if no run has imported values.
pub fn section<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Section {
    let mut section = Section::new("Imported values, for visual comparison");
    let runs = runs.into_iter();
    for run in runs.filter(|run| !run.imports().is_empty()) {
        if run.imports().iter().any(|import| !import.times.is_empty()) {
            section.push(times(run));
            section.push(resources(run));
        }
        section.table(series(run));
    }
    section
}

/// Builds the table of imported times: one row per title, one column per imported benchmark.
fn times(run: &Run) -> Table {
    let titles = run.imports().iter().flat_map(|import| &import.times);
    let titles = say::distinct(titles.map(|time| time.title.as_str()));
    let titles: Vec<_> = titles.into_iter().map(|t| (t, t.to_string())).collect();
    let title = format!("Imported from {}", run.name);
    let unit = Unit::Nanoseconds;
    let mut table = table::matrix(
        title,
        "operation",
        (&titles, &named(run)),
        &unit,
        |title, import| {
            let time = import.times.iter().find(|t| t.title == title);
            cell::or_none(time.map(|t| Quantity::exact(t.time_ns, Unit::Nanoseconds)))
        },
    );
    table.caption = "Single measurements without intervals, taken under other conditions.".into();
    table
}

/// Builds the table of the series that another tool measured.
fn series(run: &Run) -> Table {
    let title = format!("Imported from {}", run.name);
    let columns = ["benchmark", "subject", "metric", "value", "processes"];
    let mut table = Table::new(title, columns)
        .with_caption("Measured by another tool, at another time, perhaps on another machine.");
    for import in run.imports() {
        for series in &import.series {
            let value = processes::typical(series);
            let value = value.map(|i| match i.level > 0.0 {
                true => Quantity::estimate(&i, series.metric.unit.clone()),
                false => Quantity::exact(i.estimate, series.metric.unit.clone()),
            });
            table.row(vec![
                series.label().into(),
                rows::name(import).into(),
                (&*series.metric.title).into(),
                cell::or_none(value),
                series.processes.len().to_string().into(),
            ]);
        }
    }
    table
}

/// Returns the imported benchmarks with their names.
fn named(run: &Run) -> Vec<(&Imported, String)> {
    let imports = run.imports().iter();
    imports.map(|import| (import, rows::name(import))).collect()
}

/// Builds the table of memory, threads and CPU time from the imported files.
fn resources(run: &Run) -> Table {
    let columns = rows::PROCESS_METRICS
        .iter()
        .map(|m| Column::with_unit(m.title.to_string(), m.unit.clone()));
    let title = format!("Resources, imported from {}", run.name);
    let mut table = Table::new(title, std::iter::once("subject".into()).chain(columns))
        .with_caption("Single measurements by the earlier tool.");
    for (import, name) in named(run) {
        let cells = rows::PROCESS_METRICS
            .iter()
            .zip(rows::process_values(import))
            .map(|(metric, value)| {
                cell::or_none(value.map(|v| Quantity::exact(v as f64, metric.unit.clone())))
            });
        table.named_row(name, cells);
    }
    table
}
