// SPDX-License-Identifier: Apache-2.0
//! The section on the ranges of events over builds.

use super::{ProfilePair, figure_unit};
use crate::layouts::{CountRange, EventRanges};
use crate::wording;
use lab_document::{Cell, Column, Quantity, Section, Table, Tone};
use lab_model::Unit;

/// Builds the section. It is empty with one build.
pub fn section(pair: &ProfilePair, ranges: &[EventRanges]) -> Section {
    let (Some(before), after) = (ranges.first(), ranges.get(1)) else {
        return Section::from_table(wording::LAYOUTS, Table::default());
    };
    let mut columns: Vec<Column> = vec![wording::EVENT.into()];
    for name in pair.names.iter().take(ranges.len()) {
        for end in [wording::LOWEST, wording::HIGHEST] {
            columns.push(format!("{name}: {end}").into());
        }
    }
    if after.is_some() {
        for title in [wording::LOW_CHANGE, wording::HIGH_CHANGE] {
            columns.push(Column::with_unit(title, Unit::Share));
        }
    }
    let mut table = Table::new("", columns).with_caption(wording::LAYOUTS_CAPTION);
    for (event, old) in &before.events {
        let mut cells = vec![Cell::from(wording::event_row(event))];
        cells.extend(ends(event, *old));
        if let Some(after) = after {
            let Some(new) = after.get(event) else {
                continue;
            };
            cells.extend(ends(event, new));
            cells.extend(changes(*old, new));
        }
        table.row(cells);
    }
    Section::from_table(wording::LAYOUTS, table)
}

fn ends(event: &str, range: CountRange) -> [Cell; 2] {
    [range.least, range.most].map(|count| Quantity::exact(count as f64, figure_unit(event)).into())
}

fn changes(before: CountRange, after: CountRange) -> [Cell; 2] {
    let change = after.change_from(before);
    let tone = match () {
        () if change.high < 0.0 => Tone::Better,
        () if change.low > 0.0 => Tone::Worse,
        () => Tone::Plain,
    };
    [change.low, change.high].map(|change| {
        let fraction = change
            .is_finite()
            .then(|| Quantity::exact(change, Unit::Share));
        Cell::from(fraction).with_tone(tone)
    })
}
