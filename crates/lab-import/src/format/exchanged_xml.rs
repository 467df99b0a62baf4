// SPDX-License-Identifier: Apache-2.0
//! benchlab's own XML and the XML of the Ada Utility Library. Every value in these files was
//! measured once.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::source::Source;
use lab_document::{ImportLimits, import_xml};
use lab_model::Imported;

/// The import format for XML with `<benchmark>` elements.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "xml",
    title: "XML with <benchmark> elements, as `--format xml` writes it",
    advice: "",
    is_format: |source| source.text.trim_start().starts_with('<'),
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    import_xml(source.text.as_bytes(), &ImportLimits::default()).map_err(|e| {
        Problem::with_location(format!("line {}, column {}", e.line, e.column), e.message)
    })
}
