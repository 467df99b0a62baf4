// SPDX-License-Identifier: Apache-2.0
//! Interprets lines with named fields, such as JSON and `key=value`.
//!
//! Finds the fields that describe the request, and the unit of the request's duration.

use super::combined::method_and_target;
use super::field_names::{
    FieldMap, FieldMeaning, Marks, PRODUCERS, Producer, Role, is_upstream_time, meaning,
    sounds_like_duration,
};
use super::units::{UNITS, UnitCheck, UnitEvidence, assumed_unit, doubted_unit, unit_name};
use super::upstream::{is_list, sum_ns};
use crate::entry::Entry;
use crate::time::{Zone, clf, iso, offset, parse_written_duration};
use foldhash::fast::RandomState;
use lab_model::{FieldRole, LogAdvice, LogAssumption};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The maximum number of field names with cached meanings.
const MAX_KNOWN: usize = 4_096;
/// The maximum length of a field's path, in bytes. Fields with longer paths are ignored.
const MAX_PATH: usize = 128;
/// The maximum number of names listed in a sentence.
const MAX_LISTED: usize = 6;
/// The maximum number of unfinished requests.
const MAX_BEGUN: usize = 10_000;
/// The rank of a field that was not found.
const NONE: u16 = u16::MAX;
/// The penalty added to the rank of a duration if neither its value nor its name implies a unit.
const BARE: u16 = 1 << 12;

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'v> {
    Text(&'v str),
    Integer(u64),
    Float(f64),
}

/// The text of a field.
#[derive(Clone, Debug)]
struct TextSlot {
    rank: u16,
    text: String,
}

impl Default for TextSlot {
    fn default() -> TextSlot {
        TextSlot {
            rank: NONE,
            text: String::new(),
        }
    }
}

impl TextSlot {
    fn put(&mut self, rank: u16, text: &str) {
        if rank < self.rank {
            self.rank = rank;
            self.text.clear();
            self.text.push_str(text);
        }
    }

    fn clear(&mut self) {
        self.rank = NONE;
        self.text.clear();
    }
}

/// The number in a field.
#[derive(Clone, Copy, Debug)]
struct NumberSlot {
    rank: u16,
    number: u64,
}

impl Default for NumberSlot {
    fn default() -> NumberSlot {
        NumberSlot {
            rank: NONE,
            number: 0,
        }
    }
}

impl NumberSlot {
    fn put(&mut self, rank: u16, number: u64) {
        if rank < self.rank {
            *self = NumberSlot { rank, number };
        }
    }
}

/// A point in time as written in a line.
#[derive(Clone, Copy, Debug)]
struct WrittenTime {
    /// Nanoseconds since 1970, as if it were UTC.
    ns: i128,
    /// The offset from UTC in seconds, or `None` if the time has no offset.
    offset_s: Option<i32>,
}

/// The duration of a line.
#[derive(Clone, Debug)]
struct WrittenDuration {
    rank: u16,
    field: String,
    /// The number as written, in the unit of the log.
    value: f64,
    /// The number as an integer, or `None` if the number has a fraction.
    integer: Option<u64>,
    /// The unit that the value or the name implies, in ns.
    unit: Option<u64>,
    /// True if the value contains its unit.
    is_written: bool,
}

/// The fields of the current line that have been read so far.
#[derive(Clone, Debug, Default)]
struct Line {
    time: Option<(u16, WrittenTime)>,
    /// The time of day and the date, if they are in separate fields, as written.
    clock: TextSlot,
    date: TextSlot,
    first_ns: Option<i128>,
    last_ns: Option<i128>,
    duration: Option<WrittenDuration>,
    method: TextSlot,
    target: TextSlot,
    request: TextSlot,
    agent: TextSlot,
    id: TextSlot,
    status: NumberSlot,
    bytes: NumberSlot,
    marks: Marks,
    has_strange_time: bool,
    has_strange_duration: bool,
}

/// Interprets fields by their names.
#[derive(Clone, Debug, Default)]
pub struct Structured {
    /// The time zone for times without an offset.
    pub zone: Zone,
    /// The unit of durations that the user specified, in ns.
    unit: Option<u64>,
    user_fields: FieldMap,
    known: HashMap<String, FieldMeaning, RandomState>,
    line: Line,
    evidence: UnitEvidence,
    /// The units that remain possible for bare durations after the sample, and the chosen unit.
    possible: Vec<u64>,
    assumed_unit_ns: u64,
    has_fraction: bool,
    /// A bit mask of the indices of weakly identified producers whose fields occur in the sample.
    weak_producers: u32,
    /// The weak producer whose unit was chosen.
    preferred: Option<&'static Producer>,
    check: UnitCheck,
    /// The field whose durations have an assumed unit, if any.
    assumed_field: Option<String>,
    /// A field with times that cannot be parsed, and an example.
    strange_time: Option<(String, String)>,
    /// A field with durations that cannot be parsed, and an example.
    strange_duration: Option<(String, String)>,
    /// The number of requests with a time that cannot be parsed.
    strange_times: u64,
    /// The number of requests with a duration that cannot be parsed.
    strange_durations: u64,
    /// The number of durations with a fraction in a log whose sample has none.
    odd: u64,
    /// True if durations are nginx's `$upstream_response_time`.
    has_upstream_times: bool,
    /// Requests that may end in a later line.
    begun: BegunRequests,
    without_request: u64,
    without_time: u64,
    without_duration: u64,
    requests: u64,
    /// Fields that may be durations, times and paths, for logs in which no such field was found.
    candidates: [BTreeSet<String>; 3],
    is_sampling: bool,
}

impl Structured {
    /// Creates an interpreter that has read nothing yet.
    pub fn new(zone: Zone, unit: Option<u64>, user_fields: FieldMap) -> Structured {
        Structured {
            zone,
            unit,
            user_fields,
            possible: UNITS.to_vec(),
            assumed_unit_ns: 1_000_000,
            ..Structured::default()
        }
    }

    /// Starts a new line.
    pub fn begin(&mut self) {
        let line = &mut self.line;
        for slot in [
            &mut line.clock,
            &mut line.date,
            &mut line.method,
            &mut line.target,
            &mut line.request,
            &mut line.agent,
            &mut line.id,
        ] {
            slot.clear();
        }
        (line.time, line.first_ns, line.last_ns) = (None, None, None);
        line.duration = None;
        (line.status, line.bytes) = (NumberSlot::default(), NumberSlot::default());
        line.marks = Marks::default();
        (line.has_strange_time, line.has_strange_duration) = (false, false);
    }

    /// Reads a field of the line.
    pub fn field(&mut self, path: &str, value: Scalar) {
        if path.len() > MAX_PATH {
            return;
        }
        let found = match self.known.get(path) {
            Some(found) => *found,
            None => self.learn(path),
        };
        self.line.marks.add(&found.marks);
        let mut is_read = false;
        for (role, rank) in found.roles.into_iter().flatten() {
            if self.put(role, rank, path, found.unit, value) {
                is_read = true;
                break;
            }
        }
        if self.is_sampling && !is_read {
            self.note_candidate(path, value);
        }
    }

    #[cold]
    fn learn(&mut self, path: &str) -> FieldMeaning {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let found = self.user_fields.meaning(path, meaning(path));
        self.known.insert(path.into(), found);
        found
    }

    /// Stores a value for its role. Returns false if the value does not fit the role.
    fn put(&mut self, role: Role, rank: u16, path: &str, unit: Option<u64>, value: Scalar) -> bool {
        let line = &mut self.line;
        match (role, value) {
            (Role::Duration, value) => return self.put_duration(rank, path, unit, value),
            (Role::Time, value) => return self.put_time(rank, path, value),
            (Role::Date, Scalar::Text(text)) if text.len() == 10 => line.date.put(rank, text),
            (Role::Method, Scalar::Text(text)) => line.method.put(rank, text),
            (Role::Target, Scalar::Text(text)) if !text.is_empty() => line.target.put(rank, text),
            (Role::Request, Scalar::Text(text)) => line.request.put(rank, text),
            (Role::Agent, Scalar::Text(text)) => line.agent.put(rank, text),
            (Role::Id, Scalar::Text(text)) if text.len() > 1 => line.id.put(rank, text),
            (Role::Status, value) => match status(value) {
                Some(status) => line.status.put(rank, status),
                None => return false,
            },
            (Role::Bytes, Scalar::Integer(n)) => line.bytes.put(rank, n),
            (Role::Bytes, Scalar::Text(text)) => match text.parse() {
                Ok(n) => line.bytes.put(rank, n),
                Err(_) => return false,
            },
            _ => return false,
        }
        true
    }

    fn put_duration(&mut self, rank: u16, path: &str, unit: Option<u64>, value: Scalar) -> bool {
        let Some((value, integer, written)) = duration_value(value) else {
            self.note_strange_duration(path, value);
            return false;
        };
        let is_written = written.is_some();
        let unit = written.or(unit);
        // A field that the user named has rank 0. The times of upstream servers are a part of the
        // duration.
        let rank = if (unit.is_some() && !is_upstream_time(path)) || rank == 0 {
            rank
        } else {
            rank + BARE
        };
        if self.line.duration.as_ref().is_none_or(|d| rank < d.rank) {
            let mut field = self
                .line
                .duration
                .take()
                .map(|d| d.field)
                .unwrap_or_default();
            field.clear();
            field.push_str(path);
            self.line.duration = Some(WrittenDuration {
                rank,
                field,
                value,
                integer,
                unit,
                is_written,
            });
        }
        true
    }

    fn note_strange_duration(&mut self, path: &str, value: Scalar) {
        const MISSING: [&str; 7] = ["", "-", "null", "none", "n/a", "nan", "undefined"];
        let Scalar::Text(text) = value else {
            return;
        };
        if MISSING
            .iter()
            .any(|word| text.trim().eq_ignore_ascii_case(word))
        {
            return;
        }
        self.line.has_strange_duration = true;
        if self.strange_duration.is_none() {
            self.strange_duration = Some((path.into(), crate::tally::name(text)));
        }
    }

    fn put_time(&mut self, rank: u16, path: &str, value: Scalar) -> bool {
        let line = &mut self.line;
        let Some(time) = written_time(value) else {
            if let Scalar::Text(text) = value {
                if is_clock(text) {
                    line.clock.put(rank, text);
                    return true;
                }
                if text.len() > 5 && text.contains(':') {
                    line.has_strange_time = true;
                    if self.strange_time.is_none() {
                        self.strange_time = Some((path.into(), crate::tally::name(text)));
                    }
                }
            }
            return false;
        };
        if line.time.is_none_or(|(other, _)| rank < other) {
            line.time = Some((rank, time));
        }
        let ns = time.ns - i128::from(time.offset_s.unwrap_or(0)) * 1_000_000_000;
        line.first_ns = Some(line.first_ns.map_or(ns, |first| first.min(ns)));
        line.last_ns = Some(line.last_ns.map_or(ns, |last| last.max(ns)));
        true
    }

    fn note_candidate(&mut self, path: &str, value: Scalar) {
        let kind = match value {
            Scalar::Integer(_) | Scalar::Float(_) if sounds_like_duration(path) => 0,
            Scalar::Text(text) if text.parse::<f64>().is_ok() && sounds_like_duration(path) => 0,
            Scalar::Text(_) if written_time(value).is_some() => 1,
            Scalar::Text(text) if text.starts_with('/') || text.contains("://") => 2,
            _ => return,
        };
        let candidates = &mut self.candidates[kind];
        if candidates.len() < MAX_LISTED {
            candidates.insert(path.into());
        }
    }

    /// Returns the entry after all fields of a line were read, or `None` if the line describes no
    /// request.
    pub fn finish(&mut self) -> Option<Entry<'_>> {
        let line = &mut self.line;
        let is_end = line.status.rank != NONE || line.duration.is_some();
        let has_other = !line.method.text.is_empty() || is_end;
        let mut has_target = !line.target.text.is_empty() && has_other;
        let has_request = line.request.text.contains([' ', '/']);
        if is_end && let Some(begun) = self.begun.take(&line.id.text) {
            // The line that ends a request may lack the request's method and path.
            if !has_target && !has_request {
                line.method.put(0, &begun.method);
                line.target.put(0, &begun.target);
                line.agent.put(NONE - 1, &begun.agent);
                has_target = true;
            }
        }
        if !has_target && !has_request {
            self.without_request += 1;
            return None;
        }
        let (time_s, offset_s) = self.time();
        let duration_ns = self.duration(time_s);
        let line = &self.line;
        self.requests += 1;
        self.without_duration += u64::from(duration_ns.is_none());
        self.without_time += u64::from(time_s.is_none());
        self.strange_times += u64::from(time_s.is_none() && line.has_strange_time);
        self.strange_durations += u64::from(duration_ns.is_none() && line.has_strange_duration);
        let field = line.duration.as_ref().map_or("", |d| &d.field);
        self.has_upstream_times |= is_upstream_time(field);
        let mut method = line.method.text.as_bytes();
        let mut target = line.target.text.as_bytes();
        // nginx's $uri is the path after rewrites, and `path` can be a log file, so the request
        // line is more reliable.
        if let Some((line_method, line_target)) = request_line(&line.request.text) {
            if line.target.rank != 0 {
                target = line_target;
            }
            if method.is_empty() {
                method = line_method;
            }
        } else if target.is_empty() {
            (method, target) = method_and_target(line.request.text.as_bytes());
        } else if method.is_empty() {
            (method, target) = method_and_target(target);
        }
        let entry = Entry {
            time_s,
            offset_s,
            duration_ns,
            method,
            target,
            is_query: false,
            dialect: Default::default(),
            status: line.status.number as u16,
            bytes: line.bytes.number,
            agent: line.agent.text.as_bytes(),
            id: line.id.text.as_bytes(),
        };
        if is_end || line.has_strange_duration || line.id.text.is_empty() {
            return Some(entry);
        }
        // The request begins here, and a later line with the same ID can describe its end.
        self.begun.put(&entry);
        None
    }

    /// Removes and returns the oldest unfinished request if there are more than `MAX_BEGUN`.
    pub fn unended(&mut self) -> Option<Begun> {
        let begun = self.begun.oldest(MAX_BEGUN);
        self.count_unended(begun)
    }

    /// Removes and returns the oldest unfinished request at the end of the log.
    pub fn last_unended(&mut self) -> Option<Begun> {
        let begun = self.begun.oldest(0);
        self.count_unended(begun)
    }

    fn count_unended(&mut self, begun: Option<Begun>) -> Option<Begun> {
        if let Some(begun) = &begun {
            self.requests += 1;
            self.without_duration += 1;
            self.without_time += u64::from(begun.time_s.is_none());
        }
        begun
    }

    /// Returns true if any request is unfinished.
    pub fn has_begun(&self) -> bool {
        !self.begun.requests.is_empty()
    }

    /// Returns the time of the line's request, and the clock's offset from UTC in seconds.
    fn time(&mut self) -> (Option<i64>, i32) {
        let line = &self.line;
        let of_parts = || {
            if line.clock.text.is_empty() || line.date.text.is_empty() {
                return None;
            }
            // A date and a time in two fields come from the extended log format, in UTC.
            let text = format!("{} {}", line.date.text, line.clock.text);
            let (seconds, _) = iso(text.as_bytes())?;
            Some(WrittenTime {
                ns: i128::from(seconds) * 1_000_000_000,
                offset_s: Some(0),
            })
        };
        let Some(time) = of_parts().or(line.time.map(|(_, time)| time)) else {
            return (None, 0);
        };
        let seconds = time.ns.div_euclid(1_000_000_000) as i64;
        match time.offset_s {
            None => {
                let offset = self.zone.offset_of_local(seconds);
                (Some(seconds - i64::from(offset)), offset)
            }
            Some(0) => (Some(seconds), self.zone.offset_at(seconds)),
            Some(offset) => (Some(seconds - i64::from(offset)), offset),
        }
    }

    /// Returns the duration of the line, in ns.
    fn duration(&mut self, time_s: Option<i64>) -> Option<u64> {
        let duration = self.line.duration.as_ref()?;
        let is_bare = duration.unit.or(self.unit).is_none();
        let is_fraction = duration.integer.is_none();
        if self.is_sampling {
            self.has_fraction |= is_fraction;
        } else if is_bare && is_fraction && !self.has_fraction {
            self.odd += 1;
        }
        let unit = match duration.unit.or(self.unit) {
            Some(unit) => unit,
            None => match self.producer() {
                Some(producer) => producer.unit,
                None => {
                    self.note_weak_producers();
                    self.sample_assumed_unit(time_s)
                }
            },
        };
        let duration = self.line.duration.as_ref()?;
        match duration.integer {
            Some(n) => n.checked_mul(unit),
            None => {
                let ns = duration.value * unit as f64;
                (0.0..1e18).contains(&ns).then_some(ns.round() as u64)
            }
        }
    }

    /// Returns the unit of a bare duration whose producer is unknown.
    fn sample_assumed_unit(&mut self, time_s: Option<i64>) -> u64 {
        let Some(duration) = &self.line.duration else {
            return self.assumed_unit_ns;
        };
        if self.is_sampling {
            self.evidence.add(duration.value, time_s.map(|t| t as f64));
            if let (Some(first), Some(last)) = (self.line.first_ns, self.line.last_ns) {
                self.evidence.add_times(duration.value, first, last);
            }
        } else {
            self.check
                .count((duration.value * self.assumed_unit_ns as f64) as u64);
        }
        if self.assumed_field.is_none() {
            self.assumed_field = Some(duration.field.clone());
        }
        self.assumed_unit_ns
    }

    /// Returns the producer of the line, identified by fields that only this producer writes.
    fn producer(&self) -> Option<&'static Producer> {
        let field = self.line.duration.as_ref().map_or("", |d| &d.field);
        let fits = |(index, producer): &(usize, &Producer)| {
            !producer.is_weak
                && Producer::is_marked(*index, &self.line.marks)
                && producer.writes(field)
                && self.has_its_fraction(producer)
        };
        let found = PRODUCERS.iter().enumerate().find(fits);
        found.map(|(_, producer)| producer)
    }

    /// Returns true if the durations are fractions or whole numbers, as the producer writes them.
    fn has_its_fraction(&self, producer: &Producer) -> bool {
        producer
            .has_fraction
            .is_none_or(|has| has == self.has_fraction)
    }

    /// Records the producers that may have written a line of the sample.
    fn note_weak_producers(&mut self) {
        if !self.is_sampling {
            return;
        }
        for (index, producer) in PRODUCERS.iter().enumerate() {
            if producer.is_weak && Producer::is_marked(index, &self.line.marks) {
                self.weak_producers |= 1 << index;
            }
        }
    }

    /// Returns the producer whose fields occur in the sample and whose unit is likely.
    ///
    /// Durations in seconds are below 1 far more often than durations in any finer unit.
    fn preferred_producer(&self, likely: &[u64]) -> Option<&'static Producer> {
        let has_seconds = self.evidence.is_mostly_below_one() && likely.contains(&1_000_000_000);
        let fits = |(index, producer): &(usize, &Producer)| {
            self.weak_producers & (1 << *index) != 0
                && self.has_its_fraction(producer)
                && likely.contains(&producer.unit)
                && (!has_seconds || producer.unit == 1_000_000_000)
        };
        let found = PRODUCERS.iter().enumerate().find(fits);
        found.map(|(_, producer)| producer)
    }

    /// Starts to read a sample, which determines the units.
    pub fn begin_sample(&mut self) {
        self.is_sampling = true;
    }

    /// Ends the sample and resets its counts, because its lines will be read again.
    pub fn end_sample(&mut self) {
        self.possible = self.evidence.possible(&UNITS);
        let likely = self.evidence.likely(&self.possible);
        self.preferred = self.preferred_producer(&likely);
        // Without other evidence, fractions are seconds and whole numbers are ms.
        let default = if let Some(producer) = self.preferred {
            producer.unit
        } else if self.has_fraction && likely.contains(&1_000_000_000) {
            1_000_000_000
        } else {
            1_000_000
        };
        let last = likely.last().or(self.possible.last()).copied();
        self.assumed_unit_ns = if likely.contains(&default) {
            default
        } else {
            last.unwrap_or(default)
        };
        self.is_sampling = false;
        self.assumed_field = None;
        (self.requests, self.without_request) = (0, 0);
        (self.without_duration, self.without_time) = (0, 0);
        (self.strange_durations, self.strange_times) = (0, 0);
        self.begun = BegunRequests::default();
    }

    /// Returns the unit of durations that contain no unit, in ns.
    ///
    /// The caller must have read a line with a duration. Returns `None` if the user specified the
    /// unit.
    pub fn bare_unit(&self) -> Option<u64> {
        let duration = self.line.duration.as_ref()?;
        let is_bare = !duration.is_written && self.unit.is_none();
        let producer = || {
            self.producer()
                .map_or(self.assumed_unit_ns, |producer| producer.unit)
        };
        is_bare.then(|| duration.unit.unwrap_or_else(producer))
    }

    /// Returns the field and the unit of the durations, and their resolution in ns.
    ///
    /// The caller must have read a line with a duration.
    pub fn duration_words(&self) -> Option<(String, u64)> {
        let duration = self.line.duration.as_ref()?;
        let field = crate::tally::name(&duration.field);
        let (unit, reason) = match (duration.unit.or(self.unit), self.producer()) {
            (Some(unit), _) => (unit, String::new()),
            (None, Some(producer)) => (producer.unit, format!(" as {} writes it", producer.name)),
            (None, None) if self.possible.len() == 1 => (
                self.assumed_unit_ns,
                ", the only unit that fits the values".into(),
            ),
            (None, None) => match self.preferred {
                Some(producer) => (
                    self.assumed_unit_ns,
                    format!(", assumed as {} writes it", producer.name),
                ),
                None => (self.assumed_unit_ns, ", assumed".into()),
            },
        };
        let step = match duration.integer {
            Some(_) => unit,
            None if self.has_milliseconds(duration) => unit / 1000,
            None => 1_000.min(unit),
        };
        let words = if duration.is_written {
            format!("{field}, with its unit")
        } else {
            format!("{field}, in {}{reason}", unit_name(unit))
        };
        Some((words, step.max(1)))
    }

    /// Returns true if the durations have millisecond resolution, because nginx writes three
    /// decimals.
    fn has_milliseconds(&self, duration: &WrittenDuration) -> bool {
        duration.unit == Some(1_000_000_000) || duration.field.ends_with("request_time")
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut assumptions = Vec::new();
        if let Some((field, example)) = &self.strange_duration
            && self.strange_durations > 0
        {
            assumptions.push(LogAssumption::UnparsedDurations {
                field: crate::tally::name(field),
                example: example.clone(),
                requests: self.strange_durations,
            });
        }
        let Some(field) = &self.assumed_field else {
            return assumptions;
        };
        let field = format!("the field {}", crate::tally::name(field));
        let assumption = if self.check.is_often(self.odd) {
            LogAssumption::MixedForms {
                place: field,
                unit_ns: self.assumed_unit_ns,
            }
        } else if self.check.is_contradicted() {
            doubted_unit(&field, self.assumed_unit_ns)
        } else if self.possible.len() == 1 {
            return assumptions;
        } else {
            assumed_unit(&field, self.assumed_unit_ns, &self.possible)
        };
        assumptions.push(assumption);
        assumptions
    }

    /// Returns advice about data in the lines that cannot be parsed or is skipped.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = Vec::new();
        if self.has_upstream_times {
            advice.push(LogAdvice::UpstreamTimes);
        }
        if self.requests > 0
            && self.without_duration == self.requests
            && self.strange_durations == 0
        {
            advice.push(self.missing(FieldRole::Duration));
        }
        let has_no_time = self.requests > 0 && self.without_time == self.requests;
        if has_no_time || self.strange_times > 0 {
            advice.push(match &self.strange_time {
                Some((field, example)) => LogAdvice::TimesUnparsed {
                    field: crate::tally::name(field),
                    example: example.clone(),
                },
                None => self.missing(FieldRole::Time),
            });
        }
        if self.without_request > 0 && self.requests > 0 {
            advice.push(LogAdvice::LinesWithoutRequest {
                lines: self.without_request,
            });
        }
        advice
    }

    /// Explains why a log without requests cannot be read, and lists the fields that may be the
    /// path.
    pub fn no_request(&self) -> LogAdvice {
        self.missing(FieldRole::Path)
    }

    /// Returns advice about a role that no known field has, and lists the fields that may have it.
    fn missing(&self, role: FieldRole) -> LogAdvice {
        let [durations, times, paths] = &self.candidates;
        let candidates = match role {
            FieldRole::Duration => durations,
            FieldRole::Time => times,
            FieldRole::Path => paths,
        };
        LogAdvice::FieldMissing {
            role,
            candidates: candidates.iter().map(|c| crate::tally::name(c)).collect(),
        }
    }
}

/// A request whose end may be in a later line.
#[derive(Clone, Debug, Default)]
pub struct Begun {
    time_s: Option<i64>,
    offset_s: i32,
    method: String,
    target: String,
    agent: String,
    id: String,
}

impl Begun {
    /// Returns the entry of an unfinished request.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            time_s: self.time_s,
            offset_s: self.offset_s,
            method: self.method.as_bytes(),
            target: self.target.as_bytes(),
            agent: self.agent.as_bytes(),
            id: self.id.as_bytes(),
            ..Entry::default()
        }
    }
}

/// The requests whose end may be in a later line, oldest first.
///
/// Fastify and structlog write a line when a request begins, and another line when the request
/// ends.
#[derive(Clone, Debug, Default)]
struct BegunRequests {
    /// The sequence number of each request by ID, in the order in which the requests began.
    numbers: HashMap<String, u64, RandomState>,
    requests: BTreeMap<u64, Begun>,
    next: u64,
}

impl BegunRequests {
    fn put(&mut self, entry: &Entry) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let begun = Begun {
            time_s: entry.time_s,
            offset_s: entry.offset_s,
            method: text(entry.method),
            target: text(entry.target),
            agent: text(entry.agent),
            id: text(entry.id),
        };
        self.numbers.insert(begun.id.clone(), self.next);
        self.requests.insert(self.next, begun);
        self.next += 1;
    }

    fn take(&mut self, id: &str) -> Option<Begun> {
        let number = self.numbers.remove(id)?;
        self.requests.remove(&number)
    }

    /// Removes and returns the oldest request if there are more than `max`.
    fn oldest(&mut self, max: usize) -> Option<Begun> {
        if self.requests.len() <= max {
            return None;
        }
        let (number, begun) = self.requests.pop_first()?;
        if self.numbers.get(&begun.id) == Some(&number) {
            self.numbers.remove(&begun.id);
        }
        Some(begun)
    }
}

/// Returns method and target if the text is certainly a request line, or a path alone.
fn request_line(text: &str) -> Option<(&[u8], &[u8])> {
    let (method, target) = method_and_target(text.as_bytes());
    let is_target = target.starts_with(b"/")
        || (!method.is_empty() && memchr::memmem::find(target, b"://").is_some());
    (is_target && !target.contains(&b' ')).then_some((method, target))
}

fn status(value: Scalar) -> Option<u64> {
    let status = match value {
        Scalar::Integer(n) => n,
        Scalar::Text(text) => text.split(' ').next()?.parse().ok()?,
        Scalar::Float(f) if f.fract() == 0.0 && f > 0.0 => f as u64,
        Scalar::Float(_) => return None,
    };
    (status < 1000).then_some(status)
}

/// Parses a duration.
///
/// Returns the value, the value as an integer if it has no fraction, and the unit in ns if the text
/// states it.
fn duration_value(value: Scalar) -> Option<(f64, Option<u64>, Option<u64>)> {
    match value {
        Scalar::Integer(n) => Some((n as f64, Some(n), None)),
        Scalar::Float(f) => (0.0..1e18).contains(&f).then_some((f, None, None)),
        Scalar::Text(text) => {
            let text = text.trim();
            if let Ok(n) = text.parse::<u64>() {
                return Some((n as f64, Some(n), None));
            }
            if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
                let number: f64 = text.parse().ok()?;
                return (number < 1e18).then_some((number, None, None));
            }
            if let Some(ns) = sum_ns(text.as_bytes()).filter(|_| is_list(text.as_bytes())) {
                return Some((ns as f64 / 1e9, None, None));
            }
            let ns = parse_written_duration(text)?;
            Some((ns as f64, Some(ns), Some(1)))
        }
    }
}

/// Parses a time from a field.
fn written_time(value: Scalar) -> Option<WrittenTime> {
    match value {
        Scalar::Integer(n) => epoch(n as f64, i128::from(n)),
        Scalar::Float(f) => epoch(f, f as i128),
        Scalar::Text(text) => {
            // Tomcat's JsonAccessLogValve writes the brackets of the common log format.
            let text = text.strip_prefix('[').unwrap_or(text);
            let text = text.strip_suffix(']').unwrap_or(text);
            let bytes = text.as_bytes();
            if let Some((seconds, offset_s)) = iso(bytes) {
                let ns = i128::from(seconds) * 1_000_000_000 + fraction_ns(&bytes[19..]);
                return Some(WrittenTime { ns, offset_s });
            }
            if let Some(seconds) = clf(bytes) {
                let offset_s = bytes.get(21..26).and_then(offset);
                return Some(WrittenTime {
                    ns: i128::from(seconds) * 1_000_000_000,
                    offset_s,
                });
            }
            let number: f64 = text.parse().ok()?;
            epoch(number, number as i128)
        }
    }
}

/// Parses a time since 1970 in s, ms, µs or ns. The function chooses the unit for which the time is
/// between 2001 and 2099.
fn epoch(number: f64, integer: i128) -> Option<WrittenTime> {
    let scales = [1_000_000_000_i128, 1_000_000, 1_000, 1];
    let scale = *scales
        .iter()
        .find(|scale| number * **scale as f64 / 1e9 < 4.1e9)?;
    // A log is unlikely to contain times before 2001.
    let is_time = number * scale as f64 / 1e9 >= 1e9;
    is_time.then(|| WrittenTime {
        ns: integer * scale + ((number - integer as f64) * scale as f64) as i128,
        offset_s: Some(0),
    })
}

/// Parses a fraction such as `.123`, in ns.
fn fraction_ns(text: &[u8]) -> i128 {
    let [b'.' | b',', digits @ ..] = text else {
        return 0;
    };
    let digits = digits.iter().take_while(|b| b.is_ascii_digit()).take(9);
    let (mut ns, mut digit_value) = (0, 100_000_000);
    for digit in digits {
        ns += i128::from(digit - b'0') * digit_value;
        digit_value /= 10;
    }
    ns
}

/// Returns true for a time of day such as `21:02:31`.
fn is_clock(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[2] == b':'
        && bytes[5] == b':'
        && bytes[..8].iter().filter(|b| b.is_ascii_digit()).count() == 6
}
