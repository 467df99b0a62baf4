// SPDX-License-Identifier: Apache-2.0
//! Splits statements into tokens. Literals, names and comments depend on the dialect.
//!
//! Sources: PostgreSQL 17, 4.1 *Lexical Structure*; MySQL 8.4, 11 *Language Structure*; MariaDB,
//! *Lexical Structure*.

use std::ops::Range;

/// The SQL dialect of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL with `standard_conforming_strings`: `"…"` is a name, `#` an operator.
    #[default]
    Postgresql,
    /// MySQL and MariaDB without `ANSI_QUOTES`: `"…"` is a string, `#` begins a comment.
    Mysql,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A number, a string or a parameter.
    Literal,
    /// A keyword, or an unquoted name.
    Word,
    /// A quoted name.
    QuotedName,
    /// Any other single byte, or the mark of an executable comment.
    Symbol,
}

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The byte range in the statement.
    pub bytes: Range<usize>,
    /// True if blanks or a comment precede the token.
    pub is_spaced: bool,
}

/// Splits a statement into tokens. An unterminated literal or comment extends to the end of the
/// statement.
pub fn tokens(text: &[u8], dialect: Dialect) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        dialect,
        position: 0,
        tokens: Vec::new(),
        is_spaced: false,
        executed_comments: 0,
        is_open: false,
    };
    lexer.run();
    lexer.tokens
}

/// Returns true if the text ends within a literal, a quoted name or a block comment.
pub fn ends_within_quotes(text: &[u8], dialect: Dialect) -> bool {
    let mut lexer = Lexer {
        text,
        dialect,
        position: 0,
        tokens: Vec::new(),
        is_spaced: false,
        executed_comments: 0,
        is_open: false,
    };
    lexer.run();
    lexer.is_open
}

struct Lexer<'t> {
    text: &'t [u8],
    dialect: Dialect,
    position: usize,
    tokens: Vec<Token>,
    is_spaced: bool,
    /// The number of open comments such as `/*!40101 … */`.
    executed_comments: usize,
    /// True if a literal or a comment is unterminated.
    is_open: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while self.position < self.text.len() {
            if self.pass_comment() {
                continue;
            }
            let rest = &self.text[self.position..];
            match rest[0] {
                blank if is_blank(blank) => self.skip(1),
                b'\'' => self.push_quoted(0, self.dialect == Dialect::Mysql, TokenKind::Literal),
                b'"' if self.dialect == Dialect::Mysql => {
                    self.push_quoted(0, true, TokenKind::Literal)
                }
                b'"' | b'`' => self.push_quoted(0, false, TokenKind::QuotedName),
                b'$' if self.dialect == Dialect::Postgresql => self.push_dollar(),
                b'0'..=b'9' => self.push_number_or_word(),
                b'.' => self.push_dot(),
                b'?' if !self.is_behind_operand() || self.dialect == Dialect::Mysql => {
                    self.push(TokenKind::Literal, 1)
                }
                first if is_word(first) => self.push_word(),
                _ => self.push(TokenKind::Symbol, 1),
            }
        }
    }

    fn skip(&mut self, length: usize) {
        self.position += length;
        self.is_spaced = true;
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let end = (self.position + length).min(self.text.len());
        self.tokens.push(Token {
            kind,
            bytes: self.position..end,
            is_spaced: self.is_spaced,
        });
        self.position = end;
        self.is_spaced = false;
    }

    /// Skips a comment, or pushes the mark of an executable comment. Returns false if no comment
    /// begins here.
    fn pass_comment(&mut self) -> bool {
        let rest = &self.text[self.position..];
        let to_line_end = || memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let length = match (self.dialect, rest) {
            (Dialect::Postgresql, [b'-', b'-', ..]) | (Dialect::Mysql, [b'#', ..]) => to_line_end(),
            // `5--3` is a difference, and so is `5--/* a */3`.
            (Dialect::Mysql, [b'-', b'-', after @ ..])
                if after
                    .first()
                    .is_none_or(|b| *b == b' ' || b.is_ascii_control()) =>
            {
                to_line_end()
            }
            (Dialect::Mysql, [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..]) => {
                let mark = if rest[2] == b'!' { 3 } else { 4 };
                self.executed_comments += 1;
                self.push(TokenKind::Symbol, mark + digits(&rest[mark..]));
                return true;
            }
            (Dialect::Mysql, [b'*', b'/', ..]) if self.executed_comments > 0 => {
                self.executed_comments -= 1;
                self.push(TokenKind::Symbol, 2);
                return true;
            }
            (_, [b'/', b'*', ..]) => self.block_comment_length(),
            _ => return false,
        };
        self.skip(length);
        true
    }

    /// Returns the length of a block comment. Only PostgreSQL's comments nest.
    fn block_comment_length(&mut self) -> usize {
        let rest = &self.text[self.position..];
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(next) = memchr::memchr2(b'*', b'/', &rest[at..]).map(|n| at + n) {
            match &rest[next..] {
                [b'/', b'*', ..] if depth == 0 || self.dialect == Dialect::Postgresql => {
                    depth += 1;
                    at = next + 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    at = next + 2;
                }
                _ => at = next + 1,
            }
            if depth == 0 {
                return at;
            }
        }
        self.is_open = true;
        rest.len()
    }

    /// Appends a quoted string or name after a prefix of this length. Quotes within the string or
    /// name are doubled.
    ///
    /// If the closing quote is missing, the text counts as a literal, because the statement was
    /// truncated and the text may not be a name.
    fn push_quoted(&mut self, prefix: usize, has_escapes: bool, kind: TokenKind) {
        let rest = &self.text[self.position + prefix..];
        let quote = rest[0];
        let mut at = 1;
        while let Some(next) = memchr::memchr2(quote, b'\\', &rest[at..]).map(|n| at + n) {
            if rest[next] == b'\\' {
                at = next + if has_escapes { 2 } else { 1 };
                at = at.min(rest.len());
            } else if rest.get(next + 1) == Some(&quote) {
                at = next + 2;
            } else {
                return self.push(kind, prefix + next + 1);
            }
        }
        self.is_open = true;
        self.push(TokenKind::Literal, prefix + rest.len());
    }

    /// Appends `$1`, or a string between two `$$` or `$tag$`.
    fn push_dollar(&mut self) {
        let rest = &self.text[self.position..];
        let number = digits(&rest[1..]);
        if number > 0 {
            return self.push(TokenKind::Literal, 1 + number);
        }
        let tag = rest[1..]
            .iter()
            .take_while(|b| is_word(**b) && **b != b'$')
            .count();
        if rest.get(1 + tag) != Some(&b'$') {
            return self.push(TokenKind::Symbol, 1);
        }
        let mark = &rest[..tag + 2];
        let end = memchr::memmem::find(&rest[mark.len()..], mark);
        self.is_open |= end.is_none();
        self.push(
            TokenKind::Literal,
            end.map_or(rest.len(), |end| end + 2 * mark.len()),
        );
    }

    /// Appends a word, including the string that it prefixes, if any.
    fn push_word(&mut self) {
        let rest = &self.text[self.position..];
        let length = rest.iter().take_while(|b| is_word(**b)).count();
        let word = &rest[..length];
        if rest.get(length) == Some(&b'\'') {
            match (self.dialect, word) {
                (Dialect::Postgresql, [b'e' | b'E']) => {
                    return self.push_quoted(1, true, TokenKind::Literal);
                }
                (Dialect::Postgresql, [b'b' | b'B' | b'x' | b'X' | b'n' | b'N']) => {
                    return self.push_quoted(1, false, TokenKind::Literal);
                }
                (Dialect::Mysql, [b'b' | b'B' | b'x' | b'X' | b'n' | b'N'] | [b'_', ..]) => {
                    return self.push_quoted(length, true, TokenKind::Literal);
                }
                _ => {}
            }
        }
        self.push(TokenKind::Word, length);
    }

    fn push_number_or_word(&mut self) {
        let rest = &self.text[self.position..];
        let run = rest.iter().take_while(|b| is_word(**b)).count();
        if self.is_behind_name_and_dot() {
            return self.push(TokenKind::Word, run);
        }
        match number_length(rest, run, self.dialect) {
            Some(length) => self.push(TokenKind::Literal, length),
            // MySQL's names may begin with digits.
            None => self.push(TokenKind::Word, run),
        }
    }

    /// Appends `.5` as a number, unless a name precedes it.
    fn push_dot(&mut self) {
        let rest = &self.text[self.position..];
        let fraction = digits(&rest[1..]);
        if rest.starts_with(b"...") {
            // MySQL's digests write `...` for the rest of a list.
            self.push(TokenKind::Literal, 3);
        } else if fraction > 0 && (self.is_spaced || !self.is_behind_operand()) {
            let length = 1 + fraction;
            self.push(
                TokenKind::Literal,
                length + exponent_length(&rest[length..]),
            );
        } else {
            self.push(TokenKind::Symbol, 1);
        }
    }

    fn is_behind_name_and_dot(&self) -> bool {
        let [.., name, dot] = &self.tokens[..] else {
            return false;
        };
        let is_dot = dot.kind == TokenKind::Symbol && self.text[dot.bytes.start] == b'.';
        is_dot
            && !dot.is_spaced
            && !self.is_spaced
            && matches!(name.kind, TokenKind::Word | TokenKind::QuotedName)
    }

    fn is_behind_operand(&self) -> bool {
        self.tokens
            .last()
            .is_some_and(|token| token.is_operand(self.text))
    }
}

impl Token {
    /// Returns true if a value can end with this token, so that a sign after it is an operator.
    pub fn is_operand(&self, text: &[u8]) -> bool {
        match self.kind {
            TokenKind::Literal | TokenKind::QuotedName => true,
            TokenKind::Word => !is_before_value(&text[self.bytes.clone()]),
            TokenKind::Symbol => matches!(text[self.bytes.start], b')' | b']'),
        }
    }
}

/// Returns true for keywords that precede a value.
fn is_before_value(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 26] = [
        b"select",
        b"where",
        b"and",
        b"or",
        b"not",
        b"in",
        b"between",
        b"then",
        b"else",
        b"when",
        b"return",
        b"returning",
        b"values",
        b"value",
        b"limit",
        b"offset",
        b"by",
        b"like",
        b"ilike",
        b"set",
        b"is",
        b"on",
        b"having",
        b"default",
        b"interval",
        b"from",
    ];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn exponent_length(text: &[u8]) -> usize {
    match text {
        [b'e' | b'E', b'+' | b'-', rest @ ..] if digits(rest) > 0 => 2 + digits(rest),
        [b'e' | b'E', rest @ ..] if digits(rest) > 0 => 1 + digits(rest),
        _ => 0,
    }
}

/// Returns the length of a number at the beginning of `text`, whose first `run` bytes could be a
/// word.
///
/// Returns `None` if these bytes are a name.
fn number_length(text: &[u8], run: usize, dialect: Dialect) -> Option<usize> {
    let word = &text[..run];
    let is_radix = |letters: &[u8], is_digit: fn(&u8) -> bool| {
        word.len() > 2
            && word[0] == b'0'
            && letters.contains(&word[1])
            && word[2..].iter().all(|b| is_digit(b) || *b == b'_')
    };
    let is_octal = |b: &u8| matches!(b, b'0'..=b'7');
    if is_radix(b"xX", u8::is_ascii_hexdigit)
        || is_radix(b"bB", |b| matches!(b, b'0' | b'1'))
        || (dialect == Dialect::Postgresql && is_radix(b"oO", is_octal))
    {
        return Some(run);
    }
    let has_underscores = dialect == Dialect::Postgresql;
    let is_digit = |b: &&u8| b.is_ascii_digit() || (has_underscores && **b == b'_');
    let integer = word.iter().take_while(is_digit).count();
    let exponent = exponent_length(&text[integer..]);
    if dialect == Dialect::Mysql && integer < run && integer + exponent < run {
        return None;
    }
    let mut length = integer;
    // `1..10` is a range.
    if text.get(length) == Some(&b'.') && text.get(length + 1) != Some(&b'.') {
        length += 1;
        length += text[length..].iter().take_while(is_digit).count();
    }
    Some(length + exponent_length(&text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(text: &str, dialect: Dialect) -> Vec<String> {
        let tokens = tokens(text.as_bytes(), dialect);
        let spell = |t: &Token| match t.kind {
            TokenKind::Literal => "?".to_string(),
            _ => String::from_utf8_lossy(&text.as_bytes()[t.bytes.clone()]).into_owned(),
        };
        tokens.iter().map(spell).collect()
    }

    #[test]
    fn postgresql_has_its_own_quotes_and_comments() {
        let spelled = |text: &str| spelled(text, Dialect::Postgresql).join(" ");
        for (text, tokens) in [
            (r"a = 'C:\' AND b = 'x'", "a = ? AND b = ?"),
            (r"E'it\'s' || e'\\'", "? | | ?"),
            ("'it''s' x", "? x"),
            (r#""Na""me" "#, r#""Na""me""#),
            ("a #>> '{a,b}'", "a # > > ?"),
            ("1 -- x\n+ 2", "? + ?"),
            ("5--3", "?"),
            ("/* a /* b */ c */ d", "d"),
            ("/* a /* b */ c", ""),
            ("$$it's$$ $t$ $$ $t$ $1 $12::int", "? ? ? ? : : int"),
            ("a$1", "a$1"),
            (
                "t1.c2 = 0x1F + 1_000 + .5 + 1.5e-3 + 1.",
                "t1 . c2 = ? + ? + ? + ? + ?",
            ),
            ("1..10", "? . ?"),
            ("B'01' X'1F' N'x' U&'d'", "? ? ? U & ?"),
            ("d ? 'k'", "d ? ?"),
            ("'open", "?"),
            ("\"open secret", "?"),
            ("$x$open", "?"),
        ] {
            assert_eq!(spelled(text), tokens, "{text}");
        }
        let operator = tokens(b"d ? 'k'", Dialect::Postgresql);
        assert_eq!(operator[1].kind, TokenKind::Symbol);
    }

    #[test]
    fn mysql_has_its_own_quotes_and_comments() {
        let spelled = |text: &str| spelled(text, Dialect::Mysql).join(" ");
        for (text, tokens) in [
            ("a = \"al\"\"ice\" AND b = \"x\\\"y\"", "a = ? AND b = ?"),
            (r"'it\'s' x", "? x"),
            ("`a``b` c", "`a``b` c"),
            ("1 # x\n+ 2", "? + ?"),
            ("1 -- x\n+ 2", "? + ?"),
            ("5--3", "? - - ?"),
            ("5 --\t3\n+1", "? + ?"),
            ("5 --", "?"),
            ("5 --\u{1}3", "?"),
            ("5 --\u{7f}3", "?"),
            ("x1--/* c */y", "x1 - - y"),
            ("x1--/* c -- d */y -- /* e\nz", "x1 - - y z"),
            ("x1--# c\ny", "x1 - - y"),
            ("/* a /* b */ c", "c"),
            (
                "SELECT /*!40001 SQL_NO_CACHE */ 1",
                "SELECT /*!40001 SQL_NO_CACHE */ ?",
            ),
            ("/*M!100100 a */", "/*M!100100 a */"),
            (
                "2020_sales.1 = 1e5 + 0x1F + 0b1",
                "2020_sales . 1 = ? + ? + ?",
            ),
            ("_utf8mb4'x' N'x' x'1F' b'1'", "? ? ? ?"),
            ("@@version @v", "@ @ version @ v"),
            ("'\\", "?"),
            ("'a\\'", "?"),
        ] {
            assert_eq!(spelled(text), tokens, "{text}");
        }
    }

    #[test]
    fn open_quotes_are_found() {
        for (text, is_open) in [
            ("'a", true),
            ("'a'", false),
            ("/* a", true),
            ("-- 'a", false),
            ("\"a", true),
            ("", false),
        ] {
            for dialect in [Dialect::Postgresql, Dialect::Mysql] {
                assert_eq!(
                    ends_within_quotes(text.as_bytes(), dialect),
                    is_open,
                    "{text}"
                );
            }
        }
    }

    proptest! {
        /// Tokens are in order, within the text, and not empty.
        #[test]
        fn any_bytes_can_be_tokenized(text in "['\"`$#/*!\\\\a1.e_+-?x \n\u{e9}\u{0}-]{0,60}", mysql: bool) {
            let dialect = if mysql { Dialect::Mysql } else { Dialect::Postgresql };
            let mut end = 0;
            for token in tokens(text.as_bytes(), dialect) {
                prop_assert!(token.bytes.start >= end && token.bytes.end > token.bytes.start);
                end = token.bytes.end;
            }
            prop_assert!(end <= text.len());
        }

        #[test]
        fn bytes_that_are_not_text_do_no_harm(text: Vec<u8>, mysql: bool) {
            let dialect = if mysql { Dialect::Mysql } else { Dialect::Postgresql };
            tokens(&text, dialect);
        }
    }
}
