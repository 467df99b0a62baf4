// SPDX-License-Identifier: Apache-2.0
//! Detects the format of access logs.

use super::combined::{self, Combined, Duration};
use super::configuration::log_format;
use super::elb::LoadBalancer;
use super::envoy::Envoy;
use super::foreign::ForeignLog;
use super::haproxy::{HaProxy, OtherLine};
use super::json::Json;
use super::lograge::Lograge;
use super::otlp::{self, Otlp};
use super::pattern::Pattern;
use super::s3::S3;
use super::slow_log::is_general_log;
use super::structured::Structured;
use super::w3c::W3c;
use super::{FormatKind, Hints, LogReader, SAMPLE_LINES, prefixed_postgresql, sample_lines};
use crate::route::{cut, printable};
use crate::time::Zone;
use crate::wording;
use lab_model::LogAdvice;

const MS: u64 = 1_000_000;

/// The description of the common and the combined log format.
const COMBINED: &str = "common or combined log format";
/// The description of a format that the user specified.
const GIVEN: &str = "the given format";

/// Returns true if a format whose description is `words` comes from a server's `LogFormat`.
pub fn is_log_format(words: &str) -> bool {
    words.starts_with(COMBINED) || words.starts_with(GIVEN)
}

/// Returns true if more than half of the lines match.
fn majority_matches(lines: &[&[u8]], mut matches: impl FnMut(&[u8]) -> bool) -> bool {
    let count = lines.iter().filter(|line| matches(line)).count();
    count > 0 && count * 2 > lines.len()
}

/// Returns advice about the time zone if the timestamps are in UTC and the user specified no zone.
fn zone_advice(zone: &Zone) -> Option<LogAdvice> {
    (!zone.is_given).then_some(LogAdvice::TimesInUtc)
}

fn reader(words: impl Into<String>, step_ns: Option<u64>, kind: FormatKind) -> LogReader {
    LogReader {
        words: words.into(),
        step_ns,
        bare_unit: None,
        zone_advice: None,
        kind,
    }
}

/// Creates a reader for the format that the user specified.
pub fn configured_reader(format: &str, begin: &[u8], hints: &Hints) -> Result<LogReader, String> {
    // A directive can name the format.
    if let "combined" | "common" = log_format(format).as_str() {
        let lines: Vec<&[u8]> = begin.split(|b| *b == b'\n').take(SAMPLE_LINES).collect();
        return Ok(combined(&lines, hints).unwrap_or_else(|| combined_reader(None, &lines, hints)));
    }
    // Text that is not a valid log_line_prefix may still be a LogFormat, and a line of that format
    // may look like a line of PostgreSQL's log.
    let prefixed = prefixed_postgresql(format, begin, hints);
    if let Some(Ok(reader)) = prefixed {
        return Ok(reader);
    }
    let pattern = Pattern::new(format, hints.zone.clone(), hints.unit);
    let mut pattern = pattern.map_err(|reason| match prefixed {
        Some(Err(of_prefix)) => of_prefix,
        _ => reason,
    })?;
    pattern.learn(&sample_lines(begin));
    Ok(reader(
        GIVEN,
        pattern.step(),
        FormatKind::Pattern(Box::new(pattern)),
    ))
}

pub fn combined(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let duration = combined::find_duration(lines)?;
    Some(combined_reader(duration, lines, hints))
}

fn combined_reader(duration: Option<Duration>, lines: &[&[u8]], hints: &Hints) -> LogReader {
    let name = COMBINED;
    let duration = match (duration, hints.unit) {
        (Some(duration), Some(unit)) => Some(duration.with_unit(unit)),
        (duration, _) => duration,
    };
    let words = match (&duration, hints.unit) {
        (None, _) => name.to_string(),
        (Some(d), None) => format!("{name}, with {}", d.description()),
        (Some(d), Some(_)) => format!("{name}, with {}, as specified", d.description()),
    };
    let step = duration.as_ref().map(|d| d.step);
    let is_bare = |d: &&Duration| !d.possible.is_empty();
    let bare_unit = duration.as_ref().filter(is_bare).map(|d| d.scale);
    let mut combined = Combined::new(duration);
    combined.expect_late_durations(lines, hints.unit);
    LogReader {
        bare_unit,
        ..reader(words, step, FormatKind::Combined(combined))
    }
}

pub fn haproxy(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = hints.zone.clone();
    let mut sampled = HaProxy::new(zone.clone());
    let words = "HAProxy's HTTP log, with its total time in ms";
    let mut has_request = false;
    let is_haproxy = majority_matches(lines, |line| {
        let is_request = sampled.parse(line).is_some();
        has_request |= is_request;
        is_request || OtherLine::find(line).is_some()
    });
    (is_haproxy && has_request)
        .then(|| reader(words, Some(MS), FormatKind::HaProxy(HaProxy::new(zone))))
}

pub fn envoy(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = hints.zone.clone();
    let mut sampled = Envoy::new(zone.clone());
    let words = "Envoy's or Istio's access log, with its duration in ms";
    majority_matches(lines, |line| sampled.parse(line).is_some())
        .then(|| reader(words, Some(MS), FormatKind::Envoy(Envoy::new(zone))))
}

pub fn elb(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = hints.zone.clone();
    let mut sampled = LoadBalancer::new(zone.clone());
    let words = "access log of an Amazon load balancer, with target_processing_time, in s";
    majority_matches(lines, |line| sampled.parse(line).is_some()).then(|| LogReader {
        zone_advice: zone_advice(&hints.zone),
        ..reader(
            words,
            Some(MS),
            FormatKind::LoadBalancer(LoadBalancer::new(zone)),
        )
    })
}

pub fn s3(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let words = "server access log of Amazon S3, with its total time in ms";
    majority_matches(lines, S3::is_record).then(|| LogReader {
        zone_advice: zone_advice(&hints.zone),
        ..reader(words, Some(MS), FormatKind::S3(S3::new(hints.zone.clone())))
    })
}

/// Detects lograge. One matching line is enough, because a Rails application mixes lograge's lines
/// with other lines.
pub fn lograge(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let mut sampled = Lograge::default();
    let words = "lograge's lines of Rails, with duration in ms";
    let kind = || FormatKind::Lograge(Lograge::new(hints.zone.clone()));
    let is_any = lines.iter().any(|line| sampled.parse(line).is_some());
    is_any.then(|| reader(words, Some(10_000), kind()))
}

/// Detects the log of Heroku's router. A drain mixes it with lines of the application.
pub fn router(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let mut sampled = Lograge::default();
    let words = "log of Heroku's router, with service in ms";
    let kind = || FormatKind::Lograge(Lograge::of_router(hints.zone.clone()));
    let is_any = lines
        .iter()
        .any(|line| sampled.parse_routed(line).is_some());
    is_any.then(|| reader(words, Some(MS), kind()))
}

pub fn spans(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let zone = hints.zone.clone();
    let words = "spans of OpenTelemetry (OTLP as JSON lines)";
    // The Collector also writes metrics and logs, and Java's exporter is one logger among others.
    let is_any = lines.iter().any(|line| otlp::is_batch(line));
    is_any.then(|| LogReader {
        zone_advice: zone_advice(&hints.zone),
        ..reader(words, Some(1), FormatKind::Otlp(Otlp::new(zone)))
    })
}

/// A sample of JSON lines.
struct SampledJson {
    json: Json,
    /// A description of the field and the unit of the durations, and their resolution in ns.
    durations: Option<(String, u64)>,
    /// The unit of durations that contain no unit, in ns.
    bare_unit: Option<u64>,
    has_request: bool,
}

/// Reads a sample of JSON lines. Returns `None` if they are not JSON.
fn sampled_json(lines: &[&[u8]], hints: &Hints) -> Option<SampledJson> {
    let fields = Structured::new(hints.zone.clone(), hints.unit, hints.fields.clone());
    let mut json = Json::new(fields);
    json.fields.begin_sample();
    let is_json = majority_matches(lines, |line| {
        json.is_object(line) && {
            json.fields.finish();
            true
        }
    });
    json.fields.end_sample();
    if !is_json {
        return None;
    }
    // Read the sample again, now with the unit and the weak producer marks found in the whole
    // sample.
    let mut reader = json.clone();
    let (mut durations, mut bare_unit, mut has_request) = (None, None, false);
    for line in lines {
        if reader.is_object(line) && (reader.fields.finish().is_some() || reader.fields.has_open())
        {
            has_request = true;
            durations = durations.or_else(|| reader.fields.duration_words());
            bare_unit = bare_unit.or_else(|| reader.fields.bare_unit());
        }
    }
    Some(SampledJson {
        json,
        durations,
        bare_unit,
        has_request,
    })
}

pub fn json(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    let sampled = sampled_json(lines, hints)?;
    let (words, step_ns) = sampled.durations.unzip();
    let words = match words {
        Some(duration) => format!("JSON lines, with {duration}"),
        None => "JSON lines".into(),
    };
    let kind = FormatKind::Json(Box::new(sampled.json));
    sampled.has_request.then(|| LogReader {
        bare_unit: sampled.bare_unit,
        ..reader(words, step_ns, kind)
    })
}

pub fn w3c(lines: &[&[u8]], hints: &Hints) -> Option<LogReader> {
    lines.iter().find(|line| line.starts_with(b"#Fields:"))?;
    let mut w3c = W3c::new(hints.zone.clone(), hints.unit);
    w3c.sample(lines);
    let step = w3c.has_durations().then_some(MS);
    let (words, zone_advice) = match w3c.is_local() {
        true => (
            "extended log format (W3C), times in the server's zone",
            None,
        ),
        false => (
            "extended log format (W3C), times in UTC",
            zone_advice(&hints.zone),
        ),
    };
    Some(LogReader {
        zone_advice,
        ..reader(words, step, FormatKind::W3c(w3c))
    })
}

/// Returns advice for a database log without durations. Returns `None` for any other log.
fn database_advice(lines: &[&[u8]]) -> Option<&'static str> {
    let has = |marks: &[&[u8]]| {
        let has_mark = |line: &&[u8]| {
            marks
                .iter()
                .any(|mark| memchr::memmem::find(line, mark).is_some())
        };
        lines.iter().any(has_mark)
    };
    if is_general_log(lines) {
        Some(
            "It looks like the general query log of MySQL or MariaDB, which has no durations: set slow_query_log = ON and \
             long_query_time = 0, then read the slow query log.",
        )
    } else if has(&[
        b" [Note] ",
        b"[System] [MY-",
        b"[Warning] [MY-",
        b"[ERROR] [MY-",
        b" InnoDB: ",
    ]) {
        Some(
            "It looks like the error log of MySQL or MariaDB, which has no statements: set slow_query_log = ON, then read the \
             slow query log.",
        )
    } else if has(&[b" LOG stats: ", b" LOG C-0x", b" LOG S-0x"]) {
        Some(
            "It looks like the log of PgBouncer, which has no statements: read the log of PostgreSQL instead, with \
             log_min_duration_statement = 0.",
        )
    } else {
        None
    }
}

/// Returns advice for statements of a database in a form that benchlab does not read. Returns
/// `None` for any other input.
fn export_advice(lines: &[&[u8]]) -> Option<&'static str> {
    let first = lines.first()?.to_ascii_lowercase();
    let has = |line: &[u8], text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    if first.contains(&b'|') && has(&first, "calls") && has(&first, "query") {
        Some("It looks like a table of psql: export it with `psql --csv`.")
    } else if has(&first, "query_time") && has(&first, "sql_text") {
        Some(
            "It looks like the table mysql.slow_log: set log_output = FILE, then read the slow query log.",
        )
    } else if has(&first, "exec_count") && has(&first, "latency") {
        Some(
            "It looks like a view of MySQL's schema sys, which shortens statements: export the table \
             performance_schema.events_statements_summary_by_digest as CSV.",
        )
    } else if lines.iter().any(|line| has(line, "# Query_time: ")) {
        Some(
            "It looks like a slow query log with a prefix before each line: remove the prefix, for example with \
             `docker compose logs --no-log-prefix`.",
        )
    } else {
        None
    }
}

/// Returns true if a line begins with an object or with a key of an object.
fn has_json_key(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start();
    line.starts_with(b"{") || (line.starts_with(b"\"") && line.contains(&b':'))
}

/// Returns a message that states why no format fits and what to do. The message depends on the
/// input.
pub fn unknown(lines: &[&[u8]], hints: &Hints) -> String {
    let Some(first) = lines.first() else {
        return "unknown format: the log is empty".into();
    };
    // The first line of a log of statements can contain personal data.
    if let Some(advice) = export_advice(lines).or_else(|| database_advice(lines)) {
        return format!("unknown format. {advice}");
    }
    let foreign = ForeignLog::from_lines(lines);
    if let Some(foreign) = foreign.as_ref().filter(|foreign| foreign.has_statements()) {
        return format!("unknown format. {}", wording::foreign_log(foreign));
    }
    let shown = cut(printable(&first[..first.len().min(120)]));
    let problem = format!("unknown format: the first line is\n  {shown}\n");
    if let Some(foreign) = foreign {
        return problem + &wording::foreign_log(&foreign);
    }
    if let Some(SampledJson { json, .. }) = sampled_json(lines, hints) {
        let unseen = json.fields.unseen_fields().into_iter();
        let advice = unseen.chain([json.fields.no_request()]);
        let advice: Vec<String> = advice.map(|advice| wording::advice(&advice)).collect();
        return problem + "Its lines are JSON. " + &advice.join(" ");
    }
    let advice = if first.starts_with(b"[") && lines.iter().any(|line| has_json_key(line)) {
        "It looks like a JSON array, but not with one object per line: convert it with `jq -c '.[]'`."
    } else if first.starts_with(b"{") {
        "It looks like JSON, but not with one object per line: convert it with `jq -c .`."
    } else {
        "Pass the format from the server's configuration, such as\n  \
         --log-format '%h %l %u %t \"%r\" %>s %b %D'\n  --log-format '$remote_addr [$time_local] \"$request\" $status $request_time'"
    };
    problem + advice
}
