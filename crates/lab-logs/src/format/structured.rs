// SPDX-License-Identifier: Apache-2.0
//! Interprets lines with named fields, such as JSON and `key=value`.
//!
//! Finds the fields that describe the request, and the unit of the request's duration.

use super::combined::method_and_target;
use super::field_names::{
    FieldMap, FieldMeaning, Marks, PRODUCERS, Producer, Role, implies_unit, is_upstream_time,
    meaning, sounds_like_duration,
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
/// The number of fractions without a third decimal from which a producer does not write three.
const MIN_FRACTIONS: u64 = 10;
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
    /// The decimals of the number.
    decimals: Decimals,
}

/// The decimals of a bare number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decimals {
    /// Exactly three decimals as written.
    Three,
    /// At most three decimals. JSON numbers have lost their trailing zeros.
    Fewer,
    /// None, or more than three.
    Other,
}

impl Decimals {
    fn find(value: Scalar) -> Decimals {
        match value {
            Scalar::Text(text) => match text.trim().split_once('.') {
                Some((_, decimals)) if decimals.len() == 3 => Decimals::Three,
                _ => Decimals::Other,
            },
            Scalar::Float(f) => {
                let thousandths = f * 1e3;
                if (thousandths - thousandths.round()).abs() > 1e-6 * thousandths.max(1.0) {
                    Decimals::Other
                } else if thousandths.round() % 10.0 == 0.0 {
                    Decimals::Fewer
                } else {
                    Decimals::Three
                }
            }
            Scalar::Integer(_) => Decimals::Other,
        }
    }
}

/// The decimals of a sample's durations.
#[derive(Clone, Copy, Debug, Default)]
struct DecimalCounts {
    three: u64,
    fewer: u64,
    other: u64,
}

impl DecimalCounts {
    fn add(&mut self, duration: &WrittenDuration) {
        // A number without a fraction, such as 0, may have lost its decimals.
        let is_whole = duration.value.fract() == 0.0;
        match duration.decimals {
            Decimals::Three => self.three += 1,
            Decimals::Fewer if !is_whole => self.fewer += 1,
            Decimals::Other if !is_whole => self.other += 1,
            _ => {}
        }
    }

    /// Returns true if the durations have three decimals.
    ///
    /// The last of three decimals is 0 in one of ten numbers, and not in all of them.
    fn are_three(&self) -> bool {
        self.other == 0 && (self.three > 0 || self.fewer < MIN_FRACTIONS)
    }
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

/// A bare duration of the sample.
#[derive(Clone, Debug)]
struct SampledDuration {
    /// The index of the producer that identifies itself in the line, if any.
    producer: Option<usize>,
    /// The duration as written.
    value: f64,
    time_s: Option<i64>,
    /// The first and the last time in the line, in ns since 1970.
    times: Option<(i128, i128)>,
}

impl SampledDuration {
    fn add_to(&self, evidence: &mut UnitEvidence) {
        evidence.add(self.value, self.time_s.map(|time| time as f64));
        if let Some((first, last)) = self.times {
            evidence.add_times(self.value, first, last);
        }
    }
}

/// A field that may have a role. Fields whose names imply a unit come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    lacks_unit: bool,
    path: String,
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
    /// The bare durations of the sample.
    sampled: Vec<SampledDuration>,
    /// A bit mask of the indices of producers whose unit makes the sample's durations implausible.
    implausible_producers: u32,
    /// The decimals of the sample's durations without a unit.
    decimals: DecimalCounts,
    /// A check of durations in their producer's unit.
    producer_check: UnitCheck,
    /// The first field with durations in their producer's unit, and that unit in ns.
    producer_field: Option<(String, u64)>,
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
    /// The first field with a duration in a line without a request.
    skipped_duration: Option<String>,
    /// The first field whose durations are skipped because they cover only a part of a request.
    partial_duration: Option<String>,
    without_time: u64,
    without_duration: u64,
    requests: u64,
    /// Fields that may be durations, times and paths, for logs in which no such field was found.
    candidates: [BTreeSet<Candidate>; 3],
    /// A field whose text is a JSON object.
    json_text: Option<String>,
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
        self.line.marks.add(match value {
            Scalar::Text(_) => &found.other_marks,
            _ => &found.number_marks,
        });
        let mut is_read = false;
        for (role, rank) in found.roles.into_iter().flatten() {
            if self.put(role, rank, path, &found, value) {
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
    fn put(
        &mut self,
        role: Role,
        rank: u16,
        path: &str,
        found: &FieldMeaning,
        value: Scalar,
    ) -> bool {
        let line = &mut self.line;
        match (role, value) {
            (Role::Duration, value) => return self.put_duration(rank, path, found, value),
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

    fn put_duration(&mut self, rank: u16, path: &str, found: &FieldMeaning, value: Scalar) -> bool {
        let decimals = Decimals::find(value);
        let Some((value, integer, written)) = duration_value(value) else {
            self.note_strange_duration(path, value);
            return false;
        };
        let is_written = written.is_some();
        let unit = written.or(found.unit);
        // A unit that the user specified is that of a bare number.
        let is_own = found.is_own && self.unit.is_none();
        // A field that the user named has rank 0. The times of upstream servers are a part of the
        // duration.
        let rank = if (unit.is_some() && !is_upstream_time(path)) || is_own || rank == 0 {
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
                decimals,
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
            Scalar::Integer(_) | Scalar::Float(_) if may_be_duration(path, value) => 0,
            Scalar::Text(text) if text.parse::<f64>().is_ok() && may_be_duration(path, value) => 0,
            Scalar::Text(_) if written_time(value).is_some() => 1,
            Scalar::Text(text) if text.starts_with('/') || text.contains("://") => 2,
            // Docker's json-file logs keep the line end.
            Scalar::Text(text) if text.starts_with('{') && text.trim_end().ends_with('}') => {
                let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
                if self.json_text.is_none() && path.bytes().all(is_plain) {
                    self.json_text = Some(path.into());
                }
                return;
            }
            _ => return,
        };
        let candidates = &mut self.candidates[kind];
        candidates.insert(Candidate {
            lacks_unit: kind == 0 && !implies_unit(path),
            path: path.into(),
        });
        if candidates.len() > MAX_LISTED {
            candidates.pop_last();
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
            if let Some(duration) = &line.duration
                && self.skipped_duration.is_none()
            {
                self.skipped_duration = Some(duration.field.clone());
            }
            return None;
        }
        self.drop_partial_duration();
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
            let text = format!("{} {}", line.date.text, line.clock.text);
            let (seconds, offset_s) = iso(text.as_bytes())?;
            // The extended log format is in UTC.
            let utc = line.marks.are_in_utc().then_some(0);
            Some(WrittenTime {
                ns: i128::from(seconds) * 1_000_000_000,
                offset_s: offset_s.or(utc),
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

    /// Removes a duration that covers only a part of the request, unless the user specified its
    /// field.
    fn drop_partial_duration(&mut self) {
        let marks = self.line.marks;
        let is_partial = |duration: &mut WrittenDuration| {
            let mut producers = PRODUCERS.iter().enumerate();
            duration.rank != 0
                && producers.any(|(index, producer)| {
                    producer.is_partial(&duration.field) && Producer::is_marked(index, &marks)
                })
        };
        if let Some(duration) = self.line.duration.take_if(is_partial)
            && self.partial_duration.is_none()
        {
            self.partial_duration = Some(duration.field);
        }
    }

    /// Returns the duration of the line, in ns.
    fn duration(&mut self, time_s: Option<i64>) -> Option<u64> {
        let duration = self.line.duration.as_ref()?;
        let is_bare = duration.unit.or(self.unit).is_none();
        let is_fraction = duration.integer.is_none();
        if self.is_sampling {
            self.has_fraction |= is_fraction;
            if is_bare {
                self.decimals.add(duration);
            }
        } else if is_bare && is_fraction && !self.has_fraction {
            self.odd += 1;
        }
        let unit = match duration.unit.or(self.unit) {
            Some(unit) => unit,
            None => self.bare_duration_unit(time_s),
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

    /// Returns the unit of a bare duration, which is added to the sample or checked.
    fn bare_duration_unit(&mut self, time_s: Option<i64>) -> u64 {
        let producer = self.producer_index();
        if producer.is_none() {
            self.note_weak_producers();
        }
        let unit = producer.map_or(self.assumed_unit_ns, |index| PRODUCERS[index].unit);
        let Some(duration) = &self.line.duration else {
            return unit;
        };
        if self.is_sampling {
            self.sampled.push(SampledDuration {
                producer,
                value: duration.value,
                time_s,
                times: self.line.first_ns.zip(self.line.last_ns),
            });
            return unit;
        }
        let ns = (duration.value * unit as f64) as u64;
        if producer.is_none() {
            self.check.count(ns);
            if self.assumed_field.is_none() {
                self.assumed_field = Some(duration.field.clone());
            }
        } else {
            self.producer_check.count(ns);
            if self.producer_field.is_none() {
                self.producer_field = Some((duration.field.clone(), unit));
            }
        }
        unit
    }

    /// Returns the producer of the line, identified by fields that only this producer writes.
    fn producer(&self) -> Option<&'static Producer> {
        self.producer_index().map(|index| &PRODUCERS[index])
    }

    fn producer_index(&self) -> Option<usize> {
        let field = self.line.duration.as_ref().map_or("", |d| &d.field);
        let fits = |(index, producer): &(usize, &Producer)| {
            !producer.is_weak
                && Producer::is_marked(*index, &self.line.marks)
                && (producer.writes(field) || producer.is_partial(field))
                && self.implausible_producers & (1 << *index) == 0
                && self.has_its_form(producer)
        };
        let found = PRODUCERS.iter().enumerate().find(fits);
        found.map(|(index, _)| index)
    }

    /// Returns true if the durations are fractions or whole numbers, as the producer writes them.
    fn has_its_form(&self, producer: &Producer) -> bool {
        let has_fraction = producer.has_fraction;
        has_fraction.is_none_or(|has| has == self.has_fraction)
            && (!producer.has_three_decimals || self.decimals.are_three())
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
                && self.has_its_form(producer)
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

    /// Excludes the producers whose unit makes their durations implausible, and returns the units of
    /// these producers.
    fn exclude_producers(&mut self) -> Vec<u64> {
        let mut by_producer = BTreeMap::<usize, UnitEvidence>::new();
        for duration in &self.sampled {
            if let Some(index) = duration.producer {
                duration.add_to(by_producer.entry(index).or_default());
            }
        }
        let mut excluded = Vec::new();
        for (index, evidence) in by_producer {
            let unit = PRODUCERS[index].unit;
            if self.has_its_form(&PRODUCERS[index]) && evidence.contradicts(unit) {
                self.implausible_producers |= 1 << index;
                excluded.push(unit);
            }
        }
        excluded
    }

    /// Ends the sample and resets its counts, because its lines will be read again.
    pub fn end_sample(&mut self) {
        let excluded = self.exclude_producers();
        for duration in std::mem::take(&mut self.sampled) {
            let is_known = |index: usize| {
                self.implausible_producers & (1 << index) == 0
                    && self.has_its_form(&PRODUCERS[index])
            };
            if !duration.producer.is_some_and(is_known) {
                duration.add_to(&mut self.evidence);
            }
        }
        self.possible = self.evidence.possible(&UNITS);
        // The fields suggest such a unit, although the values do not.
        for unit in excluded {
            if !self.possible.contains(&unit) {
                self.possible.push(unit);
            }
        }
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
        if let Some((field, unit)) = &self.producer_field
            && self.producer_check.is_too_long()
        {
            let field = format!("the field {}", crate::tally::name(field));
            assumptions.push(doubted_unit(&field, *unit));
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
            advice.push(self.missing_durations());
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

    /// Explains why no request has a duration.
    fn missing_durations(&self) -> LogAdvice {
        let name = |field: &String| crate::tally::name(field);
        if let Some(field) = self.partial_duration.as_ref().map(name) {
            LogAdvice::PartialDurations { field }
        } else if let Some(field) = self.skipped_duration.as_ref().map(name) {
            LogAdvice::DurationsWithoutRequest { field }
        } else {
            self.missing(FieldRole::Duration)
        }
    }

    /// Explains why a log without requests cannot be read, and lists the fields that may be the
    /// path.
    pub fn no_request(&self) -> LogAdvice {
        match &self.json_text {
            Some(field) => LogAdvice::JsonInText {
                field: field.clone(),
            },
            None => self.missing(FieldRole::Path),
        }
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
            candidates: candidates
                .iter()
                .map(|candidate| crate::tally::name(&candidate.path))
                .collect(),
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

/// Returns true if a number sounds like a duration and is not a time since 1970.
///
/// A duration in ns can look like a time in seconds.
fn may_be_duration(path: &str, value: Scalar) -> bool {
    let number = match value {
        Scalar::Integer(n) => n as f64,
        Scalar::Float(f) => f,
        Scalar::Text(text) => text.parse().unwrap_or(0.0),
    };
    let is_time = epoch(number, number as i128).is_some();
    sounds_like_duration(path) && (!is_time || (implies_unit(path) && number < 1e10))
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
