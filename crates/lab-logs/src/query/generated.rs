// SPDX-License-Identifier: Apache-2.0
//! Finds names that a client makes up for each use: the names of savepoints, cursors, prepared
//! statements and temporary tables.
//!
//! PostgreSQL 17's `pg_stat_statements` and MySQL's digests ignore most of these names, too.

use crate::sql::{Token, TokenKind};
use std::ops::Range;

/// The minimum number of digits for a number to make the name of a temporary table count as a
/// generated name.
const MIN_DIGITS: usize = 3;

/// The mark that replaces a number in a name. It stays a part of the name.
const MARK: &[u8] = "…".as_bytes();

/// A token that is a generated name.
pub struct GeneratedName {
    /// The index of the token.
    pub token: usize,
    pub kind: NameKind,
}

/// The part of a name that is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The whole name.
    Whole,
    /// The numbers in the name of a temporary table.
    Table,
}

/// Returns the tokens of a text that are generated names, in ascending order.
pub fn generated_names(text: &[u8], tokens: &[Token]) -> Vec<GeneratedName> {
    let is_end = |token: &Token| token.kind == TokenKind::Symbol && text[token.bytes.start] == b';';
    let mut names = Vec::new();
    let mut begin = 0;
    for statement in tokens.split(is_end) {
        let statement = Statement {
            text,
            tokens,
            bounds: begin..begin + statement.len(),
        };
        names.extend(statement.name());
        begin = statement.bounds.end + 1;
    }
    names
}

/// One of the statements of a text.
struct Statement<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
    bounds: Range<usize>,
}

impl Statement<'_> {
    /// Returns the generated name in the statement, if there is one.
    fn name(&self) -> Option<GeneratedName> {
        let begin = self.first_word();
        let (token, kind) = match &self.word(begin)[..] {
            b"savepoint" | b"close" => (begin + 1, NameKind::Whole),
            b"release" => (self.behind(begin + 1, &[b"savepoint"]), NameKind::Whole),
            b"rollback" => {
                let to = self.behind(begin + 1, &[b"work", b"transaction"]);
                if self.word(to) != b"to" {
                    return None;
                }
                (self.behind(to + 1, &[b"savepoint"]), NameKind::Whole)
            }
            b"declare" if self.is_cursor(begin + 2) => (begin + 1, NameKind::Whole),
            b"fetch" | b"move" => (self.bounds.end.saturating_sub(1), NameKind::Whole),
            b"prepare" | b"execute" => (begin + 1, NameKind::Whole),
            b"deallocate" => (self.behind(begin + 1, &[b"prepare"]), NameKind::Whole),
            b"drop" if self.word(begin + 1) == b"prepare" => (begin + 2, NameKind::Whole),
            b"create" | b"drop" => (self.temporary_table(begin + 1)?, NameKind::Table),
            _ => return None,
        };
        (token > begin && self.is_generated(token, kind)).then_some(GeneratedName { token, kind })
    }

    /// Returns the index of the first word of the statement itself, after a phase of the extended
    /// protocol and `EXPLAIN`.
    fn first_word(&self) -> usize {
        let begin = self.bounds.start;
        let is_phase = begin == 0
            && matches!(&self.word(0)[..], b"parse" | b"bind")
            && self.is_symbol(1, b':');
        let begin = if is_phase { 2 } else { begin };
        match &self.word(begin)[..] {
            b"explain" => self.behind(begin + 1, &[b"analyze", b"verbose"]),
            _ => begin,
        }
    }

    fn is_generated(&self, token: usize, kind: NameKind) -> bool {
        const KEYWORDS: [&[u8]; 5] = [b"all", b"immediate", b"transaction", b"from", b"in"];
        let is_name = self.bounds.contains(&token)
            && matches!(
                self.tokens[token].kind,
                TokenKind::Word | TokenKind::QuotedName
            );
        let is_whole = kind == NameKind::Whole;
        let is_behind_symbol = token > 0 && self.tokens[token - 1].kind == TokenKind::Symbol;
        let next = self
            .tokens
            .get(token + 1)
            .filter(|_| token + 1 < self.bounds.end);
        let is_before_end =
            next.is_none_or(|next| next.kind == TokenKind::Word) || self.is_symbol(token + 1, b'(');
        // MySQL's dynamic SQL can name a variable.
        let is_alone = !is_behind_symbol && is_before_end;
        is_name && (!is_whole || is_alone && !KEYWORDS.contains(&&self.word(token)[..]))
    }

    fn is_cursor(&self, begin: usize) -> bool {
        let end = self.bounds.end.min(begin + 8);
        (begin..end).any(|at| self.word(at) == b"cursor")
    }

    /// Returns the index of the name of a temporary table in a statement that creates or drops it.
    ///
    /// `begin` is the index after CREATE or DROP.
    fn temporary_table(&self, begin: usize) -> Option<usize> {
        let at = self.behind(begin, &[b"or", b"replace", b"global", b"local"]);
        let is_temporary = matches!(&self.word(at)[..], b"temp" | b"temporary");
        let at = self.behind(at, &[b"temp", b"temporary", b"unlogged", b"table"]);
        let name = self.behind(at, &[b"if", b"not", b"exists"]);
        let name = if self.is_symbol(name + 1, b'.') {
            name + 2
        } else {
            name
        };
        (is_temporary && self.word(at - 1) == b"table").then_some(name)
    }

    /// Returns the index of the first token from `begin` that is none of `words`.
    fn behind(&self, begin: usize, words: &[&[u8]]) -> usize {
        let mut at = begin;
        while words.contains(&&self.word(at)[..]) {
            at += 1;
        }
        at
    }

    /// Returns the word at an index, in lower case and with at most 32 bytes.
    ///
    /// Returns an empty word for other tokens.
    fn word(&self, at: usize) -> Vec<u8> {
        let token = self.tokens.get(at).filter(|_| self.bounds.contains(&at));
        let word = token.filter(|token| token.kind == TokenKind::Word);
        word.map_or_else(Vec::new, |token| {
            let text = &self.text[token.bytes.clone()];
            text[..text.len().min(32)].to_ascii_lowercase()
        })
    }

    fn is_symbol(&self, at: usize, symbol: u8) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|t| t.kind == TokenKind::Symbol && self.text[t.bytes.start] == symbol)
    }
}

/// Returns true if a name looks like the name of a temporary table with a number, such as
/// `tmp_9000`.
pub fn has_temporary_name(name: &[u8]) -> bool {
    let plain = match name {
        [b'"' | b'`', rest @ ..] => rest,
        name => name,
    };
    let plain = plain.strip_prefix(b"_").unwrap_or(plain);
    let letters = plain.iter().take_while(|b| b.is_ascii_alphabetic());
    let first = &plain[..letters.count()];
    let words: [&[u8]; 3] = [b"tmp", b"temp", b"temporary"];
    let is_temporary = words.iter().any(|word| word.eq_ignore_ascii_case(first));
    let mut numbers = name.split(|b| !b.is_ascii_digit());
    is_temporary && numbers.any(|number| number.len() >= MIN_DIGITS)
}

/// Returns the name of a temporary table with `…` instead of its decimal and hexadecimal numbers.
pub fn without_numbers(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let is_edge = |b: &u8| !b.is_ascii_alphanumeric();
    let mut at = 0;
    while at < name.len() {
        let length = name[at..].iter().position(is_edge);
        let word = &name[at..at + length.unwrap_or(name.len() - at)];
        let is_hex = word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit);
        if is_hex && word.iter().any(u8::is_ascii_digit) {
            plain.extend(MARK);
        } else {
            let mut is_within = false;
            for byte in word {
                let is_digit = byte.is_ascii_digit();
                if !is_digit {
                    plain.push(*byte);
                } else if !is_within {
                    plain.extend(MARK);
                }
                is_within = is_digit;
            }
        }
        at += word.len();
        if let Some(edge) = name.get(at) {
            plain.push(*edge);
            at += 1;
        }
    }
    plain
}
