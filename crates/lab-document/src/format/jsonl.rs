// SPDX-License-Identifier: Apache-2.0
//! A document as JSON Lines (jsonlines.org): one object on each line, for programs that read a stream.
//!
//! The `kind` of a line is `report`, `finding`, `issue` or `row`.

use crate::document::Document;
use crate::output::{Error, Format, Rendered};
use serde::Serialize;
use serde_json::{Value, json};

/// The JSON Lines format.
pub const FORMAT: Format = Format {
    name: "jsonl",
    extension: "jsonl",
    title: "Figures (JSON Lines)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("JSON Lines", error))
    },
};

/// Renders the document. Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let (headline, findings) = document.answer.split();
    let mut lines = vec![json!({
        "kind": "report",
        "title": document.title,
        "question": document.question,
        "answer": headline,
        "undecided": document.answer.undecided,
        "omitted": document.answer.omitted,
        "made": document.made,
        "benchlab_version": document.benchlab_version,
        "source": document.source,
    })];
    for finding in findings.iter().chain(document.warnings()) {
        lines.push(tag_object("finding", finding)?);
    }
    for issue in &document.issues {
        lines.push(tag_object("issue", issue)?);
    }
    for row in &document.rows {
        lines.push(tag_object("row", row)?);
    }
    let lines = lines.iter().map(serde_json::to_string);
    let lines = lines.collect::<serde_json::Result<Vec<_>>>()?;
    Ok(lines.join("\n") + "\n")
}

/// Serializes an object with its kind.
fn tag_object(kind: &str, object: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(object)?;
    if let Value::Object(members) = &mut value {
        members.insert("kind".into(), kind.into());
    }
    Ok(value)
}
