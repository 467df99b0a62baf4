// SPDX-License-Identifier: Apache-2.0
//! A report for a terminal: plain lines, none wider than asked for, the answer at the end, where it
//! is seen first.

use crate::answer::answer;
use crate::content::{self, Room};
use crate::table::{Cell, Table, Tone, cut, lay_out, wrap};
use crate::view::{Group, View};
use crate::{Report, Terminal};
use lab_model::Failure;

/// The report as text; every line ends with a line feed.
pub fn render(report: &Report, terminal: Terminal) -> String {
    let mut page = Page::new(terminal);
    match View::new(report) {
        Some(view) => measured(&mut page, &view),
        None => page.heading(&clean(&report.run.name)),
    }
    for table in content::import_tables(report) {
        page.heading("Imported figures");
        page.table(&table);
    }
    page.heading("Answer");
    page.text(&answer(report), "");
    footer(&mut page, report);
    page.finish()
}

fn measured(page: &mut Page, view: &View) {
    page.heading(&view.plan.title);
    page.text(&view.plan.question, "");
    for group in view.groups() {
        case(page, view, &group);
    }
    let fits = content::fit_tables(view, Room::Narrow);
    page.tables("Fixed and marginal cost", &fits);
    page.tables(
        "What a factor costs",
        &content::factor_tables(view, Room::Narrow),
    );
    page.tables("Resources", &[content::resource_table(view, Room::Narrow)]);
    page.tables("Verdicts", &[content::overall_table(view)]);
    conditions(page, view);
    refusals(page, view);
    failures(page, view, &view.report.run.failures);
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
        page.heading("Conditions that differ");
        page.bare_table(&turned(&table));
    }
}

/// Rows for columns, long values cut: there are more subjects than settings that differ.
fn turned(table: &Table) -> Table {
    let settings = table.rows.iter().map(|row| row[0].text.clone());
    let columns = std::iter::once("subject".to_string()).chain(settings);
    let mut turned = Table::new("", columns);
    turned.columns.iter_mut().for_each(|c| c.numeric = false);
    for (i, subject) in table.columns.iter().enumerate().skip(1) {
        let values = table
            .rows
            .iter()
            .map(|row| Cell::from(cut(&row[i].text, 20)));
        let name = Cell::from(subject.title.as_str());
        turned
            .rows
            .push(std::iter::once(name).chain(values).collect());
    }
    turned
}

fn refusals(page: &mut Page, view: &View) {
    let refusals = view.refusals().into_iter().map(|refusal| {
        format!(
            "{} at {}: {}",
            view.name(refusal.subject),
            view.place(refusal.point),
            refusal.why
        )
    });
    page.items("Not compared", refusals, Tone::Alarm);
}

fn failures(page: &mut Page, view: &View, failures: &[Failure]) {
    if failures.is_empty() {
        return;
    }
    page.heading("Failed");
    for failure in failures {
        let block = failure
            .block
            .map_or(String::new(), |b| format!(", block {b}"));
        let place = view.place(failure.point);
        let name = view.name(failure.subject);
        page.item(
            &format!(
                "{name} at {place}{block}: {}: {}",
                failure.kind, failure.message
            ),
            Tone::Alarm,
        );
        for line in &failure.log {
            page.text(&clean(line), "    | ");
        }
    }
}

fn warnings(page: &mut Page, view: &View) {
    let warnings = view.warnings().into_iter();
    let warnings = warnings.map(|warning| format!("{}: {}", warning.kind, warning.text));
    page.items("Warnings", warnings, Tone::Open);
}

fn footer(page: &mut Page, report: &Report) {
    page.blank();
    if let Some(view) = View::new(report) {
        page.text(&content::conditions_line(&view), "");
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

/// Lines in the making.
pub(crate) struct Page {
    lines: Vec<String>,
    width: usize,
    colour: bool,
}

impl Page {
    pub(crate) fn new(terminal: Terminal) -> Page {
        Page {
            lines: Vec::new(),
            width: terminal.width.max(60),
            colour: terminal.colour,
        }
    }

    /// The lines; each ends with a line feed.
    pub(crate) fn finish(self) -> String {
        self.lines.join("\n") + "\n"
    }

    pub(crate) fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.blank();
        for line in wrap(&clean(text), self.width) {
            self.lines.push(if self.colour {
                format!("\x1b[1m{line}\x1b[0m")
            } else {
                line
            });
        }
    }

    pub(crate) fn text(&mut self, text: &str, indent: &str) {
        let lines = wrap(&clean(text), self.width - indent.chars().count());
        self.lines.extend(
            lines
                .into_iter()
                .map(|line| format!("{indent}{line}").trim_end().to_string()),
        );
    }

    fn item(&mut self, text: &str, tone: Tone) {
        for (i, line) in wrap(&clean(text), self.width - 2).into_iter().enumerate() {
            let lead = if i == 0 {
                paint("- ", tone, self.colour)
            } else {
                "  ".into()
            };
            self.lines.push(lead + &line);
        }
    }

    /// Items under a heading; nothing without items.
    pub(crate) fn items(&mut self, heading: &str, items: impl Iterator<Item = String>, tone: Tone) {
        let mut items = items.peekable();
        if items.peek().is_some() {
            self.heading(heading);
        }
        items.for_each(|item| self.item(&item, tone));
    }

    /// Tables under one heading, each with its own title; nothing for tables without rows.
    fn tables(&mut self, heading: &str, tables: &[Table]) {
        let mut tables = tables.iter().filter(|t| !t.rows.is_empty()).peekable();
        if tables.peek().is_some() {
            self.heading(heading);
        }
        for table in tables {
            self.table(table);
            self.blank();
        }
    }

    pub(crate) fn table(&mut self, table: &Table) {
        self.text(&table.title, "");
        self.bare_table(table);
    }

    fn bare_table(&mut self, table: &Table) {
        let colour = self.colour;
        let mut cleaned = table.clone();
        cleaned
            .columns
            .iter_mut()
            .for_each(|c| c.title = clean(&c.title));
        cleaned
            .rows
            .iter_mut()
            .flatten()
            .for_each(|cell| cell.text = clean(&cell.text));
        self.lines
            .extend(lay_out(&cleaned, self.width, |text, tone| {
                paint(text, tone, colour)
            }));
        for note in &table.notes {
            self.text(note, "");
        }
    }
}

/// Names and log lines come from outside: a control character would move the cursor.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        _ if !colour => return text.into(),
        Tone::Plain => return text.into(),
        Tone::Faster => "32",
        Tone::Slower => "33",
        Tone::Same => "36",
        Tone::Open => "2",
        Tone::Alarm => "31",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
