// SPDX-License-Identifier: Apache-2.0
//! Output formats. Each format renders any document, regardless of the kind of run.

pub mod bencher;
pub mod benchstat;
pub mod csv;
pub mod folded;
pub mod github;
pub mod github_benchmark;
pub mod gitlab;
mod grid;
pub mod html;
mod issues;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod markdown;
mod named;
pub mod openmetrics;
pub mod perfetto;
pub mod quantity;
pub mod sarif;
pub mod speedscope;
pub mod svg;
pub mod terminal;
pub mod text;
mod tidy;
mod values;
pub mod xlsx;
pub mod xml;
pub mod xml_import;

pub use tidy::COLUMNS;

use crate::document::{Document, Finding, Table, Tone};

/// The top of a document.
struct Top {
    /// The result. If the document has no result, the question or the title.
    headline: String,
    /// The question, the title and the date, unless the headline already contains them.
    about: String,
    /// The remaining findings.
    findings: Vec<Finding>,
}

/// The maximum width of the question and of the title, in columns. Either may be a long command
/// line.
const ABOUT: usize = 200;

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
    let about: Vec<String> = about
        .into_iter()
        .map(|text| text::cut(text, ABOUT))
        .collect();
    Top {
        headline,
        about: about.join(" · "),
        findings,
    }
}

/// The maximum number of warnings that the first screen shows.
const MAX_WARNINGS: usize = 3;

/// The warnings of a document.
struct Warnings {
    /// The warnings that should change the user's next step, as sentences without duplicates.
    shown: Vec<String>,
    /// The number of other warnings, which are only in the details.
    others: usize,
}

/// Returns the warnings of a document. Warnings that the first screen already mentions are omitted.
fn warnings(document: &Document) -> Warnings {
    let (_, mut said) = document.answer.split();
    said.extend(document.answer.open_findings());
    let is_said = |warning: &Finding| said.iter().any(|said| said.text.contains(&warning.text));
    let warnings = document.warnings().into_iter();
    let new: Vec<&Finding> = warnings.filter(|warning| !is_said(warning)).collect();
    let alarms = new.iter().filter(|warning| warning.tone == Tone::Alarm);
    // A label may be missing where a warning is repeated.
    let is_same = |a: &Finding, b: &Finding| {
        a.text == b.text && (a.label == b.label || a.label.is_empty() || b.label.is_empty())
    };
    let mut distinct: Vec<&Finding> = Vec::new();
    for warning in alarms.copied() {
        if !distinct.iter().any(|other| is_same(other, warning)) {
            distinct.push(warning);
        }
    }
    let mut shown: Vec<String> = distinct.into_iter().map(sentence).collect();
    shown.truncate(MAX_WARNINGS);
    Warnings {
        others: new.len() - shown.len(),
        shown,
    }
}

impl Warnings {
    /// Formats the number of warnings that are only in the details, such as `3 other warnings`. The
    /// text is empty if there are no such warnings.
    fn others(&self) -> String {
        let other = if self.shown.is_empty() { "" } else { "other " };
        match self.others {
            0 => String::new(),
            n => crate::say::count(n, &format!("{other}warning")),
        }
    }

    /// Returns all warnings as one paragraph. `details` explains how to see the other warnings.
    fn paragraph(&self, details: &str) -> String {
        let others = match self.others() {
            others if others.is_empty() => None,
            others => Some(format!("{} {details}.", crate::say::capital(&others))),
        };
        let shown = self.shown.iter().cloned();
        crate::say::paragraph(shown.chain(others)).unwrap_or_default()
    }
}

/// Returns the table of the result. If there is only a chart, returns the chart's values as a
/// table.
pub fn answer_table(document: &Document) -> Option<Table> {
    let answer = &document.answer;
    answer
        .table
        .clone()
        .or_else(|| answer.chart.as_ref().map(values::table))
}

/// Formats a finding with its label: `no instructions: Not counted for Ada: …`.
fn sentence(finding: &Finding) -> String {
    if finding.label.is_empty() {
        finding.text.clone()
    } else {
        format!("{}: {}", finding.label, finding.text)
    }
}
