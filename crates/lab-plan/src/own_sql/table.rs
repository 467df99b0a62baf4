// SPDX-License-Identifier: Apache-2.0
//! The tables that a workload fills.

use super::csv::Table as CsvTable;
use super::source::Source;

/// A table to fill.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name, which needs no quotes in SQL.
    pub name: String,
    /// The position in the file, such as `shop.toml:7`.
    pub origin: String,
    /// The source of the rows: a CSV file or generated values.
    pub data: Data,
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub enum Data {
    /// Rows from a CSV file.
    Csv(CsvTable),
    /// Generated rows.
    Generated {
        /// The number of rows.
        rows: u64,
        /// The source of each column.
        columns: Vec<(String, Source)>,
    },
}
