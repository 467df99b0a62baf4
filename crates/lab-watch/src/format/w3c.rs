// SPDX-License-Identifier: Apache-2.0
//! The extended log format of the W3C, as IIS and CloudFront write it: a line `#Fields:` says what the others hold.
//! Times are UTC.
//!
//! Source: W3C WD-logfile-960323; IIS 10, *W3C logging*; CloudFront, *standard logging*.

use crate::entry::{Entry, LineKind};
use crate::time::{Zone, iso, number, scaled};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum W3cField {
    Skip,
    Date,
    Time,
    Method,
    Stem,
    Status,
    Bytes,
    Agent,
    Duration,
}

/// A reader of such lines.
#[derive(Clone, Debug, Default)]
pub struct W3c {
    /// For the hours of the day.
    pub zone: Zone,
    fields: Vec<W3cField>,
}

impl W3c {
    /// One whose fields are still to come.
    pub fn new(zone: Zone) -> W3c {
        W3c {
            zone,
            fields: Vec::new(),
        }
    }

    /// Whether its fields hold a duration.
    pub fn has_durations(&self) -> bool {
        self.fields.contains(&W3cField::Duration)
    }

    /// Reads a line; an entry is given to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if line.first() == Some(&b'#') {
            if let Some(names) = line.strip_prefix(b"#Fields:") {
                self.fields = words(names).map(field).collect();
            }
            return LineKind::Other;
        }
        match self.parse(line) {
            Some(entry) => {
                sink(&entry);
                LineKind::Entry
            }
            None => LineKind::Malformed,
        }
    }

    fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let mut entry = Entry::default();
        let (mut date, mut time): (&[u8], &[u8]) = (b"", b"");
        let mut count = 0;
        for (field, word) in self.fields.iter().zip(words(line)) {
            count += 1;
            match field {
                W3cField::Skip => {}
                W3cField::Date => date = word,
                W3cField::Time => time = word,
                W3cField::Method => entry.method = word,
                W3cField::Stem => entry.target = word,
                W3cField::Status => {
                    entry.status = number(word).filter(|s| *s < 1000).unwrap_or(0) as u16
                }
                W3cField::Bytes => entry.bytes = number(word).unwrap_or(0),
                W3cField::Agent => entry.agent = word,
                // IIS writes ms, CloudFront s with a fraction.
                W3cField::Duration => {
                    let scale = if word.contains(&b'.') {
                        1_000_000_000
                    } else {
                        1_000_000
                    };
                    entry.duration_ns = scaled(word, scale);
                }
            }
        }
        if count < self.fields.len() || entry.target.is_empty() {
            return None;
        }
        if !date.is_empty() {
            let mut text = [b' '; 19];
            text[..10].copy_from_slice(date.get(..10)?);
            text[11..].copy_from_slice(time.get(..8)?);
            let utc = iso(&text)?.0;
            entry.time_s = Some(utc);
            entry.offset_s = self.zone.offset_at(utc);
        }
        Some(entry)
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| matches!(b, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

fn field(name: &[u8]) -> W3cField {
    match name {
        b"date" => W3cField::Date,
        b"time" => W3cField::Time,
        b"cs-method" => W3cField::Method,
        b"cs-uri-stem" | b"cs-uri" => W3cField::Stem,
        b"sc-status" => W3cField::Status,
        b"sc-bytes" => W3cField::Bytes,
        b"cs(User-Agent)" => W3cField::Agent,
        b"time-taken" => W3cField::Duration,
        _ => W3cField::Skip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_that_are_named() {
        let mut w3c = W3c::default();
        let mut entries = Vec::new();
        let mut sink =
            |e: &Entry| entries.push((e.time_s, e.duration_ns, e.status, e.target.to_vec()));
        assert_eq!(
            w3c.line(
                b"#Software: Microsoft Internet Information Services 10.0",
                &mut sink
            ),
            LineKind::Other
        );
        w3c.line(b"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken", &mut sink);
        let line = b"2026-05-01 10:00:00 10.0.0.1 GET /default.htm - 80 - 10.0.0.2 Mozilla/5.0+(X) - 200 0 0 78";
        assert_eq!(w3c.line(line, &mut sink), LineKind::Entry);
        assert_eq!(
            w3c.line(b"2026-05-01 10:00:00 10.0.0.1 GET", &mut sink),
            LineKind::Malformed
        );
        assert!(w3c.has_durations());
        assert_eq!(
            entries,
            [(
                Some(1_777_629_600),
                Some(78_000_000),
                200,
                b"/default.htm".to_vec()
            )]
        );
    }
}
