// SPDX-License-Identifier: Apache-2.0
//! What changed: days from which on a page is slower or faster, releases, trends.

use super::Analyses;
use crate::analysis::changes::{ChangedPage, Changes, FEWEST};
use lab_document::say;
use lab_document::{Cell, Column, Finding, Quantity, Section, Table, Tone};
use lab_model::{Interval, Unit};

/// Rows of a table.
const ROWS: usize = 20;

fn tone(ratio: &Interval) -> Tone {
    match ratio {
        r if r.low > 1.0 => Tone::Worse,
        r if r.high < 1.0 => Tone::Better,
        _ => Tone::Plain,
    }
}

/// The day of a change: `2026-11-21`, at whose noon it is.
fn day(changed: &ChangedPage) -> String {
    let noon = say::minute(changed.at_s as f64 + 43_200.0);
    noon[..10].into()
}

fn took(changed: &ChangedPage) -> String {
    let since = match &changed.release {
        Some(release) => format!("since {release}"),
        None => format!("from {} on", day(changed)),
    };
    let times = say::times(&changed.ratio, "the time of before", changed.ratio.level);
    format!("{} takes {times} {since}.", changed.page.name)
}

/// The greatest change.
pub fn finding(report: &Analyses) -> Option<Finding> {
    let released = report.changes.releases.iter().flat_map(|r| &r.pages);
    let size = |changed: &ChangedPage| changed.ratio.estimate.ln().abs();
    let certain = released
        .filter(|c| c.is_certain())
        .chain(&report.changes.points);
    let greatest = certain.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    Some(Finding::plain(took(greatest)).toned(tone(&greatest.ratio)))
}

/// Everything about changes.
pub fn section(report: &Analyses) -> Section {
    let mut section = Section::new("What changed");
    let changes = &report.changes;
    for released in &changes.releases {
        let title = format!(
            "Release {} of {}",
            released.name,
            say::minute(released.at_s as f64)
        );
        let mut table = table(&title, &released.pages);
        if released.too_few > 0 {
            table.notes.push(format!(
                "{} with fewer than 3 days of 20 requests on one side are left out.",
                say::count(released.too_few, "page")
            ));
        }
        if released.pages.is_empty() {
            section.text(format!(
                "{title}: no page has 3 days of 20 requests before and after it."
            ));
        }
        section.table(table);
    }
    section.table(table("Change points", &changes.points));
    section.table(trends(changes));
    section.text(nothing_found(changes));
    section
}

fn trends(changes: &Changes) -> Table {
    let columns = ["page".into(), Column::of("per week", Unit::Ratio)];
    let mut table = Table::new("Trends", columns).captioned(
        "Durations of a week as a multiple of those of the week before, of pages without a change point.",
    );
    for trend in changes.trends.iter().take(ROWS) {
        let cell = Cell::from(Quantity::ratio(&trend.per_week)).toned(tone(&trend.per_week));
        table.named_row(trend.page.name.as_str(), [cell]);
    }
    table
}

/// Why there is no change in the tables; empty where there is one.
fn nothing_found(changes: &Changes) -> String {
    let has_none = changes.points.is_empty() && changes.trends.is_empty();
    match changes.tested {
        0 if changes.days > 0 => format!(
            "The log has {}: change points need {FEWEST} days of 20 requests of a page.",
            say::count(changes.days, "such day")
        ),
        n if n > 0 && has_none => {
            let pages = say::count(n, "page");
            format!("None of {pages} with {FEWEST} days changed.")
        }
        _ => String::new(),
    }
}

fn table(title: &str, all: &[ChangedPage]) -> Table {
    let columns = [
        "page".into(),
        "first day".into(),
        Column::of("after / before", Unit::Ratio),
        "days".into(),
        "release".into(),
    ];
    let mut table = Table::new(title, columns);
    table.caption =
        "Geometric means of the durations of a day; intervals hold together over all pages.".into();
    for changed in all.iter().take(ROWS) {
        let ratio = Cell::from(Quantity::ratio(&changed.ratio));
        table.row(vec![
            changed.page.name.as_str().into(),
            day(changed).into(),
            ratio.toned(tone(&changed.ratio)),
            format!("{} and {}", changed.days.0, changed.days.1).into(),
            changed.release.clone().unwrap_or_default().into(),
        ]);
    }
    if all.len() > ROWS {
        table.notes.push(format!(
            "{} that changed less are left out.",
            say::count(all.len() - ROWS, "page")
        ));
    }
    table.without_empty_columns()
}
