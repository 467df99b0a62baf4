// SPDX-License-Identifier: Apache-2.0
//! The source code around the most expensive lines of a profile.

use super::ProfilePair;
use crate::source::AROUND;
use crate::wording;
use crate::{HOTTEST, Sources};
use lab_document::{Cell, Column, Item, Quantity, Section, Table, Tone};
use lab_valgrind::{CostProfile, base_name};
use std::collections::BTreeMap;

/// The events that have columns of their own. An event that never occurred has no column.
const EVENTS: [&str; 5] = ["Ir", "D1mr", "D1mw", "LL", "mispredicts"];

/// Builds a section with the most expensive lines of each program and their surrounding lines.
pub fn section(pair: &ProfilePair) -> Section {
    let mut section = Section::new(wording::ANNOTATED);
    for ((name, profile), sources) in pair.each().zip(pair.sources) {
        let Some(costs) = profile.costs() else {
            continue;
        };
        for (file, lines) in by_file(costs, sources) {
            let title = wording::with_name(name, base_name(file));
            section.table(table(costs, sources, (&title, file), &lines));
        }
    }
    if !section.items.is_empty() {
        let event = pair.before.costs().map_or("", |costs| costs.chosen_event());
        let text = wording::annotated(HOTTEST, event);
        section.items.insert(0, Item::Paragraph(text));
    }
    section
}

/// Returns the expensive lines whose source text is available, grouped by file.
fn by_file<'c>(
    costs: &'c CostProfile,
    sources: &Sources,
) -> BTreeMap<&'c str, BTreeMap<u32, Vec<u64>>> {
    let mut files: BTreeMap<&str, BTreeMap<u32, Vec<u64>>> = BTreeMap::new();
    for line in costs.hottest(costs.chosen_event(), HOTTEST) {
        if sources.line(line.file, line.number).is_some() {
            let lines = files.entry(line.file).or_default();
            lines.insert(line.number, line.costs);
        }
    }
    files
}

fn table(
    costs: &CostProfile,
    sources: &Sources,
    (title, file): (&str, &str),
    hot: &BTreeMap<u32, Vec<u64>>,
) -> Table {
    let events = EVENTS
        .iter()
        .filter(|event| costs.total_of(event).is_some_and(|n| n > 0));
    let events: Vec<&str> = events.copied().collect();
    let columns = [wording::LINE, wording::SOURCE_LINE]
        .map(Column::from)
        .into_iter();
    let columns = columns.chain(
        events
            .iter()
            .map(|event| Column::with_unit(*event, wording::unit(event))),
    );
    let mut table = Table::new(title, columns).with_caption(wording::ANNOTATED_CAPTION);
    let all = costs.lines().filter(|line| line.file == file);
    let mut line_costs: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for line in all {
        let sum = line_costs
            .entry(line.number)
            .or_insert_with(|| vec![0; costs.events.len()]);
        sum.iter_mut()
            .zip(line.costs)
            .for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
    }
    let mut last = 0;
    for &line in hot.keys() {
        let first = line.saturating_sub(AROUND).max(last + 1);
        for number in first..=line.saturating_add(AROUND) {
            let Some(text) = sources.line(file, number) else {
                break;
            };
            last = number;
            let mut cells = vec![Cell::from(number.to_string()), Cell::from(indented(text))];
            cells.extend(events.iter().map(|event| {
                let cost = line_costs
                    .get(&number)
                    .and_then(|costs_of| costs.value(event, costs_of));
                let cost = cost.filter(|cost| *cost > 0);
                Cell::from(cost.map(|cost| Quantity::exact(cost as f64, wording::unit(event))))
            }));
            if hot.contains_key(&number) {
                cells[1].tone = Tone::Worse;
            }
            table.row(cells);
        }
    }
    table
}

/// Replaces the indentation with no-break spaces, which output formats preserve.
fn indented(text: &str) -> String {
    let bare = text.trim_start();
    let blanks = text[..text.len() - bare.len()].chars();
    let width: usize = blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum();
    "\u{a0}".repeat(width) + bare
}
