// SPDX-License-Identifier: Apache-2.0
//! A run of servers that the lab started for a terminal: what fits a few screens, and last the conclusion.
//! Points one by one are on the page.

use super::footer;
use super::page::Page;
use crate::Terminal;
use crate::content::Room;
use crate::content::served;
use crate::served::ServedView;
use crate::table::{Table, Tone};

/// The report as text; every line ends with a line feed.
pub fn render(view: &ServedView, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    let common = view.common();
    page.heading(&common.plan.title);
    page.text(&common.plan.question, "");
    let room = Room::Narrow;
    let tables = [
        served::server_table(view, room),
        served::overview_table(view, room),
        served::ratio_table(view, view.usual(), room),
        served::peak_table(view, room),
        served::p99_table(view, room),
        served::error_table(view),
    ];
    tables.iter().for_each(|table| section(&mut page, table));
    let refusals = served::refusals(view).into_iter();
    page.items("Not compared", refusals, Tone::Alarm);
    failures(&mut page, view);
    let warnings = common.warnings().into_iter();
    let warnings = warnings.map(|warning| format!("{}: {}", warning.kind, warning.text));
    page.items("Warnings", warnings, Tone::Open);
    page.heading("How it was measured");
    page.text(&format!("Cores: {}.", served::split(view)), "");
    page.text(&format!("Same work: {}.", served::proof(view)), "");
    page.heading("Answer");
    for (i, (name, text)) in served::answer(view).iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        match name.is_empty() {
            true => page.text(text, ""),
            false => page.text(&format!("{name}: {text}"), ""),
        }
    }
    footer(&mut page, common.report, Some(common));
    page.finish()
}

/// A table below its title; nothing without rows.
fn section(page: &mut Page, table: &Table) {
    if !table.rows.is_empty() {
        page.heading(&table.title);
        page.bare_table(table);
    }
}

/// What failed, each with what was said last.
fn failures(page: &mut Page, view: &ServedView) {
    let common = view.common();
    if common.run.failures.is_empty() {
        return;
    }
    page.heading("Failed");
    for failure in &common.run.failures {
        let block = failure
            .block
            .map_or(String::new(), |b| format!(", block {b}"));
        let (name, at) = (common.name(failure.subject), common.at(failure.point));
        let (first, said) = served::transcript(failure);
        let text = format!("{name}{at}{block}: {}: {first}", failure.kind);
        page.item(&text, Tone::Alarm);
        said.iter().for_each(|line| page.text(line, "    | "));
    }
}
