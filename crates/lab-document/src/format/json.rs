// SPDX-License-Identifier: Apache-2.0
//! A document for programs: everything that it holds, rows included, but for drawings. The schema is
//! described in docs/formats.md.

use crate::document::Document;
use crate::output::{Error, Format, Rendered};
use serde::Serialize;

/// This format.
pub const FORMAT: Format = Format {
    name: "json",
    extension: "json",
    title: "Everything (JSON)",
    is_folder: false,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("JSON", error))
    },
};

/// The name of the schema.
pub const SCHEMA: &str = "benchlab-document";

/// Its version. It changes when a name goes away or changes its meaning, not when one is added.
pub const VERSION: u32 = 1;

/// The document as one JSON object, ending with a line feed. Numbers that are not finite are `null`.
/// Error: the JSON writer refused something.
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
