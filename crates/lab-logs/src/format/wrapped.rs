// SPDX-License-Identifier: Apache-2.0
//! Reads the lines of any format inside the lines of containers or of the journal.
//!
//! `{"log":"127.0.0.1 - - […\n","stream":"stdout","time":"2026-05-01T10:00:00.1Z"}`
//!
//! `2026-05-01T10:00:00.1Z stdout F 127.0.0.1 - - […`
//!
//! Source: Docker, *JSON File logging driver*; Kubernetes, *CRI logging format*; systemd, *Journal
//! Export Formats*, journalctl `-o json`.

use super::json_wrapper::{origin, outer_time_s};
use super::wrapper::{DockerLines, Wrapper};
use super::{FormatKind, Hints, LogFormat, LogReader, find};
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, iso};
use lab_model::{FieldRole, LogAdvice, LogAssumption};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum number of containers and streams whose lines are read separately.
const MAX_SOURCES: usize = 64;

/// A reader of wrapped lines.
#[derive(Clone, Debug)]
pub struct WrappedLog {
    wrapping: Wrapping,
    pub inner: LogReader,
    /// The readers of the individual containers and streams, for formats in which an entry can have
    /// multiple lines.
    ///
    /// The lines of other formats are read by `inner`.
    by_source: BTreeMap<Vec<u8>, LogReader>,
    /// True if any request has the time of its outer line, because its own line has no time.
    uses_outer_time: bool,
    /// The time zone for the outer lines' times, which are usually in UTC.
    zone: Zone,
}

/// The outer format.
#[derive(Clone, Debug)]
enum Wrapping {
    /// JSON of Docker, Cloud Logging or the journal.
    Json(DockerLines),
    /// JSON of a log shipper.
    Shipper,
    /// Text before each line.
    Text(Wrapper),
}

/// The time in the wrapper of a line.
#[derive(Clone, Copy)]
struct OuterTime {
    /// The seconds since 1970.
    time_s: i64,
    /// The offset from UTC as written, in seconds. 0 if it is unknown.
    offset_s: i32,
}

impl OuterTime {
    /// Returns the offset of the server's clock from UTC, in seconds. A time in UTC does not show
    /// it.
    fn offset_s(self, zone: &mut Zone) -> i32 {
        match self.offset_s {
            0 => zone.offset_at(self.time_s),
            offset_s => offset_s,
        }
    }
}

/// The content of an outer line.
enum Unwrapping<'l> {
    Text(Cow<'l, [u8]>),
    /// The first part of a line. The rest follows in later outer lines.
    Part,
    NotWrapped,
}

impl Wrapping {
    /// Returns the container and the stream of a line.
    ///
    /// The result is empty if they are unknown.
    fn source(&self, line: &[u8]) -> Vec<u8> {
        match self {
            Wrapping::Json(_) | Wrapping::Shipper => {
                let Ok(wrapped) = serde_json::from_slice::<Value>(line) else {
                    return Vec::new();
                };
                let stream = wrapped.get("stream").and_then(Value::as_str);
                format!("{} {}", origin(&wrapped), stream.unwrap_or_default()).into_bytes()
            }
            Wrapping::Text(wrapper) => wrapper.source(line).to_vec(),
        }
    }

    /// Removes the wrapper of a line.
    fn unwrap<'l>(&mut self, line: &'l [u8]) -> Unwrapping<'l> {
        match self {
            Wrapping::Json(lines) => {
                let Some(JsonText { text, stream }) = json_text(line) else {
                    return Unwrapping::NotWrapped;
                };
                let text = text.into_owned().into_bytes().into();
                let text = match stream {
                    Some(stream) => lines.join(&stream, text),
                    None => Some(text),
                };
                text.map_or(Unwrapping::Part, Unwrapping::Text)
            }
            Wrapping::Shipper => match shipped_text(line) {
                Some(text) => Unwrapping::Text(text.into_bytes().into()),
                None => Unwrapping::NotWrapped,
            },
            Wrapping::Text(wrapper) => match wrapper.unwrap(line) {
                None => Unwrapping::Part,
                Some(unwrapped) if unwrapped.source.is_empty() => Unwrapping::NotWrapped,
                Some(unwrapped) => Unwrapping::Text(unwrapped.text),
            },
        }
    }

    /// Returns the time in the wrapper of a line.
    fn time(&self, line: &[u8]) -> Option<OuterTime> {
        match self {
            Wrapping::Json(_) | Wrapping::Shipper => Some(OuterTime {
                time_s: json_time_s(line)?,
                offset_s: 0,
            }),
            Wrapping::Text(_) => {
                let end = memchr::memchr(b' ', line)?;
                let (local_s, offset_s) = iso(&line[..end])?;
                let offset_s = offset_s?;
                Some(OuterTime {
                    time_s: local_s - i64::from(offset_s),
                    offset_s,
                })
            }
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Wrapping::Json(_) | Wrapping::Shipper => "wrapped in JSON",
            Wrapping::Text(_) => "after the prefix of a container",
        }
    }
}

/// Detects the format inside wrapped lines.
///
/// Returns `None` if most lines are not wrapped, and an error if the inner format is unknown.
pub fn find_wrapped(lines: &[&[u8]], hints: &Hints) -> Option<Result<LogFormat, String>> {
    let prefix = Wrapper::detect(lines);
    let prefix = prefix.is_present().then_some(Wrapping::Text(prefix));
    let wrapping = prefix.unwrap_or_else(|| Wrapping::Json(DockerLines::default()));
    find_within(wrapping, lines, hints).or_else(|| {
        // Messages of an application are in the same field, too.
        let found = find_within(Wrapping::Shipper, lines, hints)?;
        found.is_ok().then_some(found)
    })
}

fn find_within(
    wrapping: Wrapping,
    lines: &[&[u8]],
    hints: &Hints,
) -> Option<Result<LogFormat, String>> {
    let mut probe = wrapping.clone();
    let mut texts = Vec::new();
    let mut wrapped = 0;
    for line in lines {
        match probe.unwrap(line) {
            Unwrapping::Text(text) => texts.push((*line, text)),
            Unwrapping::Part => {}
            Unwrapping::NotWrapped => continue,
        }
        wrapped += 1;
    }
    if wrapped * 2 <= lines.len() {
        return None;
    }
    let mut reader = match inner_reader(&texts, hints) {
        Ok(reader) => reader,
        Err(error) => return Some(Err(error)),
    };
    if has_long_entries(&reader) {
        texts.sort_by_cached_key(|(line, _)| wrapping.source(line));
        reader = inner_reader(&texts, hints).unwrap_or(reader);
    }
    // A query has multiple lines, and lines of other containers can be between them.
    let can_interleave = matches!(&wrapping, Wrapping::Text(wrapper) if wrapper.has_names());
    if can_interleave && matches!(reader.kind, FormatKind::SlowLog(_)) {
        return None;
    }
    Some(Ok(LogFormat::Lines(Box::new(wrapped_reader(
        wrapping,
        *reader,
        hints.zone.clone(),
    )))))
}

/// Detects the format of the texts inside wrapped lines.
fn inner_reader(texts: &[(&[u8], Cow<'_, [u8]>)], hints: &Hints) -> Result<Box<LogReader>, String> {
    let texts: Vec<&[u8]> = texts.iter().map(|(_, text)| &text[..]).collect();
    match find(&texts.join(&b'\n'), hints)? {
        LogFormat::Lines(inner) => Ok(inner),
        LogFormat::Document(_) => {
            Err("unknown format: the lines wrap a document; extract the document first".into())
        }
    }
}

/// Returns true if an entry can have multiple lines, so that lines of other containers and streams
/// can be between them.
fn has_long_entries(reader: &LogReader) -> bool {
    matches!(
        reader.kind,
        FormatKind::SlowLog(_) | FormatKind::Postgresql(_)
    )
}

fn wrapped_reader(wrapping: Wrapping, inner: LogReader, zone: Zone) -> LogReader {
    LogReader {
        words: format!("{}, {}", inner.words, wrapping.words()),
        step_ns: inner.step_ns,
        bare_unit: None,
        zone_advice: None,
        kind: FormatKind::Wrapped(Box::new(WrappedLog {
            wrapping,
            inner,
            by_source: BTreeMap::new(),
            uses_outer_time: false,
            zone,
        })),
    }
}

impl WrappedLog {
    /// Parses an outer line, whose text can have multiple lines, and passes its entries to `sink`.
    ///
    /// An entry without a time gets the time of the outer line.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let text = match self.wrapping.unwrap(line) {
            Unwrapping::Text(text) => text,
            Unwrapping::Part => return LineKind::Other,
            Unwrapping::NotWrapped if line.is_empty() => return LineKind::Other,
            Unwrapping::NotWrapped => return LineKind::Malformed,
        };
        let reader = match has_long_entries(&self.inner) {
            true => reader_of(self.wrapping.source(line), &self.inner, &mut self.by_source),
            false => &mut self.inner,
        };
        let (wrapping, uses_outer_time) = (&self.wrapping, &mut self.uses_outer_time);
        let zone = &mut self.zone;
        // Without `dyn`, each level of wrapping would be compiled on its own, without end.
        let sink: &mut dyn FnMut(&Entry) = &mut |entry| {
            let outer = entry.time_s.is_none().then(|| wrapping.time(line));
            let Some(outer) = outer.flatten() else {
                return sink(entry);
            };
            *uses_outer_time = true;
            sink(&Entry {
                time_s: Some(outer.time_s),
                offset_s: outer.offset_s(zone),
                ..*entry
            });
        };
        let mut kind = LineKind::Other;
        for line in text.trim_ascii_end().split(|&byte| byte == b'\n') {
            kind = match (kind, reader.line(line, &mut &mut *sink)) {
                (LineKind::Entry, _) | (_, LineKind::Entry) => LineKind::Entry,
                (LineKind::Malformed, _) | (_, LineKind::Malformed) => LineKind::Malformed,
                _ => LineKind::Other,
            };
        }
        kind
    }

    /// Returns the readers of all containers and streams.
    fn readers(&self) -> impl Iterator<Item = &LogReader> {
        let inner = self.by_source.is_empty().then_some(&self.inner);
        inner.into_iter().chain(self.by_source.values())
    }

    /// Passes the last entries to `sink`, and returns the number of truncated records.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) -> u64 {
        let sink: &mut dyn FnMut(&Entry) = sink;
        let readers = std::iter::once(&mut self.inner).chain(self.by_source.values_mut());
        readers.map(|reader| reader.end(&mut &mut *sink)).sum()
    }

    /// Returns the assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let mut all = Vec::new();
        for assumption in self.readers().flat_map(LogReader::assumptions) {
            if !all.contains(&assumption) {
                all.push(assumption);
            }
        }
        all
    }

    /// Returns the advice of the inner format.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let is_missing_time = |advice: &LogAdvice| {
            let role = FieldRole::Time;
            matches!(advice, LogAdvice::FieldMissing { role: missing, .. } if *missing == role)
        };
        let mut advice = Vec::new();
        for given in self.readers().flat_map(LogReader::advice) {
            given.add_to(&mut advice);
        }
        // A stream without statements, such as that of the error log, is not the whole log.
        let is_empty = |advice: &LogAdvice| {
            matches!(
                advice,
                LogAdvice::NoSlowStatements | LogAdvice::NoStatements
            )
        };
        let has_statements = |reader: &LogReader| !reader.advice().iter().any(is_empty);
        let is_partly_empty = self.readers().any(has_statements);
        advice.retain(|advice| !(is_partly_empty && is_empty(advice)));
        advice.retain(|advice| !(self.uses_outer_time && is_missing_time(advice)));
        advice
    }
}

/// Returns the reader of a source.
///
/// Creates it as a copy of `new` for the source's first line. If there are more than
/// [`MAX_SOURCES`], some sources share a reader.
fn reader_of<'r>(
    source: Vec<u8>,
    new: &LogReader,
    readers: &'r mut BTreeMap<Vec<u8>, LogReader>,
) -> &'r mut LogReader {
    let has_room = readers.len() < MAX_SOURCES || readers.contains_key(&source);
    let source = if has_room { source } else { Vec::new() };
    readers.entry(source).or_insert_with(|| new.clone())
}

/// The text in a JSON line.
struct JsonText<'l> {
    text: Cow<'l, str>,
    /// Docker's stream.
    stream: Option<Cow<'l, str>>,
}

/// Extracts the text from a JSON line of Docker, Cloud Logging or the journal.
fn json_text(line: &[u8]) -> Option<JsonText<'_>> {
    #[derive(Deserialize)]
    struct Wrapped<'l> {
        #[serde(borrow)]
        log: Option<Cow<'l, str>>,
        #[serde(borrow)]
        stream: Option<Cow<'l, str>>,
        #[serde(borrow, rename = "textPayload")]
        text_payload: Option<Cow<'l, str>>,
        #[serde(borrow, rename = "MESSAGE")]
        message: Option<Cow<'l, str>>,
    }
    let wrapped: Wrapped = serde_json::from_slice(line).ok()?;
    match wrapped.log {
        Some(text) => {
            let stream = wrapped.stream;
            Some(JsonText { text, stream })
        }
        None => {
            let text = wrapped.text_payload.or(wrapped.message)?;
            Some(JsonText { text, stream: None })
        }
    }
}

/// Extracts a log's line from the JSON of CloudWatch, Filebeat, Fluent Bit, Loki or Vector.
fn shipped_text(line: &[u8]) -> Option<String> {
    const TEXTS: [&str; 4] = ["message", "line", "msg", "_raw"];
    let object: serde_json::Value = serde_json::from_slice(line).ok()?;
    let original = object.get("event").and_then(|event| event.get("original"));
    let mut texts = TEXTS.iter().filter_map(|name| object.get(name));
    let text = original.or_else(|| texts.find(|text| text.is_string()))?;
    Some(text.as_str()?.to_string())
}

/// Returns the time that the collector wrote, in seconds since 1970.
fn json_time_s(line: &[u8]) -> Option<i64> {
    outer_time_s(&serde_json::from_slice(line).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_777_629_600;

    /// The time, the duration in ns and the status of a request.
    type Found = (Option<i64>, Option<u64>, u16);

    /// Returns the requests in a log, and the description of the log's format.
    fn read(line: impl Fn(usize) -> String, hints: &Hints) -> (Vec<Found>, String) {
        let lines: Vec<String> = (0..20).map(line).collect();
        let format = find(lines.join("\n").as_bytes(), hints);
        let Ok(LogFormat::Lines(mut reader)) = format else {
            panic!("{format:?}");
        };
        let mut found = Vec::new();
        for line in &lines {
            reader.line(line.as_bytes(), &mut |e: &Entry| {
                found.push((e.time_s, e.duration_ns, e.status));
            });
        }
        assert_eq!((found.len(), reader.advice()), (20, vec![]));
        (found, reader.words)
    }

    const ACCESS: &str = r#"10.0.0.1 - - [01/May/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X)\" 0.10"#;
    const JSON: &str = r#"{\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration_ms\":12}"#;

    /// Cloud Logging keeps the lines of a request together.
    #[test]
    fn a_text_can_have_multiple_lines() {
        let begin = |i: usize| if i == 5 { r"started\n" } else { "" };
        let line = |i: usize| format!(r#"{{"textPayload":"{}{ACCESS}{i}"}}"#, begin(i));
        let (found, _) = read(line, &Hints::default());
        assert_eq!(found[0], (Some(T), Some(100_000_000), 200));
    }

    #[test]
    fn lines_of_docker_and_the_journal_are_unwrapped() {
        let docker = |text: &str, i: usize| {
            format!(r#"{{"log":"{text}{i}\n","stream":"stdout","time":"2026-05-01T10:00:00.1Z"}}"#)
        };
        let (found, words) = read(|i| docker(ACCESS, i), &Hints::default());
        assert_eq!(found[0], (Some(T), Some(100_000_000), 200));
        assert!(
            words.starts_with("common") && words.ends_with("wrapped in JSON"),
            "{words}"
        );
        let json = |_| {
            format!(r#"{{"log":"{JSON}\n","stream":"stdout","time":"2026-05-01T10:00:00.1Z"}}"#)
        };
        let (found, _) = read(json, &Hints::default());
        assert_eq!(found[0], (Some(T), Some(12_000_000), 200));
        let journal = |_| {
            format!(
                r#"{{"__REALTIME_TIMESTAMP":"1777629600000000","MESSAGE":"{JSON}","_PID":"1"}}"#
            )
        };
        assert_eq!(read(journal, &Hints::default()).0, found);
        let format = "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" \"%{User-Agent}i\" %D";
        let given = Hints {
            format: Some(format.into()),
            ..Hints::default()
        };
        let whole = ACCESS.replace(" 0.10", " 2000");
        let (found, _) = read(|i| docker(&whole, i), &given);
        assert_eq!(found[1], (Some(T), Some(20_001_000), 200));
    }

    #[test]
    fn lines_of_a_container_runtime_are_unwrapped() {
        let json = JSON.replace('\\', "");
        let line = |_| format!("2026-05-01T10:00:00.123Z stdout F {json}");
        let (found, words) = read(line, &Hints::default());
        assert_eq!(found[0], (Some(T), Some(12_000_000), 200));
        assert!(words.ends_with("prefix of a container"), "{words}");
        let access = ACCESS.replace('\\', "");
        for prefix in ["web-1  | ", "[pod/web-0/nginx] "] {
            let (found, words) = read(|i| format!("{prefix}{access}{i}"), &Hints::default());
            assert_eq!(found[1], (Some(T), Some(101_000_000), 200), "{prefix}");
            assert!(words.starts_with("common"), "{words}");
        }
    }

    #[test]
    fn lines_of_shippers_are_unwrapped() {
        for (head, tail) in [
            (
                r#"{"timestamp":1777629600000,"message":""#,
                r#"","ingestionTime":1}"#,
            ),
            (
                r#"{"timestamp":"2026-05-01T10:00:00Z","file":"/var/log/nginx/access.log","message":""#,
                r#""}"#,
            ),
            (
                r#"{"@timestamp":"2026-05-01T10:00:00Z","message":""#,
                r#"","log":{"file":{"path":"/var/log/nginx/access.log"},"offset":1},"agent":{"type":"filebeat"}}"#,
            ),
            (
                r#"{"labels":{"app":"x"},"line":""#,
                r#"","timestamp":"2026-05-01T10:00:00Z"}"#,
            ),
            (
                r#"{"@timestamp":"2026-05-01T10:00:00Z","event":{"original":""#,
                r#""}}"#,
            ),
        ] {
            let (found, words) = read(|i| format!("{head}{ACCESS}{i}{tail}"), &Hints::default());
            assert_eq!(found[0], (Some(T), Some(100_000_000), 200), "{head}");
            assert!(
                words.starts_with("common") && words.ends_with("wrapped in JSON"),
                "{words}"
            );
            let (found, _) = read(|_| format!("{head}{JSON}{tail}"), &Hints::default());
            assert_eq!(found[0], (Some(T), Some(12_000_000), 200), "{head}");
        }
        // An application's messages are not lines of an access log.
        let messages = "{\"message\":\"started\",\"level\":\"info\"}\n".repeat(20);
        let error = find(messages.as_bytes(), &Hints::default()).expect_err("no log");
        assert!(error.contains("Its lines are JSON"), "{error}");
    }

    #[test]
    fn the_clock_of_an_outer_time_is_in_the_servers_zone() {
        let hints = Hints {
            zone: Zone::named("Europe/Berlin").expect("a zone"),
            ..Hints::default()
        };
        let text =
            r#"method=GET path=/a format=html controller=A action=b status=200 duration=58.33"#;
        for (line, offset_s) in [
            (
                format!(
                    r#"{{"log":"{text}\n","stream":"stdout","time":"2026-05-01T10:00:00.1Z"}}"#
                ),
                7200,
            ),
            (format!("2026-05-01T10:00:00.1Z stdout F {text}"), 7200),
            (
                format!("2026-05-01T15:30:00.1+05:30 stdout F {text}"),
                19_800,
            ),
        ] {
            let format = find(vec![&line[..]; 20].join("\n").as_bytes(), &hints);
            let Ok(LogFormat::Lines(mut reader)) = format else {
                panic!("{format:?}");
            };
            let mut found = None;
            reader.line(line.as_bytes(), &mut |e: &Entry| {
                found = Some((e.time_s, e.offset_s));
            });
            assert_eq!(found, Some((Some(T), offset_s)), "{line}");
        }
    }

    /// The combined log format would accept the prefix as a host.
    #[test]
    fn parts_of_a_combined_line_are_joined() {
        let access = ACCESS.replace('\\', "");
        let (begin, end) = access.split_at(60);
        let prefix = |part: char| format!("2026-05-01T10:00:00.123456789Z stdout {part} ");
        let whole = format!("{}{access}0\n", prefix('F'));
        let split = format!("{}{begin}\n{}{end}0\n", prefix('P'), prefix('F'));
        let log = format!("{}{}{}", whole.repeat(10), split.repeat(3), whole.repeat(7));
        let format = find(log.as_bytes(), &Hints::default());
        let Ok(LogFormat::Lines(mut reader)) = format else {
            panic!("{format:?}");
        };
        let mut found = Vec::new();
        for line in log.lines() {
            let kind = reader.line(line.as_bytes(), &mut |e: &Entry| found.push(e.duration_ns));
            assert_ne!(kind, LineKind::Malformed, "{line}");
        }
        assert_eq!(found, [Some(100_000_000); 20]);
    }

    /// Docker splits lines after 16 KiB. Most Kubernetes container runtimes do, too.
    #[test]
    fn parts_of_a_line_are_joined_by_stream() {
        let (begin, end) = JSON.split_at(20);
        let long = format!("{begin}{}", " ".repeat(16 << 10));
        let docker = |i: usize| {
            let line = |stream: &str, text: &str| {
                format!(r#"{{"log":"{text}","stream":"{stream}","time":"2026-05-01T10:00:00.1Z"}}"#)
            };
            match i % 4 {
                0 => line("stdout", &format!(r"{JSON}\n")),
                1 => line("stdout", &long),
                2 => line("stderr", r"worker started\n"),
                _ => line("stdout", &format!(r"{end}\n")),
            }
        };
        let cri = |i: usize| {
            let json = JSON.replace('\\', "");
            let (begin, end) = json.split_at(20);
            let text = match i % 4 {
                0 => format!("stdout F {json}"),
                1 => format!("stdout P {begin}"),
                2 => "stderr F worker started".into(),
                _ => format!("stdout F {end}"),
            };
            format!("2026-05-01T10:00:00.123Z {text}")
        };
        for line in [&docker as &dyn Fn(usize) -> String, &cri] {
            let lines: Vec<String> = (0..20).map(line).collect();
            let format = find(lines.join("\n").as_bytes(), &Hints::default());
            let Ok(LogFormat::Lines(mut reader)) = format else {
                panic!("{format:?}");
            };
            let mut found = Vec::new();
            for line in &lines {
                reader.line(line.as_bytes(), &mut |e: &Entry| {
                    found.push((e.time_s, e.duration_ns, e.status));
                });
            }
            assert_eq!(found, [(Some(T), Some(12_000_000), 200); 10], "{lines:#?}");
        }
    }
}
