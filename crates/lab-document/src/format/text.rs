// SPDX-License-Identifier: Apache-2.0
//! Text from outside made harmless, and cut and wrapped to a width in columns.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Units that stay on one line with their number.
const UNITS: [&str; 10] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "min"];

/// Names and log lines come from outside: a control character would move the cursor, and one that
/// turns the direction of writing (Unicode Standard Annex 9) would show another text than there is.
pub fn clean(text: &str) -> String {
    let legible = text
        .chars()
        .filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}'));
    legible
        .map(|c| if is_harmful(c) { ' ' } else { c })
        .collect()
}

/// [`clean`] for a text of many lines.
pub fn clean_lines(text: &str) -> String {
    let harmful = |c| c != '\n' && is_harmful(c);
    text.chars()
        .map(|c| if harmful(c) { ' ' } else { c })
        .collect()
}

fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || turns || breaks
}

/// Clean text cut to a width, with `…` where something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.into();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let fitting: String = text.chars().take_while(fits).collect();
    fitting.trim_end().to_owned() + "…"
}

/// Clean text with spaces behind it, `width` columns wide or more.
pub fn pad(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

/// Clean text with spaces before it.
pub fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

/// Clean text in lines of at most `width`, broken at spaces but not between a number and its unit,
/// and within a word only if it is too long. No text, no line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(2))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = joined(text);
    let lines = textwrap::wrap(&text, options);
    let lines = lines.iter().map(|line| line.replace('\u{a0}', " "));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// Text wrapped as [`wrap`] does, in at most so many lines, the last one with `…` where more would follow.
pub fn wrap_at_most(text: &str, width: usize, lines: usize) -> Vec<String> {
    let mut wrapped = wrap(text, width);
    if wrapped.len() > lines {
        wrapped.truncate(lines);
        if let Some(last) = wrapped.last_mut() {
            *last = cut(&format!("{last} ………"), width.min(last.width() + 2));
        }
    }
    wrapped
}

/// The first sentences of a text that fit into so many lines; if not even one does, as much of it as fits.
pub fn wrap_sentences(text: &str, width: usize, lines: usize) -> Vec<String> {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    let fits = |end: &&usize| wrap(&text[..**end], width).len() <= lines;
    let fitting = ends.iter().take_while(fits).last();
    let end = fitting.copied().unwrap_or(text.len());
    wrap_at_most(&text[..end], width, lines)
}

/// Words with single spaces, those before units that do not break.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        let number = joined.ends_with(|c: char| c.is_ascii_digit() || c == ']');
        let space = if joined.is_empty() {
            ""
        } else if number && UNITS.contains(&bare) {
            "\u{a0}"
        } else {
            " "
        };
        joined.push_str(space);
        joined.push_str(word);
    }
    joined
}
