// SPDX-License-Identifier: Apache-2.0
//! Tables with typed cells.

use super::{Quantity, Tone};
use lab_model::Unit;
use serde::Serialize;

/// A table. The first column names the rows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// The title. May be empty if the section's heading serves as the title.
    pub title: String,
    /// One sentence that explains how to read the table. May be empty.
    pub caption: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows. Each row has one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Notes on individual cells.
    pub notes: Vec<String>,
}

/// A column of a table, with its heading and its unit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Column {
    /// The heading without the unit.
    pub title: String,
    /// The common unit of all quantities in the column, or `None` if there is no common unit.
    ///
    /// A format may use the same magnitude for the whole column.
    #[serde(serialize_with = "super::unit_name::serialize_unit_of")]
    pub unit: Option<Unit>,
}

/// A cell of a table, with its content, an optional note and a tone.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// The text or the quantity in the cell.
    pub content: CellContent,
    /// A note that is shown on a second line in smaller text. May be empty.
    pub note: String,
    /// The tone, which is shown as a color.
    pub tone: Tone,
}

/// The content of a cell: nothing, text, or a number with its unit.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(untagged)]
pub enum CellContent {
    /// No content, because the column does not apply.
    #[default]
    Empty,
    /// Text.
    Words(String),
    /// A number with its unit.
    Quantity(Quantity),
}

impl Table {
    /// Creates a table without rows.
    pub fn new<C: Into<Column>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Table {
        Table {
            title: title.into(),
            columns: columns.into_iter().map(C::into).collect(),
            ..Table::default()
        }
    }

    /// Adds a row.
    ///
    /// Panics if the number of cells differs from the number of columns.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row of {}", self.title);
        self.rows.push(cells);
    }

    /// Adds a row that starts with a name.
    ///
    /// Panics if the number of cells differs from the number of columns.
    pub fn named_row(&mut self, name: impl Into<Cell>, cells: impl IntoIterator<Item = Cell>) {
        self.row(std::iter::once(name.into()).chain(cells).collect());
    }

    /// Inserts a sentence at the beginning of the caption.
    pub fn with_caption(self, text: &str) -> Table {
        let caption = format!("{text} {}", self.caption);
        Table {
            caption: caption.trim().into(),
            ..self
        }
    }

    /// Removes all columns without content, except for the first column.
    pub fn without_empty_columns(mut self) -> Table {
        for column in (1..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.columns.remove(column);
                self.rows
                    .iter_mut()
                    .for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }
}

impl Column {
    /// Creates a column of quantities in one unit.
    pub fn with_unit(title: impl Into<String>, unit: Unit) -> Column {
        Column {
            title: title.into(),
            unit: Some(unit),
        }
    }
}

impl From<&str> for Column {
    fn from(title: &str) -> Column {
        Column::from(title.to_owned())
    }
}

impl From<String> for Column {
    fn from(title: String) -> Column {
        Column { title, unit: None }
    }
}

impl CellContent {
    /// Returns the number, or `None` if the cell does not contain a number.
    pub fn quantity(&self) -> Option<&Quantity> {
        match self {
            CellContent::Quantity(quantity) => Some(quantity),
            CellContent::Empty | CellContent::Words(_) => None,
        }
    }
}

impl Cell {
    /// Returns true if the cell contains neither a number nor text other than a dash.
    fn is_empty(&self) -> bool {
        match &self.content {
            CellContent::Empty => true,
            CellContent::Words(words) => matches!(words.as_str(), "" | "–"),
            CellContent::Quantity(_) => false,
        }
    }

    /// Returns true if the cell contains a number.
    pub fn is_number(&self) -> bool {
        self.content.quantity().is_some()
    }

    /// Replaces the tone.
    pub fn with_tone(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    /// Adds a note as a second line.
    pub fn with_note(self, note: impl Into<String>) -> Cell {
        Cell {
            note: note.into(),
            ..self
        }
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Cell {
        Cell::from(words.to_owned())
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Cell {
        Cell {
            content: CellContent::Words(words),
            ..Cell::default()
        }
    }
}

impl From<Quantity> for Cell {
    fn from(quantity: Quantity) -> Cell {
        Cell {
            content: CellContent::Quantity(quantity),
            ..Cell::default()
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or_else(Cell::default, T::into)
    }
}
