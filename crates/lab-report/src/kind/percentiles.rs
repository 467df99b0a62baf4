// SPDX-License-Identifier: Apache-2.0
//! The response times of a closed loop as `ab` of Apache prints them, with intervals and what was gained.

use super::scope::Scope;
use crate::document::{Cell, Column, Quantity, Table};
use lab_model::{PointId, Unit};
use lab_stats::analysis::Interval;
use lab_stats::load::percentiles::{PARTS, Percentiles, SPREAD};

const ABOUT: &str = "As `ab` prints them: so many in a hundred requests were answered within this time. Gain: how much \
                     less than the baseline's. In a closed loop who stalls is asked less, so that percentiles have no verdict.";

/// A row for each percentile, for each server a column and behind it the gain; no rows in an open loop.
pub fn table(scope: &Scope, all: &[Percentiles], point: PointId, title: &str) -> Table {
    let subjects = scope.compared();
    let here: Vec<&Percentiles> = subjects
        .iter()
        .filter_map(|s| all.iter().find(|p| (p.subject, p.point) == (*s, point)))
        .collect();
    let mut columns = vec![Column::from("requests")];
    for of in &here {
        columns.push(Column::of(scope.title_of(of.subject), Unit::Nanoseconds));
        columns.extend((of.subject != scope.base()).then(|| Column::of("gain", Unit::Share)));
    }
    let mut table = Table::new(title, columns);
    if here.is_empty() {
        return table;
    }
    for (row, part) in PARTS.iter().enumerate() {
        let name = format!("{} %", f64::from(*part) / 100.0);
        table.row(cells(scope, &here, name, |of| {
            let time = of.parts[row].map(|t| Quantity::estimate(&t, Unit::Nanoseconds));
            (time, of.ratios[row])
        }));
    }
    table.row(cells(scope, &here, "100 %".into(), |of| {
        let longest = Quantity::exact(of.longest_ns as f64, Unit::Nanoseconds);
        (Some(longest), None)
    }));
    let [low, high] = SPREAD.map(|part| part / 100);
    table.row(cells(
        scope,
        &here,
        format!("spread, {high} % / {low} %"),
        |of| (of.spread.map(|s| Quantity::ratio(&s)), of.spread_ratio),
    ));
    let unknown = here.iter().flat_map(|of| of.parts).flatten();
    if unknown.filter(|time| time.level <= 0.0).count() > 0 {
        let why = "Without brackets: more blocks are needed for an interval (75 %: 13, 90 %: 36, from 95 % on: 59).";
        table.notes.push(why.into());
    }
    table.captioned(ABOUT)
}

fn cells(
    scope: &Scope,
    here: &[&Percentiles],
    name: String,
    of: impl Fn(&Percentiles) -> (Option<Quantity>, Option<Interval>),
) -> Vec<Cell> {
    let each = here.iter().flat_map(|percentiles| {
        let (value, ratio) = of(percentiles);
        let value = value.map_or_else(|| "–".into(), Cell::from);
        let gain = ratio.map_or_else(|| "–".into(), |r| gain(&r).into());
        let is_base = percentiles.subject == scope.base();
        std::iter::once(value).chain((!is_base).then_some(gain))
    });
    std::iter::once(Cell::from(name)).chain(each).collect()
}

/// How much less than the baseline's, as a part of it.
fn gain(ratio: &Interval) -> Quantity {
    let gain = Interval {
        estimate: 1.0 - ratio.estimate,
        low: 1.0 - ratio.high,
        high: 1.0 - ratio.low,
        level: ratio.level,
    };
    Quantity::estimate(&gain, Unit::Share)
}
