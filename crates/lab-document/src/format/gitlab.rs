// SPDX-License-Identifier: Apache-2.0
//! A document's problems as GitLab's code quality report.
//!
//! Source: docs.gitlab.com, *Code Quality*, "Code Quality report format".

use super::issues::{fingerprint, issues, path, sentence};
use crate::document::{Document, Severity};
use crate::output::{Error, Format, Rendered};
use serde_json::{Value, json};

/// GitLab's code quality report.
pub const FORMAT: Format = Format {
    name: "gitlab",
    extension: "json",
    title: "Problems (GitLab code quality)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("code quality report", error))
    },
};

/// Renders the problems that are not waived. Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let issues = issues(document);
    let mut known: Vec<String> = Vec::new();
    let mut all: Vec<Value> = Vec::new();
    for issue in issues.iter().filter(|issue| issue.waived.is_none()) {
        // GitLab shows only one problem for each fingerprint.
        let mut print = fingerprint(issue, document);
        let same = known.iter().filter(|other| **other == print).count();
        known.push(print.clone());
        if same > 0 {
            print = format!("{print}-{same}");
        }
        let line = issue.location.as_ref().and_then(|location| location.line);
        all.push(json!({
            "description": sentence(issue),
            "check_name": format!("benchlab/{}", issue.rule),
            "fingerprint": print,
            "severity": match issue.severity {
                Severity::Error => "critical",
                Severity::Warning => "major",
                Severity::Notice => "minor",
            },
            "location": {
                "path": path(issue, document),
                "lines": { "begin": line.unwrap_or(1) },
            },
        }));
    }
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
