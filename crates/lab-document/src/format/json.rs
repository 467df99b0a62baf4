// SPDX-License-Identifier: Apache-2.0
//! A document as JSON for programs. It contains everything, also the data of charts.
//!
//! docs/formats.md describes the schema.

use crate::document::Document;
use crate::output::{Error, Format, Rendered};
use serde::Serialize;

/// The JSON format.
pub const FORMAT: Format = Format {
    name: "json",
    extension: "json",
    title: "Everything (JSON)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("JSON", error))
    },
};

/// The name of the schema.
pub const SCHEMA: &str = "benchlab-document";

/// The version of the schema.
///
/// Removing a name or changing its meaning increases the version. Adding a name does not.
pub const VERSION: u32 = 1;

/// Renders the document as one JSON object, with a line feed at the end.
///
/// Numbers that are not finite become `null`. Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let file = JsonReport {
        format: SCHEMA,
        version: VERSION,
        document,
    };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

#[derive(Serialize)]
struct JsonReport<'d> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    document: &'d Document,
}
