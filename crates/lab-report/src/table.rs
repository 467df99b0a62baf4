// SPDX-License-Identifier: Apache-2.0
//! A table before it takes the form of a format, and how it is laid out in plain text.

use unicode_width::UnicodeWidthStr;

/// A table; its first column names the rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its columns' headings.
    pub columns: Vec<Column>,
    /// Its rows, each as long as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What to know about some of its cells.
    pub notes: Vec<String>,
}

/// A column's heading.
#[derive(Clone, Debug)]
pub struct Column {
    /// The text, with the unit where all cells have the same.
    pub title: String,
    /// Cells are numbers: they stand on the right.
    pub numeric: bool,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// A second, smaller line.
    pub sub: String,
    /// What it means.
    pub tone: Tone,
}

/// What a cell or a line means, for colours; the words say it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// Less time than the baseline.
    Faster,
    /// More time than the baseline.
    Slower,
    /// Equivalent.
    Same,
    /// Not decided.
    Open,
    /// Something went wrong.
    Alarm,
}

impl Tone {
    /// A word for classes and the like.
    pub fn word(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Faster => "faster",
            Tone::Slower => "slower",
            Tone::Same => "same",
            Tone::Open => "open",
            Tone::Alarm => "alarm",
        }
    }
}

impl Table {
    /// A table without rows; the first column holds text, the others numbers.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = String>) -> Self {
        let columns = columns.into_iter().enumerate();
        Table {
            title: title.into(),
            columns: columns
                .map(|(i, title)| Column {
                    title,
                    numeric: i > 0,
                })
                .collect(),
            ..Table::default()
        }
    }

    /// Takes out the columns with these headings.
    pub fn drop_columns(&mut self, titles: &[&str]) {
        let kept: Vec<bool> = self
            .columns
            .iter()
            .map(|column| !titles.contains(&column.title.as_str()))
            .collect();
        let mut keep = kept.iter();
        self.columns.retain(|_| keep.next() == Some(&true));
        for row in &mut self.rows {
            let mut keep = kept.iter();
            row.retain(|_| keep.next() == Some(&true));
        }
    }

    /// Rows for columns.
    pub fn turned(&self) -> Table {
        let names = self.rows.iter().map(|row| row[0].text.clone());
        let first = self.columns.first().map(|c| c.title.clone());
        let mut turned = Table::new(self.title.clone(), first.into_iter().chain(names));
        for (i, column) in self.columns.iter().enumerate().skip(1) {
            let values = self.rows.iter().map(|row| row[i].clone());
            let name = Cell::from(column.title.as_str());
            turned
                .rows
                .push(std::iter::once(name).chain(values).collect());
        }
        turned.notes.clone_from(&self.notes);
        turned
    }

    /// The same with text in one more column.
    pub fn text_column(mut self, title: &str) -> Self {
        self.columns.push(Column {
            title: title.into(),
            numeric: false,
        });
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }
}

impl Cell {
    /// The same with a meaning.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The same with a second line.
    pub fn sub(mut self, sub: impl Into<String>) -> Self {
        self.sub = sub.into();
        self
    }
}

/// The lines of a table in plain text, none wider than `width`: where the columns do not fit, it
/// goes on below with the first column repeated. Columns are two
/// spaces apart, or one if that makes them fit. `paint` adds what a tone looks like.
pub fn lay_out(table: &Table, width: usize, paint: impl Fn(&str, Tone) -> String) -> Vec<String> {
    let widths = natural_widths(table);
    let Some((&first, others)) = widths.split_first() else {
        return Vec::new();
    };
    let first = first.min(width * 2 / 5);
    let room = width - first;
    let gap = if others.iter().map(|w| w + 2).sum::<usize>() > room {
        1
    } else {
        2
    };
    let mut lines = Vec::new();
    for part in parts(others, room, gap) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let columns: Vec<(usize, usize)> = std::iter::once((0, first))
            .chain(part.map(|i| (i + 1, others[i].min(room - gap))))
            .collect();
        let title = |i: usize| (table.columns[i].title.as_str(), Tone::Plain);
        lines.push(line(&columns, gap, title, table, &paint));
        for row in &table.rows {
            let cell = |i: usize| (row[i].text.as_str(), row[i].tone);
            lines.push(line(&columns, gap, cell, table, &paint));
        }
    }
    lines
}

/// Text cut to a width, with `…` where something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.into();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if kept.width() + c.to_string().width() + 1 > width {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// Text in lines of at most `width`, broken at spaces but not before `%`, and within a word only if
/// it is too long.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => *number += &format!(" {word}"),
            _ => words.push(word.into()),
        }
    }
    let mut lines = vec![String::new()];
    for word in words.iter().flat_map(|word| pieces(word, width)) {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(&word);
        } else if last.width() + 1 + word.width() <= width {
            last.push(' ');
            last.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

fn natural_widths(table: &Table) -> Vec<usize> {
    let column = |i: usize| {
        let cells = table.rows.iter().map(|row| row[i].text.width());
        cells
            .chain([table.columns[i].title.width()])
            .max()
            .unwrap_or(0)
    };
    (0..table.columns.len()).map(column).collect()
}

/// Ranges of the columns after the first that fit side by side.
fn parts(widths: &[usize], room: usize, gap: usize) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut begin, mut used) = (0, 0);
    for (i, width) in widths.iter().enumerate() {
        if i > begin && used + width + gap > room {
            parts.push(begin..i);
            (begin, used) = (i, 0);
        }
        used += width + gap;
    }
    parts.push(begin..widths.len());
    parts
}

fn line<'t>(
    columns: &[(usize, usize)],
    gap: usize,
    cell: impl Fn(usize) -> (&'t str, Tone),
    table: &Table,
    paint: &impl Fn(&str, Tone) -> String,
) -> String {
    let mut line = String::new();
    for (place, &(i, width)) in columns.iter().enumerate() {
        let (text, tone) = cell(i);
        let text = cut(text, width);
        let padding = " ".repeat(width - text.width());
        if place > 0 {
            line.push_str(&" ".repeat(gap));
        }
        if table.columns[i].numeric {
            line.push_str(&padding);
            line.push_str(&paint(&text, tone));
        } else {
            line.push_str(&paint(&text, tone));
            line.push_str(&padding);
        }
    }
    line.trim_end().into()
}

/// A word in pieces that fit.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        if pieces[pieces.len() - 1].width() + c.to_string().width() > width.max(2) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("there is always a piece").push(c);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, _: Tone) -> String {
        text.into()
    }

    #[test]
    fn a_table_that_does_not_fit_goes_on_below() {
        let names = (0..12).map(|i| format!("column {i}"));
        let mut table = Table::new("t", std::iter::once("who".to_string()).chain(names));
        table
            .rows
            .push((0..13).map(|i| format!("value {i}").into()).collect());
        let lines = lay_out(&table, 40, plain);
        assert!(lines.iter().all(|l| l.width() <= 40), "{lines:#?}");
        for i in 0..12 {
            assert!(
                lines.iter().any(|l| l.contains(&format!("column {i}"))),
                "column {i} is there"
            );
        }
        assert!(lines.iter().filter(|l| l.starts_with("who")).count() > 1);
    }

    #[test]
    fn wide_letters_and_long_names_are_cut_and_wrapped_to_size() {
        assert_eq!(cut("数据库数据库", 5), "数据…");
        assert_eq!(cut("short", 5), "short");
        let long = "x".repeat(200);
        assert!(
            wrap(&format!("a {long} b"), 30)
                .iter()
                .all(|l| l.width() <= 30)
        );
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("margin 2 %; more", 8), ["margin", "2 %;", "more"]);
    }
}
