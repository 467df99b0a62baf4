// SPDX-License-Identifier: Apache-2.0
//! Parses numbers and durations in exported tables, as programs write them in different languages.

use crate::time::parse_written_duration;

/// The maximum duration, in ns.
const MAX_NS: f64 = 4e18;

/// A parser of the numbers of a table.
pub struct Numbers {
    /// True if a number shows that `.` is the decimal separator.
    has_decimal_points: bool,
    /// True if a number shows that `,` is the decimal separator.
    has_decimal_commas: bool,
}

/// The parts of a number: the digits before and after the decimal separator.
struct Parts {
    decimal: char,
    number: Option<f64>,
    /// True if the separator may group digits instead, as in `1,234`.
    is_ambiguous: bool,
}

impl Numbers {
    /// Creates a parser that learns the decimal separator from the table's durations.
    pub fn new<'t>(cells: impl Iterator<Item = &'t str>) -> Numbers {
        let mut numbers = Numbers {
            has_decimal_points: false,
            has_decimal_commas: false,
        };
        for parts in cells.filter_map(parts).filter(|parts| !parts.is_ambiguous) {
            numbers.has_decimal_points |= parts.decimal == '.';
            numbers.has_decimal_commas |= parts.decimal == ',';
        }
        numbers
    }

    /// Parses a count. Any separator in the text groups digits, as in `1,234`.
    pub fn count(&self, text: &str) -> Option<u64> {
        let is_whole = |n: &f64| n.fract() == 0.0;
        let number = self.number(text).filter(is_whole);
        let number = number.or_else(|| grouped(text, ',').or_else(|| grouped(text, '.')))?;
        (0.0..1e18).contains(&number).then_some(number as u64)
    }

    /// Parses a duration in ns. `scale` is the unit of a bare number, in ns.
    pub fn duration_ns(&self, text: &str, scale: f64) -> Option<u64> {
        let ns = self.number(text).map(|number| number * scale);
        let ns = ns
            .or_else(|| self.with_unit(text))
            .or_else(|| interval(text))?;
        (0.0..f64::INFINITY)
            .contains(&ns)
            .then_some(ns.min(MAX_NS) as u64)
    }

    /// Parses a number. Returns `None` if its separator is ambiguous.
    fn number(&self, text: &str) -> Option<f64> {
        let Some(parts) = parts(text) else {
            return text.parse().ok();
        };
        match parts.decimal {
            _ if !parts.is_ambiguous => parts.number,
            // `1.234` is a decimal unless the table has decimal commas.
            '.' => parts.number.filter(|_| !self.has_decimal_commas),
            _ if self.has_decimal_points && !self.has_decimal_commas => grouped(text, ','),
            _ => None,
        }
    }

    /// Parses a number with a unit, in ns: `1,234.5 ms`.
    fn with_unit(&self, text: &str) -> Option<f64> {
        const UNITS: [(&str, f64); 10] = [
            ("ps", 1e-3),
            ("ns", 1.0),
            ("us", 1e3),
            ("\u{b5}s", 1e3),
            ("\u{3bc}s", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("min", 60e9),
            ("h", 3600e9),
            ("d", 86_400e9),
        ];
        let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')))?;
        let (digits, unit) = text.split_at(end);
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
        Some(self.number(digits)? * scale)
    }
}

/// Parses an interval in ns: `00:12:34.5`, or `2 days 00:12:34.5` of PostgreSQL.
fn interval(text: &str) -> Option<f64> {
    let (days, clock) = match text.split_once(" day") {
        Some((days, clock)) => (
            days.parse::<u32>().ok()?,
            clock.trim_start_matches('s').trim(),
        ),
        None => (0, text),
    };
    let clock_ns = match clock {
        "" => 0,
        clock => parse_written_duration(clock)?,
    };
    Some(f64::from(days) * 86_400e9 + clock_ns as f64)
}

/// Splits a number at its decimal separator. Returns `None` without a separator.
fn parts(text: &str) -> Option<Parts> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let at = text
        .rfind([',', '.'])
        .filter(|_| text.chars().all(is_number))?;
    let (decimal, group) = match text.as_bytes()[at] {
        b',' => (',', '.'),
        _ => ('.', ','),
    };
    let (whole, fraction) = (&text[..at], &text[at + 1..]);
    if whole.contains(decimal) {
        // A separator that occurs twice separates groups.
        return Some(Parts {
            decimal: group,
            number: grouped(text, decimal),
            is_ambiguous: false,
        });
    }
    let is_sound = !whole.contains(group) || grouped(whole, group).is_some();
    let number = format!("{}.{fraction}", whole.replace(group, ""));
    let is_group = (1..=3).contains(&whole.len()) && !whole.starts_with('0') && fraction.len() == 3;
    Some(Parts {
        decimal,
        number: number.parse().ok().filter(|_| is_sound),
        is_ambiguous: is_group,
    })
}

/// Parses whole digits in groups of three: `1,234,567`.
fn grouped(text: &str, separator: char) -> Option<f64> {
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let is_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let is_sound = (1..=3).contains(&first.len())
        && is_digits(first)
        && groups.all(|group| group.len() == 3 && is_digits(group));
    is_sound
        .then(|| text.replace(separator, "").parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(cells: &[&str], text: &str) -> Option<u64> {
        Numbers::new(cells.iter().copied()).duration_ns(text, 1e6)
    }

    #[test]
    fn durations_are_read_if_they_are_unambiguous() {
        const MS: u64 = 1_000_000;
        for (text, expected) in [
            ("12.5", Some(12_500_000)),
            ("1.5e3", Some(1_500 * MS)),
            ("1,234.5", Some(1_234_500_000)),
            ("1.234,5", Some(1_234_500_000)),
            ("1234,5", Some(1_234_500_000)),
            ("0,125", Some(125_000)),
            ("1,234,567", Some(1_234_567 * MS)),
            ("1,234", None),
            ("1.234", Some(1_234_000)),
            ("1234500 ms", Some(1_234_500 * MS)),
            ("1.25 s", Some(1_250 * MS)),
            ("00:12:34.5", Some(754_500 * MS)),
            ("27:00:00", Some(97_200_000 * MS)),
            ("2 days 00:00:01", Some(172_801_000 * MS)),
            ("1 day", Some(86_400_000 * MS)),
            ("-1", None),
            ("nan", None),
            ("?", None),
            ("12,34.5", None),
        ] {
            assert_eq!(ns(&[], text), expected, "{text}");
        }
        // Other numbers of the table show the decimal separator.
        assert_eq!(ns(&["12.5"], "1,234"), Some(1_234 * MS));
        assert_eq!(ns(&["1234,5"], "1.234"), None);
        assert_eq!(ns(&["1234,5", "12.5"], "1,234"), None);
    }

    #[test]
    fn separators_in_counts_are_those_of_groups() {
        let numbers = Numbers::new(std::iter::empty());
        for (text, expected) in [
            ("10", Some(10)),
            ("1,234", Some(1_234)),
            ("1.234", Some(1_234)),
            ("1,234,567", Some(1_234_567)),
            ("1.5", None),
            ("x", None),
        ] {
            assert_eq!(numbers.count(text), expected, "{text}");
        }
    }
}
