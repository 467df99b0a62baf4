// SPDX-License-Identifier: Apache-2.0
//! Lays out tables within a line width.
//!
//! A table that is too wide is transposed if it then fits. Otherwise, its remaining columns
//! continue below the first columns.

use super::pen::Pen;
use crate::document::Tone;
use crate::format::grid::{Grid, GridCell};
use crate::format::text::{cut, pad, pad_left, wrap};
use std::collections::HashSet;
use unicode_width::UnicodeWidthStr;

/// The maximum width of a cell's text in a table that is too wide, in columns.
const WORDS: usize = 32;

/// The layout of a column.
#[derive(Clone, Copy)]
struct ColumnShape {
    /// The width of the whole column.
    width: usize,
    /// The width of the text after the numbers, or 0 if no cell has such text.
    interval: usize,
    numeric: bool,
}

/// Lays out a table in lines of at most `width` columns.
///
/// The gap between columns is two spaces, or one space if two do not fit. Columns that do not fit
/// continue below, next to a copy of the columns that name the rows.
pub fn lines(grid: &Grid, width: usize, pen: Pen) -> Vec<String> {
    let transposed = grid.transposed();
    let few = grid.rows.len() < grid.columns.len();
    if few && !fits(grid, width) && fits(&transposed, width) {
        return laid_out(&transposed, width, pen);
    }
    laid_out(grid, width, pen)
}

fn fits(grid: &Grid, width: usize) -> bool {
    let shapes = shapes(grid, width);
    shapes.iter().map(|shape| shape.width + 1).sum::<usize>() <= width + 1
}

fn laid_out(grid: &Grid, width: usize, pen: Pen) -> Vec<String> {
    let shapes = shapes(grid, width);
    let Some(first) = shapes.first() else {
        return Vec::new();
    };
    let others: usize = shapes.iter().skip(1).map(|shape| shape.width + 2).sum();
    let gap = if first.width + others > width { 1 } else { 2 };
    let names = names(grid, &shapes, width);
    let mut lines = Vec::new();
    for part in parts(&shapes, names, width, gap) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let columns: Vec<usize> = (0..names).chain(part.clone()).collect();
        lines.extend(headings(grid, &shapes, &columns, gap, pen));
        // A row without values in these columns is shown only in the first group.
        let empty = |row: &[GridCell]| part.clone().all(|i| row[i].value.is_empty());
        for row in &grid.rows {
            if part.start > names && empty(row) {
                continue;
            }
            lines.extend(self::row(row, &shapes, &columns, gap, pen));
        }
    }
    lines
}

fn shapes(grid: &Grid, width: usize) -> Vec<ColumnShape> {
    let shape = |i: usize| {
        let column = &grid.columns[i];
        let cells = || grid.rows.iter().map(|row| &row[i]);
        let interval = cells().map(|c| c.interval.width()).max().unwrap_or(0);
        let values = cells().map(|c| c.value.width()).max().unwrap_or(0);
        let max = if column.numeric {
            width * 3 / 5
        } else {
            WORDS.min(width * 2 / 5)
        };
        let content = values + interval + usize::from(interval > 0);
        let notes = cells()
            .map(|c| c.note.width())
            .max()
            .unwrap_or(0)
            .min(WORDS);
        let widest_word = column.heading.split(' ').map(UnicodeWidthStr::width).max();
        let heading = widest_word.unwrap_or(0).max(column.heading.width().min(16));
        ColumnShape {
            width: content.max(notes).max(heading).min(max.max(4)),
            interval,
            numeric: column.numeric,
        }
    };
    let mut shapes: Vec<ColumnShape> = (0..grid.columns.len()).map(shape).collect();
    if let Some((first, others)) = shapes.split_first_mut() {
        let room = width - first.width - 1;
        others
            .iter_mut()
            .for_each(|shape| shape.width = shape.width.min(room));
    }
    shapes
}

/// Returns the number of leading text columns that identify the rows.
///
/// Returns 1 if no number of columns identifies the rows, or if there is no room for another column
/// next to them.
fn names(grid: &Grid, shapes: &[ColumnShape], width: usize) -> usize {
    let words = grid.columns.iter().take_while(|column| !column.numeric);
    let max = words.count().min(grid.columns.len() - 1);
    let apart = |count: &usize| {
        let name = |row: &'_ Vec<GridCell>| row[..*count].iter().map(|c| c.value.clone()).collect();
        let names: HashSet<Vec<String>> = grid.rows.iter().map(name).collect();
        names.len() == grid.rows.len()
    };
    let fit = |count: &usize| {
        let (names, others) = shapes.split_at(*count);
        let widest = others.iter().map(|shape| shape.width).max().unwrap_or(0);
        names.iter().map(|shape| shape.width + 1).sum::<usize>() + widest <= width
    };
    (1..=max).find(apart).filter(fit).unwrap_or(1)
}

/// Splits the columns that follow the row names into groups that each fit the width.
fn parts(
    shapes: &[ColumnShape],
    names: usize,
    width: usize,
    gap: usize,
) -> Vec<std::ops::Range<usize>> {
    let named: usize = shapes[..names].iter().map(|shape| shape.width + gap).sum();
    let room = (width + gap).saturating_sub(named);
    let mut parts = Vec::new();
    let (mut begin, mut used) = (names, 0);
    for (i, shape) in shapes.iter().enumerate().skip(names) {
        if i > begin && used + shape.width + gap > room {
            parts.push(begin..i);
            (begin, used) = (i, 0);
        }
        used += shape.width + gap;
    }
    parts.push(begin..shapes.len());
    parts
}

/// Lays out the headings in as many lines as needed, aligned to the last line.
fn headings(
    grid: &Grid,
    shapes: &[ColumnShape],
    columns: &[usize],
    gap: usize,
    pen: Pen,
) -> Vec<String> {
    let wrapped = columns
        .iter()
        .map(|&i| wrap(&grid.columns[i].heading, shapes[i].width));
    let wrapped: Vec<Vec<String>> = wrapped.collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let line = |n: usize| {
        let cells = wrapped.iter().zip(columns).map(|(lines, &i)| {
            let above = height - lines.len();
            let text = n.checked_sub(above).map_or("", |n| lines[n].as_str());
            align(text, shapes[i])
        });
        let cells: Vec<String> = cells.collect();
        pen.bold(cells.join(&" ".repeat(gap)).trim_end())
    };
    (0..height).map(line).collect()
}

fn row(
    row: &[GridCell],
    shapes: &[ColumnShape],
    columns: &[usize],
    gap: usize,
    pen: Pen,
) -> Vec<String> {
    let cells = columns.iter().map(|&i| cell(&row[i], shapes[i]));
    let cells: Vec<Vec<String>> = cells.collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |n: usize| {
        let mut line = String::new();
        for (position, (lines, &i)) in cells.iter().zip(columns).enumerate() {
            let text = lines.get(n).cloned().unwrap_or_default();
            let last = position + 1 == columns.len();
            let text = if last {
                text
            } else {
                pad(&text, shapes[i].width)
            };
            line += &" ".repeat(if position > 0 { gap } else { 0 });
            line += &paint_text(&text, row[i].tone, pen);
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// Lays out a cell in lines that fit into its column.
fn cell(cell: &GridCell, shape: ColumnShape) -> Vec<String> {
    let mut lines = if !shape.numeric {
        wrap(
            format!("{} {}", cell.value, cell.interval).trim_end(),
            shape.width,
        )
    } else if shape.interval == 0 || cell.value.is_empty() {
        vec![align(&cut(&cell.value, shape.width), shape)]
    } else {
        // The right edges of values and the left edges of intervals are aligned.
        let value = pad_left(&cell.value, shape.width.saturating_sub(shape.interval + 1));
        vec![cut(&format!("{value} {}", cell.interval), shape.width)]
    };
    if !cell.note.is_empty() {
        lines.extend(
            wrap(&cell.note, shape.width)
                .iter()
                .map(|note| align(note, shape)),
        );
    }
    lines
}

fn align(text: &str, shape: ColumnShape) -> String {
    if shape.numeric {
        pad_left(text, shape.width)
    } else {
        pad(text, shape.width)
    }
}

/// Colors a cell's text without its padding, because trailing spaces are trimmed.
fn paint_text(text: &str, tone: Tone, pen: Pen) -> String {
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(start);
    format!(
        "{}{}{}",
        &text[..start],
        pen.paint(&text[start..end], tone),
        &text[end..]
    )
}
