// SPDX-License-Identifier: Apache-2.0
//! Output formats, each of which renders any document regardless of the kind of run.

pub mod csv;
mod grid;
pub mod html;
pub mod json;
pub mod markdown;
pub mod quantity;
pub mod svg;
pub mod terminal;
pub mod text;
mod tidy;
mod values;
pub mod xlsx;
pub mod xml;
pub mod xml_import;

pub use tidy::COLUMNS;

use crate::document::{Document, Finding};

/// Returns a headline and a line with the rest of the title and the date.
///
/// The headline is the question, or the title if there is no question.
fn headline(document: &Document) -> (String, String) {
    let Document {
        title,
        question,
        made,
        ..
    } = document;
    let (headline, about) = if question.is_empty() {
        (title, vec![made])
    } else {
        (question, vec![title, made])
    };
    let about = about.into_iter().filter(|text| !text.is_empty());
    let about: Vec<&str> = about.map(String::as_str).collect();
    (headline.clone(), about.join(" · "))
}

/// Summarizes the warnings: their total, and their count by label.
///
/// If all warnings have the same label, the summary quotes the first one. Empty if there are no warnings.
fn warnings(document: &Document) -> String {
    let warnings = document.warnings();
    let Some(first) = warnings.first() else {
        return String::new();
    };
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for warning in &warnings {
        let label = warning.label.as_str();
        match kinds.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => kinds.push((label, 1)),
        }
    }
    let labelled = kinds.iter().filter(|(label, _)| !label.is_empty());
    let among = if labelled.clone().count() < kinds.len() {
        ", among them "
    } else {
        ": "
    };
    let each = labelled.map(|(label, count)| match count {
        1 => (*label).to_owned(),
        n => format!("{label} ({n})"),
    });
    match (warnings.len(), kinds.len()) {
        (1, _) => format!("1 warning: {}", sentence(first)),
        (n, 2..) => format!(
            "{n} warnings{among}{}.",
            each.collect::<Vec<_>>().join(", ")
        ),
        (n, _) => format!("{n} warnings, the first: {}", sentence(first)),
    }
}

/// Formats a finding with its label: `no instructions: Not counted for Ada: …`.
fn sentence(finding: &Finding) -> String {
    if finding.label.is_empty() {
        finding.text.clone()
    } else {
        format!("{}: {}", finding.label, finding.text)
    }
}
