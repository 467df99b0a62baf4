// SPDX-License-Identifier: Apache-2.0
//! Times and sessions in the prefixes of PostgreSQL's lines.

use crate::time::{iso, scaled};

/// The timestamp of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadTime<'l> {
    /// The line has no timestamp.
    None,
    /// The local time, in seconds since 1970 as if it were UTC, and the zone as written in the
    /// line.
    Local(i64, Option<&'l [u8]>),
    /// The time in seconds since 1970.
    Unix(i64),
}

/// Parses a timestamp such as `2026-05-01 10:00:00.123 CEST` at the beginning of `text`.
///
/// Returns the timestamp and the length of its text.
pub fn local_time(text: &[u8]) -> Option<(HeadTime<'_>, usize)> {
    let (local_s, _) = iso(text.get(..19)?)?;
    let mut at = 19;
    if let Some(b'.' | b',') = text.get(at) {
        let digits = text[at + 1..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        at += if digits > 0 { 1 + digits } else { 0 };
    }
    let blank = usize::from(text.get(at) == Some(&b' '));
    let zone = zone_length(&text[at + blank..]);
    Some(match zone {
        0 => (HeadTime::Local(local_s, None), at),
        length => {
            let begin = at + blank;
            let word = &text[begin..begin + length];
            let word = word
                .strip_prefix(b"<")
                .and_then(|w| w.strip_suffix(b">"))
                .unwrap_or(word);
            (HeadTime::Local(local_s, Some(word)), begin + length)
        }
    })
}

/// Parses `%n`: seconds since 1970 with three decimals.
pub fn unix_time(text: &[u8]) -> Option<(HeadTime<'_>, usize)> {
    let is_form = text.len() >= 14 && text[..10].iter().all(u8::is_ascii_digit) && text[10] == b'.';
    let is_end = text.get(14).is_none_or(|b| !b.is_ascii_digit());
    let seconds = (is_form && is_end)
        .then(|| scaled(&text[..14], 1_000))
        .flatten()?
        / 1_000;
    Some((HeadTime::Unix(i64::try_from(seconds).ok()?), 14))
}

/// Returns the length of a zone, such as `UTC`, `CEST`, `+03`, `-0330`, `+05:30`, `<+03>`.
fn zone_length(text: &[u8]) -> usize {
    let letters = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let is_word_end = |at: usize| {
        text.get(at)
            .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_' && *b != b'=')
    };
    if (1..=6).contains(&letters)
        && text[0].is_ascii_uppercase()
        && text[letters - 1].is_ascii_uppercase()
    {
        let is_zulu_or_longer = letters > 1 || text[0] == b'Z';
        return if is_zulu_or_longer && is_word_end(letters) {
            letters
        } else {
            0
        };
    }
    match text {
        [b'<', rest @ ..] => match zone_length(rest) {
            inner if inner > 0 && rest.get(inner) == Some(&b'>') => inner + 2,
            _ => 0,
        },
        [b'+' | b'-', rest @ ..] => {
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            match (digits, &rest[digits..]) {
                (2, [b':', a, b, ..]) if a.is_ascii_digit() && b.is_ascii_digit() => 6,
                (2 | 4, _) => 1 + digits,
                _ => 0,
            }
        }
        _ => 0,
    }
}

/// Returns the length of a `%c` at the beginning of `text`, or 0.
pub fn session_length(text: &[u8]) -> usize {
    let hex = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let seconds = hex(text);
    if !(7..=9).contains(&seconds) || text.get(seconds) != Some(&b'.') {
        return 0;
    }
    match hex(&text[seconds + 1..]) {
        0 => 0,
        process if process <= 8 => seconds + 1 + process,
        _ => 0,
    }
}
