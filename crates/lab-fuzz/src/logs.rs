// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for logs. They check that each line is counted once, that no request is dropped,
//! and that reading in pieces has the same result.

use crate::split_line;
use lab_logs::analysis::changes::changes;
use lab_logs::analysis::pareto::ranking;
use lab_logs::analysis::week::{slots, spikes};
use lab_logs::format::{LogFormat, find};
use lab_logs::query::{Dialect, fold, key};
use lab_logs::{FieldMap, Hints, LogsRead, Rules, ServerLog, Tally, TallyPart, Zone, read};
use lab_model::{AssumptionKind, LineCounts, LogAnalysis, LogAssumption, LogPage, PageKind};
use std::cmp::Ordering;

/// Parses a log of requests whose format is detected from its lines.
pub fn access_log(bytes: &[u8]) {
    let is_text = |words: &str| !words.contains("JSON") && !is_of_statements(words);
    check_log(bytes, &Hints::default(), is_text);
}

/// Parses JSON lines, including OpenTelemetry. The first line is the value of `--fields`, and may
/// be empty.
pub fn json_log(bytes: &[u8]) {
    let (fields, log) = split_line(bytes);
    let fields = match std::str::from_utf8(fields) {
        Ok("") => Ok(FieldMap::default()),
        Ok(text) => FieldMap::new(text),
        Err(_) => return,
    };
    let Ok(fields) = fields else {
        return;
    };
    let hints = Hints {
        fields,
        ..Hints::default()
    };
    check_log(log, &hints, |words| !is_of_statements(words));
}

/// Parses a log. Its first line is the value of `--log-format`.
pub fn log_format(bytes: &[u8]) {
    let (format, log) = split_line(bytes);
    let Ok(format) = std::str::from_utf8(format) else {
        return;
    };
    let hints = Hints {
        format: Some(format.into()),
        zone: berlin(),
        ..Hints::default()
    };
    check_log(log, &hints, |_| true);
}

/// Parses a PostgreSQL log as text, CSV or JSON.
pub fn postgresql_log(bytes: &[u8]) {
    let hints = Hints {
        zone: berlin(),
        ..Hints::default()
    };
    check_log(bytes, &hints, |words| words.starts_with("PostgreSQL"));
}

/// Parses a slow query log of MariaDB or MySQL.
pub fn slow_log(bytes: &[u8]) {
    let hints = Hints {
        zone: berlin(),
        ..Hints::default()
    };
    check_log(bytes, &hints, |words| words.starts_with("slow query log"));
}

/// Parses a file of any format. This includes compressed files, and formats that are read as a
/// whole.
pub fn log_file(bytes: &[u8]) {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    // Data that was read before an error is counted.
    let _ = read::read(bytes, &mut log, &mut tally, &mut |_| true);
    log.close(&mut tally);
    let analysis = tally.into_analysis(vec![log.source], log.lines);
    analyze(&analysis);
}

/// Parses a rotated log. The first two bytes choose the line at which the second file starts.
///
/// Both files together must have the same results as the unsplit log, if they are detected to have
/// the same format. PostgreSQL messages belong to the same log only if their times match.
/// Therefore, if the third byte is 0 or 1, the target generates a PostgreSQL log as text or CSV.
/// The remaining bytes choose its messages.
pub fn rotated_log(bytes: &[u8]) {
    let [first, second, log @ ..] = bytes else {
        return;
    };
    let made = match log {
        [0, choices @ ..] => Some(postgresql_log_of(choices, text_message)),
        [1, choices @ ..] => Some(postgresql_log_of(choices, csv_message)),
        _ => None,
    };
    let log = made.as_deref().unwrap_or(log);
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let Some(cuts) = lines.len().checked_sub(1).filter(|cuts| *cuts > 0) else {
        return;
    };
    let line = usize::from(u16::from_be_bytes([*first, *second])) % cuts + 1;
    let before: usize = lines[..line].iter().map(|line| line.len()).sum();
    let (before, after) = log.split_at(before);
    if !matches!(find(log, &Hints::default()), Ok(LogFormat::Lines(_))) {
        return;
    }
    let (Some((whole, logs)), Some((parts, logs_of_parts)), Some((_, logs_before))) = (
        read_files(&[log]),
        read_files(&[before, after]),
        read_files(&[before]),
    ) else {
        return;
    };
    let format = &logs.sources[0].format;
    let mut sources = logs_of_parts.sources.iter();
    // Each file determines its unit of durations separately. The rest of a log can reveal a unit
    // that its beginning leaves open.
    let is_assumed = |a: &LogAssumption| a.kind() == AssumptionKind::Durations;
    let assumes = |read: &LogsRead| read.assumptions.iter().any(is_assumed);
    if sources.any(|source| source.format != *format)
        || [&logs, &logs_of_parts, &logs_before]
            .into_iter()
            .any(assumes)
    {
        return;
    }
    if made.is_none() && format.starts_with("PostgreSQL") {
        assert_eq!(whole.lines.all, parts.lines.all, "cut after line {line}");
    } else {
        assert_eq!(whole, parts, "cut after line {line}");
    }
}

/// A PostgreSQL message: its time in seconds, its process, its severity, its text, and the
/// statement that it refers to.
type PostgresqlMessage<'m> = (u32, u8, &'m str, &'m str, &'m str);

/// Generates a PostgreSQL log with one message for each byte. The lowest three bits of the byte
/// select the message, and the next two select the process. The remaining bits are the number of
/// seconds since the previous message.
fn postgresql_log_of(choices: &[u8], write: fn(&mut String, PostgresqlMessage)) -> Vec<u8> {
    const KINDS: [(&str, &str, &str); 8] = [
        ("LOG", "statement: SELECT a\nFROM t", ""),
        ("LOG", "duration: 0.500 ms", ""),
        ("LOG", "duration: 0.700 ms  statement: SELECT b\nFROM t", ""),
        ("ERROR", "division by zero", "SELECT 1/0"),
        ("LOG", "execute x: SELECT c", ""),
        ("LOG", "duration: 0.300 ms  bind x: SELECT c", ""),
        ("LOG", "disconnection: session time: 0:00:01.5", ""),
        (
            "LOG",
            "duration: 0.450 ms  plan:\nQuery Text: SELECT a\nFROM t\nSeq Scan on t",
            "",
        ),
    ];
    let (mut log, mut second) = (String::new(), 0);
    for choice in choices.iter().take(200) {
        let (severity, text, statement) = KINDS[usize::from(choice % 8)];
        second += u32::from(choice >> 5);
        let process = choice >> 3 & 3;
        write(&mut log, (second, process, severity, text, statement));
    }
    log.into_bytes()
}

fn text_message(log: &mut String, (second, process, severity, text, statement): PostgresqlMessage) {
    let (minute, second) = (second / 60, second % 60);
    let head = format!("2026-05-01 10:{minute:02}:{second:02}.500 UTC [7{process}] ");
    for (tag, text) in [(severity, text), ("STATEMENT", statement)] {
        if !text.is_empty() {
            let text = text.replace('\n', "\n\t");
            *log += &format!("{head}{tag}:  {text}\n");
        }
    }
}

fn csv_message(log: &mut String, (second, process, severity, text, statement): PostgresqlMessage) {
    let (minute, second) = (second / 60, second % 60);
    *log += &format!(
        "2026-05-01 10:{minute:02}:{second:02}.500 UTC,\"u\",\"d\",7{process},\"[local]\",5.{process},1,\"SELECT\",\
         2026-05-01 09:00:00 UTC,3/7,0,{severity},00000,\"{text}\",,,,,,\"{statement}\",,,\"psql\",\"client backend\",,0\n"
    );
}

/// Reads files as one log. Returns `None` if the format of a file is unknown.
fn read_files(files: &[&[u8]]) -> Option<(LogAnalysis, LogsRead)> {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            log.begin_file("log");
        }
        read::read(*file, &mut log, &mut tally, &mut |_| true).ok()?;
    }
    log.close(&mut tally);
    let logs = log.logs_read();
    let mut analysis = tally.analysis(Vec::new(), log.lines);
    analysis.pages.sort_by(by_name);
    Some((analysis, logs))
}

/// Normalizes a statement. The first byte selects the dialect. Normalizing the result again must
/// not change it, and blanks around symbols must not change its key.
pub fn sql(bytes: &[u8]) {
    let Some((first, statement)) = bytes.split_first() else {
        return;
    };
    let dialect = match first {
        b'm' => Dialect::Mysql,
        b'u' => Dialect::Unknown,
        _ => Dialect::Postgresql,
    };
    let query = fold(statement, dialect);
    assert!(query.len() <= 400, "a name of {} bytes", query.len());
    assert!(!query.chars().any(char::is_control), "{query:?}");
    // A truncated query is not a valid statement.
    if query.len() <= 200 && !query.ends_with([']', ')']) {
        assert_eq!(fold(query.as_bytes(), dialect), query, "folded twice");
    }
    let is_open = !fold(&[statement, b" zzz"].concat(), dialect).ends_with("zzz");
    if !is_open && query.len() < 190 {
        let spaced = [b" \n", statement, b" ;\n"].concat();
        assert_eq!(fold(&spaced, dialect), query, "whitespace matters");
    }
    if query.len() <= 200 && !query.contains(['"', '`']) {
        let tight = query.replace(" = ", "=");
        assert_eq!(key(&tight), key(&query), "spelling matters");
    }
}

/// Parses the log counts of an agent. The input is the JSON of the counts before compression.
pub fn tally_part(bytes: &[u8]) {
    let packed = zstd::encode_all(bytes, 1).expect("memory");
    let Ok(part) = TallyPart::unpack(&packed) else {
        return;
    };
    let again = part.pack().and_then(|packed| TallyPart::unpack(&packed));
    let again = again.expect("packed counts can be unpacked");
    let mut tally = Tally::in_parts(Rules::default());
    tally.merge(part);
    tally.merge(again);
    tally.into_analysis(Vec::new(), LineCounts::default());
}

fn berlin() -> Zone {
    Zone::named("Europe/Berlin").unwrap_or_default()
}

fn is_of_statements(words: &str) -> bool {
    words.starts_with("PostgreSQL") || words.starts_with("slow query log")
}

/// Reads a log twice, as a whole and in pieces, and compares the results. Skips logs whose format
/// is not `expected`, because other targets read them.
fn check_log(bytes: &[u8], hints: &Hints, expected: impl Fn(&str) -> bool) {
    let words = match find(bytes, hints) {
        Ok(LogFormat::Lines(reader)) if expected(&reader.words) => reader.words,
        _ => return,
    };
    // The last byte selects the length of the pieces.
    let length = bytes.last().map_or(1, |last| usize::from(*last) % 97 + 1);
    let (whole, lines) = read_twice(bytes, hints, bytes.len().max(1));
    let (pieces, _) = read_twice(bytes, hints, length);
    assert_eq!(
        whole, pieces,
        "the result differs for pieces of {length} bytes"
    );
    check_counts(&whole, &lines, &words);
    analyze(&whole);
}

/// Reads a log to detect its format, and then reads it again in pieces of `length` bytes.
fn read_twice(bytes: &[u8], hints: &Hints, length: usize) -> (LogAnalysis, LineCounts) {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", hints);
    let mut read = || {
        log.push(bytes, &mut tally)?;
        log.begin_if_whole(&mut tally)?;
        bytes
            .chunks(length)
            .try_for_each(|piece| log.push(piece, &mut tally))?;
        log.end(&mut tally)
    };
    // A format that was detected in the whole log may not be detectable in its complete lines.
    let _ = read();
    log.logs_read();
    let lines = log.lines;
    let mut analysis = tally.analysis(vec![log.source], lines);
    analysis.pages.sort_by(by_name);
    (analysis, lines)
}

fn by_name(a: &LogPage, b: &LogPage) -> Ordering {
    (a.kind as u8, &a.name).cmp(&(b.kind as u8, &b.name))
}

fn check_counts(analysis: &LogAnalysis, lines: &LineCounts, words: &str) {
    let requests: u64 = analysis.pages.iter().map(|page| page.requests).sum();
    assert_eq!(
        requests, lines.entries,
        "the requests of all pages differ from the total"
    );
    for page in &analysis.pages {
        let name = &page.name;
        assert!(
            page.timed <= page.requests,
            "{name} has more durations than requests"
        );
        assert!(page.errors + page.client_errors <= page.requests, "{name}");
        assert!(
            page.max_ns <= page.total_ns,
            "{name}: the maximum exceeds the total"
        );
        assert!(!name.chars().any(char::is_control), "{name:?}");
    }
    // A line of spans, and an array in a line of JSON, can contain multiple requests.
    let known = lines.entries + lines.other + lines.malformed + lines.too_long + lines.cut_off;
    if words.starts_with("JSON lines") {
        assert!(lines.all <= known, "{lines:?}");
    } else if !words.contains("OpenTelemetry") {
        assert_eq!(lines.all, known, "{lines:?}");
    }
}

fn analyze(analysis: &LogAnalysis) {
    for kind in PageKind::ALL {
        ranking(analysis, kind);
    }
    slots(analysis);
    spikes(analysis);
    changes(analysis);
}
