// SPDX-License-Identifier: Apache-2.0
//! Turns paths into routes: `/users/123` becomes `/users/{id}`.
//!
//! This module recognizes variable segments by their form. [`crate::learn`] finds the variable
//! segments that only the whole log reveals.

use crate::registers::{self, Baseline};

/// The maximum number of segments of a route. Further segments are merged.
const MAX_SEGMENTS: usize = 12;
/// The maximum length of a name, in bytes.
pub const MAX_NAME: usize = 200;

/// Returns the path of a target, without scheme, host, query, and parameters such as
/// `;jsessionid=`.
#[inline]
pub fn path(target: &[u8]) -> &[u8] {
    let end = registers::find(Baseline, [b'?', b';', b'#'], target).unwrap_or(target.len());
    let path = &target[..end];
    if path.first() == Some(&b'/') {
        return path;
    }
    match memchr::memmem::find(path, b"://") {
        Some(scheme_end) => {
            let rest = &path[scheme_end + 3..];
            memchr::memchr(b'/', rest).map_or(b"/", |slash| &rest[slash..])
        }
        None => path,
    }
}

/// Returns the segments of a path, with `0` in place of each numeric segment, because paths that
/// differ only in numbers have the same route.
pub fn without_numbers(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let segments = path.split(|b| *b == b'/');
    segments.map(|segment| if is_number(segment) { b"0" } else { segment })
}

/// Returns true if a segment consists only of digits.
pub fn is_number(segment: &[u8]) -> bool {
    !segment.is_empty() && segment.iter().all(u8::is_ascii_digit)
}

/// Appends a path in printable characters, with placeholders for its variable segments.
///
/// Returns true if any segment is a variable other than a number.
pub fn fold(path: &[u8], name: &mut String) -> bool {
    let [b'/', path @ ..] = path else {
        name.push_str(match path {
            b"" | b"-" => "(no path)",
            b"*" => "*",
            _ => "(not a path)",
        });
        return false;
    };
    let begin = name.len();
    let mut varies = false;
    let mut segments = path.split(|b| *b == b'/');
    for segment in segments.by_ref().take(MAX_SEGMENTS) {
        name.push('/');
        varies |= fold_segment(segment, name);
    }
    if segments.next().is_some() {
        name.push_str("/…");
    }
    cut_after(begin, name);
    varies
}

/// Truncates a name to [`MAX_NAME`] bytes, and marks the end with `…`.
pub fn cut(mut name: String) -> String {
    cut_after(0, &mut name);
    name
}

/// Truncates the text after `begin` to [`MAX_NAME`] bytes, and marks the end with `…`.
fn cut_after(begin: usize, name: &mut String) {
    let limit = begin + MAX_NAME;
    if name.len() > limit {
        let end = (begin..=limit)
            .rev()
            .find(|index| name.is_char_boundary(*index));
        name.truncate(end.unwrap_or(begin));
        name.push('…');
    }
}

/// Converts bytes to printable characters.
pub fn printable(text: &[u8]) -> String {
    let mut name = String::new();
    push_printable(text, &mut name);
    name
}

fn push_printable(text: &[u8], name: &mut String) {
    match std::str::from_utf8(text) {
        Ok(plain) if text.iter().all(|b| matches!(b, b' '..=b'~')) => name.push_str(plain),
        _ => {
            let text = String::from_utf8_lossy(text);
            let printable_or_replaced = |c| if is_plain(c) { c } else { '\u{fffd}' };
            name.extend(text.chars().map(printable_or_replaced));
        }
    }
}

/// Returns true if the character is not a control character and does not change the writing
/// direction.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Appends a segment, or its kind if it is a variable.
///
/// Returns true if the segment contains a variable other than a plain number.
fn fold_segment(segment: &[u8], name: &mut String) -> bool {
    if !segment.iter().any(u8::is_ascii_digit) {
        push_printable(segment, name);
        return false;
    }
    if let Some(kind) = kind(segment) {
        name.push_str(kind);
        return !is_number(segment);
    }
    // A segment with multiple words: `app.3f2a91bc.js`, `invoice-2041.pdf`.
    let is_edge = |b: &u8| matches!(b, b'.' | b'-' | b'_' | b',' | b'~' | b':' | b'@');
    let mut varies = false;
    let mut rest = segment;
    loop {
        let end = rest.iter().position(is_edge).unwrap_or(rest.len());
        match kind(&rest[..end]) {
            Some(kind) => {
                name.push_str(kind);
                varies = true;
            }
            None => push_printable(&rest[..end], name),
        }
        let Some(edge) = rest.get(end) else {
            return varies;
        };
        name.push(char::from(*edge));
        rest = &rest[end + 1..];
    }
}

/// Returns the kind of variable that a word looks like, or `None` if it is not a variable.
fn kind(word: &[u8]) -> Option<&'static str> {
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let n = word.len();
    if digits == n {
        return Some("{id}");
    }
    let is_hex = |word: &[u8]| word.iter().all(u8::is_ascii_hexdigit);
    if n == 36 && [8, 13, 18, 23].iter().all(|at| word[*at] == b'-') {
        let mut hex_digits = word.iter().filter(|b| **b != b'-');
        if hex_digits.all(u8::is_ascii_hexdigit) {
            return Some("{uuid}");
        }
    }
    if is_date(word) {
        return Some("{date}");
    }
    if n >= 8 && digits >= 2 && is_hex(word) {
        return Some("{hash}");
    }
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'=' | b'%' | b'+');
    if n >= 20 && digits >= 3 && word.iter().all(is_token) {
        return Some("{token}");
    }
    let is_decimal = |b: &u8| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+');
    (digits * 2 > n && word.iter().all(is_decimal)).then_some("{id}")
}

/// Returns true for a date such as `2026-05-01`.
fn is_date(word: &[u8]) -> bool {
    let is_digit = |at: &usize| word[*at].is_ascii_digit();
    word.len() == 10
        && word[4] == b'-'
        && word[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].iter().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn route(path: &[u8]) -> String {
        let mut name = String::new();
        fold(path, &mut name);
        name
    }

    #[test]
    fn variable_segments_become_placeholders() {
        for (path, folded) in [
            ("/", "/"),
            ("/users/123", "/users/{id}"),
            ("/users/123/orders/9", "/users/{id}/orders/{id}"),
            ("/o/6f1ed002-ab56-4c7e-8a1f-2f0d3b6f0c11/x", "/o/{uuid}/x"),
            ("/static/app.3f2a91bc.js", "/static/app.{hash}.js"),
            ("/day/2026-05-01", "/day/{date}"),
            ("/map/52.51,13.37", "/map/{id}"),
            ("/v2/search", "/v2/search"),
            ("/deadbeef", "/deadbeef"),
            ("/invoice-2041.pdf", "/invoice-{id}.pdf"),
            ("/a//b", "/a//b"),
        ] {
            assert_eq!(route(path.as_bytes()), folded);
        }
        assert_eq!(path(b"/a/b;jsessionid=1?x=/y"), b"/a/b");
        assert_eq!(path(b"http://h:80/a?b"), b"/a");
        assert_eq!(route(b"\x16\x03\x01"), "(not a path)");
        assert!(!route(b"/\x1b[31mred").contains('\x1b'));
        assert!(route(&[b'/'; 10_000]).len() < 300);
        assert!(route("/ä".repeat(500).as_bytes()).len() < 300);
    }

    /// A reference implementation that goes segment by segment and word by word.
    fn reference_route(path: &str) -> String {
        let is_edge = |c: char| ".-_,~:@".contains(c);
        let folded = |segment: &str| match kind(segment.as_bytes()) {
            Some(kind) => kind.to_string(),
            None => segment
                .split_inclusive(is_edge)
                .map(|part| {
                    let word = part.trim_end_matches(is_edge);
                    match kind(word.as_bytes()) {
                        Some(kind) => part.replacen(word, kind, 1),
                        None => part.to_string(),
                    }
                })
                .collect(),
        };
        let segments: Vec<&str> = path[1..].split('/').collect();
        let begin = segments
            .iter()
            .take(MAX_SEGMENTS)
            .map(|s| format!("/{}", folded(s)));
        let mut route: String = begin.collect();
        if segments.len() > MAX_SEGMENTS {
            route.push_str("/…");
        }
        cut(route)
    }

    proptest! {
        #[test]
        fn routes_match_the_reference(path in "/[a-f0-9./@_-]{0,80}", before in "(|POST )") {
            let mut name = before.clone();
            let varies = fold(path.as_bytes(), &mut name);
            let expected = reference_route(&path);
            prop_assert_eq!(&name[before.len()..], &expected);
            let segments = path[1..].split('/').take(MAX_SEGMENTS);
            let others = segments.filter(|s| !is_number(s.as_bytes()));
            let others_vary = others.map(|s| reference_route(&format!("/{s}"))).any(|s| s.contains('{'));
            prop_assert_eq!(varies, others_vary);
        }

        #[test]
        fn numbers_do_not_change_the_route(path in "/[a-c0-9./-]{0,80}") {
            let segments: Vec<&[u8]> = without_numbers(path.as_bytes()).collect();
            prop_assert_eq!(route(&segments.join(&b'/')), route(path.as_bytes()));
        }
    }
}
