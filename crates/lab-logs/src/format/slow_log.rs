// SPDX-License-Identifier: Apache-2.0
//! Parses the slow query log of MySQL, MariaDB, Percona Server and TiDB.
//!
//! Sources: MySQL 8.4, 7.4.5 *The Slow Query Log*; MariaDB, *Slow Query Log Extended Statistics*;
//! Percona Server 8.0, *Slow query log*; TiDB, *Identify Slow Queries*.

use super::header_line::value;
use super::statement_outcome::StatementOutcome;
use crate::entry::{Entry, LineKind};
use crate::query::UNKNOWN;
use crate::sql::{Dialect, DoubleQuotes, double_quotes, ends_with_semicolon, ends_within_quotes};
use crate::time::{Zone, iso, iso_length, number, scaled};
use lab_model::{LogAdvice, LogAssumption};
use memchr::memmem::find;
use std::collections::HashSet;

/// The maximum stored length of a statement, in bytes.
const MAX_STATEMENT: usize = 16 << 20;
/// The maximum length of a statement in which the parser looks for an open literal, in bytes.
///
/// The search runs at each line that looks like a header.
const MAX_SEARCHED: usize = 64 << 10;
/// The granularity of time zone offsets, in seconds.
const OFFSET_STEP: i64 = 900;
/// The maximum time from the end of a statement until its log line is written, in seconds.
const MAX_WRITE_DELAY_S: i64 = 5;
/// The maximum time by which statements can be out of order, in seconds.
const UNORDERED_S: i64 = 60;
/// The maximum offset of a time zone from UTC, in seconds.
const MAX_OFFSET_S: i64 = 14 * 3600;
/// The maximum number of names in double quotes that are stored.
const MAX_NAMES: usize = 10_000;
/// The maximum length of a stored name in double quotes, in bytes.
const MAX_NAME: usize = 256;
/// The names of fields that only TiDB writes.
const TIDB_FIELDS: [&[u8]; 3] = [b"Txn_start_ts:", b"Conn_ID:", b"Is_internal:"];

/// The time in a `# Time:` line.
#[derive(Clone, Copy, Debug)]
struct HeaderTime {
    /// The local time, in seconds since 1970 as if it were UTC.
    local_s: i64,
    /// The offset from UTC in seconds, or `None` if the line has no zone.
    offset_s: Option<i32>,
}

/// A statement with its header lines. More lines may still follow.
#[derive(Clone, Debug, Default)]
struct SlowEvent {
    /// True once the line with the duration was read.
    is_open: bool,
    /// True if the statement has its own `# Time:` line.
    has_time: bool,
    duration_ns: Option<u64>,
    /// The text of a duration that cannot be parsed.
    unparsed: Option<String>,
    /// True if the line with the duration may be truncated within the digits.
    is_short: bool,
    /// The timestamp in `SET timestamp`, in seconds since 1970.
    timestamp_s: Option<i64>,
    has_set: bool,
    has_use: bool,
    outcome: StatementOutcome,
    /// True if TiDB itself executed the statement.
    is_internal: bool,
    text: Vec<u8>,
    /// The header lines at the end of the text, if the text before these lines ends within quotes.
    block: Option<HeaderBlock>,
}

/// Header lines after a text that ends within quotes.
///
/// If the statement contains lines of a slow log, the header lines belong to the statement's text.
/// Otherwise, the statement was cut off, and the header lines begin the next statement.
#[derive(Clone, Debug, Default)]
struct HeaderBlock {
    /// The length of the statement's text before the header lines, in bytes.
    offset: usize,
    /// True if the statement's text before the header lines ends with a semicolon.
    is_terminated: bool,
    time: Option<HeaderTime>,
    has_duration: bool,
    duration_ns: Option<u64>,
}

/// A parser of the slow query log.
#[derive(Clone, Debug, Default)]
pub struct SlowLog {
    /// The time zone for timestamps without an offset.
    zone: Zone,
    /// The time in the last `# Time:` line, which can apply to multiple statements.
    time: Option<HeaderTime>,
    /// The offset of the server's clock from UTC in seconds, learned from statements that have both
    /// a header time and a `SET timestamp`.
    server_offset_s: Option<i32>,
    event: SlowEvent,
    /// The time of the last complete statement, in seconds since 1970.
    last_s: Option<i64>,
    /// The number of lines that may still belong to the banner of a server start.
    banner_lines: u8,
    /// True if a timestamp without a zone was interpreted as UTC.
    is_zone_guessed: bool,
    /// Names in double quotes, from statements in sessions that use `ANSI_QUOTES`.
    names: HashSet<Vec<u8>>,
    /// True if the log has a statement.
    has_statements: bool,
    /// The number of statements whose durations cannot be parsed.
    unparsed: u64,
    /// The first duration that cannot be parsed.
    unparsed_example: String,
    /// The number of statements whose text ends within quotes.
    cut_off: u64,
    /// The number of statements that TiDB itself executed.
    internal: u64,
    /// The sampling rate `N`, if the server logs one in `N` statements. 0 if the log does not
    /// contain the rate.
    one_in: u64,
}

/// A kind of line that begins with `#`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Time,
    User,
    Duration,
    Administrator,
    Other,
}

impl SlowLog {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> SlowLog {
        SlowLog {
            zone,
            ..SlowLog::default()
        }
    }

    /// Returns a description of the log that begins with `lines`.
    pub fn words(lines: &[&[u8]]) -> &'static str {
        let is_tidb = |line: &&[u8]| TIDB_FIELDS.iter().any(|name| value(line, name).is_some());
        let mut headers = lines.iter().filter(|line| header(line).is_some());
        if headers.any(is_tidb) {
            "slow query log of TiDB"
        } else {
            "slow query log of MariaDB or MySQL"
        }
    }

    /// Returns the resolution of the durations in `lines`, in ns.
    ///
    /// Before version 5.1.21, MySQL wrote whole seconds.
    pub fn step_ns(lines: &[&[u8]]) -> u64 {
        let headers = lines
            .iter()
            .filter(|line| header(line) == Some(Header::Duration));
        let mut durations = headers
            .filter_map(|line| value(line, b"Query_time:"))
            .peekable();
        let is_whole = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        if durations.peek().is_some() && durations.all(is_whole) {
            1_000_000_000
        } else {
            1_000
        }
    }

    /// Creates a parser.
    ///
    /// From the first lines of the log, the parser learns the offset of the server's clock and the
    /// names in double quotes.
    pub fn with_sample(zone: Zone, lines: &[&[u8]]) -> SlowLog {
        let mut sample = SlowLog::new(zone.clone());
        for line in lines {
            sample.line(line, &mut |_| {});
        }
        SlowLog {
            server_offset_s: sample.server_offset_s,
            names: sample.names,
            ..SlowLog::new(zone)
        }
    }

    /// Returns true if the next file of the log, whose first lines are `begin`, continues the open
    /// statement.
    ///
    /// In that case, this parser also reads the next file, with the offset of the server's clock
    /// that `next` found. Otherwise, `next` reads the next file, and takes over the time of the
    /// last `# Time:` line unless the file begins with a banner or with earlier statements.
    pub fn continue_with(&mut self, next: &mut SlowLog, begin: &[u8], is_sure: bool) -> bool {
        let mut lines = begin
            .split(|b| *b == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let first = lines.clone().next().unwrap_or_default();
        if is_banner(first) || (!is_sure && self.has_ended_before(next, &mut lines)) {
            return false;
        }
        let is_next = header(without_export_time(first)).is_some_and(Header::begins_statement)
            && self.event.is_open
            && !self.is_within_quotes();
        // Lines after a complete statement belong to a statement that began in a missing file.
        let is_complete = !is_sure && has_semicolon(&self.event.text);
        if is_next || is_complete {
            next.time = self.time;
            return false;
        }
        self.server_offset_s = next.server_offset_s.or(self.server_offset_s);
        true
    }

    /// Returns true if the first statement in `lines` ended before this file's last statement.
    fn has_ended_before<'l>(
        &self,
        next: &SlowLog,
        lines: &mut impl Iterator<Item = &'l [u8]>,
    ) -> bool {
        let mut probe = next.clone();
        let mut ended_s = None;
        let mut note = |entry: &Entry| {
            let took_s = entry.duration_ns.unwrap_or(0) / 1_000_000_000;
            ended_s = entry
                .time_s
                .map(|time_s| time_s.saturating_add_unsigned(took_s));
        };
        while let Some(line) = lines.next()
            && probe.last_s.is_none()
        {
            probe.line(line, &mut note);
        }
        if probe.last_s.is_none() {
            probe.end(&mut note);
        }
        let last_s = self.event.timestamp_s.or(self.last_s);
        ended_s
            .zip(last_s)
            .is_some_and(|(ended_s, last_s)| ended_s < last_s - UNORDERED_S)
    }

    /// Returns true if the lines are from a slow query log. The general log begins with the same
    /// banner.
    pub fn has_marks(lines: &[&[u8]]) -> bool {
        let is_header =
            |line: &&[u8]| header(without_export_time(line)).is_some_and(Header::begins_statement);
        lines.iter().any(is_header)
            || (lines.iter().any(|line| is_banner(line)) && !is_general_log(lines))
    }

    /// Parses a line and passes a complete entry to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let line = without_export_time(line);
        if is_banner(line) {
            self.end(sink);
            self.banner_lines = 2;
            return LineKind::Other;
        }
        if self.banner_lines > 0 {
            self.banner_lines -= 1;
            if is_banner_rest(line) {
                return LineKind::Other;
            }
            self.banner_lines = 0;
        }
        if let Some(block) = self.event.block.take() {
            return self.block_line(block, line, sink);
        }
        match header(line) {
            Some(header) if header.begins_statement() && self.is_within_quotes() => {
                let text = &self.event.text;
                let block = HeaderBlock {
                    offset: text.len(),
                    is_terminated: text.trim_ascii_end().ends_with(b";"),
                    ..HeaderBlock::default()
                };
                self.block_line(block, line, sink)
            }
            Some(header) if header.begins_statement() || self.event.text.is_empty() => {
                self.header(header, line, sink)
            }
            _ => self.statement(line),
        }
    }

    /// Returns true if the statement so far ends within quotes.
    fn is_within_quotes(&self) -> bool {
        let text = self.event.text.trim_ascii_end();
        !text.is_empty() && text.len() <= MAX_SEARCHED && ends_within_quotes(text, Dialect::Mysql)
    }

    /// Parses a line that follows the header lines of `block`.
    fn block_line(
        &mut self,
        mut block: HeaderBlock,
        line: &[u8],
        sink: &mut impl FnMut(&Entry),
    ) -> LineKind {
        let is_part = match header(line) {
            Some(Header::Time | Header::User | Header::Duration) => !block.has_duration,
            Some(Header::Other) => true,
            Some(Header::Administrator) => false,
            None => block.has_duration && is_use(line),
        };
        if is_part {
            match header(line) {
                Some(Header::Time) => block.time = time_of_header(line),
                Some(Header::Duration) => {
                    block.has_duration = true;
                    block.duration_ns = value(line, b"Query_time:").and_then(seconds);
                }
                _ => {}
            }
            self.push(line);
            self.event.block = Some(block);
            return LineKind::Other;
        }
        if block.has_duration && self.is_followed_by(&block, set_timestamp(line).flatten()) {
            let headers = self.event.text.split_off(block.offset);
            self.end(sink);
            for line in headers.trim_ascii_end().split(|b| *b == b'\n') {
                self.line(line, sink);
            }
        }
        self.line(line, sink)
    }

    /// Returns true if the header lines in `block` belong to the next statement, because that
    /// statement ended after this statement.
    ///
    /// `timestamp_s` is the time in the `SET timestamp` after the header lines. If the headers are
    /// a part of this statement's text, they are older than this statement.
    fn is_followed_by(&self, block: &HeaderBlock, timestamp_s: Option<i64>) -> bool {
        let ended = |timestamp_s: i64, ns: Option<u64>| {
            timestamp_s.saturating_add_unsigned(ns.unwrap_or(0) / 1_000_000_000)
        };
        match (self.event.timestamp_s, timestamp_s) {
            (Some(this), Some(next)) => {
                // Times are rounded down to seconds.
                ended(next, block.duration_ns) + 1 >= ended(this, self.event.duration_ns)
            }
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (None, None) => match (self.time, block.time) {
                (Some(this), Some(next)) => next.local_s >= this.local_s,
                _ => block.is_terminated,
            },
        }
    }

    fn header(&mut self, header: Header, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if self.event.is_open && header.begins_statement() {
            self.end_statement(sink);
        }
        match header {
            Header::Time => {
                self.time = time_of_header(line);
                self.event.has_time = true;
            }
            Header::Duration => {
                let text = value(line, b"Query_time:").unwrap_or_default();
                self.event.is_open = true;
                self.event.is_short = value(line, b"Lock_time:").is_none();
                self.event.duration_ns = seconds(text);
                self.event.unparsed = match self.event.duration_ns {
                    Some(_) => None,
                    None => Some(String::from_utf8_lossy(text).into_owned()),
                };
                self.note_statistics(line);
                return LineKind::Entry;
            }
            Header::Administrator if self.event.is_open => self.push(&line[b"# ".len()..]),
            Header::User | Header::Administrator => {}
            Header::Other => self.note_statistics(line),
        }
        LineKind::Other
    }

    /// Records the statistics in a header line: the outcome, the sampling rate of Percona Server,
    /// and whether TiDB itself executed the statement.
    fn note_statistics(&mut self, line: &[u8]) {
        self.event.outcome.note(line);
        self.event.is_internal |= value(line, b"Is_internal:").is_some_and(|text| text == b"true");
        let limit = value(line, b"Log_slow_rate_limit:").and_then(number);
        self.one_in = self.one_in.max(limit.unwrap_or(0));
    }

    fn statement(&mut self, line: &[u8]) -> LineKind {
        let event = &mut self.event;
        if !event.is_open {
            // The rest of a statement whose header is in the previous file.
            return LineKind::Other;
        }
        if event.text.is_empty() && !event.has_set {
            if let Some(timestamp) = set_timestamp(line) {
                event.has_set = true;
                event.timestamp_s = timestamp;
                self.learn_offset();
                return LineKind::Other;
            }
            if !event.has_use && is_use(line) {
                event.has_use = true;
                return LineKind::Other;
            }
            if has_statistics(line) {
                return LineKind::Other;
            }
        }
        if self.is_complete() {
            return match line.trim_ascii_start() {
                [] | [b'#' | b'-' | b'/', ..] => LineKind::Other,
                _ => LineKind::Malformed,
            };
        }
        self.push(line);
        LineKind::Other
    }

    /// Returns true if the statement ends with a semicolon that is not inside a literal, a comment
    /// or a stored procedure.
    fn is_complete(&self) -> bool {
        let text = self.event.text.trim_ascii();
        if !text.ends_with(b";") || text.len() > MAX_SEARCHED {
            return false;
        }
        let lower = text.to_ascii_lowercase();
        let has_body = lower.starts_with(b"create") || find(&lower, b"begin").is_some();
        !has_body && has_semicolon(text)
    }

    fn push(&mut self, line: &[u8]) {
        let text = &mut self.event.text;
        let room = MAX_STATEMENT.saturating_sub(text.len());
        text.extend(&line[..line.len().min(room)]);
        text.push(b'\n');
    }

    /// Learns the offset of the server's clock from UTC.
    ///
    /// The offset is derived from the start of a statement and the time when its line was written.
    fn learn_offset(&mut self) {
        let event = &self.event;
        let (Some(time), Some(began_s)) = (self.time, event.timestamp_s) else {
            return;
        };
        let took_s = event.duration_ns.unwrap_or(0) / 1_000_000_000;
        let took_s = i64::try_from(took_s)
            .unwrap_or(i64::MAX)
            .saturating_add(MAX_WRITE_DELAY_S);
        let ahead_s = time.local_s - began_s;
        let offset_s = (ahead_s + MAX_WRITE_DELAY_S / 2).div_euclid(OFFSET_STEP) * OFFSET_STEP;
        let is_offset =
            offset_s.abs() <= MAX_OFFSET_S && ahead_s - offset_s <= took_s && took_s < OFFSET_STEP;
        if time.offset_s.is_none() && is_offset {
            self.server_offset_s = i32::try_from(offset_s).ok();
        }
    }

    /// Returns the time of the statement, and the offset of the server's clock from UTC in seconds.
    fn time(&mut self) -> (Option<i64>, i32) {
        let header_offset_s = self.time.and_then(|time| time.offset_s);
        let known_offset_s = header_offset_s.filter(|s| *s != 0).or(self.server_offset_s);
        let timestamp_s = self.event.timestamp_s;
        if let Some(time_s) = timestamp_s.filter(|time_s| !self.is_set_by_client(*time_s)) {
            let by_zone = self.zone.is_given || known_offset_s.is_none();
            let offset_s = if by_zone {
                self.zone.offset_at(time_s)
            } else {
                known_offset_s.unwrap_or(0)
            };
            return (Some(time_s), offset_s);
        }
        let Some(HeaderTime { local_s, offset_s }) = self.time else {
            return (None, 0);
        };
        let offset_s = match (offset_s, self.zone.is_given) {
            (Some(0), true) => return (Some(local_s), self.zone.offset_at(local_s)),
            (Some(offset_s), _) => offset_s,
            (None, true) => self.zone.offset_of_local(local_s),
            (None, false) => {
                self.is_zone_guessed |= self.server_offset_s.is_none();
                self.server_offset_s.unwrap_or(0)
            }
        };
        (Some(local_s - i64::from(offset_s)), offset_s)
    }

    /// Returns true if the client must have set the time in `SET timestamp`, because it is
    /// inconsistent with the time when the server logged the statement.
    fn is_set_by_client(&self, timestamp_s: i64) -> bool {
        let time = self.time.filter(|_| self.event.has_time);
        let (Some(time), Some(duration_ns)) = (time, self.event.duration_ns) else {
            return false;
        };
        let (offset_s, doubt_s) = match time.offset_s.or(self.server_offset_s) {
            Some(offset_s) => (i64::from(offset_s), UNORDERED_S),
            None => (0, UNORDERED_S + MAX_OFFSET_S),
        };
        let ended_s = time.local_s - offset_s;
        let began_s = ended_s.saturating_sub_unsigned(duration_ns / 1_000_000_000);
        timestamp_s < began_s - doubt_s || timestamp_s > ended_s + doubt_s
    }

    /// Ends the log: passes the last statement to `sink`, if any.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        self.cut_off += u64::from(self.event.is_open && self.is_within_quotes());
        self.end_statement(sink);
    }

    /// Passes the statement to `sink`, if any.
    fn end_statement(&mut self, sink: &mut impl FnMut(&Entry)) {
        let is_cut_off = self.event.is_short && self.event.text.is_empty() && !self.event.has_set;
        if self.event.is_open && !is_cut_off {
            self.count();
            let (time_s, offset_s) = self.time();
            let text = self.event.text.trim_ascii();
            // Only the header is left, as at the end of a truncated file.
            let is_cut =
                text.is_empty() || (text.starts_with(b"SET timestamp=") && !text.ends_with(b";"));
            let dialect = dialect(text, &mut self.names);
            self.last_s = time_s.or(self.last_s);
            let entry = Entry {
                time_s,
                offset_s,
                duration_ns: self.event.duration_ns,
                target: if is_cut { UNKNOWN.as_bytes() } else { text },
                is_query: true,
                dialect,
                status: self.event.outcome.status(text),
                ..Entry::default()
            };
            if !self.event.is_internal {
                sink(&entry);
            }
        }
        self.event = SlowEvent::default();
    }

    /// Counts the statement.
    fn count(&mut self) {
        self.has_statements = true;
        self.internal += u64::from(self.event.is_internal);
        if let Some(text) = self
            .event
            .unparsed
            .take()
            .filter(|_| !self.event.is_internal)
        {
            if self.unparsed == 0 {
                self.unparsed_example = text;
            }
            self.unparsed += 1;
        }
    }

    /// Returns assumptions about timestamps, durations and the sample.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let is_repeated = !self.is_zone_guessed && self.zone.was_ambiguous;
        let is_skipped = !self.is_zone_guessed && self.zone.was_skipped;
        let unparsed = LogAssumption::UnparsedDurations {
            field: "Query_time".into(),
            example: self.unparsed_example.clone(),
            requests: self.unparsed,
        };
        let sampled = LogAssumption::SampledStatements {
            one_in: self.one_in,
        };
        let assumptions = [
            self.is_zone_guessed.then_some(LogAssumption::NoZone),
            is_repeated.then_some(LogAssumption::RepeatedHour),
            is_skipped.then_some(LogAssumption::SkippedHour),
            (self.unparsed > 0).then_some(unparsed),
            (self.one_in > 1).then_some(sampled),
        ];
        assumptions.into_iter().flatten().collect()
    }

    /// Returns advice about statements that are not counted or were cut off, and about settings
    /// that make the server log more.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let is_empty = !self.has_statements && !self.event.is_open;
        let cut_off = LogAdvice::StatementsCutOff {
            statements: self.cut_off,
        };
        let internal = LogAdvice::InternalStatements {
            statements: self.internal,
        };
        let advice = [
            is_empty.then_some(LogAdvice::NoSlowStatements),
            (!self.names.is_empty()).then_some(LogAdvice::AnsiQuotes),
            (self.cut_off > 0).then_some(cut_off),
            (self.internal > 0).then_some(internal),
        ];
        advice.into_iter().flatten().collect()
    }
}

impl Header {
    /// Returns true if a header line of this kind can be the first line of a statement.
    fn begins_statement(self) -> bool {
        matches!(self, Header::Time | Header::User | Header::Duration)
    }
}

/// Returns the dialect of a statement, and stores its names in double quotes.
///
/// Each session has its own `sql_mode`. If a statement does not show whether its double quotes
/// enclose names or strings, they enclose names only if all of the quoted words are known names.
fn dialect(text: &[u8], names: &mut HashSet<Vec<u8>>) -> Dialect {
    match double_quotes(text) {
        DoubleQuotes::Names(found) => {
            let short = found.into_iter().filter(|name| name.len() <= MAX_NAME);
            let room = MAX_NAMES.saturating_sub(names.len());
            names.extend(short.take(room).map(<[u8]>::to_vec));
            Dialect::MysqlAnsi
        }
        DoubleQuotes::Unclear(found) => {
            let are_names = !found.is_empty() && found.iter().all(|name| names.contains(*name));
            if are_names {
                Dialect::MysqlAnsi
            } else {
                Dialect::Mysql
            }
        }
    }
}

/// Returns true if a statement ends with a semicolon. In a long statement, the semicolon can be in a
/// comment or a literal.
fn has_semicolon(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let is_token = || text.len() > MAX_SEARCHED || ends_with_semicolon(text, Dialect::Mysql);
    text.ends_with(b";") && is_token()
}

/// Returns true if the lines are from the general query log, which has no durations.
pub fn is_general_log(lines: &[&[u8]]) -> bool {
    const COMMANDS: [&[u8]; 8] = [
        b" Query\t",
        b" Connect\t",
        b" Prepare\t",
        b" Execute\t",
        b" Init DB\t",
        b" Field List\t",
        b" Close stmt\t",
        b" Quit\t",
    ];
    let is_command = |line: &&[u8]| {
        let end = COMMANDS.iter().find_map(|command| find(line, command));
        end.is_some_and(|end| end > 0 && line[end - 1].is_ascii_digit())
    };
    lines.iter().any(is_command)
}

/// Returns the kind of a line that begins with `#`. Returns `None` for other lines.
fn header(line: &[u8]) -> Option<Header> {
    let [b' ' | b'\t', rest @ ..] = line.strip_prefix(b"#")? else {
        return Some(Header::Other);
    };
    let is = |begin: &[u8]| rest.starts_with(begin);
    let is_digit = |text: &[u8]| text.trim_ascii().first().is_some_and(u8::is_ascii_digit);
    Some(
        if let Some(time) = rest.strip_prefix(b"Time:")
            && is_digit(time)
        {
            Header::Time
        } else if is(b"User@Host:") {
            Header::User
        } else if is(b"administrator command: ") {
            Header::Administrator
        } else if has_duration(rest) {
            Header::Duration
        } else {
            Header::Other
        },
    )
}

/// Returns true if the header line contains a complete duration.
///
/// In old logs, the line contains only the duration. Otherwise, `Lock_time` must follow the
/// duration.
fn has_duration(rest: &[u8]) -> bool {
    let begins = [&b"Query_time:"[..], b"Thread_id:", b"Schema:"];
    let is_first = begins.iter().any(|begin| rest.starts_with(begin));
    is_first
        && value(rest, b"Query_time:").is_some_and(|text| {
            let is_last = rest.trim_ascii_end().ends_with(text);
            let is_number = text.iter().all(|b| b.is_ascii_digit() || *b == b'.');
            let is_alone = is_last && is_number && text.first().is_some_and(u8::is_ascii_digit);
            is_alone || (!text.is_empty() && value(rest, b"Lock_time:").is_some())
        })
}

/// Parses a number of seconds. The result is in ns.
///
/// Programs that rewrite logs may use exponents: `1e-05`.
fn seconds(text: &[u8]) -> Option<u64> {
    scaled(text, 1_000_000_000).or_else(|| {
        let text = std::str::from_utf8(text).ok()?;
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        let seconds = text.parse::<f64>().ok().filter(|_| is_number)?;
        (seconds < 1e9).then(|| (seconds * 1e9).round() as u64)
    })
}

/// Returns true for `use shop;`.
fn is_use(line: &[u8]) -> bool {
    line.len() > 4 && line[..4].eq_ignore_ascii_case(b"use ") && line.ends_with(b";")
}

/// Returns true for a header line without its `#`, such as `Tmp_tables: 0  Tmp_disk_tables: 2`.
fn has_statistics(line: &[u8]) -> bool {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let words: Vec<&[u8]> = line.split(blank).filter(|word| !word.is_empty()).collect();
    let is_name = |word: &[u8]| {
        word.first().is_some_and(u8::is_ascii_uppercase)
            && word
                .strip_suffix(b":")
                .is_some_and(|name| name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'))
    };
    let is_pair = |pair: &[&[u8]]| pair.len() == 2 && is_name(pair[0]) && !is_name(pair[1]);
    !words.is_empty() && words.chunks(2).all(is_pair)
}

/// Removes the time that Amazon CloudWatch Logs exports before the first line of a message.
fn without_export_time(line: &[u8]) -> &[u8] {
    let has_digit = line.first().is_some_and(u8::is_ascii_digit);
    let length = has_digit.then(|| iso_length(line)).flatten();
    match length.map(|length| &line[length..]) {
        Some([b' ' | b'\t', rest @ ..]) if header(rest).is_some_and(Header::begins_statement) => {
            rest
        }
        _ => line,
    }
}

/// Parses the time of a `# Time:` line.
///
/// `# User@Host:` can follow on the same line.
fn time_of_header(line: &[u8]) -> Option<HeaderTime> {
    let text = line[b"# Time:".len()..].trim_ascii();
    let end = find(text, b" #").unwrap_or(text.len());
    header_time(text[..end].trim_ascii())
}

/// Detects the first line of a banner, such as
/// `/usr/sbin/mariadbd, Version: 10.8.3-MariaDB (MariaDB Server). started with:`
fn is_banner(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b"started with:")
        && find(line, b", Version: ").is_some_and(|at| {
            let path = line[..at].to_ascii_lowercase();
            let program = path
                .rsplit(|b| matches!(b, b'/' | b'\\'))
                .next()
                .unwrap_or_default();
            program.starts_with(b"mysqld") || program.starts_with(b"mariadbd")
        })
}

/// Returns true for the second or third line of a banner.
fn is_banner_rest(line: &[u8]) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.starts_with(b"tcp port:")
        || (lower.starts_with(b"time") && find(&lower, b"id command").is_some())
}

/// Parses the time in `SET timestamp=1197996507;`, alone or with insert IDs.
///
/// Returns `None` if the line contains anything else, because then the server did not write the
/// line.
fn set_timestamp(line: &[u8]) -> Option<Option<i64>> {
    let line = line.trim_ascii_end();
    let assignments = line.strip_suffix(b";")?;
    if !assignments.get(..4)?.eq_ignore_ascii_case(b"SET ") {
        return None;
    }
    let mut timestamp = None;
    for assignment in assignments[4..].split(|b| *b == b',') {
        let equals = memchr::memchr(b'=', assignment)?;
        let (name, value) = (
            assignment[..equals].trim_ascii(),
            assignment[equals + 1..].trim_ascii(),
        );
        match name.to_ascii_lowercase().as_slice() {
            b"timestamp" => {
                let seconds = scaled(value, 1_000_000)? / 1_000_000;
                timestamp = i64::try_from(seconds).ok().filter(|t| *t < 1 << 40);
            }
            b"insert_id" | b"last_insert_id" => {
                number(value)?;
            }
            _ => return None,
        }
    }
    Some(timestamp)
}

/// Parses `260501 10:00:00`, `260501  9:00:00` or `2026-05-01T10:00:00.123456Z`.
fn header_time(text: &[u8]) -> Option<HeaderTime> {
    if let Some((local_s, offset_s)) = iso(text) {
        return Some(HeaderTime { local_s, offset_s });
    }
    let (date, clock) = (text.get(..6)?, text.get(6..)?.trim_ascii());
    let text = format!(
        "20{}-{}-{} {:0>8}",
        std::str::from_utf8(&date[..2]).ok()?,
        std::str::from_utf8(&date[2..4]).ok()?,
        std::str::from_utf8(&date[4..]).ok()?,
        std::str::from_utf8(clock).ok()?
    );
    let (local_s, _) = iso(text.as_bytes())?;
    Some(HeaderTime {
        local_s,
        offset_s: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Entries = Vec<(Option<i64>, Option<u64>, u16, String)>;

    fn read_with(mut log: SlowLog, text: &str) -> (Entries, SlowLog) {
        let mut entries = Vec::new();
        let mut sink = |e: &Entry| {
            let text = String::from_utf8_lossy(e.target).into_owned();
            entries.push((e.time_s, e.duration_ns, e.status, text));
        };
        for line in text.lines() {
            log.line(line.as_bytes(), &mut sink);
        }
        log.end(&mut sink);
        (entries, log)
    }

    fn read(text: &str) -> Entries {
        read_with(SlowLog::new(Zone::default()), text).0
    }

    const T: i64 = 1_777_629_600;
    const MS: u64 = 1_000_000;

    #[test]
    fn statements_are_read() {
        let log = "# Time: 260501 10:00:00\n# User@Host: root[root] @ localhost []\n# Thread_id: 9  Schema: db\n\
                   # Query_time: 0.250000  Lock_time: 0.000020  Rows_sent: 1\nuse db;\nSET timestamp=1777629599;\nSELECT a\nFROM t;\n\
                   # User@Host: root[root] @ localhost []\n# Query_time: 1.5  Lock_time: 0\nSELECT 2;\n";
        assert_eq!(
            read(log),
            [
                (Some(T - 1), Some(250 * MS), 0, "SELECT a\nFROM t;".into()),
                (Some(T), Some(1_500 * MS), 0, "SELECT 2;".into()),
            ]
        );
    }

    #[test]
    fn banners_belong_to_no_statement() {
        let event = "# Query_time: 1  Lock_time: 0\nselect 1;\n";
        for banner in [
            "/usr/sbin/mariadbd, Version: 10.8.3-MariaDB (MariaDB Server). started with:\nTcp port: 3306  Unix socket: /x\nTime\t\t    Id Command\tArgument\n",
            "C:\\mysql\\bin\\mysqld.exe, Version: 8.4.0 (MySQL Community Server - GPL). started with:\nTCP Port: 3306, Named Pipe: (null)\nTime                 Id Command    Argument\n",
        ] {
            let log = format!("{banner}{event}{banner}{event}{banner}");
            assert_eq!(
                read(&log),
                vec![(None, Some(1_000 * MS), 0, "select 1;".into()); 2]
            );
        }
        // The text of a banner inside a statement does not count as a banner.
        let log =
            "# Query_time: 1  Lock_time: 0\nSELECT 'x, Version: 1 started with:\nTcp port: 1';\n";
        assert!(read(log)[0].3.contains("Tcp port"));
    }

    #[test]
    fn the_general_log_is_not_a_slow_log() {
        let banner: &[u8] = b"/usr/sbin/mysqld, Version: 8.4.0 (Source). started with:";
        let command: &[u8] = b"2026-05-01T10:00:00.123456Z\t    8 Query\tSELECT 1";
        assert!(SlowLog::has_marks(&[banner]));
        assert!(!SlowLog::has_marks(&[banner, command]));
        assert!(SlowLog::has_marks(&[
            b"# Query_time: 1  Lock_time: 0",
            command
        ]));
    }

    #[test]
    fn headers_of_each_server_are_read() {
        let log = "# Time: 260501  5:00:00 # User@Host: [SQL_SLAVE] @  []\n# Thread_id: 10\n\
                   # Query_time: 0.000530  Lock_time: 0.000027  Rows_sent: 0\n#   InnoDB_pages_distinct: 18\n\
                   SET last_insert_id=7,insert_id=34484549,timestamp=1777629600;\nINSERT INTO t VALUES (1);\n\
                   # User@Host: x[x] @  []\n# Query_time: 0.000005  Lock_time: 0.000000\n# administrator command: Quit;\n\
                   # User@Host: x[x] @  []\n# Schema: db  Last_errno: 1064  Killed: 0\n# Query_time: 0.1  Lock_time: 0\nSELEC 1;\n\
                   # User@Host: x[x] @  []\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 0 Thread_id: 8 Errno: 1146 Killed: 0\nSELECT 1 FROM x;\n\
                   # User@Host: x[x] @  []\n# Query_time: 0.1  Lock_time: 0\nSET timestamp=1777629601;\nSET timestamp=5;\n";
        let (entries, log) = read_with(SlowLog::new(Zone::default()), log);
        // The server's clock is five hours behind UTC, as the two times of the first statement
        // show.
        assert_eq!(
            entries,
            [
                (
                    Some(T),
                    Some(530_000),
                    0,
                    "INSERT INTO t VALUES (1);".into()
                ),
                (
                    Some(T),
                    Some(5_000),
                    0,
                    "administrator command: Quit;".into()
                ),
                (Some(T), Some(100 * MS), 500, "SELEC 1;".into()),
                (Some(T), Some(100 * MS), 500, "SELECT 1 FROM x;".into()),
                (Some(T + 1), Some(100 * MS), 0, "SET timestamp=5;".into()),
            ]
        );
        assert!(log.assumptions().is_empty() && log.advice().is_empty());
    }

    #[test]
    fn lines_with_a_hash_can_belong_to_statements() {
        let log = "# Query_time: 0.1  Lock_time: 0\nSET timestamp=1777629600;\n# report of the day\nSELECT count(*)\n\
                   # only the paid ones\nFROM invoices\n# Thread_id: 5\nWHERE note = 'a\n# Time: 260501 10:00:00\nb';\n\
                   # Query_time: 0.2  Lock_time: 0\nSELECT 1";
        let entries = read(log);
        assert_eq!(entries.len(), 2, "{entries:?}");
        assert!(entries[0].3.starts_with("SELECT count") && entries[0].3.ends_with("b';"));
    }

    #[test]
    fn a_semicolon_in_a_comment_does_not_end_a_statement() {
        for text in [
            "SELECT id FROM orders -- WHERE paid = 1;\nJOIN items USING (id)\nWHERE state = 'open';",
            "SELECT 1 # a;\n+ 2;",
            "SELECT 1 /* a;\nb */ + 2;",
        ] {
            let mut log = SlowLog::new(Zone::default());
            let mut found = Vec::new();
            for line in event(T, "2.5", text).lines() {
                let kind = log.line(line.as_bytes(), &mut |_| {});
                assert_ne!(kind, LineKind::Malformed, "{line}");
            }
            log.end(&mut |e: &Entry| found.push(String::from_utf8_lossy(e.target).into_owned()));
            assert_eq!(found, [text]);
        }
    }

    #[test]
    fn truncated_logs_lose_no_duration() {
        let head =
            "# Time: 260501 10:00:00\n# User@Host: x[x] @  []\n# Query_time: 0.25  Lock_time: 0\n";
        let whole = format!("{head}SET timestamp=1777629600;\nSELECT a;\n");
        // The file begins in the middle of a statement, and a statement ends where the disk was
        // full.
        let entries = read(&format!(
            "FROM t WHERE a = 'x;\n{head}SELECT 'open\n{whole}{whole}"
        ));
        assert_eq!(entries.iter().filter(|e| e.3 == "SELECT a;").count(), 2);
        assert_eq!(entries.len(), 3, "{entries:?}");
        for cut in 1..whole.len() {
            let entries = read(&whole[..cut]);
            let has_duration = cut >= head.len() - 2;
            assert_eq!(entries.len(), usize::from(has_duration), "{cut}");
            assert!(entries.iter().all(|e| e.1 == Some(250 * MS)), "{cut}");
        }
        assert_eq!(read(head)[0].3, UNKNOWN);
        assert_eq!(read("# Query_time: 1\nfoo;\n")[0].1, Some(1_000 * MS));
    }

    /// Returns a statement with a header of MySQL 8.
    fn event(timestamp_s: i64, query_time: &str, text: &str) -> String {
        format!(
            "# User@Host: x[x] @  []  Id: 1\n# Query_time: {query_time}  Lock_time: 0.000002 Rows_sent: 1\n\
             SET timestamp={timestamp_s};\n{text}\n"
        )
    }

    #[test]
    fn durations_that_cannot_be_parsed_are_reported() {
        // The first is 2^64 µs, from a clock that went backward.
        let log = ["18446744073709.550781", "-0.000003", "0,020000", "1e-05"]
            .map(|duration| event(T, duration, "SELECT 1;"))
            .concat();
        let (entries, read) = read_with(SlowLog::new(Zone::default()), &log);
        let durations: Vec<_> = entries.iter().map(|e| e.1).collect();
        assert_eq!(durations, [None, None, None, Some(10_000)]);
        let unparsed = LogAssumption::UnparsedDurations {
            field: "Query_time".into(),
            example: "18446744073709.550781".into(),
            requests: 3,
        };
        assert_eq!(
            (read.assumptions(), read.advice()),
            (vec![unparsed], vec![])
        );
        let tabs = event(T, "0.25", "SELECT 1;")
            .replace("  Lock", "\tLock")
            .replace(" Rows", "\tRows");
        let (entries, _) = read_with(SlowLog::new(Zone::default()), &tabs);
        assert_eq!(entries[0].1, Some(250 * MS));
    }

    #[test]
    fn whole_seconds_are_detected() {
        let step = |durations: [&str; 2]| {
            let log = durations.map(|duration| event(T, duration, "SELECT 1;"));
            SlowLog::step_ns(&log.concat().lines().map(str::as_bytes).collect::<Vec<_>>())
        };
        assert_eq!(step(["2", "11"]), 1_000_000_000);
        assert_eq!(step(["2", "0.5"]), 1_000);
        assert_eq!(SlowLog::step_ns(&[]), 1_000);
    }

    #[test]
    fn a_slow_log_within_a_statement_is_no_statement() {
        let stored = [
            event(T - 86_400, "55", "SELECT a;"),
            event(T - 86_399, "66", "SELECT b;"),
        ];
        let insert = format!(
            "INSERT INTO notes VALUES ('# Time: 1\n{}');",
            stored.concat()
        );
        let log = event(T, "0.1", &insert) + &event(T + 1, "0.2", "SELECT 1;");
        let (entries, log) = read_with(SlowLog::new(Zone::default()), &log);
        assert_eq!(entries.len(), 2, "{entries:?}");
        assert_eq!(entries[0].3, insert);
        assert_eq!(log.advice(), []);
    }

    #[test]
    fn a_statement_that_is_cut_within_quotes_hides_no_other() {
        let log = [
            event(T, "0.1", "INSERT INTO a VALUES ('abc"),
            event(T + 1, "0.2", "SELECT 1;"),
            // This statement began before the first, and ended after it.
            event(T - 60, "70", "SELECT 2;"),
        ];
        let (entries, log) = read_with(SlowLog::new(Zone::default()), &log.concat());
        let texts: Vec<_> = entries.iter().map(|e| e.3.as_str()).collect();
        assert_eq!(
            texts,
            ["INSERT INTO a VALUES ('abc", "SELECT 1;", "SELECT 2;"]
        );
        assert_eq!(
            log.advice(),
            [LogAdvice::StatementsCutOff { statements: 1 }]
        );
    }

    #[test]
    fn text_around_statements_is_not_part_of_them() {
        let head = "2026-05-01T10:00:00.000Z # Time: 2026-05-01T10:00:00.000000Z\n";
        let statistics = "  Tmp_tables: 0  Tmp_disk_tables: 2\nSET timestamp";
        let statement =
            event(T, "0.1", "SELECT 1;\nunrelated").replace("SET timestamp", statistics);
        let log = format!("{head}{statement}{head}{statement}");
        let texts: Vec<_> = read(&log).into_iter().map(|e| (e.0, e.3)).collect();
        assert_eq!(texts, vec![(Some(T), "SELECT 1;".to_string()); 2]);
        let procedure = "CREATE PROCEDURE p() BEGIN\nSELECT 1;\nEND;";
        assert_eq!(read(&event(T, "0.1", procedure))[0].3, procedure);
    }

    #[test]
    fn the_time_of_the_header_replaces_a_timestamp_of_the_client() {
        let time = |timestamp_s, duration| {
            let head = "# Time: 2026-05-01T10:00:00.000000Z\n";
            read(&format!(
                "{head}{}",
                event(timestamp_s, duration, "SELECT NOW();")
            ))[0]
                .0
        };
        assert_eq!(time(1_000_000_000, "0.1"), Some(T));
        assert_eq!(time(T + 3_600, "0.1"), Some(T));
        assert_eq!(time(T - 3_600, "3600"), Some(T - 3_600));
        assert_eq!(time(T, "0.1"), Some(T));
    }

    /// The example is from TiDB, *Identify Slow Queries*.
    #[test]
    fn statements_of_tidb_are_read() {
        let event = |internal: bool, ok: bool| {
            format!(
                "# Time: 2026-05-01T18:00:00.487776265+08:00\n# Txn_start_ts: 4\n# User@Host: root[root] @ localhost []\n\
                 # Query_time: 0.25\n# Is_internal: {internal}\n# Succ: {ok}\nuse test;\nSELECT 1;\n"
            )
        };
        let log = [event(false, true), event(false, false), event(true, true)].concat();
        let lines: Vec<_> = log.lines().map(str::as_bytes).collect();
        assert_eq!(SlowLog::words(&lines), "slow query log of TiDB");
        let (entries, log) = read_with(SlowLog::new(Zone::default()), &log);
        let statuses: Vec<_> = entries.iter().map(|e| (e.0, e.1, e.2)).collect();
        assert_eq!(
            statuses,
            [
                (Some(T), Some(250 * MS), 200),
                (Some(T), Some(250 * MS), 500)
            ]
        );
        assert_eq!(
            log.advice(),
            [LogAdvice::InternalStatements { statements: 1 }]
        );
    }

    #[test]
    fn a_sample_is_an_assumption() {
        let rate = "# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nSET timestamp";
        let log = event(T, "0.1", "SELECT 1;").replace("SET timestamp", rate);
        let (_, log) = read_with(SlowLog::new(Zone::default()), &log);
        let sampled = LogAssumption::SampledStatements { one_in: 10 };
        assert_eq!((log.assumptions(), log.advice()), (vec![sampled], vec![]));
    }

    #[test]
    fn names_in_double_quotes_make_later_ones_names() {
        let log = [
            event(T, "0.1", "SELECT \"id\" FROM \"orders\";"),
            event(T, "0.1", "SELECT \"id\";"),
        ];
        let mut dialects = Vec::new();
        let mut slow_log = SlowLog::new(Zone::default());
        for line in log.concat().lines() {
            slow_log.line(line.as_bytes(), &mut |e: &Entry| dialects.push(e.dialect));
        }
        slow_log.end(&mut |e: &Entry| dialects.push(e.dialect));
        assert_eq!(dialects, [Dialect::MysqlAnsi; 2]);
        assert_eq!(slow_log.advice(), [LogAdvice::AnsiQuotes]);
    }

    #[test]
    fn zones_are_reported_only_if_missing() {
        let event =
            |time: &str| format!("# Time: {time}\n# Query_time: 1  Lock_time: 0\nSELECT 1;\n");
        let guessed = |time: &str| {
            let (entries, log) = read_with(SlowLog::new(Zone::default()), &event(time));
            (entries[0].0, !log.assumptions().is_empty())
        };
        assert_eq!(guessed("2026-05-01T10:00:00.000000Z"), (Some(T), false));
        assert_eq!(
            guessed("2026-05-01T12:00:00.000000+02:00"),
            (Some(T), false)
        );
        assert_eq!(guessed("260501 10:00:00"), (Some(T), true));
        let berlin = SlowLog::new(Zone::named("Europe/Berlin").expect("a zone"));
        let (entries, log) = read_with(berlin, &event("260501 12:00:00"));
        assert_eq!(
            (entries[0].0, !log.assumptions().is_empty()),
            (Some(T), false)
        );
    }

    proptest! {
        #[test]
        fn any_lines_do_no_harm(lines in proptest::collection::vec(
            "# Time: [0-9: T-]{0,20}|# User@Host: x|# Query_time: [0-9.]{0,30}  Lock_time: 0|SET timestamp=[0-9]{0,20};|use x;|\
             # administrator command: Quit;|[a-z'#\"\\\\;]{0,12}|/x/mysqld, Version: 8. started with:|Tcp port: 1|\\PC{0,20}", 0..40)) {
            let text = lines.join("\n");
            let durations = lines.iter().filter(|l| header(l.as_bytes()) == Some(Header::Duration)).count();
            prop_assert!(read(&text).len() <= durations);
        }
    }
}
