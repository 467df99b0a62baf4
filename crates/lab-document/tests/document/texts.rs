// SPDX-License-Identifier: Apache-2.0
//! Tests that external text is truncated and wrapped to a width, and sanitized.

use lab_document::format::text::{clean, clean_lines, cut, wrap};
use unicode_width::UnicodeWidthStr;

#[test]
fn wide_letters_and_long_names_are_cut_and_wrapped_to_size() {
    assert_eq!(cut("数据库数据库", 5), "数据…");
    assert_eq!(cut("short", 5), "short");
    let long = "x".repeat(200);
    let wrapped = wrap(&format!("a {long} b"), 30);
    assert!(wrapped.iter().all(|line| line.width() <= 30));
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap("margin 2 %; more", 8), ["margin", "2 %;", "more"]);
    assert_eq!(wrap("it is 12 µs.", 8), ["it is", "12 µs."]);
    assert!(wrap(" ", 9).is_empty());
}

#[test]
fn cursor_and_bidirectional_controls_are_removed() {
    assert_eq!(
        clean("a\x1b[2J\u{202e}b\nc\u{2028}d☺\u{fe0f}"),
        "a [2J b c d☺"
    );
    assert_eq!(clean_lines("a\nb\u{9b}c"), "a\nb c");
}
