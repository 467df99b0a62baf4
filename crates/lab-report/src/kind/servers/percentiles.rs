// SPDX-License-Identifier: Apache-2.0
//! The response times of a closed loop in the format of Apache's `ab`, with intervals and with the
//! gain over the baseline.

use crate::parts::cell;
use crate::parts::scope::Scope;
use lab_document::{Cell, Column, Quantity, Table};
use lab_model::{Interval, PointId, Unit};
use lab_stats::load::percentiles::{PARTS, Percentiles, SPREAD};

const ABOUT: &str = "As in `ab`: the time within which this percentage of requests completed.";

const NO_VERDICT: &str =
    "In a closed loop, a server that stalls gets fewer requests, so percentiles have no verdict.";

/// A column of response times. Except for the baseline, a column with the gain follows it.
struct PercentileColumn<'a> {
    name: String,
    of: &'a Percentiles,
    is_base: bool,
}

/// Builds a table with a row per percentile. Each server has a column for the times and a column
/// for the gain.
///
/// The table has no rows in an open loop.
pub fn table(scope: &Scope, all: &[Percentiles], point: PointId, title: &str) -> Table {
    let subjects = scope.compared().into_iter();
    let columns = subjects.filter_map(|subject| {
        let percentiles = all
            .iter()
            .find(|p| (p.subject, p.point) == (subject, point))?;
        Some(PercentileColumn {
            name: scope.title_of(subject),
            of: percentiles,
            is_base: subject == scope.base(),
        })
    });
    let columns: Vec<PercentileColumn> = columns.collect();
    percentile_table(&columns, title).with_caption(&format!(
        "{ABOUT} The gain is the reduction compared with the baseline. {NO_VERDICT}"
    ))
}

fn percentile_table(columns: &[PercentileColumn], title: &str) -> Table {
    let mut headings = vec![Column::from("requests")];
    for column in columns {
        headings.push(Column::with_unit(column.name.as_str(), Unit::Nanoseconds));
        headings.extend((!column.is_base).then(|| Column::with_unit("gain", Unit::Share)));
    }
    let mut table = Table::new(title, headings);
    if columns.is_empty() {
        return table;
    }
    for (row, part) in PARTS.iter().enumerate() {
        let name = format!("{} %", f64::from(*part) / 100.0);
        table.row(cells(columns, name, |of| {
            let time = of.parts[row].map(|t| Quantity::estimate(&t, Unit::Nanoseconds));
            (time, of.ratios[row])
        }));
    }
    table.row(cells(columns, "100 %".into(), |of| {
        let max = Quantity::exact(of.max_ns as f64, Unit::Nanoseconds);
        (Some(max), None)
    }));
    let [low, high] = SPREAD.map(|part| part / 100);
    table.row(cells(
        columns,
        format!("spread, {high} % / {low} %"),
        |of| (of.spread.map(|s| Quantity::ratio(&s)), of.spread_ratio),
    ));
    let mut unknown = columns.iter().flat_map(|column| column.of.parts).flatten();
    if unknown.any(|time| time.level <= 0.0) {
        let note = "No interval: there are too few blocks (75 % needs 13; 80 and 90 % need 59; 95 % and above need \
                    90).";
        table.notes.push(note.into());
    }
    table
}

fn cells(
    columns: &[PercentileColumn],
    name: String,
    of: impl Fn(&Percentiles) -> (Option<Quantity>, Option<Interval>),
) -> Vec<Cell> {
    let each = columns.iter().flat_map(|column| {
        let (value, ratio) = of(column.of);
        let gain = cell::or_none(ratio.map(|r| gain(&r)));
        std::iter::once(cell::or_none(value)).chain((!column.is_base).then_some(gain))
    });
    std::iter::once(Cell::from(name)).chain(each).collect()
}

/// Returns the reduction of the time compared with the baseline, as a fraction of the baseline's time.
fn gain(ratio: &Interval) -> Quantity {
    let gain = Interval {
        estimate: 1.0 - ratio.estimate,
        low: 1.0 - ratio.high,
        high: 1.0 - ratio.low,
        level: ratio.level,
    };
    Quantity::estimate(&gain, Unit::Share)
}
