// SPDX-License-Identifier: Apache-2.0
//! Unifies the spellings of a query: the case of keywords and functions, and blanks around symbols.
//!
//! Sources: PostgreSQL 17, Appendix C *SQL Key Words*; MySQL 8.4, 11.3 *Keywords and Reserved
//! Words*. The case of names stays as it is, because MySQL can have two tables whose names differ
//! only in case.

/// The keywords whose case is ignored, in alphabetical order for the binary search.
const KEYWORDS: &[&str] = &[
    "abort",
    "absolute",
    "add",
    "all",
    "alter",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "backward",
    "begin",
    "between",
    "binary",
    "by",
    "call",
    "cascade",
    "case",
    "cast",
    "change",
    "char",
    "charset",
    "check",
    "close",
    "cluster",
    "collate",
    "column",
    "columns",
    "commit",
    "committed",
    "conflict",
    "constraint",
    "copy",
    "create",
    "cross",
    "cube",
    "current_date",
    "current_time",
    "current_timestamp",
    "cursor",
    "data",
    "database",
    "date",
    "deallocate",
    "declare",
    "default",
    "delayed",
    "delete",
    "desc",
    "describe",
    "discard",
    "distinct",
    "distinctrow",
    "div",
    "do",
    "drop",
    "duplicate",
    "else",
    "end",
    "escape",
    "except",
    "execute",
    "exists",
    "explain",
    "false",
    "fetch",
    "filter",
    "first",
    "flush",
    "for",
    "force",
    "foreign",
    "forward",
    "from",
    "full",
    "function",
    "global",
    "grant",
    "group",
    "grouping",
    "handler",
    "having",
    "high_priority",
    "hold",
    "if",
    "ignore",
    "ilike",
    "in",
    "index",
    "infile",
    "inner",
    "insert",
    "intersect",
    "interval",
    "into",
    "is",
    "isolation",
    "join",
    "key",
    "kill",
    "last",
    "lateral",
    "left",
    "level",
    "like",
    "limit",
    "listen",
    "load",
    "local",
    "localtime",
    "localtimestamp",
    "lock",
    "locked",
    "low_priority",
    "merge",
    "mod",
    "mode",
    "modify",
    "move",
    "names",
    "natural",
    "next",
    "no",
    "not",
    "nothing",
    "notify",
    "nowait",
    "null",
    "nulls",
    "offset",
    "on",
    "only",
    "optimize",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "prepare",
    "primary",
    "prior",
    "procedure",
    "read",
    "recursive",
    "references",
    "regexp",
    "reindex",
    "relative",
    "release",
    "rename",
    "repeatable",
    "replace",
    "reset",
    "restrict",
    "returning",
    "revoke",
    "right",
    "rlike",
    "rollback",
    "rollup",
    "row",
    "rows",
    "savepoint",
    "schema",
    "scroll",
    "select",
    "serializable",
    "session",
    "set",
    "sets",
    "share",
    "show",
    "signed",
    "similar",
    "skip",
    "some",
    "sql_calc_found_rows",
    "sql_no_cache",
    "start",
    "status",
    "straight_join",
    "table",
    "tables",
    "tablesample",
    "temp",
    "temporary",
    "then",
    "time",
    "timestamp",
    "to",
    "transaction",
    "trigger",
    "true",
    "truncate",
    "uncommitted",
    "union",
    "unique",
    "unlisten",
    "unlock",
    "unsigned",
    "update",
    "use",
    "using",
    "vacuum",
    "value",
    "values",
    "variables",
    "view",
    "when",
    "where",
    "window",
    "with",
    "within",
    "without",
    "work",
    "write",
    "xor",
];
/// Words after which a word before an opening bracket is a name rather than a function, in
/// alphabetical order for the binary search.
const BEFORE_NAMES: [&str; 16] = [
    "as",
    "database",
    "exists",
    "from",
    "index",
    "into",
    "join",
    "key",
    "on",
    "recursive",
    "references",
    "table",
    "trigger",
    "update",
    "view",
    "with",
];

/// A word, name, placeholder or symbol of a query.
enum Part<'q> {
    Word(&'q [u8]),
    /// A quoted name, or `?`.
    Other(&'q [u8]),
    Symbol(u8),
}

/// Returns a query in a form that does not depend on its spelling.
pub fn canonical(query: &[u8]) -> Vec<u8> {
    let parts = parts(query);
    let mut text = Vec::with_capacity(query.len());
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &parts[before]);
        let is_separate = !matches!(part, Part::Symbol(_))
            && before.is_some_and(|before| !matches!(before, Part::Symbol(_)));
        if is_separate {
            text.push(b' ');
        }
        match part {
            Part::Word(word) if ignores_case(word, before, parts.get(at + 1)) => {
                text.extend(word.to_ascii_lowercase());
            }
            Part::Word(word) | Part::Other(word) => text.extend(*word),
            Part::Symbol(symbol) => text.push(*symbol),
        }
    }
    text
}

/// Returns true if a word is a keyword or the name of a function.
fn ignores_case(word: &[u8], before: Option<&Part>, after: Option<&Part>) -> bool {
    let is_qualified = matches!(before, Some(Part::Symbol(b'.' | b'@')))
        || matches!(after, Some(Part::Symbol(b'.')));
    if is_qualified {
        return false;
    }
    let is_before_name = |part: &Part| match part {
        Part::Word(word) => has(&BEFORE_NAMES, word),
        _ => false,
    };
    let is_function =
        matches!(after, Some(Part::Symbol(b'('))) && !before.is_some_and(is_before_name);
    is_function || has(KEYWORDS, word)
}

fn has(words: &[&str], word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    words
        .binary_search_by(|known| known.as_bytes().cmp(&word))
        .is_ok()
}

fn parts(query: &[u8]) -> Vec<Part<'_>> {
    let is_word = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..);
    let mut parts = Vec::new();
    let mut at = 0;
    while at < query.len() {
        let rest = &query[at..];
        let word = rest.iter().take_while(is_word).count();
        let (part, length) = match rest[0] {
            b' ' => {
                at += 1;
                continue;
            }
            b'?' => (Part::Other(&rest[..1]), 1),
            quote @ (b'"' | b'`') => {
                let length = quoted_length(rest, quote);
                (Part::Other(&rest[..length]), length)
            }
            _ if word > 0 => (Part::Word(&rest[..word]), word),
            symbol => (Part::Symbol(symbol), 1),
        };
        parts.push(part);
        at += length;
    }
    parts
}

/// Returns the length of a quoted name at the beginning of `text`.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(end) = memchr::memchr(quote, &text[at..]).map(|n| at + n) {
        if text.get(end + 1) != Some(&quote) {
            return end + 1;
        }
        at = end + 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(a: &str, b: &str) -> bool {
        canonical(a.as_bytes()) == canonical(b.as_bytes())
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted() && BEFORE_NAMES.is_sorted());
    }

    #[test]
    fn spellings_of_a_query_are_the_same() {
        for (a, b) in [
            ("SELECT a FROM t WHERE id = ?", "select a from t where id=?"),
            (
                "INSERT INTO t (a, b) VALUES (…)",
                "insert into t(a,b) values(…)",
            ),
            ("BEGIN", "begin"),
            ("SELECT COUNT(*) FROM t", "select count( * ) from t"),
            ("SELECT a , b FROM t", "SELECT a,b FROM t"),
            ("SELECT \"A\" FROM t", "select\"A\"from t"),
            ("a IN (…)", "a in(…)"),
            ("SELECT ?::text", "SELECT ? :: text"),
        ] {
            assert!(is_same(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn different_queries_stay_different() {
        for (a, b) in [
            ("SELECT a FROM Orders", "SELECT a FROM orders"),
            (
                "INSERT INTO Orders (a) VALUES (…)",
                "INSERT INTO orders (a) VALUES (…)",
            ),
            ("SELECT a FROM db.Table", "SELECT a FROM db.table"),
            ("SELECT \"a\" FROM t", "SELECT \"A\" FROM t"),
            ("SELECT a b FROM t", "SELECT ab FROM t"),
            ("SELECT `a b` FROM t", "SELECT `ab` FROM t"),
            ("SELECT @A", "SELECT @a"),
            (
                "SELECT a FROM t WHERE b < ?",
                "SELECT a FROM t WHERE b <= ?",
            ),
        ] {
            assert!(!is_same(a, b), "{a} / {b}");
        }
    }
}
