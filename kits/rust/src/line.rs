// SPDX-License-Identifier: Apache-2.0
//! Reads commands and writes replies of the protocol, with percent-encoded values.

use crate::Failure;
use std::fmt::{self, Write};
use std::io::{self, BufRead, Read};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The maximum length of a line in bytes, without its LF.
const LINE_MAX: usize = 65_536;

/// Reads a line without its LF, or returns `None` at the end of the input. A line that is too long is skipped, and is
/// a failure.
pub(crate) fn read(input: &mut dyn BufRead) -> io::Result<Option<Result<Vec<u8>, Failure>>> {
    let mut line = Vec::new();
    let mut bounded = Read::take(&mut *input, LINE_MAX as u64 + 1);
    bounded.read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.is_empty() {
        return Ok(None);
    } else if line.len() > LINE_MAX {
        input.skip_until(b'\n')?;
        let message = format!("the line is longer than {LINE_MAX} bytes");
        return Ok(Some(Err(Failure::usage(message))));
    }
    Ok(Some(Ok(line)))
}

/// A verb and its decoded arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub verb: String,
    pub arguments: Arguments,
}

impl Command {
    pub fn parse(line: &[u8]) -> Result<Self, Failure> {
        let mut words = line.split(|&byte| byte == b' ');
        let verb = String::from_utf8_lossy(words.next().unwrap_or_default()).into_owned();
        let mut arguments = Vec::new();
        for (i, word) in words.enumerate() {
            arguments.push(argument(word).ok_or_else(|| {
                let number = i + 1;
                Failure::usage(format!(
                    "argument {number} is not key=value, percent-encoded UTF-8"
                ))
            })?);
        }
        Ok(Self {
            verb,
            arguments: Arguments(arguments),
        })
    }
}

/// The arguments of a command, which are validated on access. If a key is repeated, its first value is used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments(Vec<(String, String)>);

impl Arguments {
    pub fn find(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    pub fn text(&self, key: &str) -> Result<&str, Failure> {
        self.find(key)
            .ok_or_else(|| Failure::usage(format!("the argument {key} is missing")))
    }

    pub fn integer<T>(&self, key: &str, range: RangeInclusive<T>) -> Result<T, Failure>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        let value = self.text(key)?;
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        let number = value.parse().ok().filter(|_| digits);
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            Failure::usage(format!(
                "{key} is not a whole number from {least} to {most}"
            ))
        })
    }
}

/// Returns the key and the decoded value of a word, if it is well-formed.
fn argument(word: &[u8]) -> Option<(String, String)> {
    let equals = word.iter().position(|&byte| byte == b'=')?;
    let (key, value) = (&word[..equals], &word[equals + 1..]);
    let key = str::from_utf8(key).ok().filter(|key| is_key(key))?;
    Some((key.to_owned(), decode(value)?))
}

/// Returns true for a key: `[a-z][a-z0-9_]*`.
fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns true if a byte of a value is not encoded.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~/:,+".contains(&byte)
}

fn decode(value: &[u8]) -> Option<String> {
    let mut decoded = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(&byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(*bytes.next()?)? * 16 + hex(*bytes.next()?)?,
            byte if is_plain(byte) => byte,
            _ => return None,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// A reply under construction.
#[derive(Debug)]
pub(crate) struct Reply(String);

impl Reply {
    pub fn new(verb: &str) -> Self {
        Self(format!("@lab {verb}"))
    }

    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.push(key, value);
        self
    }

    /// Adds an argument.
    pub fn push(&mut self, key: &str, value: impl fmt::Display) {
        assert!(is_key(key), "{key:?} is not a key");
        let line = &mut self.0;
        line.extend([" ", key, "="]);
        for byte in value.to_string().bytes() {
            if is_plain(byte) {
                line.push(char::from(byte));
            } else {
                write!(line, "%{byte:02X}").expect("writing to a String cannot fail");
            }
        }
    }

    /// Returns the line with its LF.
    pub fn line(mut self) -> String {
        self.0.push('\n');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<Command, Failure> {
        Command::parse(line.as_bytes())
    }

    #[test]
    fn cuts_a_line_into_decoded_words() {
        let command =
            parse("open case=point target=sqlite:/a%20b%2fc seed=%37 empty= seed=8").unwrap();
        assert_eq!(command.verb, "open");
        assert_eq!(command.arguments.text("target").unwrap(), "sqlite:/a b/c");
        assert_eq!(command.arguments.text("empty").unwrap(), "");
        assert_eq!(command.arguments.integer("seed", 0..=9).unwrap(), 7);
        assert_eq!(command.arguments.find("other"), None);
    }

    #[test]
    fn rejects_invalid_arguments() {
        for word in [
            "", "a", "=1", "A=1", "1a=1", "a-b=1", "é=1", "a=%", "a=%2", "a=%zz", "a=%+1", "a=x=y",
            "a=\t", "a=%ff", "a=é",
        ] {
            let failure = parse(&format!("run {word}")).unwrap_err();
            assert!(failure.message.starts_with("argument 1 is not "), "{word}");
        }
        assert!(parse("run a_1=~ ").is_err(), "a space at the end");
    }

    #[test]
    fn takes_whole_numbers_in_their_range_only() {
        for (value, is_valid) in [
            ("1", true),
            ("0100", true),
            ("18446744073709551615", true),
            ("0", false),
            ("18446744073709551616", false),
            ("+1", false),
            ("-1", false),
            ("1.0", false),
            ("", false),
            ("%C2%B2", false),
        ] {
            let command = parse(&format!("run n={value}")).unwrap();
            let number = command.arguments.integer("n", 1..=u64::MAX);
            assert_eq!(number.is_ok(), is_valid, "{value}");
        }
    }

    #[test]
    fn reads_the_longest_line_and_skips_a_longer_one() {
        let mut input = vec![b'x'; LINE_MAX];
        input.extend(b"\n\n");
        input.extend([b'y'; LINE_MAX + 1]);
        input.extend(b"\nlast");
        let mut input = input.as_slice();
        let mut next = || read(&mut input).unwrap();
        assert_eq!(next().unwrap().unwrap().len(), LINE_MAX);
        assert_eq!(next().unwrap().unwrap(), b"");
        assert!(next().unwrap().is_err());
        assert_eq!(next().unwrap().unwrap(), b"last");
        assert!(next().is_none());
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_is_decoded(value: String, key in "[a-z][a-z0-9_]{0,9}") {
            let line = Reply::new("opened").with(&key, &value).line();
            let words = line.strip_prefix("@lab ").unwrap().strip_suffix('\n').unwrap();
            prop_assert!(words.bytes().all(|b| is_plain(b) || b" %=_".contains(&b)));
            let command = parse(words).unwrap();
            prop_assert_eq!(command.arguments.text(&key).unwrap(), value);
        }

        #[test]
        fn any_bytes_are_a_command_or_a_failure(line in vec(any::<u8>(), 0..200)) {
            if let Err(failure) = Command::parse(&line) {
                prop_assert!(!failure.message.is_empty());
            }
        }

        #[test]
        fn a_damaged_command_never_panics(
            at in 0..60_usize,
            byte in prop::sample::select(b" =%&?\0\x80\xffaZ09".to_vec()),
        ) {
            let mut line = b"open case=select limit=100 target=sqlite:/tmp/%20x.db seed=7".to_vec();
            let at = at.min(line.len() - 1);
            line[at] = byte;
            if let Ok(command) = Command::parse(&line) {
                prop_assert!(command.verb.len() <= 3 * line.len());
                for (key, _) in command.arguments.0 {
                    prop_assert!(is_key(&key));
                }
            }
        }

        #[test]
        fn lines_are_read_as_they_were_written(lines in vec(vec(1..=255_u8, 0..80), 0..9)) {
            let lines: Vec<Vec<u8>> =
                lines.into_iter().map(|l| l.into_iter().filter(|&b| b != b'\n').collect()).collect();
            let bytes: Vec<u8> = lines.iter().flat_map(|l| l.iter().copied().chain([b'\n'])).collect();
            let mut input = bytes.as_slice();
            let mut received = Vec::new();
            while let Some(line) = read(&mut input).unwrap() {
                received.push(line.unwrap());
            }
            prop_assert_eq!(received, lines);
        }
    }
}
