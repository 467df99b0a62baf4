// SPDX-License-Identifier: Apache-2.0
//! Finds the field that identifies the session in the prefix of a PostgreSQL log line.
//!
//! Source: PostgreSQL 17, 19.8.3 *What to Log*.

use super::prefix_time::{HeadTime, local_time, session_length, unix_time};
use memchr::memmem;

/// A prefix, split at its times.
#[derive(Clone, Debug)]
pub struct PrefixParts<'l> {
    /// The times, in order.
    pub times: Vec<HeadTime<'l>>,
    /// The texts before, between and after the times.
    pub texts: Vec<&'l [u8]>,
}

/// The field of a prefix that identifies the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessField {
    /// The first field with the form of a session or of a process ID.
    #[default]
    First,
    /// The number in this column.
    Number(NumberColumn),
    /// The address and the port of the client.
    Client,
    /// No field.
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
    /// Followed by the line number, as in `[%p-%l]`.
    WithLine,
}

impl NumberForm {
    const ALL: [NumberForm; 4] = [
        NumberForm::Named,
        NumberForm::Bracketed,
        NumberForm::Alone,
        NumberForm::WithLine,
    ];

    /// Returns the numbers of this form in a text, in order.
    fn numbers(self, text: &[u8]) -> Vec<&[u8]> {
        match self {
            NumberForm::Named => named_number(text).into_iter().collect(),
            NumberForm::Bracketed => in_brackets(text).filter(|n| is_number(n)).collect(),
            NumberForm::Alone => {
                let is_edge = |b: &u8| matches!(b, b' ' | b':' | b',' | b'|' | b';' | b'<' | b'>');
                text.split(is_edge).filter(|n| is_number(n)).collect()
            }
            NumberForm::WithLine => in_brackets(text).filter_map(number_with_line).collect(),
        }
    }
}

/// A column of numbers in the prefixes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberColumn {
    /// The form of the numbers.
    pub form: NumberForm,
    /// True if the numbers precede the first time.
    is_before: bool,
    /// The index of the text that contains the number.
    text: usize,
    /// The index of the number among the numbers of its form in this text.
    index: usize,
}

impl<'l> PrefixParts<'l> {
    /// Splits a prefix at its times.
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

    /// Returns the texts after the first time, and then the text before it, with their indexes.
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
        let column = |text, index| NumberColumn {
            form,
            is_before: text == 0 && self.texts.len() > 1,
            text,
            index,
        };
        let texts = self.ordered().flat_map(|(text, bytes)| {
            let numbers = form.numbers(bytes).into_iter().enumerate();
            numbers.map(move |(index, number)| (column(text, index), number))
        });
        texts.collect()
    }
}

impl ProcessField {
    /// Finds the field in a prefix.
    pub fn find<'l>(self, parts: &PrefixParts<'l>) -> Option<&'l [u8]> {
        match self {
            ProcessField::First => parts
                .session()
                .or_else(|| {
                    let mut forms = NumberForm::ALL.iter();
                    forms.find_map(|form| Some(parts.numbers_of(*form).first()?.1))
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

/// Parses `[%p-%l]`, as opposed to `[%l-1]`, which contains the line number.
fn number_with_line(inner: &[u8]) -> Option<&[u8]> {
    let dash = memchr::memchr(b'-', inner)?;
    let (process, line) = (&inner[..dash], &inner[dash + 1..]);
    (is_number(process) && is_number(line) && line != b"1").then_some(process)
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
