// SPDX-License-Identifier: Apache-2.0
//! All problems of a document, for formats that list problems.

use super::text::clean;
use crate::document::{Document, Gate, Issue, Severity};
use lab_model::{Decision, GateEffect};
use sha2::{Digest, Sha256};

/// The maximum number of warnings of one kind. Without this limit, a report on many subjects would
/// repeat a warning for each subject.
const MAX_ALIKE: usize = 10;

/// Returns the problems: gates that did not pass, then [`problems`].
pub fn issues(document: &Document) -> Vec<Issue> {
    let mut issues: Vec<Issue> = document.gates.iter().filter_map(open_gate).collect();
    issues.extend(problems(document));
    issues
}

/// Returns a gate as a problem, or `None` if it passed.
fn open_gate(gate: &Gate) -> Option<Issue> {
    let severity = match (gate.decision, gate.effect) {
        (Decision::Passed, _) => return None,
        (_, GateEffect::Fail | GateEffect::Inconclusive) => Severity::Error,
        (_, GateEffect::Warn) => Severity::Warning,
        (_, GateEffect::Pass) => Severity::Notice,
    };
    Some(Issue {
        rule: format!("gate:{}", clean(&gate.condition)),
        title: format!("gate {}", gate.condition),
        text: gate.sentence.clone(),
        severity,
        object: gate.name.clone(),
        ..Issue::default()
    })
}

/// Returns the problems other than gates: first the issues of the document, then the warnings about
/// the measurement.
pub fn problems(document: &Document) -> Vec<Issue> {
    let mut issues = document.issues.clone();
    let mut alike: Vec<(String, usize)> = Vec::new();
    for warning in document.warnings() {
        let rule = match slug(&warning.label) {
            rule if rule.is_empty() => "warning".into(),
            rule => rule,
        };
        match alike.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, n)) => *n += 1,
            None => alike.push((rule.clone(), 1)),
        }
        let is_many = alike
            .iter()
            .any(|(known, n)| *known == rule && *n > MAX_ALIKE);
        let is_known = issues.iter().any(|issue| issue.text == warning.text);
        if !is_many && !is_known {
            issues.push(Issue {
                rule,
                text: warning.text.clone(),
                severity: Severity::Warning,
                ..Issue::default()
            });
        }
    }
    issues
}

/// Converts a label to an identifier of lowercase letters, digits and `-`.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in clean(text).chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Returns the path of the file with a problem. If the problem is not in a file, the object's name
/// serves as a path.
pub fn path(issue: &Issue, document: &Document) -> String {
    if let Some(location) = &issue.location {
        return location.file.clone();
    }
    match slug(&issue.object) {
        object if !object.is_empty() => format!("benchlab/{object}"),
        _ => format!("benchlab/{}", slug(&document.title)),
    }
}

/// Returns a fingerprint of a problem: the SHA-256 of the rule and the location. It stays the same
/// when measured numbers change.
pub fn fingerprint(issue: &Issue, document: &Document) -> String {
    let key = [&issue.rule, &issue.object, &path(issue, document)];
    let mut hash = Sha256::new();
    for part in key {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns the description of a problem, with its object.
pub fn sentence(issue: &Issue) -> String {
    let text = clean(&issue.text);
    match clean(&issue.object).as_str() {
        "" => text,
        object if text.contains(object) => text,
        object => format!("{object}: {text}"),
    }
}
