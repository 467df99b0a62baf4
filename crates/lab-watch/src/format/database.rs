// SPDX-License-Identifier: Apache-2.0
//! Logs of databases, in which a statement can have several lines: PostgreSQL's log with durations, and the slow query
//! log of MariaDB and MySQL.
//!
//! Source: PostgreSQL 15, 20.8; MariaDB, *slow query log overview*.

use crate::entry::{Entry, LineKind};
use crate::time::{Zone, iso, number, offset, scaled};
use memchr::memmem::find;

/// Bytes of a statement that are kept.
const LONGEST: usize = 4096;

/// A statement whose last line may be still to come.
#[derive(Clone, Debug, Default)]
struct Pending {
    is_open: bool,
    time_s: Option<i64>,
    offset_s: i32,
    duration_ns: Option<u64>,
    is_failed: bool,
    text: Vec<u8>,
}

impl Pending {
    fn push(&mut self, text: &[u8]) {
        let room = LONGEST.saturating_sub(self.text.len());
        self.text.extend(&text[..text.len().min(room)]);
    }

    /// Gives the statement to `sink`, if there is one.
    fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        let text = self.text.trim_ascii();
        if self.is_open && !text.is_empty() {
            sink(&Entry {
                time_s: self.time_s,
                offset_s: self.offset_s,
                duration_ns: self.duration_ns,
                target: text,
                is_query: true,
                status: if self.is_failed { 500 } else { 200 },
                ..Entry::default()
            });
        }
        self.is_open = false;
        self.text.clear();
    }
}

/// A reader of PostgreSQL's log.
#[derive(Clone, Debug, Default)]
pub struct PostgresqlLog {
    /// For times whose zone is written as a word.
    pub zone: Zone,
    pending: Pending,
}

impl PostgresqlLog {
    /// One with nothing read yet.
    pub fn new(zone: Zone) -> PostgresqlLog {
        PostgresqlLog {
            zone,
            ..PostgresqlLog::default()
        }
    }

    /// Reads a line; an entry that is complete is given to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let Some((local, offset)) = leading_time(line) else {
            if line.first() == Some(&b'\t') || self.pending.is_open {
                self.pending.push(b" ");
                self.pending.push(line);
                return LineKind::Other;
            }
            return if line.is_empty() {
                LineKind::Other
            } else {
                LineKind::Malformed
            };
        };
        self.pending.end(sink);
        if let Some(begin) = find(line, b"LOG:  duration: ") {
            let rest = &line[begin + 16..];
            let Some(end) = find(rest, b" ms") else {
                return LineKind::Malformed;
            };
            let after_duration = &rest[end + 3..];
            let Some(duration) = scaled(&rest[..end], 1_000_000) else {
                return LineKind::Malformed;
            };
            // Of `log_duration` alone the statement is not known.
            let Some(colon) = find(after_duration, b": ") else {
                return LineKind::Other;
            };
            let parts = [&b"  parse "[..], b"  bind "];
            let part = parts.iter().find(|part| after_duration.starts_with(part));
            self.pending.duration_ns = Some(duration);
            self.pending.is_failed = false;
            if let Some(part) = part {
                self.pending.push(part.trim_ascii());
                self.pending.push(b": ");
            }
            self.pending.push(&after_duration[colon + 2..]);
        } else if let Some(begin) = find(line, b"STATEMENT:  ") {
            self.pending.duration_ns = None;
            self.pending.is_failed = true;
            self.pending.push(&line[begin + 12..]);
        } else {
            return LineKind::Other;
        }
        self.pending.is_open = true;
        let offset = offset.unwrap_or_else(|| self.zone.offset_of_local(local));
        self.pending.time_s = Some(local - i64::from(offset));
        self.pending.offset_s = offset;
        LineKind::Entry
    }

    /// The last statement.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        self.pending.end(sink);
    }
}

/// The time at the beginning of a line, and its offset where there is one.
fn leading_time(line: &[u8]) -> Option<(i64, Option<i32>)> {
    let (local, _) = iso(line.get(..19)?)?;
    let mut words = line[19..].split(|b| *b == b' ');
    let fraction = words.next()?;
    if !fraction.is_empty() && fraction[0] != b'.' {
        return None;
    }
    Some((local, offset(words.next()?)))
}

/// A reader of the slow query log.
#[derive(Clone, Debug, Default)]
pub struct SlowLog {
    /// For times without an offset.
    pub zone: Zone,
    pending: Pending,
    /// Of the last `# Time:`, which several statements can share.
    time_s: Option<i64>,
}

impl SlowLog {
    /// One with nothing read yet.
    pub fn new(zone: Zone) -> SlowLog {
        SlowLog {
            zone,
            ..SlowLog::default()
        }
    }

    /// Reads a line; an entry that is complete is given to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        let Some(header) = line.strip_prefix(b"#") else {
            return self.statement(line);
        };
        if self.pending.is_open && !self.pending.text.is_empty() {
            self.pending.end(sink);
        }
        if let Some(time) = header.strip_prefix(b" Time: ") {
            self.time_s = self.time(time.trim_ascii());
        } else if let Some(begin) = find(header, b"Query_time: ") {
            let digits = &header[begin + 12..];
            let end = digits
                .iter()
                .position(|b| *b == b' ')
                .unwrap_or(digits.len());
            self.pending.duration_ns = scaled(&digits[..end], 1_000_000_000);
            self.pending.is_open = true;
            self.pending.time_s = self.time_s;
            self.pending.offset_s = self.time_s.map_or(0, |t| self.zone.offset_at(t));
            return LineKind::Entry;
        }
        LineKind::Other
    }

    fn statement(&mut self, line: &[u8]) -> LineKind {
        let stamp = line.strip_prefix(b"SET timestamp=");
        if let Some(time) = stamp.and_then(|rest| number(rest.strip_suffix(b";")?)) {
            let time = i64::try_from(time).ok().filter(|t| *t < 1 << 40);
            self.pending.time_s = time.or(self.pending.time_s);
            self.pending.offset_s = self.pending.time_s.map_or(0, |t| self.zone.offset_at(t));
        } else if self.pending.is_open && !line.starts_with(b"use ") {
            self.pending.push(line);
            self.pending.push(b" ");
        }
        LineKind::Other
    }

    /// `260501 10:00:00`, `260501  9:00:00`, `2026-05-01T10:00:00.123456Z`.
    fn time(&mut self, text: &[u8]) -> Option<i64> {
        if let Some((local, offset)) = iso(text) {
            return Some(
                local - i64::from(offset.unwrap_or_else(|| self.zone.offset_of_local(local))),
            );
        }
        let (date, clock) = (text.get(..6)?, text.get(6..)?.trim_ascii());
        let text = format!(
            "20{}-{}-{} {:0>8}",
            std::str::from_utf8(&date[..2]).ok()?,
            std::str::from_utf8(&date[2..4]).ok()?,
            std::str::from_utf8(&date[4..]).ok()?,
            std::str::from_utf8(clock).ok()?
        );
        let (local, _) = iso(text.as_bytes())?;
        Some(local - i64::from(self.zone.offset_of_local(local)))
    }

    /// The last statement.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        self.pending.end(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entries = Vec<(Option<i64>, Option<u64>, u16, String)>;

    fn push(entries: &mut Entries, e: &Entry) {
        let text = String::from_utf8_lossy(e.target).into_owned();
        entries.push((e.time_s, e.duration_ns, e.status, text));
    }

    #[test]
    fn statements_of_postgresql_have_several_lines() {
        let log = "2026-05-01 10:00:00.123 UTC [77] me@db LOG:  duration: 12.345 ms  statement: SELECT *\n\tFROM t\n\
                   2026-05-01 10:00:01.000 UTC [77] me@db LOG:  duration: 0.5 ms  execute <unnamed>: UPDATE t SET a = $1\n\
                   2026-05-01 10:00:01.000 UTC [77] me@db DETAIL:  parameters: $1 = '5'\n\
                   2026-05-01 10:00:02.000 UTC [77] me@db LOG:  duration: 0.1 ms  bind s1: SELECT 1\n\
                   2026-05-01 10:00:03.000 UTC [77] me@db ERROR:  relation \"x\" does not exist\n\
                   2026-05-01 10:00:03.000 UTC [77] me@db STATEMENT:  SELECT * FROM x\n\
                   2026-05-01 10:00:04.000 UTC [78] LOG:  checkpoint starting: time\n";
        let (mut reader, mut entries) = (PostgresqlLog::default(), Vec::new());
        for line in log.lines() {
            assert_ne!(
                reader.line(line.as_bytes(), &mut |e: &Entry| push(&mut entries, e)),
                LineKind::Malformed
            );
        }
        reader.end(&mut |e: &Entry| push(&mut entries, e));
        let t = 1_777_629_600;
        assert_eq!(
            entries,
            [
                (Some(t), Some(12_345_000), 200, "SELECT * \tFROM t".into()),
                (
                    Some(t + 1),
                    Some(500_000),
                    200,
                    "UPDATE t SET a = $1".into()
                ),
                (Some(t + 2), Some(100_000), 200, "bind: SELECT 1".into()),
                (Some(t + 3), None, 500, "SELECT * FROM x".into()),
            ]
        );
    }

    #[test]
    fn statements_of_the_slow_log_are_read() {
        let log = "# Time: 260501 10:00:00\n# User@Host: root[root] @ localhost []\n# Thread_id: 9  Schema: db\n\
                   # Query_time: 0.250000  Lock_time: 0.000020  Rows_sent: 1\nuse db;\nSET timestamp=1777629599;\nSELECT a\nFROM t;\n\
                   # User@Host: root[root] @ localhost []\n# Query_time: 1.5  Lock_time: 0\nSELECT 2;\n";
        let (mut reader, mut entries) = (SlowLog::default(), Vec::new());
        for line in log.lines() {
            reader.line(line.as_bytes(), &mut |e: &Entry| push(&mut entries, e));
        }
        reader.end(&mut |e: &Entry| push(&mut entries, e));
        let t = 1_777_629_600;
        assert_eq!(
            entries,
            [
                (
                    Some(t - 1),
                    Some(250_000_000),
                    200,
                    "SELECT a FROM t;".into()
                ),
                (Some(t), Some(1_500_000_000), 200, "SELECT 2;".into()),
            ]
        );
    }
}
