// SPDX-License-Identifier: Apache-2.0
//! Names of subjects and points in sentences. Up to three are listed by name, and larger numbers
//! are counted.

use lab_document::say::{self, count};
use lab_stats::results::warning::CellName;

/// The maximum number of items that are listed by name. Further items are counted.
const MAX_NAMED: usize = 3;

/// Joins all items: `a`, `a and b`, `a, b and c`.
pub fn listed<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> String {
    say::list(&items.into_iter().collect::<Vec<S>>())
}

/// Joins items and counts the items beyond the first three: `a`, `a and b`, `a, b and c`, `a, b, c
/// and 4 more`.
pub fn shortened<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> String {
    let items: Vec<S> = items.into_iter().collect();
    let mut names: Vec<&str> = items.iter().map(S::as_ref).collect();
    let more = format!("{} more", names.len().saturating_sub(MAX_NAMED));
    if names.len() > MAX_NAMED + 1 {
        names.truncate(MAX_NAMED);
        names.push(&more);
    }
    say::list(&names)
}

/// Formats a subject and its point, such as `c at json connections=64`.
pub fn name(place: &CellName) -> String {
    let names = [&place.subject, &place.point].into_iter().flatten();
    let names: Vec<&str> = names.map(String::as_str).collect();
    names.join(" at ")
}

/// Formats subjects and points with a preposition.
///
/// Examples are ` at connections=8 and connections=16`, ` for A at connections=8` and ` for c at 20
/// points and go at 1`. The text is empty for a run with one point.
pub fn location(places: &[&CellName]) -> String {
    let preposition = match places.iter().any(|place| place.subject.is_some()) {
        true => "for",
        false => "at",
    };
    match names(places) {
        names if names.is_empty() => names,
        names => format!(" {preposition} {names}"),
    }
}

/// Formats subjects and points without a preposition.
fn names(places: &[&CellName]) -> String {
    let is_whole = |place: &&&CellName| place.subject.is_some() && place.point.is_some();
    if are_few(places.len()) || !places.iter().all(|place| is_whole(&place)) {
        return shortened(places.iter().map(|place| name(place)));
    }
    let mut by_subject = say::grouped(places.iter().map(|place| (&place.subject, ())));
    by_subject.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
    let counted = by_subject.iter().enumerate().map(|(i, (subject, points))| {
        let subject = subject.as_deref().unwrap_or_default();
        match i {
            0 => format!("{subject} at {}", count(points.len(), "point")),
            _ => format!("{subject} at {}", points.len()),
        }
    });
    shortened(counted)
}

/// Returns true if the number of items is low enough to list them by name.
pub fn are_few(places: usize) -> bool {
    places <= MAX_NAMED
}

/// Formats a value for each subject and point, such as `97 % at connections=256`.
///
/// `text` formats one value with its location.
pub fn each<T>(
    all: &[T],
    place: impl Fn(&T) -> &CellName,
    text: impl Fn(&T, &str) -> String,
) -> String {
    listed(all.iter().map(|one| text(one, &location(&[place(one)]))))
}

/// Returns the item with the highest value.
pub fn worst<T>(all: &[T], value: impl Fn(&T) -> f64) -> Option<&T> {
    all.iter().max_by(|a, b| value(a).total_cmp(&value(b)))
}
