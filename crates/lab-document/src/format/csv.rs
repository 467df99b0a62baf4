// SPDX-License-Identifier: Apache-2.0
//! A document's rows as tidy CSV (RFC 4180), with plain numbers.
//!
//! Text is written unchanged, so the format is for programs. A spreadsheet could interpret such
//! text as a formula. The Excel format prevents this.

use super::tidy::{COLUMNS, Field, fields};
use crate::document::Document;
use crate::output::{Error, Format, Rendered};

/// The CSV format.
pub const FORMAT: Format = Format {
    name: "csv",
    extension: "csv",
    title: "Figures (CSV)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("CSV", error))
    },
};

/// Renders a heading line, followed by one line for each row of the document.
///
/// Returns an error if the CSV writer fails.
pub fn render(document: &Document) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in &document.rows {
        writer.write_record(fields(row).iter().map(Field::text))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
