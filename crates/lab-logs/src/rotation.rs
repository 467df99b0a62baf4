// SPDX-License-Identifier: Apache-2.0
//! Recognizes the files of one log by their names.
//!
//! Examples are `access.log.2.gz`, `access.log-20260501`, `postgresql-2026-05-01_000000.log`.
//!
//! Sources: logrotate(8), `dateext`; PostgreSQL 17, 19.8 `log_filename`; IIS 10, *Log File
//! Rollover*; Jetty 12, `jetty-requestlog`; Tomcat 10.1, *Access Log Valve*; Logback 1.5,
//! *RollingFileAppender*; lumberjack 2.2, which Caddy uses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::time::SystemTime;

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

/// Finds the rotated files that are missing among the files in `names`.
///
/// Returns the name of each log that lacks files, with the missing numbers, such as `2` or `2 to
/// 4`. The first rotated file has the number 0 or 1. A log with only one file has no gap.
pub fn missing_files<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(String, String)> {
    let mut logs: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
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
        let log = match folder.as_str() {
            "." => name,
            folder => format!("{folder}/{name}"),
        };
        if !text.is_empty() {
            missing.push((log, text));
        }
    }
    missing
}

/// The suffixes of compressed files.
///
/// benchlab can read files with the first [`READABLE`] suffixes. Other files must be decompressed
/// first.
const COMPRESSIONS: [&str; 11] = [
    ".gz", ".zst", ".zstd", ".bz2", ".xz", ".lz4", ".zip", ".lzma", ".Z", ".br", ".7z",
];
/// The number of suffixes in [`COMPRESSIONS`] whose files benchlab can read.
const READABLE: usize = 3;

/// The extensions before which some programs write the number of a rotated file: `access.1.log`.
const EXTENSIONS: [&str; 6] = [".log", ".txt", ".json", ".csv", ".out", ".err"];

/// The parts of a file's name that show whether the file belongs to a rotated log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RotatedName {
    folder: String,
    /// The name without the characters that a rotation changes.
    family: String,
    /// The date with its time, in a form that sorts by time.
    date: Option<String>,
    /// The number after the last dot. The highest number is the oldest file.
    number: Option<u32>,
}

/// The number before the extension of a name, as in `access.1.log`, and the name without that
/// number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InnerNumber {
    family: String,
    number: u32,
}

/// The position of a file among the files of a log, oldest first.
///
/// Files with dates come first, then files with numbers, then the log itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RotationOrder {
    has_no_date: bool,
    date: Option<String>,
    has_no_number: bool,
    number: Reverse<Option<u32>>,
    /// The time of the last modification, for a file with a weekday in its name.
    modified: Option<SystemTime>,
    compression_rank: u8,
}

impl RotationOrder {
    /// Adds the modification time of a file whose name has a weekday instead of a date, and the
    /// rank of its compression.
    ///
    /// A compressed copy follows its original.
    pub fn with_file(self, file: &Metadata, name: &str) -> RotationOrder {
        let is_weekday = self.date.as_deref() == Some("");
        RotationOrder {
            modified: file.modified().ok().filter(|_| is_weekday),
            compression_rank: compression_rank(name),
            ..self
        }
    }
}

impl RotatedName {
    /// Parses the path of a file.
    pub fn new(path: &str) -> RotatedName {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (folder, name),
            None => (".", path),
        };
        let plain = without_compression(name);
        let dated = find_date(plain);
        let undated = dated.as_ref().map_or(plain, |dated| &dated.rest);
        let family = without_number(undated);
        let number = undated[family.len()..].strip_prefix('.');
        RotatedName {
            folder: folder.into(),
            family: family.into(),
            number: number.and_then(|number| number.parse().ok()),
            date: dated.map(|dated| dated.date),
        }
    }

    /// Returns true if the file has a number, but no date.
    pub fn has_number(&self) -> bool {
        self.number.is_some() && self.date.is_none()
    }

    /// Returns the position of the file `other` among the files of this log, or `None` if it is not
    /// a file of this log.
    ///
    /// `access.1.log` is a file of `access.log`, but not of `access.2.log`, because the number may
    /// identify a server.
    pub fn order_of(&self, other: &RotatedName) -> Option<RotationOrder> {
        if self.folder != other.folder {
            return None;
        }
        let number = if self.family == other.family {
            other.number
        } else {
            let inner = other.inner_number()?;
            (inner.family == self.family).then_some(Some(inner.number))?
        };
        Some(RotationOrder {
            has_no_date: other.date.is_none(),
            date: other.date.clone(),
            has_no_number: number.is_none(),
            number: Reverse(number),
            modified: None,
            compression_rank: 0,
        })
    }

    /// Returns true if the file `other` may be an older file of this log, although its name does
    /// not show it for certain.
    ///
    /// The names differ only in digits, or `other` has a suffix such as `.old`.
    pub fn may_have(&self, other: &RotatedName) -> bool {
        const ENDS: [&str; 5] = [".old", ".bak", ".prev", ".orig", ".save"];
        let is_digit = |c: char| c.is_ascii_digit();
        if self.folder != other.folder || self.family.contains(is_digit) {
            return false;
        }
        let end = other.family.strip_prefix(self.family.as_str());
        let letters = |name: &str| name.replace(|c| is_digit(c) || is_separator(c), "");
        let has_digits = other.family.contains(is_digit);
        end.is_some_and(|end| ENDS.contains(&end))
            || (has_digits && letters(&other.family) == letters(&self.family))
    }

    /// Returns the number before the extension of the name.
    fn inner_number(&self) -> Option<InnerNumber> {
        let end = EXTENSIONS.iter().find(|end| self.family.ends_with(**end))?;
        let stem = &self.family[..self.family.len() - end.len()];
        let before = without_number(stem);
        Some(InnerNumber {
            number: stem[before.len()..].strip_prefix('.')?.parse().ok()?,
            family: format!("{before}{end}"),
        })
    }
}

/// Returns the number in a name such as `access.log.1` or `access.log.2.gz`.
///
/// Returns `None` if the name has no number or has a date.
fn rotation_number(path: &str) -> Option<u32> {
    let name = RotatedName::new(path);
    name.number.filter(|_| name.has_number())
}

/// Returns the rank of a file's compression: 0 for no compression, 1 for a format that benchlab can
/// read, and 2 for any other format.
pub fn compression_rank(name: &str) -> u8 {
    match COMPRESSIONS.iter().position(|end| name.ends_with(end)) {
        None => 0,
        Some(index) if index < READABLE => 1,
        Some(_) => 2,
    }
}

/// Removes the suffix of a compression format.
pub fn without_compression(name: &str) -> &str {
    let plain = COMPRESSIONS.iter().find_map(|end| name.strip_suffix(end));
    plain.unwrap_or(name)
}

/// Returns the directory, and the name without the characters that a rotation changes.
fn family(path: &str) -> (String, String) {
    let name = RotatedName::new(path);
    (name.folder, name.family)
}

/// Removes the number at the end of a name such as `access.log.1`.
///
/// A number after another number is part of an address, and a longer number is a port.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((before, number))
            if number.len() <= 3
                && is_number(number)
                && !before.rsplit('.').next().is_some_and(is_number) =>
        {
            before
        }
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The date in a file's name, and the rest of the name.
struct DatedName {
    /// The date with its time, in a form that sorts by time. Empty for a weekday.
    date: String,
    /// The name without the date, the time that follows it, and the separator that precedes it.
    rest: String,
}

/// Finds the first date in a name.
fn find_date(name: &str) -> Option<DatedName> {
    let begins = name.char_indices().filter(|(at, c)| {
        let before = name[..*at].chars().next_back();
        let is_begin = |other: fn(char) -> bool| before.is_none_or(|b| !other(b));
        (c.is_ascii_digit() && is_begin(|b| b.is_ascii_digit()))
            || (c.is_ascii_uppercase() && is_begin(|b| b.is_ascii_alphanumeric()))
    });
    for (begin, _) in begins {
        let length = date_length(&name[begin..]);
        if let Some(length) = length.or_else(|| month_length(name, begin)) {
            let (date, after) = name[begin..].split_at(length);
            let before = name[..begin].trim_end_matches(is_separator);
            let after = match before {
                "" => after.trim_start_matches(is_separator),
                _ => after,
            };
            return Some(DatedName {
                date: sortable_date(date),
                rest: format!("{before}{after}"),
            });
        }
    }
    None
}

/// Returns the length of a month in the names of IIS, such as `u_ex2605.log`.
fn month_length(name: &str, begin: usize) -> Option<usize> {
    let (before, digits) = name.split_at(begin);
    let month = digits.get(..4).filter(|month| is_number(month))?;
    let is_whole = !digits[4..].starts_with(|c: char| c.is_ascii_digit());
    (is_whole && before.ends_with("_ex") && is_in(&month[2..], 1..=12)).then_some(4)
}

/// Returns a date and its time in a form in which texts of earlier times sort first.
fn sortable_date(date: &str) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let begin = &date[..digits(date)];
    let rest = &date[begin.len()..];
    let begin = match begin.len() {
        4 if rest.is_empty() => format!("20{begin}"),
        6 => format!("20{begin}"),
        8 if !is_year(&begin[..4]) => format!("20{begin}"),
        10 if !is_long_date(begin) => {
            let time = begin.parse().ok().map(jiff::Timestamp::from_second);
            let time = time.and_then(Result::ok);
            time.map_or(begin.into(), |time| {
                time.strftime("%Y%m%d%H%M%S").to_string()
            })
        }
        _ => begin.into(),
    };
    // An index such as the 10 of `2026-05-01-10` is later than a 9.
    let parts = rest.split(|c: char| !c.is_ascii_digit());
    let rest = parts.filter(|part| !part.is_empty());
    rest.fold(begin, |all, part| match part.len() {
        1 | 3 => format!("{all}.{part:0>3}"),
        _ => all + part,
    })
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '-' | '_')
}

fn is_in(text: &str, range: std::ops::RangeInclusive<u32>) -> bool {
    text.parse().is_ok_and(|n| range.contains(&n))
}

fn is_year(text: &str) -> bool {
    is_in(text, 1990..=2099)
}

fn is_day(month: &str, day: &str) -> bool {
    is_in(month, 1..=12) && is_in(day, 1..=31)
}

/// Returns true if the digits begin with a year, a month and a day.
fn is_long_date(digits: &str) -> bool {
    digits.len() >= 8 && is_year(&digits[..4]) && is_day(&digits[4..6], &digits[6..8])
}

/// Returns the length of a date with its time at the beginning of `text`.
///
/// Examples are `2026-05-01`, `2026_05_01`, `2026-05`, `20260501`, `260501`, `1777629600`, `Mon`.
fn date_length(text: &str) -> Option<usize> {
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let weekday = WEEKDAYS.iter().find(|day| text.starts_with(**day));
    if weekday.is_some() {
        let is_word = text[3..].starts_with(|c: char| c.is_ascii_alphanumeric());
        return (!is_word).then_some(3);
    }
    let mut length = match digits(text) {
        4 => separated_date_length(text)?,
        // A date, optionally with an hour, or seconds since 1970.
        n @ (6 | 8 | 10 | 12 | 14) => {
            let is_short = n <= 8 && is_day(&text[2..4], &text[4..6]);
            let is_unix = n == 10 && text.starts_with('1');
            (is_long_date(&text[..n]) || is_short || is_unix).then_some(n)?
        }
        _ => return None,
    };
    // The time of day.
    let next = |length: usize| {
        let rest = text[length..].strip_prefix(['-', '_', 'T', '.', ':'])?;
        Some((rest, digits(rest)))
    };
    while let Some((_, n @ (2 | 4 | 6))) = next(length) {
        length += 1 + n;
    }
    // The index of a file within a day, milliseconds, or seconds since 1970. A number before
    // another number is part of an address.
    if let Some((rest, n)) = next(length) {
        let is_last = !rest[n..].starts_with(is_separator)
            || !rest[n + 1..].starts_with(|c: char| c.is_ascii_digit());
        if is_last && (matches!(n, 1 | 3) || (n == 10 && rest.starts_with('1'))) {
            length += 1 + n;
        }
    }
    Some(length)
}

/// Returns the length of `2026-05-01`, `2026.05.01`, `2026_05_01` or `2026-05`.
fn separated_date_length(text: &str) -> Option<usize> {
    let separator = text[4..].chars().next().filter(|c| is_separator(*c))?;
    let mut parts = text.split(separator);
    let (year, month) = (parts.next()?, parts.next()?);
    let day = parts.next().and_then(|day| day.get(..2));
    let after = |length: usize| text[length..].chars().next();
    let is_whole = |length: usize| after(length).is_none_or(|c| !c.is_ascii_digit());
    if !is_year(year) || month.len() < 2 || !month.is_char_boundary(2) {
        return None;
    }
    if month.len() == 2 && day.is_some_and(|day| is_day(month, day) && is_number(day)) {
        return is_whole(10).then_some(10);
    }
    let is_month = is_number(&month[..2]) && is_in(&month[..2], 1..=12);
    (separator == '-' && is_month && is_whole(7)).then_some(7)
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
            &["u_ex260501.log", "u_ex26050110.log", "u_ex2604.log"],
            &["mysql-slow.log.2026-05-01.10", "mysql-slow.log.7"],
            &["access.log", "access-2026-05-01.log", "access.log.2.bz2"],
            &[
                "access.log",
                "access-2026-05-01T00-00-00.123.log.gz",
                "access-2026-05-02T00-00-00.000.log",
            ],
            &[
                "2026-05-01.access.log",
                "2026-05-02.access.log.xz",
                "access.log",
            ],
            &["2026_05_01.request.log", "2026_05_02.request.log"],
            &[
                "localhost_access_log.2026-05-01.txt",
                "localhost_access_log.2026-05-02.txt.zip",
            ],
            &[
                "app-2026-05-01-1.log.gz",
                "app-2026-05-01-12.log",
                "app.log",
            ],
            &["app.2026-05-01.0.log", "app.2026-05-01.1.log"],
            &["app-2026-04.log", "app-2026-05.log"],
            &["a.log-20260501-1777629600", "a.log"],
            &["0.log.20260501-100000.gz", "0.log"],
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
            ("a-2026-05-01-10.0.0.1.log", "a-2026-05-01-10.0.0.2.log"),
            ("a-2026-05-01-192.168.1.1", "a-2026-05-01-192.168.1.2"),
            ("web.1.log", "web.2.log"),
            ("u_ex2613.log", "u_ex2614.log"),
            ("app2604.log", "app2605.log"),
            ("10.0.0.1.log", "10.0.0.log"),
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
            &["a.2026-05-01.3.log", "a.2026-05-02.1.log", "a.log"],
            &["a.log.2.bz2", "a.log.1", "a.log"],
            &["-", "-"],
        ] {
            assert_eq!(missing(whole), [], "{whole:?}");
        }
        assert!(is_consecutive("a.log.2.gz", "a.log.1") && is_consecutive("a.log.1", "a.log"));
        assert!(!is_consecutive("a.log.3", "a.log.1") && !is_consecutive("a.log.2", "a.log"));
        assert!(is_consecutive("a.log-20260501", "a.log-20260509"));
    }

    #[test]
    fn files_of_a_log_sort_by_time() {
        for files in [
            &["a.log.10", "a.log.2.gz", "a.log.1", "a.log"][..],
            &["a.10.log", "a.2.log.gz", "a.1.log", "a.log"],
            &["u_ex251231.log", "u_ex260101.log", "u_ex26010110.log"],
            &["a-2026-05-01-2.log", "a-2026-05-01-10.log", "a.log"],
            &[
                "a.2026-05-01.9.log",
                "a.2026-05-01.10.log",
                "a.2026-05-02.0.log",
            ],
            &[
                "a.log.1777629600",
                "a.log.20260501110000",
                "a.log.20260502",
                "a.log",
            ],
            &["a-2026-04.log", "a-2026-05.log"],
            &["u_ex1912.log", "u_ex2012.log", "u_ex2605.log"],
        ] {
            let log = RotatedName::new(files.last().expect("a file"));
            let order = |file: &&str| log.order_of(&RotatedName::new(file)).expect("a place");
            let sorted: Vec<_> = files.iter().map(order).collect();
            assert!(sorted.is_sorted(), "{files:?} {sorted:?}");
        }
    }

    #[test]
    fn files_that_may_belong_to_a_log_are_known() {
        let may = |log: &str, file: &str| RotatedName::new(log).may_have(&RotatedName::new(file));
        for file in [
            "a-1.log",
            "a.log00001",
            "a.log.3306",
            "a_12.log.gz",
            "a.log.old",
        ] {
            assert!(may("a.log", file), "{file}");
        }
        for (log, file) in [
            ("a.log", "b.log"),
            ("a.log", "a.log"),
            ("a.log", "a.log.offset"),
            ("db-1.log", "db-2.log"),
            ("a.log", "x/a-1.log"),
        ] {
            assert!(!may(log, file), "{log} {file}");
        }
    }

    proptest! {
        #[test]
        fn any_name_does_no_harm(name in "([a-z./_-]|2026|-05|_01|[0-9]{1,15}|Mon|\u{e9}|\\.gz){0,8}") {
            prop_assert!(is_same_log(&name, &name));
            let (parsed, log) = (RotatedName::new(&name), RotatedName::new("a.log"));
            log.order_of(&parsed);
            log.may_have(&parsed);
            parsed.order_of(&parsed).expect("a place");
        }
    }
}
