// SPDX-License-Identifier: Apache-2.0
//! Finds the field that identifies the session in the prefix of a PostgreSQL log line.
//!
//! Source: PostgreSQL 17, 19.8.3 *What to Log*.

use super::prefix_time::{HeadTime, local_time, session_length, unix_time};
use memchr::memmem;

/// A prefix, split at its timestamps.
#[derive(Clone, Debug)]
pub struct PrefixParts<'l> {
    /// The timestamps, in order.
    pub times: Vec<HeadTime<'l>>,
    /// The texts before, between and after the timestamps.
    pub texts: Vec<&'l [u8]>,
}

/// The field of a prefix that identifies the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessField {
    /// The first field that looks like a session ID or a process ID.
    #[default]
    First,
    /// The number in a certain column.
    Number(NumberColumn),
    /// The address and the port of the client.
    Client,
    /// No field identifies the session.
    Absent,
    /// Multiple numbers may be the process ID.
    Unclear,
}

/// The form of a number in a prefix, in the order in which numbers are likely to be process IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NumberForm {
    /// After a key such as `pid=`.
    Named,
    /// In brackets.
    Bracketed,
    /// Between separators.
    Alone,
    /// In parentheses, but not the port of a client.
    Parenthesized,
    /// Followed by the line number, as in `[%p-%l]`.
    WithLine,
}

/// A number in a prefix.
#[derive(Clone, Copy, Debug)]
struct FoundNumber<'l> {
    /// The index among all numbers of the same form, including numbers that cannot be process IDs.
    index: usize,
    number: &'l [u8],
    /// The line number that follows the number, if any.
    line: Option<&'l [u8]>,
}

impl NumberForm {
    const ALL: [NumberForm; 5] = [
        NumberForm::Named,
        NumberForm::Bracketed,
        NumberForm::Alone,
        NumberForm::Parenthesized,
        NumberForm::WithLine,
    ];

    /// Returns the numbers in `text` that have this form, in order.
    fn numbers(self, text: &[u8]) -> Vec<FoundNumber<'_>> {
        let all: Vec<(&[u8], Option<&[u8]>)> = match self {
            NumberForm::Named => named_number(text).map(|n| (n, None)).into_iter().collect(),
            NumberForm::Bracketed => in_brackets(text).map(|n| (n, None)).collect(),
            NumberForm::Alone => words(text).map(|n| (n, None)).collect(),
            NumberForm::Parenthesized => in_parentheses(text).map(|n| (n, None)).collect(),
            NumberForm::WithLine => {
                let bracketed = in_brackets(text).filter_map(|n| number_with_line(n, b"-:/,# "));
                let alone =
                    text.split(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'|' | b';'));
                let alone = alone.filter_map(|n| number_with_line(n, b"-:"));
                let all = bracketed.chain(alone);
                all.map(|(number, line)| (number, Some(line))).collect()
            }
        };
        // Query IDs can be negative or long.
        let numbers = all.into_iter().filter(|(word, _)| is_any_number(word));
        let found = |(index, (number, line))| FoundNumber {
            index,
            number,
            line,
        };
        let found = numbers.enumerate().map(found);
        found.filter(|found| is_number(found.number)).collect()
    }
}

/// A column of numbers in the prefixes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberColumn {
    /// The form of the numbers.
    pub form: NumberForm,
    /// True if the numbers precede the first timestamp.
    is_before: bool,
    /// The index in `PrefixParts::texts` of the text that contains the number.
    text: usize,
    /// The index among the numbers in that text that have the same form.
    index: usize,
}

impl<'l> PrefixParts<'l> {
    /// Splits a line's prefix at its timestamps.
    pub fn new(prefix: &'l [u8]) -> PrefixParts<'l> {
        let mut parts = PrefixParts {
            times: Vec::new(),
            texts: Vec::new(),
        };
        let (mut begin, mut at) = (0, 0);
        while at + 12 < prefix.len() {
            let is_begin = at == 0 || !prefix[at - 1].is_ascii_alphanumeric();
            let text = &prefix[at..];
            let time = (is_begin && text[0].is_ascii_digit())
                .then(|| local_time(text).or_else(|| unix_time(text)));
            match time.flatten() {
                Some((time, length)) => {
                    parts.times.push(time);
                    parts.texts.push(&prefix[begin..at]);
                    at += length;
                    begin = at;
                }
                None => at += 1,
            }
        }
        parts.texts.push(&prefix[begin..]);
        parts
    }

    /// Returns the texts after the first timestamp, and then the text before the first timestamp.
    /// Each text has its index.
    fn ordered(&self) -> impl Iterator<Item = (usize, &'l [u8])> {
        let all = self.texts.iter().copied().enumerate();
        all.clone().skip(1).chain(all.take(1))
    }

    /// Returns the session, in the format of `%c`.
    pub fn session(&self) -> Option<&'l [u8]> {
        self.ordered().find_map(|(_, text)| find_session(text))
    }

    /// Returns the address and the port of the client.
    pub fn client(&self) -> Option<&'l [u8]> {
        self.ordered().find_map(|(_, text)| find_client(text))
    }

    /// Returns all numbers that may be process IDs, from the most to the least likely.
    pub fn numbers(&self) -> Vec<(NumberColumn, &'l [u8])> {
        let forms = NumberForm::ALL.iter();
        forms.flat_map(|form| self.numbers_of(*form)).collect()
    }

    fn numbers_of(&self, form: NumberForm) -> Vec<(NumberColumn, &'l [u8])> {
        let found = self.found(form).into_iter();
        found
            .map(|(column, found)| (column, found.number))
            .collect()
    }

    fn found(&self, form: NumberForm) -> Vec<(NumberColumn, FoundNumber<'l>)> {
        let column = |text, index| NumberColumn {
            form,
            is_before: text == 0 && self.texts.len() > 1,
            text,
            index,
        };
        let texts = self.ordered().flat_map(|(text, bytes)| {
            let numbers = form.numbers(bytes).into_iter();
            numbers.map(move |found| (column(text, found.index), found))
        });
        texts.collect()
    }

    /// Returns the line number that follows the number in `column`.
    pub fn line_of(&self, column: NumberColumn) -> Option<&'l [u8]> {
        let found = self.found(column.form).into_iter();
        let mut found = found.filter(|(other, _)| *other == column);
        found.next()?.1.line
    }

    /// Returns true if there is a number outside of the timestamps that is not a part of a word.
    pub fn has_number(&self) -> bool {
        let begins = |text: &[u8], at: usize| {
            text[at].is_ascii_digit() && (at == 0 || !text[at - 1].is_ascii_alphanumeric())
        };
        let mut texts = self.texts.iter();
        texts.any(|text| (0..text.len()).any(|at| begins(text, at)))
    }
}

impl ProcessField {
    /// Finds the field in a prefix.
    pub fn find<'l>(self, parts: &PrefixParts<'l>) -> Option<&'l [u8]> {
        match self {
            ProcessField::First => parts
                .session()
                .or_else(|| {
                    // `[%l-1]` contains the line number instead of the process ID.
                    let is_process = |found: &FoundNumber| found.line != Some(b"1");
                    let mut forms = NumberForm::ALL.iter();
                    forms.find_map(|form| {
                        let mut found = parts.found(*form).into_iter().map(|(_, found)| found);
                        Some(found.find(is_process)?.number)
                    })
                })
                .or_else(|| parts.client()),
            ProcessField::Number(column) => {
                let numbers = parts.numbers_of(column.form);
                let number = numbers.iter().find(|(found, _)| *found == column)?;
                Some(number.1)
            }
            ProcessField::Client => parts.client(),
            ProcessField::Absent | ProcessField::Unclear => None,
        }
    }
}

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.len() <= 10 && word.iter().all(u8::is_ascii_digit)
}

/// Returns the texts in brackets.
fn in_brackets(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = text.split(|b| *b == b'[').skip(1);
    parts.filter_map(|part| Some(&part[..memchr::memchr(b']', part)?]))
}

/// Returns the texts in parentheses that follow a separator, unlike the port in `10.0.0.5(51166)`.
fn in_parentheses(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let opens = memchr::memchr_iter(b'(', text);
    let is_alone =
        |open: &usize| *open == 0 || matches!(text[open - 1], b' ' | b'\t' | b',' | b'|');
    opens.filter(is_alone).filter_map(|open| {
        let inner = &text[open + 1..];
        Some(&inner[..memchr::memchr(b')', inner)?])
    })
}

/// Returns the words between separators.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_edge = |b: &u8| {
        let marks = [b' ', b'\t', b':', b',', b'|', b';', b'<', b'>', b'{', b'}'];
        marks.contains(b)
    };
    text.split(is_edge)
}

fn is_any_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Splits `%p-%l`, or with another separator, into the process ID and the line number.
fn number_with_line<'l>(text: &'l [u8], separators: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let at = text.iter().position(|b| separators.contains(b))?;
    let (process, line) = (&text[..at], text[at + 1..].trim_ascii_start());
    (is_number(process) && is_number(line)).then_some((process, line))
}

fn named_number(text: &[u8]) -> Option<&[u8]> {
    const NAMES: [&[u8]; 6] = [
        b"pid=",
        b"pid:",
        b"process=",
        b"process:",
        b"process ",
        b"p=",
    ];
    let lower = text.to_ascii_lowercase();
    NAMES.iter().find_map(|name| {
        let at = memmem::find(&lower, name)
            .filter(|at| *at == 0 || !lower[*at - 1].is_ascii_alphanumeric())?;
        let rest = &text[at + name.len()..];
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        Some(&rest[..digits]).filter(|n| is_number(n))
    })
}

/// Finds `%c`, the start time and process ID of a session in hexadecimal digits: `65a1b2c3.4d2`.
fn find_session(text: &[u8]) -> Option<&[u8]> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    text.split(|b| !is_word(b))
        .find(|word| session_length(word) == word.len() && !word.is_empty())
}

/// Finds `%r`, the address and the port of a client: `10.0.0.5(51166)`.
pub fn find_client(text: &[u8]) -> Option<&[u8]> {
    let is_edge = |b: &u8| matches!(b, b' ' | b'@' | b',' | b'=' | b'|' | b';' | b'<' | b'[');
    memchr::memchr_iter(b'(', text).find_map(|open| {
        let begin = text[..open].iter().rposition(&is_edge);
        let begin = begin.map_or(0, |edge| edge + 1);
        let port = &text[open + 1..];
        let port = &port[..memchr::memchr(b')', port)?];
        let is_client = begin < open && is_number(port);
        is_client.then(|| &text[begin..open + port.len() + 2])
    })
}
