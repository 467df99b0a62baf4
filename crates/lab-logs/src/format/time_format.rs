// SPDX-License-Identifier: Apache-2.0
//! Parses timestamps by a format in a server's configuration.
//!
//! The formats are `strftime`, as in Apache's `%{%d/%b/%Y:%T}t`, and Java's `SimpleDateFormat`, as
//! in Tomcat's `%{yyyy-MM-dd HH:mm:ss}t`. One timestamp can be split into multiple fields.
//!
//! Source: POSIX.1-2017, *strftime*; Apache HTTP Server 2.4, mod_log_config; Java SE 17,
//! `SimpleDateFormat`.

use crate::time::{EPOCHS, Zone, half_day, half_day_shift, offset, utc};
use crate::zone_words::clear_offset;

/// A component of a timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TimePart {
    Literal(String),
    Blank,
    /// Four digits.
    Year,
    /// Two digits.
    ShortYear,
    Month,
    /// A name. Only its first three letters matter.
    MonthName,
    Day,
    DayOfYear,
    Hour,
    /// From 1 to 12.
    HalfDayHour,
    /// AM or PM.
    HalfDay,
    Minute,
    Second,
    /// The digits after the decimal point of the second.
    Fraction,
    /// Seconds since 1970.
    Epoch,
    /// `+0200`, `+02:00`, `Z`
    Offset,
    /// A word, such as CEST or UTC.
    ZoneName,
    /// A word that adds no information.
    Word,
    /// A number that adds no information.
    Number,
}

/// A format of timestamps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeFormat(Vec<TimePart>);

/// The components of a line's timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeParts {
    pub year: Option<u64>,
    month: Option<u64>,
    day: Option<u64>,
    day_of_year: Option<u64>,
    hour: Option<u64>,
    is_afternoon: Option<bool>,
    minute: u64,
    second: u64,
    epoch_s: Option<i64>,
    offset_s: Option<i32>,
}

impl TimeFormat {
    /// Parses a `strftime` format. Returns an error if a conversion is unknown.
    pub fn strftime(format: &str) -> Result<TimeFormat, String> {
        let mut parts = Vec::new();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                push_literal(&mut parts, letter);
                continue;
            }
            let mut conversion = letters.next().unwrap_or('%');
            while matches!(conversion, 'E' | 'O' | '-' | '_' | '0' | '^' | '#') {
                conversion = letters.next().unwrap_or('%');
            }
            match conversion {
                '%' => push_literal(&mut parts, '%'),
                'n' | 't' => parts.push(TimePart::Blank),
                conversion => match composed(conversion) {
                    Some(format) => parts.extend(TimeFormat::strftime(format)?.0),
                    None => parts.push(strftime_part(conversion).ok_or_else(|| {
                        format!("%{conversion} in the time format {format:?} is unknown")
                    })?),
                },
            }
        }
        Ok(TimeFormat(parts))
    }

    /// Parses a Java format. Returns an error if a letter is unknown.
    pub fn java(format: &str) -> Result<TimeFormat, String> {
        let mut parts = Vec::new();
        let mut rest = format;
        while let Some(letter) = rest.chars().next() {
            let run = rest.chars().take_while(|c| *c == letter).count();
            if letter == '\'' {
                let text = &rest[1..];
                let end = text.find('\'').unwrap_or(text.len());
                let literal = if end == 0 { "'" } else { &text[..end] };
                literal.chars().for_each(|c| push_literal(&mut parts, c));
                rest = text.get(end + 1..).unwrap_or("");
                continue;
            }
            if letter.is_ascii_alphabetic() {
                parts.push(
                    java_part(letter, run).ok_or_else(|| {
                        format!("{letter} in the time format {format:?} is unknown")
                    })?,
                );
            } else {
                (0..run).for_each(|_| push_literal(&mut parts, letter));
            }
            rest = &rest[run * letter.len_utf8()..];
        }
        Ok(TimeFormat(parts))
    }

    /// Parses the beginning of `text`, and returns the number of bytes used.
    ///
    /// Returns `None` if the text does not match the format.
    pub fn read(&self, text: &[u8], time: &mut TimeParts) -> Option<usize> {
        let mut rest = text;
        for part in &self.0 {
            rest = &rest[part.read(rest, time)?..];
        }
        Some(text.len() - rest.len())
    }

    /// Joins the formats of a timestamp that is split into multiple fields.
    pub fn joined<'f>(formats: impl Iterator<Item = &'f TimeFormat>) -> TimeFormat {
        TimeFormat(formats.flat_map(|format| format.0.clone()).collect())
    }

    /// Returns true if the format determines a moment.
    pub fn has_moment(&self) -> bool {
        let has_hour = self.has(TimePart::Hour) || self.has(TimePart::HalfDayHour);
        self.has(TimePart::Epoch) || has_hour && self.has_year() && self.has_day()
    }

    /// Returns true if the format contains a day of the year.
    pub fn has_day(&self) -> bool {
        let has_month = self.has(TimePart::Month) || self.has(TimePart::MonthName);
        self.has(TimePart::DayOfYear) || has_month && self.has(TimePart::Day)
    }

    /// Returns true if the format contains a year.
    pub fn has_year(&self) -> bool {
        self.has(TimePart::Year) || self.has(TimePart::ShortYear)
    }

    /// Returns true if the hours are from 1 to 12 and the format does not contain AM or PM.
    pub fn lacks_half_day(&self) -> bool {
        self.has(TimePart::HalfDayHour)
            && ![TimePart::HalfDay, TimePart::Hour, TimePart::Epoch]
                .into_iter()
                .any(|part| self.has(part))
    }

    /// Returns true if the format is only the seconds since 1970.
    pub fn is_epoch(&self) -> bool {
        self.0 == [TimePart::Epoch]
    }

    fn has(&self, part: TimePart) -> bool {
        self.0.contains(&part)
    }
}

fn push_literal(parts: &mut Vec<TimePart>, letter: char) {
    if letter == ' ' {
        parts.push(TimePart::Blank);
    } else if let Some(TimePart::Literal(text)) = parts.last_mut() {
        text.push(letter);
    } else {
        parts.push(TimePart::Literal(letter.into()));
    }
}

/// Returns the expansion of a composite `strftime` conversion.
fn composed(conversion: char) -> Option<&'static str> {
    Some(match conversion {
        'T' | 'X' => "%H:%M:%S",
        'R' => "%H:%M",
        'D' | 'x' => "%m/%d/%y",
        'F' => "%Y-%m-%d",
        'c' => "%a %b %e %H:%M:%S %Y",
        'r' => "%I:%M:%S %p",
        '+' => "%a %b %e %H:%M:%S %Z %Y",
        _ => return None,
    })
}

fn strftime_part(conversion: char) -> Option<TimePart> {
    Some(match conversion {
        'Y' => TimePart::Year,
        'y' => TimePart::ShortYear,
        'm' => TimePart::Month,
        'b' | 'B' | 'h' => TimePart::MonthName,
        'd' | 'e' => TimePart::Day,
        'j' => TimePart::DayOfYear,
        'H' | 'k' => TimePart::Hour,
        'I' | 'l' => TimePart::HalfDayHour,
        'p' | 'P' => TimePart::HalfDay,
        'M' => TimePart::Minute,
        'S' => TimePart::Second,
        'f' | 'N' | 'L' => TimePart::Fraction,
        's' => TimePart::Epoch,
        'z' => TimePart::Offset,
        'Z' => TimePart::ZoneName,
        'a' | 'A' => TimePart::Word,
        'C' | 'g' | 'G' | 'u' | 'U' | 'V' | 'w' | 'W' => TimePart::Number,
        _ => return None,
    })
}

fn java_part(letter: char, run: usize) -> Option<TimePart> {
    Some(match (letter, run) {
        ('y' | 'u', 2) => TimePart::ShortYear,
        ('y' | 'u', _) => TimePart::Year,
        ('M' | 'L', 1 | 2) => TimePart::Month,
        ('M' | 'L', _) => TimePart::MonthName,
        ('d', _) => TimePart::Day,
        ('D', _) => TimePart::DayOfYear,
        ('H', _) => TimePart::Hour,
        ('h', _) => TimePart::HalfDayHour,
        ('a', _) => TimePart::HalfDay,
        ('m', _) => TimePart::Minute,
        ('s', _) => TimePart::Second,
        ('S' | 'n', _) => TimePart::Fraction,
        ('Z' | 'X' | 'x', _) => TimePart::Offset,
        ('z' | 'V', _) => TimePart::ZoneName,
        ('E', _) => TimePart::Word,
        _ => return None,
    })
}

impl TimePart {
    /// Parses this component at the beginning of `text`, and returns its length.
    ///
    /// Returns `None` if the text does not match.
    fn read(&self, text: &[u8], time: &mut TimeParts) -> Option<usize> {
        match self {
            TimePart::Literal(literal) => text
                .starts_with(literal.as_bytes())
                .then_some(literal.len()),
            TimePart::Blank => text
                .first()
                .filter(|b| matches!(b, b' ' | b'\t'))
                .map(|_| 1),
            TimePart::Year => number(text, 4).map(|(n, length)| (time.year = Some(n), length).1),
            TimePart::ShortYear => number(text, 2).map(|(n, length)| {
                // In POSIX, 69 to 99 are in the 20th century.
                time.year = Some(if n < 69 { 2000 + n } else { 1900 + n });
                length
            }),
            TimePart::Month => number(text, 2).map(|(n, length)| (time.month = Some(n), length).1),
            TimePart::MonthName => {
                let letters = word(text)?;
                time.month = crate::time::month(text.get(..3)?);
                time.month.map(|_| letters)
            }
            TimePart::Day => number(text, 2).map(|(n, length)| (time.day = Some(n), length).1),
            TimePart::DayOfYear => {
                number(text, 3).map(|(n, length)| (time.day_of_year = Some(n), length).1)
            }
            TimePart::Hour => number(text, 2).map(|(n, length)| (time.hour = Some(n), length).1),
            TimePart::HalfDayHour => {
                number(text, 2)
                    .filter(|(n, _)| (1..13).contains(n))
                    .map(|(n, length)| {
                        time.hour = Some(n);
                        length
                    })
            }
            TimePart::HalfDay => {
                let (is_afternoon, length) = half_day(text)?;
                time.is_afternoon = Some(is_afternoon);
                Some(length)
            }
            TimePart::Minute => number(text, 2).map(|(n, length)| (time.minute = n, length).1),
            TimePart::Second => number(text, 2).map(|(n, length)| (time.second = n, length).1),
            TimePart::Fraction | TimePart::Number => number(text, 9).map(|(_, length)| length),
            TimePart::Epoch => {
                // More digits are those of a fraction that follows.
                let (n, length) = number(text, 10)?;
                time.epoch_s = i64::try_from(n).ok();
                Some(length)
            }
            TimePart::Offset => {
                let length = offset_length(text)?;
                time.offset_s = Some(offset(&text[..length])?);
                Some(length)
            }
            TimePart::ZoneName => {
                let length = word(text).or_else(|| offset_length(text))?;
                let zone = &text[..length];
                time.offset_s = offset(zone).or_else(|| clear_offset(zone));
                Some(length)
            }
            TimePart::Word => word(text),
        }
    }
}

/// Parses a number with at most `most` digits, optionally padded with blanks as in C.
///
/// Returns the number and the length of its text.
fn number(text: &[u8], most: usize) -> Option<(u64, usize)> {
    let blanks = text
        .iter()
        .take_while(|b| **b == b' ')
        .take(most - 1)
        .count();
    let digits = text[blanks..]
        .iter()
        .take(most - blanks)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let value = crate::time::number(&text[blanks..blanks + digits]).filter(|_| digits > 0)?;
    Some((value, blanks + digits))
}

fn word(text: &[u8]) -> Option<usize> {
    let letters = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    (letters > 0).then_some(letters)
}

/// Returns the length of `Z`, `+02`, `+0200` or `+02:00`.
fn offset_length(text: &[u8]) -> Option<usize> {
    if text.first() == Some(&b'Z') {
        return Some(1);
    }
    [6, 5, 3]
        .into_iter()
        .find(|n| text.get(..*n).is_some_and(|text| offset(text).is_some()))
}

impl TimeParts {
    /// Returns the time in seconds since 1970 and the clock's offset from UTC in seconds.
    ///
    /// Returns `None` if the day does not exist.
    pub fn time(&self, zone: &mut Zone) -> Option<(i64, i32)> {
        if let Some(epoch) = self.epoch_s {
            if !EPOCHS.contains(&epoch.unsigned_abs()) {
                return None;
            }
            return Some((epoch, zone.offset_at(epoch)));
        }
        let hour = self.hour?;
        let shift_s = match self.is_afternoon {
            // The hour from 1 to 12 became one from 0 to 11.
            Some(is_afternoon) => half_day_shift(hour, is_afternoon)?,
            None => 0,
        };
        let (month, day, days) = match self.day_of_year {
            Some(day) if self.month.is_none() => (1, 1, day.checked_sub(1).filter(|d| *d < 366)?),
            _ => (self.month?, self.day?, 0),
        };
        let local = utc([self.year?, month, day], [hour, self.minute, self.second])?
            + days as i64 * 86_400
            + shift_s;
        let offset = self.offset_s.unwrap_or_else(|| zone.offset_of_local(local));
        Some((local - i64::from(offset), offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &TimeFormat, text: &str) -> Option<(i64, i32)> {
        let mut time = TimeParts::default();
        (format.read(text.as_bytes(), &mut time)? == text.len()).then_some(())?;
        time.time(&mut Zone::default())
    }

    #[test]
    fn times_of_c_and_java_are_parsed() {
        // `date -u -d '2025-10-10 20:00:36' +%s`
        const T: i64 = 1_760_126_436;
        for (format, text, offset) in [
            (
                "%d/%b/%Y:%H:%M:%S %z",
                "10/Oct/2025:13:00:36 -0700",
                -25_200,
            ),
            ("%FT%T%z", "2025-10-10T20:00:36Z", 0),
            ("%F %T.%f%z", "2025-10-10 22:00:36.123456+02:00", 7_200),
            ("%s", "1760126436", 0),
            ("%a %b %e %T %Z %Y", "Fri Oct 10 20:00:36 UTC 2025", 0),
            ("%F %T %Z", "2025-10-10 22:00:36 CEST", 7_200),
            ("%D %r", "10/10/25 08:00:36 PM", 0),
            ("%D %I:%M:%S %P", "10/10/25 08:00:36 p.m.", 0),
            ("%D %T %p", "10/10/25 20:00:36 PM", 0),
            ("%s%f", "1760126436123", 0),
            ("%Y %j %T", "2025 283 20:00:36", 0),
        ] {
            let format = TimeFormat::strftime(format).expect(format);
            assert_eq!(read(&format, text), Some((T, offset)), "{text}");
        }
        for (format, text) in [
            ("yyyy-MM-dd HH:mm:ss.SSS Z", "2025-10-10 13:00:36.123 -0700"),
            ("dd/MMM/yyyy:HH:mm:ss XXX", "10/Oct/2025:20:00:36 Z"),
            ("yyyy-MM-dd'T'HH:mm:ssX", "2025-10-10T20:00:36Z"),
        ] {
            let format = TimeFormat::java(format).expect(format);
            assert_eq!(read(&format, text).map(|(time, _)| time), Some(T), "{text}");
        }
        assert!(TimeFormat::strftime("%Q").is_err() && TimeFormat::java("yyyy-qq").is_err());
        let day = TimeFormat::strftime("%d/%b/%Y:%T").expect("a format");
        for bad in [
            "",
            "31/Feb/2025:00:00:00",
            "10/Foo/2025:00:00:00",
            "10/Oct/2025",
        ] {
            assert_eq!(read(&day, bad), None, "{bad}");
        }
        let half = TimeFormat::strftime("%F %I:%M:%S %p").expect("a format");
        assert_eq!(
            read(&half, "2025-10-10 12:00:36 AM").map(|t| t.0 % 86_400),
            Some(36)
        );
        for bad in ["2025-10-10 08:00:36 nachm", "2025-10-10 13:00:36 AM"] {
            assert_eq!(read(&half, bad), None, "{bad}");
        }
        for (format, lacks) in [
            ("%F %I:%M:%S", true),
            ("%F %I:%M:%S %p", false),
            ("%F %T", false),
        ] {
            let format = TimeFormat::strftime(format).expect("a format");
            assert_eq!(format.lacks_half_day(), lacks);
        }
    }
}
