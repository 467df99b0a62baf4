// SPDX-License-Identifier: Apache-2.0
//! Parses HAProxy's HTTP log, and recognizes its TCP log and the messages about HAProxy itself.
//!
//! `… haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- … "GET / HTTP/1.1"`
//!
//! Source: HAProxy configuration manual 2.8, 8.2.3.

use super::combined::method_and_target;
use super::units::TimedCount;
use super::{connection_advice, give_entry};
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, clf, number};
use lab_model::{LogAdvice, LogAssumption};
use memchr::memchr;

/// A parser of HAProxy lines. The timestamps of these lines come from the server's clock and have
/// no offset.
#[derive(Clone, Debug, Default)]
pub struct HaProxy {
    /// The server's time zone.
    pub zone: Zone,
    /// The number of lines that were written before the end of their responses.
    early: u64,
    timed: TimedCount,
    /// The number of lines about connections without a request.
    connections: u64,
    /// The number of HAProxy's other messages.
    messages: u64,
}

/// A line that does not describe a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherLine {
    /// A line of the TCP log, or an error before the first request.
    Connection,
    /// A message about HAProxy itself.
    Message,
}

impl HaProxy {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> HaProxy {
        HaProxy {
            zone,
            ..HaProxy::default()
        }
    }

    /// Parses a line and passes its entry to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let entry = self.parse(line);
        match OtherLine::find(line).filter(|_| entry.is_none()) {
            Some(OtherLine::Connection) => self.connections += 1,
            Some(OtherLine::Message) => self.messages += 1,
            None => return give_entry(entry, line, sink),
        }
        LineKind::Other
    }

    /// Returns advice about skipped lines and missing durations.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = connection_advice(self.connections);
        advice.extend(self.timed.advice("Ta"));
        let lines = self.messages;
        advice.extend((lines > 0).then_some(LogAdvice::ServerMessages { lines }));
        advice
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let has_early = self.early > 0;
        has_early
            .then_some(LogAssumption::LowerBounds)
            .into_iter()
            .collect()
    }

    /// Parses a line. Returns `None` if it is malformed.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        // The process ID is in brackets, too.
        let client = memchr::memmem::find(line, b"]: ").map_or(line, |end| &line[end + 3..]);
        // A client's IPv6 address can be in brackets.
        let mut opens = memchr::memchr_iter(b'[', client);
        let (rest, local) = opens.find_map(|open| {
            let rest = &client[open + 1..];
            Some((rest, clf(rest)?))
        })?;
        let close = memchr(b']', rest)?;
        // Quotation marks in the request are written as #22. A truncated line lacks the closing
        // quotation mark.
        let begin = close + memchr(b'"', &rest[close..])?;
        let request = &rest[begin + 1..];
        let request = &request[..memchr(b'"', request).unwrap_or(request.len())];
        let mut words = rest
            .get(close + 1..begin)?
            .split(|b| *b == b' ')
            .filter(|w| !w.is_empty());
        let timers = words.nth(2)?;
        if timers.iter().filter(|b| **b == b'/').count() != 4 {
            return None;
        }
        let total = timers.rsplit(|b| *b == b'/').next()?;
        let early = total.strip_prefix(b"+");
        let total = early.unwrap_or(total);
        let status = words.next()?;
        let bytes = words.next()?;
        let bytes = bytes.strip_prefix(b"+").unwrap_or(bytes);
        let (method, target) = method_and_target(request);
        self.early += u64::from(early.is_some());
        // HAProxy writes -1 if the request ended early.
        let duration_ns = number(total).and_then(|ms| ms.checked_mul(1_000_000));
        self.timed.add(duration_ns);
        let offset_s = self.zone.offset_of_local(local);
        Some(Entry {
            time_s: Some(local - i64::from(offset_s)),
            offset_s,
            duration_ns,
            method,
            target,
            status: number(status).filter(|s| *s < 1000).unwrap_or(0) as u16,
            bytes: number(bytes).unwrap_or(0),
            ..Entry::default()
        })
    }
}

impl OtherLine {
    /// Recognizes a line that does not describe a request.
    ///
    /// Sources: HAProxy configuration manual 2.8, 8.2.2 (TCP) and 8.2.5 (errors); `src/server.c`,
    /// `src/proxy.c`.
    pub fn find(line: &[u8]) -> Option<OtherLine> {
        const NOTICES: [&[u8]; 5] = [
            b"[NOTICE] ",
            b"[WARNING] ",
            b"[ALERT] ",
            b"[EMERG] ",
            b"[DEBUG] ",
        ];
        const MESSAGES: [&[u8]; 10] = [
            b"Server ",
            b"Backup Server ",
            b"Health check for ",
            b"Proxy ",
            b"Pausing ",
            b"Stopping ",
            b"Resuming ",
            b"backend ",
            b"proxy ",
            b"Connect from ",
        ];
        if NOTICES.iter().any(|notice| line.starts_with(notice)) {
            return Some(OtherLine::Message);
        }
        let behind_syslog = syslog_text(line);
        let text = behind_syslog.unwrap_or(line);
        if text.starts_with(b"Connect from ") {
            return Some(OtherLine::Connection);
        }
        if let Some(is_connection) = is_connection(text) {
            return is_connection.then_some(OtherLine::Connection);
        }
        let is_message = MESSAGES.iter().any(|message| text.starts_with(message));
        let is_other = is_message || behind_syslog.is_some() && !begins_with_address(text);
        is_other.then_some(OtherLine::Message)
    }
}

/// Returns true if the first word contains only characters of IP addresses, as in a line about a
/// request, which begins with the client's address.
///
/// Returns true for an empty text.
fn begins_with_address(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.' | b'[' | b']');
    let mut word = text
        .split(|byte| *byte == b' ')
        .next()
        .unwrap_or_default()
        .iter();
    word.all(is_part)
}

/// Returns the text after `haproxy[1]: `.
fn syslog_text(line: &[u8]) -> Option<&[u8]> {
    let begin = &line[..line.len().min(256)];
    let name = memchr::memmem::find(begin, b"haproxy[")?;
    let length = memchr::memmem::find(&line[name..], b"]: ").filter(|length| *length < 24)?;
    Some(&line[name + length + 3..])
}

/// Returns true for a connection without a request. Returns `None` if the text does not begin with
/// an address and a time.
fn is_connection(text: &[u8]) -> Option<bool> {
    let mut opens = memchr::memchr_iter(b'[', &text[..text.len().min(128)]);
    let rest = opens.find_map(|open| {
        let rest = &text[open + 1..];
        clf(rest).map(|_| rest)
    })?;
    let close = memchr(b']', rest)?;
    let words = rest[close + 1..].split(|b| *b == b' ');
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).take(6).collect();
    let is_error = words
        .first()
        .is_some_and(|frontend| frontend.ends_with(b":"));
    let is_timer = |word: &&[u8]| {
        let mut parts = word.split(|b| *b == b'/');
        parts.clone().count() == 3
            && parts.all(|part| {
                let part = part.strip_prefix(b"+").unwrap_or(part);
                part == b"-1" || number(part).is_some()
            })
    };
    // Two characters for the state of the end instead of HTTP's four, and no cookies.
    let is_tcp =
        words.get(2).is_some_and(is_timer) && words.get(4).is_some_and(|state| state.len() == 2);
    Some(is_error || is_tcp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_example_is_read() {
        let line = br#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1""#;
        let entry = HaProxy::default().parse(line).expect("an entry");
        assert_eq!(entry.time_s, Some(1_233_922_454));
        assert_eq!(entry.duration_ns, Some(109_000_000));
        assert_eq!(
            (entry.status, entry.bytes, entry.target),
            (200, 2750, &b"/index.html"[..])
        );
        let text = String::from_utf8_lossy(line).replace("10.0.1.2:", "[::1]:");
        let entry = HaProxy::default().parse(text.as_bytes()).expect("IPv6");
        assert_eq!(entry.time_s, Some(1_233_922_454));
        let cut = &line[..line.len() - 11];
        let entry = HaProxy::default()
            .parse(cut)
            .expect("a line that was cut off");
        assert_eq!(
            (entry.target, entry.duration_ns),
            (&b"/index.htm"[..], Some(109_000_000))
        );
        assert_eq!(
            HaProxy::default().parse(b"x [06/Feb/2009:12:14:14.655] \"\""),
            None
        );
    }

    #[test]
    fn connections_and_messages_are_not_requests() {
        let kind = |text: &str| {
            let mut haproxy = HaProxy::default();
            let kind = haproxy.line(text.as_bytes(), &mut |_| panic!("{text}"));
            (kind, haproxy.advice())
        };
        let connection = vec![LogAdvice::ConnectionLines { lines: 1 }];
        let message = vec![LogAdvice::ServerMessages { lines: 1 }];
        let client = "10.0.1.2:33313 [06/Feb/2009:12:12:51.443]";
        for (text, advice) in [
            (
                format!("{client} fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0"),
                &connection,
            ),
            (
                format!("{client} fnt bck/<NOSRV> -1/-1/+5007 +212 SC 0/0/0/0/3 0/0"),
                &connection,
            ),
            (format!("{client} in/1: SSL handshake failure"), &connection),
            (
                "Connect from 10.0.1.2:33312 to 10.0.3.31:8012 (www/HTTP)".into(),
                &connection,
            ),
            (
                "Server b/s is DOWN, reason: Layer4 timeout".into(),
                &message,
            ),
            ("Proxy http-in started.".into(), &message),
            ("backend b has no server available!".into(), &message),
        ] {
            for head in [
                "",
                "Feb  6 12:12:56 localhost haproxy[14387]: ",
                "<134>haproxy[1]: ",
            ] {
                let expected = (LineKind::Other, advice.clone());
                assert_eq!(kind(&format!("{head}{text}")), expected, "{head}{text}");
            }
        }
        let message = |text| kind(text).1 == message;
        assert!(message("[WARNING]  (8) : Server b/s is UP."));
        assert!(message(
            "Feb  6 12:12:56 lb haproxy[1]: reloading the configuration"
        ));
        for malformed in [
            "<134>haproxy[1]: 10.0.1.2:33313 [06/Feb/20".to_owned(),
            "<134>haproxy[1]: fe80::1:333".to_owned(),
            format!("haproxy[1]: {client} in static/srv1 10/0/30/69/109 200 2750 - - ----"),
            format!("haproxy[1]: {client} in static/srv1 10/0"),
            "x".into(),
        ] {
            assert_eq!(
                kind(&malformed),
                (LineKind::Malformed, vec![]),
                "{malformed}"
            );
        }
    }

    #[test]
    fn durations_logged_early_are_reported() {
        let line = r#"haproxy[1]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] in static/srv1 10/0/30/69/TOTAL 200 +2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1""#;
        let mut haproxy = HaProxy::default();
        haproxy.parse(line.replace("TOTAL", "109").as_bytes());
        assert_eq!(haproxy.assumptions(), []);
        let early = line.replace("TOTAL", "+109");
        let entry = haproxy.parse(early.as_bytes()).expect("an entry");
        assert_eq!(entry.duration_ns, Some(109_000_000));
        assert_eq!(haproxy.assumptions(), [LogAssumption::LowerBounds]);
        assert_eq!(haproxy.advice(), []);
        let mut haproxy = HaProxy::default();
        haproxy.parse(line.replace("TOTAL", "-1").as_bytes());
        let field = "Ta".into();
        assert_eq!(haproxy.advice(), [LogAdvice::NoDurationValues { field }]);
    }
}
