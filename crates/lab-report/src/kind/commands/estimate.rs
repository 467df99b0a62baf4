// SPDX-License-Identifier: Apache-2.0
//! The current estimate of a comparison of commands, for a progress line.

use crate::parts::measured::Measured;
use crate::parts::scope::Scope;
use crate::parts::standings::Standings;
use lab_document::say;
use lab_model::{Metric, SubjectId, Unit};
use lab_stats::results::Over;
use unicode_width::UnicodeWidthStr;

/// The maximum width of the line, in columns.
const COLUMNS: usize = 60;

/// The maximum length of a name, in characters, chosen so that two names and an interval with its
/// level fit into a line.
const NAME: usize = 8;

/// Formats the estimate in at most 60 columns, such as `B takes 1.083 (1.060 to 1.110) × A`. Returns an empty string
/// until there is an interval.
pub fn line(measured: &Measured) -> String {
    let scopes = Scope::all(measured);
    let Some(scope) = scopes.first() else {
        return String::new();
    };
    let mut estimates = ratios(scope);
    if estimates.is_empty() {
        estimates.extend(alone(scope));
    }
    let fits = |n: &usize| estimates[..*n].join(", ").width() <= COLUMNS;
    let fitting = (0..=estimates.len()).rev().find(fits).unwrap_or(0);
    estimates[..fitting].join(", ")
}

fn ratios(scope: &Scope) -> Vec<String> {
    let standings = Standings::new(scope, &Metric::WALL, Over::all(&scope.points()));
    let others = scope.others().into_iter();
    let ratio_text = |subject| {
        let mut ranked = standings.ranked.iter();
        let ratio = ranked.find(|s| s.subject == subject)?.ratio;
        let figure = say::figure(&ratio, &Unit::Ratio, standings.level);
        let [b, a] = [subject, scope.base()].map(|s| short(scope, s));
        Some(format!("{b} takes {figure} × {a}"))
    };
    others.filter_map(ratio_text).collect()
}

fn alone(scope: &Scope) -> Option<String> {
    let &[point] = scope.points().as_slice() else {
        return None;
    };
    let time = scope.interval((scope.base(), Some(point)), &Metric::WALL)?;
    let figure = say::figure(time, &Unit::Nanoseconds, scope.level());
    let name = short(scope, scope.base());
    say::is_bounded(time).then(|| format!("{name} takes {figure}"))
}

/// Shortens a subject's name and removes control characters, which would move the cursor.
fn short(scope: &Scope, subject: SubjectId) -> String {
    let letters = scope.name(subject).chars();
    let name: String = letters.filter(|c| !c.is_control()).collect();
    if name.chars().count() > NAME {
        name.chars().take(NAME - 1).chain(['…']).collect()
    } else {
        name
    }
}
