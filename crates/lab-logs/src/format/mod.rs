// SPDX-License-Identifier: Apache-2.0
//! Detects the formats of logs and parses their lines.

mod access;
mod combined;
#[cfg(test)]
mod combined_reference;
mod configuration;
mod elb;
mod envoy;
mod field_names;
mod foreign;
mod haproxy;
mod header_line;
mod json;
mod json_wrapper;
mod line_prefix;
mod lograge;
mod open_requests;
mod otlp;
mod pattern;
mod postgresql;
mod prefix_sample;
mod prefix_time;
mod process_field;
mod s3;
mod sessions;
mod slow_log;
mod statement_outcome;
mod structured;
mod time_format;
mod units;
mod upstream;
mod w3c;
mod wrapped;
mod wrapper;

use crate::entry::{Entry, LineKind};
use crate::read::MAX_LINE;
use crate::registers::RegisterWidth;
use crate::time::Zone;
use crate::wording;
pub(crate) use access::is_log_format;
use access::{
    combined, configured_reader, elb, envoy, haproxy, json, lograge, router, s3, spans, unknown,
    w3c,
};
use combined::Combined;
use elb::LoadBalancer;
use envoy::Envoy;
pub use field_names::FieldMap;
pub use foreign::ForeignLog;
use haproxy::HaProxy;
use json::Json;
use lab_model::{LogAdvice, LogAssumption};
use line_prefix::{LinePrefix, syslog_line, without_part};
use lograge::Lograge;
use otlp::Otlp;
use pattern::Pattern;
use postgresql::{PostgresqlLog, is_csv_head, is_json_message, wrapped_text};
use prefix_sample::detect_prefix;
use s3::S3;
use slow_log::SlowLog;
pub(crate) use units::unit_name;
use w3c::W3c;
use wrapped::{WrappedLog, find_wrapped};
use wrapper::Wrapper;

/// The number of lines used to detect the format.
const SAMPLE_LINES: usize = 1_000;
/// The maximum length of a line in a log of statements, in bytes.
const MAX_STATEMENT_LINE: usize = 16 << 20;

/// The user's hints about a log.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The format in the server's configuration syntax, or `combined` or `common`.
    pub format: Option<String>,
    /// The unit of durations in ns, for formats that do not define it.
    pub unit: Option<u64>,
    /// The roles of fields, for lines with named fields.
    pub fields: FieldMap,
    /// The server's time zone, for timestamps without an offset.
    pub zone: Zone,
}

/// A parser of one log's lines.
#[derive(Clone, Debug)]
pub struct LogReader {
    kind: FormatKind,
    /// The description of the format, such as `combined log format, with $request_time, in s`.
    pub words: String,
    /// The resolution of the durations, in ns, or `None` if there are no durations.
    step_ns: Option<u64>,
    /// The assumed unit of durations, in ns.
    ///
    /// `None` means that the log contains the unit, the user specified it, or the format defines
    /// it.
    bare_unit: Option<u64>,
    /// Advice about the zone, if timestamps are in UTC and the user did not specify the server's
    /// own zone.
    pub zone_advice: Option<LogAdvice>,
}

#[derive(Clone, Debug)]
enum FormatKind {
    Combined(Combined),
    Pattern(Box<Pattern>),
    HaProxy(HaProxy),
    Envoy(Envoy),
    LoadBalancer(LoadBalancer),
    Lograge(Lograge),
    S3(S3),
    Otlp(Otlp),
    Json(Box<Json>),
    W3c(W3c),
    Postgresql(Box<PostgresqlLog>),
    SlowLog(Box<SlowLog>),
    Wrapped(Box<WrappedLog>),
}

/// The kind of a file that is not read line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeLog {
    /// Statements with their totals, as CSV: `pg_stat_statements`, or MariaDB's performance schema.
    Statements,
    /// JSON statistics from a monitor embedded in an application.
    Monitor,
}

/// The ways of reading a log: line by line, or as a whole.
#[derive(Clone, Debug)]
pub enum LogFormat {
    /// A log that is parsed line by line.
    Lines(Box<LogReader>),
    /// A log that is read as a whole.
    Document(WholeLog),
}

/// Detects the format from the beginning of a log.
///
/// If no known format fits, returns a message that states what to do.
pub fn find(begin: &[u8], hints: &Hints) -> Result<LogFormat, String> {
    if let Some(foreign) = ForeignLog::from_bytes(begin) {
        return Err(wording::foreign_log(&foreign));
    }
    let lines = sample_lines(begin);
    if let Some(format) = &hints.format {
        let reader = configured_reader(format, begin, hints)?;
        // The format may describe the lines inside the lines of a container.
        let inner = || find_wrapped(&lines, hints).and_then(Result::ok);
        let inner = (!reader.reads_any(&lines)).then(inner).flatten();
        return Ok(inner.unwrap_or_else(|| LogFormat::Lines(Box::new(reader))));
    }
    if let Some(document) = document_kind(&lines) {
        return Ok(LogFormat::Document(document));
    }
    let formats = [
        spans,
        w3c,
        slow_log,
        postgresql_records,
        json,
        haproxy,
        envoy,
        elb,
        s3,
        combined,
        lograge,
        postgresql,
        router,
    ];
    let reader = formats.iter().find_map(|format| format(&lines, hints));
    if let Some(reader) = reader {
        // A format may also accept the prefix as part of its lines, but not their parts.
        let is_statements = matches!(
            reader.kind,
            FormatKind::Postgresql(_) | FormatKind::SlowLog(_)
        );
        if !is_statements
            && Wrapper::detect(&lines).can_split_lines()
            && let Some(Ok(wrapped)) = find_wrapped(&lines, hints)
        {
            return Ok(wrapped);
        }
        return Ok(LogFormat::Lines(Box::new(reader)));
    }
    find_wrapped(&lines, hints).unwrap_or_else(|| Err(unknown(&lines, hints)))
}

/// Returns the first lines that are not empty.
fn sample_lines(begin: &[u8]) -> Vec<&[u8]> {
    let lines = begin
        .split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .filter(|line| !line.is_empty())
        .take(SAMPLE_LINES)
        .collect()
}

fn document_kind(lines: &[&[u8]]) -> Option<WholeLog> {
    let first = lines.first()?.to_ascii_lowercase();
    let heads: Vec<&[u8]> = first
        .split(|b| matches!(b, b',' | b';' | b'\t'))
        .map(|head| head.trim_ascii())
        .collect();
    let has = |head: &str| {
        heads
            .iter()
            .any(|h| *h == head.as_bytes() || *h == format!("\"{head}\"").as_bytes())
    };
    if (has("query") && has("calls")) || (has("digest_text") && has("count_star")) {
        return Some(WholeLog::Statements);
    }
    let is_object = first.first() == Some(&b'{');
    let begin: Vec<u8> = lines
        .iter()
        .take(10)
        .flat_map(|l| l.iter().copied())
        .collect();
    let has_keys = memchr::memmem::find(&begin, b"\"monitor\":").is_some()
        && memchr::memmem::find(&begin, b"\"pages\":").is_some();
    (is_object && has_keys).then_some(WholeLog::Monitor)
}

fn slow_log(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    SlowLog::has_marks(lines).then(|| LogReader {
        words: SlowLog::words(lines).into(),
        step_ns: Some(SlowLog::step_ns(lines)),
        bare_unit: None,
        zone_advice: None,
        kind: FormatKind::SlowLog(Box::new(SlowLog::with_sample(hints.zone.clone(), lines))),
    })
}

/// Detects a PostgreSQL log in CSV or JSON form.
fn postgresql_records(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = || hints.zone.clone();
    if lines.iter().any(|line| is_csv_head(line)) {
        return Some(postgresql_reader(
            "PostgreSQL's log in CSV",
            PostgresqlLog::csv(zone()),
        ));
    }
    let wrapper = Wrapper::detect(lines);
    let lines: Vec<&[u8]> = lines.iter().map(|line| wrapper.text(line)).collect();
    if lines.iter().any(|line| is_json_message(line)) {
        return Some(postgresql_reader(
            "PostgreSQL's log in JSON",
            PostgresqlLog::json(zone()).with_sample(wrapper, &[]),
        ));
    }
    let wrapped = |line: &&[u8]| {
        (line.first() == Some(&b'{'))
            .then(|| wrapped_text(line))
            .flatten()
    };
    let texts: Vec<String> = lines.iter().filter_map(wrapped).map(|w| w.text).collect();
    if texts.len() * 2 <= lines.len() {
        return None;
    }
    let texts: Vec<&[u8]> = texts
        .iter()
        .flat_map(|text| text.split('\n'))
        .map(|line| without_part(line.as_bytes()).1)
        .collect();
    let prefix = detect_prefix(&texts).filter(|prefix| is_statement_log(&texts, prefix))?;
    let log = PostgresqlLog::wrapped(prefix, zone()).with_sample(wrapper, &texts);
    Some(postgresql_reader("PostgreSQL's log, wrapped in JSON", log))
}

/// Returns true if most lines begin messages of PostgreSQL, or if a message is about a statement.
fn is_statement_log(lines: &[&[u8]], prefix: &LinePrefix) -> bool {
    let heads: Vec<_> = lines.iter().filter_map(|line| prefix.head(line)).collect();
    let begins = [&b"duration: "[..], b"statement: ", b"execute "];
    let mut statements = heads
        .iter()
        .filter(|head| begins.iter().any(|begin| head.text.starts_with(begin)));
    heads.len() * 2 > lines.len() || statements.next().is_some()
}

fn postgresql(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let wrapper = Wrapper::detect(lines);
    let lines: Vec<&[u8]> = lines.iter().map(|line| wrapper.text(line)).collect();
    let log = PostgresqlLog::text(detect_prefix(&lines)?, hints.zone.clone());
    Some(postgresql_reader(
        "PostgreSQL's log",
        log.with_sample(wrapper, &lines),
    ))
}

/// Creates a reader of PostgreSQL's log with a `log_line_prefix`.
///
/// Returns `None` if the lines are from another log, and an error if the prefix is invalid.
fn prefixed_postgresql(
    format: &str,
    begin: &[u8],
    hints: &Hints,
) -> Option<Result<LogReader, String>> {
    let lines = sample_lines(begin);
    let wrapper = Wrapper::detect(&lines);
    let lines: Vec<&[u8]> = lines.iter().map(|line| wrapper.text(line)).collect();
    let prefix = format.contains('%').then(|| LinePrefix::new(format))?;
    let has_head = |line: &&[u8]| {
        let text = syslog_line(line).map_or(*line, |syslog| syslog.text);
        prefix
            .as_ref()
            .is_ok_and(|prefix| prefix.head(text).is_some())
    };
    if !lines.iter().any(has_head) && detect_prefix(&lines).is_none() {
        return None;
    }
    Some(prefix.map(|prefix| {
        let log = PostgresqlLog::text(prefix, hints.zone.clone()).with_sample(wrapper, &lines);
        postgresql_reader("PostgreSQL's log with the specified log_line_prefix", log)
    }))
}

fn postgresql_reader(words: &str, log: PostgresqlLog) -> LogReader {
    LogReader {
        words: words.into(),
        step_ns: Some(1_000),
        bare_unit: None,
        zone_advice: None,
        kind: FormatKind::Postgresql(Box::new(log)),
    }
}

impl LogReader {
    /// Returns true if any of the lines describes a request.
    fn reads_any(&self, lines: &[&[u8]]) -> bool {
        let mut probe = self.clone();
        let mut lines = lines.iter();
        lines.any(|line| probe.line(line, &mut |_| {}) == LineKind::Entry)
    }

    /// Returns true if the line may be the beginning of a longer line, because a further digit
    /// would change its entry.
    ///
    /// A change of a duration counts only if it exceeds the resolution: `0.250` is complete.
    pub(crate) fn may_be_cut_off(&self, line: &[u8]) -> bool {
        let Some(found) = self.last_entry(line) else {
            return false;
        };
        // An object, for example, can have no further digit.
        let Some(longer) = self.last_entry(&[line, b"1"].concat()) else {
            return false;
        };
        let step_ns = self.step_ns();
        let is_complete = match (found.duration_ns, longer.duration_ns) {
            (Some(found), Some(longer)) => longer.abs_diff(found) < step_ns.unwrap_or(1),
            // `22ms` is complete, but `22m` is not.
            (Some(_), None) => line.ends_with(b"s"),
            (None, Some(_)) => false,
            (None, None) => step_ns.is_none(),
        };
        let duration_ns = found.duration_ns;
        !is_complete
            || found
                != LastEntry {
                    duration_ns,
                    ..longer
                }
    }

    /// Parses one line without changing this reader, and returns the line's last entry.
    fn last_entry(&self, line: &[u8]) -> Option<LastEntry> {
        let mut found = None;
        self.clone().line(line, &mut |entry: &Entry| {
            found = Some(LastEntry {
                duration_ns: entry.duration_ns,
                status: entry.status,
                bytes: entry.bytes,
                time_s: entry.time_s,
                texts: [entry.method, entry.target, entry.agent, entry.id].map(<[u8]>::to_vec),
            });
        });
        found
    }

    /// Parses a line without its line end, and passes complete entries to `sink`.
    #[inline]
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let entry = match &mut self.kind {
            // This format is handled separately, so that its entries stay in CPU registers.
            FormatKind::Combined(combined) => return give_entry(combined.parse(line), line, sink),
            FormatKind::Pattern(pattern) => pattern.parse(line),
            FormatKind::HaProxy(haproxy) => return haproxy.line(line, sink),
            FormatKind::Envoy(envoy) => return envoy.line(line, sink),
            FormatKind::LoadBalancer(balancer) => return balancer.line(line, sink),
            FormatKind::Lograge(lograge) => return lograge.line(line, sink),
            FormatKind::S3(s3) => return s3.line(line, sink),
            FormatKind::Otlp(otlp) => return otlp.line(line, sink),
            FormatKind::Json(json) => return json.line(line, sink),
            FormatKind::W3c(w3c) => return w3c.line(line, sink),
            FormatKind::Postgresql(log) => return log.line(line, sink),
            FormatKind::SlowLog(log) => return log.line(line, sink),
            FormatKind::Wrapped(log) => return log.line(line, sink),
        };
        give_entry(entry, line, sink)
    }

    /// Parses the first line of `text`. Returns the entry, and the length of the line including the
    /// line end.
    ///
    /// Returns `None` if the line must be passed to [`LogReader::line`] instead.
    #[inline(always)]
    pub(crate) fn line_ahead<'a>(
        &mut self,
        text: &'a [u8],
        width: impl RegisterWidth,
    ) -> Option<(Entry<'a>, usize)> {
        match &mut self.kind {
            FormatKind::Combined(combined) => combined.parse_ahead(text, width),
            _ => None,
        }
    }

    /// Continues the log of `previous` if `begin` contains the first lines of that log's next file.
    ///
    /// Returns the reader for these lines, and also `previous` if the lines need a different
    /// reader. If `is_sure` is true, the file is known to be the next file. Otherwise, the file
    /// must begin when the previous file ends.
    pub(crate) fn continue_log(
        mut self,
        mut previous: LogReader,
        begin: &[u8],
        is_sure: bool,
    ) -> (LogReader, Option<LogReader>) {
        let continues = match (&mut self.kind, &mut previous.kind) {
            (FormatKind::Postgresql(log), FormatKind::Postgresql(before)) => {
                before.continue_with(log, begin)
            }
            (FormatKind::SlowLog(log), FormatKind::SlowLog(before)) => {
                before.continue_with(log, begin, is_sure)
            }
            (FormatKind::W3c(log), FormatKind::W3c(before)) => {
                log.continue_log(before, &sample_lines(begin), is_sure);
                false
            }
            _ => false,
        };
        if continues {
            (previous, None)
        } else {
            (self, Some(previous))
        }
    }

    /// Returns true if an entry of the format can continue in the next file.
    pub(crate) fn has_open_entries(&self) -> bool {
        matches!(
            self.kind,
            FormatKind::Postgresql(_) | FormatKind::SlowLog(_)
        )
    }

    /// Returns the description of the format, with the durations if they were found only after the
    /// sample.
    pub(crate) fn description(&self) -> String {
        let late = match &self.kind {
            FormatKind::Combined(combined) => combined.late_description(),
            _ => None,
        };
        match late {
            Some(duration) => format!("{}; later lines contain {duration}", self.words),
            None => self.words.clone(),
        }
    }

    /// Returns the resolution of the durations so far, in ns, or `None` if there are no durations.
    pub fn step_ns(&self) -> Option<u64> {
        match &self.kind {
            FormatKind::Pattern(pattern) => pattern.step(),
            FormatKind::Combined(combined) => combined.duration.as_ref().map(|d| d.step),
            _ => self.step_ns,
        }
    }

    /// Returns the assumed unit of durations, in ns.
    ///
    /// Returns `None` if the log contains the unit, the user specified it, or the format defines
    /// it.
    pub(crate) fn bare_unit(&self) -> Option<u64> {
        match &self.kind {
            FormatKind::W3c(w3c) => w3c.bare_unit(),
            FormatKind::Wrapped(log) => log.inner.bare_unit(),
            _ => self.bare_unit,
        }
    }

    /// Returns a reader for lines without a format header that certainly continue the same log.
    pub(crate) fn without_header(&self, begin: &[u8]) -> Option<LogReader> {
        let FormatKind::W3c(w3c) = &self.kind else {
            return None;
        };
        let next = w3c.without_header(&sample_lines(begin))?;
        Some(LogReader {
            kind: FormatKind::W3c(next),
            ..self.clone()
        })
    }

    /// Passes the last entries to `sink`, and returns the number of truncated records.
    ///
    /// These entries were held back because more lines could have followed.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) -> u64 {
        match &mut self.kind {
            FormatKind::Postgresql(log) => log.end(sink),
            FormatKind::SlowLog(log) => {
                log.end(sink);
                0
            }
            FormatKind::Json(json) => {
                json.end(sink);
                0
            }
            FormatKind::Wrapped(log) => log.end(sink),
            _ => 0,
        }
    }

    /// Returns the maximum length of a line in bytes. A longer line is counted and skipped.
    ///
    /// Statements can be long.
    pub(crate) fn max_line_length(&self) -> usize {
        match &self.kind {
            FormatKind::Postgresql(_) | FormatKind::SlowLog(_) => MAX_STATEMENT_LINE,
            FormatKind::Otlp(_) => otlp::MAX_LINE,
            FormatKind::Wrapped(log) => log.inner.max_line_length(),
            _ => MAX_LINE,
        }
    }

    /// Records that a line was skipped because it was too long.
    pub(crate) fn skip_line(&mut self) {
        if let FormatKind::Postgresql(log) = &mut self.kind {
            log.skip_line();
        }
    }

    /// Returns advice about entries that are not counted, and about settings that make the log more
    /// useful.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = match &self.kind {
            FormatKind::Pattern(pattern) => pattern.advice(),
            FormatKind::HaProxy(haproxy) => haproxy.advice(),
            FormatKind::Lograge(lograge) => lograge.advice(),
            FormatKind::S3(s3) => s3.advice(),
            FormatKind::Otlp(otlp) => otlp.advice(),
            FormatKind::Envoy(envoy) => envoy.advice(),
            FormatKind::LoadBalancer(balancer) => balancer.advice(),
            FormatKind::Json(json) => json.fields.advice(),
            FormatKind::W3c(w3c) => w3c.advice(),
            FormatKind::Postgresql(log) => log.advice(),
            FormatKind::SlowLog(log) => log.advice(),
            FormatKind::Wrapped(log) => log.advice(),
            _ => Vec::new(),
        };
        let missing = match &self.kind {
            FormatKind::Combined(_) => Some(LogAdvice::NoDurations),
            FormatKind::Pattern(_) => Some(LogAdvice::NoDurationInFormat),
            _ => None,
        };
        advice.extend(missing.filter(|_| self.step_ns().is_none()));
        advice.extend(self.zone_advice.clone());
        advice
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut assumptions = match &self.kind {
            FormatKind::Combined(combined) => combined.assumptions(),
            FormatKind::Pattern(pattern) => pattern.assumptions(),
            FormatKind::HaProxy(haproxy) => haproxy.assumptions(),
            FormatKind::Otlp(otlp) => otlp.assumptions(),
            FormatKind::Json(json) => json.fields.assumptions(),
            FormatKind::W3c(w3c) => w3c.assumptions(),
            FormatKind::Postgresql(log) => log.assumptions(),
            FormatKind::SlowLog(log) => log.assumptions(),
            FormatKind::Wrapped(log) => log.assumptions(),
            _ => Vec::new(),
        };
        assumptions.extend(self.zone().map(zone_assumptions).unwrap_or_default());
        assumptions
    }

    /// Returns the zone for timestamps without an offset.
    fn zone(&self) -> Option<&Zone> {
        Some(match &self.kind {
            FormatKind::Combined(_) => return None,
            FormatKind::Pattern(pattern) => &pattern.zone,
            FormatKind::HaProxy(haproxy) => &haproxy.zone,
            FormatKind::Envoy(envoy) => &envoy.zone,
            FormatKind::LoadBalancer(balancer) => &balancer.zone,
            FormatKind::Lograge(lograge) => &lograge.zone,
            FormatKind::S3(s3) => &s3.zone,
            FormatKind::Otlp(otlp) => &otlp.zone,
            FormatKind::Json(json) => &json.fields.zone,
            FormatKind::W3c(w3c) => &w3c.zone,
            FormatKind::Postgresql(_) | FormatKind::SlowLog(_) | FormatKind::Wrapped(_) => {
                return None;
            }
        })
    }
}

fn zone_assumptions(zone: &Zone) -> Vec<LogAssumption> {
    if zone.was_assumed {
        return vec![LogAssumption::NoZone];
    }
    let repeated = zone.was_ambiguous.then_some(LogAssumption::RepeatedHour);
    let skipped = zone.was_skipped.then_some(LogAssumption::SkippedHour);
    repeated.into_iter().chain(skipped).collect()
}

/// A copy of the last entry of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LastEntry {
    duration_ns: Option<u64>,
    status: u16,
    bytes: u64,
    time_s: Option<i64>,
    texts: [Vec<u8>; 4],
}

/// Returns advice about skipped lines, which describe connections without a request.
fn connection_advice(lines: u64) -> Vec<LogAdvice> {
    let advice = (lines > 0).then_some(LogAdvice::ConnectionLines { lines });
    advice.into_iter().collect()
}

/// Passes the entry of a line to `sink`, and returns the kind of the line.
#[inline]
fn give_entry(entry: Option<Entry>, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
    match entry {
        Some(entry) => {
            sink(&entry);
            LineKind::Entry
        }
        None if line.is_empty() => LineKind::Other,
        None => LineKind::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::AssumptionKind;

    #[test]
    fn directives_can_name_the_format() {
        let line = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5"#;
        for directive in [
            "CustomLog logs/access_log common",
            "access_log logs/access.log;",
        ] {
            let hints = Hints {
                format: Some(directive.into()),
                ..Hints::default()
            };
            let Ok(LogFormat::Lines(reader)) = find(line.as_bytes(), &hints) else {
                panic!("{directive}");
            };
            assert_eq!(reader.words, "common or combined log format");
        }
    }

    #[test]
    fn formats_are_detected_and_described() {
        let description = |log: &str| match find(log.as_bytes(), &Hints::default()) {
            Ok(LogFormat::Lines(reader)) => reader.words,
            Ok(LogFormat::Document(document)) => format!("{document:?}"),
            Err(reason) => reason,
        };
        let line = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5"#;
        assert_eq!(description(line), "common or combined log format");
        let timed = format!("{line} \"-\" \"x\" 0.002\n").repeat(20);
        assert!(description(&timed).ends_with("after the agent, in s"));
        assert!(description("{\"uri\":\"/\",\"duration_ms\":5}").ends_with("duration_ms, in ms"));
        let istio = "{\"path\":\"/\",\"duration\":5,\"response_flags\":\"-\"}";
        assert!(description(istio).ends_with("duration, in ms as Envoy writes it"));
        for separator in [",", ";"] {
            let csv = "query,calls,total_exec_time\nSELECT 1,2,3";
            assert_eq!(description(&csv.replace(',', separator)), "Statements");
        }
        assert_eq!(description("{\"monitor\":1,\n\"pages\":[]}"), "Monitor");
        assert!(description("# Time: 260501 10:00:00").starts_with("slow query log"));
        assert!(
            description("2026-05-01 10:00:00 UTC [1] LOG:  duration: 1 ms")
                .starts_with("PostgreSQL")
        );
        assert!(description("hello\x1b[31m").contains("the first line is\n  hello\u{fffd}"));
        assert!(description("").contains("the log is empty"));
        for (log, words) in [
            ("260501 10:00:00\t     8 Query\tSELECT 1", "long_query_time"),
            (
                "2026-05-01T10:00:00.123456Z 0 [System] [MY-010931] [Server] ready",
                "slow_query_log",
            ),
            (
                "2026-05-01 10:00:00.123 UTC [1] LOG stats: 1 xacts/s",
                "PgBouncer",
            ),
            (" calls | total_exec_time | query\n", "psql --csv"),
            (
                "start_time,user_host,query_time,sql_text,thread_id",
                "log_output = FILE",
            ),
            (
                "query,db,exec_count,total_latency",
                "events_statements_summary_by_digest",
            ),
            (
                "mysql-1  | # Query_time: 0.1  Lock_time: 0",
                "--no-log-prefix",
            ),
        ] {
            let advice = description(log);
            assert!(
                advice.contains(words) && !advice.contains("--log-format"),
                "{advice}"
            );
        }
        let json =
            description("{\"when\":\"2026-05-01T10:00:00Z\",\"page\":\"/a\",\"status\":200}");
        assert!(
            json.contains("--fields path=page") && !json.contains("LogFormat"),
            "{json}"
        );
    }

    #[test]
    fn whole_seconds_are_not_silently_read_as_microseconds() {
        let line = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "x""#;
        let assumed = |durations: [&str; 4], unit| {
            let hints = Hints {
                unit,
                ..Hints::default()
            };
            let log = durations.map(|duration| format!("{line} {duration}\n"));
            match find(log.concat().repeat(5).as_bytes(), &hints) {
                Ok(LogFormat::Lines(reader)) => reader.assumptions(),
                _ => Vec::new(),
            }
        };
        let seconds = ["0", "0", "1", "0"];
        assert_eq!(assumed(seconds, None)[0].kind(), AssumptionKind::Durations);
        assert_eq!(assumed(seconds, Some(1_000_000_000)), []);
        let open = &assumed(["350", "90", "1200", "77"], None)[0];
        assert!(
            matches!(open, LogAssumption::BareNumber { others_ns, .. } if others_ns.contains(&1_000_000)),
            "{open:?}"
        );
        let long = ["35000000", "9000000", "120000000", "7700000"];
        let only = &assumed(long, None)[0];
        assert!(
            matches!(only, LogAssumption::BareNumber { others_ns, .. } if others_ns.is_empty()),
            "{only:?}"
        );
        assert_eq!(assumed(long, Some(1_000)), []);
    }

    #[test]
    fn times_without_a_zone_are_assumed_unless_it_is_given() {
        let log = "{\"path\":\"/\",\"duration_ms\":5,\"time\":\"2026-05-01 10:00:00\"}";
        let assumed = |log: &str, zone: Zone| {
            let hints = Hints {
                zone,
                ..Hints::default()
            };
            let Ok(LogFormat::Lines(mut reader)) = find(log.as_bytes(), &hints) else {
                return Vec::new();
            };
            reader.line(log.as_bytes(), &mut |_| {});
            reader
                .assumptions()
                .iter()
                .map(LogAssumption::kind)
                .collect()
        };
        assert_eq!(assumed(log, Zone::default()), [AssumptionKind::Times]);
        let berlin = || Zone::named("Europe/Berlin").expect("a zone");
        assert_eq!(assumed(log, berlin()), []);
        assert_eq!(assumed(&log.replace("00\"", "00Z\""), Zone::default()), []);
        let twice = log.replace("05-01 10", "10-25 02");
        assert_eq!(assumed(&twice, berlin()), [AssumptionKind::Times]);
    }
}
