// SPDX-License-Identifier: Apache-2.0
//! Problems with an identifier and a location, for formats that list problems.

use serde::Serialize;

/// A problem that a command of benchlab found, such as a violated rule of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Issue {
    /// The identifier of the rule or the kind of problem, such as `disk-scheduler`.
    pub rule: String,
    /// The rule's requirement as a sentence. May be empty.
    pub title: String,
    /// The observation, in sentences.
    pub text: String,
    /// The severity of the problem.
    pub severity: Severity,
    /// The object with the problem, such as `sda`. Empty for the whole report.
    pub object: String,
    /// The file and the line, if the problem is in a file.
    pub location: Option<Location>,
    /// The URL of a document about the rule. May be empty.
    pub source: String,
    /// The reason for accepting the problem, or `None` if the problem is not waived.
    pub waived: Option<String>,
}

/// The severity of a problem, which determines whether the problem fails the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A suggestion, which does not fail the command.
    #[default]
    Notice,
    /// A problem that does not fail the command.
    Warning,
    /// A problem that fails the command.
    Error,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The path, relative to the repository where possible.
    pub file: String,
    /// The line, starting at 1, if known.
    pub line: Option<u32>,
}
