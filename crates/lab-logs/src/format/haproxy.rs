// SPDX-License-Identifier: Apache-2.0
//! Parses HAProxy's HTTP log.
//!
//! `… haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- … "GET / HTTP/1.1"`
//!
//! Source: HAProxy configuration manual 2.8, 8.2.3.

use super::combined::method_and_target;
use super::units::TimedCount;
use crate::entry::Entry;
use crate::time::{Zone, clf, number};
use lab_model::{LogAdvice, LogAssumption};
use memchr::memchr;

/// A parser of HAProxy lines. The times of these lines come from the server's clock and have no
/// offset.
#[derive(Clone, Debug, Default)]
pub struct HaProxy {
    /// The server's time zone.
    pub zone: Zone,
    /// The number of lines that were written before the end of their responses.
    early: u64,
    timed: TimedCount,
}

impl HaProxy {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> HaProxy {
        HaProxy {
            zone,
            ..HaProxy::default()
        }
    }

    /// Returns assumptions about the lines so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let has_early = self.early > 0;
        has_early
            .then_some(LogAssumption::LowerBounds)
            .into_iter()
            .collect()
    }

    /// Returns advice about missing durations.
    pub fn advice(&self) -> Vec<LogAdvice> {
        self.timed.advice("Ta").into_iter().collect()
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
