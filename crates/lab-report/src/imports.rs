// SPDX-License-Identifier: Apache-2.0
//! Values imported from other tools, alone or next to a run's own measurements.

use crate::Report;
use crate::parts::{cell, method, rows, table};
use lab_document::say;
use lab_document::{Answer, Column, Document, Quantity, Section, Table};
use lab_model::{Imported, Run, Unit};

/// Builds the document for a file that contains only imported values, logs or an audit.
pub fn document(report: &Report) -> Document {
    let run = report.run;
    let mut document = Document {
        title: run.name.clone(),
        made: method::date_and_place(run),
        lab_version: run.lab_version.clone(),
        source: format!("The values are in {}.", report.file),
        kept: true,
        answer: Answer {
            undecided: Some(
                "This file contains only imported values. They have no intervals, so they support no conclusion."
                    .into(),
            ),
            ..Answer::default()
        },
        ..Document::default()
    };
    let runs = std::iter::once(run).chain(report.others);
    document.section(section(runs.clone()));
    document.rows = runs.flat_map(rows::imported).collect();
    document
}

/// Builds the tables of imported values. The section is empty if no run has any.
pub fn section<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Section {
    let mut section = Section::new("Imported values, for visual comparison");
    let runs = runs.into_iter();
    for run in runs.filter(|run| !run.imports().is_empty()) {
        section.push(times(run));
        section.push(resources(run));
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

/// Returns the imported benchmarks with their names.
fn named(run: &Run) -> Vec<(&Imported, String)> {
    let imports = run.imports().iter();
    imports.map(|import| (import, rows::name(import))).collect()
}

/// Builds the table of memory, threads and CPU time from the imported files.
fn resources(run: &Run) -> Table {
    let columns = rows::PROCESS_METRICS
        .iter()
        .map(|m| Column::of(m.title.to_string(), m.unit.clone()));
    let title = format!("Resources, imported from {}", run.name);
    let mut table = Table::new(title, std::iter::once("subject".into()).chain(columns))
        .captioned("Single measurements by the earlier tool.");
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
