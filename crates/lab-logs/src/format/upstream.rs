// SPDX-License-Identifier: Apache-2.0
//! Parses nginx's variables with a value for each upstream server, such as `0.010, 0.020 : -`.
//!
//! Source: nginx, ngx_http_upstream_module, *Embedded Variables*.

use crate::time::scaled;

/// Returns the length of a list of times separated by `, ` or ` : `. A single blank ends the list.
pub fn list_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let word = text[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
            .count();
        let separators = [&b", "[..], b" : "];
        match separators.iter().find(|s| text[at + word..].starts_with(s)) {
            Some(separator) if word > 0 => at += word + separator.len(),
            _ => return at + word,
        }
    }
}

/// Returns true if the blank at `at` separates two values of a list.
pub fn is_within_list(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    before.ends_with(b",") || before.ends_with(b" :") || text[at..].starts_with(b" : ")
}

/// Returns the sum, in ns, of times that are written in seconds.
///
/// Returns `None` if there are no times.
pub fn sum_ns(value: &[u8]) -> Option<u64> {
    let is_separator = |b: &u8| matches!(b, b',' | b':' | b' ');
    let times = value
        .split(is_separator)
        .filter_map(|word| scaled(word, 1_000_000_000));
    times.fold(None, |sum: Option<u64>, ns| {
        Some(sum.unwrap_or(0).saturating_add(ns))
    })
}

/// Returns true if a text contains values separated by `, ` or ` : `.
pub fn is_list(value: &[u8]) -> bool {
    let is_part = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b':' | b' ' | b'-');
    value.contains(&b' ') && value.iter().all(is_part)
}
