// SPDX-License-Identifier: Apache-2.0
//! Formats of logs: which one it is, and readers of their lines.

mod combined;
#[cfg(test)]
mod combined_reference;
mod haproxy;
mod json;
mod line_prefix;
mod pattern;
mod postgresql;
mod sessions;
mod slow_log;
mod w3c;

use crate::entry::{Entry, LineKind};
use crate::read::LONGEST_LINE;
use crate::registers::RegisterWidth;
use crate::time::Zone;
use crate::zone_words::NO_ZONE;
use combined::Combined;
use haproxy::HaProxy;
use json::Json;
use line_prefix::{HeadTime, LinePrefix};
use pattern::Pattern;
use postgresql::{PostgresqlLog, is_csv_head, is_json_message};
use slow_log::SlowLog;
use w3c::W3c;

/// Lines from which the format is found.
const SAMPLE_LINES: usize = 200;
/// Bytes of a line in a log of statements.
const LONGEST_STATEMENT_LINE: usize = 16 << 20;

/// What is known of a log before it is read.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The format, as the server's configuration has it, or `combined`, `common`.
    pub format: Option<String>,
    /// ns of the unit of durations, where the format does not tell it.
    pub unit: Option<u64>,
    /// Where the server is, for times without an offset.
    pub zone: Zone,
}

/// A reader of lines.
#[derive(Clone, Debug)]
pub struct LogReader {
    kind: FormatKind,
    /// In words, such as `combined log format, with $request_time, in s`.
    pub words: String,
    /// How fine durations are, ns; `None`: there are none.
    pub step_ns: Option<u64>,
    /// What to say of the zone: times have no offset, and the zone was not given.
    pub zone_advice: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum FormatKind {
    Combined(Combined),
    Pattern(Box<Pattern>),
    HaProxy(HaProxy),
    Json(Box<Json>),
    W3c(W3c),
    Postgresql(Box<PostgresqlLog>),
    SlowLog(Box<SlowLog>),
}

/// The kind of a file that is not read line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeLog {
    /// Statements with their totals, as CSV: `pg_stat_statements`, or MariaDB's performance schema.
    Statements,
    /// The JSON of a monitor inside an application.
    Monitor,
}

/// How a log is read.
#[derive(Clone, Debug)]
pub enum LogFormat {
    /// Line by line.
    Lines(Box<LogReader>),
    /// As a whole.
    Document(WholeLog),
}

/// Finds the format from the beginning of a log. Error: no known format fits, and what to do, in words.
pub fn find(begin: &[u8], hints: &Hints) -> Result<LogFormat, String> {
    if let Some(format) = &hints.format {
        return configured_reader(format, begin, hints)
            .map(|reader| LogFormat::Lines(Box::new(reader)));
    }
    let lines = sample_lines(begin);
    if let Some(document) = document_kind(&lines) {
        return Ok(LogFormat::Document(document));
    }
    let formats = [
        w3c,
        slow_log,
        postgresql_records,
        json,
        haproxy,
        combined,
        postgresql,
    ];
    let reader = formats.iter().find_map(|format| format(&lines, hints));
    reader.map(|reader| LogFormat::Lines(Box::new(reader))).ok_or_else(|| {
        let first = lines.first().copied().unwrap_or_default();
        let first = crate::route::cut(crate::route::printable(&first[..first.len().min(120)]));
        let problem = if lines.is_empty() { "it is empty".into() } else { format!("its first line is\n  {first}") };
        format!(
            "no known format: {problem}\nGive the one of the server's configuration, such as\n  \
             --log-format '%h %l %u %t \"%r\" %>s %b %D'\n  --log-format '$remote_addr [$time_local] \"$request\" $status $request_time'"
        )
    })
}

/// The first lines that are not empty.
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
        .split(|b| matches!(b, b',' | b'\t'))
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

/// A reader of the format that was given by hand.
fn configured_reader(format: &str, begin: &[u8], hints: &Hints) -> Result<LogReader, String> {
    match format {
        "combined" | "common" => {
            let lines: Vec<&[u8]> = begin.split(|b| *b == b'\n').take(SAMPLE_LINES).collect();
            Ok(combined(&lines, hints).unwrap_or_else(|| combined_reader(None, "", hints)))
        }
        _ if format.contains('%') && postgresql_heads(&sample_lines(begin)).is_some() => {
            let log = PostgresqlLog::text(LinePrefix::new(format)?, hints.zone.clone());
            Ok(postgresql_reader(
                "PostgreSQL's log with the log_line_prefix that was given",
                log,
            ))
        }
        _ => {
            let pattern = Pattern::new(format, hints.zone.clone())?;
            Ok(LogReader {
                step_ns: pattern.step(),
                words: "the format that was given".into(),
                zone_advice: None,
                kind: FormatKind::Pattern(Box::new(pattern)),
            })
        }
    }
}

fn combined(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let (duration, description) = combined::find_duration(lines)?;
    Some(combined_reader(duration, description, hints))
}

fn combined_reader(
    mut duration: Option<combined::Duration>,
    description: &str,
    hints: &Hints,
) -> LogReader {
    let mut words = match &duration {
        Some(d) if !d.key.is_empty() => format!(
            "common or combined log format, with {}",
            String::from_utf8_lossy(&d.key).trim_end_matches('=')
        ),
        Some(_) => format!("common or combined log format, with {description}"),
        None => "common or combined log format".to_string(),
    };
    if let (Some(d), Some(unit)) = (&mut duration, hints.unit) {
        d.step = d.step.saturating_mul(unit) / d.scale;
        d.scale = unit;
        d.is_doubtful = false;
        words = "common or combined log format, with a duration in the unit that was given".into();
    }
    LogReader {
        step_ns: duration.as_ref().map(|d| d.step.max(1)),
        words,
        zone_advice: None,
        kind: FormatKind::Combined(Combined::new(duration)),
    }
}

const IN_UTC: &str =
    "The log's times are UTC: for hours of the server's own time name its zone with --zone.";

fn advice_unless_given(zone: &Zone, advice: &'static str) -> Option<&'static str> {
    (!zone.is_given).then_some(advice)
}

/// Whether more than half of the lines match.
fn most_match(lines: &[&[u8]], mut matches: impl FnMut(&[u8]) -> bool) -> bool {
    let count = lines.iter().filter(|line| matches(line)).count();
    count > 0 && count * 2 > lines.len()
}

fn haproxy(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let mut haproxy = HaProxy {
        zone: hints.zone.clone(),
    };
    most_match(lines, |line| haproxy.parse(line).is_some()).then(|| LogReader {
        words: "HAProxy's HTTP log, with its total time in ms".into(),
        step_ns: Some(1_000_000),
        zone_advice: advice_unless_given(&hints.zone, NO_ZONE),
        kind: FormatKind::HaProxy(haproxy),
    })
}

fn json(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let mut json = Json::new(hints.zone.clone(), hints.unit);
    let (mut words, mut step_ns) = (None, None);
    let is_json = most_match(lines, |line| {
        let is_entry = line.first() == Some(&b'{') && json.parse(line).is_some();
        if is_entry && words.is_none() {
            (words, step_ns) = (json.duration(), json.step());
        }
        is_entry
    });
    is_json.then(|| LogReader {
        words: match words {
            Some(duration) => format!("JSON lines, with {duration}"),
            None => "JSON lines".into(),
        },
        step_ns,
        zone_advice: None,
        kind: FormatKind::Json(Box::new(json)),
    })
}

fn w3c(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let fields = lines.iter().find(|line| line.starts_with(b"#Fields:"))?;
    let mut w3c = W3c::new(hints.zone.clone());
    w3c.line(fields, &mut |_| {});
    Some(LogReader {
        words: "extended log format (W3C), times in UTC".into(),
        step_ns: w3c.has_durations().then_some(1_000_000),
        zone_advice: advice_unless_given(&hints.zone, IN_UTC),
        kind: FormatKind::W3c(w3c),
    })
}

fn slow_log(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    lines
        .iter()
        .any(|line| SlowLog::is_mark(line))
        .then(|| LogReader {
            words: "slow query log of MariaDB or MySQL".into(),
            step_ns: Some(1_000),
            zone_advice: None,
            kind: FormatKind::SlowLog(Box::new(SlowLog::with_sample(hints.zone.clone(), lines))),
        })
}

/// PostgreSQL's log as CSV or JSON.
fn postgresql_records(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = || hints.zone.clone();
    if lines.iter().any(|line| is_csv_head(line)) {
        return Some(postgresql_reader(
            "PostgreSQL's log in CSV",
            PostgresqlLog::csv(zone()),
        ));
    }
    if lines.iter().any(|line| is_json_message(line)) {
        return Some(postgresql_reader(
            "PostgreSQL's log in JSON",
            PostgresqlLog::json(zone()),
        ));
    }
    None
}

fn postgresql(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let has_time = postgresql_heads(lines)?;
    let log = PostgresqlLog::text(LinePrefix::Found(has_time), hints.zone.clone());
    Some(postgresql_reader("PostgreSQL's log", log))
}

/// Whether lines are of PostgreSQL's log, and then whether they have times.
fn postgresql_heads(lines: &[&[u8]]) -> Option<bool> {
    let prefix = LinePrefix::Found(false);
    let (mut heads, mut times) = (0, 0);
    for line in lines {
        let text = line_prefix::syslog_line(line).map_or(*line, |syslog| syslog.text);
        let Some(head) = prefix.head(text) else {
            continue;
        };
        let has_time = head.time != HeadTime::None;
        // Without a time a line of another program can look like one.
        let is_certain = has_time || head.process.is_some() || head.text.starts_with(b"duration: ");
        if is_certain || text.starts_with(b"LOG:  ") || text.len() < line.len() {
            heads += 1;
            times += usize::from(has_time);
        }
    }
    (heads > 0).then_some(times * 2 > heads)
}

fn postgresql_reader(words: &str, log: PostgresqlLog) -> LogReader {
    LogReader {
        words: words.into(),
        step_ns: Some(1_000),
        zone_advice: None,
        kind: FormatKind::Postgresql(Box::new(log)),
    }
}

impl LogReader {
    /// Reads a line without its end; entries that are complete are given to `sink`.
    #[inline]
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let entry = match &mut self.kind {
            // Apart from the others, so that its entries stay in registers.
            FormatKind::Combined(combined) => return give_entry(combined.parse(line), line, sink),
            FormatKind::Pattern(pattern) => pattern.parse(line),
            FormatKind::HaProxy(haproxy) => haproxy.parse(line),
            FormatKind::Json(json) => json.parse(line),
            FormatKind::W3c(w3c) => return w3c.line(line, sink),
            FormatKind::Postgresql(log) => return log.line(line, sink),
            FormatKind::SlowLog(log) => return log.line(line, sink),
        };
        give_entry(entry, line, sink)
    }

    /// The entry of the first line of a text, and the line's length with its end; `None`: the line is read by itself.
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

    /// Gives `sink` the last entries, which could have had more lines. Returns how many records were cut off.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) -> u64 {
        match &mut self.kind {
            FormatKind::Postgresql(log) => log.end(sink),
            FormatKind::SlowLog(log) => {
                log.end(sink);
                0
            }
            _ => 0,
        }
    }

    /// Whether the zone of times is a guess.
    pub fn is_zone_guessed(&self) -> bool {
        match &self.kind {
            FormatKind::Postgresql(log) => log.is_zone_guessed(),
            FormatKind::SlowLog(log) => log.is_zone_guessed(),
            _ => self.zone_advice == Some(NO_ZONE),
        }
    }

    /// Bytes of a line; a longer one is counted and skipped. Statements can be long.
    pub(crate) fn longest_line(&self) -> usize {
        match &self.kind {
            FormatKind::Postgresql(_) | FormatKind::SlowLog(_) => LONGEST_STATEMENT_LINE,
            _ => LONGEST_LINE,
        }
    }

    /// A line was longer than that, and was skipped.
    pub(crate) fn skip_line(&mut self) {
        if let FormatKind::Postgresql(log) = &mut self.kind {
            log.skip_line();
        }
    }

    /// What to change, where the log has no durations or their unit is in doubt.
    pub fn advice(&self) -> Option<String> {
        let sentences = |all: Vec<String>| (!all.is_empty()).then(|| all.join(" "));
        let advice = match &self.kind {
            FormatKind::Postgresql(log) => return sentences(log.advice()),
            FormatKind::SlowLog(log) => return sentences(log.advice()),
            FormatKind::Combined(combined) if combined.is_doubtful() => {
                return Some(DOUBTFUL.into());
            }
            FormatKind::Combined(_) => {
                "The log has no durations. Apache and Tomcat: add %D to the LogFormat or pattern. nginx: add $request_time to \
                 log_format."
            }
            FormatKind::Pattern(_) => {
                "The format has no durations: add %D, or $request_time in nginx."
            }
            FormatKind::Json(_) => {
                "The log has no durations: add a field request_time or duration_ms."
            }
            FormatKind::W3c(_) => "The log has no durations: choose the field time-taken.",
            _ => return None,
        };
        self.step_ns.is_none().then(|| advice.to_string())
    }
}

/// What to do where durations were taken as µs and many are 0.
const DOUBTFUL: &str = "Many durations are 0, so they are hardly in µs: name their unit with --duration-unit, s for %T of \
                        Apache, ms for %D of Tomcat before version 10.1.";

/// Gives the entry of a line to `sink`, and says what the line was.
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

    #[test]
    fn formats_are_found_out_and_said() {
        let description = |log: &str| match find(log.as_bytes(), &Hints::default()) {
            Ok(LogFormat::Lines(reader)) => reader.words,
            Ok(LogFormat::Document(document)) => format!("{document:?}"),
            Err(reason) => reason,
        };
        let line = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5"#;
        assert_eq!(description(line), "common or combined log format");
        assert!(description(&format!("{line} \"-\" \"x\" 0.020")).ends_with("$request_time, in s"));
        assert!(description("{\"uri\":\"/\",\"duration_ms\":5}").ends_with("duration_ms, in ms"));
        assert_eq!(
            description("query,calls,total_exec_time\nSELECT 1,2,3"),
            "Statements"
        );
        assert_eq!(description("{\"monitor\":1,\n\"pages\":[]}"), "Monitor");
        assert!(description("# Time: 260501 10:00:00").starts_with("slow query log"));
        assert!(
            description("2026-05-01 10:00:00 UTC [1] LOG:  duration: 1 ms")
                .starts_with("PostgreSQL")
        );
        assert!(description("hello\x1b[31m").contains("its first line is\n  hello\u{fffd}"));
        assert!(description("").contains("it is empty"));
    }

    #[test]
    fn whole_seconds_are_not_taken_as_microseconds_silently() {
        let line = r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "x""#;
        let advice = |durations: [&str; 4], unit| {
            let hints = Hints {
                unit,
                ..Hints::default()
            };
            let log = durations.map(|duration| format!("{line} {duration}\n"));
            match find(log.concat().as_bytes(), &hints) {
                Ok(LogFormat::Lines(reader)) => reader.advice(),
                _ => None,
            }
        };
        let seconds = ["0", "0", "1", "0"];
        assert!(advice(seconds, None).is_some_and(|text| text.contains("--duration-unit")));
        assert_eq!(advice(seconds, Some(1_000_000_000)), None);
        assert_eq!(advice(["350", "90", "1200", "77"], None), None);
    }
}
