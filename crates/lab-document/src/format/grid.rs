// SPDX-License-Identifier: Apache-2.0
//! Tables as sanitized text. If all numbers of a column can have the same magnitude, the heading
//! contains the unit.

use super::quantity::{self, Magnitude};
use super::text::clean;
use crate::document::{CellContent, Column, Table, Tone};
use lab_model::Unit;

/// A table as text.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The columns, from left to right.
    pub columns: Vec<GridColumn>,
    /// The rows. Each row has one cell per column.
    pub rows: Vec<Vec<GridCell>>,
}

/// A column of a grid, with its formatted heading.
#[derive(Clone, Debug)]
pub struct GridColumn {
    /// The heading, with the unit if all cells have the same unit.
    pub heading: String,
    /// True if the cells are numbers, which are right-aligned.
    pub numeric: bool,
}

/// A formatted cell: the value, its interval and its note.
#[derive(Clone, Debug, Default)]
pub struct GridCell {
    /// Text, or a number.
    pub value: String,
    /// The text after the number, such as its interval. May be empty.
    pub interval: String,
    /// A second line. May be empty.
    pub note: String,
    /// The tone, which is shown as a color.
    pub tone: Tone,
}

impl Grid {
    /// Converts a table to text.
    pub fn new(table: &Table) -> Grid {
        let units: Vec<Option<&Unit>> = (0..table.columns.len()).map(|i| unit(table, i)).collect();
        let magnitudes = units.iter().enumerate().map(|(i, unit)| {
            let alike = |j: &usize| units[*j] == *unit;
            let alike: Vec<usize> = (0..units.len()).filter(alike).collect();
            common(table, *unit, &alike).or_else(|| common(table, *unit, &[i]))
        });
        let magnitudes: Vec<Option<Magnitude>> = magnitudes.collect();
        let columns = table
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| GridColumn {
                heading: heading(column, magnitudes[i].as_ref()),
                numeric: column.unit.is_some() || holds_numbers(table, i),
            });
        let cell = |(i, cell): (usize, &crate::document::Cell)| {
            let (value, interval) = content(&cell.content, magnitudes[i].as_ref());
            GridCell {
                value,
                interval,
                note: clean(&cell.note),
                tone: cell.tone,
            }
        };
        let rows = table.rows.iter();
        let rows = rows.map(|row| row.iter().enumerate().map(cell).collect());
        Grid {
            columns: columns.collect(),
            rows: rows.collect(),
        }
    }

    /// Transposes the table, so that the row names become headings.
    pub fn transposed(&self) -> Grid {
        let numeric = self.columns.iter().skip(1).all(|column| column.numeric);
        let first = self.columns.iter().take(1).cloned();
        let others = self.rows.iter().map(|row| GridColumn {
            heading: row[0].value.clone(),
            numeric,
        });
        let row = |(i, column): (usize, &GridColumn)| {
            let name = GridCell {
                value: column.heading.clone(),
                ..GridCell::default()
            };
            let cells = self.rows.iter().map(|row| row[i].clone());
            std::iter::once(name).chain(cells).collect()
        };
        let rows = self.columns.iter().enumerate().skip(1).map(row);
        Grid {
            columns: first.chain(others).collect(),
            rows: rows.collect(),
        }
    }
}

/// Returns the common unit of all quantities of a column, or `None` if there is no common unit.
///
/// If the column's definition has no unit, a column that contains text has no common unit.
fn unit(table: &Table, i: usize) -> Option<&Unit> {
    let contents = || table.rows.iter().map(|row| &row[i].content);
    let mut quantities = contents().filter_map(CellContent::quantity);
    let words = contents().any(|content| matches!(content, CellContent::Words(_)));
    let first = quantities
        .next()
        .map(|quantity| &quantity.unit)
        .filter(|_| !words);
    let unit = table.columns[i].unit.as_ref().or(first)?;
    let mut all = contents().filter_map(CellContent::quantity);
    all.all(|quantity| quantity.unit == *unit).then_some(unit)
}

/// Returns true if a column contains numbers and no text.
fn holds_numbers(table: &Table, i: usize) -> bool {
    let mut contents = table.rows.iter().map(|row| &row[i].content);
    let words = contents.clone().any(|c| matches!(c, CellContent::Words(_)));
    !words && contents.any(|c| c.quantity().is_some())
}

/// Returns the common magnitude for all quantities of the given `columns`, or `None` if no
/// magnitude suits all of them.
fn common(table: &Table, unit: Option<&Unit>, columns: &[usize]) -> Option<Magnitude> {
    let cells = table
        .rows
        .iter()
        .flat_map(|row| columns.iter().map(|i| &row[*i]));
    let quantities = cells.filter_map(|cell| cell.content.quantity());
    quantity::common_magnitude(unit?, quantities)
}

fn heading(column: &Column, magnitude: Option<&Magnitude>) -> String {
    let title = clean(&column.title);
    let unit = clean(magnitude.map_or("", |m| m.name.as_str()));
    // A title such as `threads` already names the unit.
    let named = unit.len() > 2 && title.to_lowercase().contains(&unit.to_lowercase());
    if title.is_empty() {
        unit
    } else if unit.is_empty() || named {
        title
    } else {
        format!("{title}, {unit}")
    }
}

fn content(content: &CellContent, magnitude: Option<&Magnitude>) -> (String, String) {
    match content {
        CellContent::Empty => Default::default(),
        CellContent::Words(words) => (clean(words), String::new()),
        CellContent::Quantity(quantity) => {
            let (value, interval) = quantity::parts(quantity, magnitude);
            (clean(&value), clean(&interval))
        }
    }
}
