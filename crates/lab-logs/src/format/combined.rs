// SPDX-License-Identifier: Apache-2.0
//! Parses the common and the combined log format of Apache, nginx, Tomcat and many other servers.
//!
//! A host may precede the format's fields, and more fields may follow them.
//!
//! `127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326 "referer" "agent" 1234`
//!
//! Source: Apache HTTP Server 2.4, mod_log_config; nginx, ngx_http_log_module.

use super::units::{
    UNITS, UnitCheck, UnitEvidence, absurd_unit, assumed_unit, contradiction, other_units,
    unit_name,
};
use super::upstream::{is_list, sum_ns};
use crate::entry::Entry;
use crate::read::MAX_LINE;
use crate::registers::{self, Baseline, RegisterWidth, leading_number};
use crate::time::{ClfTimes, number, parse_written_duration, scaled};
use lab_model::LogAssumption;
use memchr::{memchr, memchr2};
use std::collections::BTreeMap;

/// The field after the agent that contains a line's duration, and the unit of the duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duration {
    /// The text before the value in its field, such as `rt=`.
    pub key: Vec<u8>,
    /// The index of the field among the fields that begin with the key, from 0.
    pub index: usize,
    /// The number of nanoseconds per unit of the logged duration.
    pub scale: u64,
    /// The resolution of the logged duration, in ns.
    pub step: u64,
    /// The possible units, in ns.
    ///
    /// The list is empty if the log contains the unit or the user specified it. With only one
    /// possible unit, nothing is assumed.
    pub possible: Vec<u64>,
    /// True if another field may contain the durations instead.
    pub is_choice: bool,
    /// True if the field is a whole number without a name or a unit, so it may not be a duration.
    pub is_bare_number: bool,
    /// True if the next field is the unit: `0.200 ms`.
    pub has_unit_field: bool,
    /// True if the user specified the unit.
    pub is_unit_given: bool,
    /// True if the values contain their unit: `22ms`.
    pub is_unit_written: bool,
    /// The number of fields in most lines of the sample, or `None` if the duration does not depend
    /// on its position or if lines end with text of any length.
    pub field_count: Option<usize>,
}

/// A parser of common and combined lines.
#[derive(Clone, Debug)]
pub struct Combined {
    /// The location of the durations, or `None` if there are none.
    pub duration: Option<Duration>,
    times: ClfTimes,
    /// True if the log does not contain the unit, so the parser checks whether the durations are
    /// plausible in the unit.
    is_unit_checked: bool,
    check: UnitCheck,
    /// The number of durations that have a fraction although the sample's durations have none, or
    /// vice versa.
    odd: u64,
    /// The number of lines with a duration.
    timed: u64,
    /// The number of lines with a duration whose number of fields differs from most lines of the
    /// sample.
    moved: u64,
    /// The number of durations without a unit, if the sample's durations contain their unit.
    unitless: u64,
    /// The search for durations in later lines, for a sample without durations.
    late: LateDurations,
}

/// The search for durations that a server began to log after the sample.
///
/// Only lines with more fields than the sample's lines are searched.
#[derive(Clone, Debug, Default)]
struct LateDurations {
    /// The unit that the user specified, in ns.
    unit: Option<u64>,
    /// The usual number of fields after the agent in the sample.
    usual_fields: usize,
    /// The number of lines with fields after the agent.
    lines_seen: u64,
    lines: Vec<LateLine>,
    /// The number of attempts to find the durations.
    tries: u8,
    is_found: bool,
}

/// The parts of a line that the search for late durations needs.
#[derive(Clone, Debug)]
struct LateLine {
    time: [u8; 26],
    bytes: u64,
    rest: Vec<u8>,
}

/// The number of lines that are collected for one attempt to find late durations.
const LATE_LINES: usize = 32;
/// If the sample's lines also have fields after the agent, only one in `LATE_STEP` lines is
/// searched for late durations.
const LATE_STEP: u64 = 16;
/// The maximum length of the text after the agent, in bytes. Lines with a longer text are not
/// searched for late durations.
const MAX_LATE_LINE: usize = 512;
/// The maximum number of attempts to find late durations.
const MAX_LATE_TRIES: u8 = 16;

impl LateDurations {
    /// Adds a line. Returns the location of the durations once there are enough lines to find it.
    #[cold]
    fn add(&mut self, fields: &CombinedFields) -> Option<Duration> {
        self.lines_seen += 1;
        // If most lines have fields after the agent, counting them all would take too long.
        let is_skipped = self.usual_fields > 0 && !self.lines_seen.is_multiple_of(LATE_STEP);
        if is_skipped
            || self.tries >= MAX_LATE_TRIES
            || fields.rest.len() > MAX_LATE_LINE
            || list_fields(fields.rest).count() <= self.usual_fields
        {
            return None;
        }
        self.lines.push(LateLine {
            time: *fields.time,
            bytes: fields.bytes,
            rest: fields.rest.to_vec(),
        });
        if self.lines.len() < LATE_LINES {
            return None;
        }
        self.tries += 1;
        let lines = std::mem::take(&mut self.lines);
        let parsed: Vec<CombinedFields> = lines.iter().map(LateLine::fields).collect();
        let found = duration_of(&parsed)?;
        Some(match self.unit {
            Some(unit) => found.with_unit(unit),
            None => found,
        })
    }
}

impl LateLine {
    fn fields(&self) -> CombinedFields<'_> {
        CombinedFields {
            time: &self.time,
            request: b"",
            status: 0,
            bytes: self.bytes,
            agent: b"",
            rest: &self.rest,
        }
    }
}

impl Combined {
    /// Creates a parser. `duration` is the location of the durations, or `None` if the lines have
    /// none.
    pub fn new(duration: Option<Duration>) -> Combined {
        let mut combined = Combined {
            duration: None,
            times: ClfTimes::default(),
            is_unit_checked: false,
            check: UnitCheck::default(),
            odd: 0,
            timed: 0,
            moved: 0,
            unitless: 0,
            late: LateDurations::default(),
        };
        combined.set_duration(duration);
        combined
    }

    /// Prepares the search for durations in later lines, for a `sample` that has no durations.
    ///
    /// `unit` is the unit that the user specified, in ns.
    pub fn expect_late_durations(&mut self, sample: &[&[u8]], unit: Option<u64>) {
        let counts: Vec<usize> = sample
            .iter()
            .filter_map(|line| CombinedFields::parse(line, Baseline))
            .map(|fields| list_fields(fields.rest).count() + 1)
            .collect();
        let usual = usual_count(&counts, 0).or(counts.iter().max().copied());
        self.late = LateDurations {
            unit,
            usual_fields: usual.map_or(0, |count| count - 1),
            ..LateDurations::default()
        };
    }

    fn set_duration(&mut self, duration: Option<Duration>) {
        let is_checked = |d: &Duration| !d.possible.is_empty() || d.is_unit_given;
        self.is_unit_checked = duration.as_ref().is_some_and(is_checked);
        self.duration = duration;
    }

    /// Returns the assumptions made about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let Some(duration) = &self.duration else {
            return Vec::new();
        };
        let field = duration.words();
        let mut assumptions = Vec::new();
        if duration.is_choice {
            assumptions.push(LogAssumption::DurationField {
                place: field.clone(),
            });
        }
        if self.moved * 1_000 > self.timed {
            assumptions.push(LogAssumption::FieldsDiffer {
                place: field.clone(),
                lines: self.moved,
            });
        }
        if duration.is_unit_given {
            assumptions.extend(absurd_unit(&self.check, &field, duration.scale));
            return assumptions;
        }
        if self.unitless * 1_000 > self.timed {
            assumptions.push(assumed_unit(&field, duration.scale, &UNITS));
            return assumptions;
        }
        let contradiction = contradiction(&self.check, &field, duration.scale);
        let assumption = if self.check.is_often(self.odd) {
            LogAssumption::MixedForms {
                place: field,
                unit_ns: duration.scale,
            }
        } else if let Some(contradiction) = contradiction {
            contradiction
        } else if duration.is_bare_number {
            LogAssumption::BareNumber {
                place: field,
                unit_ns: duration.scale,
                others_ns: other_units(duration.scale, &duration.possible),
            }
        } else if duration.possible.len() > 1 {
            assumed_unit(&field, duration.scale, &duration.possible)
        } else {
            return assumptions;
        };
        assumptions.push(assumption);
        assumptions
    }

    /// Parses a line. Returns `None` if it is malformed.
    #[inline]
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        self.entry(&CombinedFields::parse(line, Baseline)?)
    }

    /// Parses the first line of `text`. Returns the entry, and the length of the line including the
    /// line end.
    ///
    /// The search for the line end starts after the fields. Returns `None` if the line is malformed
    /// or incomplete.
    #[inline(always)]
    pub fn parse_ahead<'a>(
        &mut self,
        text: &'a [u8],
        width: impl RegisterWidth,
    ) -> Option<(Entry<'a>, usize)> {
        let mut fields = CombinedFields::parse(text, width)?;
        let end = registers::find(width, [b'\n'], fields.rest)?;
        let length = text.len() - fields.rest.len() + end + 1;
        // The fields' parsers check every byte of the time except the blank.
        if length > MAX_LINE || fields.time[20] == b'\n' {
            return None;
        }
        let rest = &fields.rest[..end];
        fields.rest = rest.strip_suffix(b"\r").unwrap_or(rest);
        Some((self.entry(&fields)?, length))
    }

    #[inline(always)]
    fn entry<'a>(&mut self, fields: &CombinedFields<'a>) -> Option<Entry<'a>> {
        let (time_s, offset_s) = self.times.read(fields.time)?;
        let (method, target) = method_and_target(fields.request);
        let duration = match &self.duration {
            Some(duration) => duration.parse(fields.rest),
            None if fields.rest.is_empty() => None,
            None => self.late_duration(fields),
        };
        if let Some(duration) = &duration {
            self.timed += 1;
            self.moved += u64::from(duration.is_moved);
            self.unitless += u64::from(duration.is_unitless);
            if self.is_unit_checked {
                self.check.count(duration.ns);
                self.odd += u64::from(duration.is_odd);
            }
        }
        let duration_ns = duration.map(|duration| duration.ns);
        Some(Entry {
            time_s: Some(time_s),
            offset_s,
            duration_ns,
            method,
            target,
            is_query: false,
            is_late: false,
            dialect: Default::default(),
            status: fields.status,
            bytes: fields.bytes,
            agent: fields.agent,
            id: b"",
        })
    }
}

impl Combined {
    /// Describes the location and the unit of the durations if they were found only after the
    /// sample.
    pub fn late_description(&self) -> Option<String> {
        let duration = self.duration.as_ref().filter(|_| self.late.is_found)?;
        Some(duration.description())
    }

    #[cold]
    fn late_duration(&mut self, fields: &CombinedFields) -> Option<FoundDuration> {
        let found = self.late.add(fields)?;
        let duration = found.parse(fields.rest);
        self.set_duration(Some(found));
        self.late.is_found = true;
        duration
    }
}

/// The maximum length of a method, in bytes.
const METHOD: usize = 16;

/// Splits a request line into method and target. Any other text becomes the target as a whole.
#[inline(always)]
pub fn method_and_target(request: &[u8]) -> (&[u8], &[u8]) {
    // Most requests have this form.
    if let Some(rest) = request.strip_prefix(b"GET ")
        && let Some(target) = rest.strip_suffix(b" HTTP/1.1")
    {
        return (&request[..3], target);
    }
    split_request_line(request)
}

fn split_request_line(request: &[u8]) -> (&[u8], &[u8]) {
    let letters = request.iter().take(METHOD + 1);
    let n = letters.take_while(|b| b.is_ascii_uppercase()).count();
    let (method, rest) = match request.split_at(n) {
        (method, [b' ', rest @ ..]) if n <= METHOD => (method, rest),
        _ => return (b"", request),
    };
    // ` HTTP/1.1`, or ` HTTP/2` and ` HTTP/3.0`.
    let n = rest.len();
    let target = match n.checked_sub(9) {
        Some(at) if rest[at..].starts_with(b" HTTP/") => &rest[..at],
        _ => match n.checked_sub(7) {
            Some(at) if rest[at..].starts_with(b" HTTP/") => &rest[..at],
            _ => rest,
        },
    };
    (method, target)
}

struct CombinedFields<'a> {
    time: &'a [u8; 26],
    request: &'a [u8],
    status: u16,
    bytes: u64,
    agent: &'a [u8],
    /// The text after the agent.
    rest: &'a [u8],
}

impl<'a> CombinedFields<'a> {
    /// Splits a line, or the first line of `text`. Only `rest` may extend beyond the line.
    // Without inlining, the result is returned through memory, where wide reads stall on narrow
    // writes, which costs a few ns.
    #[inline(always)]
    fn parse(text: &'a [u8], width: impl RegisterWidth) -> Option<CombinedFields<'a>> {
        let open = registers::find(width, [b'[', b'\n'], text)?;
        let &[b'[', ref behind @ ..] = &text[open..] else {
            return None;
        };
        let (mut time, mut behind) = behind.split_first_chunk::<26>()?;
        if !matches!(behind, [b']', b' ', b'"', ..]) {
            (time, behind) = later_time(&text[open + 1..])?;
        }
        let [b']', b' ', b'"', rest @ ..] = behind else {
            return None;
        };
        let end = closing_quote(rest, width)?;
        let (request, rest) = (&rest[..end], &rest[end + 1..]);
        let &[b' ', a, b, c, b' ', ref rest @ ..] = rest else {
            return None;
        };
        if ![a, b, c].iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digit = |d: u8| u16::from(d - b'0');
        let status = digit(a) * 100 + digit(b) * 10 + digit(c);
        let (bytes, end) = match rest {
            [b'-', ..] => (0, 1),
            _ => leading_number(rest)?,
        };
        let rest = &rest[end..];
        if !matches!(rest, [] | [b' ' | b'\n', ..]) {
            return None;
        }
        let (mut agent, mut behind): (&[u8], &[u8]) = (b"", rest);
        if let [b' ', b'"', referer @ ..] = rest
            && let Some(end) = closing_quote(referer, width)
            && let [b' ', b'"', words @ ..] = &referer[end + 1..]
            && let Some(end) = closing_quote(words, width)
        {
            (agent, behind) = (&words[..end], &words[end + 1..]);
        }
        Some(CombinedFields {
            time,
            request,
            status,
            bytes,
            agent,
            rest: behind,
        })
    }
}

/// Finds the time if another bracket precedes the time, for example around an IPv6 address.
///
/// Returns the time and the text that follows the time.
#[cold]
fn later_time(text: &[u8]) -> Option<(&[u8; 26], &[u8])> {
    let mut rest = text;
    loop {
        let open = registers::find(Baseline, [b'[', b'\n'], rest)?;
        let &[b'[', ref behind @ ..] = &rest[open..] else {
            return None;
        };
        let (time, after) = behind.split_first_chunk::<26>()?;
        if matches!(after, [b']', b' ', b'"', ..]) {
            return Some((time, after));
        }
        rest = behind;
    }
}

/// Returns the index of the closing quote, which is the first `"` in the line that no `\` precedes.
#[inline(always)]
fn closing_quote(text: &[u8], width: impl RegisterWidth) -> Option<usize> {
    let quote = registers::find(width, [b'"', b'\n'], text)?;
    match (text[..quote].last(), text[quote]) {
        (_, b'\n') => None,
        (Some(b'\\'), _) => closing_quote_after_escapes(text, quote),
        _ => Some(quote),
    }
}

/// The slow path of [`closing_quote`], for text in which a `\` precedes the first `"`.
#[cold]
fn closing_quote_after_escapes(text: &[u8], first: usize) -> Option<usize> {
    let mut quote = first;
    while text[quote] == b'"' {
        if !is_escaped(&text[..quote]) {
            return Some(quote);
        }
        quote += 1 + registers::find(Baseline, [b'"', b'\n'], &text[quote + 1..])?;
    }
    None
}

/// Splits `text`, which follows an opening quote, into the parts before and after its closing
/// quote.
pub fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = closing_quote(text, Baseline)?;
    Some((&text[..end], &text[end + 1..]))
}

/// Returns true if the text ends with an odd number of `\`.
pub fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

impl Duration {
    /// Describes the location, such as `rt=` or `the field after the agent`.
    pub fn words(&self) -> String {
        match String::from_utf8_lossy(&self.key).trim_end_matches('=') {
            "" => match self.index {
                0 => "the field after the agent".into(),
                index => format!("field {} after the agent", index + 1),
            },
            key => key.into(),
        }
    }

    /// Describes the location and the unit, and states whether the unit is assumed.
    pub fn description(&self) -> String {
        let reason = match self.possible.len() {
            0 | 1 if !self.is_bare_number => "",
            _ => ", assumed",
        };
        format!("{}, in {}{reason}", self.words(), unit_name(self.scale))
    }

    /// Returns the same location with the unit that the user specified, in ns.
    pub fn with_unit(mut self, unit: u64) -> Duration {
        self.step = (self.step.saturating_mul(unit) / self.scale).max(1);
        self.scale = unit;
        self.possible = Vec::new();
        self.is_bare_number = false;
        self.is_unit_given = true;
        self.is_unit_written = false;
        self
    }

    /// Returns true if the duration is the first field and has no key.
    #[inline]
    fn is_first(&self) -> bool {
        self.index == 0 && self.key.is_empty()
    }

    /// Returns true if the sample's durations have a fraction.
    #[inline]
    fn has_fraction(&self) -> bool {
        self.step < self.scale
    }

    #[inline(always)]
    fn parse(&self, rest: &[u8]) -> Option<FoundDuration> {
        // The common case: a single field with a whole number.
        if self.is_first()
            && let [b' ', value @ ..] = rest
            && let Some(integer) = number(value)
        {
            return Some(FoundDuration {
                ns: integer.checked_mul(self.scale)?,
                is_odd: self.has_fraction(),
                is_moved: self.field_count.is_some_and(|count| count != 1),
                is_unitless: self.is_unit_written && integer > 0,
            });
        }
        self.value_at_index(rest)
    }

    fn value_at_index(&self, rest: &[u8]) -> Option<FoundDuration> {
        let mut left = self.index;
        let mut fields = list_fields(rest);
        while let Some(field) = fields.next() {
            if let Some(value) = field.strip_prefix(&self.key[..]) {
                if left == 0 {
                    let value = unquoted(value);
                    let is_odd = value.contains(&b'.') != self.has_fraction();
                    let scale = match self.has_unit_field {
                        true => unit_of(fields.next()?)?,
                        false => self.scale,
                    };
                    let ns = value_of(value, scale)?;
                    let before = self.index + 1 + usize::from(self.has_unit_field);
                    let is_moved = match self.field_count {
                        Some(count) => before + fields.count() != count,
                        None => false,
                    };
                    let is_bare = !value.last().is_some_and(u8::is_ascii_alphabetic);
                    return Some(FoundDuration {
                        ns,
                        is_odd,
                        is_moved,
                        is_unitless: self.is_unit_written && is_bare && ns > 0,
                    });
                }
                left -= 1;
            }
        }
        None
    }
}

/// The duration of a line, and the differences between its form and the form of the sample's
/// durations.
#[derive(Clone, Copy, Debug)]
struct FoundDuration {
    ns: u64,
    /// True if the duration has a fraction although the sample's durations have none, or vice
    /// versa.
    is_odd: bool,
    /// True if the line's number of fields differs from most lines of the sample.
    is_moved: bool,
    /// True if the value has no unit although the sample's values have one.
    is_unitless: bool,
}

#[inline]
fn value_of(value: &[u8], scale: u64) -> Option<u64> {
    match number(value) {
        Some(integer) => integer.checked_mul(scale),
        None => {
            let end = value.iter().position(|b| !b.is_ascii_digit() && *b != b'.');
            let (digits, suffix) = value.split_at(end.unwrap_or(value.len()));
            let scale = match (suffix, unit_of(suffix)) {
                (b"", _) => scale,
                (_, Some(unit)) => unit,
                _ => return list_sum(value).or_else(|| go_duration(value)),
            };
            scaled(digits, scale)
        }
    }
}

/// Returns the unit that a word names, in ns.
#[inline]
fn unit_of(word: &[u8]) -> Option<u64> {
    Some(match word {
        b"ns" => 1,
        b"us" | b"\xc2\xb5s" => 1_000,
        b"ms" => 1_000_000,
        b"s" | b"sec" => 1_000_000_000,
        _ => return None,
    })
}

/// Parses a duration such as Go's `1m2.5s`. The result is in ns.
fn go_duration(value: &[u8]) -> Option<u64> {
    let has_unit = value.last().is_some_and(u8::is_ascii_alphabetic);
    has_unit.then(|| parse_written_duration(std::str::from_utf8(value).ok()?))?
}

/// Returns the sum of the times that nginx's `$upstream_response_time` lists for multiple servers,
/// in ns.
fn list_sum(value: &[u8]) -> Option<u64> {
    is_list(value).then(|| sum_ns(value))?
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inner = value
        .strip_prefix(b"\"")
        .and_then(|v| v.strip_suffix(b"\""));
    inner.unwrap_or(value)
}

/// Splits `rest` like [`fields`], but keeps nginx's lists of upstream servers together.
fn list_fields(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut parts = fields(rest).peekable();
    std::iter::from_fn(move || {
        let first = parts.next()?;
        let mut last = first;
        while let Some(next) =
            parts.next_if(|next| last.ends_with(b",") || last == b":" || *next == b":")
        {
            last = next;
        }
        let begin = first.as_ptr() as usize - rest.as_ptr() as usize;
        let end = last.as_ptr() as usize - rest.as_ptr() as usize + last.len();
        Some(&rest[begin..end])
    })
}

/// Splits `rest` into fields separated by blanks, and removes the fields' quotes.
pub fn fields(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        while let [b' ' | b'\t', after @ ..] = rest {
            rest = after;
        }
        if rest.is_empty() {
            return None;
        }
        let (field, after) = match rest {
            [b'"', inner @ ..] => {
                let end = closing_quote(inner, Baseline).unwrap_or(inner.len());
                (&inner[..end], inner.get(end + 1..).unwrap_or_default())
            }
            _ => {
                let end = memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
                (&rest[..end], &rest[end..])
            }
        };
        rest = after;
        Some(field)
    })
}

/// Common keys before a duration's value.
const KEYS: [&str; 12] = [
    "rt=",
    "request_time=",
    "urt=",
    "uct=",
    "duration=",
    "dur=",
    "took=",
    "elapsed=",
    "time=",
    "D=",
    "t=",
    "upstream_response_time=",
];

/// Finds the durations in lines of this format.
///
/// Returns `None` if the lines have another format, and `Some(None)` if they have no durations.
pub fn find_duration(lines: &[&[u8]]) -> Option<Option<Duration>> {
    let parsed: Vec<CombinedFields> = lines
        .iter()
        .filter_map(|line| CombinedFields::parse(line, Baseline))
        .collect();
    if parsed.is_empty() || parsed.len() * 2 < lines.len() {
        return None;
    }
    Some(duration_of(&parsed))
}

/// Finds the durations in lines of this format.
///
/// The first attempt looks for a field with durations in at least 10 % of the lines. The second
/// attempt accepts fewer lines. It runs only if the first attempt fails, because a field in few
/// lines is more likely to look like durations by accident.
fn duration_of(parsed: &[CombinedFields]) -> Option<Duration> {
    let usual = parsed.len().div_ceil(10);
    duration_in(parsed, usual).or_else(|| duration_in(parsed, MIN_NUMBERS.min(usual)))
}

/// Finds durations that at least `min_values` lines have.
fn duration_in(parsed: &[CombinedFields], min_values: usize) -> Option<Duration> {
    let by_key = KEYS
        .iter()
        .find_map(|key| duration_at(parsed, key.as_bytes(), 0, min_values));
    if by_key.is_some() {
        return by_key;
    }
    let counts: Vec<usize> = parsed
        .iter()
        .map(|fields| list_fields(fields.rest).count())
        .collect();
    let max_fields = counts.iter().max().copied().unwrap_or(0);
    let numbers: Vec<Duration> = (0..max_fields.min(16))
        .filter_map(|index| duration_at(parsed, b"", index, min_values))
        .filter(|d| !is_other_quoted(parsed, d.index))
        .collect();
    // A written unit is better evidence than a fraction. A whole number, which can be a counter, is
    // the weakest evidence.
    let has_unit = |d: &&Duration| d.has_unit_field || is_written(parsed, d.index);
    let by_unit = numbers.iter().find(has_unit);
    // nginx writes its durations with three decimals, and $gzip_ratio with two.
    let mut fractions: Vec<&Duration> = numbers.iter().filter(|d| d.has_fraction()).collect();
    drop_counters(parsed, &mut fractions);
    let has_three = |d: &&&Duration| has_three_decimals(parsed, d.index);
    let with_three: Vec<&Duration> = fractions.iter().filter(has_three).copied().collect();
    let by_fraction = if with_three.is_empty() {
        fractions.first().map(|first| (*first).clone())
    } else {
        longest_field(parsed, &with_three)
    };
    let found = match (by_unit.cloned().or(by_fraction), numbers.as_slice()) {
        (Some(duration), _) => Some(duration),
        (None, [only]) if is_other_number(parsed, only.index) => None,
        (None, [only]) => Some(Duration {
            is_bare_number: true,
            ..only.clone()
        }),
        // Two whole numbers may be the bytes in and out (`combinedio`).
        _ => None,
    };
    found.map(|duration| Duration {
        field_count: usual_count(&counts, duration.index),
        ..duration
    })
}

/// Returns the most frequent number of fields among the lines that have the field at `index`.
///
/// Returns `None` if there are more than two different numbers of fields, which suggests that the
/// lines end with text of any length.
fn usual_count(counts: &[usize], index: usize) -> Option<usize> {
    let mut tally = BTreeMap::<usize, usize>::new();
    for count in counts.iter().filter(|count| **count > index) {
        *tally.entry(*count).or_default() += 1;
    }
    if tally.len() > 2 {
        return None;
    }
    let usual = tally.into_iter().max_by_key(|(_, lines)| *lines);
    usual.map(|(count, _)| count)
}

/// Removes the fields that increase from line to line, such as a time or a counter, unless there are
/// no others.
fn drop_counters(lines: &[CombinedFields], durations: &mut Vec<&Duration>) {
    let is_counter = |duration: &&Duration| {
        let values: Vec<f64> = lines
            .iter()
            .filter_map(|line| {
                let value = list_fields(line.rest).nth(duration.index)?;
                Some(written(unquoted(value))?.number)
            })
            .collect();
        values.len() >= MIN_NUMBERS && values.windows(2).all(|pair| pair[0] < pair[1])
    };
    let is_doubtful = |duration: &&Duration| !duration.possible.is_empty() && is_counter(duration);
    if durations.len() > 1 && !durations.iter().all(is_doubtful) {
        durations.retain(|duration| !is_doubtful(duration));
    }
}

/// Returns the field whose values are the longest in nearly all lines.
///
/// In nginx, `$request_time` includes `$upstream_response_time` and the other upstream times. If no
/// field is the longest, returns the first field and marks the choice as an assumption.
fn longest_field(lines: &[CombinedFields], durations: &[&Duration]) -> Option<Duration> {
    let value = |line: &CombinedFields, duration: &Duration| {
        let value = list_fields(line.rest).nth(duration.index)?;
        value_of(unquoted(value), duration.scale)
    };
    let is_longest = |one: &&&Duration| {
        let shorter = lines.iter().filter(|line| {
            let own = value(line, one).unwrap_or(0);
            let mut others = durations.iter().filter_map(|other| value(line, other));
            // Times are rounded.
            others.any(|other| other > own.saturating_add(one.step))
        });
        shorter.count() * 50 <= lines.len()
    };
    let longest = durations.iter().find(is_longest);
    let first = durations.first()?;
    Some(match longest {
        Some(longest) => (*longest).clone(),
        None => Duration {
            is_choice: true,
            ..(*first).clone()
        },
    })
}

/// The minimum number of values from which the meaning of a field is inferred.
const MIN_NUMBERS: usize = 10;
/// The maximum plausible size of a response's headers, in bytes.
const MAX_HEADERS: u64 = 2_048;

/// Returns true if the whole numbers of a field are certainly not durations: a counter, such as
/// nginx's `$connection`, a constant, or bytes including headers, such as Apache's `%O`.
fn is_other_number(lines: &[CombinedFields], index: usize) -> bool {
    let value = |line: &CombinedFields| number(unquoted(list_fields(line.rest).nth(index)?));
    let values: Vec<u64> = lines.iter().filter_map(value).collect();
    let steps = values.windows(2).filter(|w| w[0] < w[1]).count();
    // Durations in whole seconds can be zeros before a few other values.
    let is_counter = values.len() >= MIN_NUMBERS
        && values.is_sorted()
        && (values[0] > 0 || steps >= MIN_NUMBERS / 2);
    // Only values of large bodies are certainly close to the body's size.
    let is_large = |line: &&CombinedFields| line.bytes >= 4 * MAX_HEADERS;
    let large: Vec<&CombinedFields> = lines.iter().filter(is_large).collect();
    let is_close = |line: &&&CombinedFields| {
        let headers = value(line).and_then(|value| value.checked_sub(line.bytes));
        headers.is_some_and(|headers| headers <= MAX_HEADERS)
    };
    let close = large.iter().filter(is_close).count();
    is_counter || (large.len() >= MIN_NUMBERS && close * 10 >= large.len() * 9)
}

/// Returns true if most values of a field have units.
fn is_written(lines: &[CombinedFields], index: usize) -> bool {
    let has_unit = |_: &[u8], value: &[u8]| value.last().is_some_and(u8::is_ascii_alphabetic);
    nearly_all_values_match(lines, index, has_unit)
}

/// Returns true if most values of a field are quoted and do not look like nginx's $request_time.
fn is_other_quoted(lines: &[CombinedFields], index: usize) -> bool {
    let is_other = |rest: &[u8], value: &[u8]| {
        let at = value.as_ptr() as usize - rest.as_ptr() as usize;
        let is_quoted = at > 0 && rest[at - 1] == b'"';
        let has_unit = value.last().is_some_and(u8::is_ascii_alphabetic);
        is_quoted && !has_unit && decimals(value) != 3
    };
    nearly_all_values_match(lines, index, is_other)
}

/// Returns the number of digits after the decimal point.
fn decimals(value: &[u8]) -> usize {
    let last = value.rsplit(|b| matches!(b, b' ' | b',')).next();
    let value = last.unwrap_or(value);
    memchr(b'.', value).map_or(0, |dot| value.len() - dot - 1)
}

/// Returns true if a field's value passes the test in at least 90 % of the lines that have a value.
///
/// `index` is the index of the field, from 0, among the fields after the agent.
fn nearly_all_values_match(
    lines: &[CombinedFields],
    index: usize,
    is_such: impl Fn(&[u8], &[u8]) -> bool,
) -> bool {
    let (mut such, mut all) = (0, 0);
    for line in lines {
        if let Some(value) = list_fields(line.rest).nth(index)
            && !is_missing(value)
        {
            all += 1;
            such += usize::from(is_such(line.rest, value));
        }
    }
    all > 0 && such * 10 >= all * 9
}

/// Returns true if a field's text, such as `-`, means that the duration is missing.
fn is_missing(value: &[u8]) -> bool {
    matches!(value, b"" | b"-" | b"-1")
}

/// Returns true if nearly all values of a field have three decimals, as nginx writes durations.
fn has_three_decimals(lines: &[CombinedFields], index: usize) -> bool {
    nearly_all_values_match(lines, index, |_, value| decimals(value) == 3)
}

/// The keys under which administrators log nginx's durations.
const NGINX_KEYS: [&[u8]; 5] = [
    b"rt=",
    b"request_time=",
    b"urt=",
    b"uct=",
    b"upstream_response_time=",
];

/// Returns the duration in a field if at least 90 % of the lines have a duration in that field.
///
/// At least `min_values` lines must have a duration. If the field is certainly a duration, the
/// other lines can lack the field or have `-` in it, which nginx writes if it contacted no upstream
/// server.
fn duration_at(
    lines: &[CombinedFields],
    key: &[u8],
    index: usize,
    min_values: usize,
) -> Option<Duration> {
    let mut evidence = UnitEvidence::default();
    let mut times = ClfTimes::default();
    let mut values: Vec<WrittenDuration> = Vec::new();
    let mut next_units: Vec<u64> = Vec::new();
    let (mut missing, mut own_times) = (0, 0);
    for line in lines {
        let mut fields = list_fields(line.rest);
        let mut matching = fields.by_ref().filter_map(|f| f.strip_prefix(key));
        let found = matching.nth(index).map(unquoted);
        missing += usize::from(found.is_none_or(is_missing));
        let Some(value) = found.and_then(written) else {
            continue;
        };
        next_units.extend(
            fields
                .next()
                .filter(|_| value.unit.is_none())
                .and_then(unit_of),
        );
        let time = times.read(line.time).map(|(time, _)| time as f64);
        own_times += usize::from(is_time(value.number, time));
        evidence.add(value.number, time);
        values.push(value);
    }
    let present = lines.len() - missing;
    let is_rare = values.len() < min_values.max(1);
    if is_rare || values.len() * 10 < present * 9 || own_times * 10 >= values.len() * 9 {
        return None;
    }
    let finest = values.iter().max_by_key(|value| value.decimals)?;
    let has_unit_field = next_units.len() * 10 >= values.len() * 9;
    let smallest_written = match has_unit_field {
        true => next_units.into_iter().min(),
        false => values.iter().filter_map(|value| value.unit).min(),
    };
    let three = values.iter().filter(|value| value.decimals == 3).count();
    let has_three = three * 10 >= values.len() * 9;
    let is_certain = !key.is_empty() || smallest_written.is_some() || has_three;
    if values.len() * 10 < lines.len() * 9 && !is_certain {
        return None;
    }
    let is_unit_written = smallest_written.is_some();
    let (scale, possible) = match smallest_written {
        Some(unit) => (unit, Vec::new()),
        None => bare_unit(&evidence, &values, finest.decimals),
    };
    // nginx writes its durations in seconds with three decimals.
    const S: u64 = 1_000_000_000;
    let is_nginx = three == values.len() && NGINX_KEYS.contains(&key) && possible.contains(&S);
    let scale = if is_nginx { S } else { scale };
    Some(Duration {
        key: key.into(),
        index,
        scale,
        step: (scale / 10_u64.pow(finest.decimals.min(9))).max(1),
        possible,
        is_choice: false,
        is_bare_number: false,
        has_unit_field,
        is_unit_given: false,
        is_unit_written: !has_unit_field && is_unit_written,
        field_count: None,
    })
}

/// Returns true if a number is the time of the line itself, in s, ms, µs or ns since 1970.
///
/// A line is written when its request ends, so the two times differ by at most a few days.
fn is_time(number: f64, line_s: Option<f64>) -> bool {
    const MAX_DIFFERENCE_S: f64 = 4.0 * 86_400.0;
    line_s.is_some_and(|line_s| {
        [1.0, 1e3, 1e6, 1e9]
            .iter()
            .any(|scale| (number / scale - line_s).abs() < MAX_DIFFERENCE_S && line_s > 1e8)
    })
}

/// Returns the likely unit of durations without a written unit, and all possible units.
///
/// Apache writes µs (`%D`), ms (`%{ms}T`) or s (`%T`), Tomcat ms or µs, nginx and gunicorn s with a
/// fraction, Node's morgan ms with a fraction.
fn bare_unit(
    evidence: &UnitEvidence,
    values: &[WrittenDuration],
    decimals: u32,
) -> (u64, Vec<u64>) {
    let fraction = |count: usize| count as f64 / values.len() as f64;
    if decimals > 0 {
        // No request takes less than 20 µs, so a program that logs such values does not write ms.
        let short = values.iter().filter(|v| v.number < MIN_DECIMAL_MS).count();
        if fraction(short) >= MIN_SHORT_FRACTION {
            return (1_000_000_000, vec![1_000_000_000]);
        }
        let possible = evidence.possible(&[1_000_000, 1_000_000_000]);
        let likely = evidence.likely(&possible);
        return (
            *likely.last().unwrap_or(&possible[possible.len() - 1]),
            possible,
        );
    }
    // No request takes less than 1 µs either.
    let zeros = values.iter().filter(|v| v.number == 0.0).count();
    let units: &[u64] = if fraction(zeros) >= 0.1 {
        &[1_000_000, 1_000_000_000]
    } else {
        &[1_000, 1_000_000, 1_000_000_000]
    };
    let possible = evidence.possible(units);
    let likely = evidence.likely(&possible);
    (*likely.first().unwrap_or(&possible[0]), possible)
}

/// The smallest plausible decimal number of milliseconds.
const MIN_DECIMAL_MS: f64 = 0.02;
/// The fraction of durations below [`MIN_DECIMAL_MS`] that rules out ms as the unit.
const MIN_SHORT_FRACTION: f64 = 0.02;

/// A field's number, which may be a duration.
struct WrittenDuration {
    number: f64,
    decimals: u32,
    /// The unit after the number, in ns.
    unit: Option<u64>,
}

fn written(value: &[u8]) -> Option<WrittenDuration> {
    if is_list(value) {
        let ns = sum_ns(value)?;
        return Some(WrittenDuration {
            number: ns as f64 / 1e9,
            decimals: decimals(value) as u32,
            unit: None,
        });
    }
    let end = value.iter().position(|b| !b.is_ascii_digit() && *b != b'.');
    let (digits, suffix) = value.split_at(end.unwrap_or(value.len()));
    scaled(digits, 1)?;
    let unit = match (suffix, unit_of(suffix)) {
        (b"", _) => None,
        (_, Some(unit)) => Some(unit),
        _ => {
            let ns = go_duration(value)?;
            return Some(WrittenDuration {
                number: ns as f64,
                decimals: 0,
                unit: Some(1),
            });
        }
    };
    let dot = memchr(b'.', digits);
    Some(WrittenDuration {
        number: std::str::from_utf8(digits).ok()?.parse().ok()?,
        decimals: dot.map_or(0, |dot| (digits.len() - dot - 1) as u32),
        unit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"h:80 127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.0" 200 2326 "http://x/\"y" "A \"B\" C" 1234"#;

    fn parsed(line: &str) -> Option<Entry<'_>> {
        let duration = find_duration(&[line.as_bytes()])?;
        Combined::new(duration).parse(line.as_bytes())
    }

    #[test]
    fn a_line_is_read() {
        let entry = parsed(LINE).expect("an entry");
        assert_eq!(entry.time_s, Some(971_211_336));
        assert_eq!((entry.method, entry.target), (&b"GET"[..], &b"/a?b=c"[..]));
        assert_eq!((entry.status, entry.bytes), (200, 2326));
        assert_eq!(entry.agent, br#"A \"B\" C"#);
        assert_eq!(entry.duration_ns, Some(1_234_000));
    }

    #[test]
    fn no_field_reaches_into_the_next_line() {
        let mut combined = Combined::new(None);
        let mut length = |text: &str| {
            combined
                .parse_ahead(text.as_bytes(), Baseline)
                .map(|(_, n)| n)
        };
        assert_eq!(length(&format!("{LINE}\nx")), Some(LINE.len() + 1));
        assert_eq!(length(LINE), None);
        let ends = LINE
            .match_indices([' ', '"', 'z', '['])
            .map(|(index, _)| index);
        for index in ends.filter(|index| *index < LINE.len() - 20) {
            let two_lines = format!("{}\n{}\n", &LINE[..index], &LINE[index + 1..]);
            let first = two_lines.find('\n').map(|end| end + 1);
            assert!(
                length(&two_lines).is_none_or(|n| Some(n) == first),
                "{two_lines}"
            );
        }
    }

    #[test]
    fn durations_are_found_by_their_form() {
        let with = |tail: &str| {
            let line = LINE.replace(" 1234", tail);
            parsed(&line).expect("an entry").duration_ns
        };
        assert_eq!(with(" 0.123"), Some(123_000_000));
        assert_eq!(with(" 512 0.250 0.240 ."), Some(250_000_000));
        assert_eq!(with(" rt=0.005 uct=\"0.000\""), Some(5_000_000));
        assert_eq!(with(" \"0.007\""), Some(7_000_000));
        // nginx's $gzip_ratio, alone and before durations.
        assert_eq!(with(" \"2.35\""), None);
        assert_eq!(with(" \"2.35\" \"0.007\""), Some(7_000_000));
        assert_eq!(with(" \"2.35\" 1500"), Some(1_500_000));
        assert_eq!(with(" 2.35 0.007"), Some(7_000_000));
        assert_eq!(with(" \"17ms\""), Some(17_000_000));
        assert_eq!(with(" 17ms"), Some(17_000_000));
        // Traefik: a counter, two names, and the duration with its unit.
        assert_eq!(
            with(" 162 \"r\" \"http://172.17.0.3:80\" 22ms"),
            Some(22_000_000)
        );
        assert_eq!(with(" 1.5s"), Some(1_500_000_000));
        assert_eq!(with(" 1m2.5s"), Some(62_500_000_000));
        assert_eq!(with(" rt=\"0.005\" uct=\"0.000\""), Some(5_000_000));
        // nginx's $upstream_response_time is a list if there were multiple servers.
        assert_eq!(with(" 0.010, 0.020 : 0.3 0.480"), Some(480_000_000));
        assert_eq!(with(" 0.480 0.010, 0.020"), Some(480_000_000));
        assert_eq!(with(" 0.010, 0.020 : -"), Some(30_000_000));
        assert_eq!(with(" 512 1024"), None);
        assert_eq!(with(""), None);
        assert_eq!(with(" -"), None);
    }

    #[test]
    fn unknown_units_are_reported() {
        let possible = |tails: &[&str]| {
            let lines: Vec<String> = (0..20)
                .map(|i| LINE.replace(" 1234", tails[i % tails.len()]))
                .collect();
            let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
            let duration = find_duration(&lines).flatten().expect("a duration");
            (unit_name(duration.scale), duration.possible.len())
        };
        assert_eq!(possible(&[" 1234", " 1230"]), ("µs", 2));
        // In ms or s, the duration would be longer than any request.
        assert_eq!(possible(&[" 25000000", " 24000000"]), ("µs", 1));
        // 4 min are unusual, but possible.
        assert_eq!(possible(&[" 250000", " 240000"]), ("µs", 2));
        assert_eq!(possible(&[" 0", " 1"]), ("ms", 2));
        assert_eq!(possible(&[" 0.000", " 1.250"]), ("s", 1));
        // nginx's s or morgan's ms.
        assert_eq!(possible(&[" 1.250"]), ("s", 2));
        assert_eq!(possible(&[" 45.250"]), ("ms", 2));
        assert_eq!(possible(&[" rt=45.250"]), ("s", 2));
        assert_eq!(possible(&[" 4500.250"]), ("ms", 1));
        assert_eq!(possible(&[" rt=12"]), ("µs", 3));
        assert_eq!(possible(&[" rt=12ms"]), ("ms", 0));
    }

    fn assumptions_of(tails: &[&str]) -> Vec<LogAssumption> {
        let tail = |i: usize| tails[i * tails.len() / 200].replace('#', &(i % 7).to_string());
        let line = |i: usize| LINE.replace(" 1234", &tail(i));
        let lines: Vec<String> = (0..200).map(line).collect();
        let sample: Vec<&[u8]> = lines[..20].iter().map(String::as_bytes).collect();
        let mut combined = Combined::new(find_duration(&sample).flatten());
        lines.iter().for_each(|line| {
            combined.parse(line.as_bytes());
        });
        combined.assumptions()
    }

    #[test]
    fn the_longest_of_multiple_times_is_the_duration() {
        let durations = |tail: &str| {
            let line = LINE.replace(" 1234", tail);
            let found = find_duration(&[line.as_bytes()]).flatten();
            found.map(|d| (d.index, d.is_choice))
        };
        assert_eq!(durations(" 0.001 0.010 0.480"), Some((2, false)));
        assert_eq!(durations(" 0.480 0.480"), Some((0, false)));
        let lines = [" 0.010 0.480", " 0.480 0.010"].map(|tail| LINE.replace(" 1234", tail));
        let lines = lines.each_ref().map(String::as_bytes);
        let found = find_duration(&lines).flatten().expect("a duration");
        assert_eq!((found.index, found.is_choice), (0, true));
        let assumptions = Combined::new(Some(found)).assumptions();
        assert!(matches!(
            assumptions[0],
            LogAssumption::DurationField { .. }
        ));
    }

    /// Parses 20 lines with `bytes` as the number of bytes and `tail` as the text after the agent.
    ///
    /// Returns the durations of the first two lines, in ns, and the assumptions. In both texts, `#`
    /// stands for a number that increases from line to line, and `~` for a number that goes up and
    /// down.
    fn durations_and_assumptions(
        bytes: &str,
        tail: &str,
    ) -> (Vec<Option<u64>>, Vec<LogAssumption>) {
        let line = |i: usize| {
            let line = LINE.replace(" 2326", bytes).replace(" 1234", tail);
            let line = line.replace('#', &(10 + i).to_string());
            line.replace('~', &(i * 7 % 10).to_string())
        };
        let lines: Vec<String> = (0..20).map(line).collect();
        let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
        let mut combined = Combined::new(find_duration(&lines).flatten());
        let entries = lines.iter().filter_map(|line| combined.parse(line));
        let durations: Vec<_> = entries.map(|entry| entry.duration_ns).collect();
        (durations[..2].to_vec(), combined.assumptions())
    }

    #[test]
    fn a_whole_number_alone_is_only_assumed_to_be_a_duration() {
        let (durations, assumptions) = durations_and_assumptions(" 5", " 9~1234");
        assert_eq!(durations, [Some(901_234_000), Some(971_234_000)]);
        let bare = |assumption: &LogAssumption| match assumption {
            LogAssumption::BareNumber {
                unit_ns, others_ns, ..
            } => (*unit_ns, others_ns.clone()),
            other => panic!("{other:?}"),
        };
        // In ms, the requests of a second would take 15 minutes each.
        assert_eq!(bare(&assumptions[0]), (1_000, vec![]));
        let (_, assumptions) = durations_and_assumptions(" 5", " 1~34");
        assert_eq!(bare(&assumptions[0]), (1_000, vec![1_000_000]));
        // ngx_http_core_module: $connection is a serial number. mod_logio: %O includes headers.
        for (bytes, tail) in [
            (" 5", " 47283#"),
            (" 5", " 4728391"),
            (" 2~0037", " 2~0347"),
        ] {
            let found = durations_and_assumptions(bytes, tail);
            assert_eq!(found, (vec![None, None], vec![]), "{tail}");
        }
        // Names, units and fractions identify durations.
        for tail in [" rt=9~1234", " 9~ms", " 0.9~1"] {
            let (_, assumptions) = durations_and_assumptions(" 5", tail);
            let is_bare = |a: &LogAssumption| matches!(a, LogAssumption::BareNumber { .. });
            assert!(!assumptions.iter().any(is_bare), "{tail}");
        }
    }

    /// morgan's `:response-time ms`.
    #[test]
    fn a_unit_can_be_its_own_word() {
        for (tail, first_ns) in [
            (" 0.2#0 ms", 210_000),
            (" 1~0 ms", 100_000_000),
            (" 5.1# ms 5", 5_110_000),
            (" rt=2#.5 us", 210_500),
            (" 1~ sec", 10_000_000_000),
        ] {
            let (durations, assumptions) = durations_and_assumptions(" 5", tail);
            assert_eq!(durations[0], Some(first_ns), "{tail}");
            assert_eq!(assumptions, [], "{tail}");
        }
    }

    #[test]
    fn durations_whose_form_changes_are_reported() {
        let is_mixed = |tails: &[&str]| {
            let assumptions = assumptions_of(tails);
            let mixed = |a: &LogAssumption| matches!(a, LogAssumption::MixedForms { .. });
            assumptions.iter().any(mixed)
        };
        assert!(is_mixed(&[" 48012#", " 1.480"]) && is_mixed(&[" 0.480", " 0.250", " 480"]));
        assert!(!is_mixed(&[" 48012#", " 250000"]) && !is_mixed(&[" 0.480", " 0.250"]));
        assert!(!is_mixed(&[" 480ms", " 1.5s"]));
    }

    #[test]
    fn brackets_before_the_time_belong_to_addresses() {
        let line = LINE.replace("h:80", "[2001:db8::1]:80");
        assert_eq!(parsed(&line), parsed(LINE));
        let line = LINE.replace("frank", "[10/Oct/2000:13:55:36 -0700]");
        assert_eq!(parsed(&line), parsed(LINE));
    }

    #[test]
    fn requests_other_than_http_are_parsed() {
        let line = LINE.replace("GET /a?b=c HTTP/1.0", r"\x16\x03\x01");
        let entry = parsed(&line).expect("an entry");
        assert_eq!(
            (entry.method, entry.target),
            (&b""[..], &br"\x16\x03\x01"[..])
        );
        assert_eq!(method_and_target(b"GET / HTTP/2"), (&b"GET"[..], &b"/"[..]));
        assert_eq!(
            method_and_target(b"GET /a b HTTP/1.1"),
            (&b"GET"[..], &b"/a b"[..])
        );
        assert!(
            parsed("127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 2x0 1").is_none()
        );
    }
}
