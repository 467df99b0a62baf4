// SPDX-License-Identifier: Apache-2.0
//! The lines of a report for a terminal: wrapped and cut to its width, coloured where wanted, and
//! without control characters from a run.

use crate::Terminal;
use crate::table::{Table, Tone, cut, lay_out, wrap};
use unicode_width::UnicodeWidthStr;

/// Lines in the making.
pub struct Page {
    lines: Vec<String>,
    /// Columns.
    pub width: usize,
    colour: bool,
}

impl Page {
    /// No lines yet.
    pub fn new(terminal: Terminal) -> Page {
        Page {
            lines: Vec::new(),
            width: terminal.width.max(60),
            colour: terminal.colour,
        }
    }

    /// All lines, each with its line feed.
    pub fn finish(self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// An empty line, but never two.
    pub fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// A bold line; no text, no line.
    pub fn heading(&mut self, text: &str) {
        self.blank();
        if text.is_empty() {
            return;
        }
        for line in wrap(&clean(text), self.width) {
            self.lines.push(if self.colour {
                format!("\x1b[1m{line}\x1b[0m")
            } else {
                line
            });
        }
    }

    /// Wrapped text.
    pub fn text(&mut self, text: &str, indent: &str) {
        let lines = wrap(&clean(text), self.width - indent.chars().count());
        self.lines.extend(
            lines
                .into_iter()
                .map(|line| format!("{indent}{line}").trim_end().to_string()),
        );
    }

    /// Wrapped text in the colour of its meaning.
    pub fn toned(&mut self, text: &str, tone: Tone) {
        let lines = wrap(&clean(text), self.width);
        let lines = lines.iter().filter(|line| !line.is_empty());
        self.lines
            .extend(lines.map(|line| paint(line, tone, self.colour)));
    }

    /// A name, padded to `width`, and a text that is cut so that its marks stay in sight.
    pub fn pair(&mut self, name: &str, width: usize, text: &str, marks: &str) {
        let name = cut(&clean(name), width);
        let pad = " ".repeat(width - name.width() + 2);
        let marks = clean(marks);
        let room = self.width.saturating_sub(width + 2 + marks.width());
        let text = cut(&clean(text), room);
        self.lines.push(format!("{name}{pad}{text}{marks}"));
    }

    /// An item of a list.
    pub fn item(&mut self, text: &str, tone: Tone) {
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
    pub fn items(&mut self, heading: &str, items: impl Iterator<Item = String>, tone: Tone) {
        let mut items = items.peekable();
        if items.peek().is_some() {
            self.heading(heading);
        }
        items.for_each(|item| self.item(&item, tone));
    }

    /// Tables under one heading, each with its own title; nothing for tables without rows.
    pub fn tables(&mut self, heading: &str, tables: &[Table]) {
        let mut tables = tables.iter().filter(|t| !t.rows.is_empty()).peekable();
        if tables.peek().is_some() {
            self.heading(heading);
        }
        for table in tables {
            self.table(table);
            self.blank();
        }
    }

    /// A table under its own title.
    pub fn table(&mut self, table: &Table) {
        if !table.title.is_empty() {
            self.text(&table.title, "");
        }
        self.bare_table(table);
    }

    /// A table without its title.
    pub fn bare_table(&mut self, table: &Table) {
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

/// Names and log lines come from outside: a control character would move the cursor, and one that
/// turns the direction of writing (Unicode Standard Annex 9) would show another text than there is.
pub fn clean(text: &str) -> String {
    let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if c.is_control() || turns(c) { ' ' } else { c })
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
