// SPDX-License-Identifier: Apache-2.0
//! Parses the server access log of Amazon S3.
//!
//! `OWNER BUCKET [06/Feb/2019:00:00:38 +0000] 192.0.2.3 REQUESTER 3E57EXAMPLE REST.GET.OBJECT a/b "GET /a/b HTTP/1.1" 200 - 113 113 7 6 "-" "S3Console/0.4" - …`
//!
//! Source: Amazon Simple Storage Service User Guide, *Amazon S3 server access log format*.

use super::combined::method_and_target;
use super::units::TimedCount;
use crate::entry::{Entry, LineKind};
use crate::time::{Zone, clf, number, offset};
use lab_model::LogAdvice;
use memchr::memmem::find_iter;

const MS: u64 = 1_000_000;

/// A parser of S3 records.
#[derive(Clone, Debug, Default)]
pub struct S3 {
    /// The time zone for determining a request's hour of the day.
    pub zone: Zone,
    /// The number of S3's own operations, such as lifecycle expirations.
    others: u64,
    timed: TimedCount,
}

/// The fields after the key of an object.
struct Response<'l> {
    request: &'l [u8],
    status: &'l [u8],
    sent: &'l [u8],
    total: &'l [u8],
    agent: &'l [u8],
}

impl S3 {
    /// Creates a parser for a time zone.
    pub fn new(zone: Zone) -> S3 {
        S3 {
            zone,
            ..S3::default()
        }
    }

    /// Parses a line and passes its entry to `sink`.
    ///
    /// A record without a request does not come from a client.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if line.is_empty() {
            return LineKind::Other;
        }
        let Some((time_s, rest)) = behind_key(line) else {
            return LineKind::Malformed;
        };
        if rest == b"-" || rest.starts_with(b"- ") {
            self.others += 1;
            return LineKind::Other;
        }
        let Some(response) = response(rest) else {
            return LineKind::Malformed;
        };
        let (method, target) = method_and_target(response.request);
        let duration_ns = number(response.total).and_then(|ms| ms.checked_mul(MS));
        self.timed.add(duration_ns);
        sink(&Entry {
            time_s: Some(time_s),
            offset_s: self.zone.offset_at(time_s),
            duration_ns,
            method,
            target,
            status: number(response.status).unwrap_or(0) as u16,
            bytes: number(response.sent).unwrap_or(0),
            agent: response.agent,
            ..Entry::default()
        });
        LineKind::Entry
    }

    /// Returns true if a line is certainly an S3 record.
    pub fn is_record(line: &[u8]) -> bool {
        behind_key(line).is_some_and(|(_, rest)| {
            rest == b"-" || rest.starts_with(b"- ") || response(rest).is_some()
        })
    }

    /// Returns advice about skipped lines and missing durations.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let records = self.others;
        let skipped = (records > 0).then_some(LogAdvice::RecordsWithoutRequest { records });
        let missing = self.timed.advice("Total Time");
        skipped.into_iter().chain(missing).collect()
    }
}

/// Returns the time of a record, and the text after the object's key.
fn behind_key(line: &[u8]) -> Option<(i64, &[u8])> {
    let (owner, rest) = word(line)?;
    let (bucket, rest) = word(rest)?;
    let time = rest.strip_prefix(b"[")?;
    let local_s = clf(time)?;
    let offset_s = offset(time.get(21..26)?)?;
    let rest = time[26..].strip_prefix(b"] ")?;
    let (_address, rest) = word(rest)?;
    let (_requester, rest) = word(rest)?;
    let (request_id, rest) = word(rest)?;
    let (operation, rest) = word(rest)?;
    let (_key, rest) = word(rest)?;
    let is_operation = operation == b"-"
        || operation.contains(&b'.')
            && operation
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'));
    let is_plain = [owner, bucket, request_id]
        .iter()
        .all(|word| !word.is_empty() && !word.contains(&b'"'));
    (is_operation && is_plain).then_some((local_s - i64::from(offset_s), rest))
}

/// Parses the request line and the fields after it.
///
/// The request line can contain quotation marks. It ends where the numeric fields begin.
fn response(text: &[u8]) -> Option<Response<'_>> {
    let text = text.strip_prefix(b"\"")?;
    find_iter(text, b"\" ").find_map(|end| {
        let (status, rest) = word(&text[end + 2..])?;
        let (_error, rest) = word(rest)?;
        let (sent, rest) = word(rest)?;
        let (size, rest) = word(rest)?;
        let (total, rest) = word(rest)?;
        let (turn_around, rest) = word(rest)?;
        let is_figure = |text: &&[u8]| *text == b"-" || number(text).is_some();
        let fits = status == b"-" || (status.len() == 3 && number(status).is_some());
        let has_figures = [sent, size, total, turn_around].iter().all(is_figure);
        // Referer and agent.
        let rest = rest.strip_prefix(b"\"").filter(|_| fits && has_figures)?;
        let referer = find_iter(rest, b"\" \"").next();
        let agent = referer.map_or(&b""[..], |end| &rest[end + 3..]);
        let agent_end = find_iter(agent, b"\" ").next().unwrap_or(agent.len());
        Some(Response {
            request: &text[..end],
            status,
            sent,
            total,
            agent: &agent[..agent_end],
        })
    })
}

/// Splits `text` at the first blank.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = r#"79a59df900b949e5 bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e5 3E57427F3EXAMPLE REST.GET.OBJECT a/b "GET /a/b?versionId=x HTTP/1.1" 200 - 113 113 7 6 "-" "S3Console/0.4" - s9lz= SigV4 ECDHE AuthHeader bucket1.s3.us-west-1.amazonaws.com TLSV1.2 - Yes us-east-1"#;

    /// Request, status, bytes, duration and agent.
    type Found = (String, u16, u64, Option<u64>, String);

    fn read(line: &str) -> (LineKind, Vec<Found>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut found = Vec::new();
        let kind = S3::default().line(line.as_bytes(), &mut |e: &Entry| {
            assert_eq!(e.time_s, Some(1_549_411_238));
            let request = format!("{} {}", text(e.method), text(e.target));
            found.push((request, e.status, e.bytes, e.duration_ns, text(e.agent)));
        });
        (kind, found)
    }

    #[test]
    fn records_are_read_as_documented() {
        let request = "GET /a/b?versionId=x".to_string();
        let agent = "S3Console/0.4".to_string();
        let found = (request, 200, 113, Some(7_000_000), agent);
        assert_eq!(read(LINE), (LineKind::Entry, vec![found.clone()]));
        assert!(S3::is_record(LINE.as_bytes()));
        // Quotation marks, and a fake end of the request line.
        let hostile = LINE.replace("versionId=x", "a=\" 200 \"b\" 5 - 1 1 1 1 x");
        let (kind, all) = read(&hostile);
        assert_eq!(kind, LineKind::Entry);
        assert_eq!((all[0].1, all[0].3), (found.1, found.3));
        let denied = LINE
            .replace("200 - 113 113 7 6", "403 AccessDenied 243 - 11 -")
            .replace("+0000", "-0100")
            .replace("06/Feb/2019:00", "05/Feb/2019:23");
        let (_, all) = read(&denied);
        assert_eq!((all[0].1, all[0].2, all[0].3), (403, 243, Some(11_000_000)));
        let open = LINE.replace("113 113 7 6", "- - - -");
        assert_eq!((read(&open).1[0].2, read(&open).1[0].3), (0, None));
    }

    #[test]
    fn operations_of_s3_itself_are_not_requests() {
        let expired = r#"79a59df900b949e5 bucket1 [06/Feb/2019:00:00:38 +0000] - AmazonS3 3E57427F3EXAMPLE S3.EXPIRE.OBJECT a/b - - - - 113 - - "-" "-" - x - - - - - -"#;
        assert_eq!(read(expired), (LineKind::Other, Vec::new()));
        for bad in [
            r#"::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "x""#,
            &LINE[..60],
            "x",
        ] {
            assert!(!S3::is_record(bad.as_bytes()), "{bad}");
            assert_eq!(read(bad).0, LineKind::Malformed, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_line_does_no_harm(line in "(a b \\[06/Feb/2019:00:00:38 \\+0000\\] |x |REST.GET.OBJECT |\"GET /|\" |200 |- |\"\\PC{0,3}|\\PC){0,40}") {
            S3::default().line(line.as_bytes(), &mut |_| {});
        }
    }
}
