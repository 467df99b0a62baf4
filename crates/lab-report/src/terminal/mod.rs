// SPDX-License-Identifier: Apache-2.0
//! A report for a terminal: plain lines, none wider than asked for, the answer at the end, where it
//! is seen first.

mod commands;
mod load;
mod page;
mod served;
mod targets;

use crate::answer::answer;
use crate::content::{self, Room};
use crate::history::Sheet;
use crate::table::{Table, Tone, cut};
use crate::view::{Group, View};
use crate::{Report, Terminal};
use lab_model::Failure;
pub use load::render as load;
pub use page::Page;
pub use page::clean;
pub use served::render as served;

/// The report as text; every line ends with a line feed.
pub fn render(report: &Report, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    let views = View::all(report);
    match views.as_slice() {
        [view] if view.commands().is_some() => {
            commands::measured(&mut page, view);
            return page.finish();
        }
        [view] => measured(&mut page, view),
        [] => page.heading(&report.run.name),
        many => targets::measured(&mut page, report, many),
    }
    for table in content::import_tables(report) {
        page.heading("Imported figures");
        page.table(&table);
    }
    page.heading("Answer");
    match views.as_slice() {
        [] | [_] => page.text(&answer(report), ""),
        many => targets::answer(&mut page, many),
    }
    footer(&mut page, report, views.first());
    page.finish()
}

/// Tables and notes that belong to no single run.
pub fn sheet(sheet: &Sheet, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    page.heading(&sheet.title);
    for table in &sheet.tables {
        page.blank();
        page.table(table);
    }
    page.blank();
    sheet.notes.iter().for_each(|note| page.text(note, ""));
    page.finish()
}

fn measured(page: &mut Page, view: &View) {
    page.heading(&view.plan.title);
    page.text(&view.plan.question, "");
    for group in view.groups() {
        case(page, view, &group);
    }
    targets::served(page, view);
    let fits = content::fit_tables(view, Room::Narrow);
    page.tables("Fixed and marginal cost", &fits);
    page.tables(
        "What a factor costs",
        &content::factor_tables(view, Room::Narrow),
    );
    page.tables("Resources", &[content::resource_table(view, Room::Narrow)]);
    page.tables("Verdicts", &[content::overall_table(view)]);
    targets::servers(page, std::slice::from_ref(view));
    conditions(page, view);
    refusals(page, view);
    failures(page, view, &view.run.failures);
    warnings(page, view);
}

fn case(page: &mut Page, view: &View, group: &Group) {
    let sweep = view.plan.cases[group.case].sweep.as_ref();
    let over = sweep.map_or(String::new(), |sweep| format!(", over {sweep}"));
    page.heading(&format!("{}{over}", view.group_label(group)));
    page.text(&view.plan.cases[group.case].work, "");
    for table in content::group_tables(view, group, Room::Narrow) {
        page.blank();
        page.bare_table(&table);
    }
}

fn conditions(page: &mut Page, view: &View) {
    let (table, _) = content::conditions(view);
    if !table.rows.is_empty() {
        page.heading(&targets::head(view, "Conditions that differ"));
        page.bare_table(&turned(&table));
    }
}

/// Rows for columns, long values cut: there are more subjects than settings that differ.
fn turned(table: &Table) -> Table {
    let mut turned = table.turned();
    for (i, column) in turned.columns.iter_mut().enumerate() {
        column.numeric = false;
        if i == 0 {
            column.title = "subject".into();
        }
    }
    let values = turned.rows.iter_mut().flat_map(|row| &mut row[1..]);
    values.for_each(|cell| cell.text = cut(&cell.text, 20));
    turned
}

fn refusals(page: &mut Page, view: &View) {
    let refusals = view.refusals().into_iter().map(|refusal| {
        format!(
            "{}{}: {}",
            view.name(refusal.subject),
            view.at(refusal.point),
            refusal.why
        )
    });
    page.items(&targets::head(view, "Not compared"), refusals, Tone::Alarm);
}

fn failures(page: &mut Page, view: &View, failures: &[Failure]) {
    if failures.is_empty() {
        return;
    }
    page.heading(&targets::head(view, "Failed"));
    for failure in failures {
        let block = failure
            .block
            .map_or(String::new(), |b| format!(", block {b}"));
        let at = view.at(failure.point);
        let name = view.name(failure.subject);
        page.item(
            &format!("{name}{at}{block}: {}: {}", failure.kind, failure.message),
            Tone::Alarm,
        );
        for line in &failure.log {
            page.text(line, "    | ");
        }
    }
}

fn warnings(page: &mut Page, view: &View) {
    let warnings = view.warnings().into_iter();
    let warnings = warnings.map(|warning| format!("{}: {}", warning.kind, warning.text));
    page.items("Warnings", warnings, Tone::Open);
}

fn footer(page: &mut Page, report: &Report, view: Option<&View>) {
    page.blank();
    if let Some(view) = view {
        page.text(&content::conditions_line(view), "");
    }
    page.text(
        &format!(
            "{} · benchlab {}",
            content::started(report.run),
            report.run.lab_version
        ),
        "",
    );
    page.text(&clean(report.file), "");
}
