// SPDX-License-Identifier: Apache-2.0
//! Statements -> queries: literals are `?`, lists of them `(…)`, comments and line breaks are gone.

use crate::route::{cut, printable};

/// Bytes of a statement that are read.
const READ: usize = 4096;

/// A statement without what varies.
pub fn fold(statement: &[u8]) -> String {
    let text = &statement[..statement.len().min(READ)];
    let mut folded: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        at += match rest {
            [b'\'', ..] => {
                literal(&mut folded);
                quoted(rest, b'\'')
            }
            [quote @ (b'"' | b'`'), ..] => {
                let n = quoted(rest, *quote);
                folded.extend(&rest[..n]);
                n
            }
            [b'-', b'-', ..] | [b'#', ..] => {
                space(&mut folded);
                memchr::memchr(b'\n', rest).unwrap_or(rest.len())
            }
            [b'/', b'*', ..] => {
                space(&mut folded);
                memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
            }
            [b'$', b'0'..=b'9', ..] => {
                literal(&mut folded);
                1 + digits(&rest[1..])
            }
            [b'0'..=b'9', ..] if !in_word(&folded) => {
                literal(&mut folded);
                numeral(rest)
            }
            [b, ..] if b.is_ascii_whitespace() => {
                space(&mut folded);
                1
            }
            [b, ..] => {
                folded.push(*b);
                1
            }
            [] => 1,
        };
    }
    while matches!(folded.last(), Some(b' ' | b';')) {
        folded.pop();
    }
    cut(printable(&fold_lists(&folded)))
}

fn space(folded: &mut Vec<u8>) {
    if !matches!(folded.last(), None | Some(b' ' | b'(')) {
        folded.push(b' ');
    }
}

/// Appends `?` for a literal. A sign before it is a part of it, unless an operand is before the sign.
fn literal(folded: &mut Vec<u8>) {
    if let [.., before, b'-'] = folded[..]
        && matches!(before, b' ' | b'(' | b',' | b'=')
    {
        folded.pop();
    }
    folded.push(b'?');
}

fn in_word(folded: &[u8]) -> bool {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..);
    folded.last().is_some_and(is_word)
}

/// The length of a quoted text with its quotes, which are doubled or escaped within.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'\'' => at += 2,
            b if b == quote => match text.get(at + 1) {
                Some(next) if *next == quote => at += 2,
                _ => return at + 1,
            },
            _ => at += 1,
        }
    }
    text.len()
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn numeral(text: &[u8]) -> usize {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
    let n = text.iter().take_while(|b| is_part(b)).count();
    match (text[n - 1], text.get(n)) {
        (b'e' | b'E', Some(b'-' | b'+')) => n + 1 + digits(&text[n + 1..]),
        _ => n,
    }
}

/// `(?, ?, ?)`, and rows of them, are `(…)`.
fn fold_lists(text: &[u8]) -> Vec<u8> {
    let mut folded: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let is_list = text[at] == b'(' && {
            let inner = &text[at + 1..];
            inner
                .iter()
                .position(|b| !matches!(b, b'?' | b',' | b' '))
                .is_some_and(|end| {
                    inner[end] == b')' && inner[..end].iter().filter(|b| **b == b'?').count() > 1
                })
        };
        if is_list {
            let end = at + memchr::memchr(b')', &text[at..]).unwrap_or(0);
            let before = folded.trim_ascii_end();
            // Another row of the same.
            let is_row = before.last() == Some(&b',')
                && before[..before.len() - 1]
                    .trim_ascii_end()
                    .ends_with("(…)".as_bytes());
            if is_row {
                let row_end = before[..before.len() - 1].trim_ascii_end().len();
                folded.truncate(row_end);
            } else {
                folded.extend("(…)".as_bytes());
            }
            at = end + 1;
        } else {
            folded.push(text[at]);
            at += 1;
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_gone() {
        for (statement, query) in [
            (
                "SELECT * FROM t WHERE id = 42;",
                "SELECT * FROM t WHERE id = ?",
            ),
            (
                "select 'it''s', \"Col1\" from t1 where x=-1.5e-3",
                "select ?, \"Col1\" from t1 where x=?",
            ),
            ("SELECT\n  a -- why\n FROM t", "SELECT a FROM t"),
            (
                "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
                "INSERT INTO t VALUES (…)",
            ),
            (
                "… WHERE id IN ($1,$2, $3) LIMIT 10",
                "… WHERE id IN (…) LIMIT ?",
            ),
            ("SELECT f(1)", "SELECT f(?)"),
            ("SELECT 'open", "SELECT ?"),
            ("SELECT '\\", "SELECT ?"),
            ("/* x */ SELECT 0x1F", "SELECT ?"),
        ] {
            assert_eq!(fold(statement.as_bytes()), query);
        }
    }
}
