// SPDX-License-Identifier: Apache-2.0
//! Parses timestamps in logs as seconds since 1970.

use crate::registers::leading_number;
use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, AmbiguousTimestamp, Offset, TimeZone};

/// Parses digits. Returns `None` if the text contains any other character or if the number is too
/// long.
#[inline]
pub fn number(digits: &[u8]) -> Option<u64> {
    match leading_number(digits) {
        Some((value, n)) if n == digits.len() => Some(value),
        _ => None,
    }
}

/// Parses a number with an optional fraction and multiplies it by a scale. For example, the scale
/// 10^9 converts seconds to ns.
pub fn scaled(text: &[u8], scale: u64) -> Option<u64> {
    let dot = memchr::memchr(b'.', text);
    let integer = &text[..dot.unwrap_or(text.len())];
    let mut value = match integer {
        [] if dot.is_some() => 0,
        digits => number(digits)?.checked_mul(scale)?,
    };
    if let Some(dot) = dot {
        let mut digit_value = scale;
        for digit in &text[dot + 1..] {
            if !digit.is_ascii_digit() {
                return None;
            }
            digit_value /= 10;
            value = value.checked_add(u64::from(digit - b'0') * digit_value)?;
        }
    }
    Some(value)
}

/// The plausible timestamps of a log, in seconds since 1970: from 2001 to 2099.
pub const EPOCHS: std::ops::Range<u64> = 978_307_200..4_102_444_800;

/// Returns the seconds since 1970 of a UTC date and time.
pub fn utc([year, month, day]: [u64; 3], [hour, minute, second]: [u64; 3]) -> Option<i64> {
    let (month, day) = (month.try_into().ok()?, day.try_into().ok()?);
    let date = Date::new(year.try_into().ok()?, month, day).ok()?;
    let midnight = Offset::UTC.to_timestamp(date.into()).ok()?.as_second();
    // A leap second has the number 60.
    let is_sound = hour < 24 && minute < 60 && second <= 60;
    is_sound.then(|| midnight + (hour * 3600 + minute * 60 + second) as i64)
}

/// Parses the two-digit second of a minute.
#[inline]
fn second(digits: [u8; 2]) -> Option<i64> {
    let [tens, ones] = digits.map(|digit| digit.wrapping_sub(b'0'));
    let second = tens.wrapping_mul(10).wrapping_add(ones);
    (tens <= 6 && ones <= 9 && second <= 60).then_some(i64::from(second))
}

/// Returns the number of a month by the first three letters of its name.
pub fn month(name: &[u8]) -> Option<u64> {
    const NAMES: [&[u8; 3]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
        b"Dec",
    ];
    let index = NAMES.iter().position(|n| n[..] == *name)?;
    Some(index as u64 + 1)
}

/// Parses a time such as `10/Oct/2000:13:55:36`.
///
/// The result is in seconds since 1970 as if the time were UTC.
pub fn clf(text: &[u8]) -> Option<i64> {
    let t: &[u8; 20] = text.get(..20)?.try_into().ok()?;
    if [t[2], t[6], t[11], t[14], t[17]] != *b"//:::" {
        return None;
    }
    let date = [number(&t[7..11])?, month(&t[3..6])?, number(&t[..2])?];
    utc(
        date,
        [
            number(&t[12..14])?,
            number(&t[15..17])?,
            number(&t[18..20])?,
        ],
    )
}

/// A parser of times such as `10/Oct/2000:13:55:36 -0700` that caches the last time's minute.
#[derive(Clone, Debug)]
pub struct ClfTimes {
    last: [u8; 26],
    /// The start of the last time's minute, in seconds since 1970.
    minute_s: i64,
    offset_s: i32,
}

impl Default for ClfTimes {
    fn default() -> ClfTimes {
        ClfTimes {
            last: *b"01/Jan/1970:00:00:00 +0000",
            minute_s: 0,
            offset_s: 0,
        }
    }
}

impl ClfTimes {
    /// Returns the seconds since 1970, and the offset of the clock from UTC in seconds.
    #[inline]
    pub fn read(&mut self, text: &[u8; 26]) -> Option<(i64, i32)> {
        let second = second([text[18], text[19]])?;
        if text[..18] != self.last[..18] || text[21..] != self.last[21..] {
            let offset = offset(&text[21..])?;
            self.minute_s = clf(text)? - i64::from(offset) - second;
            self.offset_s = offset;
            self.last = *text;
        }
        Some((self.minute_s + second, self.offset_s))
    }
}

/// Parses an offset such as `+0200`, `-07:00` or `Z`. The result is in seconds.
pub fn offset(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        b"Z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (number(digits)?, 0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        5 if digits[2] == b':' => (number(&digits[..2])?, number(&digits[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60) as i32)
}

/// Skips the fraction of a second, if there is one.
fn behind_fraction(text: &[u8]) -> &[u8] {
    let [b'.' | b',', after @ ..] = text else {
        return text;
    };
    let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
    &after[digits..]
}

/// Parses a time such as `2026-05-01T10:00:00.123+02:00`.
///
/// The `T` can be a blank. The fraction and the offset are optional, and the zone's name can follow
/// the offset. Returns the seconds as if the time were UTC, and the offset, if any.
pub fn iso(text: &[u8]) -> Option<(i64, Option<i32>)> {
    let time = zoned_iso(text)?;
    Some((time.local_s, time.offset_s))
}

/// A time with its zone, as far as the text contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedTime<'t> {
    /// The seconds since 1970, as if the time were UTC.
    pub local_s: i64,
    /// The offset from UTC in seconds.
    pub offset_s: Option<i32>,
    /// The name of the zone, such as `CEST` or `Europe/Berlin`, if there is no offset.
    pub zone: Option<&'t [u8]>,
}

/// Parses a time like [`iso`] does, and the name of the time's zone.
///
/// Returns `None` if anything else follows, because it could change the time.
pub fn zoned_iso(text: &[u8]) -> Option<ZonedTime<'_>> {
    let t = text.get(..19)?;
    if [t[4], t[7], t[13], t[16]] != *b"--::" || !matches!(t[10], b'T' | b' ') {
        return None;
    }
    let date = [number(&t[..4])?, number(&t[5..7])?, number(&t[8..10])?];
    let hour = number(&t[11..13])?;
    let local_s = utc(date, [hour, number(&t[14..16])?, number(&t[17..19])?])?;
    after_second(local_s, hour, behind_fraction(&text[19..]))
}

/// Parses a time such as `10/Oct/2000:13:55:36 -0700`, and the name of the time's zone.
///
/// Returns `None` if anything else follows, because it could change the time.
pub fn zoned_clf(text: &[u8]) -> Option<ZonedTime<'_>> {
    let local_s = clf(text)?;
    let hour = number(&text[12..14])?;
    after_second(local_s, hour, behind_fraction(&text[20..]))
}

/// Parses the text after the second of a time: AM or PM, and the zone.
fn after_second(local_s: i64, hour: u64, rest: &[u8]) -> Option<ZonedTime<'_>> {
    let rest = trim_blanks(rest);
    let (shift_s, rest) = match half_day(rest) {
        Some((is_afternoon, length)) => {
            let shift_s = half_day_shift(hour, is_afternoon)?;
            (shift_s, trim_blanks(&rest[length..]))
        }
        None => (0, rest),
    };
    let (offset_s, zone) = zone_text(rest)?;
    Some(ZonedTime {
        local_s: local_s + shift_s,
        offset_s,
        zone,
    })
}

/// Removes the blanks before a text. Java and browsers write a narrow no-break space before AM.
fn trim_blanks(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    for blank in ["\u{202f}", "\u{a0}"] {
        text = text.strip_prefix(blank.as_bytes()).unwrap_or(text);
    }
    text
}

/// Parses AM or PM at the beginning of `text`.
///
/// Returns true for PM, and the length of the parsed text.
pub fn half_day(text: &[u8]) -> Option<(bool, usize)> {
    let length = match text {
        [_, b'.', b'M' | b'm', b'.', ..] => 4,
        [_, b'M' | b'm', ..] => 2,
        _ => return None,
    };
    let is_end = text.get(length).is_none_or(|b| !b.is_ascii_alphanumeric());
    match text[0] {
        b'A' | b'a' if is_end => Some((false, length)),
        b'P' | b'p' if is_end => Some((true, length)),
        _ => None,
    }
}

/// Returns the number of seconds that AM or PM adds to a time.
///
/// Some programs write hours above 12 in addition to PM. Returns `None` if the hour and
/// `is_afternoon` contradict each other.
pub fn half_day_shift(hour: u64, is_afternoon: bool) -> Option<i64> {
    match (hour, is_afternoon) {
        (1..=11, true) => Some(43_200),
        (12, false) => Some(-43_200),
        (12..=23, true) | (0..=11, false) => Some(0),
        _ => None,
    }
}

/// Parses the zone after a time.
///
/// The zone is an offset, or a name, or an offset with a name as in Go's `+0200 CEST m=+0.1` and
/// Java's `+02:00[Europe/Berlin]`. Returns `None` for any other text.
fn zone_text(text: &[u8]) -> Option<(Option<i32>, Option<&[u8]>)> {
    let end = text.iter().position(|b| matches!(b, b' ' | b'[' | b'('));
    let (first, tail) = text.split_at(end.unwrap_or(text.len()));
    let inner = |text: &'_ [u8]| -> Option<usize> {
        match (text.first()?, text.last()?) {
            (b'[', b']') | (b'(', b')') => Some(text.len() - 1),
            _ => None,
        }
    };
    let tail = tail.trim_ascii();
    // Go's monotonic clock.
    if first.starts_with(b"m=") && tail.is_empty() {
        return Some((None, None));
    }
    if first.is_empty() {
        return match inner(tail) {
            None if tail.is_empty() => Some((None, None)),
            None => None,
            Some(end) => zone_word(&tail[1..end]),
        };
    }
    let is_name = |word: &[u8]| {
        word.starts_with(b"m=") || offset(word).is_some() || zone_word(word).is_some()
    };
    let mut words = tail.split(|b| *b == b' ').filter(|word| !word.is_empty());
    let is_rest_of_zone = inner(tail).is_some() || words.all(is_name);
    zone_word(first).filter(|_| is_rest_of_zone)
}

/// Parses one word: an offset such as `+0200`, `UTC+2` or `GMT+0100`, or a zone's name.
fn zone_word(word: &[u8]) -> Option<(Option<i32>, Option<&[u8]>)> {
    let relative = [&b"UTC"[..], b"GMT"]
        .iter()
        .find_map(|name| word.strip_prefix(*name))
        .filter(|rest| !rest.is_empty());
    let offset_s = offset(word)
        .or_else(|| long_offset(word))
        .or_else(|| relative.and_then(|rest| offset(rest).or_else(|| long_offset(rest))));
    if offset_s.is_some() {
        return Some((offset_s, None));
    }
    let is_letter = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
    let is_name = word.first().is_some_and(u8::is_ascii_uppercase)
        && (2..=40).contains(&word.len())
        && word.iter().all(is_letter);
    is_name.then_some((None, Some(word)))
}

/// Parses an offset with one digit for the hour or with seconds: `+2`, `+01:00:00`.
fn long_offset(text: &[u8]) -> Option<i32> {
    match text {
        b"z" | b"utc" | b"gmt" => Some(0),
        [sign @ (b'+' | b'-'), digit] if digit.is_ascii_digit() => {
            let offset_s = i32::from(digit - b'0') * 3600;
            Some(if *sign == b'-' { -offset_s } else { offset_s })
        }
        [sign @ (b'+' | b'-'), digit, b':', rest @ ..] if rest.len() == 2 => {
            offset(&[*sign, b'0', *digit, b':', rest[0], rest[1]])
        }
        [whole @ .., b':', a, b] if whole.len() == 6 => {
            let seconds = number(&[*a, *b]).filter(|seconds| *seconds < 60)? as i32;
            let offset_s = offset(whole)?;
            Some(match whole[0] {
                b'-' => offset_s - seconds,
                _ => offset_s + seconds,
            })
        }
        _ => None,
    }
}

/// Parses a time in ISO 8601's basic format, such as `20260501T100000.123Z`, with its offset.
pub fn basic_iso(text: &[u8]) -> Option<ZonedTime<'_>> {
    let t = text.get(..15)?;
    if !matches!(t[8], b'T' | b't') {
        return None;
    }
    let date = [number(&t[..4])?, number(&t[4..6])?, number(&t[6..8])?];
    let hour = number(&t[9..11])?;
    let local_s = utc(date, [hour, number(&t[11..13])?, number(&t[13..15])?])?;
    after_second(local_s, hour, behind_fraction(&text[15..]))
}

/// Returns the length of a time that [`iso`] accepts, including its fraction and offset.
pub fn iso_length(text: &[u8]) -> Option<usize> {
    iso(text.get(..19)?)?;
    let behind = behind_fraction(&text[19..]);
    let lengths = [6, 5, 3, 1].into_iter();
    let is_offset = |n: &usize| behind.get(..*n).is_some_and(|text| offset(text).is_some());
    Some(text.len() - behind.len() + lengths.filter(is_offset).max().unwrap_or(0))
}

/// Parses a duration with a unit: `22ms`, `1.5 s`, Go's `1m2.5s`, .NET's `00:00:01.5`, `PT0.5S`.
/// The result is in ns.
pub fn parse_written_duration(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 13] = [
        ("ms", 1_000_000),
        ("msec", 1_000_000),
        ("us", 1_000),
        ("usec", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ns", 1),
        ("s", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("S", 1_000_000_000),
        ("m", 60_000_000_000),
        ("M", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    if let Some(ns) = clock_duration(text) {
        return Some(ns);
    }
    let mut rest = text.strip_prefix("PT").unwrap_or(text).trim();
    let mut sum = None;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (digits, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        let end = behind
            .find(|c: char| c.is_ascii_digit() || c == '.' || c == ' ')
            .unwrap_or(behind.len());
        let unit = UNITS.iter().find(|(name, _)| *name == &behind[..end])?;
        let ns = scaled(digits.as_bytes(), unit.1).filter(|_| !digits.is_empty())?;
        sum = Some(u64::checked_add(sum.unwrap_or(0), ns)?);
        rest = behind[end..].trim_start();
    }
    sum
}

/// Parses a duration such as `00:00:01.5`. The result is in ns.
fn clock_duration(text: &str) -> Option<u64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let is_clock = parts.next().is_none() && minutes.len() == 2 && seconds.len() >= 2;
    // .NET writes days before the hours: `1.02:03:04.5`.
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    let days_s = number(days.as_bytes())?.checked_mul(86_400)?;
    let hours_s = number(hours.as_bytes())?.checked_mul(3600)?;
    let minutes_s = number(minutes.as_bytes())?.checked_mul(60)?;
    let whole = days_s.checked_add(hours_s)?.checked_add(minutes_s)?;
    let ns = scaled(seconds.as_bytes(), 1_000_000_000).filter(|_| is_clock)?;
    whole.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// The time zone in which logs without an offset were written.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    /// True if the user specified the zone.
    pub is_given: bool,
    /// True if a time without an offset was interpreted as UTC, because no zone was given.
    pub was_assumed: bool,
    /// True if a local time occurred twice because the clock was set back. The first occurrence is
    /// assumed.
    pub was_ambiguous: bool,
    /// True if a local time did not occur because the clock was set forward.
    pub was_skipped: bool,
    /// The start of the quarter hour that was looked up last, and the offset in it, both in
    /// seconds.
    last: (i64, i32),
}

impl Default for Zone {
    fn default() -> Zone {
        Zone {
            zone: TimeZone::UTC,
            is_given: false,
            was_assumed: false,
            was_ambiguous: false,
            was_skipped: false,
            last: (i64::MIN, 0),
        }
    }
}

impl Zone {
    /// Returns a zone by its name in the IANA database, such as `Europe/Berlin`.
    ///
    /// Returns an error if the name is unknown.
    pub fn named(name: &str) -> Result<Zone, String> {
        let zone = TimeZone::get(name).map_err(|_| {
            format!("unknown time zone {name:?}: expected a name such as Europe/Berlin")
        })?;
        Ok(Zone {
            zone,
            is_given: true,
            ..Zone::default()
        })
    }

    /// Returns the offset from UTC, in seconds, of a local time.
    ///
    /// `local_s` is the local time in seconds since 1970 as if it were UTC. If the clock was set
    /// back, the first of the two possible times is used.
    pub fn offset_of_local(&mut self, local_s: i64) -> i32 {
        let hour = local_s.div_euclid(900);
        if hour != self.last.0 {
            self.was_assumed |= !self.is_given;
            let civil = jiff::Timestamp::from_second(local_s).map(|t| TimeZone::UTC.to_datetime(t));
            let found = civil
                .ok()
                .map(|civil| self.zone.to_ambiguous_timestamp(civil));
            match found.as_ref().map(AmbiguousTimestamp::offset) {
                Some(AmbiguousOffset::Fold { .. }) => self.was_ambiguous = true,
                Some(AmbiguousOffset::Gap { .. }) => self.was_skipped = true,
                Some(AmbiguousOffset::Unambiguous { .. }) | None => {}
            }
            let offset = found
                .and_then(|found| found.compatible().ok())
                .map_or(0, |t| self.zone.to_offset(t).seconds());
            self.last = (hour, offset);
        }
        self.last.1
    }

    /// Returns the offset from UTC at `time_s`, in seconds.
    pub fn offset_at(&mut self, time_s: i64) -> i32 {
        // Keys of local times are below 2^60.
        let key = time_s.div_euclid(900).wrapping_add(1_i64 << 60);
        if key != self.last.0 {
            let offset = jiff::Timestamp::from_second(time_s)
                .map_or(0, |t| self.zone.to_offset(t).seconds());
            self.last = (key, offset);
        }
        self.last.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_match_the_date_command() {
        // `date -u -d '2000-10-10 13:55:36' +%s`
        assert_eq!(clf(b"10/Oct/2000:13:55:36 -0700"), Some(971_186_136));
        assert_eq!(clf(b"29/Feb/2024:00:00:00"), Some(1_709_164_800));
        for wrong in [
            "31/Foo/2024:00:00:00",
            "29/Feb/2023:00:00:00",
            "01/Jan/2024:24:00:00",
        ] {
            assert_eq!(clf(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(offset(b"-0700"), Some(-25_200));
        assert_eq!(
            iso(b"2026-05-01T10:00:00.123+02:00"),
            Some((1_777_629_600, Some(7200)))
        );
        assert_eq!(iso(b"2026-05-01 10:00:00"), Some((1_777_629_600, None)));
        // Go's time.Time.String and Java's ZonedDateTime.toString.
        for (text, offset_s) in [
            ("2026-05-01 10:00:00.123 +0200 CEST", Some(7_200)),
            ("2026-05-01 10:00:00.123 +0000 UTC m=+0.000012", Some(0)),
            ("2026-05-01T10:00:00.123+02:00[Europe/Berlin]", Some(7_200)),
            ("2026-05-01T10:00:00Z[UTC]", Some(0)),
            ("2026-05-01 10:00:00 CEST", None),
            ("2026-05-01 10:00:00 +0300 +03 m=+0.1", Some(10_800)),
            ("2026-05-01T10:00:00 GMT+0100", Some(3_600)),
            ("2026-05-01T10:00:00 GMT+0200 (CEST)", Some(7_200)),
            ("2026-05-01T10:00:00 UTC+2", Some(7_200)),
            ("2026-05-01T10:00:00 UTC-05:30", Some(-19_800)),
            ("2026-05-01T10:00:00+01:00:00", Some(3_600)),
            ("2026-05-01T10:00:00-2:30", Some(-9_000)),
        ] {
            assert_eq!(
                iso(text.as_bytes()),
                Some((1_777_629_600, offset_s)),
                "{text}"
            );
        }
        assert_eq!(scaled(b"0.123", 1_000_000_000), Some(123_000_000));
        assert_eq!(scaled(b"12", 1_000), Some(12_000));
        assert_eq!(scaled(b"1.2.3", 1_000), None);
        assert_eq!(scaled(b"99999999999999999999", 1), None);
        for (text, length) in [
            ("2026-05-01T10:00:00.123+02:00 x", 29),
            ("2026-05-01 10:00:00 GET", 19),
            ("2026-05-01T10:00:00Z]", 20),
            ("2026-05-01T10:00:00+0200", 24),
        ] {
            assert_eq!(iso_length(text.as_bytes()), Some(length), "{text}");
        }
    }

    #[test]
    fn durations_with_units_are_read() {
        for (text, ns) in [
            ("22ms", 22_000_000),
            ("1.250s", 1_250_000_000),
            ("12.345\u{b5}s", 12_345),
            ("1m2.5s", 62_500_000_000),
            ("250 ms", 250_000_000),
            ("00:00:01.5000000", 1_500_000_000),
            ("PT0.5S", 500_000_000),
        ] {
            assert_eq!(parse_written_duration(text), Some(ns), "{text}");
        }
        for bad in [
            "",
            "ms",
            "5",
            "5 parsecs",
            "1:2",
            "-5ms",
            "1..5s",
            "99999999999999999999h",
        ] {
            assert_eq!(parse_written_duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_follows_the_second_counts() {
        let hour = |text: &str| {
            let time = zoned_iso(text.as_bytes())?;
            Some(time.local_s.rem_euclid(86_400) / 3_600)
        };
        for (text, expected) in [
            ("02:00:00 PM", 14),
            ("02:00:00.123 pm", 14),
            ("02:00:00PM", 14),
            ("02:00:00 p.m.", 14),
            ("02:00:00\u{202f}PM", 14),
            ("02:00:00 PM +0100", 14),
            ("12:30:00 PM", 12),
            ("12:30:00 AM", 0),
            ("11:30:00 AM CET", 11),
            ("14:00:00 PM", 14),
        ] {
            assert_eq!(
                hour(&format!("2026-05-01 {text}")),
                Some(expected),
                "{text}"
            );
        }
        let zone = |text| zoned_iso(text).map(|time| (time.offset_s, time.zone));
        let berlin = Some(&b"Europe/Berlin"[..]);
        assert_eq!(
            zone(b"2026-05-01 10:00:00 Europe/Berlin"),
            Some((None, berlin))
        );
        assert_eq!(
            zone(b"2026-05-01T10:00:00[Europe/Berlin]"),
            Some((None, berlin))
        );
        let cest = Some(&b"CEST"[..]);
        assert_eq!(zone(b"2026-05-01 10:00:00.5 CEST"), Some((None, cest)));
        assert_eq!(zone(b"2026-05-01 10:00:00 PM CEST"), Some((None, cest)));
        assert_eq!(zone(b"2026-05-01 10:00:00.5 m=+0.1"), Some((None, None)));
        for bad in [
            "2026-05-01 14:00:00 AM",
            "2026-05-01 00:00:00 PM",
            "2026-05-01 10:00:00 nachm.",
            "2026-05-01 10:00:00 - started",
            "2026-05-01 10:00:00 / 5",
            "2026-05-01 10:00:00+0200 5",
            "2026-05-01 10:00:00+25:00",
            "2026-05-01 10:00:001",
        ] {
            assert_eq!(zoned_iso(bad.as_bytes()), None, "{bad}");
        }
        let text = b"10/Oct/2000:01:55:36 PM -0700";
        let time = zoned_clf(text).expect("a time");
        assert_eq!((time.local_s, time.offset_s), (971_186_136, Some(-25_200)));
        let time = basic_iso(b"20001010T135536.5Z").expect("a time");
        assert_eq!((time.local_s, time.offset_s), (971_186_136, Some(0)));
    }

    #[test]
    fn a_clock_that_is_set_back_shows_an_hour_twice() {
        let mut berlin = Zone::named("Europe/Berlin").expect("a zone");
        let summer = iso(b"2026-10-25 02:30:00").expect("a time").0;
        assert_eq!(berlin.offset_of_local(summer), 7200);
        assert_eq!(berlin.offset_of_local(summer + 3600), 3600);
        assert_eq!(berlin.offset_at(summer), 3600);
        assert!(berlin.was_ambiguous && !berlin.was_skipped);
        assert!(Zone::named("Europe/Atlantis").is_err());
        let mut berlin = Zone::named("Europe/Berlin").expect("a zone");
        let skipped = iso(b"2025-03-30 02:30:00").expect("a time").0;
        berlin.offset_of_local(skipped - 3_600);
        assert!(!berlin.was_skipped);
        berlin.offset_of_local(skipped);
        assert!(berlin.was_skipped && !berlin.was_ambiguous);
    }
}
