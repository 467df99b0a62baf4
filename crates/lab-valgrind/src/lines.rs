// SPDX-License-Identifier: Apache-2.0
//! Lines of a file, one at a time, none longer than a limit.

use crate::ProfileError;
use std::io::BufRead;

/// The longest line, bytes. Names of C++ and Rust with their parameters are far shorter.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Reads lines.
pub struct LineReader<R> {
    from: R,
    /// The number of the last line that was read, from 1.
    pub number: u64,
    /// True if that line ended with a line feed.
    pub ended: bool,
}

impl<R: BufRead> LineReader<R> {
    /// From the beginning.
    pub fn new(from: R) -> LineReader<R> {
        LineReader {
            from,
            number: 0,
            ended: true,
        }
    }

    /// Reads the next line into `line`, without blanks at its end. Returns whether there was one. Errors: reading
    /// failed, or the line is too long.
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
            return Err(self.wrong("it is longer than 1 MiB"));
        }
        line.truncate(line.trim_ascii_end().len());
        Ok(true)
    }

    /// An error about this line.
    pub fn wrong(&self, reason: impl Into<String>) -> ProfileError {
        ProfileError::Line {
            line: self.number,
            reason: reason.into(),
        }
    }
}

/// A line as text; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().into()
}

/// A decimal number; `None` if there is anything else.
#[inline]
pub fn number(word: &[u8]) -> Option<u64> {
    match leading_number(word) {
        (value, []) => value,
        _ => None,
    }
}

/// The most digits whose number always fits into 64 bits.
const DIGITS: usize = 19;

/// The decimal number at the beginning of a text, and the rest. `None`: there is none, or it is too great.
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

/// Words between blanks.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|c| matches!(c, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

/// Parses the costs of a line into `into`, which becomes `width` long; missing ones are 0 (Cachegrind's manual, 5.10).
/// Errors: too many, or no number.
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
            // Most costs have one digit.
            [digit @ b'0'..=b'9', b' ', ..] => (Some(u64::from(digit - b'0')), &rest[1..]),
            // Old files have a dot for 0.
            [b'.', after @ ..] => (Some(0), after),
            digits => leading_number(digits),
        };
        let (Some(value), [] | [b' ' | b'\t', ..]) = (value, after) else {
            return Err("a cost is no number");
        };
        let Some(place) = into.get_mut(count) else {
            return Err("it has more costs than there are events");
        };
        *place = value;
        (rest, count) = (after, count + 1);
    }
}
