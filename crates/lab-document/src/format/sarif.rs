// SPDX-License-Identifier: Apache-2.0
//! A document's problems as SARIF 2.1.0 (OASIS, *Static Analysis Results Interchange Format*).
//!
//! Waivers are written as suppressions.

use super::issues::{fingerprint, issues, path, sentence};
use super::text::clean;
use crate::document::{Document, Issue, Severity};
use crate::output::{Error, Format, Rendered};
use serde_json::{Value, json};

/// SARIF.
pub const FORMAT: Format = Format {
    name: "sarif",
    extension: "sarif",
    title: "Problems (SARIF)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("SARIF log", error))
    },
};

/// Renders all problems. Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let issues = issues(document);
    let mut rules: Vec<&Issue> = Vec::new();
    for issue in &issues {
        if !rules.iter().any(|rule| rule.rule == issue.rule) {
            rules.push(issue);
        }
    }
    let results: Vec<Value> = issues
        .iter()
        .map(|issue| {
            let index = rules.iter().position(|rule| rule.rule == issue.rule);
            result(issue, index.unwrap_or(0), document)
        })
        .collect();
    let mut driver = json!({
        "name": "benchlab",
        "rules": rules.into_iter().map(rule).collect::<Vec<_>>(),
    });
    if !document.benchlab_version.is_empty() {
        driver["version"] = document.benchlab_version.as_str().into();
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "results": results,
            "columnKind": "unicodeCodePoints",
        }],
    });
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn rule(issue: &Issue) -> Value {
    let title = if issue.title.is_empty() {
        &issue.rule
    } else {
        &issue.title
    };
    let mut rule = json!({
        "id": issue.rule,
        "shortDescription": { "text": clean(title) },
        "defaultConfiguration": { "level": level(issue.severity) },
    });
    if issue.source.starts_with("https://") || issue.source.starts_with("http://") {
        rule["helpUri"] = uri(&issue.source, "").into();
    }
    rule
}

fn result(issue: &Issue, rule: usize, document: &Document) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&path(issue, document), ":") },
        },
    });
    let line = issue.location.as_ref().and_then(|location| location.line);
    if let Some(line) = line {
        location["physicalLocation"]["region"] = json!({ "startLine": line.max(1) });
    }
    if !issue.object.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": clean(&issue.object) }]);
    }
    let mut result = json!({
        "ruleId": issue.rule,
        "ruleIndex": rule,
        "level": level(issue.severity),
        "message": { "text": sentence(issue) },
        "locations": [location],
        "partialFingerprints": { "benchlab/v1": fingerprint(issue, document) },
    });
    if let Some(reason) = &issue.waived {
        result["suppressions"] = json!([{
            "kind": "external",
            "status": "accepted",
            "justification": clean(reason),
        }]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Notice => "note",
    }
}

/// Escapes text for a URI reference (RFC 3986). Unreserved characters, reserved characters and the
/// characters in `also` are not escaped.
fn uri(text: &str, also: &str) -> String {
    let mut uri = String::new();
    for byte in text.bytes() {
        let c = byte as char;
        let is_legal = c.is_ascii_alphanumeric() || "-._~/:?#@!$&'()*+,;=".contains(c);
        if is_legal && !also.contains(c) {
            uri.push(c);
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}
