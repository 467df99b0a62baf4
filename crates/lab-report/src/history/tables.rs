// SPDX-License-Identifier: Apache-2.0
//! The runs of a subject as a table with one row per run, the oldest first.

use super::record::{HistoryRow, REMARKS};
use crate::parts::cell::{self, NONE};
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Table, Tone};
use lab_model::{Interval, Metric, Unit};

/// Builds the table of a subject and its baseline.
pub fn table(records: &[&HistoryRow]) -> Table {
    let table = if records.iter().any(|r| r.case.is_some()) {
        by_case(records)
    } else {
        by_run(records)
    };
    table.without_empty_columns()
}

fn began_cell(record: &HistoryRow) -> Cell {
    say::minute(record.started_unix_s().unwrap_or_default()).into()
}

fn blocks_cell(record: &HistoryRow) -> Cell {
    Quantity::count(record.blocks.into(), "blocks").into()
}

fn by_run(records: &[&HistoryRow]) -> Table {
    let columns = [
        Column::from("began (UTC)"),
        "revision".into(),
        Column::with_unit("ratio", Unit::Ratio),
        "verdict".into(),
        Column::with_unit("baseline", Unit::Nanoseconds),
        Column::with_unit("p99", Unit::Nanoseconds),
        Column::with_unit("errors", Metric::ERRORS.unit),
        Column::with_unit("blocks", Unit::Count("blocks".into())),
        "mark".into(),
    ];
    let first = records[0];
    let title = if first.is_alone() {
        format!("{}, measured alone", first.name)
    } else {
        format!("{}, ratio to {}", first.name, first.baseline.name)
    };
    let mut table = Table::new(title, columns).with_caption("A row for each run.");
    let time = |i: &Option<Interval>| {
        let quantity = |i: &Interval| Quantity::estimate(i, Unit::Nanoseconds);
        cell::or_none(i.as_ref().map(quantity))
    };
    for record in records {
        let revision = record.subject.revision.iter().flat_map(|r| r.chars());
        let ratio = record.ratio.as_ref().map(Quantity::ratio);
        table.row(vec![
            began_cell(record),
            revision.take(7).collect::<String>().into(),
            cell::or_none(ratio),
            verdict(record),
            time(&record.time_ns),
            time(&record.p99_ns),
            errors(record),
            blocks_cell(record),
            record.remarks.as_str().into(),
        ]);
    }
    table
}

/// Returns the cell with the number of failed requests of a load.
fn errors(record: &HistoryRow) -> Cell {
    let failed = record.failed.unwrap_or(0);
    let count = record
        .failed
        .map(|n| Quantity::exact(n as f64, Metric::ERRORS.unit));
    cell::or_none(count).with_tone(if failed > 0 { Tone::Alarm } else { Tone::Plain })
}

/// Returns the verdict at the only point. For multiple points, counts each verdict, such as `12
/// slower, 2 equivalent`.
fn verdict(record: &HistoryRow) -> Cell {
    match record.verdicts.as_slice() {
        [] => Cell::from(record.missing).with_tone(Tone::Alarm),
        [only] => Cell::from(cell::word(&Metric::WALL, only)).with_tone(cell::tone(only)),
        many => cell::counted(many),
    }
}

/// Builds the table of one server's runs, with one column per case.
fn by_case(records: &[&HistoryRow]) -> Table {
    let cases = say::distinct(records.iter().filter_map(|r| r.case.as_deref()));
    let ratios = cases
        .iter()
        .map(|case| Column::with_unit(*case, Unit::Ratio));
    let columns = std::iter::once("began (UTC)".into()).chain(ratios);
    let counted = Column::with_unit("blocks", Unit::Count("blocks".into()));
    let (subject, base) = (&records[0].name, &records[0].baseline.name);
    let title = format!("CPU time of a request, {subject} / {base}");
    let mut table = Table::new(title, columns.chain([counted, "mark".into()]))
        .with_caption("A row for each run, a column for each case.");
    for (_, mine) in say::grouped(records.iter().map(|r| (&r.summary.run, *r))) {
        let cells = cases.iter().map(|case| {
            let record = mine.iter().find(|r| r.case.as_deref() == Some(*case));
            record.map_or(NONE.into(), |record| case_cell(record))
        });
        let end = [blocks_cell(mine[0]), letters(mine.iter().copied()).into()];
        table.named_row(began_cell(mine[0]), cells.chain(end));
    }
    table
}

/// Returns the cell with a ratio and its verdict, or with the explanation for their absence.
fn case_cell(record: &HistoryRow) -> Cell {
    match (&record.ratio, record.verdicts.first()) {
        (Some(ratio), Some(verdict)) => cell::judged(ratio, &Metric::SERVER_CPU, Some(verdict)),
        (_, None) => Cell::from(record.missing).with_tone(Tone::Alarm),
        (None, _) => Cell::from(NONE).with_tone(Tone::Alarm),
    }
}

/// Returns the letters that apply to any of the records.
fn letters<'r, 'a: 'r>(records: impl Iterator<Item = &'r HistoryRow<'a>>) -> String {
    let all: String = records.map(|r| r.remarks.as_str()).collect();
    let holds = REMARKS.iter().filter(|(letter, _)| all.contains(*letter));
    holds.map(|(letter, _)| letter).collect()
}

/// Returns the notes that apply to the whole history.
pub fn notes(records: &[HistoryRow]) -> Vec<String> {
    let by_case = records.iter().any(|r| r.case.is_some());
    let many = records
        .iter()
        .any(|r| r.points.len() > 1 && r.case.is_none());
    let letters = letters(records.iter());
    let letters = REMARKS
        .iter()
        .filter(|(letter, _)| letters.contains(*letter));
    let letters = letters.map(|(letter, meaning)| format!("{letter}: {meaning}"));
    let letters = letters.collect::<Vec<_>>().join("; ");
    let notes = [
        Some(
            "Ratios are comparable across days, since both subjects were measured in turns. The baseline's times are \
             not: the host's speed changes, too."
                .to_string(),
        ),
        by_case.then(|| {
            "Servers are compared by the CPU time of a request, as a geometric mean of the ratios over the numbers \
             of connections. A ratio below 1 means more requests per CPU second than the baseline."
                .into()
        }),
        many.then(|| {
            "Over multiple points, ratios are geometric means and verdicts are counted. Times are in the reports of \
             the runs."
                .into()
        }),
        (!letters.is_empty()).then(|| format!("{letters}.")),
    ];
    notes.into_iter().flatten().collect()
}
