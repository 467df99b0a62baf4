// SPDX-License-Identifier: Apache-2.0
//! Tables with typed cells.

use super::{Quantity, Tone};
use lab_model::Unit;
use serde::Serialize;

/// A table; its first column names the rows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// The title; may be empty if the section's heading says it.
    pub title: String,
    /// One sentence that says how to read it; may be empty.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each as long as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// Notes on some of its cells.
    pub notes: Vec<String>,
}

/// A column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Column {
    /// Its heading, without a unit.
    pub title: String,
    /// The unit of its quantities, where all have the same: a format may then write one magnitude for all.
    #[serde(serialize_with = "super::unit_name::serialize_unit_of")]
    pub unit: Option<Unit>,
}

/// A cell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// The content.
    pub content: CellContent,
    /// A second, smaller line; may be empty.
    pub note: String,
    /// The meaning.
    pub tone: Tone,
}

/// The content of a cell.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(untagged)]
pub enum CellContent {
    /// Nothing: it does not apply.
    #[default]
    Empty,
    /// Words.
    Words(String),
    /// A number.
    Quantity(Quantity),
}

impl Table {
    /// A table without rows.
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

    /// Adds a row. Panics if it is not as long as there are columns.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row of {}", self.title);
        self.rows.push(cells);
    }

    /// Adds a row of a name and the cells behind it. Panics as [`Table::row`] does.
    pub fn named_row(&mut self, name: impl Into<Cell>, cells: impl IntoIterator<Item = Cell>) {
        self.row(std::iter::once(name.into()).chain(cells).collect());
    }

    /// With a sentence before its caption.
    pub fn captioned(self, text: &str) -> Table {
        let caption = format!("{text} {}", self.caption);
        Table {
            caption: caption.trim().into(),
            ..self
        }
    }

    /// Without columns, but for the first, in which no row has anything.
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
    /// A column of quantities of one unit.
    pub fn of(title: impl Into<String>, unit: Unit) -> Column {
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
    /// The number, if it is one.
    pub fn quantity(&self) -> Option<&Quantity> {
        match self {
            CellContent::Quantity(quantity) => Some(quantity),
            CellContent::Empty | CellContent::Words(_) => None,
        }
    }
}

impl Cell {
    /// True if it holds no words, no dash in their place, and no number.
    fn is_empty(&self) -> bool {
        match &self.content {
            CellContent::Empty => true,
            CellContent::Words(words) => matches!(words.as_str(), "" | "–"),
            CellContent::Quantity(_) => false,
        }
    }

    /// True if it holds a number.
    pub fn is_figure(&self) -> bool {
        self.content.quantity().is_some()
    }

    /// The cell with another tone.
    pub fn toned(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    /// The cell with a second line.
    pub fn noted(self, note: impl Into<String>) -> Cell {
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
