// SPDX-License-Identifier: Apache-2.0
//! Reads a file line by line, with a maximum line length.

use crate::ProfileError;
use std::io::BufRead;

/// The maximum length of a line in bytes. Even C++ and Rust names with parameters are far shorter.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Reads lines, counts them, and rejects lines that are too long.
pub struct LineReader<R> {
    from: R,
    /// The number of the most recently read line, from 1.
    pub number: u64,
    /// True if the most recently read line ended with a line feed, which shows that it is complete.
    pub ended: bool,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader at the start of the input.
    pub fn new(from: R) -> LineReader<R> {
        LineReader {
            from,
            number: 0,
            ended: true,
        }
    }

    /// Reads the next line into `line`, without trailing whitespace. Returns false at the end of the file.
    ///
    /// Returns an error if reading fails or the line is too long.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, ProfileError> {
        line.clear();
        loop {
            let buffer = self.from.fill_buf()?;
            let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
            let room = (MAX_LINE_BYTES as usize).saturating_sub(line.len());
            let length = end.unwrap_or(buffer.len()).min(room);
            line.extend_from_slice(&buffer[..length]);
            self.from.consume(length);
            if length == 0 || end == Some(length) {
                break;
            }
        }
        if line.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        self.ended = line.last() == Some(&b'\n');
        if line.len() as u64 == MAX_LINE_BYTES && !self.ended {
            return Err(self.wrong("the line is longer than 1 MiB"));
        }
        line.truncate(line.trim_ascii_end().len());
        Ok(true)
    }

    /// Creates an error for the current line.
    pub fn wrong(&self, reason: impl Into<String>) -> ProfileError {
        ProfileError::Line {
            line: self.number,
            reason: reason.into(),
        }
    }
}

/// Converts a line to text. Invalid UTF-8 becomes replacement characters.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().into()
}

/// Parses a decimal number. Returns `None` if the word contains anything else.
#[inline]
pub fn number(word: &[u8]) -> Option<u64> {
    match leading_number(word) {
        (value, []) => value,
        _ => None,
    }
}

/// The maximum number of decimal digits for which every number fits into 64 bits.
const DIGITS: usize = 19;

/// Splits off the decimal number at the start of a text. Returns the number and the rest.
///
/// The number is `None` if there is no number or it is too large.
#[inline]
pub fn leading_number(text: &[u8]) -> (Option<u64>, &[u8]) {
    let (mut value, mut length) = (0u64, 0);
    while let Some(digit) = text.get(length).map(|c| c.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        value = if length < DIGITS {
            value * 10 + u64::from(digit)
        } else {
            let ten = value.checked_mul(10);
            match ten.and_then(|ten| ten.checked_add(digit.into())) {
                Some(value) => value,
                None => return (None, text),
            }
        };
        length += 1;
    }
    ((length > 0).then_some(value), &text[length..])
}

/// Splits a line into words at spaces and tabs.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|c| matches!(c, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

/// Parses the costs of a line into `into`, which is resized to `width`. Missing costs are 0 (Valgrind's manual, section
/// 5.10).
///
/// Returns an error if there are too many costs or a cost is not a number.
#[inline]
pub fn costs(line: &[u8], width: usize, into: &mut Vec<u64>) -> Result<(), &'static str> {
    into.resize(width, 0);
    let (mut rest, mut count) = (line, 0);
    loop {
        while let [b' ' | b'\t', after @ ..] = rest {
            rest = after;
        }
        if rest.is_empty() {
            into[count..].fill(0);
            return Ok(());
        }
        let (value, after) = match rest {
            // Fast path: most costs have a single digit.
            [digit @ b'0'..=b'9', b' ', ..] => (Some(u64::from(digit - b'0')), &rest[1..]),
            // Files of old versions contain a dot instead of 0.
            [b'.', after @ ..] => (Some(0), after),
            digits => leading_number(digits),
        };
        let (Some(value), [] | [b' ' | b'\t', ..]) = (value, after) else {
            return Err("a cost is not a number");
        };
        let Some(slot) = into.get_mut(count) else {
            return Err("there are more costs than events");
        };
        *slot = value;
        (rest, count) = (after, count + 1);
    }
}
