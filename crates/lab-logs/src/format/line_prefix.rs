// SPDX-License-Identifier: Apache-2.0
//! Parses the head of a PostgreSQL log line: the `log_line_prefix` and the severity.
//!
//! Source: PostgreSQL 17, 19.8.3 *What to Log*.

use super::prefix_time::{HeadTime, local_time, session_length, unix_time};
use super::process_field::{PrefixParts, ProcessField, find_client};
use crate::join::{certain_id, id_in_application};
use crate::time::number;
use memchr::memmem;

/// The maximum length of a head, in bytes.
const MAX_HEAD: usize = 2048;
/// The maximum number of attempts to match a prefix whose fields can end at multiple positions.
const MAX_ATTEMPTS: usize = 2000;

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Debugging messages, notices and warnings.
    Minor,
    /// `LOG`
    Log,
    /// `ERROR`: a statement failed.
    Error,
    /// `FATAL`, `PANIC`: a session ended, perhaps within a statement.
    Fatal,
}

impl Severity {
    /// Returns the severity with the name `name`.
    pub fn named(name: &[u8]) -> Option<Severity> {
        Some(match name {
            b"LOG" => Severity::Log,
            b"ERROR" => Severity::Error,
            b"FATAL" | b"PANIC" => Severity::Fatal,
            b"DEBUG" | b"DEBUG1" | b"DEBUG2" | b"DEBUG3" | b"DEBUG4" | b"DEBUG5" | b"INFO"
            | b"NOTICE" | b"WARNING" => Severity::Minor,
            _ => return None,
        })
    }
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTag {
    /// A message, with its severity.
    Message(Severity),
    /// The statement of the previous message.
    Statement,
    /// Additional information about the previous message.
    Detail,
}

/// The head of the first line of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'l> {
    /// The timestamp of the line.
    pub time: HeadTime<'l>,
    /// The server's process or session, or `None` if the prefix contains neither.
    pub process: Option<&'l [u8]>,
    /// The client's `application_name`.
    ///
    /// In an unknown prefix, only a name that contains a request ID is recognized.
    pub application: &'l [u8],
    /// The text before the tag.
    pub prefix: &'l [u8],
    /// The kind of the line.
    pub tag: LineTag,
    /// The text of the message.
    pub text: &'l [u8],
}

/// The method of recognizing heads of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePrefix {
    /// By the patterns of timestamps and process IDs.
    Detected(DetectedPrefix),
    /// By the server's `log_line_prefix`.
    Configured(Vec<PrefixPiece>),
}

/// Facts about an unknown `log_line_prefix`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetectedPrefix {
    /// True if every head has a timestamp.
    pub has_time: bool,
    /// True if the prefix does not end in a separator, as in `user=appLOG:  `.
    pub is_attached: bool,
    /// The index of the message's timestamp among the timestamps of a head.
    ///
    /// The other timestamps can be the start of the session, or a timestamp that a container wrote.
    pub time: usize,
    /// The field that identifies the session.
    pub process: ProcessField,
    /// True if the prefix has numbers other than its timestamps.
    pub has_numbers: bool,
    /// True if a collector replaced the two blanks after a severity with one.
    pub is_merged: bool,
}

/// A piece of a `log_line_prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrefixPiece {
    /// Literal characters.
    Text(Vec<u8>),
    /// The field for an escape with this letter: `p` stands for `%p`.
    Escape(u8),
}

impl LinePrefix {
    /// Compiles a `log_line_prefix`. Returns an error if an escape is unknown.
    pub fn new(prefix: &str) -> Result<LinePrefix, String> {
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut bytes = prefix.bytes().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                text.push(byte);
                continue;
            }
            while bytes
                .next_if(|b| *b == b'-' || b.is_ascii_digit())
                .is_some()
            {}
            match bytes.next() {
                Some(b'%') => text.push(b'%'),
                Some(letter) if b"audrhpLPtmnielcsvxqQbSV".contains(&letter) => {
                    if !text.is_empty() {
                        pieces.push(PrefixPiece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(PrefixPiece::Escape(letter));
                }
                _ => {
                    return Err(format!(
                        "invalid log_line_prefix of PostgreSQL {prefix:?}: unknown escape"
                    ));
                }
            }
        }
        if !text.is_empty() {
            pieces.push(PrefixPiece::Text(text));
        }
        Ok(LinePrefix::Configured(pieces))
    }

    /// Creates a method that recognizes heads by their patterns, without facts from a sample.
    #[cfg(test)]
    pub fn detected(has_time: bool) -> LinePrefix {
        LinePrefix::Detected(DetectedPrefix {
            has_time,
            ..DetectedPrefix::default()
        })
    }

    /// Returns true if more than one field of the prefix may be the process ID.
    pub fn is_process_unclear(&self) -> bool {
        matches!(self, LinePrefix::Detected(prefix) if prefix.process == ProcessField::Unclear)
    }

    /// Returns true if the process ID is unknown although the prefix has numbers.
    pub fn has_unknown_numbers(&self) -> bool {
        matches!(self, LinePrefix::Detected(prefix) if prefix.has_numbers)
    }

    /// Parses the head of a line.
    ///
    /// Returns `None` if the line continues the previous message or was not written by PostgreSQL.
    pub fn head<'l>(&self, line: &'l [u8]) -> Option<Head<'l>> {
        match self {
            LinePrefix::Detected(prefix) => {
                let head = find_head(line, prefix)?;
                (!prefix.has_time || head.time != HeadTime::None).then_some(head)
            }
            LinePrefix::Configured(pieces) => {
                let mut found = Fields::default();
                let mut attempts = MAX_ATTEMPTS;
                let rest = match_pieces(pieces, line, &mut found, &mut attempts)?;
                let (tag, text) = tag_at_begin(rest)?;
                Some(Head {
                    time: found.time.unwrap_or(HeadTime::None),
                    process: found.session.or(found.process).or(found.client),
                    application: found.application,
                    prefix: &line[..line.len() - rest.len()],
                    tag,
                    text,
                })
            }
        }
    }
}

/// Returns the kind of line that a tag name denotes.
fn tag_named(name: &[u8]) -> Option<LineTag> {
    match name {
        b"STATEMENT" => Some(LineTag::Statement),
        b"DETAIL" | b"HINT" | b"CONTEXT" | b"QUERY" | b"LOCATION" | b"BACKTRACE" => {
            Some(LineTag::Detail)
        }
        _ => Severity::named(name).map(LineTag::Message),
    }
}

/// Splits a tag such as `LOG:  ` from the text that follows the tag.
fn tag_at_begin(text: &[u8]) -> Option<(LineTag, &[u8])> {
    let end = memmem::find(&text[..text.len().min(16)], b": ")?;
    let rest = &text[end + 2..];
    // Some collectors merge two blanks into a single blank.
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    Some((tag_named(&text[..end])?, without_code(rest)))
}

/// Removes an error code such as `42P01: `, which `log_error_verbosity = verbose` writes.
fn without_code(text: &[u8]) -> &[u8] {
    let is_code = |code: &[u8]| {
        code.iter()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
    };
    match text.split_at_checked(5) {
        Some((code, rest)) if is_code(code) => rest.strip_prefix(b": ").unwrap_or(text),
        _ => text,
    }
}

/// Finds a head by pattern: everything before the first tag is the prefix.
fn find_head<'l>(line: &'l [u8], detected: &DetectedPrefix) -> Option<Head<'l>> {
    if line.first() == Some(&b'\t') || is_json(line) {
        return None;
    }
    let begin = &line[..line.len().min(MAX_HEAD)];
    let (at, tag, text) = memmem::find_iter(begin, b": ").find_map(|end| {
        let (at, tag) = tag_before(&line[..end], detected.is_attached)?;
        let text = match &line[end + 2..] {
            [b' ', text @ ..] => without_code(text),
            text => {
                // Some collectors merge two blanks into a single blank.
                let text = without_code(text);
                let is_certain = detected.is_merged
                    || text.starts_with(b"duration: ")
                    || text.starts_with(b"statement: ");
                is_certain.then_some(text)?
            }
        };
        Some((at, tag, text))
    })?;
    let prefix = &line[..at];
    let parts = PrefixParts::new(prefix);
    let time = parts.times.get(detected.time).or(parts.times.first());
    Some(Head {
        time: time.copied().unwrap_or(HeadTime::None),
        process: detected.process.find(&parts),
        application: find_application(prefix),
        prefix,
        tag,
        text,
    })
}

/// Returns true if a line is JSON, or a line of JSON that spans multiple lines.
pub fn is_json(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    matches!(text.first(), Some(b'{' | b'"')) || text.starts_with(b"[{")
}

/// Returns the position and the kind of the tag at the end of a text.
fn tag_before(text: &[u8], is_attached: bool) -> Option<(usize, LineTag)> {
    let letters = text
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        .count();
    let begin = text.len() - letters;
    if is_attached {
        return (begin..text.len()).find_map(|at| Some((at, tag_named(&text[at..])?)));
    }
    let is_word_before = begin > 0 && text[begin - 1].is_ascii_alphanumeric();
    let tag = tag_named(&text[begin..]).filter(|_| !is_word_before)?;
    Some((begin, tag))
}

/// Finds the `application_name` in a prefix: after a key, or as a word that looks like a request
/// ID.
fn find_application(prefix: &[u8]) -> &[u8] {
    const NAMES: [&[u8]; 4] = [b"app=", b"application_name=", b"application=", b"appname="];
    let named = NAMES.iter().find_map(|name| {
        let at = memmem::find(prefix, name)?;
        let is_word = at > 0 && prefix[at - 1].is_ascii_alphanumeric();
        let value = &prefix[at + name.len()..];
        let end = value
            .iter()
            .position(|b| matches!(b, b',' | b' ' | b';' | b'|' | b']'));
        (!is_word).then_some(&value[..end.unwrap_or(value.len())])
    });
    named
        .filter(|name| id_in_application(name).is_some())
        .or_else(|| certain_id(prefix))
        .unwrap_or_default()
}

/// The fields of a prefix that the user specified.
#[derive(Clone, Copy, Debug, Default)]
struct Fields<'l> {
    time: Option<HeadTime<'l>>,
    session: Option<&'l [u8]>,
    process: Option<&'l [u8]>,
    client: Option<&'l [u8]>,
    application: &'l [u8],
}

/// Matches the beginning of `text` against the pieces, and returns the rest of the text.
///
/// A field of variable length matches as few characters as the following pieces allow.
fn match_pieces<'l>(
    pieces: &[PrefixPiece],
    text: &'l [u8],
    fields: &mut Fields<'l>,
    attempts: &mut usize,
) -> Option<&'l [u8]> {
    *attempts = attempts.checked_sub(1)?;
    let Some((piece, rest)) = pieces.split_first() else {
        return tag_at_begin(text).map(|_| text);
    };
    let letter = match piece {
        PrefixPiece::Text(expected) => {
            return match_pieces(rest, text.strip_prefix(&expected[..])?, fields, attempts);
        }
        PrefixPiece::Escape(letter) => *letter,
    };
    // Padding can be on either side.
    let padding = text.iter().take_while(|b| **b == b' ').count();
    let padded = &text[padding..];
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let length = match letter {
        // A process without a session omits the rest of the prefix.
        b'q' => {
            let after = tag_at_begin(text).map(|_| text);
            return after.or_else(|| match_pieces(rest, text, fields, attempts));
        }
        b't' | b'm' | b's' | b'n' => {
            let (time, length) = if letter == b'n' {
                unix_time(padded)?
            } else {
                local_time(padded)?
            };
            // `%s` is the start time of the session.
            if letter != b's' {
                fields.time = Some(time);
            }
            Some(length)
        }
        b'p' => {
            fields.process = Some(&padded[..digits(padded)]);
            Some(digits(padded))
        }
        b'c' => {
            fields.session = Some(&padded[..session_length(padded)]).filter(|s| !s.is_empty());
            Some(session_length(padded))
        }
        b'l' | b'x' => Some(digits(padded)),
        _ => None,
    };
    if let Some(length) = length.filter(|length| *length > 0) {
        let behind = &padded[length..];
        let blanks = behind.iter().take_while(|b| **b == b' ').count();
        return (0..=blanks)
            .find_map(|skipped| match_pieces(rest, &behind[skipped..], fields, attempts));
    }
    if length == Some(0) && matches!(letter, b'p' | b'l') {
        return None;
    }
    let end = text.len().min(MAX_HEAD);
    (0..=end).find_map(|length| {
        // Skip lengths after which the next piece cannot begin.
        let is_possible = match rest.first() {
            Some(PrefixPiece::Text(next)) => text[length..].starts_with(next),
            Some(PrefixPiece::Escape(_)) => true,
            None => tag_at_begin(&text[length..]).is_some(),
        };
        let behind = is_possible
            .then(|| match_pieces(rest, &text[length..], fields, attempts))
            .flatten()?;
        match letter {
            b'a' => fields.application = text[..length].trim_ascii(),
            b'r' => fields.client = find_client(&text[..length]),
            _ => {}
        }
        Some(behind)
    })
}

/// A syslog line without the header that syslog wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyslogLine<'l> {
    /// The host, the program and the process ID, as written in the line.
    pub session: &'l [u8],
    /// The sequence number of this piece of the message, from 1, or `None` if pieces are not
    /// numbered.
    pub part: Option<u64>,
    /// The timestamp that syslog wrote, if it has a year.
    pub time: HeadTime<'l>,
    /// The text of the message.
    pub text: &'l [u8],
}

/// Finds the bracket after a process ID. Returns its index and the length of `]: ` before the text.
///
/// Heroku's logplex also writes `app[postgres.4882] [GREEN] `.
fn process_mark(begin: &[u8]) -> Option<(usize, usize)> {
    let by_colon = || Some((memmem::find(begin, b"]: ")?, 3));
    let Some(at) = memmem::find(begin, b"app[postgres.") else {
        return by_colon();
    };
    let mark = at + memchr::memchr(b']', &begin[at..])?;
    let length = if begin[mark..].starts_with(b"] [") {
        2
    } else if begin[mark..].starts_with(b"]: ") {
        3
    } else {
        return by_colon();
    };
    Some((mark, length))
}

/// Parses a line such as `Jan 13 11:04:00 host postgres[281794]: [5-1] …`, or a line in the format
/// of RFC 5424, such as `<134>1 2024-01-13T11:04:00Z host postgres 281794 - - [5-1] …`.
pub fn syslog_line(line: &[u8]) -> Option<SyslogLine<'_>> {
    let behind_priority = match line {
        [b'<', rest @ ..] => &rest[memchr::memchr(b'>', &rest[..rest.len().min(4)])? + 1..],
        _ => line,
    };
    if let Some(record) = behind_priority.strip_prefix(b"1 ") {
        return syslog_record(record);
    }
    let line = behind_priority;
    let begin = &line[..line.len().min(256)];
    let (mark, length) = process_mark(begin)?;
    let open = memchr::memrchr(b'[', &line[..mark])?;
    // Heroku writes `app[postgres.4882]: [GREEN] [15-1] …`.
    let process = line[open + 1..mark].rsplit(|b| *b == b'.').next()?;
    let has_name = open > 0
        && (line[open - 1].is_ascii_alphanumeric() || matches!(line[open - 1], b'_' | b'-'));
    number(process).filter(|_| has_name)?;
    let before = &line[..open];
    let (time, time_length) = local_time(before).or_else(|| {
        // `Jan 13 11:04:00 `.
        let is_clock = before.len() > 15
            && before[9] == b':'
            && before[12] == b':'
            && before[0].is_ascii_uppercase();
        is_clock.then_some((HeadTime::None, 15))
    })?;
    let (part, text) = without_part(&line[mark + length..]);
    Some(SyslogLine {
        session: line[time_length..mark].trim_ascii_start(),
        part,
        time,
        text,
    })
}

/// Parses the part of an RFC 5424 line after its version.
fn syslog_record(record: &[u8]) -> Option<SyslogLine<'_>> {
    let mut at = 0;
    let mut word = || {
        let begin = at;
        at += memchr::memchr(b' ', &record[begin..])? + 1;
        Some((begin, &record[begin..at - 1]))
    };
    let (_, time) = word()?;
    let (host_at, _) = word()?;
    let _program = word()?;
    let (process_at, process) = word()?;
    let _message_id = word()?;
    number(process)?;
    let text = &record[at..];
    let text = match text.strip_prefix(b"- ") {
        Some(text) => text,
        // Structured data, such as `[origin ip="10.0.0.5"] `.
        None => &text[memmem::find(text.strip_prefix(b"[")?, b"] ")? + 3..],
    };
    let (part, text) = without_part(text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text));
    Some(SyslogLine {
        session: &record[host_at..process_at + process.len()],
        part,
        time: local_time(time).map_or(HeadTime::None, |(time, _)| time),
        text,
    })
}

/// Splits the number of a piece, such as `[5-2] `, from the text that follows.
pub fn without_part(text: &[u8]) -> (Option<u64>, &[u8]) {
    let numbered = |text: &'_ [u8]| {
        let rest = text.strip_prefix(b"[")?;
        let end = memchr::memchr(b']', &rest[..rest.len().min(32)])?;
        let dash = memchr::memchr(b'-', &rest[..end])?;
        number(&rest[..dash])?;
        let part = number(&rest[dash + 1..end])?;
        Some((
            part,
            text.len() - rest.get(end + 2..).unwrap_or_default().len(),
        ))
    };
    let color = memchr::memchr(b' ', text)
        .filter(|end| text.starts_with(b"[") && text[..*end].ends_with(b"]"));
    let behind_color = color.map_or(text, |end| &text[end + 1..]);
    let found = numbered(text).map(|found| (found, text));
    let found = found.or_else(|| numbered(behind_color).map(|found| (found, behind_color)));
    match found {
        Some(((part, length), text)) => (Some(part), &text[length..]),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_705_143_840;

    fn found(line: &str) -> (HeadTime<'_>, Option<&str>, &str) {
        let head = LinePrefix::detected(false)
            .head(line.as_bytes())
            .unwrap_or_else(|| panic!("no head in {line}"));
        let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8");
        (head.time, head.process.map(text), text(head.text))
    }

    #[test]
    fn prefixes_are_found_by_their_form() {
        let local = |zone: &'static str| HeadTime::Local(T, Some(zone.as_bytes()));
        for (line, time, process) in [
            (
                "2024-01-13 11:04:00.100 EET [281794] u@dba LOG:  x",
                local("EET"),
                Some("281794"),
            ),
            (
                "2024-01-13 11:04:00 CEST [507833]: [1-1] db=shop,user=shop,app=psql LOG:  x",
                local("CEST"),
                Some("507833"),
            ),
            (
                "2024-01-13 11:04:00 UTC:10.0.0.5(5432):app@shop:[1234]:LOG:  x",
                local("UTC"),
                Some("1234"),
            ),
            (
                "2024-01-13 11:04:00 UTC-65a1b2c3.4d2-LOG:  x",
                local("UTC"),
                Some("65a1b2c3.4d2"),
            ),
            (
                "2024-01-13 11:04:00 -03 pid=7,user=u LOG:  x",
                local("-03"),
                Some("7"),
            ),
            (
                "<2024-01-13 11:04:00 UTC 9 me>LOG:  x",
                local("UTC"),
                Some("9"),
            ),
            (
                "2024-01-13 11:04:00 UTC [1234-5] u@d LOG:  x",
                local("UTC"),
                Some("1234"),
            ),
            (
                "2024-01-13 11:04:00 UTC:10.0.0.5(5432):app@shop:[1234]:5:00000:2024-01-13 11:00:00 UTC:3/4:0:65a1b2c3.4d2:psql:LOG:  x",
                local("UTC"),
                Some("65a1b2c3.4d2"),
            ),
            (
                "2024-01-13 11:04:00 +05:30 9 LOG:  x",
                local("+05:30"),
                Some("9"),
            ),
            (
                "[77] 2024-01-13 11:04:00 UTC u LOG:  x",
                local("UTC"),
                Some("77"),
            ),
            (
                "2024-01-13T11:04:00Z 2024-01-13 13:04:00 CEST [5] LOG:  x",
                local("Z"),
                Some("5"),
            ),
            ("1705143840.123 [5] LOG:  x", HeadTime::Unix(T), Some("5")),
            (
                "2024-01-13 11:04:00 UTC [1] LOG: duration: x",
                local("UTC"),
                Some("1"),
            ),
            ("LOG:  x", HeadTime::None, None),
            ("u@d LOG:  x", HeadTime::None, None),
        ] {
            let (found_time, find_process, text) = found(line);
            assert_eq!((found_time, find_process), (time, process), "{line}");
            assert!(text.ends_with('x'), "{line}");
        }
        let head = |line: &str| {
            LinePrefix::detected(true)
                .head(line.as_bytes())
                .map(|head| head.tag)
        };
        assert_eq!(
            head("2024-01-13 11:04:00 UTC [1] STATEMENT:  SELECT 1"),
            Some(LineTag::Statement)
        );
        assert_eq!(
            head("2024-01-13 11:04:00 UTC [1] WARNING:  x"),
            Some(LineTag::Message(Severity::Minor))
        );
        assert_eq!(head("2024-01-13 11:04:00 UTC [1] SYSLOG:  x"), None);
        assert_eq!(head("\t2024-01-13 11:04:00 UTC [1] LOG:  x"), None);
        assert_eq!(head("LOG:  x"), None);
    }

    #[test]
    fn given_prefixes_are_parsed() {
        let read = |prefix: &str, line: &'static str| {
            let prefix = LinePrefix::new(prefix).expect("a prefix");
            let head = prefix.head(line.as_bytes())?;
            let process = head
                .process
                .map(|p| String::from_utf8_lossy(p).into_owned());
            Some((head.time, process, head.text.to_vec()))
        };
        let local = HeadTime::Local(T, Some(b"UTC"));
        let expected = |process: &str| Some((local, Some(process.to_string()), b"x".to_vec()));
        for (prefix, line, process) in [
            (
                "%m [%p] %q%u@%d ",
                "2024-01-13 11:04:00.5 UTC [77] me@LOG:  db LOG:  x",
                "77",
            ),
            (
                "%m [%p] %q%u@%d ",
                "2024-01-13 11:04:00.5 UTC [77] LOG:  x",
                "77",
            ),
            (
                "%t:%r:%u@%d:[%p]:",
                "2024-01-13 11:04:00 UTC:10.0.0.5(5432):app@shop:[1234]:LOG:  x",
                "1234",
            ),
            (
                "%t-%c-",
                "2024-01-13 11:04:00 UTC-65a1b2c3.4d2-LOG:  x",
                "65a1b2c3.4d2",
            ),
            (
                "%p %-10u %a %i %v %x %e %t ",
                "5 me         LOG:  psql SELECT 3/4 0 00000 2024-01-13 11:04:00 UTC LOG:  x",
                "5",
            ),
        ] {
            assert_eq!(read(prefix, line), expected(process), "{line}");
        }
        assert_eq!(
            read("%m [%p] ", "2024-01-13 11:04:00.5 UTC 77 LOG:  x"),
            None
        );
        assert!(LinePrefix::new("%h %l %u %t \"%r\" %>s %b").is_err());
    }

    #[test]
    fn syslog_headers_are_removed() {
        let line =
            syslog_line(b"Jan 13 11:04:00 host postgres[77]: [5-2] #011FROM t").expect("a line");
        assert_eq!(
            (line.session, line.part, line.text),
            (&b"host postgres[77"[..], Some(2), &b"#011FROM t"[..])
        );
        let line =
            syslog_line(b"2024-01-13T11:04:00+00:00 host postgres[77]: LOG:  x").expect("a line");
        assert_eq!(
            (line.part, line.time),
            (None, HeadTime::Local(T, Some(b"+00:00")))
        );
        let line = syslog_line(b"2024-01-13T11:04:00+00:00 app[postgres.77]: [GREEN] [5-3] \tx")
            .expect("a line");
        assert_eq!(
            (line.session, line.part, line.text),
            (&b"app[postgres.77"[..], Some(3), &b"\tx"[..])
        );
        assert_eq!(
            syslog_line(b"2024-01-13 11:04:00 UTC [77]: [5-1] db=x LOG:  y"),
            None
        );
    }
}
