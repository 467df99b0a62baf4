// SPDX-License-Identifier: Apache-2.0
//! Parses the lines that lograge writes in a Rails application, in its default key=value form.
//!
//! A logger may write more text before lograge's text.
//!
//! `I, [2026-05-01T10:00:00.123456 #7]  INFO -- : [5a1b…] method=GET path=/a format=html controller=A action=b status=200 duration=58.33 view=40.43 db=15.26`
//!
//! Values are neither quoted nor escaped. Fields are therefore found by lograge's own order: fields
//! that clients cannot forge come first, and fields that an application adds come last.
//!
//! Source: lograge 0.14, `Formatters::KeyValue`; Ruby, `Logger::Formatter`; Rails,
//! `ActiveSupport::TaggedLogging`.

use super::prefix_time::{HeadTime, local_time};
use crate::entry::{Entry, LineKind};
use crate::join::certain_id;
use crate::time::{Zone, number, offset, scaled};
use crate::zone_words::clear_offset;
use lab_model::LogAdvice;
use memchr::memmem::{find, find_iter, rfind};

const MS: u64 = 1_000_000;

/// A parser of lograge lines.
#[derive(Clone, Debug, Default)]
pub struct Lograge {
    /// The time zone for timestamps without an offset.
    pub zone: Zone,
    others: u64,
    /// The number of lines from Heroku's router.
    routed: u64,
    /// True if requests are read from the lines of Heroku's router, because no other lines describe
    /// requests.
    reads_router: bool,
}

impl Lograge {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> Lograge {
        Lograge {
            zone,
            ..Lograge::default()
        }
    }

    /// Creates a parser of the lines of Heroku's router.
    pub fn of_router(zone: Zone) -> Lograge {
        Lograge {
            zone,
            reads_router: true,
            ..Lograge::default()
        }
    }

    /// Parses a line and passes its entry to `sink`.
    ///
    /// Lines without a request are other messages of the application.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if let Some(entry) = self.parse(line) {
            sink(&entry);
            return LineKind::Entry;
        }
        if self.reads_router
            && let Some(entry) = self.parse_routed(line)
        {
            sink(&entry);
            return LineKind::Entry;
        }
        if line.is_empty() {
            LineKind::Other
        } else if is_routed(line) && self.reads_router {
            LineKind::Malformed
        } else if is_routed(line) {
            self.routed += 1;
            LineKind::Other
        } else if field_at(line, b"method=").is_some() && find(line, b" path=").is_some() {
            LineKind::Malformed
        } else {
            self.others += 1;
            LineKind::Other
        }
    }

    /// Parses the request of a line. Returns `None` if there is none.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let begin = field_at(line, b"method=")?;
        let (head, fields) = line.split_at(begin);
        let (method, rest) = value(fields, b"method=")?;
        let (target, rest) = value(rest, b"path=")?;
        let (_, rest) = value(rest, b"format=")?;
        let (_, rest) = value(rest, b"controller=")?;
        let (_, rest) = value(rest, b"action=")?;
        let (status, rest) = value(rest, b"status=")?;
        let rest = behind_error(rest);
        // Rails 6 and later.
        let rest = value(rest, b"allocations=").map_or(rest, |(_, rest)| rest);
        let (duration, rest) = value(rest, b"duration=")?;
        if target.is_empty() {
            return None;
        }
        let (time_s, offset_s) = self.time(head);
        Some(Entry {
            time_s,
            offset_s,
            duration_ns: Some(milliseconds(duration)?),
            method,
            target,
            status: number(status).filter(|s| *s < 1000)? as u16,
            id: certain_id(head)
                .or_else(|| added(rest, b"request_id="))
                .unwrap_or_default(),
            ..Entry::default()
        })
    }

    /// Parses a line of Heroku's router. The entry's duration is the value of `service`, which is
    /// empty if no dyno served the request.
    pub fn parse_routed<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let (head, fields) = line.split_at(field_at(line, b"at=").filter(|_| is_routed(line))?);
        let (_, path) = fields.split_at(find(fields, b" path=\"")? + 7);
        let (target, rest) = path.split_at(memchr::memchr(b'"', path)?);
        let duration = routed(rest, b"service=").and_then(|text| text.strip_suffix(b"ms"));
        let (time_s, offset_s) = self.time(head);
        Some(Entry {
            time_s,
            offset_s,
            duration_ns: duration.and_then(|ms| scaled(ms, MS)),
            method: routed(fields, b"method=")?,
            target,
            status: routed(rest, b"status=").and_then(number)?.try_into().ok()?,
            bytes: routed(rest, b"bytes=").and_then(number).unwrap_or(0),
            id: added(rest, b"request_id=").unwrap_or_default(),
            ..Entry::default()
        })
    }

    /// Returns the time that a logger, or lograge's `time` field, wrote before a request.
    fn time(&mut self, head: &[u8]) -> (Option<i64>, i32) {
        let is_begin = |at: usize| {
            head[at].is_ascii_digit() && (at == 0 || !head[at - 1].is_ascii_alphanumeric())
        };
        let mut begins = (0..head.len()).filter(|at| is_begin(*at));
        let found = begins.find_map(|at| match local_time(&head[at..])?.0 {
            HeadTime::Local(local_s, zone) => {
                let offset_s = zone.and_then(|word| offset(word).or_else(|| clear_offset(word)));
                Some((local_s, offset_s))
            }
            _ => None,
        });
        match found {
            None => (None, 0),
            Some((local_s, Some(0))) => (Some(local_s), self.zone.offset_at(local_s)),
            Some((local_s, offset_s)) => {
                let offset_s = offset_s.unwrap_or_else(|| self.zone.offset_of_local(local_s));
                (Some(local_s - i64::from(offset_s)), offset_s)
            }
        }
    }

    /// Returns advice about skipped lines.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let all = [
            LogAdvice::ApplicationMessages { lines: self.others },
            LogAdvice::RouterLines { lines: self.routed },
        ];
        let counts = [self.others, self.routed];
        let skipped = all.into_iter().zip(counts).filter(|(_, lines)| *lines > 0);
        skipped.map(|(advice, _)| advice).collect()
    }
}

/// Returns true if a line is from Heroku's router, whose path is in quotes:
/// `at=info method=GET path="/" host=… request_id=… fwd="…" dyno=web.1 connect=0ms service=18ms status=200 bytes=9`
///
/// Source: Heroku Dev Center, *HTTP routing*, *Heroku router log format*.
fn is_routed(line: &[u8]) -> bool {
    let Some(begin) = field_at(line, b"at=") else {
        return false;
    };
    let fields = &line[begin..];
    let has = |text: &[u8]| find(fields, text).is_some();
    has(b" method=") && has(b" path=\"") && has(b" host=") && has(b" dyno=") && has(b" service=")
}

/// Returns the offset of a key that does not begin in the middle of a word.
fn field_at(line: &[u8], key: &[u8]) -> Option<usize> {
    find_iter(line, key).find(|at| *at == 0 || matches!(line[at - 1], b' ' | b']' | b':'))
}

/// Returns the value after a key at the beginning of `text`, up to the next blank, and the rest.
fn value<'l>(text: &'l [u8], key: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let text = text.strip_prefix(key)?;
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    Some((&text[..end], text.get(end + 1..).unwrap_or_default()))
}

/// Skips an error message, which can contain any characters, by finding the last numeric fields of
/// the line.
fn behind_error(text: &[u8]) -> &[u8] {
    if !text.starts_with(b"error='") {
        return text;
    }
    let ends = [&b"' allocations="[..], b"' duration="].map(|end| rfind(text, end));
    let end = ends.into_iter().flatten().max();
    end.map_or(text, |end| &text[end + 2..])
}

/// Parses a number of milliseconds with exactly two decimals. The result is in ns.
///
/// Returns `None` if there are fewer decimals, because the line was cut off.
fn milliseconds(text: &[u8]) -> Option<u64> {
    let point = memchr::memchr(b'.', text)?;
    (text.len() == point + 3)
        .then(|| scaled(text, MS))
        .flatten()
}

/// Returns the ID in a field that the application or the router adds. A single character, such as
/// `-`, is no ID.
fn added<'l>(text: &'l [u8], key: &[u8]) -> Option<&'l [u8]> {
    field(text, key).filter(|id| id.len() > 1)
}

/// Returns the value of a field of the router, or `None` if it is empty.
fn routed<'l>(text: &'l [u8], key: &[u8]) -> Option<&'l [u8]> {
    field(text, key).filter(|value| !value.is_empty())
}

/// Returns the value of a field after a blank or at the beginning of `text`, up to the next blank.
fn field<'l>(text: &'l [u8], key: &[u8]) -> Option<&'l [u8]> {
    let is_field = |at: &usize| *at == 0 || text[at - 1] == b' ';
    let begin = find_iter(text, key).find(is_field)? + key.len();
    let value = &text[begin..];
    let end = memchr::memchr(b' ', value).unwrap_or(value.len());
    Some(&value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "method=GET path=/jobs/833552.json format=json controller=JobsController action=show status=200 duration=58.33 view=40.43 db=15.26";
    const ID: &str = "5a1b2c3d-0af7-6519-16cd-43dd8448eb21";

    /// Time, target, status, duration and ID.
    type Found = (Option<i64>, String, u16, Option<u64>, String);

    fn parse(line: &str) -> Option<Found> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut reader = Lograge::default();
        let entry = reader.parse(line.as_bytes())?;
        Some((
            entry.time_s,
            text(entry.target),
            entry.status,
            entry.duration_ns,
            text(entry.id),
        ))
    }

    /// The line is from Heroku Dev Center, *Heroku router log format*.
    #[test]
    fn a_log_of_the_router_alone_has_its_requests() {
        let line = r#"2026-05-01T10:00:00.123456+00:00 heroku[router]: at=info method=POST path="/a?b=1" host=x.herokuapp.com request_id=8601b555-0000 fwd="192.0.2.4" dyno=web.1 connect=1ms service=250ms status=503 bytes=1548 protocol=https"#;
        let mut router = Lograge::of_router(Zone::default());
        let entry = router.parse_routed(line.as_bytes()).expect("a request");
        assert_eq!(
            (entry.time_s, entry.duration_ns, entry.status, entry.bytes),
            (Some(1_777_629_600), Some(250_000_000), 503, 1548)
        );
        assert_eq!(
            (entry.method, entry.target, entry.id),
            (&b"POST"[..], &b"/a?b=1"[..], &b"8601b555-0000"[..])
        );
        let broken = line.replace("status=503", "status=");
        let kind = router.line(broken.as_bytes(), &mut |entry| panic!("{entry:?}"));
        assert_eq!(kind, LineKind::Malformed);
    }

    /// The first line is from Heroku Dev Center, *Heroku error codes*, H10.
    #[test]
    fn failures_of_the_router_are_requests_without_a_duration() {
        let crashed = r#"2026-05-01T10:00:00+00:00 heroku[router]: at=error code=H10 desc="App crashed" method=GET path="/" host=x.herokuapp.com request_id=8601b555-0000 fwd="192.0.2.4" dyno= connect= service= status=503 bytes= protocol=https"#;
        let mut router = Lograge::of_router(Zone::default());
        let mut found = Vec::new();
        for line in [
            crashed.to_string(),
            crashed.replace("bytes=", "bytes=9"),
            crashed.replace("service=", "service=7ms"),
        ] {
            let kind = router.line(line.as_bytes(), &mut |entry| {
                found.push((entry.status, entry.duration_ns, entry.bytes));
            });
            assert_eq!(kind, LineKind::Entry, "{line}");
        }
        assert_eq!(
            found,
            [(503, None, 0), (503, None, 9), (503, Some(7_000_000), 0)]
        );
    }

    #[test]
    fn requests_are_parsed_after_a_loggers_prefix() {
        let path = "/jobs/833552.json".to_string();
        let of = |time, id: &str| Some((time, path.clone(), 200, Some(58_330_000), id.into()));
        const T: i64 = 1_777_629_600;
        for (head, time, id) in [
            ("", None, ""),
            (
                "I, [2026-05-01T10:00:00.123456 #7]  INFO -- : ",
                Some(T),
                "",
            ),
            (
                &format!("I, [2026-05-01T10:00:00.123456 #7]  INFO -- : [{ID}] "),
                Some(T),
                ID,
            ),
            ("2026-05-01T12:00:00.123456+02:00 app[web.1]: ", Some(T), ""),
            ("time=2026-05-01 10:00:00 UTC ", Some(T), ""),
        ] {
            assert_eq!(parse(&format!("{head}{LINE}")), of(time, id), "{head}");
        }
        let added = format!("{LINE} params={{\"a\"=>\"b c\"}} request_id={ID} ip=::1");
        assert_eq!(parse(&added), of(None, ID));
        let first = LINE.replace("view=40.43 db=15.26", &format!("request_id={ID}"));
        assert_eq!(parse(&first), of(None, ID));
        let other = format!("{LINE} parent_request_id={ID}");
        assert_eq!(parse(&other), of(None, ""));
        let counted = LINE.replace(" duration", " allocations=133182 duration");
        assert_eq!(parse(&counted), of(None, ""));
    }

    #[test]
    fn values_from_clients_are_not_fields() {
        let error = LINE.replace(
            "status=200 duration=58.33 view=40.43 db=15.26",
            "status=404 error='ActiveRecord::RecordNotFound: no 'id'=x' duration=1.00 status=200' duration=3.57 view=0.00",
        );
        let found = parse(&error).expect("a request");
        assert_eq!((found.2, found.3), (404, Some(3_570_000)));
        let counted = error.replace("' duration=3.57", "' allocations=52 duration=3.57");
        let found = parse(&counted).expect("a request");
        assert_eq!((found.2, found.3), (404, Some(3_570_000)));
        let agent = format!("{LINE} user_agent=x duration=9.99 status=500 method=PUT path=/no");
        let found = parse(&agent).expect("a request");
        assert_eq!((found.2, found.3), (200, Some(58_330_000)));
    }

    #[test]
    fn other_messages_are_skipped_and_reported() {
        let mut reader = Lograge::default();
        let mut kind = |line: &str| reader.line(line.as_bytes(), &mut |_| {});
        assert_eq!(kind(LINE), LineKind::Entry);
        assert_eq!(kind("Processing by A#b as HTML"), LineKind::Other);
        assert_eq!(
            kind(
                "method= path= format= controller=ApplicationCable::Connection action=connect status=200 duration=0.10"
            ),
            LineKind::Malformed
        );
        assert_eq!(kind(&LINE[..60]), LineKind::Malformed);
        assert_eq!(
            kind(LINE.split_once("3 view").unwrap().0),
            LineKind::Malformed
        );
        assert_eq!(
            reader.advice(),
            [LogAdvice::ApplicationMessages { lines: 1 }]
        );
    }

    #[test]
    fn lines_of_herokus_router_are_not_malformed() {
        const AT: &str = "2026-05-01T10:00:00.123456+00:00 heroku[router]: ";
        const REST: &str = "method=GET path=\"/jobs/1.json?a=method=GET path=/x\" host=app.example.org request_id=5a1b2c3d-0af7-6519-16cd-43dd8448eb21 \
                            fwd=\"203.0.113.9\" dyno=web.1 connect=0ms service=18ms status=200 bytes=1234 protocol=https";
        let mut reader = Lograge::default();
        let mut kind = |line: &str| reader.line(line.as_bytes(), &mut |_| {});
        let failed = "at=error code=H12 desc=\"Request timeout\" ";
        for line in [
            format!("{AT}at=info {REST}"),
            format!("{AT}{failed}{REST}"),
            format!("<158>1 2026-05-01T10:00:00+00:00 host heroku router - at=info {REST}"),
        ] {
            assert_eq!(kind(&line), LineKind::Other, "{line}");
        }
        assert_eq!(kind(LINE), LineKind::Entry);
        // A client's path does not turn the line into a line of the router.
        let odd = LINE.replace(
            "path=/jobs/833552.json",
            "path=/?at=info&\"path=\"&host=&dyno=&service=",
        );
        assert_eq!(kind(&odd), LineKind::Entry);
        assert_eq!(reader.advice(), [LogAdvice::RouterLines { lines: 3 }]);
    }

    proptest! {
        #[test]
        fn any_line_does_no_harm(line in "(method=|path=| |/a|format=|status=200|error='|' duration=|duration=|[0-9.]{0,25}|\\PC){0,40}") {
            parse(&line);
        }
    }
}
