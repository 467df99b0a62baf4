// SPDX-License-Identifier: Apache-2.0
//! The report's section on changes: pages that became slower or faster, releases, trends.

use super::input::{Analyses, change_tone};
use crate::analysis::changes::{ChangedPage, Changes};
use crate::finding::LogsFinding;
use crate::wording;
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Section, Table};
use lab_model::Unit;

/// The maximum number of rows in a table.
const ROWS: usize = 20;

/// Returns the day of a change, such as `2026-11-21`. The function formats the noon of that day.
fn day(changed: &ChangedPage) -> String {
    let noon = say::minute(changed.at_s as f64 + 43_200.0);
    noon[..10].into()
}

/// Returns the largest change.
pub fn finding(report: &Analyses) -> Option<LogsFinding> {
    let released = report.changes.releases.iter().flat_map(|r| &r.pages);
    let size = |changed: &ChangedPage| changed.ratio.estimate.ln().abs();
    let certain = released
        .filter(|c| c.is_certain())
        .chain(&report.changes.points);
    let greatest = certain.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    Some(LogsFinding::Changed {
        page: greatest.page.name.clone(),
        ratio: greatest.ratio,
        day: day(greatest),
        release: greatest.release.clone(),
    })
}

/// Builds the section on changes.
pub fn section(report: &Analyses) -> Section {
    let mut section = Section::new("What changed");
    let changes = &report.changes;
    for released in &changes.releases {
        let title = wording::release_title(&released.name, released.at_s);
        let mut table = table(&title, &released.pages);
        if released.too_few > 0 {
            table
                .notes
                .push(wording::too_few_days_around(released.too_few));
        }
        if released.pages.is_empty() {
            section.text(wording::no_days_around(&title));
        }
        section.table(table);
    }
    section.table(table("Change points", &changes.points));
    section.table(trends(changes));
    section.text(nothing_found(changes));
    section
}

fn trends(changes: &Changes) -> Table {
    let columns = ["page".into(), Column::with_unit("per week", Unit::Ratio)];
    let mut table = Table::new("Trends", columns).with_caption(wording::TRENDS_TABLE);
    for trend in changes.trends.iter().take(ROWS) {
        let cell =
            Cell::from(Quantity::ratio(&trend.per_week)).with_tone(change_tone(&trend.per_week));
        table.named_row(trend.page.name.as_str(), [cell]);
    }
    table
}

/// Explains why the tables contain no changes.
///
/// Returns an empty text if they contain changes.
fn nothing_found(changes: &Changes) -> String {
    let has_none = changes.points.is_empty() && changes.trends.is_empty();
    match changes.tested {
        0 if changes.days > 0 => wording::too_few_days(changes.days),
        n if n > 0 && has_none => wording::no_changes(n),
        _ => String::new(),
    }
}

fn table(title: &str, all: &[ChangedPage]) -> Table {
    let columns = [
        "page".into(),
        "first day".into(),
        Column::with_unit("after / before", Unit::Ratio),
        "days".into(),
        "release".into(),
    ];
    let mut table = Table::new(title, columns);
    table.caption = wording::CHANGES_TABLE.into();
    for changed in all.iter().take(ROWS) {
        let ratio = Cell::from(Quantity::ratio(&changed.ratio));
        table.row(vec![
            changed.page.name.as_str().into(),
            day(changed).into(),
            ratio.with_tone(change_tone(&changed.ratio)),
            format!("{} and {}", changed.days.0, changed.days.1).into(),
            changed.release.clone().unwrap_or_default().into(),
        ]);
    }
    if all.len() > ROWS {
        table.notes.push(wording::smaller_changes(all.len() - ROWS));
    }
    table.without_empty_columns()
}
