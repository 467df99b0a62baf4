// SPDX-License-Identifier: Apache-2.0
//! Parses the default access logs of Envoy and Istio. Istio's lines have more fields.
//!
//! `[2016-04-15T20:17:00.310Z] "POST /a HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "host" "tcp://…"`
//!
//! Source: Envoy, *access logging*, default format; Istio, *Envoy access logs*.

use super::combined::{fields, method_and_target, quoted};
use super::units::TimedCount;
use super::{connection_advice, give_entry};
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, iso, number};
use lab_model::LogAdvice;

/// A parser of Envoy lines.
#[derive(Clone, Debug, Default)]
pub struct Envoy {
    /// The time zone for determining a request's hour of the day.
    pub zone: Zone,
    /// The number of lines that describe TCP connections.
    connections: u64,
    timed: TimedCount,
}

impl Envoy {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> Envoy {
        Envoy {
            zone,
            ..Envoy::default()
        }
    }

    /// Parses a line and passes its entry to `sink`.
    ///
    /// A line about a TCP connection has no entry, because the connection's duration is not the
    /// duration of a request.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        match self.parse(line) {
            Some(entry) if entry.target == b"- - -" && entry.status == 0 => {
                self.connections += 1;
                LineKind::Other
            }
            entry => {
                if let Some(entry) = &entry {
                    self.timed.add(entry.duration_ns);
                }
                give_entry(entry, line, sink)
            }
        }
    }

    /// Returns advice about skipped lines and missing durations.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = connection_advice(self.connections);
        advice.extend(self.timed.advice("%DURATION%"));
        advice
    }

    /// Parses a line. Returns `None` if it is malformed.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let rest = line.strip_prefix(b"[")?;
        let close = memchr::memchr(b']', rest)?;
        let (local, offset) = iso(&rest[..close])?;
        let (request, rest) = quoted(rest[close + 1..].strip_prefix(b" \"")?)?;
        let mut words = fields(rest);
        let status = words.next()?;
        // Flags, and in Istio details, precede the bytes received, the bytes sent and the duration
        // in ms.
        let words: Vec<&[u8]> = words.collect();
        let at = words
            .windows(3)
            .position(|w| w.iter().all(|word| number(word).is_some()))?;
        let offset_s = offset.unwrap_or_else(|| self.zone.offset_of_local(local));
        let (method, target) = method_and_target(request);
        let time_s = local - i64::from(offset_s);
        Some(Entry {
            time_s: Some(time_s),
            offset_s: if offset == Some(0) {
                self.zone.offset_at(time_s)
            } else {
                offset_s
            },
            duration_ns: number(words[at + 2]).and_then(|ms| ms.checked_mul(1_000_000)),
            method,
            target,
            status: number(status).filter(|s| *s < 1000)? as u16,
            bytes: number(words[at + 1]).unwrap_or(0),
            // The agent follows the upstream's time and the client's addresses.
            agent: words.get(at + 5).copied().unwrap_or_default(),
            ..Entry::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_envoy_and_istio_are_read() {
        for line in [
            r#"[2026-05-01T10:00:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 7 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80""#,
            r#"[2026-05-01T10:00:00.310Z] "POST /api/v1/locations HTTP/1.1" 204 - via_upstream - "-" 154 7 226 225 "-" "nsq2http" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| - 10.0.0.1:8000 -"#,
        ] {
            let entry = Envoy::default().parse(line.as_bytes()).expect("an entry");
            assert_eq!(
                (entry.time_s, entry.status, entry.bytes),
                (Some(1_777_629_600), 204, 7)
            );
            assert_eq!(entry.duration_ns, Some(226_000_000));
            assert_eq!(
                (entry.target, entry.agent),
                (&b"/api/v1/locations"[..], &b"nsq2http"[..])
            );
        }
        let connection = r#"[2026-05-01T10:00:00.000Z] "- - -" 0 - - - "-" 1054 3265 500000 - "-" "-" "-" "-" "142.250.1.1:443" PassthroughCluster 10.0.0.1:50000 142.250.1.1:443 10.0.0.1:49998 - -"#;
        let mut envoy = Envoy::default();
        let mut refuse = |entry: &Entry| panic!("{entry:?}");
        let kind = envoy.line(connection.as_bytes(), &mut refuse);
        assert_eq!(kind, LineKind::Other);
        assert_eq!(envoy.advice(), [LogAdvice::ConnectionLines { lines: 1 }]);
        for bad in [
            "",
            "[",
            "[2026-05-01T10:00:00Z] \"GET / HTTP/1.1\" 200 - 1 2",
            "[x] \"GET /\" 200",
        ] {
            assert_eq!(Envoy::default().parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
