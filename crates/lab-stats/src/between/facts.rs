// SPDX-License-Identifier: Apache-2.0
//! Named facts about a run, for comparing it with another run.

use serde::Serialize;
use std::collections::HashMap;

/// A fact that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Differing {
    /// The name of the fact.
    pub what: String,
    /// The value in the first run. `None` means that the run lacks this fact.
    pub first: Option<String>,
    /// The value in the second run. `None` means that the run lacks this fact.
    pub second: Option<String>,
}

/// The result of comparing a subject's program between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramMatch {
    /// Both runs have the same program hash, or the same command line and revision.
    Same,
    /// The run files do not contain enough information to decide.
    Unknown,
    /// The program hashes, or the command lines and revisions, differ.
    Changed,
}

/// Names of facts with their values.
pub(crate) type Facts = Vec<(String, String)>;

/// Returns the facts whose values differ, in the order of the first run, then the facts that only
/// the second run has.
pub(crate) fn unequal(first: Facts, second: Facts) -> Vec<Differing> {
    let mut unmatched: HashMap<String, String> = second.iter().cloned().collect();
    let of_first = first.into_iter().map(|(what, value)| {
        let other = unmatched.remove(&what);
        (what, Some(value), other)
    });
    let of_first: Vec<_> = of_first.collect();
    let of_second = second.into_iter().filter_map(|(what, _)| {
        let value = unmatched.remove(&what)?;
        Some((what, None, Some(value)))
    });
    let all = of_first.into_iter().chain(of_second);
    all.filter(|(_, first, second)| first != second)
        .map(|(what, first, second)| Differing {
            what,
            first,
            second,
        })
        .collect()
}

/// Formats a time in seconds, such as `0.001 s` or `150 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

/// Formats a setting that is either on or off.
pub(crate) fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_string()
}
