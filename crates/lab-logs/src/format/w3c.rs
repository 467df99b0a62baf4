// SPDX-License-Identifier: Apache-2.0
//! Parses the extended log format of the W3C, which IIS and CloudFront write.
//!
//! A line `#Fields:` names the fields of the lines that follow. Times are in UTC, except in the
//! logs of WebLogic.
//!
//! Source: W3C WD-logfile-960323; IIS 10, *W3C logging*; IIS *Advanced Logging*; CloudFront,
//! *standard logging*; Tomcat 10.1, ExtendedAccessLogValve; Blue Coat SGOS, *access log formats*;
//! HTTP.sys, *error logging*; WebLogic Server 14.1.1, *WebServerLogMBean* (`LogTimeInGMT`).

use super::units::{TimedCount, UnitCheck, UnitEvidence, absurd_unit, assumed_unit, contradiction};
use crate::entry::{Entry, LineKind};
use crate::route::printable;
use crate::time::{Zone, iso, number, scaled};
use lab_model::{LogAdvice, LogAssumption};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// The beginning of the line that names the fields of the lines that follow.
const FIELDS: &[u8] = b"#Fields:";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum W3cField {
    Skip,
    Date,
    Time,
    LocalDate,
    LocalTime,
    Method,
    Stem,
    Status,
    Bytes,
    Agent,
    Duration,
    /// A duration. The number is the unit that the field's name implies, in ns.
    DurationIn(u64),
}

/// A parser of W3C lines.
#[derive(Clone, Debug, Default)]
pub struct W3c {
    /// The time zone for local times and for determining a request's hour of the day.
    pub zone: Zone,
    /// The unit of durations that the user specified, in ns.
    unit: Option<u64>,
    fields: Vec<W3cField>,
    /// True until a `#Fields:` line was read, because the fields are unknown before it.
    lacks_header: bool,
    /// The unit of durations in ns, if the producer or the form of the durations determines it.
    known_unit: Option<u64>,
    /// The last `#Software:` line, or empty if there was none.
    software: Vec<u8>,
    /// True if `known_unit` follows from the form of the durations rather than from the producer.
    is_unit_by_form: bool,
    /// True if any duration in the sample has a fraction.
    has_fraction: bool,
    possible: Vec<u64>,
    check: UnitCheck,
    has_assumed: bool,
    /// True if the fields `date` and `time` are in the server's zone.
    is_local: bool,
    timed: TimedCount,
    /// The first field for a duration.
    duration_field: String,
    /// The number of durations that cannot be parsed.
    unparsed: u64,
    /// The first duration that cannot be parsed.
    unparsed_example: String,
    /// Midnight of the current day, in seconds since 1970 as if it were UTC, and the last time in
    /// that day, in seconds since midnight.
    ///
    /// Used for logs whose lines have no date.
    day: Option<(i64, i64)>,
    has_derived_days: bool,
    lacks_days: bool,
    /// True if any line had a field for a duration.
    has_durations: bool,
    /// The number of lines that describe connections without a request.
    connections: u64,
}

/// The content of a line other than a directive.
enum W3cLine<'l> {
    Request(Entry<'l>),
    /// A connection on which no request was made.
    Connection,
}

impl W3c {
    /// Creates a parser that has not seen any fields yet.
    pub fn new(zone: Zone, unit: Option<u64>) -> W3c {
        W3c {
            zone,
            unit,
            possible: vec![MS, S],
            ..W3c::default()
        }
    }

    /// Returns true if any line so far had a field for a duration.
    pub fn has_durations(&self) -> bool {
        self.has_durations
    }

    /// Returns true if timestamps are in the server's zone rather than in UTC.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Determines the unit of durations from the first lines of a log.
    pub fn sample(&mut self, lines: &[&[u8]]) {
        let mut evidence = UnitEvidence::default();
        let mut sampled = self.clone();
        sampled.lacks_header = self.fields.is_empty();
        for line in lines {
            let is_header = line.starts_with(FIELDS);
            if !line.is_empty() && line[0] != b'#' && sampled.lacks_header {
                self.lacks_header = true;
            }
            sampled.line(line, &mut |_| {});
            if is_header && self.fields.is_empty() {
                self.fields.clone_from(&sampled.fields);
            }
            let fields = sampled.fields.iter().zip(words(line));
            let durations = fields.filter(|(field, _)| **field == W3cField::Duration);
            for (_, word) in durations {
                if let Some(text) = std::str::from_utf8(word)
                    .ok()
                    .filter(|_| !line.starts_with(b"#"))
                {
                    text.parse::<f64>()
                        .into_iter()
                        .for_each(|d| evidence.add(d, None));
                }
            }
        }
        (self.has_durations, self.known_unit) = (sampled.has_durations, sampled.known_unit);
        self.is_local = sampled.is_local;
        self.is_unit_by_form = sampled.is_unit_by_form && self.known_unit.is_some();
        self.has_fraction = evidence.has_fraction();
        // Seconds with a fraction follow the W3C draft, whereas IIS writes whole ms.
        if self.has_fraction && self.known_unit.is_none() {
            (self.known_unit, self.is_unit_by_form) = (Some(S), true);
        }
        self.possible = evidence.possible(&[MS, S]);
    }

    /// Returns the unit of durations that contain no unit, in ns, or `None` if the user specified
    /// the unit.
    pub fn bare_unit(&self) -> Option<u64> {
        let is_bare = self.unit.is_none() && self.fields.contains(&W3cField::Duration);
        is_bare.then(|| self.known_unit.unwrap_or(self.possible[0]))
    }

    /// Continues the log whose previous file `before` read if `lines` have the same fields.
    ///
    /// Lines before the first `#Fields:` line have the fields of the previous file. The unit of
    /// durations is taken from the previous file unless the lines show another unit. The current
    /// day is taken from the previous file if the lines begin when that file ended. A `#Date:` line
    /// corrects the day.
    pub fn continue_log(&mut self, before: &W3c, lines: &[&[u8]], is_sure: bool) {
        if std::mem::take(&mut self.lacks_header) {
            self.fields.clone_from(&before.fields);
        }
        if self.software.is_empty() {
            self.software.clone_from(&before.software);
        }
        if self.fields == before.fields || is_sure {
            self.is_local |= before.is_local && self.software == before.software;
            let is_next = |day: &(i64, i64)| is_sure || self.is_next_hour(*day, lines);
            self.day = before.day.filter(is_next);
            // A unit that followed from fractions does not apply to whole numbers.
            let is_other_form = before.is_unit_by_form && before.has_fraction && !self.has_fraction;
            if self.known_unit.is_none() && self.possible.len() > 1 && !is_other_form {
                self.known_unit = before.known_unit;
                self.is_unit_by_form = before.is_unit_by_form;
                self.has_fraction = before.has_fraction;
                self.possible.clone_from(&before.possible);
            }
        }
    }

    /// Returns a parser of lines that have this parser's fields but no `#Fields:` line.
    ///
    /// Returns `None` if most lines do not have these fields.
    pub fn without_header(&self, lines: &[&[u8]]) -> Option<W3c> {
        let mut next = self.clone();
        let fitting = lines.iter().filter(|line| next.parse(line).is_some());
        if fitting.count() * 2 <= lines.len() {
            return None;
        }
        next = W3c {
            fields: self.fields.clone(),
            has_durations: self.has_durations,
            is_local: self.is_local,
            duration_field: self.duration_field.clone(),
            known_unit: self.known_unit.filter(|_| !self.is_unit_by_form),
            ..W3c::new(self.zone.clone(), self.unit)
        };
        next.sample(lines);
        Some(next)
    }

    /// Returns true if the time of the first line is within an hour of the last time in `day`.
    fn is_next_hour(&self, day: (i64, i64), lines: &[&[u8]]) -> bool {
        let mut sampled = self.clone();
        sampled.day = Some(day);
        let is_entry = |line: &&&[u8]| line.first() != Some(&b'#');
        let first = lines
            .iter()
            .filter(is_entry)
            .find_map(|line| match sampled.parse(line) {
                Some(W3cLine::Request(entry)) => Some(entry),
                _ => None,
            });
        let time_s = first.and_then(|entry| entry.time_s);
        time_s.is_some_and(|time_s| (time_s - day.0 - day.1).abs() <= HOUR)
    }

    /// Parses a line and passes its entry to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if line.first() == Some(&b'#') {
            self.directive(line);
            return LineKind::Other;
        }
        match self.parse(line) {
            Some(W3cLine::Request(entry)) => {
                if self.has_durations {
                    self.timed.add(entry.duration_ns);
                }
                sink(&entry);
                LineKind::Entry
            }
            Some(W3cLine::Connection) => {
                self.connections += 1;
                LineKind::Other
            }
            None if line.is_empty() => LineKind::Other,
            None => LineKind::Malformed,
        }
    }

    fn directive(&mut self, line: &[u8]) {
        if let Some(names) = line.strip_prefix(FIELDS) {
            self.fields = words(names).map(field).collect();
            self.lacks_header = false;
            let is_duration =
                |f: &W3cField| matches!(f, W3cField::Duration | W3cField::DurationIn(_));
            let index = self.fields.iter().position(is_duration);
            self.has_durations |= index.is_some();
            if let Some(name) = index.and_then(|index| words(names).nth(index))
                && self.duration_field.is_empty()
            {
                self.duration_field = printable(name);
            }
            let has = |prefix: &[u8]| {
                words(names).any(|name| name.to_ascii_lowercase().starts_with(prefix))
            };
            if has(b"x-edge-") {
                self.known_unit = Some(S);
            } else if has(b"sc-win32-status")
                || has(b"sc-substatus")
                || has(b"s-sitename")
                || has(b"s-computername")
            {
                self.known_unit = Some(MS);
            }
        } else if line.starts_with(b"#Software:") {
            let is_other = !self.software.is_empty() && self.software != line;
            if is_other {
                self.is_unit_by_form = false;
            }
            self.known_unit = unit_of_software(line).or(self.known_unit.filter(|_| !is_other));
            self.is_local = memchr::memmem::find(line, b"WebLogic").is_some();
            self.software = line.to_vec();
        } else if let Some(date) = line
            .strip_prefix(b"#Date:")
            .or(line.strip_prefix(b"#Start-Date:"))
            && let Some((time, _)) = date.trim_ascii().get(..19).and_then(iso)
        {
            self.day = Some((time - time.rem_euclid(DAY), time.rem_euclid(DAY)));
        }
    }

    fn parse<'a>(&mut self, line: &'a [u8]) -> Option<W3cLine<'a>> {
        if self.lacks_header {
            return None;
        }
        let mut entry = Entry::default();
        let (mut date, mut time): (&[u8], &[u8]) = (b"", b"");
        let (mut local_date, mut local_time): (&[u8], &[u8]) = (b"", b"");
        let mut duration: &[u8] = b"";
        let mut values = words(line);
        for field in &self.fields {
            let word = values.next()?;
            match field {
                W3cField::Skip => {}
                W3cField::Date => date = word,
                W3cField::Time => time = word,
                W3cField::LocalDate => local_date = word,
                W3cField::LocalTime => local_time = word,
                W3cField::Method => entry.method = word,
                W3cField::Stem => entry.target = word,
                W3cField::Status => {
                    entry.status = number(word).filter(|s| *s < 1000).unwrap_or(0) as u16
                }
                W3cField::Bytes => entry.bytes = number(word).unwrap_or(0),
                W3cField::Agent => entry.agent = word,
                W3cField::DurationIn(unit) => {
                    duration = word;
                    entry.duration_ns = scaled(word, *unit);
                }
                W3cField::Duration => {
                    let known_unit = self.unit.or(self.known_unit);
                    duration = word;
                    entry.duration_ns = scaled(word, known_unit.unwrap_or(self.possible[0]));
                    if self.unit.is_some() || known_unit.is_none() {
                        self.has_assumed |= entry.duration_ns.is_some() && known_unit.is_none();
                        entry
                            .duration_ns
                            .into_iter()
                            .for_each(|ns| self.check.count(ns));
                    }
                }
            }
        }
        // If a line has more words than fields, no word can be identified by its position.
        if values.next().is_some() || entry.target.is_empty() {
            return None;
        }
        if entry.target == b"-" {
            return Some(W3cLine::Connection);
        }
        if entry.duration_ns.is_none() && !matches!(duration, b"" | b"-") {
            self.unparsed += 1;
            if self.unparsed_example.is_empty() {
                self.unparsed_example = crate::tally::name(&printable(duration));
            }
        }
        if self.is_local && local_date.is_empty() {
            (local_date, local_time) = (std::mem::take(&mut date), time);
        }
        match (date, time, local_date, local_time) {
            ([_, ..], time, ..) => {
                let utc = seconds(date, time)?;
                (entry.time_s, entry.offset_s) = (Some(utc), self.zone.offset_at(utc));
            }
            (_, _, [_, ..], time) => {
                let local = seconds(local_date, time)?;
                let offset = self.zone.offset_of_local(local);
                (entry.time_s, entry.offset_s) = (Some(local - i64::from(offset)), offset);
            }
            (_, time @ [_, ..], ..) => {
                let clock = seconds(b"1970-01-01", time)?;
                entry.time_s = self.time_of_day(clock);
                if self.is_local
                    && let Some(local) = entry.time_s
                {
                    entry.offset_s = self.zone.offset_of_local(local);
                    entry.time_s = Some(local - i64::from(entry.offset_s));
                } else {
                    entry.offset_s = entry.time_s.map_or(0, |utc| self.zone.offset_at(utc));
                }
            }
            _ => self.lacks_days = true,
        }
        Some(W3cLine::Request(entry))
    }

    /// Returns the time of a line without a date.
    ///
    /// The day is the day of the `#Date:` line or a later day.
    fn time_of_day(&mut self, clock: i64) -> Option<i64> {
        let Some((midnight, last)) = &mut self.day else {
            self.lacks_days = true;
            return None;
        };
        self.has_derived_days = true;
        let step = clock - *last;
        // Lines are written when requests end, so timestamps can go back a little, even across
        // midnight.
        if step < -HOUR {
            *midnight += DAY;
        } else if step > 23 * HOUR {
            return Some(*midnight - DAY + clock);
        }
        *last = clock;
        Some(*midnight + clock)
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let is_open = self.has_assumed && self.possible.len() > 1;
        let unit = self.known_unit.unwrap_or(self.possible[0]);
        let about_unit = match self.unit {
            Some(unit) => absurd_unit(&self.check, "time-taken", unit),
            None => contradiction(&self.check, "time-taken", unit)
                .or_else(|| is_open.then(|| assumed_unit("time-taken", unit, &self.possible))),
        };
        let unparsed = (self.unparsed > 0).then(|| LogAssumption::UnparsedDurations {
            field: self.duration_field.clone(),
            example: self.unparsed_example.clone(),
            requests: self.unparsed,
        });
        unparsed.into_iter().chain(about_unit).collect()
    }

    /// Returns advice about data that was inferred or is missing.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = Vec::new();
        if self.has_derived_days {
            advice.push(LogAdvice::DatesDerived);
        }
        if self.lacks_days {
            advice.push(LogAdvice::NoDates);
        }
        if !self.has_durations {
            advice.push(LogAdvice::NoTimeTaken);
        }
        if self.unparsed == 0 {
            advice.extend(self.timed.advice(&self.duration_field));
        }
        if self.connections > 0 {
            advice.push(LogAdvice::ConnectionLines {
                lines: self.connections,
            });
        }
        advice
    }
}

/// Returns the unit in which the program of a `#Software:` line writes `time-taken`, in ns.
fn unit_of_software(line: &[u8]) -> Option<u64> {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if has(b"Internet Information Services") || has(b"IIS") || has(b"SGOS") {
        Some(MS)
    } else {
        has(b"Tomcat").then_some(S)
    }
}

/// Returns the seconds since 1970 of a date and a time, as if both were in UTC.
fn seconds(date: &[u8], time: &[u8]) -> Option<i64> {
    let mut text = [b' '; 19];
    text[..10].copy_from_slice(date.get(..10)?);
    text[11..].copy_from_slice(time.get(..8)?);
    Some(iso(&text)?.0)
}

/// Splits a line into words at blanks, or into fields at tabs.
///
/// A quoted text is one word, in which `""` is a quotation mark.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let has_tabs = line.contains(&b'\t');
    let is_separator = move |b: &u8| *b == b'\t' || (*b == b' ' && !has_tabs);
    let mut rest = line;
    std::iter::from_fn(move || {
        let begin = rest.iter().position(|b| !matches!(b, b' ' | b'\t'))?;
        rest = &rest[begin..];
        if let [b'"', inner @ ..] = rest
            && let Some(end) = closing(inner)
            && inner.get(end + 1).is_none_or(is_separator)
        {
            rest = inner.get(end + 1..).unwrap_or_default();
            return Some(&inner[..end]);
        }
        let end = rest.iter().position(is_separator).unwrap_or(rest.len());
        let word;
        (word, rest) = rest.split_at(end);
        Some(word)
    })
}

/// Returns the index of the closing quotation mark.
fn closing(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'"', &text[at..])?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn field(name: &[u8]) -> W3cField {
    match name.to_ascii_lowercase().as_slice() {
        b"date" => W3cField::Date,
        b"time" => W3cField::Time,
        b"date-local" => W3cField::LocalDate,
        b"time-local" => W3cField::LocalTime,
        b"cs-method" => W3cField::Method,
        b"cs-uri-stem" | b"cs-uri" | b"cs-uri-path" => W3cField::Stem,
        b"sc-status" => W3cField::Status,
        b"sc-bytes" | b"bytes" => W3cField::Bytes,
        b"cs(user-agent)" => W3cField::Agent,
        b"time-taken" => W3cField::Duration,
        b"time-taken-ns" => W3cField::DurationIn(1),
        b"time-taken-us" => W3cField::DurationIn(1_000),
        b"timetakenms" | b"time-taken-ms" => W3cField::DurationIn(MS),
        b"time-taken-s" | b"time-taken-fracsec" => W3cField::DurationIn(S),
        _ => W3cField::Skip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = (Option<i64>, Option<u64>, u16, String);

    /// Returns the entries of a log, and the number of malformed lines.
    fn read(log: &str) -> (Vec<Found>, usize) {
        let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
        let mut w3c = W3c::new(Zone::default(), None);
        w3c.sample(&lines);
        let (mut found, mut malformed) = (Vec::new(), 0);
        for line in lines {
            let kind = w3c.line(line, &mut |e: &Entry| {
                let target = String::from_utf8_lossy(e.target).into_owned();
                found.push((e.time_s, e.duration_ns, e.status, target));
            });
            malformed += usize::from(kind == LineKind::Malformed);
        }
        (found, malformed)
    }

    const T: i64 = 1_777_629_600;

    #[test]
    fn fields_follow_the_fields_line() {
        let log = "#Software: Microsoft Internet Information Services 10.0\n\
                   #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n\
                   2026-05-01 10:00:00 10.0.0.1 GET /default.htm - 80 - 10.0.0.2 Mozilla/5.0+(X) - 200 0 0 78\n\
                   2026-05-01 10:00:00 10.0.0.1 GET\n\
                   2026-05-01 10:00:00 10.0.0.1 GET /default.htm - 80 - 10.0.0.2 Mozilla/5.0 (X) - 200 0 0 78\n";
        let (found, malformed) = read(log);
        assert_eq!(
            found,
            [(Some(T), Some(78_000_000), 200, "/default.htm".into())]
        );
        assert_eq!(malformed, 2);
    }

    #[test]
    fn quoted_texts_are_one_field() {
        let log = "#Fields: date time cs-uri-stem cs(User-Agent) sc-status TimeTakenMS\n\
                   2026-05-01 10:00:00.190 /a \"Mozilla/5.0 (X) \"\"Y\"\"\" 500 2036\n\
                   2026-05-01 10:00:00 /b \"\" 200 1\n";
        let found = [
            (Some(T), Some(2_036_000_000), 500, "/a".into()),
            (Some(T), Some(1_000_000), 200, "/b".into()),
        ];
        assert_eq!(read(log), (found.to_vec(), 0));
    }

    #[test]
    fn days_follow_the_date_line_and_change_at_midnight() {
        let log = "#Software: IIS\n#Date: 2026-05-01 10:00:00\n#Fields: time cs-uri-stem sc-status time-taken\n\
                   10:00:01 /a 200 5\n23:59:59 /b 200 5\n00:00:01 /c 200 5\n23:59:58 /d 200 5\n14:00:00 /e 200 5\n13:59:59 /f 200 5\n";
        let (found, _) = read(log);
        let seconds: Vec<i64> = found
            .iter()
            .filter_map(|(time, ..)| Some((*time)? - T))
            .collect();
        assert_eq!(seconds, [1, 50_399, 50_401, 50_398, 100_800, 100_799]);
    }

    #[test]
    fn cloudfront_writes_seconds() {
        let log = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes cs-method cs-uri-stem sc-status time-taken\n\
                   2026-05-01\t10:00:00\tFRA2\t5\tGET\t/a\t200\t1\n";
        assert_eq!(
            read(log).0,
            [(Some(T), Some(1_000_000_000), 200, "/a".into())]
        );
    }

    #[test]
    fn the_unit_carries_over_to_the_next_file() {
        let fields = "#Fields: date time cs-uri-stem time-taken";
        let reader = |value: &str| {
            let line = format!("2026-05-01 10:00:00 /a {value}");
            let mut w3c = W3c::new(Zone::default(), None);
            w3c.sample(&[&[fields.as_bytes()][..], &[line.as_bytes(); 20]].concat());
            w3c
        };
        let duration_of = |own: &str, value: &str, software: &[u8]| {
            let mut w3c = reader(own);
            w3c.directive(software);
            w3c.continue_log(&reader(value), &[], false);
            let mut duration_ns = None;
            w3c.line(b"2026-05-01 10:00:00 /a 20", &mut |e: &Entry| {
                duration_ns = e.duration_ns
            });
            (duration_ns, w3c.assumptions().is_empty())
        };
        let duration_after = |value: &str, software: &[u8]| duration_of("20", value, software);
        let (in_ms, in_s) = (Some(20_000_000), Some(20_000_000_000));
        // Whole numbers after fractions can be in another unit.
        assert_eq!(duration_after("0.020", b""), (in_ms, false));
        assert_eq!(duration_after("2000", b""), (in_ms, true));
        assert_eq!(duration_after("20", b""), (in_ms, false));
        let iis = b"#Software: Microsoft Internet Information Services 10.0";
        assert_eq!(duration_after("0.020", iis), (in_ms, true));
        // A file's own durations take precedence over the durations of the previous file.
        assert_eq!(duration_of("2000", "0.020", b""), (in_ms, true));
        assert_eq!(duration_of("0.020", "2000", b""), (in_s, true));
    }

    /// Lines before the first `#Fields:` line have the fields of the previous file, if any.
    #[test]
    fn a_fields_line_applies_only_to_the_lines_below_it() {
        const LINE: &str = "2026-05-01 10:00:00 /a 200 78\n";
        const NAMED: &str = "#Fields: date time cs-uri-stem sc-status time-taken\n";
        const UNNAMED: &str = "#Fields: date time cs-uri-stem x-status time-taken\n";
        let statuses = |log: &str, before: &str| {
            let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
            let reader = |log: &str| {
                let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
                let mut w3c = W3c::new(Zone::default(), None);
                w3c.sample(&lines);
                w3c
            };
            let mut w3c = reader(log);
            if !before.is_empty() {
                let mut previous = reader(before);
                for line in before.lines() {
                    previous.line(line.as_bytes(), &mut |_| {});
                }
                w3c.continue_log(&previous, &lines, true);
            }
            let mut found = Vec::new();
            for line in lines {
                w3c.line(line, &mut |e: &Entry| found.push(e.status));
            }
            found
        };
        for (first, second, expected) in [(UNNAMED, NAMED, [0, 200]), (NAMED, UNNAMED, [200, 0])] {
            let log = format!("{first}{LINE}{second}{LINE}");
            assert_eq!(statuses(&log, ""), expected);
            // The same log in two files.
            assert_eq!(statuses(&format!("{LINE}{second}{LINE}"), first), expected);
            // The beginning of the log is missing.
            let rest = format!("{LINE}{second}{LINE}");
            assert_eq!(statuses(&rest, ""), expected[1..]);
        }
    }

    /// The example is from Tomcat 10.1, ExtendedAccessLogValve.
    #[test]
    fn tomcat_names_its_units_and_writes_seconds_otherwise() {
        let duration = |name: &str, value: &str| {
            let log = format!(
                "#Fields: date time cs-method cs-uri sc-status bytes {name}\n#Software: Apache Tomcat/10.1.24\n\
                 2026-05-01 10:00:00 GET /a 200 5 {value}\n"
            );
            read(&log).0[0].1
        };
        assert_eq!(duration("time-taken", "2"), Some(2_000_000_000));
        assert_eq!(duration("time-taken", "0.25"), Some(250_000_000));
        assert_eq!(duration("time-taken-fracsec", "0.25"), Some(250_000_000));
        assert_eq!(duration("time-taken-s", "2"), Some(2_000_000_000));
        assert_eq!(duration("time-taken-ms", "20"), Some(20_000_000));
        assert_eq!(duration("time-taken-us", "20"), Some(20_000));
        assert_eq!(duration("time-taken-ns", "20"), Some(20));
    }

    #[test]
    fn another_program_has_its_own_unit() {
        const FIELDS: &str = "#Fields: date time cs-uri-stem sc-status time-taken\n";
        let lines = |value: &str| format!("2026-05-01 10:00:00 /a 200 {value}\n").repeat(20);
        let durations = |second: &str, value: &str| {
            let first = format!("#Software: IIS\n{FIELDS}{}", lines("100"));
            let (found, _) = read(&format!(
                "{first}#Software: {second}\n{FIELDS}{}",
                lines(value)
            ));
            [found[0].1, found[20].1]
        };
        let tomcat = durations("Apache Tomcat/10.1.24", "0.1");
        assert_eq!(tomcat, [Some(100_000_000); 2]);
        assert_eq!(durations("SGOS 6.7.4.1", "7")[1], Some(7_000_000));
        assert_eq!(durations("Another 1.0", "0.1")[0], Some(100_000_000));
    }

    /// Reads all lines, and returns the first time, the assumptions and the advice.
    fn facts(log: &str, zone: Zone) -> (Option<i64>, Vec<LogAssumption>, Vec<LogAdvice>) {
        let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
        let mut w3c = W3c::new(zone, None);
        w3c.sample(&lines);
        let mut first = None;
        for line in lines {
            w3c.line(line, &mut |e: &Entry| first = first.or(e.time_s));
        }
        let mut assumptions = w3c.assumptions();
        assumptions.extend(super::super::zone_assumptions(&w3c.zone));
        (first, assumptions, w3c.advice())
    }

    /// WebLogic, WebServerLogMBean: LogTimeInGMT is false by default.
    #[test]
    fn weblogic_writes_local_times() {
        let log = |date: &str| {
            format!(
                "#Version: 1.0\n#Fields: {date}time cs-method cs-uri sc-status bytes time-taken\n\
                 #Software: WebLogic\n#Start-Date: 2026-05-01 10:00:00\n"
            )
        };
        let with_date = log("date ") + "2026-05-01\t10:00:00\tGET\t/a\t200\t5\t0.010\n";
        let without = log("") + "10:00:00\tGET\t/a\t200\t5\t0.010\n";
        for log in [&with_date, &without] {
            let (time_s, assumptions, _) = facts(log, Zone::default());
            assert_eq!(
                (time_s, &assumptions[..]),
                (Some(T), &[LogAssumption::NoZone][..])
            );
            let berlin = Zone::named("Europe/Berlin").expect("a zone");
            let (time_s, assumptions, _) = facts(log, berlin);
            assert_eq!((time_s, &assumptions[..]), (Some(T - 7_200), &[][..]));
        }
        let other = with_date.replace("WebLogic", "Apache Tomcat/10.1.24");
        assert_eq!(facts(&other, Zone::default()).1, []);
    }

    #[test]
    fn durations_that_are_missing_or_cannot_be_parsed_are_reported() {
        let log = |name: &str, value: &str| {
            let log = format!(
                "#Fields: date time cs-uri-stem sc-status {name}\n{}",
                format!("2026-05-01 10:00:00 /a 200 {value}\n").repeat(20)
            );
            let (_, assumptions, advice) = facts(&log, Zone::default());
            (assumptions, advice)
        };
        for name in ["time-taken", "time-taken-ms"] {
            let field: String = name.into();
            let empty = LogAdvice::NoDurationValues {
                field: field.clone(),
            };
            assert_eq!(log(name, "-"), (vec![], vec![empty]));
            let unparsed = LogAssumption::UnparsedDurations {
                field,
                example: "0,250".into(),
                requests: 20,
            };
            assert_eq!(log(name, "0,250"), (vec![unparsed], vec![]));
        }
    }

    /// HTTP.sys logs a connection that timed out before it sent a request.
    #[test]
    fn connections_without_a_request_are_other_lines() {
        let log = "#Fields: date time cs-version cs-method cs-uri sc-status s-siteid s-reason\n\
                   2026-05-01 10:00:00 - - - - - Timer_ConnectionIdle\n\
                   2026-05-01 10:00:00 HTTP/1.1 GET /a 503 1 AppOffline\n";
        assert_eq!(read(log), (vec![(Some(T), None, 503, "/a".into())], 0));
    }

    #[test]
    fn an_unknown_unit_is_reported() {
        let read_all = |value: &str| {
            let log = format!(
                "#Fields: date time cs-uri-stem time-taken\n{}",
                format!("2026-05-01 10:00:00 /a {value}\n").repeat(20)
            );
            let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
            let mut w3c = W3c::new(Zone::default(), None);
            w3c.sample(&lines);
            lines.iter().for_each(|line| {
                w3c.line(line, &mut |_| {});
            });
            w3c.assumptions().len()
        };
        // 20 could be seconds, 2,000 s are implausible for a request, and a fraction means seconds.
        assert_eq!(["20", "2000", "0.020"].map(read_all), [1, 0, 0]);
    }
}
