// SPDX-License-Identifier: Apache-2.0
//! Interprets lines with named fields, such as JSON and `key=value`.
//!
//! Finds the fields that describe the request, and the unit of the request's duration.

use super::combined::method_and_target;
use super::field_names::{
    FieldMap, FieldMeaning, Marks, PRODUCERS, Producer, Role, implies_unit, is_shared_id,
    is_upstream_time, meaning, plain, sounds_like_duration,
};
use super::open_requests::{OpenRequest, OpenRequests, PathLines};
use super::units::{
    UNITS, UnitCheck, UnitEvidence, absurd_unit, assumed_unit, contradiction, doubted_unit,
    unit_name,
};
use super::upstream::{is_list, sum_ns};
use crate::entry::Entry;
use crate::time::{Zone, ZonedTime, basic_iso, parse_written_duration, zoned_clf, zoned_iso};
use crate::zone_words::ZoneWords;
use foldhash::fast::RandomState;
use lab_model::{FieldRole, LogAdvice, LogAssumption};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// The maximum number of field names with cached meanings.
const MAX_KNOWN: usize = 4_096;
/// The maximum length of a field's path, in bytes. Fields with longer paths are ignored.
const MAX_PATH: usize = 128;
/// The maximum number of fields that advice lists.
const MAX_LISTED: usize = 6;
/// The maximum number of IDs of unfinished requests in a sample.
const MAX_SAMPLED_IDS: usize = 10_000;
/// The status of a request that failed without a response.
const FAILED: u64 = 500;
/// The minimum number of fractions from which the parser concludes that a producer does not write
/// three decimals, if no fraction has a third decimal.
const MIN_FRACTIONS: u64 = 10;
/// The rank of a field that was not found.
const NONE: u16 = u16::MAX;
/// The maximum relative difference at which two values count as the same duration.
const SAME_DURATION: f64 = 0.05;
/// The prefixes of .NET categories whose messages describe a part of a request.
const PARTS: [&str; 2] = [
    "Microsoft.EntityFrameworkCore",
    "System.Net.Http.HttpClient",
];
/// The minimum number of lines after which a field that never changes is not the path.
const MIN_CONSTANT: u64 = 20;
/// The maximum number of fields with path names whose values are compared in a sample.
const MAX_SAMPLED_PATHS: usize = 16;
/// The penalty added to the rank of a duration if neither its value nor its name implies a unit.
const BARE: u16 = 1 << 12;

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'v> {
    Text(&'v str),
    Integer(u64),
    Float(f64),
}

/// The text of the field with the lowest rank so far.
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

    fn put_number(&mut self, rank: u16, number: u64) {
        if rank < self.rank {
            self.put(rank, "");
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{number}");
        }
    }

    fn clear(&mut self) {
        self.rank = NONE;
        self.text.clear();
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The number in the field with the lowest rank so far.
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

    fn is_empty(&self) -> bool {
        self.rank == NONE
    }
}

/// A field with a value that cannot be used, and an example of such a value.
#[derive(Clone, Debug, Default)]
struct StrangeField {
    example: Option<(String, String)>,
    /// The number of requests that have such a value and no other field with a usable value.
    requests: u64,
}

impl StrangeField {
    fn note(&mut self, path: &str, value: Scalar) {
        if self.example.is_none() {
            let text = match value {
                Scalar::Text(text) => crate::tally::name(text),
                Scalar::Integer(n) => n.to_string(),
                Scalar::Float(f) if f.abs() < 1e15 => f.to_string(),
                Scalar::Float(f) => format!("{f:e}"),
            };
            self.example = Some((crate::tally::name(path), text));
        }
    }

    /// Returns the field and the example, if any request lacks a usable value for this reason.
    fn found(&self) -> Option<(String, String)> {
        self.example.clone().filter(|_| self.requests > 0)
    }
}

/// The meaning of a field, and the use of its values apart from that meaning.
#[derive(Clone, Copy, Debug)]
struct KnownField {
    meaning: FieldMeaning,
    hint: FieldHint,
}

/// A use of a field's value, apart from the field's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldHint {
    None,
    /// The field is just called `id`, so it may be the ID of the request or of anything else.
    BareId,
    /// The text of a database statement.
    Statement,
    /// The category of the message.
    Category,
}

impl FieldHint {
    fn new(path: &str) -> FieldHint {
        let name = plain(path);
        let last = name.rsplit('.').next().unwrap_or(&name);
        match (name.as_str(), last) {
            ("id", _) => FieldHint::BareId,
            ("db.statement" | "db.query.text", _) | (_, "commandtext" | "sql") => {
                FieldHint::Statement
            }
            (_, "sourcecontext" | "category" | "loggername" | "logger") => FieldHint::Category,
            _ => FieldHint::None,
        }
    }
}

/// The stage of a request that a line describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The line has neither a status nor a duration.
    Begin,
    /// The line has a status, and a later line may have the duration.
    Status,
    /// The line has everything that the log contains about the request.
    End,
}

/// A point in time as written in a line.
#[derive(Clone, Copy, Debug)]
struct WrittenTime {
    /// The date and time as written, in ns since 1970 as if they were UTC.
    ns: i128,
    /// The offset from UTC in seconds, or `None` if the time has no offset.
    offset_s: Option<i32>,
}

/// A line's duration as written.
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

/// The number of decimals in a duration without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decimals {
    /// Exactly three decimals as written.
    Three,
    /// At most two decimals, or three with a final zero, because JSON numbers have lost their
    /// trailing zeros.
    Fewer,
    /// Any other number of decimals.
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

/// The counts of durations in a sample by their number of decimals.
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

    /// Returns true if the producer writes exactly three decimals.
    ///
    /// In such durations, the third decimal is 0 in about one of ten numbers. If it seems to be
    /// missing in all numbers, the producer writes fewer decimals.
    fn are_three(&self) -> bool {
        self.other == 0 && (self.three > 0 || self.fewer < MIN_FRACTIONS)
    }
}

/// The relation of a line to earlier lines with the same ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    /// The line continues an unfinished request.
    Open,
    /// The line repeats a request that has ended.
    Ended,
    /// No earlier line is about the request.
    Nothing,
}

/// The fields of the current line that have been read so far.
#[derive(Clone, Debug, Default)]
struct Line {
    time: Option<(u16, WrittenTime)>,
    /// The name of the zone of `time`. Empty if `time` has an offset or the line names no zone.
    zone: String,
    /// The time of day as written, if the date is in a separate field.
    clock: TextSlot,
    /// The date as written, if the time of day is in a separate field.
    date: TextSlot,
    /// The name of the field with the time of day.
    clock_field: String,
    first_ns: Option<i128>,
    last_ns: Option<i128>,
    duration: Option<WrittenDuration>,
    /// The name of a field with a different duration.
    rival: Option<String>,
    method: TextSlot,
    target: TextSlot,
    request: TextSlot,
    agent: TextSlot,
    id: TextSlot,
    bare_id: TextSlot,
    status: NumberSlot,
    bytes: NumberSlot,
    marks: Marks,
    flags: LineFlags,
}

/// Facts about a line that follow from individual fields.
#[derive(Clone, Copy, Debug, Default)]
struct LineFlags {
    has_strange_time: bool,
    has_strange_duration: bool,
    has_strange_status: bool,
    /// True if a field for the duration exists but has no value.
    has_empty_duration: bool,
    /// True if a field for the status exists but has no value.
    has_empty_status: bool,
    has_statement: bool,
    /// True if the category marks messages about a part of a request.
    is_of_part: bool,
    has_shared_id: bool,
    /// True if a path comes from a field outside of arrays.
    has_outer_target: bool,
}

impl Line {
    fn has_status(&self) -> bool {
        !self.status.is_empty()
    }

    fn has_duration(&self) -> bool {
        self.duration.is_some() || self.flags.has_strange_duration
    }

    /// Returns true if a field contains the request line, or other text that a client sent instead
    /// of a request line.
    fn has_request_line(&self, stage: Stage) -> bool {
        let text = &self.request.text;
        request_line(text).is_some() || (stage != Stage::Begin && text.contains([' ', '/']))
    }

    /// Returns the method and the target.
    fn method_and_target(&self) -> (&[u8], &[u8]) {
        let method = self.method.text.as_bytes();
        let target = self.target.text.as_bytes();
        // nginx's $uri is the path after rewrites, and `path` can be a log file, so the request
        // line is more reliable.
        if let Some((line_method, line_target)) = request_line(&self.request.text) {
            let target = match self.target.rank {
                0 => target,
                _ => line_target,
            };
            return (
                if method.is_empty() {
                    line_method
                } else {
                    method
                },
                target,
            );
        }
        if target.is_empty() {
            method_and_target(self.request.text.as_bytes())
        } else if method.is_empty() {
            method_and_target(target)
        } else {
            (method, target)
        }
    }

    /// Adds the information from earlier lines of the request.
    fn add(&mut self, open: &OpenRequest, has_target: bool) {
        if !has_target {
            self.method.put(0, &open.method);
            self.target.put(0, &open.target);
        }
        self.agent.put(NONE - 1, &open.agent);
        if open.status > 0 {
            self.status.put(NONE - 1, u64::from(open.status));
        }
        if open.bytes > 0 {
            self.bytes.put(NONE - 1, open.bytes);
        }
    }
}

/// A duration in the sample that was written without a unit.
#[derive(Clone, Debug)]
struct SampledDuration {
    /// The index of the producer that the line's fields identify, if any.
    producer: Option<usize>,
    /// The duration as written.
    value: f64,
    time_s: Option<i64>,
    /// The first and the last timestamp in the line, in ns since 1970.
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

/// A producer whose unit is ruled out, because its durations would be unusually long or short.
#[derive(Clone, Copy, Debug)]
struct ExcludedProducer {
    unit: u64,
    /// True if the durations would be long, but short enough for a client to wait.
    is_long: bool,
}

/// A field that may have a role.
///
/// Fields whose names imply a unit are sorted first. Among the fields with and without a unit,
/// names that contain `total` are first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    lacks_unit: bool,
    lacks_total: bool,
    path: String,
}

/// The values of one field in a sample. The name of the field suggests that it contains the path.
#[derive(Clone, Debug)]
struct SampledPath {
    field: String,
    lines: u64,
    first: String,
    /// True if all values are equal to the first value.
    is_constant: bool,
    /// True if all values look like the name of a log file.
    is_log_file: bool,
    /// True if all values have a path after the host, if they have a host.
    has_paths: bool,
}

impl SampledPath {
    fn new(field: &str) -> SampledPath {
        SampledPath {
            field: field.into(),
            lines: 0,
            first: String::new(),
            is_constant: true,
            is_log_file: true,
            has_paths: true,
        }
    }

    fn add(&mut self, text: &str) {
        if self.lines == 0 {
            self.first.push_str(text);
        }
        self.lines += 1;
        self.is_constant &= self.first == text;
        self.is_log_file &= is_log_file(text);
        let behind_host = match text.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
            None => text.strip_prefix('/').map_or("", |_| text),
        };
        self.has_paths &= !behind_host.is_empty();
    }

    /// Returns true if this field does not contain the path, but `other` does.
    ///
    /// A constant field is replaced only if `other` varies, because both are constant in a log with
    /// only one page. The name of a log file is replaced even if `other` is constant.
    fn is_replaced_by(&self, other: &SampledPath) -> bool {
        let can_replace = other.lines >= self.lines && other.has_paths && !other.is_log_file;
        let page = |text: &str| text.split(['?', '#']).next().unwrap_or("").to_string();
        let differs = !page(&other.first).ends_with(&page(&self.first));
        let varies = self.lines >= MIN_CONSTANT && self.is_constant && !other.is_constant;
        can_replace && differs && (self.is_log_file || varies)
    }
}

/// Returns true if a text looks like the name of a log file, which log shippers add to each line.
fn is_log_file(text: &str) -> bool {
    let name = text.split(['?', '#']).next().unwrap_or(text);
    let is_file = name.contains(['/', '\\']);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let has_end = [".log", "_log", "-json.log"]
        .iter()
        .any(|end| name.ends_with(end));
    is_file && (has_end || name.contains(".log.") || name.contains(".log-"))
}

/// An interpreter that finds the meaning of fields by their names.
#[derive(Clone, Debug, Default)]
pub struct Structured {
    /// The time zone for timestamps without an offset.
    pub zone: Zone,
    /// The time zones whose names the log's timestamps contain.
    zone_words: ZoneWords,
    /// The unit of durations that the user specified, in ns.
    unit: Option<u64>,
    /// A check of the durations in the unit that the user specified.
    given_check: UnitCheck,
    /// The first field with durations in the unit that the user specified.
    given_field: Option<String>,
    user_fields: FieldMap,
    known: HashMap<String, KnownField, RandomState>,
    line: Line,
    evidence: UnitEvidence,
    /// The units, in ns, that remain possible after the sample for durations without a unit.
    possible: Vec<u64>,
    assumed_unit_ns: u64,
    has_fraction: bool,
    /// A bit mask of the indices of producers whose fields occur in the sample, but whose
    /// identification is weak.
    weak_producers: u32,
    /// The sample's durations without a unit.
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
    /// The first field with a timestamp that cannot be parsed, and the timestamp as an example.
    strange_time: Option<(String, String)>,
    /// A field for timestamps with values that hardly look like timestamps, such as small numbers.
    odd_time: StrangeField,
    /// The number of requests whose timestamp cannot be parsed.
    strange_times: u64,
    strange_duration: StrangeField,
    strange_status: StrangeField,
    /// The name of the first field for durations that had no value in a line.
    empty_duration: Option<String>,
    /// The field of the durations, and a field with different durations.
    rival: Option<(String, String)>,
    /// The number of durations that have a fraction although the sample's durations have none.
    odd: u64,
    /// True if durations are nginx's `$upstream_response_time`.
    has_upstream_times: bool,
    /// Requests that may end in a later line.
    open: OpenRequests,
    path_lines: PathLines,
    /// The values that the sample has in fields that are just called `id`.
    bare_ids: BareIds,
    has_bare_ids: bool,
    /// True if any request has a status or a duration.
    has_ends: bool,
    has_durations: bool,
    /// True if any line contains both the status and the duration of a request.
    has_complete_lines: bool,
    /// True while fields are read from an element of an array.
    pub is_in_array: bool,
    without_request: u64,
    /// The first field with a duration in a line without a request.
    skipped_duration: Option<String>,
    /// The first field whose durations are skipped because they cover only a part of a request.
    partial_duration: Option<String>,
    /// The number of requests with neither a status nor a duration.
    unfinished: u64,
    /// The number of lines that repeat a request that has ended.
    repeated: u64,
    /// The number of lines that describe only a part of a request.
    parts: u64,
    without_time: u64,
    without_duration: u64,
    requests: u64,
    /// The number of requests without a status.
    without_status: u64,
    /// The fields that the user specified, if they have had a value so far.
    seen_user_fields: BTreeSet<String>,
    /// The sample's fields whose names suggest that they contain the path.
    sampled_paths: Vec<SampledPath>,
    /// Advice that names the field that is used for paths, and the field that was not used because
    /// it contains something else.
    path_field: Option<LogAdvice>,
    /// Fields that may be durations, timestamps, paths and statuses, in this order.
    ///
    /// They are listed in advice if a log has no known field of that kind.
    candidates: [BTreeSet<Candidate>; 4],
    /// A field whose value is text with a JSON object.
    json_text: Option<String>,
    is_sampling: bool,
}

impl Structured {
    /// Creates an interpreter that has read nothing yet.
    pub fn new(zone: Zone, unit: Option<u64>, user_fields: FieldMap) -> Structured {
        Structured {
            zone_words: ZoneWords::new(zone.clone()),
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
            &mut line.bare_id,
        ] {
            slot.clear();
        }
        (line.time, line.first_ns, line.last_ns) = (None, None, None);
        line.zone.clear();
        (line.duration, line.rival) = (None, None);
        (line.status, line.bytes) = (NumberSlot::default(), NumberSlot::default());
        line.marks = Marks::default();
        line.flags = LineFlags::default();
        self.is_in_array = false;
    }

    /// Reads a field of the line.
    pub fn field(&mut self, path: &str, value: Scalar) {
        if path.len() > MAX_PATH {
            return;
        }
        let KnownField { meaning, hint } = self.known_field(path);
        self.line.marks.add(match value {
            Scalar::Text(_) => &meaning.other_marks,
            _ => &meaning.number_marks,
        });
        if hint != FieldHint::None {
            self.note_hint(hint, value);
        }
        let mut is_read = false;
        let is_duration = self.is_duration_rather_than_time(&meaning, value);
        for (role, rank) in meaning.roles.into_iter().flatten() {
            if is_duration && role == Role::Time {
                continue;
            }
            if self.put(role, rank, path, &meaning, value) {
                is_read = true;
                // A field can have two roles that the user specified.
                if rank > 0 {
                    break;
                }
            }
        }
        if self.is_sampling && !is_read {
            self.note_candidate(path, value);
        }
    }

    /// Returns true if a value is a duration although it could be seconds since 1970, because its
    /// field's name is that of both, such as `request_time`.
    ///
    /// From 10^12 on, the number is a time in ms, µs or ns since 1970, unless it is less than a day in
    /// the unit that the user gave for durations.
    fn is_duration_rather_than_time(&self, meaning: &FieldMeaning, value: Scalar) -> bool {
        const MIN_TIME: f64 = 1e12;
        const MAX_DURATION_NS: f64 = 86_400e9;
        // A role that the user specified has the rank 0.
        let has_both = matches!(
            meaning.roles,
            [Some((Role::Time, 1..)), Some((Role::Duration, 1..))]
        );
        let number = || match value {
            Scalar::Integer(n) => Some(n as f64),
            Scalar::Float(f) => Some(f),
            Scalar::Text(text) => text.trim().parse().ok(),
        };
        let is_short = |number: f64| {
            let unit = self.unit.map(|ns| ns as f64);
            number < MIN_TIME || unit.is_some_and(|unit| number * unit < MAX_DURATION_NS)
        };
        has_both && number().is_some_and(is_short)
    }

    /// Reads a field that has no value.
    pub fn empty_field(&mut self, path: &str) {
        let roles = self.known_field(path).meaning.roles;
        for (role, _) in roles.into_iter().flatten() {
            match role {
                Role::Duration => self.note_empty_duration(path),
                Role::Status => self.line.flags.has_empty_status = true,
                _ => {}
            }
        }
    }

    fn note_empty_duration(&mut self, path: &str) {
        self.line.flags.has_empty_duration = true;
        if self.empty_duration.is_none() {
            self.empty_duration = Some(crate::tally::name(path));
        }
    }

    /// Returns true if the field at `path` can have one of the `roles`.
    pub fn has_role(&mut self, path: &str, roles: &[Role]) -> bool {
        let known = self.known_field(path).meaning.roles;
        known.iter().flatten().any(|(role, _)| roles.contains(role))
    }

    /// Returns true if the line has a path from a field outside of arrays.
    pub fn has_outer_target(&self) -> bool {
        self.line.flags.has_outer_target
    }

    fn known_field(&mut self, path: &str) -> KnownField {
        match self.known.get(path) {
            Some(found) => *found,
            None => self.learn(path),
        }
    }

    #[cold]
    fn learn(&mut self, path: &str) -> KnownField {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let mut found = KnownField {
            meaning: self.user_fields.meaning(path, meaning(path)),
            hint: FieldHint::new(path),
        };
        if let Some(LogAdvice::PathField { other, .. }) = &self.path_field
            && other == path
        {
            found.meaning.roles = found
                .meaning
                .roles
                .map(|slot| slot.filter(|(role, _)| *role != Role::Target));
        }
        let mut fields = self.user_fields.fields();
        if let Some((field, _)) = fields.find(|(field, _)| field.eq_ignore_ascii_case(path)) {
            self.seen_user_fields.insert(field.into());
        }
        self.known.insert(path.into(), found);
        found
    }

    fn note_hint(&mut self, hint: FieldHint, value: Scalar) {
        let line = &mut self.line;
        match (hint, value) {
            (FieldHint::BareId, Scalar::Text(text)) => line.bare_id.put(0, text),
            (FieldHint::BareId, Scalar::Integer(n)) => line.bare_id.put_number(0, n),
            (FieldHint::Statement, Scalar::Text(text)) => {
                line.flags.has_statement |= !text.is_empty();
            }
            (FieldHint::Category, Scalar::Text(text)) => {
                line.flags.is_of_part |= PARTS.iter().any(|part| text.starts_with(part));
            }
            _ => {}
        }
    }

    /// Stores a value for its role.
    ///
    /// Returns false if the value does not fit the role.
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
            (Role::Method, Scalar::Text(text)) => {
                // hapi and Elastic Common Schema before 1.6 write methods in lower case.
                line.method.put(rank, text);
                line.method.text.make_ascii_uppercase();
            }
            (Role::Target, Scalar::Text(text)) if !text.is_empty() => {
                line.flags.has_outer_target |= !self.is_in_array;
                line.target.put(rank, text);
                if self.is_sampling {
                    self.note_path(path, rank, text);
                }
            }
            (Role::Request, Scalar::Text(text)) => {
                line.flags.has_outer_target |= !self.is_in_array;
                line.request.put(rank, text);
            }
            (Role::Agent, Scalar::Text(text)) => line.agent.put(rank, text),
            (Role::Id, value) => return self.put_id(rank, path, value),
            (Role::Status, value) => match status(value) {
                Some(status) => line.status.put(rank, status),
                None => {
                    self.note_strange_status(path, value);
                    return false;
                }
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

    fn put_id(&mut self, rank: u16, path: &str, value: Scalar) -> bool {
        let line = &mut self.line;
        if rank >= line.id.rank {
            return true;
        }
        match value {
            Scalar::Text(text) if text.len() > 1 => line.id.put(rank, text),
            Scalar::Integer(n) => line.id.put_number(rank, n),
            _ => return false,
        }
        line.flags.has_shared_id = rank > 0 && is_shared_id(path);
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
        let mut duration = WrittenDuration {
            rank,
            field: String::new(),
            value,
            integer,
            unit,
            is_written,
            decimals,
        };
        let Some(other) = &mut self.line.duration else {
            duration.field.push_str(path);
            self.line.duration = Some(duration);
            return true;
        };
        if self.rival.is_none() && duration.differs(other, path) {
            self.line.rival = Some(if rank < other.rank {
                other.field.clone()
            } else {
                path.into()
            });
        }
        if rank < other.rank {
            duration.field = std::mem::take(&mut other.field);
            duration.field.clear();
            duration.field.push_str(path);
            *other = duration;
        }
        true
    }

    fn note_strange_duration(&mut self, path: &str, value: Scalar) {
        if is_missing(value) {
            return self.note_empty_duration(path);
        }
        self.line.flags.has_strange_duration = true;
        self.strange_duration.note(path, value);
    }

    fn note_strange_status(&mut self, path: &str, value: Scalar) {
        if is_missing(value) {
            self.line.flags.has_empty_status = true;
            return;
        }
        self.line.flags.has_strange_status = true;
        self.strange_status.note(path, value);
    }

    fn put_time(&mut self, rank: u16, path: &str, value: Scalar) -> bool {
        let Some(ReadTime { time, zone }) = written_time(value) else {
            return self.put_strange_time(rank, path, value);
        };
        let line = &mut self.line;
        let is_better = line.time.is_none_or(|(other_rank, other)| {
            let other = (other_rank, other, !line.zone.is_empty());
            is_better_time((rank, time, zone.is_some()), other)
        });
        if is_better {
            line.time = Some((rank, time));
            line.zone.clear();
            line.zone.push_str(zone.unwrap_or(""));
        }
        let ns = time.utc_ns();
        line.first_ns = Some(line.first_ns.map_or(ns, |first| first.min(ns)));
        line.last_ns = Some(line.last_ns.map_or(ns, |last| last.max(ns)));
        true
    }

    /// Reads a time of day and returns true.
    ///
    /// If the value is not a time of day, records it as a time that cannot be parsed, and returns
    /// false.
    fn put_strange_time(&mut self, rank: u16, path: &str, value: Scalar) -> bool {
        if let Scalar::Text(text) = value
            && is_clock(text)
        {
            let clock = &mut self.line.clock;
            if rank < clock.rank {
                clock.put(rank, text);
                self.line.clock_field.clear();
                self.line.clock_field.push_str(path);
            }
            return true;
        }
        if looks_like_time(value) {
            self.line.flags.has_strange_time = true;
            self.note_strange_time(path, value);
        } else if !is_missing(value) {
            self.odd_time.note(path, value);
        }
        false
    }

    fn note_strange_time(&mut self, path: &str, value: Scalar) {
        if self.strange_time.is_none() {
            let mut field = StrangeField::default();
            field.note(path, value);
            self.strange_time = field.example;
        }
    }

    /// Records a value of a field whose name suggests that it contains the path.
    fn note_path(&mut self, field: &str, rank: u16, text: &str) {
        let paths = &mut self.sampled_paths;
        if rank > 0
            && paths.len() < MAX_SAMPLED_PATHS
            && !paths.iter().any(|path| path.field == field)
        {
            paths.push(SampledPath::new(field));
        }
        if let Some(path) = paths.iter_mut().find(|path| path.field == field) {
            path.add(text);
        }
    }

    /// Finds out whether the field that would be used for paths contains something else, and
    /// another field contains the paths.
    fn find_path_field(&mut self) {
        let sampled = std::mem::take(&mut self.sampled_paths);
        let rank = |path: &SampledPath| {
            let mut roles = meaning(&path.field).roles.into_iter().flatten();
            roles
                .find(|(role, _)| *role == Role::Target)
                .map_or(NONE, |(_, rank)| rank)
        };
        let Some(best) = sampled.iter().min_by_key(|path| rank(path)) else {
            return;
        };
        let others = sampled.iter().filter(|other| best.is_replaced_by(other));
        if let Some(other) = others.min_by_key(|path| rank(path)) {
            self.known.remove(&best.field);
            self.path_field = Some(LogAdvice::PathField {
                field: other.field.clone(),
                other: best.field.clone(),
                example: crate::tally::name(&best.first),
            });
        }
    }

    fn note_candidate(&mut self, path: &str, value: Scalar) {
        let kind = match value {
            _ if may_be_status(path, value) => 3,
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
            lacks_total: kind == 0 && !plain(path).contains("total"),
            path: path.into(),
        });
        if candidates.len() > MAX_LISTED {
            candidates.pop_last();
        }
    }

    /// Returns the entry after all fields of a line were read.
    ///
    /// Returns `None` if the line describes no request, or does not end the request.
    pub fn finish(&mut self) -> Option<Entry<'_>> {
        self.read_bare_id();
        self.drop_partial_duration();
        let stage = self.stage();
        if self.is_of_part(stage) {
            self.parts += 1;
            // Its duration is not that of a request.
            self.line.duration = None;
            return None;
        }
        let line = &self.line;
        let has_path =
            !line.target.is_empty() && (!line.method.is_empty() || stage != Stage::Begin);
        let has_target = has_path || line.has_request_line(stage);
        match self.join_open(stage, has_target) {
            Joined::Ended => self.repeated += 1,
            Joined::Nothing if !has_target => self.skip_line(),
            Joined::Open | Joined::Nothing => return self.count_as(stage),
        }
        None
    }

    /// Counts a line without a request.
    fn skip_line(&mut self) {
        self.without_request += 1;
        if let Some(duration) = &self.line.duration
            && self.skipped_duration.is_none()
        {
            self.skipped_duration = Some(duration.field.clone());
        }
    }

    /// Returns the stage of the request that the line describes.
    fn stage(&self) -> Stage {
        let line = &self.line;
        if line.has_duration() {
            Stage::End
        } else if !line.has_status() {
            Stage::Begin
        } else if self.has_separate_durations() {
            Stage::Status
        } else {
            Stage::End
        }
    }

    /// Returns true if the line describes only a part of a request, such as a query, a call of
    /// another server, or a step with its own duration.
    fn is_of_part(&self, stage: Stage) -> bool {
        let line = &self.line;
        let has_status = line.has_status() || line.flags.has_empty_status;
        let is_timed = line.duration.is_some()
            && !has_status
            && line.method.is_empty()
            && !line.has_request_line(stage);
        line.flags.is_of_part
            || (line.flags.has_statement && !has_status)
            || (is_timed && self.has_complete_lines)
    }

    /// Returns true if the duration of the line's request can be in a later line.
    fn has_separate_durations(&self) -> bool {
        let line = &self.line;
        !line.id.is_empty()
            && !line.flags.has_empty_duration
            && (self.has_durations || self.is_sampling)
    }

    /// Adds the information from earlier lines about the request that the current line ends.
    fn join_open(&mut self, stage: Stage, has_target: bool) -> Joined {
        let line = &self.line;
        if stage == Stage::Begin || line.id.is_empty() {
            return Joined::Nothing;
        }
        let target = match has_target {
            true => line.method_and_target().1,
            false => b"",
        };
        let (id, is_shared) = (&line.id.text, line.flags.has_shared_id);
        if let Some(open) = self.open.take(id, target, is_shared) {
            self.line.add(&open, has_target);
            self.remember_end(stage);
            return Joined::Open;
        }
        let can_repeat = has_target && !is_shared && !line.has_duration();
        if can_repeat && self.open.has_ended(id, target) {
            return Joined::Ended;
        }
        if has_target {
            self.remember_end(stage);
        }
        Joined::Nothing
    }

    fn remember_end(&mut self, stage: Stage) {
        if stage == Stage::End {
            let (_, target) = self.line.method_and_target();
            self.open.end(&self.line.id.text, target);
        }
    }

    /// Counts the line, and returns the entry of its request unless a later line may end the
    /// request.
    fn count_as(&mut self, stage: Stage) -> Option<Entry<'_>> {
        let (time_s, offset_s) = self.time();
        let duration_ns = match stage {
            Stage::End => self.duration(time_s),
            Stage::Begin | Stage::Status => None,
        };
        let line = &self.line;
        let (method, target) = line.method_and_target();
        let entry = Entry {
            time_s,
            offset_s,
            duration_ns,
            method,
            target,
            is_query: false,
            is_late: false,
            dialect: Default::default(),
            status: line.status.number as u16,
            bytes: line.bytes.number,
            agent: line.agent.text.as_bytes(),
            id: line.id.text.as_bytes(),
        };
        let flags = line.flags;
        self.has_ends |= stage != Stage::Begin;
        if stage == Stage::Begin && entry.id.is_empty() {
            let is_request = !self.has_ends || flags.has_empty_duration || flags.has_empty_status;
            if !is_request {
                self.path_lines.add(&entry);
                return None;
            }
            self.unfinished += 1;
        } else if stage != Stage::End {
            self.open.add(&entry);
            return None;
        } else {
            self.has_durations |= line.duration.is_some();
            self.has_complete_lines |= line.status.rank < NONE - 1 && line.duration.is_some();
            self.path_lines.end(&entry);
        }
        self.requests += 1;
        self.without_status += u64::from(entry.status == 0);
        self.without_duration += u64::from(duration_ns.is_none());
        self.without_time += u64::from(time_s.is_none());
        let has_clock = !line.clock.text.is_empty();
        let has_strange = flags.has_strange_time || has_clock;
        self.strange_times += u64::from(time_s.is_none() && has_strange);
        if time_s.is_none() && has_clock && self.strange_time.is_none() {
            let name = crate::tally::name;
            self.strange_time = Some((name(&line.clock_field), name(&line.clock.text)));
        }
        let is_strange = duration_ns.is_none() && line.has_duration();
        self.strange_duration.requests += u64::from(is_strange);
        let is_strange = line.status.is_empty() && flags.has_strange_status;
        self.strange_status.requests += u64::from(is_strange);
        let field = line.duration.as_ref().map_or("", |d| &d.field);
        self.has_upstream_times |= is_upstream_time(field);
        Some(entry)
    }

    /// Uses the field that is just called `id` as the request's ID if the sample shows that it is
    /// one.
    fn read_bare_id(&mut self) {
        let line = &mut self.line;
        if line.bare_id.is_empty() || !line.id.is_empty() {
            return;
        }
        if self.is_sampling {
            let is_end = line.has_status() || line.has_duration();
            let is_begin = !line.target.is_empty() || !line.request.is_empty();
            if is_end || is_begin {
                self.bare_ids.add(&line.bare_id.text, is_end);
            }
        } else if self.has_bare_ids {
            std::mem::swap(&mut line.id, &mut line.bare_id);
        }
    }

    /// Removes the oldest unfinished request if too many requests are unfinished.
    ///
    /// Returns the request unless it may repeat a request that has ended.
    pub fn unended(&mut self) -> Option<OpenRequest> {
        let open = self.open.excess()?;
        self.count_unended(open)
    }

    /// Removes and returns the oldest unfinished request at the end of the log.
    ///
    /// Skips requests that may repeat a request that has ended.
    pub fn last_unended(&mut self) -> Option<OpenRequest> {
        while let Some(open) = self.open.oldest() {
            if let Some(open) = self.count_unended(open) {
                return Some(open);
            }
        }
        None
    }

    fn count_unended(&mut self, open: OpenRequest) -> Option<OpenRequest> {
        if open.is_repeated {
            self.repeated += 1;
            return None;
        }
        self.requests += 1;
        self.without_duration += 1;
        self.without_time += u64::from(open.time_s.is_none());
        self.unfinished += u64::from(open.status == 0);
        Some(open)
    }

    /// Returns true if any request is unfinished.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the time of the line's request, and the clock's offset from UTC in seconds.
    fn time(&mut self) -> (Option<i64>, i32) {
        let line = &self.line;
        let of_parts = || {
            if line.clock.text.is_empty() || line.date.text.is_empty() {
                return None;
            }
            let text = format!("{} {}", line.date.text, line.clock.text);
            let found = zoned_iso(text.as_bytes())?;
            let zone = found
                .zone
                .map(|word| String::from_utf8_lossy(word).into_owned());
            // The extended log format is in UTC.
            let utc = (line.marks.are_in_utc() && zone.is_none()).then_some(0);
            let time = WrittenTime {
                ns: i128::from(found.local_s) * 1_000_000_000,
                offset_s: found.offset_s.or(utc),
            };
            Some((time, zone))
        };
        let of_one = || Some((line.time?.1, None));
        let Some((time, zone)) = of_parts().or_else(of_one) else {
            return (None, 0);
        };
        let zone = zone.as_deref().unwrap_or(&line.zone);
        let seconds = time.ns.div_euclid(1_000_000_000) as i64;
        match time.offset_s {
            None if !zone.is_empty() => {
                let (time_s, offset) = self.zone_words.resolve(seconds, Some(zone.as_bytes()));
                (Some(time_s), offset)
            }
            None => {
                let offset = self.zone.offset_of_local(seconds);
                (Some(seconds - i64::from(offset)), offset)
            }
            Some(0) => (Some(seconds), self.zone.offset_at(seconds)),
            Some(offset) => (Some(seconds - i64::from(offset)), offset),
        }
    }

    /// Removes a duration that covers only a part of the request, unless the user specified the
    /// duration's field.
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
        let unit = match (duration.unit, self.unit) {
            (Some(unit), _) => unit,
            (None, Some(unit)) => {
                self.given_check
                    .count((duration.value * unit as f64) as u64);
                if self.given_field.is_none() {
                    self.given_field = Some(duration.field.clone());
                }
                unit
            }
            (None, None) => self.bare_duration_unit(time_s),
        };
        self.note_rival();
        let duration = self.line.duration.as_ref()?;
        let ns = match duration.integer {
            Some(n) => n.checked_mul(unit),
            None => {
                let ns = duration.value * unit as f64;
                (0.0..1e18).contains(&ns).then_some(ns.round() as u64)
            }
        };
        if ns.is_none() {
            let value = duration.integer.map(Scalar::Integer);
            let value = value.unwrap_or(Scalar::Float(duration.value));
            self.strange_duration.note(&duration.field, value);
        }
        ns
    }

    /// Records that another field contains different durations.
    ///
    /// Does nothing if the user specified the field of the durations or if a producer is
    /// identified.
    fn note_rival(&mut self) {
        if self.line.rival.is_none() || self.rival.is_some() || self.producer().is_some() {
            return;
        }
        if let Some(duration) = &self.line.duration
            && duration.rank != 0
            && let Some(other) = self.line.rival.take()
        {
            let field = crate::tally::name(&duration.field);
            self.rival = Some((field, crate::tally::name(&other)));
        }
    }

    /// Returns the unit of a duration without a unit, in ns.
    ///
    /// Adds the duration to the sample, or checks it after the sample.
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

    /// Returns the producer that the line's fields identify, because only this producer writes
    /// them.
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

    /// Returns true if the sample's durations have the form in which the producer writes durations:
    /// fractions, whole numbers, or three decimals.
    fn has_its_form(&self, producer: &Producer) -> bool {
        let has_fraction = producer.has_fraction;
        has_fraction.is_none_or(|has| has == self.has_fraction)
            && (!producer.has_three_decimals || self.decimals.are_three())
    }

    /// Records the producers that may have written the current line of the sample.
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

    /// Returns a producer whose fields occur in the sample and whose unit is in `likely`, in ns.
    ///
    /// If most durations are below 1 and seconds are likely, only a producer that writes seconds
    /// fits, because durations in finer units are rarely below 1.
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

    /// Begins the sample, from which the units are determined.
    pub fn begin_sample(&mut self) {
        self.is_sampling = true;
    }

    /// Excludes the producers in whose unit the durations are implausible, and returns these
    /// producers.
    fn exclude_producers(&mut self) -> Vec<ExcludedProducer> {
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
                excluded.push(ExcludedProducer {
                    unit,
                    is_long: evidence.is_long_in(unit),
                });
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
        for ExcludedProducer { unit, .. } in &excluded {
            if !self.possible.contains(unit) {
                self.possible.push(*unit);
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
        // The durations of the sample contain their unit, if any.
        let last = last.filter(|_| !self.evidence.is_empty());
        // A producer that identifies itself is better evidence than unusually long durations.
        let is_better = |producer: &&ExcludedProducer| producer.is_long || likely.is_empty();
        let by_producer = excluded.iter().find(is_better);
        self.assumed_unit_ns = if let Some(producer) = by_producer {
            producer.unit
        } else if likely.contains(&default) {
            default
        } else {
            last.unwrap_or(default)
        };
        self.is_sampling = false;
        self.assumed_field = None;
        (self.requests, self.without_request) = (0, 0);
        (self.without_duration, self.without_time) = (0, 0);
        self.without_status = 0;
        self.find_path_field();
        (self.unfinished, self.repeated, self.parts) = (0, 0, 0);
        self.strange_times = 0;
        self.given_check = UnitCheck::default();
        (self.strange_duration.requests, self.strange_status.requests) = (0, 0);
        self.has_bare_ids = self.bare_ids.are_of_requests();
        self.bare_ids = BareIds::default();
        self.open = OpenRequests::default();
        self.path_lines = PathLines::default();
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

    /// Returns the description of the durations, with their field and unit, and their resolution in
    /// ns.
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

    /// Returns true if fractions of seconds have a resolution of 1 ms, because nginx writes three
    /// decimals.
    fn has_milliseconds(&self, duration: &WrittenDuration) -> bool {
        duration.unit == Some(1_000_000_000) || duration.field.ends_with("request_time")
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut assumptions = Vec::new();
        if let Some((field, example)) = self.strange_duration.found() {
            assumptions.push(LogAssumption::UnparsedDurations {
                field,
                example,
                requests: self.strange_duration.requests,
            });
        }
        if let Some((field, other)) = self.rival.clone() {
            assumptions.push(LogAssumption::DurationFields { field, other });
        }
        if let Some((field, unit)) = &self.producer_field
            && self.producer_check.is_too_long()
        {
            let field = format!("the field {}", crate::tally::name(field));
            assumptions.push(doubted_unit(&field, *unit));
        }
        assumptions.extend(self.request_assumptions());
        assumptions.extend(self.zone_words.assumptions());
        if let (Some(field), Some(unit)) = (&self.given_field, self.unit) {
            let field = format!("the field {}", crate::tally::name(field));
            assumptions.extend(absurd_unit(&self.given_check, &field, unit));
        }
        let Some(field) = &self.assumed_field else {
            return assumptions;
        };
        let field = format!("the field {}", crate::tally::name(field));
        let contradiction = contradiction(&self.check, &field, self.assumed_unit_ns);
        let assumption = if self.check.is_often(self.odd) {
            LogAssumption::MixedForms {
                place: field,
                unit_ns: self.assumed_unit_ns,
            }
        } else if let Some(contradiction) = contradiction {
            contradiction
        } else if self.possible.len() == 1 {
            return assumptions;
        } else {
            assumed_unit(&field, self.assumed_unit_ns, &self.possible)
        };
        assumptions.push(assumption);
        assumptions
    }

    /// Returns assumptions about the lines that describe requests.
    fn request_assumptions(&self) -> impl Iterator<Item = LogAssumption> {
        let requests = self.open.ambiguous;
        let shared = (requests > 0).then_some(LogAssumption::SharedIds { requests });
        let lines = self.path_lines.unmatched;
        let uncounted = self
            .is_often(lines)
            .then_some(LogAssumption::UncountedLines { lines });
        let requests = self.unfinished;
        let unfinished = (self.has_ends && self.is_often(requests))
            .then_some(LogAssumption::UnfinishedRequests { requests });
        [shared, uncounted, unfinished].into_iter().flatten()
    }

    /// Returns true if `requests` is more than 5 % of all requests.
    ///
    /// A few unfinished requests are normal: requests that are still running at the end of a log
    /// have no end either.
    fn is_often(&self, requests: u64) -> bool {
        requests.saturating_mul(20) > self.requests
    }

    /// Returns advice about data in the lines that cannot be parsed or is skipped.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = self.field_advice();
        if self.has_upstream_times {
            advice.push(LogAdvice::UpstreamTimes);
        }
        if self.requests > 0
            && self.without_duration == self.requests
            && self.strange_duration.requests == 0
        {
            advice.push(match self.empty_duration.clone() {
                Some(field) => LogAdvice::DurationsEmpty { field },
                None => self.missing_durations(),
            });
        }
        if let Some((field, example)) = self.strange_status.found() {
            advice.push(LogAdvice::StatusesUnparsed { field, example });
        }
        let has_no_time = self.requests > 0 && self.without_time == self.requests;
        if has_no_time || self.strange_times > 0 {
            let odd_time = self.odd_time.example.as_ref();
            let odd_time = odd_time.filter(|_| self.candidates[1].is_empty());
            advice.push(match self.strange_time.as_ref().or(odd_time) {
                Some((field, example)) => LogAdvice::TimesUnparsed {
                    field: field.clone(),
                    example: example.clone(),
                },
                None => self.missing(FieldRole::Time),
            });
        }
        advice.extend(self.zone_words.readings());
        let mut matched = self.path_lines.all;
        if self.is_often(self.path_lines.unmatched) {
            matched -= self.path_lines.unmatched;
        }
        let skipped = [
            (matched, LogAdvice::LinesWithoutEnd { lines: matched }),
            (
                self.repeated,
                LogAdvice::RepeatedLines {
                    lines: self.repeated,
                },
            ),
            (self.parts, LogAdvice::LinesOfParts { lines: self.parts }),
        ];
        let skipped = skipped.into_iter().filter(|(lines, _)| *lines > 0);
        advice.extend(skipped.map(|(_, advice)| advice));
        if self.without_request > 0 && self.requests > 0 {
            advice.push(LogAdvice::LinesWithoutRequest {
                lines: self.without_request,
            });
        }
        advice
    }

    /// Returns advice about the fields that the user specified and about the field that was chosen
    /// for paths.
    fn field_advice(&self) -> Vec<LogAdvice> {
        let mut advice: Vec<LogAdvice> = self.unseen_fields().into_iter().collect();
        advice.extend(self.path_field.clone());
        let has_candidates = !self.candidates[3].is_empty();
        if self.requests > 0 && self.without_status == self.requests && has_candidates {
            advice.push(self.missing(FieldRole::Status));
        }
        advice
    }

    /// Returns advice about fields that the user specified and that have had no value so far.
    pub fn unseen_fields(&self) -> Option<LogAdvice> {
        let fields = self.user_fields.fields();
        let unseen = fields.filter(|(field, _)| !self.seen_user_fields.contains(*field));
        let fields: Vec<String> = unseen.map(|(_, pair)| pair).collect();
        (!fields.is_empty()).then_some(LogAdvice::FieldsNeverOccur { fields })
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

    /// Returns advice about a role that no known field has.
    ///
    /// Lists the fields that may have the role.
    fn missing(&self, role: FieldRole) -> LogAdvice {
        let [durations, times, paths, statuses] = &self.candidates;
        let candidates = match role {
            FieldRole::Duration => durations,
            FieldRole::Time => times,
            FieldRole::Path => paths,
            FieldRole::Status => statuses,
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

/// The values that the sample has in fields that are just called `id`.
#[derive(Clone, Debug, Default)]
struct BareIds {
    /// The IDs of requests that began and have not ended.
    begun: HashSet<String, RandomState>,
    /// The number of lines that end a request and have the ID of a request that began.
    pairs: u64,
    /// The number of lines that end a request and have any other ID.
    others: u64,
}

impl BareIds {
    fn add(&mut self, id: &str, is_end: bool) {
        if !is_end {
            if self.begun.len() < MAX_SAMPLED_IDS {
                self.begun.insert(id.into());
            }
        } else if self.begun.remove(id) {
            self.pairs += 1;
        } else {
            self.others += 1;
        }
    }

    /// Returns true if most lines that end a request have the ID of a request that began. In that
    /// case, the field contains the ID of the request.
    fn are_of_requests(&self) -> bool {
        self.pairs > self.others
    }
}

impl WrittenDuration {
    /// Returns true if `self`, the duration in the field at `path`, differs from `other`, and if
    /// both durations cover the whole request.
    ///
    /// Durations at another depth of nesting often cover only a part of the request.
    fn differs(&self, other: &WrittenDuration, path: &str) -> bool {
        let depth = |path: &str| path.matches('.').count();
        let is_part = depth(path) != depth(&other.field);
        !is_part
            && path != other.field
            && !is_upstream_time(path)
            && !is_upstream_time(&other.field)
            && !self.units().any(|unit| {
                other.units().any(|other_unit| {
                    is_same(
                        self.value * unit as f64,
                        other.value * other_unit as f64,
                        unit.max(other_unit) as f64,
                    )
                })
            })
    }

    /// Returns the units that the duration may have, in ns.
    fn units(&self) -> impl Iterator<Item = u64> {
        let units: &'static [u64] = if self.unit.is_some() { &[] } else { &UNITS };
        self.unit.into_iter().chain(units.iter().copied())
    }
}

/// Returns true if two durations in ns can be the same duration, rounded to `unit` ns.
fn is_same(one: f64, other: f64, unit: f64) -> bool {
    let difference = (one - other).abs();
    difference <= unit || difference <= SAME_DURATION * one.max(other)
}

/// Returns true if a text means that the value is missing.
fn is_missing(value: Scalar) -> bool {
    const MISSING: [&str; 7] = ["", "-", "null", "none", "n/a", "nan", "undefined"];
    let Scalar::Text(text) = value else {
        return false;
    };
    let text = text.trim();
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns the method and the target if the text is certainly a request line, or only a path.
fn request_line(text: &str) -> Option<(&[u8], &[u8])> {
    let (method, target) = method_and_target(text.as_bytes());
    let is_target = target.starts_with(b"/")
        || (!method.is_empty() && memchr::memmem::find(target, b"://").is_some());
    (is_target && !target.contains(&b' ')).then_some((method, target))
}

/// Parses a status, such as 200, `200 OK` or `HTTP/1.1 200 OK`.
fn status(value: Scalar) -> Option<u64> {
    let status = match value {
        Scalar::Integer(n) => n,
        Scalar::Text(text) => {
            let mut words = text.split_ascii_whitespace();
            let first = words.next()?;
            let word = match first.starts_with("HTTP/") {
                true => words.next()?,
                false => first,
            };
            match word {
                "-1" => FAILED,
                word => word.parse().ok()?,
            }
        }
        // Vercel: -1 means that the function crashed before it responded.
        Scalar::Float(-1.0) => FAILED,
        Scalar::Float(f) if f.fract() == 0.0 && f > 0.0 => f as u64,
        Scalar::Float(_) => return None,
    };
    (status < 1000).then_some(status)
}

/// Parses a duration.
///
/// Returns the value, the value as an integer if it has no fraction, and the unit in ns if the text
/// contains the unit.
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

/// A timestamp from a field, and the name of its zone if it has no offset.
struct ReadTime<'v> {
    time: WrittenTime,
    zone: Option<&'v str>,
}

impl WrittenTime {
    /// Returns the nanoseconds since 1970. A timestamp without an offset is read as UTC.
    fn utc_ns(&self) -> i128 {
        self.ns - i128::from(self.offset_s.unwrap_or(0)) * 1_000_000_000
    }
}

/// Returns true if the first timestamp describes a line better than the other timestamp.
///
/// Each timestamp comes with the rank of its field and a flag that is true if the timestamp
/// contains the name of its zone. A timestamp with an offset or a zone takes precedence over the
/// same moment without them.
fn is_better_time(
    (rank, time, has_zone): (u16, WrittenTime, bool),
    (other_rank, other, other_has_zone): (u16, WrittenTime, bool),
) -> bool {
    let is_sure = time.offset_s.is_some() || has_zone;
    let is_other_sure = other.offset_s.is_some() || other_has_zone;
    // The user named the field with rank 0.
    if is_sure == is_other_sure || rank == 0 || other_rank == 0 || !is_same_moment(time, other) {
        return rank < other_rank;
    }
    is_sure
}

/// Returns true if two timestamps differ only by an offset from UTC, which is a multiple of 15
/// minutes. Differences of up to 2 s are ignored.
fn is_same_moment(one: WrittenTime, other: WrittenTime) -> bool {
    const QUARTER_S: i64 = 900;
    const MAX_OFFSET_S: i64 = 14 * 3600;
    const TOLERANCE_S: i64 = 2;
    let second = |time: WrittenTime| time.utc_ns().div_euclid(1_000_000_000) as i64;
    let difference = second(one) - second(other);
    let rest = (difference + QUARTER_S / 2).rem_euclid(QUARTER_S) - QUARTER_S / 2;
    difference.abs() <= MAX_OFFSET_S + TOLERANCE_S && rest.abs() <= TOLERANCE_S
}

/// Parses a timestamp from a field.
fn written_time(value: Scalar<'_>) -> Option<ReadTime<'_>> {
    let text = match value {
        Scalar::Integer(n) => return epoch(n as f64, i128::from(n)).map(ReadTime::from),
        Scalar::Float(f) => return epoch(f, f as i128).map(ReadTime::from),
        Scalar::Text(text) => text.trim(),
    };
    // Tomcat's JsonAccessLogValve writes the brackets of the common log format.
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let text = inner.unwrap_or(text);
    let bytes = text.as_bytes();
    let zoned = |time: ZonedTime, fraction: &[u8]| ReadTime {
        time: WrittenTime {
            ns: i128::from(time.local_s) * 1_000_000_000 + fraction_ns(fraction),
            offset_s: time.offset_s,
        },
        zone: zone_name(text, &time),
    };
    if let Some(time) = zoned_iso(bytes) {
        return Some(zoned(time, &bytes[19..]));
    }
    if let Some(time) = zoned_clf(bytes) {
        return Some(zoned(time, &bytes[20..]));
    }
    if let Some(time) = basic_iso(bytes) {
        return Some(zoned(time, &bytes[15..]));
    }
    // Some programs write the decimal separator of their language.
    let number: f64 = match text.split_once(',') {
        Some((whole, fraction)) => format!("{whole}.{fraction}").parse().ok()?,
        None => text.parse().ok()?,
    };
    epoch(number, number as i128).map(ReadTime::from)
}

/// Returns the name of a timestamp's zone as a slice of the text from which the timestamp was
/// parsed.
fn zone_name<'v>(text: &'v str, time: &ZonedTime) -> Option<&'v str> {
    let zone = std::str::from_utf8(time.zone?).ok()?;
    text.rfind(zone)
        .map(|begin| &text[begin..begin + zone.len()])
}

impl From<WrittenTime> for ReadTime<'_> {
    fn from(time: WrittenTime) -> Self {
        ReadTime { time, zone: None }
    }
}

/// Returns true if a value that cannot be parsed may be a timestamp.
fn looks_like_time(value: Scalar) -> bool {
    // Smaller numbers are more likely durations.
    const MIN_TIME: f64 = 1e8;
    match value {
        Scalar::Integer(n) => n as f64 >= MIN_TIME,
        Scalar::Float(f) => f >= MIN_TIME,
        Scalar::Text(text) => {
            let is_number = text.parse::<f64>().is_ok_and(|number| number < MIN_TIME);
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            let is_written = parse_written_duration(text).is_some();
            text.len() > 5 && digits >= 3 && !is_number && !is_written
        }
    }
}

/// Parses a time since 1970 in s, ms, µs or ns.
///
/// The unit is the one in which the time is between 2001 and 2099.
fn epoch(number: f64, integer: i128) -> Option<WrittenTime> {
    let scales = [1_000_000_000_i128, 1_000_000, 1_000, 1];
    let scale = *scales
        .iter()
        .find(|scale| number * **scale as f64 / 1e9 < 4.1e9)?;
    // A log is unlikely to contain timestamps before 2001.
    let is_time = number * scale as f64 / 1e9 >= 1e9;
    is_time.then(|| WrittenTime {
        ns: integer * scale + ((number - integer as f64) * scale as f64) as i128,
        offset_s: Some(0),
    })
}

/// Returns true if a field's name sounds like a duration and its value is not a time since 1970.
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

/// Returns true if a field's name and its value suggest that the field is a status.
fn may_be_status(path: &str, value: Scalar) -> bool {
    let last = plain(path.rsplit('.').next().unwrap_or(path));
    let has_word = ["status", "code", "response"]
        .iter()
        .any(|word| last.contains(word));
    has_word
        && !sounds_like_duration(path)
        && status(value).is_some_and(|status| (100..600).contains(&status))
}

/// Parses a fraction of a second such as `.123`. The result is in ns.
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
