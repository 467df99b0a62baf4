// SPDX-License-Identifier: Apache-2.0
//! Lines of a file, one at a time, none longer than a limit.

use crate::ProfileError;
use std::io::{BufRead, Read};

/// Names of C++ and Rust with their parameters stay far below this.
const LONGEST: u64 = 1 << 20;

/// Reads lines.
pub struct Lines<R> {
    from: R,
    /// Of the line that was read last, from 1.
    pub number: u64,
    /// Whether that line ended with a line feed.
    pub ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// From the beginning.
    pub fn new(from: R) -> Lines<R> {
        Lines {
            from,
            number: 0,
            ended: true,
        }
    }

    /// The next line in place of what `line` holds, without blanks at its end; whether there was one. Errors: reading
    /// failed, or it is too long.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<bool, ProfileError> {
        line.clear();
        let mut limited = Read::take(&mut self.from, LONGEST);
        if limited.read_until(b'\n', line)? == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.ended = line.last() == Some(&b'\n');
        if line.len() as u64 == LONGEST && !self.ended {
            return Err(self.wrong("it is longer than 1 MiB"));
        }
        line.truncate(line.trim_ascii_end().len());
        Ok(true)
    }

    /// An error about this line.
    pub fn wrong(&self, why: impl Into<String>) -> ProfileError {
        ProfileError::Line {
            line: self.number,
            why: why.into(),
        }
    }
}

/// Text of a line; what is no UTF-8 is replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().into()
}

/// A decimal number and nothing else.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(digit.into())
    })
}

/// Words between blanks.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|c| matches!(c, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

/// Costs of a line into `into`, which is cleared and made `width` long: what is left out is 0 (Cachegrind's manual,
/// 5.10). Errors: too many, or no number.
pub fn costs(line: &[u8], width: usize, into: &mut Vec<u64>) -> Result<(), &'static str> {
    into.clear();
    for word in words(line) {
        // Old files have a dot for 0.
        let value = if word == b"." { Some(0) } else { number(word) };
        into.push(value.ok_or("a cost is no number")?);
        if into.len() > width {
            return Err("it has more costs than there are events");
        }
    }
    into.resize(width, 0);
    Ok(())
}
