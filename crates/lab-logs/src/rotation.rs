// SPDX-License-Identifier: Apache-2.0
//! Recognizes the files of one log by their names.
//!
//! Examples are `access.log.2.gz`, `access.log-20260501`, `postgresql-2026-05-01_000000.log`.
//!
//! Sources: logrotate(8), `dateext`; PostgreSQL 17, 19.8 `log_filename`; IIS 10, *Log File
//! Rollover*.

use std::collections::{BTreeMap, BTreeSet};

/// Returns true if two files can belong to the same rotated log.
///
/// They must be in the same directory, and their names may differ only in a date, a weekday, a
/// number at the end, and a compression suffix. A number elsewhere may identify a server.
pub fn is_same_log(one: &str, other: &str) -> bool {
    one == other || family(one) == family(other)
}

/// Returns true if no file is missing between two files of the same rotated log, according to their
/// names.
pub fn is_consecutive(one: &str, next: &str) -> bool {
    match (rotation_number(one), rotation_number(next)) {
        (Some(one), Some(next)) => one == next + 1,
        (Some(one), None) => one <= 1,
        _ => true,
    }
}

/// Returns the rotated files that are missing between these files: the log's name, and the missing
/// numbers, such as `2` or `2 to 4`.
///
/// The first rotated file has the number 0 or 1. A log without other files has no gap.
pub fn missing_files<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(String, String)> {
    let mut logs: BTreeMap<(&str, String), BTreeSet<u32>> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for name in names {
        *counts.entry(family(name)).or_default() += 1;
        let numbers = logs.entry(family(name)).or_default();
        numbers.extend(rotation_number(name));
    }
    let families = logs
        .into_iter()
        .filter(|(log, numbers)| counts[log] > 1 && !numbers.is_empty());
    let mut missing = Vec::new();
    for ((folder, name), numbers) in families {
        let first = u32::from(!numbers.contains(&0));
        let last = numbers.last().copied().unwrap_or(0);
        let absent = (first..last).filter(|number| !numbers.contains(number));
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for number in absent {
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == number => *end = number,
                _ => ranges.push((number, number)),
            }
        }
        let texts = ranges.iter().map(|(begin, end)| match begin == end {
            true => begin.to_string(),
            false => format!("{begin} to {end}"),
        });
        let text = texts.collect::<Vec<_>>().join(", ");
        let log = match folder {
            "." => name,
            folder => format!("{folder}/{name}"),
        };
        if !text.is_empty() {
            missing.push((log, text));
        }
    }
    missing
}

/// Returns the number of `access.log.1` or `access.log.2.gz`, or `None` for a name without a
/// number.
fn rotation_number(path: &str) -> Option<u32> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain = without_compression(name);
    let rest = plain.strip_prefix(without_number(plain))?;
    rest.strip_prefix('.')?.parse().ok()
}

fn without_compression(name: &str) -> &str {
    let ends = [".gz", ".zst", ".zstd"];
    let plain = ends.iter().find_map(|end| name.strip_suffix(end));
    plain.unwrap_or(name)
}

/// Returns the directory, and the name without the characters that a rotation changes.
fn family(path: &str) -> (&str, String) {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (folder, name),
        None => (".", path),
    };
    (
        folder,
        without_date(without_number(without_compression(name))),
    )
}

/// Removes the number of `access.log.1`.
///
/// A number after another number is part of an address, and a longer number is a port.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((before, number))
            if number.len() <= 3
                && is_number(number)
                && !before.rsplit('.').next().is_some_and(is_number)
                && !ends_with_date(before) =>
        {
            before
        }
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn ends_with_date(name: &str) -> bool {
    let begin = name.rfind(is_separator).map_or(0, |at| at + 1);
    date_length(&name[begin..]).is_some()
}

/// Removes the first date, the time that follows the date, and the separator that precedes the
/// date.
fn without_date(name: &str) -> String {
    let begins = name.char_indices().filter(|(at, c)| {
        let before = name[..*at].chars().next_back();
        let is_begin = |other: fn(char) -> bool| before.is_none_or(|b| !other(b));
        (c.is_ascii_digit() && is_begin(|b| b.is_ascii_digit()))
            || (c.is_ascii_uppercase() && is_begin(|b| b.is_ascii_alphanumeric()))
    });
    for (begin, _) in begins {
        if let Some(length) = date_length(&name[begin..]) {
            let before = name[..begin].trim_end_matches(is_separator);
            return format!("{before}{}", &name[begin + length..]);
        }
    }
    name.into()
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '-' | '_')
}

/// Returns the length of a date with its time at the beginning of `text`.
///
/// Examples are `2026-05-01`, `20260501`, `260501`, `1777629600`, `Mon`.
fn date_length(text: &str) -> Option<usize> {
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let in_range = |text: &str, range: std::ops::RangeInclusive<u32>| {
        text.parse().is_ok_and(|n| range.contains(&n))
    };
    let is_day = |month: &str, day: &str| in_range(month, 1..=12) && in_range(day, 1..=31);
    let weekday = WEEKDAYS.iter().find(|day| text.starts_with(**day));
    if weekday.is_some() {
        let is_word = text[3..].starts_with(|c: char| c.is_ascii_alphanumeric());
        return (!is_word).then_some(3);
    }
    let mut length = match digits(text) {
        4 => {
            let parts: Vec<&str> = text.get(..10)?.split('-').collect();
            let [year, month, day] = parts[..] else {
                return None;
            };
            (in_range(year, 1990..=2099) && is_day(month, day) && digits(&text[8..]) == 2)
                .then_some(10)?
        }
        // A date, optionally with an hour, or seconds since 1970.
        n @ (6 | 8 | 10 | 12 | 14) => {
            let is_long =
                in_range(&text[..4], 1990..=2099) && n >= 8 && is_day(&text[4..6], &text[6..8]);
            let is_short = n <= 8 && is_day(&text[2..4], &text[4..6]);
            let is_unix = n == 10 && text.starts_with('1');
            (is_long || is_short || is_unix).then_some(n)?
        }
        _ => return None,
    };
    // The time of day.
    while let Some(rest) = text[length..].strip_prefix(['-', '_', 'T', '.', ':'])
        && matches!(digits(rest), 2 | 4 | 6)
        && length + 1 + digits(rest) <= text.len()
    {
        length += 1 + digits(rest);
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rotated_files_belong_to_one_log() {
        for files in [
            &[
                "a.log",
                "a.log.1",
                "a.log.2.gz",
                "a.log-20260501",
                "a.log-2026050110.zst",
            ][..],
            &["/x/a.log-2026-05-01", "/x/a.log.10", "/x/a.log_1777629600"],
            &[
                "postgresql-2026-05-01_000000.log",
                "postgresql-2026-05-02_000000.log",
                "postgresql-Mon.log",
                "postgresql-Sat.log",
            ],
            &[
                "postgresql.log.2026-05-01-10",
                "postgresql.log.2026-05-01-11",
            ],
            &["u_ex260501.log", "u_ex26050110.log"],
            &["mysql-slow.log.2026-05-01.10", "mysql-slow.log.7"],
            &["-", "-"],
        ] {
            for (one, other) in files.iter().zip(&files[1..]) {
                assert!(is_same_log(one, other), "{one} {other}");
            }
        }
    }

    #[test]
    fn files_of_multiple_servers_do_not_belong_together() {
        for (one, other) in [
            ("db1.log", "db2.log"),
            ("db-1.log", "db-2.log"),
            ("db-01", "db-02"),
            ("pg-01.log", "pg-02.log"),
            ("one/a.log", "two/a.log"),
            ("a.log", "/x/a.log"),
            ("web1-20260501.log", "web2-20260501.log"),
            ("a-999999.log", "a-888888.log"),
            ("Monitor.log", "Sunrise.log"),
            ("a.log", "b.log.1"),
            ("10.0.0.1.log", "10.0.0.2.log"),
            ("10.0.0.1", "10.0.0.2"),
            ("web-10.0.0.1", "web-10.0.0.2"),
            ("slow.log.3306", "slow.log.3307"),
        ] {
            assert!(!is_same_log(one, other), "{one} {other}");
        }
    }

    #[test]
    fn gaps_between_rotated_files_are_found() {
        let missing = |names: &[&str]| missing_files(names.iter().copied());
        let gap = |log: &str, numbers: &str| vec![(log.to_string(), numbers.to_string())];
        assert_eq!(
            missing(&["a.log.3.gz", "a.log.1", "a.log"]),
            gap("a.log", "2")
        );
        assert_eq!(
            missing(&["/x/a.log", "/x/a.log.6", "/x/a.log.2"]),
            gap("/x/a.log", "1, 3 to 5")
        );
        assert_eq!(missing(&["a.log.2", "a.log.0"]), gap("a.log", "1"));
        for whole in [
            &["a.log.2.gz", "a.log.1", "a.log"][..],
            &["a.log.1.zst", "a.log.0", "a.log"],
            &["a.log.3"],
            &["a.log-20260501", "a.log-20260509", "a.log"],
            &["a.log.1", "b.log.3"],
            &["-", "-"],
        ] {
            assert_eq!(missing(whole), [], "{whole:?}");
        }
        assert!(is_consecutive("a.log.2.gz", "a.log.1") && is_consecutive("a.log.1", "a.log"));
        assert!(!is_consecutive("a.log.3", "a.log.1") && !is_consecutive("a.log.2", "a.log"));
        assert!(is_consecutive("a.log-20260501", "a.log-20260509"));
    }

    proptest! {
        #[test]
        fn any_name_does_no_harm(name in "([a-z./_-]|2026-05-01|[0-9]{1,15}|Mon|\u{e9}|\\.gz){0,8}") {
            prop_assert!(is_same_log(&name, &name));
            family(&name);
        }
    }
}
