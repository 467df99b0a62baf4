// SPDX-License-Identifier: Apache-2.0
//! Determines from the header lines of a slow query log whether a statement failed.
//!
//! Sources: MySQL 8.4, 7.4.5 *The Slow Query Log*; Percona Server 5.7 and 8.0, *Slow query log*, and
//! `THD::last_errno`; TiDB, *Identify Slow Queries*; MySQL 8.4, *Server Error Message Reference*.

use super::header_line::value;
use crate::sql::{Dialect, TokenKind, tokens};
use crate::time::number;

/// The codes of errors that are never only warnings.
const ERRORS: [u64; 17] = [
    1044, 1045, 1046, 1049, 1052, 1054, 1064, 1114, 1142, 1143, 1146, 1205, 1213, 1227, 1290, 1317,
    3024,
];
/// The codes of notes and warnings that are never errors.
const WARNINGS: [u64; 7] = [1003, 1246, 1249, 1276, 1287, 1592, 1681];
/// A table to create exists: only a note if the statement has IF NOT EXISTS.
const TABLE_EXISTS: u64 = 1050;
/// A table to drop does not exist: only a note if the statement has IF EXISTS.
const UNKNOWN_TABLE: u64 = 1051;
/// A row has the key of another row: only a warning if the statement has IGNORE.
const DUPLICATE_KEY: u64 = 1062;
/// The length of a statement's beginning that is searched for keywords, in bytes.
const MAX_SEARCHED: usize = 1024;

/// The facts about a statement's success in its header lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementOutcome {
    /// MySQL's `Errno`: the code of an error, or 0.
    errno: Option<u64>,
    /// Percona Server's `Last_errno`: the code of an error or, before versions 5.7.36 and 8.0.27, of a
    /// warning, or 0.
    last_errno: Option<u64>,
    /// TiDB's `Succ`.
    has_succeeded: Option<bool>,
    is_killed: bool,
}

impl StatementOutcome {
    /// Reads a header line.
    pub fn note(&mut self, line: &[u8]) {
        let code = |name: &[u8]| value(line, name).and_then(number);
        self.errno = code(b"Errno:").or(self.errno);
        self.last_errno = code(b"Last_errno:").or(self.last_errno);
        self.is_killed |= code(b"Killed:").is_some_and(|code| code > 0);
        self.has_succeeded = value(line, b"Succ:")
            .map(|text| text != b"false")
            .or(self.has_succeeded);
    }

    /// Returns the status of a statement: 200, 500 if it failed, or 0 if the header lines do not
    /// show whether it failed.
    pub fn status(&self, statement: &[u8]) -> u16 {
        let is_error = |code: u64| code > 0;
        if self.is_killed || self.has_succeeded == Some(false) || self.errno.is_some_and(is_error) {
            return 500;
        }
        match self.last_errno {
            Some(code) if is_error(code) => status_of_code(code, statement),
            Some(_) => 200,
            None if self.errno.is_some() || self.has_succeeded.is_some() => 200,
            None => 0,
        }
    }
}

/// Returns the status of a statement whose last error or warning has a code.
fn status_of_code(code: u64, statement: &[u8]) -> u16 {
    let words = Keywords::new(statement);
    let of = |is_warning: bool| if is_warning { 200 } else { 500 };
    match code {
        // A handler in a procedure can have handled the error.
        _ if words.has_first(b"call") => 0,
        code if ERRORS.contains(&code) => 500,
        code if WARNINGS.contains(&code) => 200,
        TABLE_EXISTS => of(words.have(&[b"if", b"not", b"exists"])),
        UNKNOWN_TABLE => of(words.have(&[b"if", b"exists"])),
        // LOAD DATA LOCAL implies IGNORE.
        DUPLICATE_KEY if !words.has_first(b"load") => of(words.have(&[b"ignore"])),
        _ => 0,
    }
}

/// The words at the beginning of a statement, in lower case.
struct Keywords(Vec<Vec<u8>>);

impl Keywords {
    fn new(statement: &[u8]) -> Keywords {
        let begin = &statement[..statement.len().min(MAX_SEARCHED)];
        let tokens = tokens(begin, Dialect::Mysql).into_iter();
        let words = tokens.filter(|token| token.kind == TokenKind::Word);
        let text = words.map(|token| begin[token.bytes].to_ascii_lowercase());
        Keywords(text.collect())
    }

    fn has_first(&self, word: &[u8]) -> bool {
        self.0.first().is_some_and(|first| first == word)
    }

    /// Returns true if `words` follow one another in the statement.
    fn have(&self, words: &[&[u8]]) -> bool {
        let mut runs = self.0.windows(words.len());
        runs.any(|run| run.iter().zip(words).all(|(a, b)| a == b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(lines: &[&str], statement: &str) -> u16 {
        let mut outcome = StatementOutcome::default();
        for line in lines {
            outcome.note(line.as_bytes());
        }
        outcome.status(statement.as_bytes())
    }

    #[test]
    fn each_servers_codes_are_read() {
        const TIME: &str = "# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1";
        let extra = |errno: u32, killed: u32| {
            format!("{TIME} Thread_id: 8 Errno: {errno} Killed: {killed} Bytes_sent: 56")
        };
        for (lines, expected) in [
            (vec![TIME], 0),
            (vec!["# Thread_id: 4  Schema: shop  QC_hit: No", TIME], 0),
            (vec![&extra(0, 0)[..]], 200),
            (vec![&extra(1062, 0)[..]], 500),
            (vec![&extra(0, 1)[..]], 500),
            (vec![TIME, "# Succ: true"], 200),
            (vec![TIME, "# Succ: false"], 500),
            (vec!["# Schema: s  Last_errno: 0  Killed: 0", TIME], 200),
            (vec!["# Schema: s  Last_errno: 0  Killed: 1", TIME], 500),
        ] {
            assert_eq!(status(&lines, "SELECT 1"), expected, "{lines:?}");
        }
    }

    #[test]
    fn codes_of_warnings_are_no_errors() {
        const OLD: &str = "# Query_time: 0.01  Lock_time: 0  Rows_sent: 1  Rows_examined: 0";
        let new = format!("{OLD}  Rows_affected: 0  Bytes_sent: 56");
        for (code, statement, expected) in [
            (1592, "INSERT IGNORE INTO t VALUES (1)", 200),
            (1287, "SELECT SQL_CALC_FOUND_ROWS a FROM t", 200),
            (1003, "EXPLAIN SELECT 1", 200),
            (1062, "/* a */ insert ignore into t values (1)", 200),
            (1062, "INSERT INTO t VALUES ('ignore')", 500),
            (1062, "LOAD DATA LOCAL INFILE 'a' INTO TABLE t", 0),
            (1050, "CREATE TABLE IF NOT EXISTS t (a INT)", 200),
            (1050, "CREATE TABLE t (a INT)", 500),
            (1051, "DROP TABLE IF EXISTS t", 200),
            (1051, "DROP TABLE t", 500),
            (1366, "INSERT INTO t VALUES ('a')", 0),
            (1213, "CALL p()", 0),
            (1064, "SELEC 1", 500),
            (1146, "SELECT 1 FROM x", 500),
            (1205, "UPDATE t SET a = 1", 500),
            (1213, "UPDATE t SET a = 1", 500),
        ] {
            let schema = format!("# Schema: shop  Last_errno: {code}  Killed: 0");
            assert_eq!(
                status(&[&schema, OLD], statement),
                expected,
                "{code} {statement}"
            );
            // Version 8.0 writes one line.
            assert_eq!(
                status(&[&schema, &new], statement),
                expected,
                "{code} {statement}"
            );
        }
    }
}
