// SPDX-License-Identifier: Apache-2.0
//! The timeline of a run as a trace for Perfetto (ui.perfetto.dev) and Chrome.
//!
//! Source: *Trace Event Format*, complete events and metadata events.

use super::text::clean;
use crate::document::Document;
use crate::output::{Error, Format, Rendered};
use serde_json::{Map, Value, json};

/// Chrome's trace format.
pub const FORMAT: Format = Format {
    name: "perfetto",
    extension: "trace.json",
    title: "Timeline (Perfetto)",
    is_folder: false,
    shows_history: false,
    suits: |document| !document.timeline.is_empty(),
    render: |document, _| render(document).map(Rendered::Text),
};

/// Renders the timeline with a thread for each track. Returns an error if the document has no timeline.
pub fn render(document: &Document) -> Result<String, Error> {
    if document.timeline.is_empty() {
        let reason = "this report has no timeline; runs that benchlab measured have one";
        return Err(Error::new("trace", reason));
    }
    let mut tracks: Vec<&str> = Vec::new();
    for span in &document.timeline {
        if !tracks.contains(&span.track.as_str()) {
            tracks.push(&span.track);
        }
    }
    let mut events = vec![json!({
        "ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": { "name": clean(&document.title) },
    })];
    for (i, track) in tracks.iter().enumerate() {
        events.push(json!({
            "ph": "M", "name": "thread_name", "pid": 1, "tid": i + 1, "args": { "name": clean(track) },
        }));
    }
    for span in &document.timeline {
        let track = tracks.iter().position(|track| *track == span.track);
        let facts = span.facts.iter();
        let facts = facts.map(|(name, value)| (name.clone(), Value::from(clean(value))));
        // Times are in microseconds.
        events.push(json!({
            "ph": "X",
            "cat": "benchlab",
            "name": clean(&span.name),
            "pid": 1,
            "tid": track.map_or(0, |i| i + 1),
            "ts": span.start_ns as f64 / 1e3,
            "dur": span.length_ns as f64 / 1e3,
            "args": facts.collect::<Map<String, Value>>(),
        }));
    }
    let trace = json!({ "displayTimeUnit": "ns", "traceEvents": events });
    let text = serde_json::to_string(&trace).map_err(|e| Error::new("trace", e))?;
    Ok(text + "\n")
}
