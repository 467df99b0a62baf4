// SPDX-License-Identifier: Apache-2.0
//! A document for GitHub Actions: a Markdown summary, and annotations as workflow commands.
//!
//! Source: docs.github.com, *Workflow commands for GitHub Actions*.

use super::issues::{issues, sentence};
use super::markdown;
use super::text::clean;
use crate::document::{Document, Issue, Severity};
use crate::output::{Format, Rendered};
use crate::say;

/// The maximum number of annotations of each severity. GitHub shows no more than 10 for each step.
const MAX_ANNOTATIONS: usize = 10;

/// The maximum size of a step's summary in bytes.
const SUMMARY: usize = 1 << 20;

/// The format for GitHub Actions.
pub const FORMAT: Format = Format {
    name: "github",
    extension: "md",
    title: "Summary and annotations (GitHub Actions)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        Ok(Rendered::Annotated {
            commands: commands(document),
            summary: summary(document),
        })
    },
};

/// Renders the summary. If the document is too large for a summary, the summary contains only the
/// result.
pub fn summary(document: &Document) -> String {
    let whole = markdown::render(document);
    if whole.len() < SUMMARY {
        return whole;
    }
    let answer = Document {
        sections: Vec::new(),
        ..document.clone()
    };
    let mut text = markdown::render(&answer);
    if text.len() >= SUMMARY {
        let end = (0..SUMMARY - 100)
            .rev()
            .find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text += "\n\nThe summary was cut, because GitHub shows at most 1 MiB.\n";
    }
    text
}

/// Renders the annotations, one workflow command on each line.
pub fn commands(document: &Document) -> String {
    let issues = issues(document);
    let open: Vec<&Issue> = issues
        .iter()
        .filter(|issue| issue.waived.is_none())
        .collect();
    let mut lines = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Notice] {
        let mine: Vec<&&Issue> = open
            .iter()
            .filter(|issue| issue.severity == severity)
            .collect();
        for issue in mine.iter().take(MAX_ANNOTATIONS) {
            lines += &command(issue);
        }
        if mine.len() > MAX_ANNOTATIONS {
            let more = mine.len() - MAX_ANNOTATIONS;
            lines += &format!(
                "The summary contains {} of severity {}.\n",
                say::count(more, "more annotation"),
                name(severity)
            );
        }
    }
    lines
}

fn command(issue: &Issue) -> String {
    let mut properties = Vec::new();
    if let Some(location) = &issue.location {
        properties.push(format!("file={}", property(&location.file)));
        properties.extend(location.line.map(|line| format!("line={line}")));
    }
    let title = if issue.title.is_empty() {
        &issue.rule
    } else {
        &issue.title
    };
    properties.push(format!("title={}", property(&format!("benchlab: {title}"))));
    let name = name(issue.severity);
    format!(
        "::{name} {}::{}\n",
        properties.join(","),
        message(&sentence(issue))
    )
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Notice => "notice",
    }
}

/// Escapes the message of a command, as @actions/core does.
///
/// Also escapes `##[`, which begins a command of older runners anywhere in a line.
fn message(text: &str) -> String {
    clean(text).replace('%', "%25").replace("##[", "## [")
}

/// Escapes a property of a command, which must not contain `:` or `,`.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
