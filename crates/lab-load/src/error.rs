// SPDX-License-Identifier: Apache-2.0
//! The error of a load that is invalid or not allowed.

/// An error that prevents a load from running. The message contains the problem, its location and
/// its solution.
///
/// It never contains the secrets of a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(String);

impl JobError {
    pub(crate) fn new(words: impl Into<String>) -> JobError {
        JobError(words.into())
    }
}

/// Quotes and escapes input for a message.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", escaped(text))
}

/// Escapes unprintable characters of input, and truncates it if it is long.
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
    // Not `char::escape_debug`, which would escape quotes.
    let escaped = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let (plain, code) = ((!escaped).then_some(c), escaped.then(|| c.escape_unicode()));
    plain.into_iter().chain(code.into_iter().flatten())
}
