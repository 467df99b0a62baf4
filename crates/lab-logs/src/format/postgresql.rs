// SPDX-License-Identifier: Apache-2.0
//! Parses PostgreSQL's log, in the formats of its three destinations and through syslog.
//!
//! The lines form messages, which [`Sessions`] combines into statements.
//!
//! Sources: PostgreSQL 17, 19.8.4 *Using CSV-Format Log Output*, 19.8.5 *Using JSON-Format Log
//! Output*.

use super::json_wrapper::{may_have_origin, origin, outer_time_s};
use super::line_prefix::{
    Head, LinePrefix, LineTag, Severity, SyslogLine, is_json, syslog_line, without_part,
};
use super::prefix_sample::text_before_time;
use super::prefix_time::{HeadTime, local_time, unix_time};
use super::process_field::PrefixParts;
use super::sessions::{Message, Sessions};
use super::wrapper::{DockerLines, UnwrappedLine, Wrapper};
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, number};
use crate::zone_words::ZoneWords;
use lab_model::{LogAdvice, LogAssumption};
use memchr::memmem::find;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum stored length of a message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;
/// The maximum number of open messages, whose remaining lines or pieces may still follow.
const MAX_PARTS: usize = 1_000;
/// The maximum total size of the open messages, in bytes.
const MAX_PART_BYTES: usize = 64 << 20;
/// The maximum time by which messages of different processes can be out of order, in seconds.
const UNORDERED_S: i64 = 60;
/// The number of fields in a CSV record since PostgreSQL 8.3. Later versions append more fields.
const MIN_FIELDS: usize = 22;
const TIME: usize = 0;
const PROCESS: usize = 3;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const CONTEXT: usize = 18;
const STATEMENT: usize = 19;
/// The number of fields that precede `application_name`, which was added in PostgreSQL 9.0.
const APPLICATION: usize = 22;

/// A parser of PostgreSQL's log.
#[derive(Clone, Debug)]
pub struct PostgresqlLog {
    encoding: Encoding,
    wrapper: Wrapper,
    zones: ZoneWords,
    sessions: Sessions,
}

/// The encoding of the log's messages.
#[derive(Clone, Debug)]
enum Encoding {
    /// `log_destination = stderr` or `syslog`.
    Text(TextMessages),
    /// Text lines wrapped in JSON, as stored by Docker, Cloud Logging, Azure and journald.
    Wrapped(TextMessages),
    /// `csvlog`
    Csv(CsvRecord),
    /// `jsonlog`, also wrapped in the JSON that Docker or CloudNativePG writes.
    Json(DockerLines),
}

/// A message that may continue on later lines.
#[derive(Clone, Debug, Default)]
struct OpenMessage {
    time_s: Option<i64>,
    offset_s: i32,
    process: Option<Vec<u8>>,
    application: Vec<u8>,
    tag: Option<LineTag>,
    text: Vec<u8>,
    /// The sequence number of the message, in the order in which the messages began.
    number: u64,
}

/// Messages in lines of text.
#[derive(Clone, Debug)]
struct TextMessages {
    prefix: LinePrefix,
    /// The text before the time in each head, or `None` if that text varies.
    before_time: Option<Vec<u8>>,
    /// True if the second and later lines of a message begin with a tab, as PostgreSQL writes them.
    has_tabs: bool,
    docker: DockerLines,
    /// The open message of each container or, in syslog, of each process. The lines of different
    /// messages may be interleaved.
    parts: HashMap<Vec<u8>, OpenMessage>,
    /// The total size of the open messages' text, in bytes.
    part_bytes: usize,
    /// The number of messages that have begun so far.
    begun: u64,
    /// True if any message has only the timestamp that syslog wrote, which has no year.
    has_yearless_times: bool,
}

/// A CSV record, which can span multiple lines.
#[derive(Clone, Debug, Default)]
struct CsvRecord {
    bytes: Vec<u8>,
    is_within_quotes: bool,
    /// The number of truncated records.
    cut: usize,
}

impl OpenMessage {
    fn push(&mut self, text: &[u8]) {
        let room = MAX_MESSAGE.saturating_sub(self.text.len());
        self.text.extend(&text[..text.len().min(room)]);
    }

    /// Finishes the message and passes its statements to `sink`.
    ///
    /// Returns false if the duration in the message is malformed.
    fn end(&mut self, sessions: &mut Sessions, sink: &mut impl FnMut(&Entry)) -> bool {
        let process = self.process.as_deref();
        let is_read = match self.tag.take() {
            Some(LineTag::Message(severity)) => {
                let message = Message {
                    time_s: self.time_s,
                    offset_s: self.offset_s,
                    process,
                    application: &self.application,
                    severity,
                    text: &self.text,
                };
                sessions.message(&message, sink)
            }
            Some(LineTag::Statement) => {
                sessions.statement_of_last(process, &self.text, sink);
                true
            }
            Some(LineTag::Detail) => {
                sessions.detail_of_last(process, &self.text);
                true
            }
            None => true,
        };
        self.text.clear();
        is_read
    }
}

impl PostgresqlLog {
    fn new(encoding: Encoding, zone: Zone) -> PostgresqlLog {
        PostgresqlLog {
            encoding,
            wrapper: Wrapper::default(),
            zones: ZoneWords::new(zone),
            sessions: Sessions::default(),
        }
    }

    /// Creates a parser of text lines.
    pub fn text(prefix: LinePrefix, zone: Zone) -> PostgresqlLog {
        PostgresqlLog::new(Encoding::Text(TextMessages::new(prefix)), zone)
    }

    /// Creates a parser of text lines wrapped in JSON.
    pub fn wrapped(prefix: LinePrefix, zone: Zone) -> PostgresqlLog {
        PostgresqlLog::new(Encoding::Wrapped(TextMessages::new(prefix)), zone)
    }

    /// Creates a parser of CSV.
    pub fn csv(zone: Zone) -> PostgresqlLog {
        PostgresqlLog::new(Encoding::Csv(CsvRecord::default()), zone)
    }

    /// Creates a parser of JSON.
    pub fn json(zone: Zone) -> PostgresqlLog {
        PostgresqlLog::new(Encoding::Json(DockerLines::default()), zone)
    }

    /// Sets the wrapper of the lines, and learns the form of messages from the first lines.
    pub fn with_sample(mut self, wrapper: Wrapper, lines: &[&[u8]]) -> PostgresqlLog {
        if let Encoding::Text(messages) | Encoding::Wrapped(messages) = &mut self.encoding {
            messages.before_time = text_before_time(lines, &messages.prefix);
            messages.has_tabs = lines.iter().any(|line| tabbed_line(line).is_some());
        }
        self.wrapper = wrapper;
        self
    }

    /// Parses a line and passes complete entries to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let Some(UnwrappedLine { source, time, text }) = self.wrapper.unwrap(line) else {
            return LineKind::Other;
        };
        let origin = LineOrigin { source, time };
        let (zones, sessions) = (&mut self.zones, &mut self.sessions);
        match &mut self.encoding {
            Encoding::Text(messages) => messages.line(&origin, &text, zones, sessions, sink),
            Encoding::Wrapped(messages) => messages.wrapped(source, &text, zones, sessions, sink),
            Encoding::Csv(record) => record.line(source, &text, zones, sessions, sink),
            Encoding::Json(docker) => json_line(source, &text, docker, zones, sessions, sink),
        }
    }

    /// Returns true if this parser must also read another file, whose first lines are `begin`.
    ///
    /// That file continues this log if it has the same format and does not begin more than
    /// `UNORDERED_S` before this file ended. Otherwise, `next` reads the other file.
    pub fn continue_with(&mut self, next: &PostgresqlLog, begin: &[u8]) -> bool {
        let is_same = match (&self.encoding, &next.encoding) {
            (Encoding::Text(before), Encoding::Text(next))
            | (Encoding::Wrapped(before), Encoding::Wrapped(next)) => {
                before.prefix == next.prefix
                    || has_same_processes(&before.prefix, &next.prefix, begin)
            }
            (Encoding::Csv(_), Encoding::Csv(_)) | (Encoding::Json(_), Encoding::Json(_)) => true,
            _ => false,
        };
        let last_s = self.last_s();
        let is_next = match (last_s, next.first_s(begin)) {
            (Some(last_s), Some(first_s)) => first_s >= last_s - UNORDERED_S,
            _ => true,
        };
        if is_same && is_next {
            self.sessions.begin_file(last_s);
        }
        is_same && is_next
    }

    /// Returns the time of the last message, including incomplete messages, in seconds since 1970.
    fn last_s(&self) -> Option<i64> {
        let open_s = match &self.encoding {
            Encoding::Text(messages) | Encoding::Wrapped(messages) => {
                let parts = messages.parts.values().map(|open| open.time_s);
                parts.max().flatten()
            }
            Encoding::Csv(_) | Encoding::Json(_) => None,
        };
        self.sessions.last_s().max(open_s)
    }

    /// Returns the time of the first message in the lines of `begin`, in seconds since 1970.
    fn first_s(&self, begin: &[u8]) -> Option<i64> {
        let mut probe = self.clone();
        begin.split(|b| *b == b'\n').find_map(|line| {
            probe.line(line.strip_suffix(b"\r").unwrap_or(line), &mut |_| {});
            probe.sessions.last_s()
        })
    }

    /// Records that a line was skipped because it was too long.
    pub fn skip_line(&mut self) {
        if let Encoding::Csv(record) = &mut self.encoding {
            record.drop_open();
        }
    }

    /// Finishes the log, and returns the number of truncated records.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) -> u64 {
        let cut_off = match &mut self.encoding {
            Encoding::Text(messages) | Encoding::Wrapped(messages) => {
                let mut all = messages.take_parts(|_, _| true);
                let ended = all
                    .iter_mut()
                    .map(|open| open.end(&mut self.sessions, sink));
                ended.filter(|is_read| !is_read).count()
            }
            Encoding::Csv(record) => {
                let record = std::mem::take(record);
                record.cut + usize::from(record.is_within_quotes)
            }
            Encoding::Json(_) => 0,
        };
        self.sessions.end(sink);
        cut_off as u64
    }

    /// Returns assumptions about timestamps.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut assumptions = self.zones.assumptions();
        assumptions.extend(self.sessions.assumption());
        assumptions
    }

    /// Returns advice on the time zones that were assumed, and on settings that make the server log
    /// more.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let texts = match &self.encoding {
            Encoding::Text(messages) | Encoding::Wrapped(messages) => Some(messages),
            Encoding::Csv(_) | Encoding::Json(_) => None,
        };
        let prefix = texts.map(|messages| &messages.prefix);
        let is_unclear = prefix.is_some_and(LinePrefix::is_process_unclear);
        let is_unknown = prefix.is_some_and(LinePrefix::has_unknown_numbers);
        let named = |advice| match advice {
            LogAdvice::NoProcessNumbers if is_unclear => LogAdvice::UnclearProcessNumbers,
            LogAdvice::NoProcessNumbers if is_unknown => LogAdvice::UnknownProcessNumbers,
            advice => advice,
        };
        let is_yearless = texts.is_some_and(|messages| messages.has_yearless_times);
        let yearless = is_yearless.then_some(LogAdvice::SyslogTimesWithoutYear);
        let readings = self.zones.readings().into_iter().chain(yearless);
        let messages = self.sessions.advice().into_iter().map(named);
        readings.chain(messages).collect()
    }
}

/// Returns true if two detected prefixes find the same timestamps and processes in the lines of
/// `begin`.
///
/// The detected prefixes of two files of one log can differ, because a short file has fewer lines
/// to learn from.
fn has_same_processes(before: &LinePrefix, next: &LinePrefix, begin: &[u8]) -> bool {
    let are_detected = [before, next]
        .iter()
        .all(|prefix| matches!(prefix, LinePrefix::Detected(_)));
    let mut heads = 0;
    let mut lines = begin
        .split(|b| *b == b'\n')
        .filter(|line| next.head(line).is_some());
    let are_same = lines.all(|line| {
        heads += 1;
        let (before, next) = (before.head(line), next.head(line));
        let process = next.and_then(|head| head.process);
        let is_same = |before: Head| process.is_none() || before.process == process;
        before.map(|head| head.time) == next.map(|head| head.time) && before.is_some_and(is_same)
    });
    are_detected && are_same && heads > 0
}

/// Returns the name of a container or of a process within a source. Either part can be empty.
fn joined_source(source: &[u8], inner: &[u8]) -> Vec<u8> {
    let blank: &[u8] = match source {
        [] => b"",
        _ => b" ",
    };
    [source, blank, inner].concat()
}

fn resolve(time: HeadTime, zones: &mut ZoneWords) -> (Option<i64>, i32) {
    match time {
        HeadTime::None => (None, 0),
        HeadTime::Local(local_s, zone) => {
            let (time_s, offset_s) = zones.resolve(local_s, zone);
            (Some(time_s), offset_s)
        }
        HeadTime::Unix(time_s) => {
            let (time_s, offset_s) = zones.resolve_utc(time_s);
            (Some(time_s), offset_s)
        }
    }
}

/// Returns the kind of the first line of a message.
fn kind(severity: Severity, text: &[u8]) -> LineKind {
    let is_entry = severity == Severity::Log
        && [&b"duration: "[..], b"statement: ", b"execute "]
            .iter()
            .any(|begin| text.starts_with(begin));
    if is_entry {
        LineKind::Entry
    } else {
        LineKind::Other
    }
}

/// The container or server that wrote a line, and the time that a collector wrote next to the line.
#[derive(Clone, Copy, Debug)]
struct LineOrigin<'l> {
    /// The container, the stream or the server. Empty if unknown.
    source: &'l [u8],
    /// The time that the collector wrote, or `HeadTime::None` if it wrote no time.
    time: HeadTime<'l>,
}

/// The text in a JSON line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedText {
    /// The text. It can have multiple lines.
    pub text: String,
    /// The container or server, and Docker's stream.
    ///
    /// For journald, it is the host and the process, because journald stores the pieces of a
    /// message as separate entries.
    source: String,
    /// The time that the collector wrote, in seconds since 1970.
    time_s: Option<i64>,
    is_docker: bool,
    /// True if the source contains the process, as in the journal.
    has_process: bool,
}

impl WrappedText {
    /// Joins the text with its preceding pieces, because Docker splits long lines.
    ///
    /// Returns `None` if more pieces follow.
    fn whole(&self, docker: &mut DockerLines) -> Option<Cow<'_, [u8]>> {
        let text = self.text.as_bytes().into();
        if self.is_docker {
            docker.join(&self.source, text)
        } else {
            Some(text)
        }
    }
}

/// Extracts the text from a JSON line: of Docker (`log`), Cloud Logging (`textPayload`), journald
/// (`MESSAGE`), Azure (`properties.message`) and others.
pub fn wrapped_text(line: &[u8]) -> Option<WrappedText> {
    let wrapped: Value = serde_json::from_slice(&plain(line)).ok()?;
    let word = |name| {
        wrapped
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let is_docker = wrapped.get("log").is_some_and(Value::is_string);
    let origin = origin(&wrapped);
    let (process, stream) = (word("_PID"), word("stream"));
    let source = match process {
        "" if is_docker && origin.is_empty() => stream.into(),
        "" if is_docker => format!("{origin} {stream}"),
        "" => origin,
        process => format!("{origin} {process}"),
    };
    Some(WrappedText {
        text: text_field(&wrapped)?.to_string(),
        source,
        time_s: outer_time_s(&wrapped),
        is_docker,
        has_process: !process.is_empty(),
    })
}

/// Returns the text of a log line that a JSON object contains.
fn text_field(object: &Value) -> Option<&str> {
    const TEXTS: [&str; 5] = ["log", "textPayload", "message", "MESSAGE", "event_message"];
    const OBJECTS: [&str; 2] = ["properties", "jsonPayload"];
    let own = TEXTS.iter().find_map(|name| object.get(name)?.as_str());
    own.or_else(|| {
        OBJECTS
            .iter()
            .find_map(|name| text_field(object.get(name)?))
    })
}

impl TextMessages {
    fn new(prefix: LinePrefix) -> TextMessages {
        TextMessages {
            prefix,
            before_time: None,
            has_tabs: false,
            docker: DockerLines::default(),
            parts: HashMap::new(),
            part_bytes: 0,
            begun: 0,
            has_yearless_times: false,
        }
    }

    /// Parses a JSON line that contains text.
    fn wrapped(
        &mut self,
        container: &[u8],
        line: &[u8],
        zones: &mut ZoneWords,
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let Some(wrapped) = wrapped_text(line) else {
            return match line {
                [] => LineKind::Other,
                // In a container, other programs write to the same stream.
                _ if is_json_object(line) => LineKind::Other,
                _ => LineKind::Malformed,
            };
        };
        let Some(text) = wrapped.whole(&mut self.docker) else {
            return LineKind::Other;
        };
        let source = joined_source(container, wrapped.source.as_bytes());
        let origin = LineOrigin {
            source: &source,
            time: wrapped.time_s.map_or(HeadTime::None, HeadTime::Unix),
        };
        let text = text.trim_ascii_end();
        let mut lines = text.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        // The first line determines the kind.
        let kind = match without_part(first) {
            (Some(part), text) if wrapped.has_process => {
                let piece = SyslogLine {
                    session: &source,
                    part: Some(part),
                    time: origin.time,
                    text,
                };
                self.piece(&piece, &origin, zones, sessions, sink)
            }
            _ => None,
        };
        let kind = kind.unwrap_or_else(|| self.line(&origin, first, zones, sessions, sink));
        for line in lines {
            self.line(&origin, line, zones, sessions, sink);
        }
        kind
    }

    /// Parses a line.
    fn line(
        &mut self,
        origin: &LineOrigin,
        line: &[u8],
        zones: &mut ZoneWords,
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let source = origin.source;
        if let Some(rest) = tabbed_line(line) {
            self.has_tabs = true;
            return self.append(source, b"\n", rest, sessions, sink);
        }
        let piece = syslog_line(line);
        let kind = piece.and_then(|piece| self.piece(&piece, origin, zones, sessions, sink));
        if let Some(kind) = kind {
            return kind;
        }
        match self.head(line, zones) {
            Some((mut open, kind)) => {
                let process = open.process.take();
                open.process = process.map(|process| joined_source(source, &process));
                if open.time_s.is_none() {
                    (open.time_s, open.offset_s) = resolve(origin.time, zones);
                }
                self.begin_part(source, open, kind, sessions, sink)
            }
            None => self.other_line(source, line, sessions, sink),
        }
    }

    /// Parses a line of syslog, which splits messages at line breaks and splits long lines.
    ///
    /// Returns `None` if the line neither begins nor continues a message.
    fn piece(
        &mut self,
        piece: &SyslogLine,
        origin: &LineOrigin,
        zones: &mut ZoneWords,
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> Option<LineKind> {
        let text = without_escapes(piece.text);
        // A later piece is a line of the same message, the rest of a long line, or a line such as
        // STATEMENT.
        let is_first = piece.part.is_none_or(|part| part == 1);
        let is_head =
            |open: &OpenMessage| is_first || !matches!(open.tag, Some(LineTag::Message(_)));
        let head = self.head(&text, zones);
        if let Some((mut open, kind)) = head.filter(|(open, _)| is_head(open)) {
            open.process = Some(piece.session.to_vec());
            for time in [piece.time, origin.time] {
                if open.time_s.is_none() {
                    (open.time_s, open.offset_s) = resolve(time, zones);
                }
            }
            self.has_yearless_times |= open.time_s.is_none();
            return Some(self.begin_part(piece.session, open, kind, sessions, sink));
        }
        let is_open = self.parts.contains_key(piece.session);
        if is_first && is_open && (piece.part.is_some() || self.begins_message(&text)) {
            return Some(self.foreign_line(piece.session, &text, sessions, sink));
        }
        if is_first && !is_open {
            return None;
        }
        let (between, text) = match text.strip_prefix(b"\t") {
            Some(line) => (&b"\n"[..], line),
            None => (&b""[..], &text[..]),
        };
        Some(self.append(piece.session, between, text, sessions, sink))
    }

    /// Parses the head of a message. Returns the message, and the kind of the line.
    fn head(&self, line: &[u8], zones: &mut ZoneWords) -> Option<(OpenMessage, LineKind)> {
        let head = self.prefix.head(line)?;
        let kind = match head.tag {
            LineTag::Message(severity) => kind(severity, head.text),
            _ => LineKind::Other,
        };
        let (time_s, offset_s) = resolve(head.time, zones);
        let open = OpenMessage {
            time_s,
            offset_s,
            process: head.process.map(<[u8]>::to_vec),
            application: head.application.to_vec(),
            tag: Some(head.tag),
            text: head.text[..head.text.len().min(MAX_MESSAGE)].to_vec(),
            number: 0,
        };
        Some((open, kind))
    }

    /// Handles a line without a head and without a tab.
    ///
    /// The line is from another program or, if a collector removed the tabs, it continues a
    /// message.
    fn other_line(
        &mut self,
        source: &[u8],
        line: &[u8],
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let is_open = self.parts.contains_key(source);
        if self.begins_message(line) {
            return self.foreign_line(source, line, sessions, sink);
        }
        if is_json(line) && is_json_object(line) {
            return LineKind::Other;
        }
        if is_open && self.has_tabs || !is_open && (line.is_empty() || !source.is_empty()) {
            return LineKind::Other;
        }
        self.append(source, b"\n", line, sessions, sink)
    }

    /// Returns true if a line without a recognized head has a time where lines with a head have
    /// theirs, or a severity in another language.
    fn begins_message(&self, line: &[u8]) -> bool {
        let time = self
            .before_time
            .as_ref()
            .and_then(|before| line.strip_prefix(&before[..]));
        let is_time = |text| local_time(text).or_else(|| unix_time(text)).is_some();
        time.is_some_and(is_time) || is_translated_head(line)
    }

    /// Ends the open message of a source when a line without a recognized head begins another
    /// message.
    ///
    /// The line's severity is in another language, or another program wrote the line.
    fn foreign_line(
        &mut self,
        source: &[u8],
        line: &[u8],
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let last = self.parts.remove(source);
        self.part_bytes -= last.as_ref().map_or(0, |last| last.text.len());
        if is_translated_head(line) {
            sessions.skip_translated();
        }
        if last.is_none_or(|mut last| last.end(sessions, sink)) {
            LineKind::Other
        } else {
            LineKind::Malformed
        }
    }

    /// Appends text to the open message of a source.
    fn append(
        &mut self,
        source: &[u8],
        between: &[u8],
        text: &[u8],
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let Some(open) = self.parts.get_mut(source) else {
            return LineKind::Malformed;
        };
        let before = open.text.len();
        open.push(between);
        open.push(text);
        self.part_bytes += open.text.len() - before;
        self.fit_parts(source, sessions, sink);
        LineKind::Other
    }

    fn begin_part(
        &mut self,
        source: &[u8],
        mut open: OpenMessage,
        kind: LineKind,
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        open.number = self.begun;
        self.begun += 1;
        self.part_bytes += open.text.len();
        let last = self.parts.insert(source.to_vec(), open);
        self.part_bytes -= last.as_ref().map_or(0, |last| last.text.len());
        self.fit_parts(source, sessions, sink);
        if last.is_none_or(|mut last| last.end(sessions, sink)) {
            kind
        } else {
            LineKind::Malformed
        }
    }

    /// Finishes the older half of the open messages if there are more than [`MAX_PARTS`] or they
    /// have more than [`MAX_PART_BYTES`] in total.
    ///
    /// The message of `source`, which has just been extended, stays open.
    fn fit_parts(&mut self, source: &[u8], sessions: &mut Sessions, sink: &mut impl FnMut(&Entry)) {
        if self.parts.len() <= MAX_PARTS && self.part_bytes <= MAX_PART_BYTES {
            return;
        }
        let mut numbers: Vec<u64> = self.parts.values().map(|open| open.number).collect();
        let middle = numbers.len() / 2;
        let bound = *numbers.select_nth_unstable(middle).1;
        let is_old = |key: &[u8], open: &OpenMessage| open.number <= bound && key != source;
        for mut open in self.take_parts(is_old) {
            open.end(sessions, sink);
        }
    }

    /// Removes and returns open messages, in the order in which they began.
    fn take_parts(&mut self, is_taken: impl Fn(&[u8], &OpenMessage) -> bool) -> Vec<OpenMessage> {
        let taken = self.parts.extract_if(|key, open| is_taken(key, open));
        let mut parts: Vec<OpenMessage> = taken.map(|(_, open)| open).collect();
        self.part_bytes -= parts.iter().map(|open| open.text.len()).sum::<usize>();
        parts.sort_by_key(|open| open.number);
        parts
    }
}

/// Returns the text of the second or a later line of a message, which begins with a tab.
///
/// A container runtime can write a time before the tab.
fn tabbed_line(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"\t").or_else(|| {
        let (time, length) = local_time(line)?;
        let rest = line[length..].strip_prefix(b" ")?.strip_prefix(b"\t")?;
        matches!(time, HeadTime::Local(..)).then_some(rest)
    })
}

/// Returns true if a line has a time and a severity in another language, such as `FEHLER:  `.
fn is_translated_head(line: &[u8]) -> bool {
    let Some(end) = find(&line[..line.len().min(512)], b":  ") else {
        return false;
    };
    let is_edge = |b: &u8| matches!(b, b' ' | b':' | b',' | b']' | b'>' | b'|' | b'-');
    let begin = line[..end].iter().rposition(is_edge);
    let word = &line[begin.map_or(0, |edge| edge + 1)..end];
    is_foreign_severity(word) && !PrefixParts::new(&line[..end]).times.is_empty()
}

/// Returns true if a word can be a severity in another language.
fn is_foreign_severity(word: &[u8]) -> bool {
    let text = String::from_utf8_lossy(word);
    text.chars().count() >= 2
        && text.chars().all(|c| c.is_alphabetic() && !c.is_lowercase())
        && Severity::named(word).is_none()
}

/// Replaces syslog's escapes. For example, syslog writes a tab as `#011`.
fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    if find(text, b"#01").is_none() {
        return text.into();
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let escape = [(&b"#011"[..], b'\t'), (b"#012", b'\n'), (b"#015", b'\r')];
        let escape = escape.iter().find(|(name, _)| text[at..].starts_with(name));
        plain.push(escape.map_or(text[at], |(_, byte)| *byte));
        at += escape.map_or(1, |(name, _)| name.len());
    }
    plain.into()
}

/// Returns true if a line begins a CSV record: with a time and its zone, the user, the database and
/// the process.
pub fn is_csv_head(line: &[u8]) -> bool {
    // Some programs that rewrite CSV quote all fields.
    let quote = usize::from(line.first() == Some(&b'"'));
    let Some((HeadTime::Local(_, Some(_)), length)) = local_time(&line[quote..]) else {
        return false;
    };
    let behind = &line[quote + length..];
    let Some(mut rest) = behind.strip_prefix(&b"\""[..quote]) else {
        return false;
    };
    for field in 0..4 {
        let Some(after) = rest.strip_prefix(b",") else {
            return false;
        };
        let end = match after {
            // A doubled quote occurs only inside another field.
            [b'"', b'"', ..] => return false,
            [b'"', text @ ..] => {
                let Some(end) = find(text, b"\",") else {
                    return false;
                };
                // Include the quotes.
                end + 2
            }
            _ => after.iter().position(|b| *b == b',').unwrap_or(after.len()),
        };
        let digits = after[..end].trim_ascii();
        let digits = digits.strip_prefix(b"\"").unwrap_or(digits);
        let digits = digits.strip_suffix(b"\"").unwrap_or(digits);
        if field == 2 && number(digits).is_none() {
            return false;
        }
        rest = &after[end..];
    }
    true
}

impl CsvRecord {
    /// Drops an incomplete record, and counts it if it ends within quotes.
    fn drop_open(&mut self) {
        self.cut += usize::from(self.is_within_quotes);
        self.is_within_quotes = false;
        self.bytes.clear();
    }

    fn line(
        &mut self,
        source: &[u8],
        line: &[u8],
        zones: &mut ZoneWords,
        sessions: &mut Sessions,
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        if self.is_within_quotes && is_csv_head(line) {
            self.drop_open();
        }
        if !self.is_within_quotes && !is_csv_head(line) {
            let is_other = line.is_empty() || line.starts_with(b"log_time,");
            return if is_other {
                LineKind::Other
            } else {
                LineKind::Malformed
            };
        }
        if self.is_within_quotes {
            self.bytes.push(b'\n');
        }
        let room = MAX_MESSAGE.saturating_sub(self.bytes.len());
        self.bytes.extend(&line[..line.len().min(room)]);
        self.is_within_quotes ^= memchr::memchr_iter(b'"', line).count() % 2 == 1;
        if self.is_within_quotes {
            return LineKind::Other;
        }
        let bytes = std::mem::take(&mut self.bytes);
        csv_record(source, &bytes, zones, sessions, sink)
    }
}

fn csv_record(
    source: &[u8],
    record: &[u8],
    zones: &mut ZoneWords,
    sessions: &mut Sessions,
    sink: &mut impl FnMut(&Entry),
) -> LineKind {
    let fields = csv_fields(record);
    if fields.len() < MIN_FIELDS {
        return LineKind::Malformed;
    }
    let process = if fields[SESSION].is_empty() {
        &fields[PROCESS]
    } else {
        &fields[SESSION]
    };
    let (Some((time, _)), Some(severity)) = (
        local_time(&fields[TIME]),
        Severity::named(&fields[SEVERITY]),
    ) else {
        if is_foreign_severity(&fields[SEVERITY]) {
            sessions.skip_translated();
        }
        return LineKind::Malformed;
    };
    let (time_s, offset_s) = resolve(time, zones);
    let process = joined_source(source, process);
    let message = Message {
        time_s,
        offset_s,
        process: Some(&process),
        application: fields.get(APPLICATION).map_or(b"", |name| name),
        severity,
        text: &fields[MESSAGE],
    };
    let details = RecordDetails {
        statement: &fields[STATEMENT],
        detail: &fields[DETAIL],
        context: &fields[CONTEXT],
    };
    read_record(&message, &details, sessions, sink)
}

/// The fields of a record that belong to its message.
struct RecordDetails<'m> {
    statement: &'m [u8],
    detail: &'m [u8],
    context: &'m [u8],
}

/// Reads a message from a record that also contains the message's statement.
fn read_record(
    message: &Message,
    details: &RecordDetails,
    sessions: &mut Sessions,
    sink: &mut impl FnMut(&Entry),
) -> LineKind {
    let is_read = sessions.message(message, sink);
    sessions.detail_of_last(message.process, details.detail);
    sessions.detail_of_last(message.process, details.context);
    if !details.statement.is_empty() {
        sessions.statement_of_last(message.process, details.statement, sink);
    }
    if is_read {
        kind(message.severity, message.text)
    } else {
        LineKind::Malformed
    }
}

/// Splits a CSV record into fields.
fn csv_fields(record: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut fields = Vec::with_capacity(26);
    let mut at = 0;
    while at <= record.len() {
        let rest = &record[at..];
        if rest.first() == Some(&b'"') {
            let (field, length) = quoted_field(rest);
            fields.push(field.into());
            at += length + 1;
        } else {
            let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
            fields.push(rest[..end].into());
            at += end + 1;
        }
    }
    fields
}

/// Parses a quoted field.
///
/// Returns the field without quotes, and the length of `text` before the next comma.
fn quoted_field(text: &[u8]) -> (Vec<u8>, usize) {
    let mut field = Vec::new();
    let mut at = 1;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]).map(|n| at + n) {
        field.extend(&text[at..quote]);
        if text.get(quote + 1) != Some(&b'"') {
            let end = memchr::memchr(b',', &text[quote..]).map_or(text.len(), |n| quote + n);
            return (field, end);
        }
        field.push(b'"');
        at = quote + 2;
    }
    field.extend(&text[at.min(text.len())..]);
    (field, text.len())
}

/// A JSON line with `jsonlog`'s field names, or with the names of the CSV columns inside `record`.
#[derive(Deserialize)]
struct JsonMessage<'l> {
    #[serde(borrow, alias = "log_time")]
    timestamp: Option<Cow<'l, str>>,
    #[serde(alias = "process_id")]
    pid: Option<JsonProcess>,
    #[serde(borrow)]
    session_id: Option<Cow<'l, str>>,
    #[serde(borrow)]
    error_severity: Option<Cow<'l, str>>,
    #[serde(borrow)]
    message: Option<Cow<'l, str>>,
    #[serde(borrow)]
    application_name: Option<Cow<'l, str>>,
    #[serde(borrow, alias = "query")]
    statement: Option<Cow<'l, str>>,
    #[serde(borrow)]
    detail: Option<Cow<'l, str>>,
    #[serde(borrow)]
    context: Option<Cow<'l, str>>,
    /// The record inside the wrapper of CloudNativePG or Cloud Logging.
    #[serde(borrow, alias = "jsonPayload")]
    record: Option<Box<JsonMessage<'l>>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonProcess {
    Number(u64),
    Text(String),
}

fn json_message(line: &[u8]) -> Option<JsonMessage<'_>> {
    let mut message: JsonMessage = serde_json::from_slice(line).ok()?;
    while let Some(record) = message.record {
        message = *record;
    }
    (message.error_severity.is_some() && (message.pid.is_some() || message.session_id.is_some()))
        .then_some(message)
}

/// Returns true if a line is a message of `jsonlog`.
pub fn is_json_message(line: &[u8]) -> bool {
    line.first() == Some(&b'{')
        && find(line, b"error_severity").is_some()
        && inner_json(plain(line), &mut DockerLines::default())
            .is_some_and(|line| json_message(&line).is_some())
}

/// Returns the JSON line inside a JSON line of Docker or Cloud Logging, or the line itself.
///
/// Returns `None` if the line is incomplete and more pieces of it follow.
fn inner_json<'l>(line: Cow<'l, [u8]>, docker: &mut DockerLines) -> Option<Cow<'l, [u8]>> {
    let marks = [&b"\"log\":"[..], b"\\\"error_severity\\\""];
    if !marks.iter().any(|mark| find(&line, mark).is_some()) {
        return Some(line);
    }
    let Some(wrapped) = wrapped_text(&line) else {
        return Some(line);
    };
    let text = wrapped.whole(docker)?;
    Some(if text.starts_with(b"{") {
        text.into_owned().into()
    } else {
        line
    })
}

/// Returns true if a line is a JSON object.
fn is_json_object(line: &[u8]) -> bool {
    line.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Replaces invalid UTF-8, because JSON requires UTF-8 but a database can use another encoding.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(line) {
        Cow::Borrowed(text) => text.as_bytes().into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

fn json_line(
    container: &[u8],
    line: &[u8],
    docker: &mut DockerLines,
    zones: &mut ZoneWords,
    sessions: &mut Sessions,
    sink: &mut impl FnMut(&Entry),
) -> LineKind {
    if line.is_empty() {
        return LineKind::Other;
    }
    let origin = match may_have_origin(line) {
        true => serde_json::from_slice(&plain(line)).map_or_else(|_| String::new(), |v| origin(&v)),
        false => String::new(),
    };
    let Some(line) = inner_json(plain(line), docker) else {
        return LineKind::Other;
    };
    let Some(message) = json_message(&line) else {
        // In a container, other programs write to the same stream.
        return if is_json_object(&line) {
            LineKind::Other
        } else {
            LineKind::Malformed
        };
    };
    let severity = message
        .error_severity
        .as_ref()
        .and_then(|name| Severity::named(name.as_bytes()));
    let time = message
        .timestamp
        .as_ref()
        .and_then(|text| local_time(text.as_bytes()));
    let (Some(severity), Some((time, _))) = (severity, time) else {
        let name = message.error_severity.as_deref().unwrap_or_default();
        if is_foreign_severity(name.as_bytes()) {
            sessions.skip_translated();
        }
        return LineKind::Malformed;
    };
    let process = match (&message.session_id, &message.pid) {
        (Some(session), _) => session.as_bytes().to_vec(),
        (None, Some(JsonProcess::Number(pid))) => pid.to_string().into_bytes(),
        (None, Some(JsonProcess::Text(pid))) => pid.as_bytes().to_vec(),
        (None, None) => return LineKind::Malformed,
    };
    let source = joined_source(container, origin.as_bytes());
    let process = joined_source(&source, &process);
    let (time_s, offset_s) = resolve(time, zones);
    let text = message.message.as_deref().unwrap_or_default();
    let read = Message {
        time_s,
        offset_s,
        process: Some(&process),
        application: message
            .application_name
            .as_deref()
            .unwrap_or_default()
            .as_bytes(),
        severity,
        text: text.as_bytes(),
    };
    let details = RecordDetails {
        statement: message.statement.as_deref().unwrap_or_default().as_bytes(),
        detail: message.detail.as_deref().unwrap_or_default().as_bytes(),
        context: message.context.as_deref().unwrap_or_default().as_bytes(),
    };
    read_record(&read, &details, sessions, sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::UNKNOWN;
    use proptest::prelude::*;

    type Entries = Vec<(Option<i64>, Option<u64>, u16, String)>;

    fn read_with(mut log: PostgresqlLog, text: &str) -> (Entries, PostgresqlLog, [usize; 2]) {
        let mut entries = Vec::new();
        let mut malformed = 0;
        let mut sink = |e: &Entry| {
            let text = String::from_utf8_lossy(e.target).into_owned();
            entries.push((e.time_s, e.duration_ns, e.status, text));
        };
        for line in text.lines() {
            malformed += usize::from(log.line(line.as_bytes(), &mut sink) == LineKind::Malformed);
        }
        let cut_off = log.end(&mut sink);
        (entries, log, [malformed, cut_off as usize])
    }

    fn text_log() -> PostgresqlLog {
        PostgresqlLog::text(LinePrefix::detected(true), Zone::default())
    }

    /// Returns each query with its duration in µs: -1 means no duration, -2 means that the query
    /// failed.
    fn queries(log: &str) -> Vec<(i64, String)> {
        let (entries, _, problems) = read_with(text_log(), log);
        assert_eq!(problems, [0, 0], "{log}");
        short(entries)
    }

    fn short(entries: Entries) -> Vec<(i64, String)> {
        let short = |(_, duration, status, text): (_, Option<u64>, u16, String)| {
            let micros = match (duration, status) {
                (_, 500) => -2,
                (None, _) => -1,
                (Some(ns), _) => (ns / 1_000) as i64,
            };
            (micros, text)
        };
        entries.into_iter().map(short).collect()
    }

    /// Returns a log line that the given process wrote.
    fn line(process: u32, text: &str) -> String {
        format!("2026-05-01 10:00:00.123 UTC [{process}] me@db {text}\n")
    }

    fn expected(queries: &[(i64, &str)]) -> Vec<(i64, String)> {
        queries
            .iter()
            .map(|(us, text)| (*us, text.to_string()))
            .collect()
    }

    const T: i64 = 1_777_629_600;

    #[test]
    fn statements_can_have_multiple_lines() {
        let log = "2026-05-01 10:00:00.123 UTC [77] me@db LOG:  duration: 12.345 ms  statement: SELECT *\n\tFROM t\n\
                   2026-05-01 10:00:01.000 UTC [77] me@db LOG:  duration: 0.5 ms  execute <unnamed>: UPDATE t SET a = $1\n\
                   2026-05-01 10:00:01.000 UTC [77] me@db DETAIL:  parameters: $1 = '5'\n\
                   2026-05-01 10:00:02.000 UTC [77] me@db LOG:  duration: 0.1 ms  bind s1: SELECT 1\n\
                   2026-05-01 10:00:03.000 UTC [77] me@db ERROR:  relation \"x\" does not exist\n\
                   2026-05-01 10:00:03.000 UTC [77] me@db STATEMENT:  SELECT * FROM x\n\
                   2026-05-01 10:00:04.000 UTC [78] LOG:  checkpoint starting: time\n";
        let (entries, _, problems) = read_with(text_log(), log);
        assert_eq!(problems, [0, 0]);
        assert_eq!(
            entries,
            [
                (Some(T), Some(12_345_000), 200, "SELECT *\nFROM t".into()),
                (
                    Some(T + 1),
                    Some(500_000),
                    200,
                    "UPDATE t SET a = $1".into()
                ),
                (Some(T + 2), Some(100_000), 200, "bind: SELECT 1".into()),
                (Some(T + 3), None, 500, "SELECT * FROM x".into()),
            ]
        );
    }

    #[test]
    fn statements_and_durations_of_a_process_are_joined() {
        let log = [
            line(1, "LOG:  statement: SELECT slow\n\tFROM t"),
            line(2, "LOG:  statement: SELECT fast"),
            line(2, "LOG:  duration: 0.960 ms"),
            line(1, "LOG:  duration: 489.168 ms"),
            // After an `execute` of a prepared statement, the durations of its phases follow
            // without its name.
            line(3, "LOG:  execute s1/c2: SELECT $1"),
            line(3, "DETAIL:  parameters: $1 = '5'"),
            line(3, "LOG:  duration: 0.2 ms"),
            line(3, "LOG:  duration: 0.3 ms"),
            line(4, "LOG:  statement: SELECT untimed"),
            line(4, "LOG:  statement: SELECT last"),
        ];
        assert_eq!(
            queries(&log.concat()),
            expected(&[
                (960, "SELECT fast"),
                (489_168, "SELECT slow\nFROM t"),
                (200, "SELECT $1"),
                (300, UNKNOWN),
                (-1, "SELECT untimed"),
                (-1, "SELECT last"),
            ])
        );
    }

    #[test]
    fn without_a_process_nothing_is_joined() {
        let log = "2026-05-01 10:00:00 UTC LOG:  statement: SELECT 1\n2026-05-01 10:00:00 UTC LOG:  duration: 5 ms\n\
                   2026-05-01 10:00:00 UTC ERROR:  no\n2026-05-01 10:00:00 UTC STATEMENT:  SELECT 2\n";
        let (entries, log, _) = read_with(text_log(), log);
        assert_eq!(
            short(entries),
            expected(&[(-1, "SELECT 1"), (5_000, UNKNOWN), (-2, "SELECT 2")])
        );
        assert_eq!(log.advice(), [LogAdvice::NoProcessNumbers]);
    }

    #[test]
    fn severities_decide_which_statements_failed() {
        let statement = "STATEMENT:  SELECT a";
        let log = [
            line(1, "LOG:  temporary file: path \"x\", size 1"),
            line(1, statement),
            line(1, "WARNING:  there is no transaction"),
            line(1, statement),
            line(1, "LOG:  duration: 3.0 ms  statement: SELECT a"),
            line(1, "NOTICE:  duration: 3.0 ms  statement: SELECT b"),
            // A failed statement counts once, with or without its text after the error.
            line(1, "LOG:  statement: SELECT a"),
            line(1, "ERROR:  no"),
            line(1, "DETAIL:  more"),
            line(1, statement),
            line(2, "LOG:  statement: SELECT c"),
            line(2, "ERROR:  no"),
            line(2, "LOG:  statement: SELECT d"),
            line(2, "FATAL:  terminating connection"),
            line(2, "LOG:  disconnection: session time: 0:00:01"),
            line(3, "FATAL:  password authentication failed"),
        ];
        assert_eq!(
            queries(&log.concat()),
            expected(&[
                (3_000, "SELECT a"),
                (-2, "SELECT a"),
                (-2, "SELECT c"),
                (-1, "SELECT d")
            ])
        );
    }

    #[test]
    fn statements_with_a_plan_count_once() {
        let text = "LOG:  duration: 35.651 ms  plan:\n\tQuery Text: SELECT a\n\tFROM t;\n\tAggregate  (cost=16.77..16.78 rows=1 width=0)\n\t  ->  Seq Scan";
        let json = "LOG:  duration: 35.651 ms  plan:\n\t{\n\t  \"Query Text\": \"SELECT \\\"a\\\"\\nFROM t;\",\n\t  \"Plan\": {}\n\t}";
        let yaml = "LOG:  duration: 35.651 ms  plan:\n\tQuery Text: \"SELECT \\\"a\\\"\\nFROM t;\"\n\tPlan: \n\t  Node Type: \"Result\"";
        let xml = "LOG:  duration: 35.651 ms  plan:\n\t<explain>\n\t  <Query-Text>SELECT &quot;a&quot;\n\tFROM t;</Query-Text>\n\t  <Plan/>\n\t</explain>";
        assert_eq!(
            queries(&line(1, text)),
            expected(&[(35_651, "SELECT a\nFROM t;")])
        );
        for format in [json, yaml, xml] {
            assert_eq!(
                queries(&line(1, format)),
                expected(&[(35_651, "SELECT \"a\"\nFROM t;")]),
                "{format}"
            );
        }
        // The statement's own duration follows.
        let after = [
            "LOG:  duration: 36.000 ms  statement: SELECT a\n\tFROM t;",
            "LOG:  duration: 36.000 ms",
        ];
        for after in after {
            let log = [
                line(1, text),
                line(2, "LOG:  duration: 1 ms  statement: SELECT b"),
                line(1, after),
            ];
            let both = expected(&[(1_000, "SELECT b"), (36_000, "SELECT a\nFROM t;")]);
            assert_eq!(queries(&log.concat()), both);
        }
        let begun = [
            line(1, "LOG:  statement: SELECT a\n\tFROM t;"),
            line(1, text),
            line(1, "LOG:  duration: 36.000 ms"),
        ];
        assert_eq!(
            queries(&begun.concat()),
            expected(&[(36_000, "SELECT a\nFROM t;")])
        );
        assert_eq!(
            queries(&begun[..2].concat()),
            expected(&[(35_651, "SELECT a\nFROM t;")])
        );
        // The extended protocol writes the plan when the portal is closed, once for each execution.
        let extended = "LOG:  duration: 36.000 ms  execute <unnamed>: SELECT a\n\tFROM t;";
        let log = [line(1, extended), line(1, text), line(1, text)];
        let both = expected(&[(36_000, "SELECT a\nFROM t;"), (35_651, "SELECT a\nFROM t;")]);
        assert_eq!(queries(&log.concat()), both);
        // A later, faster execution of the same text is a separate statement.
        let later = [
            line(1, text),
            line(1, "LOG:  duration: 1.0 ms  statement: SELECT a\n\tFROM t;"),
        ];
        assert_eq!(queries(&later.concat()).len(), 2);
        let level = text.replacen("LOG", "NOTICE", 1);
        assert_eq!(queries(&line(1, &level)).len(), 1);
        assert_eq!(
            queries(&line(1, "LOG:  duration: 1 ms  plan:\n\tResult  (cost=0)")),
            expected(&[(1_000, UNKNOWN)])
        );
    }

    const PLAN: &str =
        "LOG:  duration: 35.651 ms  plan:\n\tQuery Text: SELECT a\n\tSeq Scan  (cost=0.00..1.00)";

    /// PostgreSQL closes the portal of a statement in a transaction when the next statement is bound.
    #[test]
    fn a_plan_can_follow_the_parsing_of_the_next_statement() {
        for begin in ["", "LOG:  duration: 0.2 ms  execute <unnamed>: BEGIN"] {
            let log = [
                begin,
                "LOG:  duration: 36.000 ms  execute <unnamed>: SELECT a",
                "LOG:  duration: 0.1 ms  parse <unnamed>: SELECT b",
                PLAN,
                "LOG:  duration: 0.05 ms  bind <unnamed>: SELECT b",
                "LOG:  duration: 1 ms  execute <unnamed>: SELECT b",
            ];
            let lines = log.iter().filter(|text| !text.is_empty());
            let found = queries(&lines.map(|text| line(1, text)).collect::<String>());
            let begun = usize::from(!begin.is_empty());
            let all = [
                (200, "BEGIN"),
                (36_000, "SELECT a"),
                (100, "parse: SELECT b"),
                (50, "bind: SELECT b"),
                (1_000, "SELECT b"),
            ];
            assert_eq!(found, expected(&all[1 - begun..]));
        }
        let bare = [
            "LOG:  execute <unnamed>: SELECT a",
            "LOG:  duration: 36.000 ms",
            "LOG:  duration: 0.1 ms",
            PLAN,
            "LOG:  duration: 0.05 ms",
            "LOG:  execute <unnamed>: SELECT b",
            "LOG:  duration: 1 ms",
        ];
        assert_eq!(
            queries(&bare.map(|text| line(1, text)).concat()),
            expected(&[
                (36_000, "SELECT a"),
                (100, UNKNOWN),
                (50, UNKNOWN),
                (1_000, "SELECT b")
            ])
        );
    }

    #[test]
    fn the_plan_of_a_cursor_can_follow_other_statements() {
        let named = [
            "LOG:  duration: 30 ms  execute S_1/C_2: SELECT a",
            "LOG:  duration: 1 ms  execute S_3: SELECT b",
            "LOG:  duration: 1 ms  execute S_3: SELECT b",
            "LOG:  duration: 6 ms  execute fetch from S_1/C_2: SELECT a",
            PLAN,
        ];
        let bare = [
            "LOG:  execute S_1/C_2: SELECT a",
            "LOG:  duration: 30 ms",
            "LOG:  execute S_3: SELECT b",
            "LOG:  duration: 1 ms",
            "LOG:  execute S_3: SELECT b",
            "LOG:  duration: 1 ms",
            "LOG:  execute fetch from S_1/C_2: SELECT a",
            "LOG:  duration: 6 ms",
            PLAN,
        ];
        let all = expected(&[
            (30_000, "SELECT a"),
            (1_000, "SELECT b"),
            (1_000, "SELECT b"),
            (6_000, "SELECT a"),
        ]);
        for log in [&named[..], &bare] {
            let lines = log.iter().map(|text| line(1, text));
            assert_eq!(queries(&lines.collect::<String>()), all, "{log:?}");
        }
    }

    #[test]
    fn a_failed_execution_of_a_prepared_statement_counts_once() {
        let log = [
            "LOG:  statement: EXECUTE p(1)",
            "DETAIL:  prepare: PREPARE p AS SELECT * FROM t WHERE x/$1 > 1",
            "ERROR:  division by zero",
            "STATEMENT:  EXECUTE p(1)",
            "LOG:  duration: 1 ms  statement: SELECT b",
        ];
        assert_eq!(
            queries(&log.map(|text| line(1, text)).concat()),
            expected(&[(-2, "SELECT * FROM t WHERE x/$1 > 1"), (1_000, "SELECT b")])
        );
    }

    /// Builds a CSV record with `fields` fields.
    fn csv(severity: &str, message: &str, statement: &str, fields: usize) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut all = vec![String::new(); fields];
        all[0] = "2026-05-01 10:00:00.049 UTC".into();
        (all[1], all[2], all[3]) = (quoted("a\"b"), quoted("shop"), "23232".into());
        (all[5], all[11], all[13]) = ("51494b96.5ac0".into(), severity.into(), quoted(message));
        if !statement.is_empty() {
            all[19] = quoted(statement);
        }
        all.join(",") + "\n"
    }

    #[test]
    fn csv_of_each_version_is_read() {
        for fields in [22, 23, 24, 26] {
            let log = [
                csv(
                    "LOG",
                    "duration: 181.576 ms  statement: SELECT \"a\"\n\nFROM t",
                    "",
                    fields,
                ),
                csv("LOG", "statement: SELECT 'x,\"y'", "", fields),
                csv("LOG", "duration: 2 ms", "", fields),
                csv("ERROR", "relation \"x\" does not exist", "SELECT x", fields),
                csv("LOG", "temporary file", "SELECT y", fields),
            ];
            let (entries, _, problems) =
                read_with(PostgresqlLog::csv(Zone::default()), &log.concat());
            assert_eq!(problems, [0, 0]);
            assert_eq!(entries[0].0, Some(T));
            let all = [
                (181_576, "SELECT \"a\"\n\nFROM t"),
                (2_000, "SELECT 'x,\"y'"),
                (-2, "SELECT x"),
            ];
            assert_eq!(short(entries), expected(&all), "{fields}");
        }
    }

    #[test]
    fn csv_with_all_fields_in_quotes_is_read() {
        let record = csv("LOG", "duration: 1 ms  statement: SELECT 'a,b'", "", 24);
        let quoted = record.replacen(
            "2026-05-01 10:00:00.049 UTC,",
            "\"2026-05-01 10:00:00.049 UTC\",",
            1,
        );
        for log in [quoted.clone(), quoted.replace(",23232,", ",\"23232\",")] {
            assert!(is_csv_head(log.as_bytes()), "{log}");
            let (entries, _, problems) = read_with(PostgresqlLog::csv(Zone::default()), &log);
            assert_eq!(
                (short(entries), problems),
                (expected(&[(1_000, "SELECT 'a,b'")]), [0, 0])
            );
        }
    }

    #[test]
    fn truncated_csv_loses_one_record() {
        let record = csv(
            "LOG",
            "duration: 1 ms  statement: SELECT\n'a,\n2026-05-01 10:00:00 UTC,\"b\",,1,'",
            "",
            24,
        );
        let log = record.repeat(3);
        let whole = read_with(PostgresqlLog::csv(Zone::default()), &log);
        assert_eq!((whole.0.len(), whole.2), (3, [0, 0]));
        for cut in 1..record.len() - 1 {
            let begin = format!("{}\n{record}{record}", record[..cut].trim_end_matches('\n'));
            let (entries, _, problems) = read_with(PostgresqlLog::csv(Zone::default()), &begin);
            let cut_records = problems[0] + entries.iter().filter(|e| e.1.is_none()).count();
            assert!(
                entries.len() >= 2 && cut_records <= 3,
                "{cut}: {entries:?} {problems:?}"
            );
            let (entries, _, _) = read_with(PostgresqlLog::csv(Zone::default()), &log[cut..]);
            assert!(entries.len() >= 2, "{cut}");
            let (entries, _, problems) = read_with(
                PostgresqlLog::csv(Zone::default()),
                &log[..record.len() + cut],
            );
            let is_said = problems.iter().sum::<usize>() > 0;
            assert!(entries.len() == 2 || is_said, "{cut}: {entries:?}");
        }
    }

    #[test]
    fn json_is_parsed_alone_and_wrapped_by_a_container() {
        let log = r#"{"timestamp":"2026-05-01 10:00:00.049 UTC","pid":7,"session_id":"a1b2c3d4.7","error_severity":"LOG","message":"statement: SELECT \"a\"\nFROM t"}
{"timestamp":"2026-05-01 10:00:01 UTC","pid":7,"session_id":"a1b2c3d4.7","error_severity":"LOG","message":"duration: 5 ms"}
{"level":"info","msg":"record","record":{"log_time":"2026-05-01 10:00:02 UTC","process_id":"8","error_severity":"ERROR","message":"no","query":"SELECT b"}}
{"level":"info","msg":"other"}
"#;
        let (entries, _, problems) = read_with(PostgresqlLog::json(Zone::default()), log);
        assert_eq!(problems, [0, 0]);
        assert_eq!(entries[0].0, Some(T + 1));
        assert_eq!(
            short(entries),
            expected(&[(5_000, "SELECT \"a\"\nFROM t"), (-2, "SELECT b")])
        );
        assert_eq!(
            read_with(PostgresqlLog::json(Zone::default()), "{\"timestamp\":").2,
            [1, 0]
        );
    }

    #[test]
    fn lines_wrapped_in_json_are_parsed() {
        let docker = |text: &str| {
            serde_json::json!({"log": text, "stream": "stderr", "time": "2026-05-01T10:00:00Z"})
                .to_string()
        };
        let lines = [
            docker("2026-05-01 10:00:00.123 UTC [7] LOG:  duration: 5 ms  statement: SELECT a\n"),
            docker("\tFROM t\n"),
            serde_json::json!({"textPayload": "2026-05-01 10:00:00.123 UTC [7]: [1-1] db=d LOG:  duration: 6 ms  statement: SELECT\n\tb"})
                .to_string(),
        ];
        let log = PostgresqlLog::wrapped(LinePrefix::detected(true), Zone::default());
        let (entries, _, problems) = read_with(log, &lines.join("\n"));
        assert_eq!(problems, [0, 0]);
        assert_eq!(
            short(entries),
            expected(&[(5_000, "SELECT a\nFROM t"), (6_000, "SELECT\nb")])
        );
    }

    /// Docker splits lines of more than 16 KiB.
    #[test]
    fn parts_of_docker_are_joined() {
        let docker = |stream: &str, text: &str| {
            let line =
                serde_json::json!({"log": text, "stream": stream, "time": "2026-05-01T10:00:00Z"});
            line.to_string()
        };
        let text = "2026-05-01 10:00:00 UTC [7] LOG:  duration: 5 ms  statement: SELECT ";
        let json = r#"{"timestamp":"2026-05-01 10:00:00 UTC","pid":7,"error_severity":"LOG","message":"duration: 5 ms  statement: SELECT "#;
        let logs = [
            (
                PostgresqlLog::wrapped(LinePrefix::detected(true), Zone::default()),
                text,
                "'x'\n",
            ),
            (PostgresqlLog::json(Zone::default()), json, "'x'\"}\n"),
        ];
        for (log, begin, end) in logs {
            let begin = format!("{begin}{},", "a, ".repeat(6_000));
            let lines = [
                docker("stderr", &format!("{begin}{end}")),
                docker("stderr", &begin),
                docker("stdout", "started\n"),
                docker("stderr", end),
            ];
            let (entries, _, problems) = read_with(log, &lines.join("\n"));
            assert_eq!(problems, [0, 0]);
            let statement = format!("SELECT {},'x'", "a, ".repeat(6_000));
            assert_eq!(
                short(entries),
                expected(&[(5_000, &statement), (5_000, &statement)])
            );
        }
    }

    #[test]
    fn syslog_pieces_are_joined() {
        let log = "Jan 13 11:04:00 h postgres[7]: [5-1] 2026-05-01 10:00:00 UTC [7] LOG:  duration: 5 ms  statement: SELECT a,\n\
                   Jan 13 11:04:00 h postgres[8]: [3-1] 2026-05-01 10:00:00 UTC [8] LOG:  duration: 6 ms  statement: SELECT b\n\
                   Jan 13 11:04:00 h postgres[7]: [5-2]  long\n\
                   Jan 13 11:04:00 h postgres[7]: [5-3] #011FROM t\n\
                   Jan 13 11:04:00 h postgres[6]: [9-1] 2026-05-01 10:00:00 UTC [6] ERROR:  no\n\
                   Jan 13 11:04:00 h postgres[6]: [9-2] 2026-05-01 10:00:00 UTC [6] STATEMENT:  SELECT\n\
                   Jan 13 11:04:00 h postgres[6]: [9-3] #011d\n\
                   2026-05-01T10:00:05+00:00 h postgres[9]: [1-1] LOG:  duration: 7 ms  statement: SELECT c\n";
        // Messages are in the order in which they began, because the peak per second depends on
        // this order.
        assert_eq!(
            PostgresqlLog::text(LinePrefix::detected(false), Zone::default()).into_read(log),
            expected(&[
                (5_000, "SELECT a, long\nFROM t"),
                (6_000, "SELECT b"),
                (-2, "SELECT\nd"),
                (7_000, "SELECT c")
            ])
        );
    }

    #[test]
    fn open_parts_of_many_processes_are_bounded() {
        let mut log = PostgresqlLog::text(LinePrefix::detected(false), Zone::default());
        let (mut given, mut max_bytes) = (0, 0);
        let part = "x".repeat(1 << 20);
        for process in 0..10 {
            for number in 1..=9 {
                let begin = if number == 1 {
                    "LOG:  duration: 1 ms  statement: SELECT "
                } else {
                    ""
                };
                let line = format!(
                    "2026-05-01T10:00:00+00:00 h postgres[{process}]: [1-{number}] {begin}{part}"
                );
                log.line(line.as_bytes(), &mut |_| given += 1);
                let Encoding::Text(messages) = &log.encoding else {
                    panic!("not of text");
                };
                let bytes: usize = messages.parts.values().map(|open| open.text.len()).sum();
                assert_eq!(bytes, messages.part_bytes);
                max_bytes = max_bytes.max(bytes);
            }
        }
        log.end(&mut |_| given += 1);
        assert_eq!(given, 10);
        assert!(max_bytes <= MAX_PART_BYTES + MAX_MESSAGE, "{max_bytes}");
    }

    #[test]
    fn pieces_of_a_message_are_joined_among_those_of_many_processes() {
        let mut log = PostgresqlLog::text(LinePrefix::detected(false), Zone::default());
        let (mut texts, mut malformed) = (Vec::new(), 0);
        for process in 0..1_500 {
            for number in 1..=4 {
                let text = match number {
                    1 => "LOG:  duration: 1 ms  statement: SELECT ",
                    _ => "a, ",
                };
                let line =
                    format!("2026-05-01T10:00:00+00:00 h postgres[{process}]: [1-{number}] {text}");
                let kind = log.line(line.as_bytes(), &mut |e| texts.push(e.target.to_vec()));
                malformed += usize::from(kind == LineKind::Malformed);
            }
        }
        log.end(&mut |e| texts.push(e.target.to_vec()));
        assert_eq!((texts.len(), malformed), (1_500, 0));
        let first = texts[0].clone();
        assert!(texts.iter().all(|text| *text == first), "{texts:?}");
    }

    #[test]
    fn errors_without_a_statement_are_failures() {
        let log = [
            line(1, "ERROR:  no"),
            line(1, "LOG:  duration: 1 ms  statement: SELECT a"),
            line(2, "ERROR:  canceling autovacuum task"),
            line(2, "CONTEXT:  automatic vacuum of table \"t\""),
            line(3, "FATAL:  password authentication failed"),
            line(4, "ERROR:  no"),
        ]
        .concat();
        let failed = expected(&[(-2, UNKNOWN), (1_000, "SELECT a"), (-2, UNKNOWN)]);
        assert_eq!(queries(&log), failed);
        let (_, log, _) = read_with(text_log(), &log);
        let unnamed = LogAdvice::ErrorsWithoutStatement { errors: 2 };
        assert!(log.advice().contains(&unnamed), "{:?}", log.advice());
    }

    #[test]
    fn messages_in_another_language_are_reported() {
        for text in [
            "LOG:  Dauer: 12.345 ms  Anweisung: SELECT 1",
            "LOG:  durée : 12,345 ms",
        ] {
            let (entries, log, _) = read_with(text_log(), &line(1, text));
            let translated = LogAdvice::TranslatedMessages { messages: 1 };
            assert!(
                entries.is_empty() && log.advice()[0] == translated,
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_lines_are_counted() {
        let (entries, _, problems) = read_with(
            text_log(),
            "nonsense\n2026-05-01 10:00:00 UTC [1] LOG:  duration: x ms\n",
        );
        // The last message is truncated.
        assert_eq!((entries.len(), problems), (0, [1, 1]));
        let log = format!(
            "{}{}",
            line(1, "LOG:  duration: x ms"),
            line(1, "LOG:  duration: 1 ms  statement: SELECT 1")
        );
        let (entries, _, problems) = read_with(text_log(), &log);
        assert_eq!((entries.len(), problems), (1, [1, 0]));
    }

    impl PostgresqlLog {
        fn into_read(self, text: &str) -> Vec<(i64, String)> {
            short(read_with(self, text).0)
        }
    }

    proptest! {
        #[test]
        fn any_lines_do_no_harm(lines in proptest::collection::vec(
            "(2026-05-01 10:00:00(\\.1)? (UTC|EET|IST|\\+03) \\[[12]\\] |)(LOG|ERROR|STATEMENT|DETAIL|FATAL):  \
             (duration: [0-9.]{0,25} ms|)(  |)(statement: |execute x: |parse x: |plan:|)\\PC{0,10}|\t\\PC{0,10}|\\PC{0,20}|\
             a postgres\\[1\\]: \\[1-[12]\\] LOG:  x", 0..40)) {
            for log in [text_log(), PostgresqlLog::csv(Zone::default()), PostgresqlLog::json(Zone::default())] {
                read_with(log, &lines.join("\n"));
            }
        }

        /// Every CSV record is parsed as it was written, regardless of its text.
        #[test]
        fn csv_fields_round_trip(fields in proptest::collection::vec("[a\",\n'\u{e9}]{0,8}", 1..6)) {
            let quoted: Vec<String> = fields.iter().map(|f| format!("\"{}\"", f.replace('"', "\"\""))).collect();
            let read: Vec<Vec<u8>> = csv_fields(quoted.join(",").as_bytes()).into_iter().map(Cow::into_owned).collect();
            let fields: Vec<Vec<u8>> = fields.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(read, fields);
        }
    }
}
