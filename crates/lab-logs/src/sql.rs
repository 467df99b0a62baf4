// SPDX-License-Identifier: Apache-2.0
//! Splits statements into tokens. Literals, names and comments depend on the dialect.
//!
//! Sources: PostgreSQL 17, 4.1 *Lexical Structure*; MySQL 8.4, 11 *Language Structure*; MariaDB,
//! *Lexical Structure*.

use std::ops::Range;

/// The SQL dialect of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL: `"…"` is a name, and `#` is an operator.
    #[default]
    Postgresql,
    /// MySQL and MariaDB: `"…"` is a string unless the statement itself shows that it is a name.
    /// `#` begins a comment.
    Mysql,
    /// MySQL and MariaDB with `ANSI_QUOTES`: `"…"` is a name, and `#` begins a comment.
    MysqlAnsi,
    /// A system whose `"…"` can be a string: a string unless the statement itself shows that it is
    /// a name. Otherwise as PostgreSQL.
    Unknown,
}

impl Dialect {
    /// Returns true for MySQL and MariaDB.
    pub fn is_mysql(self) -> bool {
        matches!(self, Dialect::Mysql | Dialect::MysqlAnsi)
    }

    /// Returns the dialect of a statement whose `"…"` are names, if they can be strings in this
    /// dialect.
    fn with_names(self) -> Option<Dialect> {
        match self {
            Dialect::Mysql => Some(Dialect::MysqlAnsi),
            Dialect::Unknown => Some(Dialect::Postgresql),
            Dialect::Postgresql | Dialect::MysqlAnsi => None,
        }
    }
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A number, a string or a parameter.
    Literal,
    /// A keyword, or an unquoted name.
    Word,
    /// A name in quotes or backticks.
    QuotedName,
    /// Any other single byte, an operator, or the mark of an executable comment.
    Symbol,
}

/// A token of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The lexical kind of the token.
    pub kind: TokenKind,
    /// The byte range in the statement.
    pub bytes: Range<usize>,
    /// True if blanks or a comment precede the token.
    pub is_spaced: bool,
}

/// Splits a statement into tokens. An unterminated literal or comment extends to the end of the
/// statement.
pub fn tokens(text: &[u8], dialect: Dialect) -> Vec<Token> {
    read(text, dialect).tokens
}

/// Returns true if the text ends within a literal, a quoted name or a block comment.
pub fn ends_within_quotes(text: &[u8], dialect: Dialect) -> bool {
    read(text, dialect).is_open
}

/// Returns true if the last token of the text is a semicolon. Semicolons in comments and
/// quotes do not count.
pub fn ends_with_semicolon(text: &[u8], dialect: Dialect) -> bool {
    let lexer = read(text, dialect);
    let last = lexer.tokens.len().checked_sub(1);
    !lexer.is_open && last.is_some_and(|last| lexer.is_symbol(last, b';'))
}

/// Returns the texts of a statement's block comments.
pub fn block_comments(text: &[u8], dialect: Dialect) -> Vec<&[u8]> {
    if memchr::memmem::find(text, b"/*").is_none() {
        return Vec::new();
    }
    let comments = read(text, dialect).comments;
    comments.into_iter().map(|bytes| &text[bytes]).collect()
}

/// The texts in double quotes in a statement of MySQL or MariaDB, including the quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoubleQuotes<'t> {
    /// All of the texts are names. At least one of them is in a position where only a name is
    /// allowed, so the session uses `ANSI_QUOTES`.
    Names(Vec<&'t [u8]>),
    /// The texts can be strings or names. The list is empty if the statement has no double quotes.
    Unclear(Vec<&'t [u8]>),
}

/// Returns the texts in double quotes in a statement of MySQL or MariaDB.
pub fn double_quotes(text: &[u8]) -> DoubleQuotes<'_> {
    if memchr::memchr(b'"', text).is_none() {
        return DoubleQuotes::Unclear(Vec::new());
    }
    let lexer = read_quotes(text, Dialect::Mysql);
    if lexer.has_ansi_names() {
        return DoubleQuotes::Names(read_quotes(text, Dialect::MysqlAnsi).in_double_quotes());
    }
    DoubleQuotes::Unclear(lexer.in_double_quotes())
}

fn read(text: &[u8], dialect: Dialect) -> Lexer<'_> {
    let lexer = read_quotes(text, dialect);
    match dialect.with_names() {
        Some(dialect) if lexer.has_ansi_names() => read_quotes(text, dialect),
        _ => lexer,
    }
}

/// Reads a statement whose server may have the unusual setting for backslashes:
/// `NO_BACKSLASH_ESCAPES` of MySQL, or `standard_conforming_strings = off` of PostgreSQL.
///
/// That setting applies if the text makes sense only with it.
fn read_quotes(text: &[u8], dialect: Dialect) -> Lexer<'_> {
    let usual = Lexer::read(text, dialect, dialect.is_mysql());
    if !usual.is_doubtful() || memchr::memchr(b'\\', text).is_none() {
        return usual;
    }
    let other = Lexer::read(text, dialect, !dialect.is_mysql());
    if other.is_doubtful() { usual } else { other }
}

struct Lexer<'t> {
    text: &'t [u8],
    dialect: Dialect,
    /// True if a backslash escapes the next character of a string without a prefix.
    has_escapes: bool,
    position: usize,
    tokens: Vec<Token>,
    /// The byte ranges of the block comments.
    comments: Vec<Range<usize>>,
    is_spaced: bool,
    /// The number of open comments such as `/*!40101 … */`.
    executed_comments: usize,
    /// True if a literal or a comment is unterminated.
    is_open: bool,
}

impl<'t> Lexer<'t> {
    /// Returns the strings and names in double quotes, including the quotes.
    fn in_double_quotes(&self) -> Vec<&'t [u8]> {
        let quoted = self.tokens.iter().map(|t| &self.text[t.bytes.clone()]);
        quoted.filter(|text| text[0] == b'"').collect()
    }
}

impl Lexer<'_> {
    fn read(text: &[u8], dialect: Dialect, has_escapes: bool) -> Lexer<'_> {
        let mut lexer = Lexer {
            text,
            dialect,
            has_escapes,
            position: 0,
            tokens: Vec::new(),
            comments: Vec::new(),
            is_spaced: false,
            executed_comments: 0,
            is_open: false,
        };
        lexer.run();
        lexer
    }

    fn run(&mut self) {
        while self.position < self.text.len() {
            if self.pass_comment() {
                continue;
            }
            let rest = &self.text[self.position..];
            match rest[0] {
                blank if is_blank(blank) => self.skip(1),
                b'\'' => self.push_quoted(0, self.has_escapes, TokenKind::Literal),
                b'"' if self.dialect.with_names().is_some() => {
                    self.push_quoted(0, self.has_escapes, TokenKind::Literal)
                }
                b'"' | b'`' => self.push_quoted(0, false, TokenKind::QuotedName),
                b'$' if !self.dialect.is_mysql() => self.push_dollar(),
                b'0'..=b'9' => self.push_number_or_word(),
                b'.' => self.push_dot(),
                b'?' | b'@' | b'#' | b'-' => self.push_operator(),
                first if is_word(first) => self.push_word(),
                _ => self.push(TokenKind::Symbol, 1),
            }
        }
        if self.dialect == Dialect::MysqlAnsi {
            self.hide_accounts();
        }
    }

    /// Turns the quoted names of accounts, such as `"ann"@"10.0.0.1"`, into literals.
    fn hide_accounts(&mut self) {
        let is_at =
            |lexer: &Self, at: Option<usize>| at.is_some_and(|at| lexer.is_symbol(at, b'@'));
        for at in 0..self.tokens.len() {
            let is_account = self.text[self.tokens[at].bytes.start] == b'"'
                && (is_at(self, Some(at + 1)) || is_at(self, at.checked_sub(1)));
            if is_account {
                self.tokens[at].kind = TokenKind::Literal;
            }
        }
    }

    /// Returns true if a literal or a comment is not closed, or if a word directly follows a
    /// string, which suggests that the string ended too early.
    fn is_doubtful(&self) -> bool {
        let is_broken = |pair: &[Token]| {
            let [before, after] = pair else {
                return false;
            };
            let is_string = before.kind == TokenKind::Literal
                && matches!(self.text[before.bytes.end - 1], b'\'' | b'"');
            let is_value = matches!(after.kind, TokenKind::Word | TokenKind::Literal);
            is_string && is_value && !after.is_spaced
        };
        self.is_open || self.tokens.windows(2).any(is_broken)
    }

    /// Returns true if a string in double quotes is in a position where only a name is allowed.
    ///
    /// An unterminated string shows nothing, because the statement was truncated. An account such
    /// as `"ann"@"10.0.0.1"` shows nothing either.
    fn has_ansi_names(&self) -> bool {
        let mut strings = (0..self.tokens.len())
            .filter(|at| self.can_be_name(*at))
            .peekable();
        if strings.peek().is_none() {
            return false;
        }
        let selects_rows = self.selects_rows();
        strings.any(|at| {
            let before = at.checked_sub(1);
            self.is_symbol(at + 1, b'.')
                || before.is_some_and(|at| {
                    self.is_symbol(at, b'.') || self.is_before_table(at, selects_rows)
                })
        })
    }

    /// Returns true if a token is a whole string in double quotes and not a part of an account.
    fn can_be_name(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_string = token.kind == TokenKind::Literal && self.text[token.bytes.start] == b'"';
        let is_cut = self.is_open && token.bytes.end == self.text.len();
        let is_account = || {
            let before = at.checked_sub(1);
            self.is_symbol(at + 1, b'@') || before.is_some_and(|at| self.is_symbol(at, b'@'))
        };
        is_string && !is_cut && !is_account()
    }

    fn is_symbol(&self, at: usize, symbol: u8) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|t| t.kind == TokenKind::Symbol && self.text[t.bytes.start] == symbol)
    }

    fn is_word(&self, at: usize, word: &[u8]) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|t| {
            t.kind == TokenKind::Word && self.text[t.bytes.clone()].eq_ignore_ascii_case(word)
        })
    }

    /// Returns true if the token is a keyword that only the name of a table can follow.
    ///
    /// `selects_rows` is true if FROM precedes tables in the statement.
    fn is_before_table(&self, at: usize, selects_rows: bool) -> bool {
        const KEYWORDS: [&[u8]; 4] = [b"join", b"into", b"update", b"table"];
        // After a dot or `@`, the word is a name, and an alias can follow it. IS DISTINCT FROM
        // compares values.
        let is_name = at > 0
            && (self.is_symbol(at - 1, b'.')
                || self.is_symbol(at - 1, b'@')
                || self.is_word(at - 1, b"distinct"));
        let is_keyword = KEYWORDS.iter().any(|word| self.is_word(at, word));
        let is_from = || selects_rows && self.is_word(at, b"from") && !self.is_argument(at);
        !is_name && (is_keyword || is_from())
    }

    /// Returns true if FROM precedes tables in the statement.
    ///
    /// In other statements, FROM precedes a statement, an account or a file: `PREPARE s FROM "…"`,
    /// `REVOKE … FROM "ann"@"10.0.0.1"`, `IMPORT INTO t FROM "s3://…"`.
    fn selects_rows(&self) -> bool {
        const FIRST: [&[u8]; 12] = [
            b"select",
            b"with",
            b"delete",
            b"insert",
            b"replace",
            b"update",
            b"explain",
            b"analyze",
            b"describe",
            b"desc",
            b"show",
            b"create",
        ];
        const OTHER: [&[u8]; 4] = [b"prepare", b"revoke", b"import", b"restore"];
        let mut words =
            (0..self.tokens.len()).filter(|at| self.tokens[*at].kind == TokenKind::Word);
        let is_one = |at: usize, words: &[&[u8]]| words.iter().any(|word| self.is_word(at, word));
        words.next().is_some_and(|at| is_one(at, &FIRST)) && !words.any(|at| is_one(at, &OTHER))
    }

    /// Returns true if a token is in the brackets of a function whose arguments can contain FROM:
    /// `TRIM(BOTH 'a' FROM "b")`.
    fn is_argument(&self, at: usize) -> bool {
        const FUNCTIONS: [&[u8]; 7] = [
            b"trim",
            b"extract",
            b"substring",
            b"substr",
            b"mid",
            b"overlay",
            b"position",
        ];
        let mut depth = 0_usize;
        for open in (1..at).rev() {
            match self.text[self.tokens[open].bytes.start] {
                b')' => depth += 1,
                b'(' if depth > 0 => depth -= 1,
                b'(' => {
                    let name = &self.text[self.tokens[open - 1].bytes.clone()];
                    return FUNCTIONS.iter().any(|f| f.eq_ignore_ascii_case(name));
                }
                _ => {}
            }
        }
        false
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

    /// Skips a comment, or appends the mark of an executable comment.
    ///
    /// Returns false if no comment begins at the current position.
    fn pass_comment(&mut self) -> bool {
        let rest = &self.text[self.position..];
        let to_line_end = || memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let length = match (self.dialect.is_mysql(), rest) {
            (false, [b'-', b'-', ..]) | (true, [b'#', ..]) => to_line_end(),
            // `5--3` is a difference, and so is `5--/* a */3`.
            (true, [b'-', b'-', after @ ..])
                if after
                    .first()
                    .is_none_or(|b| *b == b' ' || b.is_ascii_control()) =>
            {
                to_line_end()
            }
            (true, [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..]) => {
                let mark = if rest[2] == b'!' { 3 } else { 4 };
                self.executed_comments += 1;
                self.push(TokenKind::Symbol, mark + digits(&rest[mark..]));
                return true;
            }
            (true, [b'*', b'/', ..]) if self.executed_comments > 0 => {
                self.executed_comments -= 1;
                self.push(TokenKind::Symbol, 2);
                return true;
            }
            (_, [b'/', b'*', ..]) => {
                let length = self.block_comment_length();
                self.comments.push(self.position..self.position + length);
                length
            }
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
                [b'/', b'*', ..] if depth == 0 || !self.dialect.is_mysql() => {
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

    /// Appends a quoted string or name that begins after a prefix of `prefix` bytes.
    ///
    /// Quotes within the string or name are doubled. If the closing quote is missing, the text
    /// counts as a literal, because the statement was truncated and the text may not be a name.
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

    /// Appends an operator of PostgreSQL that contains `?` or ends with a sign, or a single byte.
    fn push_operator(&mut self) {
        const OPERATORS: [&[u8]; 5] = [b"?|", b"?&", b"@?", b"#-", b"-|-"];
        let rest = &self.text[self.position..];
        let mut operators = OPERATORS.iter().filter(|o| rest.starts_with(o));
        let has_operators = !self.dialect.is_mysql() && self.is_behind_operand();
        match operators.next().filter(|_| has_operators) {
            Some(operator) => self.push(TokenKind::Symbol, operator.len()),
            None if rest[0] == b'?' && self.is_placeholder() => self.push(TokenKind::Literal, 1),
            None => self.push(TokenKind::Symbol, 1),
        }
    }

    /// Returns true if the `?` at the current position is a placeholder.
    ///
    /// In PostgreSQL, `?` is an operator after a value. It is also an operator between a word and a
    /// string, because the word is then a column such as `default`.
    fn is_placeholder(&self) -> bool {
        let after = self.text[self.position + 1..].trim_ascii_start();
        let is_behind_word = self
            .tokens
            .last()
            .is_some_and(|t| t.kind == TokenKind::Word);
        let is_behind_column = is_behind_word && matches!(after.first(), Some(b'\'' | b'$'));
        self.dialect.is_mysql() || !(self.is_behind_operand() || is_behind_column)
    }

    /// Appends a word, including the string that it prefixes, if any.
    fn push_word(&mut self) {
        let rest = &self.text[self.position..];
        let length = rest.iter().take_while(|b| is_word(**b)).count();
        let word = &rest[..length];
        if rest.get(length) == Some(&b'\'') {
            match (self.dialect.is_mysql(), word) {
                (false, [b'e' | b'E']) => {
                    return self.push_quoted(1, true, TokenKind::Literal);
                }
                (false, [b'b' | b'B' | b'x' | b'X' | b'n' | b'N'])
                | (true, [b'b' | b'B' | b'x' | b'X' | b'n' | b'N'] | [b'_', ..]) => {
                    return self.push_quoted(length, self.has_escapes, TokenKind::Literal);
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
        is_operand(&self.tokens, self.text)
    }
}

/// Returns true if a value can end with the last token, so that a sign after it is an operator.
pub fn is_operand(tokens: &[Token], text: &[u8]) -> bool {
    let Some((token, before)) = tokens.split_last() else {
        return false;
    };
    let is_column = || {
        let dot = before.last();
        dot.is_some_and(|t| t.kind == TokenKind::Symbol && text[t.bytes.start] == b'.')
    };
    match token.kind {
        TokenKind::Literal | TokenKind::QuotedName => true,
        TokenKind::Word => !is_before_value(&text[token.bytes.clone()]) || is_column(),
        TokenKind::Symbol => matches!(text[token.bytes.start], b')' | b']'),
    }
}

/// Returns true if the word is a keyword that precedes a value.
fn is_before_value(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 36] = [
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
        b"distinct",
        b"all",
        b"any",
        b"case",
        b"to",
        b"fetch",
        b"using",
        b"div",
        b"xor",
        b"rlike",
        b"regexp",
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

/// Returns the length of a number at the beginning of `text`.
///
/// The first `run` bytes of the text look like a word. Returns `None` if they are a name.
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
        || (!dialect.is_mysql() && is_radix(b"oO", is_octal))
    {
        return Some(run);
    }
    let has_underscores = !dialect.is_mysql();
    let is_digit = |b: &&u8| b.is_ascii_digit() || (has_underscores && **b == b'_');
    let integer = word.iter().take_while(is_digit).count();
    let exponent = exponent_length(&text[integer..]);
    if dialect.is_mysql() && integer < run && integer + exponent < run {
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

    /// Source: PostgreSQL 17, 9.16 *JSON Functions and Operators*.
    #[test]
    fn operators_with_a_question_mark_or_a_sign_are_whole() {
        let spelled = |text: &str| spelled(text, Dialect::Postgresql).join(" ");
        for (text, tokens) in [
            ("d @? '$.a'", "d @? ?"),
            ("d #- '{b}'", "d #- ?"),
            ("d ?| '{a}' AND d ?& '{b}'", "d ?| ? AND d ?& ?"),
            ("r -|- '[1,2)'", "r -|- ?"),
            ("value ? 'k'", "value ? ?"),
            ("default ? 'k'", "default ? ?"),
            ("t.limit ? $1", "t . limit ? ?"),
            ("LIMIT ?", "LIMIT ?"),
        ] {
            assert_eq!(spelled(text), tokens, "{text}");
        }
        let operator = tokens(b"default ? 'k'", Dialect::Postgresql);
        assert_eq!(operator[1].kind, TokenKind::Symbol);
    }

    /// Sources: MySQL 8.4, *Server SQL Modes*; PostgreSQL 17, `standard_conforming_strings`.
    #[test]
    fn backslashes_can_have_the_unusual_meaning() {
        for (dialect, text, tokens) in [
            (
                Dialect::Mysql,
                r"dir = 'C:\' AND owner = 'alice'",
                "dir = ? AND owner = ?",
            ),
            (
                Dialect::Postgresql,
                r"n = 'it\'s alice' AND x = 'y'",
                "n = ? AND x = ?",
            ),
            // The usual meaning makes sense, and these statements are cut.
            (Dialect::Mysql, r"n = 'it\'s alice", "n = ?"),
            (Dialect::Mysql, r"n = 'it\'s' AND x = 'y", "n = ? AND x = ?"),
            (
                Dialect::Postgresql,
                r"dir = 'C:\' AND owner = 'ali",
                "dir = ? AND owner = ?",
            ),
        ] {
            assert_eq!(spelled(text, dialect).join(" "), tokens, "{text}");
        }
    }

    /// Source: MySQL 8.4, *Server SQL Modes*: with ANSI_QUOTES, `"` quotes a name.
    #[test]
    fn names_in_double_quotes_are_found() {
        for (text, is_ansi) in [
            (r#"SELECT "id" FROM "orders""#, true),
            (r#"SELECT a FROM t JOIN "u" ON 1"#, true),
            (r#"INSERT INTO "t" VALUES (1)"#, true),
            (r#"UPDATE "t" SET a = 1"#, true),
            (r#"SELECT "t".a FROM t"#, true),
            (r#"SELECT t."a" FROM t"#, true),
            (r#"SELECT a FROM t WHERE b = "x""#, false),
            (r#"SELECT TRIM(BOTH "x" FROM "yx") FROM t"#, false),
            (r#"SELECT EXTRACT(DAY FROM "2026-05-01")"#, false),
            (r#"SELECT 'FROM "x"' FROM t"#, false),
            (r#"SELECT a FROM (SELECT 1 FROM "x") y"#, true),
            (r#"SELECT TRIM("x") FROM "orders"#, false),
            (r#"INSERT INTO "t"#, false),
            (r#"SHOW COLUMNS FROM "t""#, true),
            (r#"DELETE FROM "t" WHERE a = 1"#, true),
            (r#"PREPARE s FROM "SELECT 1""#, false),
            (
                r#"CREATE PROCEDURE p() BEGIN PREPARE s FROM "SELECT 1"; END"#,
                false,
            ),
            (r#"REVOKE SELECT ON t.* FROM "ann""#, false),
            (r#"REVOKE ALL ON t.* FROM "ann"@"10.0.0.1""#, false),
            (r#"GRANT "admin" TO "ann"@"10.0.0.1""#, false),
            (r#"CLONE INSTANCE FROM "ann"@"10.0.0.1":3306"#, false),
            (r#"IMPORT TABLE FROM "a.sdi""#, false),
            (r#"RESTORE DATABASE * FROM "s3://a""#, false),
            (r#"EXECUTE IMMEDIATE "SELECT 1""#, false),
            (r#"SELECT m.from "Sender" FROM m"#, false),
            (r#"SELECT a IS DISTINCT FROM "x" FROM t"#, false),
            (r#"SELECT d->"$.a" FROM t"#, false),
            (r#"SELECT a INTO OUTFILE "x.csv" FROM t"#, false),
        ] {
            let found = double_quotes(text.as_bytes());
            assert_eq!(matches!(found, DoubleQuotes::Names(_)), is_ansi, "{text}");
        }
        let account = r#"GRANT SELECT ON "shop"."t" TO "ann"@"10.0.0.1""#;
        assert_eq!(
            spelled(account, Dialect::Mysql).join(" "),
            r#"GRANT SELECT ON "shop" . "t" TO ? @ ?"#
        );
    }

    #[test]
    fn double_quotes_of_an_unknown_system_are_strings_or_names() {
        let spelled = |text: &str| spelled(text, Dialect::Unknown).join(" ");
        for (text, tokens) in [
            (r#"a = "ann@example.org" AND b = $1"#, "a = ? AND b = ?"),
            (
                r#"SELECT "a" FROM "t" WHERE b = 'x'"#,
                r#"SELECT "a" FROM "t" WHERE b = ?"#,
            ),
            ("d #>> $$ann$$ ? 'k'", "d # > > ? ? ?"),
            ("1 -- ann", "?"),
        ] {
            assert_eq!(spelled(text), tokens, "{text}");
        }
    }

    #[test]
    fn a_semicolon_in_a_comment_or_in_quotes_ends_no_statement() {
        for (text, ends) in [
            ("SELECT 1;", true),
            ("SELECT 1 ; -- a", true),
            ("SELECT 1 -- a;", false),
            ("SELECT 1 # a;", false),
            ("SELECT 1 /* a; */", false),
            ("SELECT ';", false),
            ("SELECT ';'", false),
            ("SELECT 1", false),
            ("", false),
        ] {
            let found = ends_with_semicolon(text.as_bytes(), Dialect::Mysql);
            assert_eq!(found, ends, "{text}");
        }
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
