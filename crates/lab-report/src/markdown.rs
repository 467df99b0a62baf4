// SPDX-License-Identifier: Apache-2.0
//! A report as GitHub's Markdown, for issues and wikis.

mod load;
mod served;

pub use load::render as load;
pub use served::render as served;

use crate::Report;
use crate::answer::{answer, conclusions};
use crate::content::{self, Room};
use crate::history::Sheet;
use crate::table::Table;
use crate::view::{Group, View};

/// The report as Markdown.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let views = View::all(report);
    let Some(first) = views.first() else {
        heading(&mut text, 1, &report.run.name);
        paragraph(&mut text, &answer(report));
        imports(&mut text, report);
        return text;
    };
    heading(&mut text, 1, &first.plan.title);
    if !first.plan.question.is_empty() {
        paragraph(&mut text, &first.plan.question);
    }
    heading(&mut text, 2, "Answer");
    match views.as_slice() {
        [view] => one(&mut text, view),
        many => several(&mut text, many),
    }
    imports(&mut text, report);
    host(&mut text, first, &content::method(first));
    text
}

/// A run on one target.
fn one(text: &mut String, view: &View) {
    paragraph(text, &answer(view.report));
    table(text, &content::command_table(view));
    tables(text, "Verdicts", &[content::overall_table(view)]);
    trouble(text, view);
    warnings(text, std::slice::from_ref(view));
    heading(text, 2, view.words.cases);
    view.groups().iter().for_each(|g| case(text, view, g));
    let overheads = content::overheads(view);
    overheads.iter().for_each(|o| paragraph(text, o));
    on_server(text, view, 2);
    costs(text, view, 2);
    let resources = content::resource_table(view, Room::Wide);
    tables(text, "Resources", &[resources]);
    tables(text, "Warm-up", &[content::warm_up_table(view)]);
    conditions(text, view);
    tables(
        text,
        "The server",
        &content::services(std::slice::from_ref(view)),
    );
}

/// A run on several targets: each by itself, then what holds over all of them.
fn several(text: &mut String, views: &[View]) {
    for (place, said) in conclusions(views) {
        match place.is_empty() {
            true => paragraph(text, &said),
            false => text.push_str(&format!("**{}.** {}\n\n", escape(place), escape(&said))),
        }
    }
    warnings(text, views);
    for view in views {
        heading(text, 2, view.place());
        let shown = content::side_by_side(view, Room::Wide);
        shown.iter().for_each(|t| table(text, t));
        trouble(text, view);
        on_server(text, view, 3);
        costs(text, view, 3);
        tables_at(text, 3, "Verdicts", &[content::overall_table(view)]);
    }
    tables(text, "Resources", &content::resources(views, Room::Wide));
    tables(text, "Versions", &content::versions(views, Room::Wide));
    tables(text, "Servers", &content::services(views));
    views.iter().for_each(|view| conditions(text, view));
}

/// Where the time goes on a server, and what many connections bring.
fn on_server(text: &mut String, view: &View, level: usize) {
    if view.serves() {
        let splits = content::split_tables(view, Room::Wide);
        tables_at(text, level, "Where the time goes", &splits);
    }
    for group in view.scaling_groups() {
        let shown = content::scaling_tables(view, &group, Room::Wide);
        tables_at(text, level, "Many at once", &shown);
    }
}

fn costs(text: &mut String, view: &View, level: usize) {
    let fits = content::fit_tables(view, Room::Wide);
    tables_at(text, level, "Fixed and marginal cost", &fits);
    let factors = content::factor_tables(view, Room::Wide);
    tables_at(text, level, "What a factor costs", &factors);
}

fn imports(text: &mut String, report: &Report) {
    let imported = content::import_tables(report);
    tables(text, "Imported figures", &imported);
}

/// Tables and notes that belong to no single run.
pub fn sheet(sheet: &Sheet) -> String {
    let mut text = String::new();
    heading(&mut text, 1, &sheet.title);
    sheet.tables.iter().for_each(|t| table(&mut text, t));
    sheet.notes.iter().for_each(|n| paragraph(&mut text, n));
    text
}

fn case(text: &mut String, view: &View, group: &Group) {
    let label = view.group_label(group);
    if !label.is_empty() {
        heading(text, 3, &label);
    }
    paragraph(text, &view.plan.cases[group.case].work);
    let figures = content::group_tables(view, group, Room::Wide);
    figures.iter().for_each(|t| table(text, t));
    table(text, &content::use_table(view, group, Room::Wide));
}

fn trouble(text: &mut String, view: &View) {
    let (failures, refusals) = (&view.run.failures, view.refusals());
    if !failures.is_empty() || !refusals.is_empty() {
        let level = if view.named.is_some() { 3 } else { 2 };
        heading(text, level, "What failed, and what was not compared");
    }
    for failure in failures {
        let at = view.at(failure.point);
        item(
            text,
            &format!(
                "{} failed{at}: {}: {}",
                view.name(failure.subject),
                failure.kind,
                failure.message
            ),
        );
        code(text, &failure.log);
    }
    for refusal in refusals {
        item(
            text,
            &format!(
                "{}{}: {}",
                view.name(refusal.subject),
                view.at(refusal.point),
                refusal.why
            ),
        );
    }
}

fn warnings(text: &mut String, views: &[View]) {
    let warnings = content::warnings(views);
    if !warnings.is_empty() {
        heading(text, 2, "Warnings");
    }
    for warning in &warnings {
        let said = content::warning_text(warning);
        item(text, &format!("{}: {said}", warning.1.kind));
    }
}

fn conditions(text: &mut String, view: &View) {
    let (differing, same) = content::conditions(view);
    let heading = match view.place() {
        "" => "Conditions".into(),
        place => format!("Conditions: {place}"),
    };
    tables(
        text,
        &heading,
        &[
            content::subject_table(view),
            differing,
            content::control_table(view),
        ],
    );
    if !same.is_empty() {
        paragraph(text, &format!("The same for all: {}.", same.join(", ")));
    }
}

/// How it was measured, and on what.
fn host(text: &mut String, view: &View, method: &[String]) {
    heading(text, 2, "How it was measured");
    method.iter().for_each(|sentence| paragraph(text, sentence));
    heading(text, 2, "The host");
    for (name, value) in &view.run.host.facts {
        item(text, &format!("{name}: {value}"));
    }
    for finding in &view.run.host.findings {
        let unfit = if finding.unfit { "not fit: " } else { "" };
        item(text, &format!("{unfit}{} {}", finding.what, finding.advice));
    }
    text.push('\n');
    paragraph(text, &content::conditions_line(view));
    let (started, version) = (content::started(view.run), &view.run.lab_version);
    paragraph(
        text,
        &format!("From {}, {started}, benchlab {version}.", view.report.file),
    );
}

pub(crate) fn heading(text: &mut String, level: usize, title: &str) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(&format!("{} {}\n\n", "#".repeat(level), escape(title)));
}

pub(crate) fn paragraph(text: &mut String, sentence: &str) {
    text.push_str(&format!("{}\n\n", escape(sentence)));
}

pub(crate) fn item(text: &mut String, sentence: &str) {
    text.push_str(&format!("- {}\n", escape(sentence)));
}

/// Log lines, indented so that no line of a log can end the block.
fn code(text: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push('\n');
    for line in lines {
        let line: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        text.push_str(&format!("      {line}\n"));
    }
    text.push('\n');
}

pub(crate) fn tables(text: &mut String, title: &str, tables: &[Table]) {
    tables_at(text, 2, title, tables);
}

fn tables_at(text: &mut String, level: usize, title: &str, tables: &[Table]) {
    if tables.iter().any(|t| !t.rows.is_empty()) {
        heading(text, level, title);
    }
    tables.iter().for_each(|t| table(text, t));
}

fn table(text: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    text.push_str(&format!("**{}**\n\n", escape(&table.title)));
    let titles: Vec<String> = table.columns.iter().map(|c| escape(&c.title)).collect();
    text.push_str(&format!("| {} |\n", titles.join(" | ")));
    let rules: Vec<&str> = table
        .columns
        .iter()
        .map(|c| if c.numeric { "--:" } else { ":--" })
        .collect();
    text.push_str(&format!("| {} |\n", rules.join(" | ")));
    for row in &table.rows {
        let cells = row.iter().map(|cell| match cell.sub.is_empty() {
            true => escape(&cell.text),
            false => format!("{}<br>{}", escape(&cell.text), escape(&cell.sub)),
        });
        text.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
    }
    text.push('\n');
    for note in &table.notes {
        paragraph(text, note);
    }
}

/// Text that Markdown shows as it is (CommonMark 0.31, 2.4 Backslash escapes).
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
