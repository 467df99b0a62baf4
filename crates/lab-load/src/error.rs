// SPDX-License-Identifier: Apache-2.0
//! Why no load is put on: what was asked for cannot be done, or must not be.

/// Why no load is put on: what was wrong, where, and what to do. In words for people; no secret of a URL
/// is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(String);

impl JobError {
    pub(crate) fn new(words: impl Into<String>) -> JobError {
        JobError(words.into())
    }
}

/// Input in quotes, as it may be shown.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", escaped(text))
}

/// Input with what cannot be printed escaped, and cut if it is long.
pub(crate) fn escaped(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    let mut printed: String = text
        .chars()
        .take(MAX_CHARACTERS)
        .flat_map(printable)
        .collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        printed.push('…');
    }
    printed
}

fn printable(c: char) -> impl Iterator<Item = char> {
    // Not char::escape_debug, which would escape quotes.
    let escaped = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let (plain, code) = ((!escaped).then_some(c), escaped.then(|| c.escape_unicode()));
    plain.into_iter().chain(code.into_iter().flatten())
}
