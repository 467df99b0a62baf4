// SPDX-License-Identifier: Apache-2.0
//! A field-by-field parser of the combined log format, used as the reference for
//! [`super::combined`].

use super::combined::{Combined, Duration};
use crate::entry::Entry;
#[cfg(target_arch = "x86_64")]
use crate::registers::Avx2;
use crate::registers::Baseline;
use crate::time::{clf, offset};
use proptest::prelude::*;

/// Parses a line. Returns `None` if it is malformed.
fn parse<'a>(line: &'a [u8], duration: Option<&Duration>) -> Option<Entry<'a>> {
    // The first bracket that is followed by enough bytes for a time and then by a request.
    let is_open =
        |at: &usize| line[*at] == b'[' && line.get(at + 27..at + 30) == Some(&b"] \""[..]);
    let open = (0..line.len()).find(is_open)?;
    let time = &line[open + 1..open + 27];
    let offset_s = offset(&time[21..])?;
    let rest = &line[open + 30..];
    let (request, rest) = quotation(rest)?;
    let (method, target) = request_line(request);
    let words: Vec<&[u8]> = rest.splitn(4, |b| *b == b' ').collect();
    let [b"", status, bytes, ..] = words[..] else {
        return None;
    };
    let status = digits(status).filter(|_| status.len() == 3)?;
    let bytes_sent = match bytes {
        b"-" => 0,
        _ => digits(bytes)?,
    };
    let rest = &rest[status_and_bytes_length(bytes)..];
    let (agent, behind) = agent(rest).unwrap_or((b"", rest));
    Some(Entry {
        time_s: Some(clf(time)? - i64::from(offset_s)),
        offset_s,
        duration_ns: duration.and_then(|d| duration_ns(behind, d.scale)),
        method,
        target,
        is_query: false,
        is_late: false,
        dialect: Default::default(),
        status: status as u16,
        bytes: bytes_sent,
        agent,
        id: b"",
    })
}

/// Returns the combined length of the status, as in ` 200 `, and of the number of bytes sent.
fn status_and_bytes_length(bytes: &[u8]) -> usize {
    5 + bytes.len()
}

/// Splits ` "referer" "agent" …` into the agent and the remaining text.
fn agent(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = quotation(rest.strip_prefix(b" \"")?)?;
    quotation(rest.strip_prefix(b" \"")?)
}

/// Splits `text` at its closing quote.
fn quotation(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut is_escaped = false;
    let end = text.iter().position(|b| {
        let is_end = *b == b'"' && !is_escaped;
        is_escaped = *b == b'\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}

fn request_line(request: &[u8]) -> (&[u8], &[u8]) {
    let Some(space) = request.iter().position(|b| *b == b' ') else {
        return (b"", request);
    };
    let (method, rest) = (&request[..space], &request[space + 1..]);
    if method.len() > 16 || !method.iter().all(u8::is_ascii_uppercase) {
        return (b"", request);
    }
    let protocols = [9, 7].into_iter().filter_map(|n| rest.len().checked_sub(n));
    let end = protocols
        .into_iter()
        .find(|at| rest[*at..].starts_with(b" HTTP/"));
    (method, &rest[..end.unwrap_or(rest.len())])
}

fn digits(text: &[u8]) -> Option<u64> {
    let is_number = (1..20).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

/// Parses the first field if it is a whole number, and converts it to ns. The tests of durations
/// cover other values.
fn duration_ns(rest: &[u8], scale: u64) -> Option<u64> {
    let value = rest.strip_prefix(b" ")?;
    digits(value)?.checked_mul(scale)
}

/// Generates one of the words, or sometimes random bytes.
fn one_of(words: &[&'static str]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let words: Vec<Vec<u8>> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
    prop_oneof![
        12 => prop::sample::select(words),
        1 => prop::collection::vec(prop::sample::select(b"\\\"[] -:/?0129aZ\x00\xff".to_vec()), 0..40),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let time = (
        "[0-3][0-9]/(Jan|Feb|May|Dec|Foo)/20[0-9][0-9]:[0-2][0-9]:[0-6][0-9]",
        "[+-]0[0-9](00|30)",
    );
    let time = prop_oneof![
        time.prop_map(|(time, zone)| format!("[{time} {zone}] \"").into_bytes()),
        (0..70_u8).prop_map(|s| format!("[10/Oct/2000:13:55:{s:02} -0700] \"").into_bytes()),
        one_of(&[
            "[10/Oct/2000:13:55:3: -0700] \"",
            "[10/Oct/2000:13:55:36 -0700]"
        ]),
    ];
    let begin = one_of(&[
        "::1 - - ",
        "h:80 10.0.0.1 - frank ",
        "",
        "[::1] - - ",
        "[::1]:80 [::2] ",
    ]);
    let request = one_of(&[
        "GET /a?b HTTP/1.1\"",
        "POST / HTTP/2\"",
        "GET /a \\\"b\\\" c HTTP/1.0\"",
        "\\x16\"",
        "G3T / x\"",
        "-\"",
        "ABCDEFGHIJKLMNOPQ /\"",
    ]);
    let result = one_of(&[
        " 200 5",
        " 404 -",
        " 500 12345678",
        " 200 1234567890123456789",
        " 200 99999999999999999999",
        " 2x0 1",
        " 200",
        " 200 5x",
    ]);
    let client = one_of(&[
        "",
        " \"-\" \"curl/7\"",
        " \"http://x/\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101\"",
        " \"\" \"a \\\" b\"",
        " \"-\" \"open",
    ]);
    let end = one_of(&["", " 1", " 1234", " 123456789", " 12345678901234567890"]);
    let parts = (begin, time, request, result, client, end);
    parts.prop_map(|(a, b, c, d, e, f)| [a, b, c, d, e, f].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn lines_match_the_reference_parser(lines in prop::collection::vec(line(), 1..6)) {
        let duration = Duration { key: Vec::new(), index: 0, scale: 1_000, step: 1_000, possible: vec![1_000], is_choice: false, is_bare_number: false, has_unit_field: false, is_unit_given: false, is_unit_written: false, field_count: None };
        let mut combined = Combined::new(Some(duration.clone()));
        for line in lines {
            let text = String::from_utf8_lossy(&line).into_owned();
            let (actual, expected) = (combined.parse(&line), parse(&line, Some(&duration)));
            let is_other = |entry: &Entry| expected.is_some_and(|w| w.duration_ns.is_none() && entry.duration_ns.is_some());
            // The parser also reads durations that are not whole numbers.
            let actual = actual.map(|entry| if is_other(&entry) { Entry { duration_ns: None, ..entry } } else { entry });
            prop_assert_eq!(actual, expected, "{}", text);
        }
    }

    #[test]
    fn lines_parsed_ahead_match_lines_parsed_alone(lines in prop::collection::vec(line(), 1..6), end in "\r?\n") {
        let duration = Duration { key: Vec::new(), index: 0, scale: 1_000, step: 1_000, possible: vec![1_000], is_choice: false, is_bare_number: false, has_unit_field: false, is_unit_given: false, is_unit_written: false, field_count: None };
        let mut combined = Combined::new(Some(duration));
        let text = lines.iter().flat_map(|line| [line, end.as_bytes()].concat()).collect::<Vec<u8>>();
        let mut rest = &text[..];
        for line in lines {
            let alone = combined.parse(&line);
            let ahead = combined.parse_ahead(rest, Baseline);
            #[cfg(target_arch = "x86_64")]
            if let Some(wide) = Avx2::new() {
                prop_assert_eq!(combined.parse_ahead(rest, wide), ahead);
            }
            let length = line.len() + end.len();
            // If a line is not parsed ahead, it is parsed alone.
            prop_assert!(ahead.is_none_or(|found| alone.map(|entry| (entry, length)) == Some(found)));
            let has_client = alone.is_some_and(|entry| !entry.agent.is_empty());
            prop_assert!(ahead.is_some() || !has_client);
            rest = &rest[length..];
        }
    }
}
