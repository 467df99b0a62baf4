// SPDX-License-Identifier: Apache-2.0
//! The response times of a closed loop as `ab` of Apache prints them, with intervals and what was gained.

use super::scope::Scope;
use crate::document::{Cell, Column, Quantity, Table};
use lab_model::{PointId, Unit};
use lab_stats::analysis::Interval;
use lab_stats::between::ChangedTimes;
use lab_stats::load::percentiles::{PARTS, Percentiles, SPREAD};

const ABOUT: &str =
    "As `ab` prints them: so many in a hundred requests were answered within this time.";

const NO_VERDICT: &str =
    "In a closed loop who stalls is asked less, so that percentiles have no verdict.";

/// Whose response times stand in a column, with their gain behind them but of the one that others are compared with.
struct PercentileColumn<'a> {
    name: String,
    of: &'a Percentiles,
    is_base: bool,
}

/// A row for each percentile, for each server a column and behind it the gain; no rows in an open loop.
pub fn table(scope: &Scope, all: &[Percentiles], point: PointId, title: &str) -> Table {
    let subjects = scope.compared().into_iter();
    let here = subjects.filter_map(|subject| {
        let of = all
            .iter()
            .find(|p| (p.subject, p.point) == (subject, point))?;
        Some(PercentileColumn {
            name: scope.title_of(subject),
            of,
            is_base: subject == scope.base(),
        })
    });
    let here: Vec<PercentileColumn> = here.collect();
    of_all(&here, title).captioned(&format!(
        "{ABOUT} Gain: how much less than the baseline's. {NO_VERDICT}"
    ))
}

/// The same of a server in two runs.
pub fn changed(times: &ChangedTimes) -> Table {
    let [first, second] = &times.runs;
    let shown = |name: &str, of, is_base| PercentileColumn {
        name: name.into(),
        of,
        is_base,
    };
    let both = [shown("first", first, true), shown("second", second, false)];
    let title = format!("{}, {}: response times", times.subject, times.point);
    of_all(&both, &title).captioned(&format!(
        "{ABOUT} Gain: how much less than in the first run. The runs were made at different times: what else changed \
         meanwhile is in it. {NO_VERDICT}"
    ))
}

fn of_all(here: &[PercentileColumn], title: &str) -> Table {
    let mut columns = vec![Column::from("requests")];
    for shown in here {
        columns.push(Column::of(shown.name.as_str(), Unit::Nanoseconds));
        columns.extend((!shown.is_base).then(|| Column::of("gain", Unit::Share)));
    }
    let mut table = Table::new(title, columns);
    if here.is_empty() {
        return table;
    }
    for (row, part) in PARTS.iter().enumerate() {
        let name = format!("{} %", f64::from(*part) / 100.0);
        table.row(cells(here, name, |of| {
            let time = of.parts[row].map(|t| Quantity::estimate(&t, Unit::Nanoseconds));
            (time, of.ratios[row])
        }));
    }
    table.row(cells(here, "100 %".into(), |of| {
        let longest = Quantity::exact(of.longest_ns as f64, Unit::Nanoseconds);
        (Some(longest), None)
    }));
    let [low, high] = SPREAD.map(|part| part / 100);
    table.row(cells(here, format!("spread, {high} % / {low} %"), |of| {
        (of.spread.map(|s| Quantity::ratio(&s)), of.spread_ratio)
    }));
    let mut unknown = here.iter().flat_map(|shown| shown.of.parts).flatten();
    if unknown.any(|time| time.level <= 0.0) {
        let why =
            "No interval: more blocks are needed for one (75 %: 13, 90 %: 36, from 95 % on: 59).";
        table.notes.push(why.into());
    }
    table
}

fn cells(
    here: &[PercentileColumn],
    name: String,
    of: impl Fn(&Percentiles) -> (Option<Quantity>, Option<Interval>),
) -> Vec<Cell> {
    let each = here.iter().flat_map(|shown| {
        let (value, ratio) = of(shown.of);
        let value = value.map_or_else(|| "–".into(), Cell::from);
        let gain = ratio.map_or_else(|| "–".into(), |r| gain(&r).into());
        std::iter::once(value).chain((!shown.is_base).then_some(gain))
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
