// SPDX-License-Identifier: Apache-2.0
//! Parses lines by a format in the server's configuration syntax: Apache's and Tomcat's `%h … %D`,
//! nginx's `$remote_addr …`.
//!
//! A field extends to the literal text that follows it in the format. If the field's value also
//! contains that text, later occurrences are tried until all fields have valid values and the last
//! value ends with the line. Only if no such values exist may the line have more fields than the
//! format.
//!
//! Source: Apache HTTP Server 2.4, mod_log_config, mod_logio; Tomcat 10, AccessLogValve; Jetty 12,
//! CustomRequestLog; Undertow 2, AccessLogHandler; nginx, ngx_http_log_module,
//! ngx_http_upstream_module and the alphabetical index of variables; Gunicorn 23,
//! access_log_format.

use super::combined::{is_escaped, method_and_target};
use super::configuration::log_format;
use super::time_format::{TimeFormat, TimeParts};
use super::units::{TimedCount, UnitCheck, absurd_unit, assumed_unit, contradiction, doubted_unit};
use super::upstream::{is_within_list, list_length, sum_ns};
use crate::entry::Entry;
use crate::time::{EPOCHS, Zone, clf, iso, iso_length, number, offset, scaled};
use lab_model::{LogAdvice, LogAssumption};
use memchr::memchr;
use memchr::memmem::Finder;
use std::collections::HashSet;

/// The maximum number of positions that are tried in a line for each [`SearchRules`].
const MAX_TRIES: usize = 2_000;

/// Units that the text next to `%D` can state.
const STATED_UNITS: [(u64, &[&str]); 2] = [
    (
        1_000_000,
        &[
            "ms",
            "msec",
            "msecs",
            "millis",
            "millisecond",
            "milliseconds",
        ],
    ),
    (
        1_000,
        &[
            "us",
            "\u{b5}s",
            "\u{3bc}s",
            "usec",
            "usecs",
            "micros",
            "microsecond",
            "microseconds",
        ],
    ),
];

/// The kind of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternField {
    /// Any string, including blanks if it is not quoted.
    Text,
    /// A string without blanks.
    Word,
    /// A number that is irrelevant to the request.
    Number,
    /// `10/Oct/2000:13:55:36 -0700`, optionally in its own brackets.
    Clf,
    Iso,
    /// The time since 1970, with or without a fraction.
    ///
    /// The number is the number of units per second: 1, 10^3 or 10^6.
    Epoch(u64),
    /// The fraction of a second.
    ///
    /// The number is the number of units per second: 10^3 or 10^6.
    Fraction(u64),
    Formatted(TimeFormat),
    /// Method, target and protocol.
    Request,
    Method,
    Target,
    /// Empty, or `?` and the query.
    Query,
    Status,
    /// The number of bytes sent.
    ///
    /// The number is a rank: the size of the body (rank 0) is preferred over other counts.
    Bytes(u8),
    Agent,
    /// The ID that a request and its statements share.
    Id,
    Duration {
        /// The number of nanoseconds per unit of the logged duration.
        scale: u64,
        /// The resolution of the logged duration, in ns.
        ///
        /// A value with more digits after the decimal point has a finer resolution.
        step: u64,
        basis: UnitBasis,
    },
    /// The bytes that Apache received, or the name of a Tomcat or Undertow thread.
    BytesOrThread,
    /// The sum of the response times of all upstream servers.
    UpstreamTime,
    /// A value for each upstream server, separated by `, ` or ` : `.
    UpstreamList,
}

/// The source of a duration's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitBasis {
    /// The server or the user defines the unit.
    Defined,
    /// The text next to the field states the unit, as in `(%D ms)`.
    Stated,
    /// The unit is assumed to be Apache's unit, although other servers write this field in a
    /// different unit.
    Assumed,
}

/// A field of a format.
#[derive(Clone, Debug)]
struct FormatField {
    /// The literal text between the previous field and this field.
    before: String,
    /// The field as the format names it.
    name: String,
    field: PatternField,
    /// The rank of the field if the format contains the same field more than once.
    ///
    /// After an internal redirect, the values of the fields differ, and the lowest rank is used.
    rank: u8,
}

/// A field and the literal text that terminates it.
#[derive(Clone, Debug)]
struct PatternPiece {
    /// The field as the format names it.
    name: String,
    field: PatternField,
    terminator: Finder<'static>,
    /// True if the field is in quotation marks. Quotation marks within it are written as `\"`.
    is_quoted: bool,
    /// True unless the same field with a lower rank is used instead.
    is_used: bool,
}

/// A compiled format.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The time zone for timestamps without an offset.
    pub zone: Zone,
    before: Vec<u8>,
    pieces: Vec<PatternPiece>,
    /// The positions of the values in the last line.
    spans: Vec<(usize, usize)>,
    has_date: bool,
    /// True if the format has a time with a day but without a year.
    lacks_year: bool,
    /// True if a time can be split into multiple fields.
    has_parts: bool,
    /// True if the lines have more fields than the format.
    has_more_fields: bool,
    /// True if hours are from 1 to 12 without AM or PM.
    lacks_half_day: bool,
    /// The number of requests.
    requests: u64,
    /// The number of requests in lines with more fields than the format.
    longer: u64,
    /// The count of requests with and without a duration.
    timed: TimedCount,
    /// The field that contains the durations, as written in the format.
    duration_name: Option<String>,
    /// The unit of `%D` that the user specified, in ns.
    given_unit: Option<u64>,
    /// True if the format or a line shows a sign of Tomcat or Undertow, whose `%D` can be in ms.
    has_java_marks: bool,
    /// The check of the durations whose unit the server does not define.
    check: UnitCheck,
    /// The number of durations whose unit the server does not define.
    checked: u64,
    /// The number of durations among `checked` that are zero.
    zeros: u64,
    /// The number of lines in which another duration contradicts the assumed unit.
    contradictions: u64,
    /// The finest resolution of the durations so far, in ns.
    finest_ns: Option<u64>,
    /// The reason why none of the first lines fits, if none does.
    mismatch: Option<LogAdvice>,
}

/// The durations of one line.
#[derive(Clone, Copy, Debug, Default)]
struct LineDurations {
    /// The duration with the finest resolution among the durations with a known unit.
    known: Option<LineDuration>,
    /// The duration with an assumed unit.
    assumed: Option<LineDuration>,
}

#[derive(Clone, Copy, Debug)]
struct LineDuration {
    ns: u64,
    /// The resolution, in ns.
    step: u64,
    /// True if the value has a finer resolution than the field's usual resolution.
    is_finer: bool,
    basis: UnitBasis,
}

/// The rules for finding the values in a line.
#[derive(Clone, Copy, Debug)]
struct SearchRules {
    /// True if quotation marks within a quoted string are written as `\"`.
    has_escapes: bool,
    /// True if unquoted strings can contain blanks.
    has_blanks: bool,
    /// True if more fields may follow the fields of the format.
    has_more_fields: bool,
}

impl SearchRules {
    const fn new(has_escapes: bool, has_blanks: bool, has_more_fields: bool) -> SearchRules {
        SearchRules {
            has_escapes,
            has_blanks,
            has_more_fields,
        }
    }
}

/// The rules in the order in which they are tried: first the form that servers write, then blanks
/// in fields that clients control, then quotation marks without escapes.
///
/// A client can write any text into the fields that it controls. If that text could end the
/// format's fields before the end of the line, the client could choose a duration or status.
/// Therefore, all forms are first tried on the condition that the last value ends with the line.
/// Only then are more fields allowed.
const RULES: [SearchRules; 6] = [
    SearchRules::new(true, false, false),
    SearchRules::new(true, true, false),
    SearchRules::new(false, true, false),
    SearchRules::new(true, false, true),
    SearchRules::new(true, true, true),
    SearchRules::new(false, true, true),
];
/// The rules for a log whose lines have more fields than the format, so that text after a closing
/// quotation mark is another field.
const RULES_WITH_MORE_FIELDS: [SearchRules; 6] =
    [RULES[0], RULES[1], RULES[3], RULES[4], RULES[2], RULES[5]];

impl Pattern {
    /// Compiles a format.
    ///
    /// `unit` is the unit of `%D` in ns, if the unit differs from Apache's unit. Returns an error
    /// if the format has an unknown field or no request.
    pub fn new(format: &str, zone: Zone, unit: Option<u64>) -> Result<Pattern, String> {
        let format = &log_format(format);
        let is_nginx = format.match_indices('$').any(|(at, _)| {
            format[at + 1..].starts_with(|c: char| c == '{' || c.is_ascii_lowercase())
        });
        let mut fields: Vec<FormatField> = Vec::new();
        let mut literal = String::new();
        let mut rest = format.as_str();
        let mut marks = JavaMarks::default();
        let (mut duration_name, mut has_duration) = (None, false);
        while let Some(first) = rest.chars().next() {
            if !is_nginx && rest.starts_with("%%") {
                literal.push('%');
                rest = &rest[2..];
                continue;
            }
            let is_gunicorn = !is_nginx && rest.starts_with("%(");
            let field = match first {
                '%' if is_gunicorn => Some(gunicorn(rest)?),
                '%' if !is_nginx => Some(apache(rest, unit)?),
                '$' if is_nginx => Some(nginx(rest)?),
                _ => None,
            };
            if let (false, Some((_, length))) = (is_nginx || is_gunicorn, &field) {
                marks.add(&rest[..*length]);
            }
            if let Some((found, length)) = &field {
                let is_better = match found {
                    PatternField::Duration { .. } => !has_duration,
                    PatternField::UpstreamTime => duration_name.is_none(),
                    _ => false,
                };
                has_duration |= matches!(found, PatternField::Duration { .. });
                if is_better {
                    duration_name = Some(rest[..*length].to_string());
                }
            }
            match field {
                // A path and its query are one text.
                Some((field, length))
                    if literal.is_empty()
                        && (field == PatternField::Query
                            || ["$args", "$query_string"].contains(&&rest[..length]))
                        && fields
                            .last()
                            .is_some_and(|f| f.field == PatternField::Target) =>
                {
                    rest = &rest[length..];
                }
                // `%{sec}t%{msec_frac}t` is one number.
                Some((PatternField::Fraction(scale), length))
                    if literal.is_empty()
                        && let Some(FormatField {
                            field: last @ PatternField::Epoch(1),
                            ..
                        }) = fields.last_mut() =>
                {
                    *last = PatternField::Epoch(scale);
                    rest = &rest[length..];
                }
                Some((field, length)) => {
                    let before = std::mem::take(&mut literal);
                    let rank = redirect_rank(&rest[..length]);
                    fields.push(FormatField {
                        before,
                        name: rest[..length].to_string(),
                        field,
                        rank,
                    });
                    rest = &rest[length..];
                }
                None => {
                    literal.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        state_units(&mut fields, &literal);
        let pattern = Pattern::of_fields(format, &fields, &literal, zone)?;
        Ok(Pattern {
            has_java_marks: marks.are_certain(),
            duration_name,
            given_unit: unit.filter(|_| format.contains("%D")),
            ..pattern
        })
    }

    fn of_fields(
        format: &str,
        fields: &[FormatField],
        end: &str,
        zone: Zone,
    ) -> Result<Pattern, String> {
        check(format, fields)?;
        let before = fields.first().map_or("", |field| field.before.as_str());
        let mut pieces = Vec::new();
        for (index, this) in fields.iter().enumerate() {
            let terminator = fields.get(index + 1).map_or(end, |next| &next.before);
            let is_better =
                |other: &FormatField| other.field == this.field && other.rank < this.rank;
            pieces.push(PatternPiece {
                name: this.name.clone(),
                field: this.field.clone(),
                terminator: Finder::new(terminator.as_bytes()).into_owned(),
                is_quoted: this.before.ends_with('"') && terminator.starts_with('"'),
                is_used: !fields.iter().any(is_better),
            });
        }
        let has = |is: fn(&PatternField) -> bool| pieces.iter().any(|p| is(&p.field));
        let is_date = |f: &PatternField| {
            matches!(
                f,
                PatternField::Clf | PatternField::Iso | PatternField::Epoch(_)
            )
        };
        let formatted = pieces.iter().filter_map(|p| match &p.field {
            PatternField::Formatted(format) => Some(format),
            _ => None,
        });
        let formatted = TimeFormat::joined(formatted);
        let has_date = has(is_date) || formatted.has_moment();
        // Another time in the line takes precedence.
        let has_clock = !has(is_date);
        Ok(Pattern {
            before: before.into(),
            has_parts: has(|f| matches!(f, PatternField::Formatted(_))),
            has_date,
            lacks_year: !has_date && formatted.has_day() && !formatted.has_year(),
            has_more_fields: false,
            lacks_half_day: has_clock && formatted.lacks_half_day(),
            requests: 0,
            longer: 0,
            timed: TimedCount::default(),
            duration_name: None,
            given_unit: None,
            spans: vec![(0, 0); pieces.len()],
            pieces,
            zone,
            has_java_marks: false,
            check: UnitCheck::default(),
            checked: 0,
            zeros: 0,
            contradictions: 0,
            finest_ns: None,
            mismatch: None,
        })
    }

    /// Learns from the first lines of a log whether they have more fields than the format, and
    /// whether they have signs of Tomcat or Undertow. If none fits, it learns why.
    pub fn learn(&mut self, lines: &[&[u8]]) {
        let mut trial = Pattern {
            has_more_fields: true,
            ..self.clone()
        };
        let (mut fits, mut is_longer, mut is_whole) = (false, false, false);
        for line in lines {
            if let Some(rules) = trial.find_values(line) {
                fits = true;
                is_longer |= rules.has_more_fields;
                is_whole |= !rules.has_more_fields && rules.has_escapes;
                trial.entry(line);
            }
        }
        self.has_more_fields = is_longer && !is_whole;
        self.has_java_marks = trial.has_java_marks;
        let first = lines.first().filter(|_| !fits);
        self.mismatch = first.map(|line| self.mismatch(line));
    }

    /// Returns the field from which on a line does not fit.
    fn mismatch(&mut self, line: &[u8]) -> LogAdvice {
        let (mut index, mut at, begin) = (0, 0, self.before.len());
        if line.starts_with(&self.before) {
            for rules in RULES {
                let mut search = self.search(line, rules);
                search.find(0, begin);
                if search.deepest.0 >= index {
                    (index, at) = search.deepest;
                }
            }
        }
        LogAdvice::FormatMismatch {
            field: self.pieces.get(index).map(|piece| piece.name.clone()),
            column: String::from_utf8_lossy(&line[..at]).chars().count() as u64 + 1,
        }
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut assumptions = Vec::new();
        if self.longer * 1_000 > self.requests {
            assumptions.push(LogAssumption::MoreFields { lines: self.longer });
        }
        if self.lacks_half_day && self.requests > 0 {
            assumptions.push(LogAssumption::NoHalfDay);
        }
        assumptions.extend(self.unit_assumption());
        assumptions
    }

    fn unit_assumption(&self) -> Option<LogAssumption> {
        const MICROSECOND: u64 = 1_000;
        if let Some(unit_ns) = self.given_unit {
            return absurd_unit(&self.check, "%D", unit_ns);
        }
        let unit = self.pieces.iter().find_map(|piece| match piece.field {
            PatternField::Duration { scale, basis, .. } if basis != UnitBasis::Defined => {
                Some((scale, basis))
            }
            _ => None,
        });
        let (unit_ns, basis) = unit.filter(|_| self.checked > 0)?;
        // No request takes less than 1 µs.
        let has_zeros =
            unit_ns == MICROSECOND && self.checked >= 10 && self.zeros * 10 >= self.checked;
        let is_contradicted =
            self.check.is_contradicted() || self.check.is_often(self.contradictions);
        // The unit of Apache does not change.
        let is_open = self.has_java_marks && basis == UnitBasis::Assumed;
        if has_zeros || is_contradicted {
            return Some(doubted_unit("%D", unit_ns));
        }
        let assumed = || assumed_unit("%D", unit_ns, &[MICROSECOND, 1_000_000]);
        is_open.then(|| contradiction(&self.check, "%D", unit_ns).unwrap_or_else(assumed))
    }

    /// Returns the finest resolution of the durations so far in ns, or `None` if there are no
    /// durations.
    pub fn step(&self) -> Option<u64> {
        if self.finest_ns.is_some() {
            return self.finest_ns;
        }
        let steps = self.pieces.iter().filter_map(|p| match p.field {
            PatternField::Duration { step, .. } => Some(step),
            PatternField::UpstreamTime => Some(1_000_000),
            _ => None,
        });
        steps.min()
    }

    /// Returns advice about settings that make the next log more useful.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mismatch = self.mismatch.as_ref().filter(|_| self.requests == 0);
        let mut advice = Vec::from_iter(mismatch.cloned());
        if self.lacks_year {
            advice.push(LogAdvice::NoYearInFormat);
        } else if !self.has_date {
            advice.push(LogAdvice::NoDateInFormat);
        }
        let has = |field: PatternField| self.pieces.iter().any(|p| p.field == field);
        let has_duration = self
            .pieces
            .iter()
            .any(|p| matches!(p.field, PatternField::Duration { .. }));
        if has(PatternField::UpstreamTime) && !has_duration && self.timed.has_any() {
            advice.push(LogAdvice::UpstreamTimes);
        }
        let name = self.duration_name.as_deref();
        advice.extend(name.and_then(|name| self.timed.advice(name)));
        advice
    }

    /// Parses a line. Returns `None` if it is malformed.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let rules = self.find_values(line)?;
        let entry = self.entry(line)?;
        self.requests += 1;
        self.longer += u64::from(rules.has_more_fields);
        self.timed.add(entry.duration_ns);
        Some(entry)
    }

    /// Finds the values of a line, and returns the rules that the line follows.
    fn find_values(&mut self, line: &[u8]) -> Option<SearchRules> {
        let begin = line
            .starts_with(&self.before)
            .then_some(self.before.len())?;
        let all_rules = if self.has_more_fields {
            RULES_WITH_MORE_FIELDS
        } else {
            RULES
        };
        let mut rules = all_rules.into_iter();
        rules.find(|rules| self.search(line, *rules).find(0, begin))
    }

    fn search<'s>(&'s mut self, line: &'s [u8], rules: SearchRules) -> Search<'s> {
        Search {
            pieces: &self.pieces,
            line,
            rules,
            tries: MAX_TRIES,
            failed: HashSet::new(),
            deepest: (0, 0),
            spans: &mut self.spans,
        }
    }

    /// Builds the entry from the values found.
    fn entry<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let mut entry = Entry::default();
        let mut time = TimeParts::default();
        let mut bytes_rank = u8::MAX;
        let mut durations = LineDurations::default();
        let mut upstream_ns = None;
        let mut request: Option<&[u8]> = None;
        let values = self.pieces.iter().zip(&self.spans);
        for (piece, span) in values.filter(|(piece, _)| piece.is_used) {
            let value = &line[span.0..span.1];
            match &piece.field {
                PatternField::Text
                | PatternField::Word
                | PatternField::Number
                | PatternField::Fraction(_)
                | PatternField::UpstreamList
                | PatternField::Query => {}
                PatternField::BytesOrThread => {
                    self.has_java_marks |= value.iter().any(u8::is_ascii_alphabetic);
                }
                PatternField::Clf => {
                    let value = value.strip_prefix(b"[").unwrap_or(value);
                    let offset = offset(value.get(21..26)?)?;
                    (entry.time_s, entry.offset_s) =
                        (Some(clf(value)? - i64::from(offset)), offset);
                }
                PatternField::Iso => {
                    let (local, offset) = iso(value)?;
                    let offset = offset.unwrap_or_else(|| self.zone.offset_of_local(local));
                    (entry.time_s, entry.offset_s) = (Some(local - i64::from(offset)), offset);
                }
                PatternField::Epoch(scale) => {
                    let time = epoch_s(value, *scale)?;
                    (entry.time_s, entry.offset_s) = (Some(time), self.zone.offset_at(time));
                }
                PatternField::Formatted(format) => {
                    format.read(value, &mut time)?;
                }
                PatternField::Request => request = Some(value),
                PatternField::Method => entry.method = value,
                PatternField::Target => entry.target = value,
                PatternField::Status if entry.status == 0 => {
                    entry.status = number(value).filter(|s| *s < 1000).unwrap_or(0) as u16
                }
                PatternField::Status => {}
                PatternField::Bytes(rank) if *rank < bytes_rank => {
                    bytes_rank = *rank;
                    entry.bytes = number(value).unwrap_or(0);
                }
                PatternField::Bytes(_) => {}
                PatternField::Agent => entry.agent = value,
                PatternField::Id if value != b"-" => entry.id = value,
                PatternField::Id => {}
                PatternField::Duration { scale, step, basis } => {
                    durations.add(value, *scale, *step, *basis);
                }
                PatternField::UpstreamTime => upstream_ns = sum_ns(value),
            }
        }
        if let Some(request) = request {
            let (method, target) = method_and_target(request);
            (entry.method, entry.target) = (method, target);
        }
        if entry.time_s.is_none() && self.has_date && self.has_parts {
            let (time_s, offset_s) = time.time(&mut self.zone)?;
            (entry.time_s, entry.offset_s) = (Some(time_s), offset_s);
        }
        let has_durations = self
            .pieces
            .iter()
            .any(|p| matches!(p.field, PatternField::Duration { .. }));
        entry.duration_ns = if has_durations {
            self.choose_duration(durations)
        } else {
            upstream_ns
        };
        Some(entry)
    }

    /// Returns the duration of a line in ns, and counts the evidence about its unit.
    fn choose_duration(&mut self, LineDurations { known, assumed }: LineDurations) -> Option<u64> {
        let chosen = match (known, assumed) {
            (Some(known), Some(assumed)) => {
                let is_far = known.ns.abs_diff(assumed.ns) > known.step + assumed.step;
                self.contradictions += u64::from(is_far);
                let is_fine = known.step < 1_000_000_000;
                // Only Tomcat before version 10 and Undertow write %T as 0.100.
                self.has_java_marks |= known.is_finer || is_fine && is_far;
                if is_fine && self.has_java_marks {
                    known
                } else {
                    assumed
                }
            }
            (known, assumed) => known.or(assumed)?,
        };
        let finest = self.finest_ns.unwrap_or(chosen.step);
        self.finest_ns = Some(finest.min(chosen.step));
        if chosen.basis != UnitBasis::Defined || self.given_unit.is_some() {
            self.check.count(chosen.ns);
            self.checked += 1;
            self.zeros += u64::from(chosen.ns == 0);
        }
        Some(chosen.ns)
    }
}

/// Parses a time since 1970. The result is in seconds.
///
/// If the time is not between 2001 and 2099 in the unit of the format, other units are tried: nginx
/// modules and other servers write ms where the format says s. Returns `None` if no unit fits.
fn epoch_s(value: &[u8], scale: u64) -> Option<i64> {
    let end = memchr(b'.', value).unwrap_or(value.len());
    let number = number(&value[..end])?;
    let scales = [scale, 1, 1_000, 1_000_000, 1_000_000_000];
    let seconds = scales.iter().map(|scale| number / scale);
    let mut plausible = seconds.filter(|seconds| EPOCHS.contains(seconds));
    plausible.next()?.try_into().ok()
}

impl LineDurations {
    /// Adds a duration.
    ///
    /// Keeps only one duration with a known unit: the one with the finest resolution.
    fn add(&mut self, value: &[u8], scale: u64, step: u64, basis: UnitBasis) {
        let Some(ns) = scaled(value, scale) else {
            return;
        };
        let dot = memchr(b'.', value).unwrap_or(value.len());
        let digits = value.len().saturating_sub(dot + 1) as u32;
        let written = (scale / 10_u64.saturating_pow(digits)).max(1);
        let duration = LineDuration {
            ns,
            step: step.min(written),
            is_finer: written < step,
            basis,
        };
        match basis {
            UnitBasis::Assumed => self.assumed = self.assumed.or(Some(duration)),
            _ if self.known.is_none_or(|known| duration.step < known.step) => {
                self.known = Some(duration);
            }
            _ => {}
        }
    }
}

/// A backtracking search for the values of a line.
struct Search<'s> {
    pieces: &'s [PatternPiece],
    line: &'s [u8],
    rules: SearchRules,
    /// The number of remaining attempts.
    tries: usize,
    /// The pieces and positions from which the rest of the line does not match.
    failed: HashSet<(usize, usize)>,
    /// The last piece that was reached, and its position in the line.
    deepest: (usize, usize),
    spans: &'s mut [(usize, usize)],
}

impl Search<'_> {
    /// Finds the values from the piece at `index`, whose value begins at `begin`.
    ///
    /// Returns false if the rest of the line does not match.
    fn find(&mut self, index: usize, begin: usize) -> bool {
        if index > self.deepest.0 {
            self.deepest = (index, begin);
        }
        let pieces = self.pieces;
        let Some(piece) = pieces.get(index) else {
            return self.is_end(begin);
        };
        if self.failed.contains(&(index, begin)) {
            return false;
        }
        let rest = &self.line[begin..];
        let is_open = piece.terminator.needle().is_empty();
        let is_query = piece.field == PatternField::Query && rest.starts_with(b"?");
        let is_found = if piece.field.has_length() && (is_open || !is_query) {
            self.find_of_length(index, begin, piece)
        } else if is_open {
            self.find_open(index, begin, piece)
        } else if piece.is_quoted && self.rules.has_escapes {
            self.find_quoted(index, begin, piece)
        } else {
            self.find_terminated(index, begin, piece)
        };
        if !is_found {
            self.failed.insert((index, begin));
        }
        is_found
    }

    /// Returns true if the last field of the format may end at `at`.
    fn is_end(&self, at: usize) -> bool {
        let rest = &self.line[at..];
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
        rest.iter().all(is_blank) || self.rules.has_more_fields && is_blank(&rest[0])
    }

    /// Finds the values from a piece that has no literal text after it.
    fn find_open(&mut self, index: usize, begin: usize, piece: &PatternPiece) -> bool {
        let rest = &self.line[begin..];
        let max = if piece.field.is_word() {
            memchr(b' ', rest).unwrap_or(rest.len())
        } else {
            rest.len()
        };
        match self.pieces.get(index + 1).map(|next| &next.field) {
            None => self.go_on(index, begin, max),
            // A host before a path.
            Some(PatternField::Target) if rest.contains(&b'/') => {
                memchr(b'/', rest).is_some_and(|end| self.go_on(index, begin, end))
            }
            Some(_) => (0..=max).any(|end| self.go_on(index, begin, end)),
        }
    }

    /// Finds the values from a piece that ends at the first quotation mark without a `\`.
    fn find_quoted(&mut self, index: usize, begin: usize, piece: &PatternPiece) -> bool {
        let rest = &self.line[begin..];
        let mut marks = memchr::memchr_iter(b'"', rest);
        marks
            .find(|mark| !is_escaped(&rest[..*mark]))
            .filter(|end| rest[*end..].starts_with(piece.terminator.needle()))
            .is_some_and(|end| self.go_on(index, begin, end))
    }

    /// Finds the values from a piece that ends at its terminator.
    fn find_terminated(&mut self, index: usize, begin: usize, piece: &PatternPiece) -> bool {
        let rest = &self.line[begin..];
        let is_list = piece.field == PatternField::UpstreamList;
        let can_have_blanks = piece.is_quoted || self.rules.has_blanks && piece.field.is_free();
        let (mut from, mut has_blank) = (0, false);
        while let Some(at) = piece.terminator.find(&rest[from..]) {
            let end = from + at;
            has_blank = has_blank || rest[from..end].contains(&b' ');
            if has_blank && !piece.is_quoted && piece.field.is_word() {
                return false;
            }
            let is_within = is_list && is_within_list(rest, end);
            if !is_within && self.go_on(index, begin, end) {
                return true;
            }
            has_blank = has_blank || rest[end] == b' ';
            if self.tries == 0 || has_blank && !can_have_blanks && !is_within {
                return false;
            }
            from = end + 1;
        }
        false
    }

    /// Finds the values from a piece whose values are self-delimiting.
    fn find_of_length(&mut self, index: usize, begin: usize, piece: &PatternPiece) -> bool {
        let rest = &self.line[begin..];
        let Some(end) = piece.field.length(rest) else {
            return false;
        };
        let is_end = |end: usize| rest[end..].starts_with(piece.terminator.needle());
        if is_end(end) && self.go_on(index, begin, end) {
            return true;
        }
        // The fraction of the second is in a separate field.
        let whole = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if matches!(piece.field, PatternField::Epoch(_)) && whole < end && is_end(whole) {
            return self.go_on(index, begin, whole);
        }
        // An unknown value.
        let end = usize::from(rest.first() == Some(&b'-'));
        piece.field.can_be_empty() && is_end(end) && self.go_on(index, begin, end)
    }

    /// Accepts a value with `length` bytes, and finds the values of the remaining pieces.
    fn go_on(&mut self, index: usize, begin: usize, length: usize) -> bool {
        self.tries = self.tries.saturating_sub(1);
        self.spans[index] = (begin, begin + length);
        let next = begin + length + self.pieces[index].terminator.needle().len();
        self.tries > 0 && next <= self.line.len() && self.find(index + 1, next)
    }
}

impl PatternField {
    /// Returns true if the field's values are self-delimiting.
    fn has_length(&self) -> bool {
        !matches!(
            self,
            PatternField::Text
                | PatternField::Word
                | PatternField::BytesOrThread
                | PatternField::Request
                | PatternField::Method
                | PatternField::Target
                | PatternField::Id
                | PatternField::Agent
                | PatternField::UpstreamList
        )
    }

    /// Returns true if the field's values never contain a blank.
    fn is_word(&self) -> bool {
        matches!(
            self,
            PatternField::Word | PatternField::Method | PatternField::Query
        )
    }

    /// Returns true if the field's values may contain blanks because clients control them.
    fn is_free(&self) -> bool {
        !self.has_length() && !self.is_word() && *self != PatternField::UpstreamList
    }

    /// Returns true if a server may write nothing or `-` instead of the field's value.
    fn can_be_empty(&self) -> bool {
        !matches!(
            self,
            PatternField::Clf
                | PatternField::Iso
                | PatternField::Epoch(_)
                | PatternField::Formatted(_)
        )
    }

    /// Returns the length of the field's value at the beginning of `text`.
    ///
    /// Returns `None` if there is no value or the field can have any form.
    fn length(&self, text: &[u8]) -> Option<usize> {
        let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let decimal = |text: &[u8]| {
            let whole = digits(text);
            match text.get(whole) {
                Some(b'.') => whole + 1 + digits(&text[whole + 1..]),
                _ => whole,
            }
        };
        match self {
            PatternField::Text
            | PatternField::Word
            | PatternField::BytesOrThread
            | PatternField::Request
            | PatternField::Method
            | PatternField::Target
            | PatternField::Id
            | PatternField::Agent
            | PatternField::UpstreamList => None,
            PatternField::Clf => {
                let inner = text.strip_prefix(b"[").unwrap_or(text);
                clf(inner)?;
                offset(inner.get(21..26)?)?;
                let has_brackets = inner.len() < text.len();
                (!has_brackets || inner.get(26) == Some(&b']'))
                    .then_some(26 + 2 * usize::from(has_brackets))
            }
            PatternField::Iso => iso_length(text),
            PatternField::Epoch(_) => Some(decimal(text)).filter(|n| *n > 0),
            PatternField::Formatted(format) => format.read(text, &mut TimeParts::default()),
            PatternField::Fraction(_) | PatternField::Bytes(_) | PatternField::Status => {
                Some(digits(text))
            }
            // Amazon's load balancers write -1 for no value.
            PatternField::Duration { .. } | PatternField::Number => {
                let sign = usize::from(text.first() == Some(&b'-'));
                Some(sign + decimal(&text[sign..]))
            }
            PatternField::Query if text.first() == Some(&b'?') => {
                let is_end = |b: &u8| matches!(b, b' ' | b'"' | b'\t');
                Some(text.iter().position(is_end).unwrap_or(text.len()))
            }
            PatternField::Query => Some(0),
            PatternField::UpstreamTime => {
                let is_part =
                    |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b' ' | b':' | b'-');
                let length = text.iter().take_while(|b| is_part(b)).count();
                Some(text[..length].trim_ascii_end().len()).map(|n| list_length(&text[..n]))
            }
        }
    }
}

/// Returns the rank of a field among the same fields with other modifiers.
///
/// mod_log_config: after an internal redirect, `>` is the final request, whose response the client
/// receives, and `<` is the original request.
fn redirect_rank(field: &str) -> u8 {
    let is_name = |c: char| c == '{' || c.is_ascii_alphabetic();
    let modifiers = field.split(is_name).next().unwrap_or_default();
    match modifiers {
        modifiers if modifiers.contains('>') => 0,
        modifiers if modifiers.contains('<') => 2,
        _ => 1,
    }
}

/// Sets the units of the durations whose unit the text next to the field states.
///
/// `end` is the text after the last field.
fn state_units(fields: &mut [FormatField], end: &str) {
    for index in 0..fields.len() {
        let after = fields.get(index + 1).map_or(end, |next| &next.before);
        let stated = stated_unit(&fields[index].before, after);
        if let PatternField::Duration { scale, step, basis } = &mut fields[index].field
            && *basis == UnitBasis::Assumed
            && let Some(unit) = stated
        {
            (*scale, *step, *basis) = (unit, unit, UnitBasis::Stated);
        }
    }
}

/// Returns the unit, in ns, that the text around a duration states: `(%D ms)`, `duration_us=%D`.
fn stated_unit(before: &str, after: &str) -> Option<u64> {
    let unit_of = |word: &str| {
        let word = word.to_lowercase();
        let is_it = |(_, names): &&(u64, &[&str])| names.contains(&word.as_str());
        STATED_UNITS.iter().find(is_it).map(|(unit, _)| *unit)
    };
    let is_mark = |c: char| matches!(c, '"' | '\'' | '(' | ')' | '[' | ']') || c.is_whitespace();
    // The name of the field, as in `ms:%D` or `"durationMs": %D`.
    let name = before.trim_end_matches(is_mark).strip_suffix(['=', ':']);
    let of_name = name.and_then(|name| {
        let name = name.trim_end_matches(is_mark);
        let word = name.rsplit(|c: char| !c.is_alphabetic()).next()?;
        let last = word.rfind(char::is_uppercase).unwrap_or(0);
        unit_of(word).or_else(|| unit_of(&word[last..]))
    });
    of_name.or_else(|| {
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic());
        let (word, rest) = after.split_at(end.unwrap_or(after.len()));
        // Otherwise, the word is the name of the next field.
        let is_name = rest.starts_with(['=', ':', '_', '-']);
        unit_of(word).filter(|_| !is_name)
    })
}

/// Checks that a format contains a request and that adjacent fields can be separated.
fn check(format: &str, fields: &[FormatField]) -> Result<(), String> {
    let is_request =
        |f: &FormatField| matches!(f.field, PatternField::Request | PatternField::Target);
    if !fields.iter().any(is_request) {
        return Err(format!(
            "the format {format:?} has no request: add \"%r\" or $request"
        ));
    }
    let is_separate = |pair: &[FormatField]| {
        let [first, second] = pair else {
            return true;
        };
        !second.before.is_empty()
            || first.field.has_length()
            || second.field.has_length()
            || second.field == PatternField::Target
    };
    if fields.windows(2).all(is_separate) {
        Ok(())
    } else {
        Err(format!(
            "the format {format:?} has adjacent fields: separate them with a character"
        ))
    }
}

const fn duration(scale: u64, step: u64) -> PatternField {
    PatternField::Duration {
        scale,
        step,
        basis: UnitBasis::Defined,
    }
}

/// Signs of a Java server in a `LogFormat`: Tomcat and Undertow use fields that Apache lacks.
#[derive(Clone, Copy, Debug, Default)]
struct JavaMarks {
    /// True if there is a field that Apache does not support.
    has_others: bool,
    /// True if the format contains `%s`. Most Apache formats use `%>s`. `%S` means bytes in Apache
    /// and a session in Tomcat.
    has_status: bool,
    /// True if the format contains a field with `>` or `<`, such as `%>s`.
    has_request_choice: bool,
}

impl JavaMarks {
    /// Adds a field, such as `%{yyyy-MM-dd}t`.
    fn add(&mut self, field: &str) {
        let (name, letter) = match field.split_once('{') {
            Some((_, rest)) => rest.split_once('}').unwrap_or((rest, "")),
            None => ("", field.trim_start_matches('%')),
        };
        self.has_others |= undertow_name(name).is_some();
        self.has_others |= letter.is_empty() && !name.is_empty();
        let is_java_time = || matches!(format_of_time(name), Some(format) if !format.contains('%'));
        self.has_request_choice |= field.starts_with("%>") || field.starts_with("%<");
        match letter {
            "t" => self.has_others |= is_java_time(),
            "F" => self.has_others = true,
            "r" | "s" | "c" if !name.is_empty() => self.has_others = true,
            "s" | "S" => self.has_status = true,
            _ => {}
        }
    }

    fn are_certain(self) -> bool {
        self.has_others || (self.has_status && !self.has_request_choice)
    }
}

/// Splits Undertow's `i,User-Agent` into the letter of its kind and the name.
fn undertow_name(name: &str) -> Option<(u8, &str)> {
    let (kind, name) = name.split_once(',')?;
    match kind.as_bytes() {
        [kind] if b"iocqrst".contains(kind) => Some((*kind, name.trim_start())),
        _ => None,
    }
}

/// The fields that take no name.
///
/// If a name precedes one of these letters, the name is an attribute of Undertow and the letter is
/// the beginning of literal text: `%{RESPONSE_TIME}ms`.
const NAMELESS: &[u8] = b"bBDHklmqRUvVX";

/// Returns the field of an attribute of Undertow, such as `%{RESPONSE_TIME}`.
///
/// Returns `None` if the name belongs to the letter after it, as in `%{UNIQUE_ID}e`.
fn undertow_attribute(name: &str, letter: u8) -> Option<PatternField> {
    let is_name = name.contains(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_alone = !letter.is_ascii_alphabetic() && letter != b'^' || NAMELESS.contains(&letter);
    (is_name && is_alone).then(|| match name {
        "RESPONSE_TIME" => duration(1_000_000, 1_000_000),
        "RESPONSE_TIME_MICROS" => duration(1_000, 1_000),
        "RESPONSE_TIME_NANOS" => duration(1, 1),
        "REQUEST_LINE" => PatternField::Request,
        "METHOD" => PatternField::Method,
        "REQUEST_URL" => PatternField::Target,
        "RESPONSE_CODE" => PatternField::Status,
        "BYTES_SENT" => PatternField::Bytes(0),
        "DATE_TIME" => PatternField::Clf,
        _ => PatternField::Text,
    })
}

/// Parses a field of Gunicorn's format, such as `%(h)s`, at the beginning of `text`.
///
/// Returns the field and the length of its text in the format.
fn gunicorn(text: &str) -> Result<(PatternField, usize), String> {
    let error = || format!("{text:?} is not a field of Gunicorn's access_log_format");
    let end = text.find(")s").ok_or_else(error)?;
    let name = &text[2..end];
    let field = match name {
        "L" => duration(1_000_000_000, 1_000),
        "D" => duration(1_000, 1_000),
        "M" => duration(1_000_000, 1_000_000),
        "T" => duration(1_000_000_000, 1_000_000_000),
        "a" => PatternField::Agent,
        "f" => PatternField::Text,
        "p" => PatternField::Word,
        "h" | "l" | "u" | "t" | "r" | "s" | "b" | "B" | "m" | "U" | "q" | "H" => {
            apache(&format!("%{name}"), None)?.0
        }
        name if name.starts_with('{') => apache(&format!("%{name}"), None)?.0,
        _ => return Err(error()),
    };
    Ok((field, end + 2))
}

/// Parses a `%` field at the beginning of `text`.
///
/// Returns the field and the length of its text in the format.
fn apache(text: &str, unit: Option<u64>) -> Result<(PatternField, usize), String> {
    let bytes = text.as_bytes();
    let mut at = 1;
    // `%>s`, `%!200,304s`
    while matches!(bytes.get(at), Some(b'>' | b'<' | b'!' | b',' | b'0'..=b'9')) {
        at += 1;
    }
    let mut name = "";
    if bytes.get(at) == Some(&b'{') {
        let end = text[at..]
            .find('}')
            .ok_or_else(|| format!("a }} is missing after {text:?}"))?;
        name = &text[at + 1..at + end];
        at += end + 1;
    }
    let letter = bytes.get(at).copied().unwrap_or(b' ');
    if let Some((letter, name)) = undertow_name(name) {
        let field = match letter {
            b't' => apache_time(name)?,
            b'i' if name.eq_ignore_ascii_case("user-agent") => PatternField::Agent,
            _ => PatternField::Text,
        };
        return Ok((field, at));
    }
    if let Some(field) = undertow_attribute(name, letter) {
        return Ok((field, at));
    }
    if !name.is_empty() && NAMELESS.contains(&letter) {
        return Err(format!("{text:?} is not a field of a LogFormat"));
    }
    // `%{X}^ti`, `%{X}^to` and `%^FB`.
    if letter == b'^' {
        let field = match bytes.get(at + 1..at + 3) {
            Some(b"FB") => PatternField::Number,
            Some(b"ti" | b"to") => PatternField::Text,
            _ => return Err(format!("{text:?} is not a field of a LogFormat")),
        };
        return Ok((field, at + 3));
    }
    let field = match (letter, name.to_ascii_lowercase().as_str()) {
        (b't', _) => apache_time(name)?,
        // Attributes of Tomcat's requests and sessions.
        (b'r' | b's', name) if !name.is_empty() => PatternField::Text,
        (b'r', _) => PatternField::Request,
        (b'm', _) => PatternField::Method,
        (b'U', _) => PatternField::Target,
        (b'q', _) => PatternField::Query,
        (b's', _) => PatternField::Status,
        (b'b' | b'B', _) => PatternField::Bytes(0),
        (b'O', _) => PatternField::Bytes(1),
        (b'i', "user-agent") => PatternField::Agent,
        (b'i' | b'o', "x-request-id" | "traceparent" | "x-correlation-id")
        | (b'e', "unique_id")
        | (b'L', _) => PatternField::Id,
        (b'D', _) => PatternField::Duration {
            scale: unit.unwrap_or(1_000),
            step: unit.unwrap_or(1_000),
            basis: match unit {
                Some(_) => UnitBasis::Defined,
                None => UnitBasis::Assumed,
            },
        },
        (b'T', "ms") => duration(1_000_000, 1_000_000),
        (b'T', "us") => duration(1_000, 1_000),
        (b'T', "ns") => duration(1, 1),
        (b'T', _) => duration(1_000_000_000, 1_000_000_000),
        (b'I', _) => PatternField::BytesOrThread,
        (b'k' | b'p', _) => PatternField::Number,
        (b'i' | b'o' | b'e' | b'n' | b'C' | b'x' | b'u' | b'c' | b'f' | b'R', _) => {
            PatternField::Text
        }
        (b'a'..=b'z' | b'A'..=b'Z', _) => PatternField::Word,
        _ => return Err(format!("{text:?} is not a field of a LogFormat")),
    };
    // A non-ASCII letter was rejected above, so the field is one byte long.
    Ok((field, at + 1))
}

/// Parses the time format of `%{…}t`.
fn apache_time(format: &str) -> Result<PatternField, String> {
    // In Jetty, a zone and a language can follow the format.
    let format = format.split('|').next().unwrap_or(format);
    let Some(format) = format_of_time(format) else {
        return Ok(match without_moment(format) {
            "sec" => PatternField::Epoch(1),
            "msec" => PatternField::Epoch(1_000),
            "usec" => PatternField::Epoch(1_000_000),
            "msec_frac" => PatternField::Fraction(1_000),
            "usec_frac" => PatternField::Fraction(1_000_000),
            _ => PatternField::Clf,
        });
    };
    let format = if format.contains('%') {
        TimeFormat::strftime(format)?
    } else {
        TimeFormat::java(format)?
    };
    Ok(match format.is_epoch() {
        true => PatternField::Epoch(1),
        false => PatternField::Formatted(format),
    })
}

/// Returns the time format without `begin:` or `end:`, or `None` if the format is a keyword of
/// Apache.
fn format_of_time(format: &str) -> Option<&str> {
    const WORDS: [&str; 8] = [
        "",
        "begin",
        "end",
        "sec",
        "msec",
        "usec",
        "msec_frac",
        "usec_frac",
    ];
    Some(without_moment(format)).filter(|format| !WORDS.contains(format))
}

fn without_moment(format: &str) -> &str {
    ["begin:", "end:"]
        .iter()
        .find_map(|p| format.strip_prefix(p))
        .unwrap_or(format)
}

/// Parses a `$` variable at the beginning of `text`.
///
/// Returns the field and the length of its text in the format.
fn nginx(text: &str) -> Result<(PatternField, usize), String> {
    let braced = text.as_bytes().get(1) == Some(&b'{');
    let start = if braced { 2 } else { 1 };
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = text[start..].chars().take_while(is_name).collect();
    if name.is_empty() {
        return Err(format!("a name is missing after $ in {text:?}"));
    }
    if braced && text.as_bytes().get(start + name.len()) != Some(&b'}') {
        return Err(format!("a }} is missing after {text:?}"));
    }
    let field = match name.as_str() {
        "time_local" => PatternField::Clf,
        "time_iso8601" => PatternField::Iso,
        "msec" => PatternField::Epoch(1),
        "request" => PatternField::Request,
        "request_method" => PatternField::Method,
        "request_uri" | "uri" | "document_uri" => PatternField::Target,
        "is_args" => PatternField::Query,
        "remote_addr" | "binary_remote_addr" | "realip_remote_addr" | "server_name"
        | "server_addr" | "host" | "hostname" | "scheme" | "https" | "server_protocol" | "pipe"
        | "request_completion" | "ssl_protocol" | "ssl_cipher" | "ssl_session_id"
        | "ssl_session_reused" => PatternField::Word,
        "status" => PatternField::Status,
        "body_bytes_sent" => PatternField::Bytes(0),
        "bytes_sent" => PatternField::Bytes(1),
        "http_user_agent" => PatternField::Agent,
        "request_id"
        | "http_x_request_id"
        | "http_traceparent"
        | "http_x_correlation_id"
        | "otel_trace_id"
        | "opentelemetry_trace_id" => PatternField::Id,
        "request_time" => duration(1_000_000_000, 1_000_000),
        "upstream_response_time" => PatternField::UpstreamTime,
        "upstream_addr"
        | "upstream_status"
        | "upstream_connect_time"
        | "upstream_header_time"
        | "upstream_response_length"
        | "upstream_bytes_received"
        | "upstream_bytes_sent" => PatternField::UpstreamList,
        "connection"
        | "connection_requests"
        | "connection_time"
        | "request_length"
        | "pid"
        | "server_port"
        | "remote_port"
        | "content_length"
        | "tcpinfo_rtt"
        | "tcpinfo_rttvar"
        | "tcpinfo_snd_cwnd"
        | "tcpinfo_rcv_space"
        | "gzip_ratio"
        | "proxy_port" => PatternField::Number,
        _ => PatternField::Text,
    };
    Ok((field, start + name.len() + usize::from(braced)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(format: &str) -> Pattern {
        Pattern::new(format, Zone::default(), None).expect("a format")
    }

    type Found = (Option<i64>, Option<u64>, String, u16);

    fn read(format: &str, line: &str) -> Option<Found> {
        let mut pattern = pattern(format);
        let entry = pattern.parse(line.as_bytes())?;
        let request = [entry.method, b" ", entry.target].concat();
        let request = String::from_utf8_lossy(&request).into_owned();
        Some((entry.time_s, entry.duration_ns, request, entry.status))
    }

    #[test]
    fn formats_of_apache_and_nginx_are_read() {
        let mut apache =
            pattern(r#"%h %l %u [%{%d/%b/%Y:%H:%M:%S %z}t] "%r" %>s %b "%{User-Agent}i" %D"#);
        let line = br#"::1 - - [10/Oct/2000:13:55:36 -0700] "POST /a HTTP/1.1" 503 - "curl" 250"#;
        let entry = apache.parse(line).expect("an entry");
        assert_eq!(
            (entry.time_s, entry.status, entry.duration_ns),
            (Some(971_211_336), 503, Some(250_000))
        );
        assert_eq!((entry.method, entry.agent), (&b"POST"[..], &b"curl"[..]));
        let mut nginx =
            pattern("$msec|$request_method|${request_uri}|$request_time|$upstream_addr");
        let entry = nginx
            .parse(b"1777629600.250|GET|/x?y|0.015|")
            .expect("an entry");
        assert_eq!(
            (entry.time_s, entry.duration_ns),
            (Some(1_777_629_600), Some(15_000_000))
        );
        assert_eq!(nginx.step(), Some(1_000_000));
        assert_eq!(nginx.parse(b"1777629600.250|GET"), None);
    }

    #[test]
    fn fields_of_tomcat_and_threads_are_parsed() {
        const TIME: &str = "[10/Oct/2025:13:00:36 -0700]";
        for (format, line) in [
            (
                "%I %t \"%r\" %>s %D",
                "http-nio-8080-exec-1 TIME \"GET /a HTTP/1.1\" 200 9",
            ),
            (
                "%t [%I] \"%r\" %s %D",
                "TIME [default task-3] \"GET /a HTTP/1.1\" 200 9",
            ),
            (
                "%{hextid}P %t \"%r\" %>s %I %D",
                "7f3a9c TIME \"GET /a HTTP/1.1\" 200 512 9",
            ),
            (
                "%{user}r %{cart}s %t \"%r\" %s %D",
                "ann - TIME \"GET /a HTTP/1.1\" 200 9",
            ),
        ] {
            let found = read(format, &line.replace("TIME", TIME)).expect(format);
            assert_eq!(
                (found.1, found.2.as_str(), found.3),
                (Some(9_000), "GET /a", 200)
            );
        }
    }

    #[test]
    fn units_that_differ_between_servers_are_reported() {
        let assumed = |format: &str, unit, line: &str, durations: [&str; 2]| {
            let mut pattern = Pattern::new(format, Zone::default(), unit).expect("a format");
            for i in 0..20 {
                let line = line.replace("DURATION", durations[i % 2]);
                pattern.parse(line.as_bytes()).expect("an entry");
            }
            pattern
                .assumptions()
                .iter()
                .map(crate::wording::assumption)
                .collect::<String>()
        };
        const LINE: &str = "[10/Oct/2025:13:00:36 -0700] \"GET /a HTTP/1.1\" 200 DURATION x";
        let of = |format: &str, durations| assumed(format, None, LINE, durations);
        let apache = "%t \"%r\" %>s %D %{a}i";
        let tomcat = "%t \"%r\" %s %D %{a}i";
        assert_eq!(of(apache, ["480", "95"]), "");
        assert!(of(apache, ["0", "95"]).contains("implausible"));
        assert!(of(apache, ["90000000", "95000000"]).contains("implausible"));
        assert!(of(tomcat, ["480", "95"]).contains("in µs, but ms would fit too"));
        assert_eq!(assumed(tomcat, Some(1_000_000), LINE, ["480", "0"]), "");
        for field in ["%{a}r", "%{a}s", "%{a}c", "%F", "%I"] {
            let format = apache.replace("%{a}i", field);
            assert!(
                of(&format, ["480", "95"]).contains("ms would fit"),
                "{field}"
            );
        }
        assert_eq!(of(&apache.replace("%{a}i", "%S"), ["480", "95"]), "");
        let java = "[%{yyyy-MM-dd HH:mm:ss}t] \"%r\" %>s %D";
        let line = "[2025-10-10 13:00:36] \"GET /a HTTP/1.1\" 200 DURATION";
        assert!(assumed(java, None, line, ["480", "95"]).contains("ms would fit"));
        let c = java.replace("yyyy-MM-dd HH:mm:ss", "%F %T");
        assert_eq!(assumed(&c, None, line, ["480", "95"]), "");
        let bytes = "%I %t \"%r\" %>s %D";
        let line = "512 [10/Oct/2025:13:00:36 -0700] \"GET /a HTTP/1.1\" 200 DURATION";
        assert_eq!(assumed(bytes, None, line, ["480", "95"]), "");
    }

    #[test]
    fn values_may_contain_their_terminator() {
        const T: Option<i64> = Some(1_760_126_436);
        let found =
            |ns: u64, request: &str, status| Some((T, Some(ns), request.to_string(), status));
        for (format, line, expected) in [
            // A blank in %t, and before its end.
            (
                r#"%h %t %D "%r" %>s"#,
                r#"::1 [10/Oct/2025:13:00:36 -0700] 250000 "GET /a HTTP/1.1" 200"#,
                found(250_000_000, "GET /a", 200),
            ),
            (
                r#"%h %t %T/%D "%r" %s"#,
                r#"::1 [10/Oct/2025:13:00:36 -0700] 0/799940 "GET /a HTTP/1.1" 200"#,
                found(799_940_000, "GET /a", 200),
            ),
            // Quotation marks in a quoted text.
            (
                r#""%r" %>s "%{User-Agent}i" %D %t"#,
                r#""GET /?q=\"x\" HTTP/1.1" 200 "a \"b\" \\" 7 [10/Oct/2025:13:00:36 -0700]"#,
                found(7_000, r#"GET /?q=\"x\""#, 200),
            ),
            (
                r#""%r" %>s "%{Referer}i" %D %t"#,
                r#""GET / HTTP/1.1" 200 "C:\" 7 [10/Oct/2025:13:00:36 -0700]"#,
                found(7_000, "GET /", 200),
            ),
            // A time in multiple fields.
            (
                r#"[%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] "%r" %>s %D"#,
                r#"[10/Oct/2025:13:00:36.123 -0700] "GET /a HTTP/1.1" 200 9"#,
                found(9_000, "GET /a", 200),
            ),
            (
                r#"%{end:usec}t "%r" %>s %D"#,
                r#"1760126436000123 "GET /a HTTP/1.1" 200 9"#,
                found(9_000, "GET /a", 200),
            ),
            (
                r#"%{sec}t.%{usec_frac}t "%r" %>s %D"#,
                r#"1760126436.000123 "GET /a HTTP/1.1" 200 9"#,
                found(9_000, "GET /a", 200),
            ),
            // Path and query, method and protocol.
            (
                r#"%t "%m %U%q %H" %>s %{ms}T"#,
                r#"[10/Oct/2025:13:00:36 -0700] "GET /a?b=c HTTP/1.1" 304 9"#,
                found(9_000_000, "GET /a?b=c", 304),
            ),
            (
                r#"%t "%m %U%q %H" %>s %{ms}T"#,
                r#"[10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 304 9"#,
                found(9_000_000, "GET /a", 304),
            ),
            // An unknown duration.
            (
                r#"%h %t %D "%r" %>s"#,
                r#"::1 [10/Oct/2025:13:00:36 -0700] - "GET /a HTTP/1.1" 200"#,
                Some((T, None, "GET /a".to_string(), 200)),
            ),
            (
                "$x $time_iso8601 $y $z $request_time $t $status \"$request\"",
                r#"h2 2025-10-10T20:00:36Z a b -1 -1 460 "GET /a HTTP/2.0""#,
                Some((T, None, "GET /a".to_string(), 460)),
            ),
            // nginx: multiple upstreams, addresses with blanks, a host before the path.
            (
                "$remote_addr [$time_local] $upstream_response_time $request_time \"$request\" $status",
                r#"::1 [10/Oct/2025:20:00:36 +0000] 0.001, 0.002 : - 0.004 "GET /a HTTP/2.0" 200"#,
                found(4_000_000, "GET /a", 200),
            ),
            (
                "$http_x_forwarded_for $remote_addr [$time_local] $request_time \"$request\" $status",
                r#"1.1.1.1, 2.2.2.2 3.3.3.3 [10/Oct/2025:20:00:36 +0000] 0.004 "GET /a HTTP/2.0" 200"#,
                found(4_000_000, "GET /a", 200),
            ),
            (
                "$time_iso8601 $scheme://$host$request_uri $request_method $status $request_time",
                "2025-10-10T22:00:36+02:00 https://a.example/a?b GET 200 0.004",
                found(4_000_000, "GET /a?b", 200),
            ),
            (
                "[$time_local] $upstream_addr $upstream_status $upstream_response_time $upstream_connect_time \
                 $upstream_header_time $request_time \"$request\" $status",
                "[10/Oct/2025:20:00:36 +0000] 10.0.0.1:80, unix:/x : [::1]:80 502, 200 : 200 0.010, 0.020 : 0.300 \
                 0.001, 0.001 : - 0.001, 0.002 : 0.3 0.480 \"GET /a HTTP/1.1\" 200",
                found(480_000_000, "GET /a", 200),
            ),
            (
                "$msec $request_method $uri$is_args$args $status $request_time",
                "1760126436.123 GET /a?b 200 0.004",
                found(4_000_000, "GET /a?b", 200),
            ),
        ] {
            assert_eq!(read(format, line), expected, "{line}");
        }
    }

    #[test]
    fn configuration_lines_are_formats() {
        let line = r#"::1 - - [10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 200 5 250"#;
        let apache = r#"LogFormat "%h %l %u %t \"%r\" %>s %b %D" timed"#;
        assert_eq!(read(apache, line).and_then(|f| f.1), Some(250_000));
        let nginx = "log_format timed '$remote_addr - $remote_user [$time_local] '\n '\"$request\" $status $body_bytes_sent $request_time';";
        let line = line.replace(" 250", " 0.250");
        assert_eq!(read(nginx, &line).and_then(|f| f.1), Some(250_000_000));
    }

    #[test]
    fn formats_of_other_servers_are_read() {
        const T: Option<i64> = Some(1_760_126_436);
        for (format, line, ns) in [
            (
                r#"%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %(L)s %({x-id}i)s %(p)s"#,
                r#"::1 - - [10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "x" 0.480123 id <7>"#,
                480_123_000,
            ),
            (
                r#"%(t)s "%(r)s" %(s)s %(M)s"#,
                r#"[10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 200 480"#,
                480_000_000,
            ),
            (
                r#"%(t)s "%(m)s %(U)s%(q)s" %(s)s %(D)s"#,
                r#"[10/Oct/2025:13:00:36 -0700] "GET /a" 200 480123"#,
                480_123_000,
            ),
            (
                r#"%h %t "%r" %s %b "%{i,Referer}" "%{i,User-Agent}" %{o,X-Y} %D"#,
                r#"::1 [10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "M x" - 480"#,
                480_000,
            ),
            (
                r#"%{client}a - %u %{dd/MMM/yyyy:HH:mm:ss ZZZ|GMT}t "%r" %s %O "%{User-Agent}i" %{ms}T"#,
                r#"::1 - - 10/Oct/2025:20:00:36 +0000 "GET /a HTTP/1.1" 200 5 "x" 480"#,
                480_000_000,
            ),
            (
                r#"CustomLog "logs/access_log" "%t \"%r\" %>s %D" env=!x"#,
                r#"[10/Oct/2025:13:00:36 -0700] "GET /a HTTP/1.1" 200 480"#,
                480_000,
            ),
        ] {
            let expected = Some((T, Some(ns), "GET /a".to_string(), 200));
            assert_eq!(read(format, line), expected, "{format}");
        }
        assert!(Pattern::new("%(r)s %(x)s", Zone::default(), None).is_err());
    }

    #[test]
    fn invalid_formats_are_errors() {
        for format in [
            "%h %t",
            "%r%h",
            "$request$host",
            "%r %{open",
            "$request $",
            "$request ${x",
            "%r %{%Q}t",
            "%r %é",
            "%r %^",
            "%r %{a}^",
            "%r %{a}^<é",
            "%r %{a}^ab",
            "%r %<é",
            "%r %{a}é",
            "%(é)s",
            "%(r)s %({é)s",
            "$é",
            "$request ${é}",
        ] {
            assert!(
                Pattern::new(format, Zone::default(), None).is_err(),
                "{format}"
            );
        }
    }

    #[test]
    fn the_search_in_a_line_that_never_matches_ends() {
        let mut pattern = pattern("$a $b $c $d $e $f $g \"$request\" $status");
        assert_eq!(pattern.parse(&b"x ".repeat(30_000)), None);
    }
}
