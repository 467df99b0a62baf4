// SPDX-License-Identifier: Apache-2.0
//! Output formats. Each one renders any document, regardless of the kind of run.

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

/// The top of a document.
struct Top {
    /// The answer. If there is none, the question or the title.
    headline: String,
    /// The question, the title and the date, unless the headline already contains them.
    about: String,
    /// The remaining findings.
    findings: Vec<Finding>,
}

/// Returns the top of a document, which starts with the answer.
fn top(document: &Document) -> Top {
    let Document {
        title,
        question,
        made,
        answer,
        ..
    } = document;
    let (headline, findings) = answer.split();
    let has_answer = !headline.is_empty();
    let mut about = vec![question, title, made];
    about.retain(|text| !text.is_empty());
    let headline = if has_answer || about.is_empty() {
        headline
    } else {
        about.remove(0).clone()
    };
    let about: Vec<&str> = about.into_iter().map(String::as_str).collect();
    Top {
        headline,
        about: about.join(" · "),
        findings,
    }
}

/// Summarizes the warnings: the total number, and the number for each label.
///
/// If all warnings have the same label, the summary quotes the first one. The text is empty without warnings.
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
