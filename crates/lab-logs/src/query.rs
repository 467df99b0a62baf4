// SPDX-License-Identifier: Apache-2.0
//! Normalizes statements into queries.
//!
//! Literals become `?`, lists of literals become `(…)`, comments and line breaks are removed.

mod generated;
mod spelling;

use crate::route::printable;
pub use crate::sql::Dialect;
use crate::sql::{Token, TokenKind, is_operand, tokens};
use generated::{GeneratedName, NameKind, generated_names, has_temporary_name, without_numbers};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The maximum length of a query's name, in bytes.
///
/// The name of a longer query contains only the beginning and the end of the query, and a digest
/// that distinguishes it from other queries.
const MAX_NAME: usize = 200;
/// The number of bytes from the beginning of a longer query that its name contains.
///
/// The other bytes come from the end of the query.
const NAME_HEAD: usize = 110;
/// The maximum number of distinct rows that are kept for each VALUES clause.
const MAX_ROWS: usize = 8;
/// The maximum depth of nested VALUES clauses whose rows are merged.
const MAX_DEPTH: usize = 16;
/// The name for statements for which the log contains only the duration.
pub const UNKNOWN: &str = "(statement not in the log)";
/// The name for statements that contain only comments and blanks.
const EMPTY: &str = "(empty statement)";
/// The placeholder for a list of literals.
const LIST: &[u8] = "…".as_bytes();

/// Returns the name of the query that a statement belongs to.
///
/// A query is a statement without its variable values. Different queries have different names.
pub fn fold(statement: &[u8], dialect: Dialect) -> String {
    name(&normalized(statement, dialect))
}

/// Returns the full text of a statement without its variable values.
fn normalized(text: &[u8], dialect: Dialect) -> Vec<u8> {
    let tokens = tokens(text, dialect);
    let mut writer = QueryWriter {
        text,
        dialect,
        closing: closing(text, &tokens),
        names: generated_names(text, &tokens),
        tokens: &tokens,
        folded: Vec::with_capacity(text.len().min(4096)),
        depth: 0,
    };
    writer.write(0..tokens.len(), false);
    let mut folded = writer.folded;
    loop {
        let length = match folded[..] {
            [.., b' ' | b';'] => 1,
            // At the end, `--` is a comment.
            [.., b'-', b'-'] if dialect.is_mysql() => 2,
            _ => return folded,
        };
        folded.truncate(folded.len() - length);
    }
}

/// Splits the name of a query into a phase of the extended protocol, such as `parse: `, and the name
/// of the statement. The phase is empty for the statement itself.
pub fn split_phase(name: &str) -> (&str, &str) {
    const PHASES: [&str; 2] = ["parse: ", "bind: "];
    let phase = PHASES.iter().find(|phase| name.starts_with(**phase));
    name.split_at(phase.map_or(0, |phase| phase.len()))
}

/// Turns a query into a printable name that is short enough to display.
///
/// If the name does not show the full query, it ends with a digest of the query, without its phase.
fn name(query: &[u8]) -> String {
    if query.is_empty() {
        return EMPTY.into();
    }
    let text = printable(query);
    if text.len() <= MAX_NAME && text.as_bytes() == query {
        return text;
    }
    let phase = split_phase(&text).0.len();
    let digest = digest(query.get(phase..).unwrap_or(query));
    if text.len() <= MAX_NAME {
        return format!("{text} [{digest}]");
    }
    // Long queries usually differ after a long list of columns.
    let select = end_of_select(&text);
    let (head, rest) = match begin_of_from(&text).filter(|_| select > 0) {
        Some(from) => (&text[..select], &text[from..]),
        None => (floor(&text, NAME_HEAD), ""),
    };
    let room = MAX_NAME.saturating_sub(head.len());
    let tail = match rest {
        "" => &text[text.len() - floor_back(&text, room)..],
        rest if rest.len() <= room => rest,
        rest => {
            let end = floor_back(rest, room / 3);
            let (begin, end) = (floor(rest, room - room / 3), &rest[rest.len() - end..]);
            return format!(
                "{head} … {} … {} [{digest}]",
                begin.trim_end(),
                end.trim_start()
            );
        }
    };
    format!("{} … {} [{digest}]", head.trim_end(), tail.trim_start())
}

/// Returns a digest of a query.
///
/// The digest does not depend on the spelling of the query.
fn digest(query: &[u8]) -> String {
    let digest = Sha256::digest(spelling::canonical(query));
    digest[..6].iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns a key that is the same for all names of a query.
///
/// The names can differ in the case of keywords and in blanks around symbols. The key of a phase of
/// the extended protocol begins with the phase.
pub fn key(name: &str) -> String {
    let (phase, name) = split_phase(name);
    let is_digest = |text: &&str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let inner = name
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once(" ["));
    let known = inner.map(|(_, digest)| digest).filter(is_digest);
    let digest = known.map_or_else(|| digest(name.as_bytes()), str::to_owned);
    format!("{phase}{digest}")
}

/// Returns the offset after the keyword SELECT at the beginning of a query, also after the phase of
/// the extended protocol.
///
/// Returns 0 if the query does not begin with SELECT.
fn end_of_select(query: &str) -> usize {
    let begin = split_phase(query).0.len();
    let word = query.as_bytes()[begin..].get(..7);
    if word.is_some_and(|word| word.eq_ignore_ascii_case(b"select ")) {
        begin + 6
    } else {
        0
    }
}

/// Returns the offset of the first FROM outside of brackets.
fn begin_of_from(query: &str) -> Option<usize> {
    let mut depth = 0_i32;
    let bytes = query.as_bytes();
    (0..bytes.len()).find(|at| {
        match bytes[*at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        let is_from = bytes[*at..].len() > 5 && bytes[*at..*at + 5].eq_ignore_ascii_case(b"from ");
        depth == 0 && is_from && *at > 0 && bytes[*at - 1] == b' '
    })
}

/// Returns the longest beginning of `text` that has at most `length` bytes and ends between
/// characters.
fn floor(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Returns the length of the longest end of `text` that has at most `length` bytes and begins
/// between characters.
fn floor_back(text: &str, length: usize) -> usize {
    let begin = text.len().saturating_sub(length);
    (begin..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .map_or(0, |at| text.len() - at)
}

/// Returns the index of the closing token for each opening bracket, and 0 for all other tokens.
fn closing(text: &[u8], tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (i, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| t.kind == TokenKind::Symbol)
    {
        match text[token.bytes.start] {
            b'(' | b'[' => open.push(i),
            b')' | b']' => {
                if let Some(opening) = open.pop() {
                    closing[opening] = i;
                }
            }
            _ => {}
        }
    }
    closing
}

struct QueryWriter<'t> {
    text: &'t [u8],
    dialect: Dialect,
    tokens: &'t [Token],
    /// The tokens that are generated names, which the client makes up for each use, in ascending
    /// order.
    names: Vec<GeneratedName>,
    closing: Vec<usize>,
    folded: Vec<u8>,
    /// The depth of the nested rows that are currently written.
    depth: usize,
}

impl QueryWriter<'_> {
    /// Writes a range of tokens.
    ///
    /// In a row of VALUES, words such as `NULL` count as literals.
    fn write(&mut self, tokens: Range<usize>, is_row: bool) {
        let mut at = tokens.start;
        while at < tokens.end {
            let token = &self.tokens[at];
            let keyword = self.list_keyword(at);
            self.space(at);
            if let Some(kind) = self.generated(at) {
                self.push_generated(at, kind);
                at += 1;
                continue;
            }
            if self.is_literal(at, is_row) {
                self.push_literal(at);
                at += 1;
                // `'a' 'b'` is one string.
                while at < tokens.end && self.tokens[at].kind == TokenKind::Literal {
                    at += 1;
                }
                continue;
            }
            let is_open = self.is_symbol(at, b'(') || self.is_symbol(at, b'[');
            if is_open && self.is_list(at, false) {
                at = self.write_list(at);
                continue;
            }
            self.folded.extend(&self.text[token.bytes.clone()]);
            at += 1;
            match keyword {
                Some(ListKeyword::Values) if self.depth < MAX_DEPTH => {
                    at = self.write_rows(at, tokens.end)
                }
                Some(ListKeyword::In) if self.is_opening(at) && self.is_list(at, true) => {
                    self.space(at);
                    at = self.write_list(at);
                }
                Some(ListKeyword::In) if self.depth < MAX_DEPTH && self.has_equal_items(at) => {
                    at = self.write_equal_items(at);
                }
                _ => {}
            }
        }
    }

    /// Returns the kind of the generated name at `at`, or `None` if the token is not a generated
    /// name.
    fn generated(&self, at: usize) -> Option<NameKind> {
        let known = self.names.binary_search_by_key(&at, |name| name.token);
        let is_temporary = || {
            let text = &self.text[self.tokens[at].bytes.clone()];
            self.is_name(at) && has_temporary_name(text)
        };
        let kind = known.ok().map(|index| self.names[index].kind);
        kind.or_else(|| is_temporary().then_some(NameKind::Table))
    }

    fn push_generated(&mut self, at: usize, kind: NameKind) {
        let text = &self.text[self.tokens[at].bytes.clone()];
        let is_behind_literal = at > 0 && self.tokens[at - 1].kind == TokenKind::Literal;
        match kind {
            NameKind::Whole if is_behind_literal => {
                let blanks = self.folded.iter().rev().take_while(|b| **b == b' ').count();
                self.folded.truncate(self.folded.len() - blanks);
            }
            NameKind::Whole => self.folded.push(b'?'),
            NameKind::Table => self.folded.extend(without_numbers(text)),
        }
    }

    /// Writes a blank if the statement has a significant blank before the token at `at`.
    fn space(&mut self, at: usize) {
        let token = &self.tokens[at];
        let is_before_close = token.kind == TokenKind::Symbol
            && matches!(self.text[token.bytes.start], b')' | b',' | b';');
        let is_begin = matches!(self.folded.last(), None | Some(b' ' | b'('));
        // A blank would turn the minus signs into a comment if the original comment was removed
        // here.
        let is_behind_signs = self.dialect.is_mysql() && self.folded.ends_with(b"--");
        if token.is_spaced && !is_before_close && !is_begin && !is_behind_signs {
            self.folded.push(b' ');
        }
    }

    /// Appends `?`, and absorbs the signs before the literal unless a value precedes them.
    ///
    /// A `?` operator is treated as a value, because literals are also written as `?`.
    fn push_literal(&mut self, at: usize) {
        let is_value =
            |at: usize| is_operand(&self.tokens[..=at], self.text) || self.is_symbol(at, b'?');
        let is_part = |at: &usize| self.is_sign(*at) && !at.checked_sub(1).is_some_and(is_value);
        let signs = (0..at).rev().take_while(is_part).count();
        for sign in (at - signs..at).rev() {
            while self.folded.last() == Some(&b' ') {
                self.folded.pop();
            }
            self.folded.pop();
            self.space(sign);
        }
        // `@?` would be an operator.
        if !self.dialect.is_mysql() && self.folded.ends_with(b"@") {
            self.folded.push(b' ');
        }
        self.folded.push(b'?');
    }

    /// Writes a list of literals and skips the rows of literals that follow.
    ///
    /// Returns the index after these rows.
    fn write_list(&mut self, open: usize) -> usize {
        let (begin, end) = (
            &self.tokens[open].bytes,
            &self.tokens[self.closing[open]].bytes,
        );
        self.folded.extend(&self.text[begin.clone()]);
        self.folded.extend(LIST);
        self.folded.extend(&self.text[end.clone()]);
        let mut at = self.closing[open] + 1;
        while self.is_symbol(at, b',') && self.is_opening(at + 1) && self.is_list(at + 1, false) {
            at = self.closing[at + 1] + 1;
        }
        at
    }

    /// Returns true if the items in a bracket differ only in their literals, such as calls of the
    /// same function.
    fn has_equal_items(&self, open: usize) -> bool {
        if !self.is_opening(open) {
            return false;
        }
        let items = self.items(open);
        let first = items[0].clone();
        let is_made_of_values = self.is_literal(first.start, false)
            || self.is_opening(first.start)
            || (self.is_name(first.start) && self.is_opening(first.start + 1));
        let mut tokens = first.clone();
        is_made_of_values
            && first.clone().any(|at| self.is_literal(at, false))
            && !tokens.any(|at| self.is_word(at, b"select") || self.is_word(at, b"values"))
            && items.iter().all(|item| self.is_same(&first, item))
    }

    /// Returns the items of a list in brackets, as ranges of tokens between commas.
    fn items(&self, open: usize) -> Vec<Range<usize>> {
        let mut items = Vec::new();
        let (mut begin, mut at) = (open + 1, open + 1);
        while at < self.closing[open] {
            if self.is_symbol(at, b',') {
                items.push(begin..at);
                begin = at + 1;
            }
            at = self.closing[at].max(at) + 1;
        }
        items.push(begin..self.closing[open]);
        items
    }

    /// Returns true if two ranges of tokens differ only in their literals.
    fn is_same(&self, a: &Range<usize>, b: &Range<usize>) -> bool {
        let is_equal = |(a, b): (usize, usize)| {
            let (a, b) = (&self.tokens[a], &self.tokens[b]);
            let is_literal = a.kind == TokenKind::Literal;
            a.kind == b.kind
                && (is_literal || self.text[a.bytes.clone()] == self.text[b.bytes.clone()])
        };
        a.len() == b.len() && a.clone().zip(b.clone()).all(is_equal)
    }

    /// Writes only the first item of a list whose items differ only in their literals.
    ///
    /// Returns the index after the list.
    fn write_equal_items(&mut self, open: usize) -> usize {
        let end = self.closing[open];
        let first = self.items(open)[0].clone();
        self.space(open);
        self.folded
            .extend(&self.text[self.tokens[open].bytes.clone()]);
        self.depth += 1;
        if self.is_literal(first.start, false) && self.is_symbol(first.start + 1, b':') {
            self.folded.extend(LIST);
        } else {
            self.write(first, false);
            self.folded.extend(b", ");
            self.folded.extend(LIST);
        }
        self.depth -= 1;
        self.folded
            .extend(&self.text[self.tokens[end].bytes.clone()]);
        end + 1
    }

    /// Writes each distinct row of VALUES once.
    ///
    /// Returns the index after the rows.
    fn write_rows(&mut self, begin: usize, end: usize) -> usize {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let mut at = begin;
        loop {
            let has_word = self.is_word(at, b"row") && self.is_symbol(at + 1, b'(');
            let open = at + usize::from(has_word);
            if open >= end
                || !self.is_symbol(open, b'(')
                || self.closing[open] == 0
                || self.closing[open] >= end
            {
                break;
            }
            let row = self.row(at, open);
            if !rows.contains(&row) && rows.len() < MAX_ROWS {
                rows.push(row);
            }
            at = self.closing[open] + 1;
            if !self.is_symbol(at, b',') {
                break;
            }
            at += 1;
        }
        if rows.is_empty() {
            return begin;
        }
        self.space(begin);
        self.folded.extend(rows.join(&b", "[..]));
        // A comma after the last row does not belong to the row.
        if self.is_symbol(at.wrapping_sub(1), b',') {
            at - 1
        } else {
            at
        }
    }

    fn row(&mut self, begin: usize, open: usize) -> Vec<u8> {
        let before = std::mem::take(&mut self.folded);
        self.depth += 1;
        self.folded
            .extend(&self.text[self.tokens[begin].bytes.start..self.tokens[open].bytes.end]);
        if self.is_list(open, true) {
            self.folded.extend(LIST);
        } else {
            self.write(open + 1..self.closing[open], true);
        }
        self.folded.push(b')');
        self.depth -= 1;
        std::mem::replace(&mut self.folded, before)
    }

    /// Returns true if a bracket contains only literals, and at least two.
    ///
    /// If `is_short` is true, one literal is enough, and nested lists are allowed.
    fn is_list(&self, open: usize, is_short: bool) -> bool {
        let end = self.closing[open];
        let mut literals = 0;
        let mut is_cast = false;
        for at in open + 1..end {
            // A type can have a schema: `'a'::public."E"`.
            let is_type = (is_cast && (self.is_name(at) || self.is_symbol(at, b'.')))
                || self.is_before_literal(at);
            let is_item = self.is_literal(at, true)
                || is_type
                || self.is_symbol(at, b',')
                || self.is_symbol(at, b':')
                || self.is_sign(at)
                || (is_short && (self.is_symbol(at, b'(') || self.is_symbol(at, b')')));
            if !is_item {
                return false;
            }
            literals += usize::from(self.is_literal(at, is_short));
            is_cast = self.is_symbol(at, b':') || (is_cast && is_type);
        }
        literals > usize::from(!is_short) && end > open
    }

    /// Returns true if the token is a type or a character set before a literal, such as
    /// `DATE '2026-05-01'` or MySQL's `_binary 'a'`.
    fn is_before_literal(&self, at: usize) -> bool {
        let types = ["date", "time", "timestamp", "timestamptz", "interval"];
        let token = &self.tokens[at];
        let is_charset = self.dialect.is_mysql()
            && token.kind == TokenKind::Word
            && self.text[token.bytes.start] == b'_';
        (is_charset || types.iter().any(|name| self.is_word(at, name.as_bytes())))
            && self
                .tokens
                .get(at + 1)
                .is_some_and(|t| t.kind == TokenKind::Literal)
    }

    /// Returns true if the token is a literal.
    ///
    /// If `is_row` is true, also returns true for a word that represents a value.
    fn is_literal(&self, at: usize, is_row: bool) -> bool {
        let is_value = || {
            let words = ["null", "default", "true", "false"];
            words.iter().any(|word| self.is_word(at, word.as_bytes()))
        };
        match self.tokens.get(at).map(|token| token.kind) {
            Some(TokenKind::Literal) => true,
            Some(TokenKind::Word) => is_row && is_value(),
            _ => false,
        }
    }

    /// Returns the keyword at the index `at` if a list can follow that keyword.
    fn list_keyword(&self, at: usize) -> Option<ListKeyword> {
        if self.is_word(at, b"values") || self.is_word(at, b"value") {
            Some(ListKeyword::Values)
        } else if self.is_word(at, b"in") || self.is_word(at, b"array") {
            Some(ListKeyword::In)
        } else {
            None
        }
    }

    fn is_opening(&self, at: usize) -> bool {
        self.closing.get(at).is_some_and(|end| *end > 0)
    }

    fn is_name(&self, at: usize) -> bool {
        let kind = self.tokens.get(at).map(|token| token.kind);
        matches!(kind, Some(TokenKind::Word | TokenKind::QuotedName))
    }

    fn is_sign(&self, at: usize) -> bool {
        self.is_symbol(at, b'-') || self.is_symbol(at, b'+')
    }

    fn is_symbol(&self, at: usize, symbol: u8) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|t| t.kind == TokenKind::Symbol && self.text[t.bytes.clone()] == [symbol])
    }

    fn is_word(&self, at: usize, word: &[u8]) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|t| {
            t.kind == TokenKind::Word && self.text[t.bytes.clone()].eq_ignore_ascii_case(word)
        })
    }
}

/// A keyword that can precede a list of literals.
#[derive(Clone, Copy)]
enum ListKeyword {
    Values,
    In,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn postgresql(statement: &str) -> String {
        fold(statement.as_bytes(), Dialect::Postgresql)
    }

    fn mysql(statement: &str) -> String {
        fold(statement.as_bytes(), Dialect::Mysql)
    }

    #[test]
    fn literals_are_removed() {
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
            ("-- ping", EMPTY),
            (";", EMPTY),
            ("/* x */ SELECT 0x1F", "SELECT ?"),
            (
                "SELECT a - 1, -1, b -1, (-2) , 3 - -4",
                "SELECT a - ?, ?, b -?, (?), ? - ?",
            ),
            ("SELECT - -1, a - + -2", "SELECT ?, a - ?"),
            ("SELECT a ? 'k' - 1", "SELECT a ? ? - ?"),
            ("x .5 + 1", "x ? + ?"),
            ("x@+ .5 + 1", "x@ ? + ?"),
            ("x@-5 + 1", "x@ ? + ?"),
            ("x @ -5 + 1", "x @ ? + ?"),
            ("SELECT DISTINCT -1", "SELECT DISTINCT ?"),
            ("SELECT data #>> '{a}' FROM t", "SELECT data #>> ? FROM t"),
            ("SELECT 'x'::text, $1::int", "SELECT ?::text, ?::int"),
        ] {
            assert_eq!(postgresql(statement), query);
        }
        assert_eq!(mysql("SELECT '\\"), "SELECT ?");
        assert_eq!(mysql("SELECT a-----"), "SELECT a-");
        assert_eq!(mysql("SELECT a--;"), "SELECT a");
        for difference in ["x1--/* c */y", "x1--y", "x1--#c\ny", "x1--/**/ /* -- */\ny"] {
            assert_eq!(mysql(difference), "x1--y", "{difference}");
        }
        assert_eq!(mysql("x1 - /* c */ - y"), "x1 - - y");
        assert_eq!(
            mysql("SELECT * FROM u WHERE m = \"a@example.org\""),
            "SELECT * FROM u WHERE m = ?"
        );
    }

    #[test]
    fn a_statement_with_many_parts_is_read_in_one_pass() {
        let unions = vec!["SELECT a FROM t WHERE b=1"; 20_000].join(" UNION ALL ");
        let quoted = format!("{unions} UNION ALL SELECT a FROM t WHERE b=\"x\"");
        for statement in [unions, quoted] {
            assert!(mysql(&statement).starts_with("SELECT … FROM t WHERE b=? UNION ALL "));
        }
        let savepoints = "SAVEPOINT s1;".repeat(20_000);
        assert!(postgresql(&savepoints).starts_with("SAVEPOINT ?;SAVEPOINT ?;"));
    }

    #[test]
    fn lists_of_any_length_are_one_query() {
        for statement in [
            "a IN (1)",
            "a IN (1,2)",
            "a IN ( NULL, -3 , 'x'::text)",
            "a IN ((1,2),(3,4))",
            "a IN (DATE '2026-05-01')",
        ] {
            assert_eq!(postgresql(statement), "a IN (…)", "{statement}");
        }
        assert_eq!(postgresql("a = ANY (ARRAY[1,2])"), "a = ANY (ARRAY[…])");
        assert_eq!(postgresql("a IN (SELECT 1)"), "a IN (SELECT ?)");
        assert_eq!(postgresql("a IN (b, 1)"), "a IN (b, ?)");
        assert_eq!(postgresql("a IN (b + 1, b + 2)"), "a IN (b + ?, b + ?)");
        assert_eq!(postgresql("a IN (VALUES (1), (2))"), "a IN (VALUES (…))");
        for statement in [
            "INSERT INTO t VALUES (1,NULL)",
            "INSERT INTO t VALUES (NULL,DEFAULT), (1,2),(3,4)",
        ] {
            assert_eq!(mysql(statement), "INSERT INTO t VALUES (…)", "{statement}");
        }
        let rows = ["(1, now(), NULL)", "(2, now(), 'a'),(3, now(), 'b')"];
        for rows in rows {
            assert_eq!(
                mysql(&format!("INSERT INTO t VALUES {rows}")),
                "INSERT INTO t VALUES (?, now(), ?)"
            );
        }
        assert_eq!(mysql("VALUES ROW(1,2), ROW(3,4)"), "VALUES ROW(…)");
        let upsert = "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a), b = 1";
        assert_eq!(
            mysql(upsert),
            "INSERT INTO t VALUES (…) ON DUPLICATE KEY UPDATE a = VALUES(a), b = ?"
        );
        assert_eq!(mysql("SELECT a IN (...) FROM t"), "SELECT a IN (…) FROM t");
    }

    #[test]
    fn lists_of_casts_and_calls_have_no_length() {
        for (items, query) in [
            (["'a'::public.e", "'b'::public.e"], "a IN (…)"),
            (["'a'::\"E\"", "'b'::\"E\""], "a IN (…)"),
            (["'a'::varchar(5)", "'b'::varchar(5)"], "a IN (…)"),
            (
                ["CAST('a' AS uuid)", "CAST('b' AS uuid)"],
                "a IN (CAST(? AS uuid), …)",
            ),
            (["f(1)", "g(1)"], "a IN (f(?), …)"),
        ] {
            assert_eq!(postgresql(&format!("a IN ({})", items[0])), query);
            let both = postgresql(&format!("a IN ({})", items.join(", ")));
            let is_mixed = items[1].starts_with('g');
            assert_eq!(both, if is_mixed { "a IN (f(?), g(?))" } else { query });
        }
        assert_eq!(
            postgresql("a = ANY (ARRAY['a'::public.e, 'b'::public.e])"),
            "a = ANY (ARRAY[…])"
        );
        for items in ["_binary 'x'", "_binary 'x', _binary 'y'"] {
            assert_eq!(mysql(&format!("a IN ({items})")), "a IN (…)");
        }
        for items in ["UUID_TO_BIN('x')", "UUID_TO_BIN('x'), UUID_TO_BIN('y')"] {
            assert_eq!(
                mysql(&format!("a IN ({items})")),
                "a IN (UUID_TO_BIN(?), …)"
            );
        }
        let deep = "a IN (f(1, ".repeat(5_000);
        assert!(!postgresql(&deep).is_empty());
    }

    /// A truncated string does not show whether the server quotes names or strings with `"`.
    #[test]
    fn a_truncated_statement_folds_like_its_query() {
        for (statement, query) in [
            ("SELECT f(\"a\") FROM \"ord", "SELECT f(?) FROM ?"),
            (
                "UPDATE t SET a = \"b\" WHERE c.\"d",
                "UPDATE t SET a = ? WHERE c.?",
            ),
            ("a IN (f('s', \"C\" from \" x), ('y", "a IN (f(?, ? from ?"),
        ] {
            assert_eq!(mysql(statement), query);
            assert_eq!(mysql(query), query);
        }
    }

    #[test]
    fn a_sign_after_a_column_is_an_operator() {
        for statement in ["SELECT value - 1", "SELECT t.limit - 1"] {
            assert_eq!(mysql(statement), statement.replace('1', "?"));
        }
        assert_eq!(
            postgresql("SELECT d #- '{b}', d @? '$.a'"),
            "SELECT d #- ?, d @? ?"
        );
    }

    #[test]
    fn long_queries_that_differ_at_their_end_are_different() {
        let columns: Vec<String> = (0..100).map(|i| format!("o1_0.column_{i}")).collect();
        let query = |table: &str| {
            postgresql(&format!(
                "select {} from {table} where id=$1",
                columns.join(", ")
            ))
        };
        let (small, huge) = (query("small_table"), query("huge_history"));
        assert_ne!(small, huge);
        assert!(
            small.starts_with("select … from small_table where id=? [") && small.len() < 80,
            "{small}"
        );
        // Only the middle differs.
        let middle = |name: &str| {
            postgresql(&format!(
                "select {}, {name}, {} from t",
                columns.join(", "),
                columns.join(", ")
            ))
        };
        assert_ne!(middle("a"), middle("b"));
        assert_ne!(
            postgresql("SELECT \"a\u{200b}\""),
            postgresql("SELECT \"a\u{200c}\"")
        );
    }

    #[test]
    fn a_phase_has_the_digest_of_its_statement() {
        let columns: Vec<String> = (0..50).map(|i| format!("column_{i}")).collect();
        // The name of the second is short only without the phase.
        for columns in [columns.join(", "), format!("c{}", "c".repeat(173))] {
            let statement = format!("select {columns} from t where id=$1");
            let [query, parse, bind] =
                ["", "parse: ", "bind: "].map(|phase| postgresql(&format!("{phase}{statement}")));
            assert_eq!(key(&parse), format!("parse: {}", key(&query)));
            assert_eq!(key(&bind), format!("bind: {}", key(&query)));
            assert!(
                parse.starts_with("parse: select ") && parse.ends_with(']'),
                "{parse}"
            );
        }
    }

    proptest! {
        /// No literal leaks into a query.
        #[test]
        fn no_query_contains_values(
            words in proptest::collection::vec("[a-z]{1,5}|'secret[ab]*'|-1|,|IN \\(|VALUES \\(|\\)|=|-- x\n|/\\* \\*/| ", 0..30),
            mysql: bool,
        ) {
            let dialect = if mysql { Dialect::Mysql } else { Dialect::Postgresql };
            let query = fold(words.join(" ").as_bytes(), dialect);
            prop_assert!(!query.contains("secret") && !query.contains('1'), "{}", query);
        }

        #[test]
        fn folding_again_changes_nothing(
            words in proptest::collection::vec("[-+@#|&]|1|\\.5|'x'|x1|\\?|=|select|fetch|close|;|to| |/\\* c \\*/", 0..20),
            mysql: bool,
        ) {
            let dialect = if mysql { Dialect::Mysql } else { Dialect::Postgresql };
            let query = fold(words.concat().as_bytes(), dialect);
            if query != EMPTY {
                prop_assert_eq!(fold(query.as_bytes(), dialect), query);
            }
        }

        /// Blanks around symbols and the case of keywords do not change the key.
        #[test]
        fn spellings_have_the_same_key(
            words in proptest::collection::vec("select|from|where|t1|,|=|<|\\(|\\)|and|'x'|in", 1..20),
            mysql: bool,
        ) {
            let dialect = if mysql { Dialect::Mysql } else { Dialect::Postgresql };
            let spaced = words.join(" ");
            let is_word = |word: &String| word.as_bytes()[0].is_ascii_alphabetic();
            let mut tight = String::new();
            for (index, word) in words.iter().enumerate() {
                let is_behind_word = index > 0 && is_word(&words[index - 1]);
                let is_string = |word: &String| word.starts_with('\'');
                let is_behind_string = index > 0 && is_string(&words[index - 1]);
                if (is_word(word) || is_string(word)) && (is_behind_word || is_behind_string) {
                    tight.push(' ');
                }
                tight += word;
            }
            let upper = spaced.to_uppercase().replace("T1", "t1").replace("'X'", "'x'");
            let key_of = |text: &str| key(&fold(text.as_bytes(), dialect));
            prop_assert_eq!(key_of(&tight), key_of(&spaced));
            prop_assert_eq!(key_of(&upper), key_of(&spaced));
        }

        #[test]
        fn bytes_that_are_not_text_do_no_harm(text: Vec<u8>, mysql: bool) {
            fold(&text, if mysql { Dialect::Mysql } else { Dialect::Postgresql });
        }
    }
}
