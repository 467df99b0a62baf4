// SPDX-License-Identifier: Apache-2.0
//! A document as GitHub Flavored Markdown, for issues and wikis. The result comes first.

use super::grid::{Grid, GridCell};
use super::text::clean;
use super::{values, warnings};
use crate::document::{Detail, Document, Finding, Item, Section, Table};
use crate::output::{Format, Rendered};

/// The Markdown format.
pub const FORMAT: Format = Format {
    name: "markdown",
    extension: "md",
    title: "Text (Markdown)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| Ok(Rendered::Text(render(document))),
};

/// The title of the folded details below the answer. They are folded so that the answer fits into a
/// comment.
const DETAILS: &str = "Warnings, all tables, and methodology";

/// Renders the document as Markdown. Each chart becomes a table of its values.
pub fn render(document: &Document) -> String {
    let mut page = MarkdownText {
        text: String::new(),
    };
    page.answer(document);
    if document.sections.iter().any(|section| !section.is_empty()) {
        page.fold(DETAILS, |page| {
            for section in &document.sections {
                page.section(section, 2);
            }
        });
    }
    page.paragraph(&document.source);
    if !document.benchlab_version.is_empty() {
        page.paragraph(&format!("Made by benchlab {}.", document.benchlab_version));
    }
    page.text.trim_end().to_owned() + "\n"
}

struct MarkdownText {
    text: String,
}

impl MarkdownText {
    fn answer(&mut self, document: &Document) {
        let top = super::top(document);
        self.heading(1, &top.headline);
        let answer = &document.answer;
        match (&answer.table, &answer.chart) {
            (Some(table), _) => self.table(table),
            (None, Some(chart)) => self.table(&values::table(chart)),
            (None, None) => {}
        }
        let (open, gates) = (answer.open_findings(), document.gate_findings());
        let findings = top.findings.iter().chain(&open).chain(&gates);
        findings.for_each(|finding| self.finding(finding));
        self.end();
        if let Some(chart) = &answer.distribution {
            self.table(&values::table(chart));
        }
        self.paragraph(&top.about);
        self.end();
        self.paragraph(&warnings(document).paragraph("below"));
    }

    fn section(&mut self, section: &Section, level: usize) {
        if section.is_empty() {
            return;
        }
        match section.detail {
            Detail::Shown => {
                self.heading(level, &section.title);
                self.content(section, level);
            }
            Detail::Folded => self.fold(&section.title, |page| page.content(section, level)),
        }
    }

    /// Writes content that is hidden under a title until the user unfolds it.
    fn fold(&mut self, title: &str, content: impl FnOnce(&mut MarkdownText)) {
        let title = maud::html! { (clean(title)) }.into_string();
        self.end();
        self.text += &format!("<details><summary>{title}</summary>\n\n");
        content(self);
        self.end();
        self.text += "</details>\n\n";
    }

    fn content(&mut self, section: &Section, level: usize) {
        for item in &section.items {
            self.item(item);
        }
        self.end();
        for section in &section.sections {
            self.section(section, level + 1);
        }
    }

    fn item(&mut self, item: &Item) {
        if !matches!(item, Item::Finding(_)) {
            self.end();
        }
        match item {
            Item::Paragraph(text) => self.paragraph(text),
            Item::List(texts) => texts.iter().for_each(|text| self.list_item(&line(text))),
            Item::Facts(facts) => facts
                .iter()
                .for_each(|(name, value)| self.labeled(name, value)),
            Item::Table(table) => self.table(table),
            Item::Chart(chart) => self.table(&values::table(chart)),
            Item::Finding(finding) => self.finding(finding),
            Item::Log(lines) => self.log(lines),
        }
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.end();
        self.text += &format!("{} {}\n\n", "#".repeat(level.min(6)), escape(text));
    }

    /// Ends a list with an empty line.
    fn end(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn paragraph(&mut self, text: &str) {
        let text = line(text);
        if !text.is_empty() {
            self.text += &format!("{text}\n\n");
        }
    }

    fn list_item(&mut self, markdown: &str) {
        self.text += &format!("- {markdown}\n");
    }

    fn finding(&mut self, finding: &Finding) {
        self.labeled(&finding.label, &finding.text);
    }

    fn labeled(&mut self, label: &str, text: &str) {
        match line(label).as_str() {
            "" => self.list_item(&line(text)),
            label => self.list_item(&format!("**{label}:** {}", escape(text))),
        }
    }

    fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        self.end();
        let title = line(&table.title);
        if !title.is_empty() {
            self.text += &format!("**{title}**\n\n");
        }
        self.paragraph(&table.caption);
        let grid = Grid::new(table);
        let headings = grid.columns.iter().map(|column| escape(&column.heading));
        let rules = grid
            .columns
            .iter()
            .map(|c| if c.numeric { "--:" } else { ":--" });
        self.row(headings.collect());
        self.row(rules.map(String::from).collect());
        for row in &grid.rows {
            self.row(row.iter().map(cell).collect());
        }
        self.text.push('\n');
        for note in &table.notes {
            self.paragraph(note);
        }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.text += &format!("| {} |\n", cells.join(" | "));
    }

    /// Writes a log in a code fence that no line of the log can close (CommonMark 0.31, 4.5 Fenced code blocks).
    fn log(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines.iter().map(|line| clean(line)).collect();
        let max = |line: &String| line.split(|c| c != '`').map(str::len).max();
        let ticks = lines.iter().filter_map(max).max().unwrap_or(0);
        let fence = "`".repeat(ticks.max(2) + 1);
        self.text += &format!("{fence}text\n{}\n{fence}\n\n", lines.join("\n"));
    }
}

/// Formats a table cell.
///
/// Does not escape brackets around numbers, because they cannot form links.
fn cell(cell: &GridCell) -> String {
    let interval = match cell.interval.as_str() {
        interval
            if interval
                .chars()
                .all(|c| c.is_ascii_digit() || "[], .-".contains(c)) =>
        {
            interval.into()
        }
        interval => escape(interval),
    };
    let content = format!("{} {interval}", escape(&cell.value));
    match cell.note.as_str() {
        "" => content.trim().into(),
        note => format!("{}<br>{}", content.trim(), escape(note)),
    }
}

/// Escapes text at the beginning of a line, so that it does not start a list, a thematic break or a
/// heading.
fn line(text: &str) -> String {
    let text = escape(text);
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let after = text[digits..].chars().next();
    match after {
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

/// Escapes text so that it appears unchanged and on one line (CommonMark 0.31, 2.4 Backslash
/// escapes).
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in clean(text).trim().chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' | '!' | '$'
        ) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
