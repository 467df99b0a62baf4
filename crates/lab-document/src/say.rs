// SPDX-License-Identifier: Apache-2.0
//! Formats numbers and names for sentences.
//!
//! The texts of documents must use this module to format numbers.

use crate::Quantity;
use crate::format::quantity;
pub use lab_model::distinct;
use lab_model::{Interval, Unit};

/// An estimate and its interval as separate texts, such as `0.63` and `(0.61 to 0.66)`.
pub struct IntervalText {
    /// The estimate with its unit.
    pub value: String,
    /// The interval in parentheses. It includes the confidence level if that level is below the
    /// requested level.
    pub range: String,
}

/// Formats an interval for a sentence. `asked` is the requested confidence level, 0 to 1.
pub fn interval_text(interval: &Interval, unit: &Unit, asked: f64) -> IntervalText {
    let text = quantity::sentence(&Quantity::estimate(interval, unit.clone()));
    let (value, rest) = text.split_once(" (").unwrap_or((&text, ""));
    let range = rest.strip_suffix(')').unwrap_or(rest);
    let level = if has_level(interval, asked) || !is_bounded(interval) {
        String::new()
    } else {
        format!(" at {}", quantity::level(interval.level))
    };
    IntervalText {
        value: value.into(),
        range: format!("({range}{level})"),
    }
}

/// Formats an estimate with its interval: `12.3 µs (12.1 to 12.6)`.
pub fn figure(interval: &Interval, unit: &Unit, asked: f64) -> String {
    let IntervalText { value, range } = interval_text(interval, unit, asked);
    format!("{value} {range}")
}

/// Formats a ratio: `0.63 times c's time (0.61 to 0.66)`, where `of` is `c's time`.
pub fn times(ratio: &Interval, of: &str, asked: f64) -> String {
    let IntervalText { value, range } = interval_text(ratio, &Unit::Ratio, asked);
    format!("{value} times {of} {range}")
}

/// Formats a range of ratios: `0.90 to 0.91`. If both ratios round to the same text, it is written
/// once.
pub fn span(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|ratio| reading(ratio, &Unit::Ratio));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// Formats a number that was read or configured rather than estimated, to three significant digits: `8.3 ms`.
pub fn reading(value: f64, unit: &Unit) -> String {
    match unit {
        Unit::Share => percent(value),
        Unit::Count(_) if value.fract() == 0.0 && value >= 0.0 => quantity::integer(value as u64),
        Unit::Count(_) => quantity::tick(value, unit, value),
        unit => quantity::alone(&Quantity::exact(value, unit.clone())),
    }
}

/// Formats a time that was read or configured rather than estimated.
pub fn time(ns: u64) -> String {
    reading(ns as f64, &Unit::Nanoseconds)
}

/// Formats a fraction as a percentage: `95 %`, `2 %`.
pub fn percent(part: f64) -> String {
    format!("{} %", (part * 1e4).round() / 100.0)
}

/// Returns true if an interval reaches the requested confidence level.
pub fn has_level(interval: &Interval, asked: f64) -> bool {
    interval.level >= asked - 1e-9
}

/// Returns true if both bounds are known, so that the interval is usable. The lower bound of a
/// ratio must be greater than 0.
pub fn is_bounded(interval: &Interval) -> bool {
    Quantity::ratio(interval).bounds().is_some()
}

/// Inverts a ratio: divides `of` by the estimate and by each bound, and exchanges the bounds.
pub fn inverse(interval: &Interval, of: f64) -> Interval {
    let inverse = |value: f64| {
        if value > 0.0 {
            of / value
        } else {
            f64::INFINITY
        }
    };
    Interval {
        estimate: inverse(interval.estimate),
        low: inverse(interval.high),
        high: inverse(interval.low),
        level: interval.level,
    }
}

/// Formats a count: `1 block`, `3 blocks`.
pub fn count(n: usize, word: &str) -> String {
    match n {
        1 => format!("1 {word}"),
        n => format!("{} {word}s", quantity::integer(n as u64)),
    }
}

/// Joins items in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<&str> = items.iter().map(S::as_ref).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        items => items.concat(),
    }
}

/// Joins texts. Returns `None` if there are no texts.
pub fn joined(texts: impl IntoIterator<Item = String>, separator: &str) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().collect();
    (!texts.is_empty()).then(|| texts.join(separator))
}

/// Joins sentences with spaces. Returns `None` if there are no sentences.
pub fn paragraph(sentences: impl IntoIterator<Item = String>) -> Option<String> {
    joined(sentences, " ")
}

/// Returns the minimum and the maximum, or `None` if there are no values.
pub fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends: Option<(f64, f64)>, value| {
        let (min, max) = ends.unwrap_or((value, value));
        Some((min.min(value), max.max(value)))
    })
}

/// Formats the range of the values: `3 to 5`, or `5` if all values are equal.
///
/// Returns `None` if there are no values.
pub fn min_to_max<T: Ord + Copy>(
    values: impl IntoIterator<Item = T>,
    text: impl Fn(T) -> String,
) -> Option<String> {
    let values: Vec<T> = values.into_iter().collect();
    let (min, max) = (*values.iter().min()?, *values.iter().max()?);
    Some(if min < max {
        format!("{} to {}", text(min), text(max))
    } else {
        text(min)
    })
}

/// Formats a parameter: `statement=text`.
pub fn parameter((key, value): &(String, String)) -> String {
    format!("{key}={value}")
}

/// Groups values by key, in the order in which the keys first occur.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Capitalizes the first letter of a text.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Formats a time in seconds since 1970 as a minute in UTC: `2026-11-21 09:15`.
pub fn minute(unix_s: f64) -> String {
    let seconds = unix_s.clamp(0.0, 2.5e11) as i64;
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats the name of a time zone from its offset from UTC in seconds: `UTC`, `UTC+2`, `UTC-3:30`.
pub fn zone(offset_s: i64) -> String {
    let sign = if offset_s < 0 { '-' } else { '+' };
    let minutes = offset_s.abs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => "UTC".into(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
    }
}
