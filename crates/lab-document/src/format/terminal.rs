// SPDX-License-Identifier: Apache-2.0
//! A document for a terminal: the answer on one screen, or the complete document.

mod chart;
mod pen;
mod table;

use self::pen::Pen;
use super::Top;
use super::grid::Grid;
use super::text::{clean, wrap};
use crate::document::{Answer, Chart, Document, Finding, Item, Section, Table, Tone};
use crate::output::{Format, Rendered, Terminal};
use crate::say;

/// The minimum width in columns. Narrower text would not be legible.
const MIN_WIDTH: usize = 40;

/// The terminal format.
pub const FORMAT: Format = Format {
    name: "terminal",
    extension: "txt",
    title: "Plain text",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, terminal| Ok(Rendered::Text(render(document, terminal))),
};

/// Renders a section as text. Every line ends with a line feed.
pub fn section(section: &Section, terminal: Terminal) -> String {
    let mut page = Screen::new(terminal);
    page.section(section, 1);
    page.lines.join("\n") + "\n"
}

/// Renders the document as text: only the answer, or all sections followed by the answer. The text
/// may be longer than a screen.
///
/// Every line ends with a line feed.
pub fn render(document: &Document, terminal: Terminal) -> String {
    let mut page = Screen::new(terminal);
    if terminal.full {
        page.all(document);
    }
    page.answer(document, terminal.full);
    page.lines.join("\n") + "\n"
}

/// The lines written so far, and the settings for writing more.
struct Screen {
    lines: Vec<String>,
    width: usize,
    pen: Pen,
}

impl Screen {
    fn new(terminal: Terminal) -> Screen {
        Screen {
            lines: Vec::new(),
            width: terminal.width.max(MIN_WIDTH),
            pen: Pen {
                color: terminal.color,
            },
        }
    }

    fn all(&mut self, document: &Document) {
        self.heading(&document.title, 0);
        for section in &document.sections {
            self.section(section, 1);
        }
        self.blank();
        self.lines.push(self.pen.dim(&"═".repeat(self.width)));
    }

    /// Writes the first screen.
    fn answer(&mut self, document: &Document, full: bool) {
        let answer = &document.answer;
        let top = super::top(document);
        self.headline(&top);
        if let Some(table) = &answer.table {
            self.blank();
            self.table(table);
        } else if let Some(chart) = &answer.chart {
            self.blank();
            self.chart(chart);
        }
        self.blank();
        let has_values = answer.table.is_some() || answer.chart.is_some();
        let max = if has_values {
            Answer::MAX_FINDINGS
        } else {
            usize::MAX
        };
        let (open, gates) = (answer.open_findings(), document.gate_findings());
        for finding in top.findings.iter().take(max).chain(&open).chain(&gates) {
            self.finding(finding);
        }
        if answer.is_empty() {
            self.text("No result: nothing was compared.");
        }
        if let Some(distribution) = &answer.distribution {
            self.blank();
            self.chart(distribution);
        }
        self.blank();
        let warnings = super::warnings(document);
        for warning in &warnings.shown {
            let lines = wrap(&clean(warning), self.width).into_iter();
            let lines = lines.map(|line| self.pen.paint(&line, Tone::Alarm));
            self.lines.extend(lines);
        }
        self.caption(&document.source);
        if !full && !document.sections.is_empty() {
            let omitted = top.findings.len().saturating_sub(max);
            let omitted = (omitted > 0).then(|| say::count(omitted, "other finding"));
            let others = Some(warnings.others()).filter(|others| !others.is_empty());
            let all = [Some("All tables".to_owned()), omitted, others];
            let what = say::list(&all.into_iter().flatten().collect::<Vec<String>>());
            let how = if document.kept {
                "`benchlab report FILE --full`"
            } else {
                "--full"
            };
            self.caption(&format!("{what}: {how}."));
        }
        self.trim();
    }

    fn headline(&mut self, top: &Top) {
        let headline = wrap(&clean(&top.headline), self.width);
        self.lines
            .extend(headline.iter().map(|line| self.pen.bold(line)));
        self.caption(&top.about);
    }

    fn section(&mut self, section: &Section, level: usize) {
        if section.is_empty() {
            return;
        }
        self.heading(&section.title, level);
        for item in &section.items {
            self.item(item);
        }
        for section in &section.sections {
            self.section(section, level + 1);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Paragraph(text) => self.text(text),
            Item::List(texts) => texts
                .iter()
                .for_each(|text| self.hanging_indent("- ", text)),
            Item::Facts(facts) => facts
                .iter()
                .for_each(|(name, value)| self.fact(name, value)),
            Item::Table(table) => self.table(table),
            Item::Chart(chart) => {
                self.blank();
                self.chart(chart);
                self.blank();
            }
            Item::Finding(finding) => self.finding(finding),
            Item::Log(lines) => lines
                .iter()
                .for_each(|line| self.hanging_indent("| ", line)),
        }
    }

    fn heading(&mut self, text: &str, level: usize) {
        self.blank();
        let lines = wrap(&clean(text), self.width);
        let rule = match level {
            0 => "═",
            1 => "─",
            _ => "",
        };
        let width = lines.iter().map(|line| line.chars().count()).max();
        self.lines
            .extend(lines.iter().map(|line| self.pen.bold(line)));
        if !rule.is_empty() {
            let width = width.unwrap_or(0).min(self.width);
            self.lines.push(self.pen.dim(&rule.repeat(width)));
        }
    }

    fn text(&mut self, text: &str) {
        self.lines.extend(wrap(&clean(text), self.width));
    }

    /// Writes text after a mark, and aligns the following lines with the text.
    fn hanging_indent(&mut self, mark: &str, text: &str) {
        let lead = mark.chars().count();
        let lines = wrap(&clean(text), self.width - lead);
        for (i, line) in lines.iter().enumerate() {
            let mark = if i == 0 { mark } else { &" ".repeat(lead) };
            self.lines.push(format!("{mark}{line}"));
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        self.hanging_indent("", &format!("{name}: {value}"));
    }

    /// Writes a list item that begins with the finding's label, colored by tone.
    fn finding(&mut self, finding: &Finding) {
        let label = clean(&finding.label);
        let text = match label.as_str() {
            "" => clean(&finding.text),
            label => format!("{label}: {}", clean(&finding.text)),
        };
        let lines = wrap(&text, self.width - 2);
        for (i, line) in lines.iter().enumerate() {
            let lead = if i == 0 { "• " } else { "  " };
            let line = match (i, line.strip_prefix(&label)) {
                (0, Some(rest)) => self.pen.bold(&label) + rest,
                _ => line.clone(),
            };
            self.lines.push(self.pen.paint(lead, finding.tone) + &line);
        }
    }

    fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        self.blank();
        let title = wrap(&clean(&table.title), self.width);
        self.lines
            .extend(title.iter().map(|line| self.pen.bold(line)));
        self.caption(&table.caption);
        self.lines
            .extend(table::lines(&Grid::new(table), self.width, self.pen));
        for note in &table.notes {
            self.caption(note);
        }
        self.blank();
    }

    fn chart(&mut self, chart: &Chart) {
        let title = wrap(&clean(&chart.title), self.width);
        self.lines
            .extend(title.iter().map(|line| self.pen.bold(line)));
        self.caption(&chart.caption);
        self.lines.extend(chart::draw(chart, self.width, self.pen));
    }

    /// Writes dimmed text.
    fn caption(&mut self, text: &str) {
        let lines = wrap(&clean(text), self.width);
        self.lines
            .extend(lines.iter().map(|line| self.pen.dim(line)));
    }

    /// Writes an empty line, unless the page is empty or its last line is empty.
    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn trim(&mut self) {
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
    }
}
