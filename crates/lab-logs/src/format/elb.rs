// SPDX-License-Identifier: Apache-2.0
//! Parses the access logs of Amazon's load balancers (Application and Classic Load Balancer).
//!
//! `http 2018-07-02T22:23:00.186641Z app/lb/50dc 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://h:80/ HTTP/1.1" "curl/7.46.0" …`
//!
//! Source: Elastic Load Balancing, *access logs for your Application Load Balancer*, *… Classic
//! Load Balancer*.

use super::combined::{fields, method_and_target};
use super::units::TimedCount;
use super::{connection_advice, give_entry};
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, iso, number, scaled};
use lab_model::LogAdvice;

/// A parser of load balancer lines.
#[derive(Clone, Debug, Default)]
pub struct LoadBalancer {
    /// The time zone for determining a request's hour of the day.
    pub zone: Zone,
    /// The number of lines that describe TCP connections.
    connections: u64,
    timed: TimedCount,
}

impl LoadBalancer {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> LoadBalancer {
        LoadBalancer {
            zone,
            ..LoadBalancer::default()
        }
    }

    /// Parses a line and passes its entry to `sink`.
    ///
    /// A TCP listener of a Classic Load Balancer writes `- - - ` instead of a request.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        match self.parse(line) {
            Some(entry) if entry.target.trim_ascii() == b"- - -" => {
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
        advice.extend(self.timed.advice("target_processing_time"));
        advice
    }

    /// Parses a line. Returns `None` if it is malformed.
    ///
    /// The duration is the target's processing time. In the log, -1 means that no target responded.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let mut words = fields(line);
        let mut time = words.next()?;
        if matches!(time, b"http" | b"https" | b"h2" | b"grpcs" | b"ws" | b"wss") {
            time = words.next()?;
        }
        let (local, offset) = iso(time)?;
        let time_s = local - i64::from(offset?);
        // Skip the name, the client and the target.
        let times = [words.nth(3)?, words.next()?, words.next()?];
        let is_time = |text: &&[u8]| **text == b"-1"[..] || scaled(text, 1_000_000).is_some();
        if !times.iter().all(is_time) {
            return None;
        }
        let status = words.next()?;
        let (_target_status, _received, sent) = (words.next()?, words.next()?, words.next()?);
        let (method, target) = method_and_target(words.next()?);
        Some(Entry {
            time_s: Some(time_s),
            offset_s: self.zone.offset_at(time_s),
            duration_ns: scaled(times[1], 1_000_000_000),
            method,
            target,
            status: number(status).filter(|s| *s < 1000).unwrap_or(0) as u16,
            bytes: number(sent)?,
            agent: words.next().unwrap_or_default(),
            ..Entry::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_kinds_are_read() {
        let application = r#"h2 2026-05-01T10:00:00.186641Z app/lb/50dc 192.0.2.39:2817 10.0.0.1:80 0.006 1.500 0.000 502 - 34 366 "GET https://h:443/a?b HTTP/2.0" "curl \"x\"" - - arn "Root=1""#;
        let classic = r#"2026-05-01T10:00:00.186641Z lb 192.0.2.39:2817 10.0.0.1:80 0.006 1.500 0.000 502 502 34 366 "GET https://h:443/a?b HTTP/1.1" "curl" - -"#;
        for line in [application, classic] {
            let entry = LoadBalancer::default()
                .parse(line.as_bytes())
                .expect("an entry");
            assert_eq!(
                (entry.time_s, entry.status, entry.bytes),
                (Some(1_777_629_600), 502, 366)
            );
            assert_eq!(entry.duration_ns, Some(1_500_000_000));
            assert_eq!(entry.target, b"https://h:443/a?b");
        }
        let refused = r#"http 2026-05-01T10:00:00.000000Z app/lb/5 192.0.2.9:62 - -1 -1 -1 460 - 0 0 "- http://h:80- -" "-" - -"#;
        let entry = LoadBalancer::default()
            .parse(refused.as_bytes())
            .expect("an entry");
        assert_eq!((entry.duration_ns, entry.status), (None, 460));
        let connection = r#"2026-05-01T10:00:00.945958Z lb 192.0.2.39:2817 10.0.0.1:80 0.001 0.000 0.000 - - 82 305 "- - - " "-" - -"#;
        let mut balancer = LoadBalancer::default();
        let kind = balancer.line(connection.as_bytes(), &mut |entry| panic!("{entry:?}"));
        assert_eq!(kind, LineKind::Other);
        assert_eq!(balancer.advice(), [LogAdvice::ConnectionLines { lines: 1 }]);
        let mut balancer = LoadBalancer::default();
        balancer.line(refused.as_bytes(), &mut |_| {});
        let field = "target_processing_time".into();
        assert_eq!(balancer.advice(), [LogAdvice::NoDurationValues { field }]);
        balancer.line(application.as_bytes(), &mut |_| {});
        assert_eq!(balancer.advice(), []);
        for bad in [
            "",
            "http",
            "http 2026-05-01T10:00:00Z a b c 1 2 x 200 200 1 1 \"GET /\"",
        ] {
            assert_eq!(LoadBalancer::default().parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
