// SPDX-License-Identifier: Apache-2.0
//! A document's times in the Go benchmark data format, for benchstat.
//!
//! Each block or process is a line, because benchstat computes its own intervals. The subject is a
//! configuration key, so `benchstat -col subject FILE` compares subjects. Source:
//! golang.org/design/14313-benchmark-format.

use super::named::rows_with_values;
use super::text::clean;
use crate::document::{Document, Row};
use crate::output::{Format, Rendered};
use lab_model::Unit;

/// The Go benchmark data format.
pub const FORMAT: Format = Format {
    name: "benchstat",
    extension: "bench",
    title: "Samples (benchstat)",
    is_folder: false,
    shows_history: false,
    suits: |_| true,
    render: |document, _| Ok(Rendered::Text(render(document))),
};

/// Renders all rows that have a value.
pub fn render(document: &Document) -> String {
    let mut text = String::from("tool: benchlab\n");
    let mut subject: Option<(&str, &str)> = None;
    for (row, value) in rows_with_values(&document.rows) {
        let key = (row.run.as_str(), row.subject.as_str());
        if subject != Some(key) {
            text += &format!(
                "run: {}\nsubject: {}\n",
                configuration(key.0),
                configuration(key.1)
            );
            subject = Some(key);
        }
        let (scale, unit) = unit(row);
        let samples: &[f64] = if row.samples.is_empty() {
            &[value]
        } else {
            &row.samples
        };
        for sample in samples.iter().filter(|sample| sample.is_finite()) {
            text += &format!("Benchmark{} 1 {} {unit}\n", benchmark(row), sample * scale);
        }
    }
    text
}

/// Returns the benchmark's name, which starts with an uppercase letter and contains no space.
fn benchmark(row: &Row) -> String {
    let case = if row.case.is_empty() {
        "Run"
    } else {
        &row.case
    };
    let mut name = word(case);
    let first = name.chars().next();
    if first.is_some_and(|c| !c.is_uppercase()) {
        let rest: String = name.chars().skip(1).collect();
        let upper: String = first.into_iter().flat_map(char::to_uppercase).collect();
        name = upper + &rest;
        // A character without a case would make it a name that the Go tools skip.
        if !name.starts_with(char::is_uppercase) {
            name = format!("B_{name}");
        }
    }
    if !row.target.is_empty() {
        name += &format!("/target={}", word(&row.target));
    }
    for (key, value) in &row.params {
        name += &format!("/{}={}", word(key), word(value));
    }
    name
}

fn word(text: &str) -> String {
    let letters = clean(text);
    let letters = letters.trim().chars();
    letters
        .map(|c| {
            if c.is_whitespace() || c == '/' {
                '_'
            } else {
                c
            }
        })
        .collect()
}

/// Returns a configuration value as a single line.
fn configuration(text: &str) -> String {
    clean(text).trim().to_owned()
}

/// Returns the unit that the Go tools use, and the factor for converting the value to it.
fn unit(row: &Row) -> (f64, String) {
    let metric = word(&row.metric.id);
    match (&row.metric.unit, row.metric.id.as_ref()) {
        (Unit::Nanoseconds, "wall") => (1.0, "ns/op".into()),
        (Unit::Nanoseconds, _) => (1.0, format!("{metric}-ns/op")),
        (Unit::Bytes, "allocated_bytes") => (1.0, "B/op".into()),
        (Unit::Bytes, _) => (1.0, format!("{metric}-bytes")),
        (Unit::PerSecond(counted), id) => {
            let counted = match counted.as_ref() {
                "bytes" => "B".into(),
                counted => word(counted),
            };
            match id {
                "throughput" => (1.0, format!("{counted}/s")),
                _ => (1.0, format!("{metric}-{counted}/s")),
            }
        }
        (Unit::Count(_), "allocations") => (1.0, "allocs/op".into()),
        (Unit::Count(_), _) => (1.0, metric),
        (Unit::Share | Unit::Ratio, _) => (1.0, format!("{metric}-ratio")),
    }
}
