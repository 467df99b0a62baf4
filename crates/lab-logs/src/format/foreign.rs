// SPDX-License-Identifier: Apache-2.0
//! Recognizes input that benchlab cannot read, so that the advice fits the input.
//!
//! Sources: file(1), `magic`; the documentation of each program.

use super::haproxy::OtherLine;
use super::prefix_time::local_time;
use crate::time::iso;
use memchr::memmem::find;
use serde::de::IgnoredAny;

/// The maximum length of the text before a line's JSON object or severity, in bytes.
const MAX_PREFIX: usize = 512;
/// The minimum number of `key=value` pairs of a line in logfmt.
const MIN_PAIRS: usize = 3;

/// Input that benchlab cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignLog {
    /// A compressed file or an archive.
    Compressed {
        /// The name of the format.
        format: &'static str,
        /// The command that decompresses a file to standard output.
        command: &'static str,
    },
    /// Text in UTF-16, which PowerShell writes when it redirects output.
    Utf16 {
        /// The name of the encoding for `iconv`.
        encoding: &'static str,
    },
    /// The binary journal of systemd.
    Journal,
    /// Invalid JSON with one object per line.
    InvalidJson {
        /// The number of the first invalid line in the sample, from 1.
        line: usize,
        /// The position of the error in the line, in bytes from 1.
        column: usize,
        /// The description of the error, without content of the line.
        error: String,
        /// True if the line is not UTF-8.
        has_other_encoding: bool,
    },
    /// A JSON object after a prefix in each line.
    PrefixedJson,
    /// Lines of `key=value` pairs.
    Logfmt,
    /// HAProxy's log of connections.
    HaProxyTcp,
    /// The output of `aws logs filter-log-events`.
    CloudWatchEvents,
    /// PostgreSQL's log from Azure's Single Server, which has the prefix in a separate field.
    AzurePostgresql,
    /// A summary of a slow query log.
    SlowLogSummary {
        /// The program that wrote the summary.
        program: &'static str,
    },
    /// The table `mysql.slow_log` as CSV.
    SlowLogTable,
    /// The general query log of MySQL or MariaDB, or its table as CSV.
    GeneralLog,
    /// The error log of MySQL or MariaDB.
    MysqlErrors,
    /// The log of MariaDB's audit plugin.
    MariadbAudit,
    /// PostgreSQL's log in a language other than English.
    TranslatedPostgresql,
    /// A proxy in front of a database.
    DatabaseProxy {
        /// The name of the log.
        name: &'static str,
        /// The name of the database's log to read instead.
        database: &'static str,
    },
    /// A log of a database that benchlab does not support.
    OtherDatabase {
        /// The name of the log.
        name: &'static str,
    },
}

impl ForeignLog {
    /// Recognizes a file that is not text by its first bytes.
    pub fn from_bytes(begin: &[u8]) -> Option<ForeignLog> {
        const COMPRESSIONS: [(&[u8], &str, &str); 11] = [
            (b"\xfd7zXZ\0", "xz", "xzcat FILE"),
            (b"PK\x03\x04", "zip", "unzip -p FILE"),
            (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc FILE"),
            (b"\x02\x21\x4c\x18", "lz4", "lz4 -dc FILE"),
            (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x -so FILE"),
            (b"\x5d\0\0\x80\0", "lzma", "lzcat FILE"),
            (b"\x5d\0\0\x10\0", "lzma", "lzcat FILE"),
            (b"\x1f\x9d", "compress", "zcat FILE"),
            (b"\x1f\x8b", "gzip twice", "zcat FILE"),
            (b"\x28\xb5\x2f\xfd", "zstd twice", "zstdcat FILE"),
            (b"\xff\x06\0\0sNaPpY", "Snappy", "snzip -dc FILE"),
        ];
        let compressed = |format, command| Some(ForeignLog::Compressed { format, command });
        let is_bzip2 = begin.starts_with(b"BZh") && begin.get(4..10) == Some(b"1AY&SY");
        if is_bzip2 {
            return compressed("bzip2", "bzcat FILE");
        }
        let mut known = COMPRESSIONS.iter();
        if let Some((_, format, command)) = known.find(|(magic, ..)| begin.starts_with(magic)) {
            return compressed(format, command);
        }
        if begin.get(257..262) == Some(b"ustar") {
            return compressed("tar", "tar -xOf FILE");
        }
        if begin.starts_with(b"LPKSHHRH") {
            return Some(ForeignLog::Journal);
        }
        utf16(begin).map(|encoding| ForeignLog::Utf16 { encoding })
    }

    /// Returns true if the lines can contain statements with personal data.
    pub fn has_statements(&self) -> bool {
        !matches!(
            self,
            ForeignLog::InvalidJson { .. }
                | ForeignLog::PrefixedJson
                | ForeignLog::Logfmt
                | ForeignLog::HaProxyTcp
        )
    }

    /// Recognizes a log by its first lines.
    pub fn from_lines(lines: &[&[u8]]) -> Option<ForeignLog> {
        let first = lines.first()?;
        let any = |is_kind: fn(&[u8]) -> bool| lines.iter().any(|line| is_kind(line));
        let most = |is_kind: fn(&[u8]) -> bool| {
            lines.iter().filter(|line| is_kind(line)).count() * 2 > lines.len()
        };
        let other = |name| Some(ForeignLog::OtherDatabase { name });
        if any(is_mongodb) {
            other("log of MongoDB")
        } else if first.starts_with(b"{") && any(|line| has(line, "\"events\"")) && any(has_message)
        {
            Some(ForeignLog::CloudWatchEvents)
        } else if most(is_azure_postgresql) {
            Some(ForeignLog::AzurePostgresql)
        } else if let Some(program) = lines.iter().find_map(|line| summary(line)) {
            Some(ForeignLog::SlowLogSummary { program })
        } else if most(is_slow_log_row) {
            Some(ForeignLog::SlowLogTable)
        } else if most(is_general_log_row) {
            Some(ForeignLog::GeneralLog)
        } else if most(is_mariadb_audit) {
            Some(ForeignLog::MariadbAudit)
        } else if any(is_proxysql) {
            Some(ForeignLog::DatabaseProxy {
                name: "ProxySQL",
                database: "the slow query log of MySQL",
            })
        } else if any(is_sql_server) {
            other("error log of SQL Server")
        } else if any(is_oracle) {
            other("log of Oracle Database")
        } else if any(|line| line.starts_with(b"Run Time: real ")) {
            other("output of the SQLite shell")
        } else if any(is_redis) {
            other("log of Redis")
        } else if any(is_cockroachdb) {
            other("log of CockroachDB")
        } else if any(is_clickhouse) {
            other("log of ClickHouse")
        } else if any(is_mysql_error) {
            Some(ForeignLog::MysqlErrors)
        } else if any(is_translated_postgresql) {
            Some(ForeignLog::TranslatedPostgresql)
        } else if most(is_haproxy) {
            Some(ForeignLog::HaProxyTcp)
        } else if let Some(invalid) = invalid_json(lines) {
            Some(invalid)
        } else if most(has_json_after_prefix) {
            Some(ForeignLog::PrefixedJson)
        } else if most(is_logfmt) {
            Some(ForeignLog::Logfmt)
        } else {
            None
        }
    }
}

fn has(line: &[u8], text: &str) -> bool {
    find(line, text.as_bytes()).is_some()
}

/// Returns the blank-separated words of a line.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(|b| matches!(b, b' ' | b'\t'));
    words.filter(|word| !word.is_empty())
}

fn are_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns the name of the encoding if text is UTF-16, with or without a byte order mark.
fn utf16(begin: &[u8]) -> Option<&'static str> {
    match begin {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Some("UTF-16"),
        _ => {}
    }
    let pairs = begin.chunks_exact(2).take(64);
    let count = |is_ascii: fn(&[u8]) -> bool| pairs.clone().filter(|pair| is_ascii(pair)).count();
    let most = |n: usize| n >= 4 && n * 10 >= pairs.len() * 9;
    if most(count(|pair| pair[0] != 0 && pair[1] == 0)) {
        Some("UTF-16LE")
    } else if most(count(|pair| pair[0] == 0 && pair[1] != 0)) {
        Some("UTF-16BE")
    } else {
        None
    }
}

fn has_message(line: &[u8]) -> bool {
    has(line, "\"message\"")
}

/// MongoDB 4.4 and later logs JSON, earlier versions log text.
fn is_mongodb(line: &[u8]) -> bool {
    const COMPONENTS: [&[u8]; 12] = [
        b"COMMAND",
        b"NETWORK",
        b"CONTROL",
        b"STORAGE",
        b"REPL",
        b"QUERY",
        b"WRITE",
        b"INDEX",
        b"ACCESS",
        b"SHARDING",
        b"FTDC",
        b"-",
    ];
    if line.starts_with(b"{\"t\":{\"$date\":") {
        return true;
    }
    let mut words = words(line);
    let is_time = words.next().is_some_and(|time| iso(time).is_some());
    let is_severity = words.next().is_some_and(|word| {
        matches!(
            word,
            [b'D' | b'I' | b'W' | b'E' | b'F'] | [b'D', b'1'..=b'5']
        )
    });
    let is_component = words.next().is_some_and(|word| COMPONENTS.contains(&word));
    let is_context = words.next().is_some_and(|word| word.starts_with(b"["));
    is_time && is_severity && is_component && is_context
}

fn is_azure_postgresql(line: &[u8]) -> bool {
    has(line, "\"PostgreSQLLogs\"") && has(line, "\"prefix\"") && has_message(line)
}

/// Returns the program that summarized a slow query log.
fn summary(line: &[u8]) -> Option<&'static str> {
    let is_count = line.starts_with(b"Count: ") && has(line, " Time=") && has(line, " Lock=");
    if is_count || line.starts_with(b"Reading mysql slow query log from ") {
        return Some("mysqldumpslow");
    }
    let is_usage = line.starts_with(b"# ") && has(line, " user time, ") && has(line, " rss, ");
    let is_overall = line.starts_with(b"# Overall: ") && has(line, " total, ");
    (is_usage || is_overall).then_some("pt-query-digest")
}

/// The engine CSV writes `"TIME","USER[USER] @ HOST [ADDRESS]","00:00:02.000123",…`.
fn is_slow_log_row(line: &[u8]) -> bool {
    let mut cells = line.split(|b| *b == b',');
    let is_time = |cell: &[u8]| cell.starts_with(b"\"20") && begins_with_time(&cell[1..]);
    let is_user = |cell: &[u8]| has(cell, "] @ ");
    let is_duration = |cell: &[u8]| matches!(cell, [b'"', _, _, b':', _, _, b':', ..]);
    cells.next().is_some_and(is_time)
        && cells.next().is_some_and(is_user)
        && cells.next().is_some_and(is_duration)
}

fn is_general_log_row(line: &[u8]) -> bool {
    line.starts_with(b"\"20")
        && has(line, "] @ ")
        && [
            ",\"Query\",",
            ",\"Connect\",",
            ",\"Quit\",",
            ",\"Execute\",",
        ]
        .iter()
        .any(|command| has(line, command))
}

fn is_mariadb_audit(line: &[u8]) -> bool {
    const OPERATIONS: [&[u8]; 10] = [
        b"QUERY",
        b"CONNECT",
        b"DISCONNECT",
        b"FAILED_CONNECT",
        b"READ",
        b"WRITE",
        b"CREATE",
        b"ALTER",
        b"RENAME",
        b"DROP",
    ];
    let cells: Vec<&[u8]> = line.splitn(8, |b| *b == b',').collect();
    let is_time =
        matches!(cells[0], [digits @ .., b' ', _, _, b':', _, _, b':', _, _] if are_digits(digits));
    is_time && cells.get(6).is_some_and(|cell| OPERATIONS.contains(cell))
}

/// `2026-05-01 10:00:00 MySQL_Session.cpp:4567:handler(): [WARNING] …`
fn is_proxysql(line: &[u8]) -> bool {
    let mut words = words(line).skip(2);
    let is_source = words
        .next()
        .is_some_and(|word| has(word, ".cpp:") && word.ends_with(b"():"));
    is_source && words.next().is_some_and(|word| word.starts_with(b"["))
}

/// Returns true if a text begins with a time such as `2026-05-01 10:00:00`.
fn begins_with_time(text: &[u8]) -> bool {
    text.get(..19).is_some_and(|time| iso(time).is_some())
}

/// `2026-05-01 10:00:00.12 spid51 …`
fn is_sql_server(line: &[u8]) -> bool {
    let is_time = begins_with_time(line) && matches!(line.get(19..23), Some([b'.', _, _, b' ']));
    let mut words = words(line).skip(2);
    let is_source = |word: &[u8]| {
        matches!(word, b"Server" | b"Logon" | b"Backup")
            || word
                .strip_prefix(b"spid")
                .is_some_and(|rest| are_digits(rest.strip_suffix(b"s").unwrap_or(rest)))
    };
    is_time && words.next().is_some_and(is_source)
}

fn is_oracle(line: &[u8]) -> bool {
    line.starts_with(b"PARSING IN CURSOR #")
        || line.starts_with(b"*** SESSION ID:(")
        || (line.starts_with(b"Thread ") && has(line, " advanced to log sequence "))
        || (line.starts_with(b"ORA-") && line.get(4..9).is_some_and(are_digits))
}

/// `1:M 01 May 2026 10:00:00.123 * …`
fn is_redis(line: &[u8]) -> bool {
    let mut words = words(line);
    let is_role = |word: &[u8]| matches!(word, [process @ .., b':', b'M' | b'S' | b'C' | b'X'] if are_digits(process));
    words.next().is_some_and(is_role) && words.next().is_some_and(are_digits)
}

/// `I260501 10:00:00.123456 1 sql/exec_log.go:123 …`
fn is_cockroachdb(line: &[u8]) -> bool {
    let is_head = matches!(line, [b'I' | b'W' | b'E' | b'F', rest @ ..]
        if rest.len() > 7 && are_digits(&rest[..6]) && rest[6] == b' ');
    is_head && words(line).take(6).any(|word| has(word, ".go:"))
}

/// `2026.05.01 10:00:00.123456 [ 1 ] {q} <Debug> …`
fn is_clickhouse(line: &[u8]) -> bool {
    let is_time = matches!(
        line,
        [_, _, _, _, b'.', _, _, b'.', _, _, b' ', _, _, b':', ..]
    ) && are_digits(&line[..4]);
    let levels = [
        "<Trace>",
        "<Debug>",
        "<Information>",
        "<Warning>",
        "<Error>",
        "<Fatal>",
    ];
    is_time && levels.iter().any(|level| has(line, level))
}

/// `2026-05-01  9:00:00 0 [ERROR] …`, `260501 10:00:00 [Warning] …`
fn is_mysql_error(line: &[u8]) -> bool {
    let mut words = words(line);
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let is_clock = matches!(second, [.., b':', _, _, b':', _, _]) && second.len() <= 8;
    let is_old = first.len() == 6 && are_digits(first) && is_clock;
    let is_day = matches!(first, [_, _, _, _, b'-', _, _, b'-', _, _]) && is_clock;
    let is_time = first.len() > 19 && iso(first).is_some();
    let level = if is_time { Some(second) } else { words.next() };
    let Some(mut level) = level else {
        return false;
    };
    // The ID of the connection. `[ERROR]` without it can be from any other program.
    let has_id = are_digits(level);
    if has_id {
        let Some(next) = words.next() else {
            return false;
        };
        level = next;
    }
    let is_level = match level {
        b"[Note]" | b"[Warning]" | b"[System]" => true,
        b"[ERROR]" => is_old || has_id,
        _ => false,
    };
    is_level && (is_old || is_day || is_time)
}

/// Returns true if a line has a time and a severity that PostgreSQL writes in a language other than
/// English.
fn is_translated_postgresql(line: &[u8]) -> bool {
    const SEVERITIES: [&str; 14] = [
        "DZIENNIK",
        "LOGG",
        "FEHLER",
        "ERREUR",
        "ERRORE",
        "ERRO",
        "HATA",
        "CHYBA",
        "FEL",
        "ANWEISUNG",
        "INSTRUCTION",
        "SENTENCIA",
        "ISTRUZIONE",
        "COMANDO",
    ];
    let Some((_, length)) = local_time(line) else {
        return false;
    };
    let rest = &line[length..line.len().min(length + MAX_PREFIX)];
    let Some(end) = find(rest, b":  ") else {
        return false;
    };
    let is_edge = |b: &u8| matches!(b, b' ' | b':' | b',' | b']' | b'>' | b'|' | b'-');
    let begin = rest[..end]
        .iter()
        .rposition(is_edge)
        .map_or(0, |edge| edge + 1);
    let Ok(word) = std::str::from_utf8(&rest[begin..end]) else {
        return false;
    };
    let is_foreign =
        !word.is_ascii() && word.chars().all(|c| c.is_alphabetic() && !c.is_lowercase());
    is_foreign || SEVERITIES.contains(&word)
}

fn is_haproxy(line: &[u8]) -> bool {
    OtherLine::find(line) == Some(OtherLine::Connection)
}

/// Finds the first invalid line if most lines begin and end like a JSON object.
fn invalid_json(lines: &[&[u8]]) -> Option<ForeignLog> {
    let trimmed = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.strip_suffix(b",").unwrap_or(line).to_vec()
    };
    let is_object = |line: &&[u8]| {
        let line = trimmed(line);
        line.starts_with(b"{") && line.ends_with(b"}") && line.len() > 2
    };
    let objects = lines.iter().filter(|line| is_object(line)).count();
    if objects * 2 <= lines.len() {
        return None;
    }
    let objects = lines.iter().enumerate().filter(|(_, line)| is_object(line));
    let mut invalid = objects.filter_map(|(index, line)| {
        let text = trimmed(line);
        let error = serde_json::from_slice::<IgnoredAny>(&text).err()?;
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Some(ForeignLog::InvalidJson {
            line: index + 1,
            column: error.column(),
            error: message.into(),
            has_other_encoding: std::str::from_utf8(&text).is_err(),
        })
    });
    invalid.next().or_else(|| {
        let mut objects = lines.iter().enumerate();
        let (index, text) = objects.find(|(_, line)| std::str::from_utf8(line).is_err())?;
        let valid = std::str::from_utf8(text).err()?.valid_up_to();
        Some(ForeignLog::InvalidJson {
            line: index + 1,
            column: valid + 1,
            error: "invalid UTF-8".into(),
            has_other_encoding: true,
        })
    })
}

fn has_json_after_prefix(line: &[u8]) -> bool {
    let Some(begin) = memchr::memchr(b'{', &line[..line.len().min(MAX_PREFIX)]) else {
        return false;
    };
    begin > 0 && serde_json::from_slice::<IgnoredAny>(line[begin..].trim_ascii()).is_ok()
}

fn is_logfmt(line: &[u8]) -> bool {
    let is_pair = |word: &&[u8]| {
        let key = word.split(|b| *b == b'=').next().unwrap_or_default();
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'@');
        key.len() < word.len() && !key.is_empty() && key.iter().all(is_name)
    };
    words(line).filter(is_pair).count() >= MIN_PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Hints, find};
    use proptest::prelude::*;

    /// Asserts that `log` is rejected with a message that contains `words` and no advice for other
    /// kinds of input.
    fn expect(log: &[u8], words: &[&str]) {
        let shown = String::from_utf8_lossy(log);
        let Err(message) = find(log, &Hints::default()) else {
            panic!("{shown} is read");
        };
        for word in words {
            assert!(message.contains(word), "{shown}: {message}");
        }
        for word in ["%h %l", "--fields", "jq -c ."] {
            assert!(!message.contains(word), "{shown}: {message}");
        }
    }

    #[test]
    fn compressed_files_are_named() {
        for (begin, words) in [
            (
                &b"BZh91AY&SY\xac\xed"[..],
                ["bzip2", "bzcat FILE | benchlab logs -"],
            ),
            (b"\xfd7zXZ\0\0\x04", ["xz", "xzcat FILE | benchlab logs -"]),
            (
                b"PK\x03\x04\x14\0",
                ["zip", "unzip -p FILE | benchlab logs -"],
            ),
            (b"\x04\x22\x4d\x18\x64", ["lz4", "lz4 -dc FILE"]),
            (b"\x1f\x9d\x90", ["compress", "zcat FILE"]),
            (b"\x1f\x8b\x08\0", ["gzip twice", "zcat FILE"]),
            (
                b"LPKSHHRH\0\0",
                ["systemd", "journalctl --file FILE -o json"],
            ),
        ] {
            expect(begin, &words);
        }
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        expect(&tar, &["tar -xOf FILE"]);
    }

    #[test]
    fn utf_16_is_named() {
        for line in [
            "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\r\n",
            "{\"path\":\"/a\",\"status\":200,\"duration_ms\":5}\r\n",
        ] {
            let units = || line.encode_utf16().cycle().take(line.len() * 3);
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            expect(
                &[b"\xff\xfe", &little[..]].concat(),
                &["iconv -f UTF-16 -t UTF-8"],
            );
            expect(
                &[b"\xfe\xff", &big[..]].concat(),
                &["iconv -f UTF-16 -t UTF-8"],
            );
            expect(&little, &["iconv -f UTF-16LE -t UTF-8"]);
            expect(&big, &["iconv -f UTF-16BE -t UTF-8"]);
        }
    }

    #[test]
    fn invalid_json_is_explained() {
        let line = |value: &str| {
            let text = format!(
                "{{\"time\":\"2026-05-01T10:00:00Z\",\"request\":\"GET /a HTTP/1.1\",\"status\":200,{value}}}\n"
            );
            text.repeat(3).into_bytes()
        };
        for (value, error) in [
            ("\"urt\":-", "line 1 is invalid at column"),
            ("\"urt\":0.1, 0.2", "line 1 is invalid at column"),
            ("\"ua\":\"\\x22x\"", "invalid escape"),
            ("\"duration_ms\":NaN", "expected value"),
            ("\"ua\":", "expected value"),
        ] {
            expect(&line(value), &[error, "escape=json"]);
        }
        let mut latin1 = line("\"ua\":\"M\u{fc}ller\"");
        latin1.retain(|byte| *byte != 0xc3);
        expect(&latin1, &["UTF-8", "iconv -f ISO-8859-1"]);
    }

    #[test]
    fn json_after_a_prefix_is_explained() {
        let json =
            "{\"time\":\"2026-05-01T10:00:00Z\",\"path\":\"/a\",\"status\":200,\"duration_ms\":25}";
        for prefix in [
            "<190>May  1 10:00:00 host nginx: ",
            "<134>1 2026-05-01T10:00:00Z host caddy 12 - - ",
            "May 01 10:00:00 host app[12]: ",
            "app-7c app ",
            "2026-05-01T10:00:00.123456789Z ",
            "\x1b[36mapp-1  |\x1b[0m ",
            "app-1  | 2026-05-01T10:00:00.123456789Z ",
        ] {
            let log = format!("{prefix}{json}\n").repeat(3);
            expect(
                log.as_bytes(),
                &["JSON after a prefix", "sed 's/^[^{]*//' FILE"],
            );
        }
        let logfmt = "time=\"2026-05-01T10:00:00Z\" level=info method=GET path=/a duration=25ms\n";
        expect(logfmt.repeat(3).as_bytes(), &["key=value"]);
    }

    #[test]
    fn logs_of_databases_are_named() {
        for (log, words) in [
            (
                r#"{"t":{"$date":"2026-05-01T10:00:00.123+02:00"},"s":"I","c":"COMMAND","attr":{}}"#,
                "MongoDB",
            ),
            (
                "2026-05-01T10:00:00.123+0200 I  COMMAND  [conn1] command shop.users 150ms",
                "MongoDB",
            ),
            (
                "2026-05-01 10:00:00.12 spid51      Starting up database 'x'.",
                "SQL Server",
            ),
            (
                "2026-05-01 10:00:00.12 Logon       Error: 18456, Severity: 14, State: 8.",
                "SQL Server",
            ),
            (
                "2026-05-01T10:00:00.123456+02:00\nThread 1 advanced to log sequence 5 (LGWR switch)",
                "Oracle",
            ),
            ("ORA-00060: deadlock detected", "Oracle"),
            (
                "*** 2026-05-01T10:00:00.123\nPARSING IN CURSOR #140 len=20 dep=0",
                "Oracle",
            ),
            (
                "SELECT * FROM t;\nRun Time: real 0.001 user 0.000123 sys 0.000000",
                "SQLite",
            ),
            (
                "1:M 01 May 2026 10:00:00.123 * Ready to accept connections",
                "Redis",
            ),
            (
                "2026-05-01 10:00:00 MySQL_Session.cpp:4567:handler(): [WARNING] Long query: 1500ms",
                "ProxySQL",
            ),
            (
                "I260501 10:00:00.123456 1 sql/exec_log.go:123 [n1] 1 760.106ms",
                "CockroachDB",
            ),
            (
                "2026.05.01 10:00:00.123456 [ 1 ] {q} <Debug> executeQuery: Read 1 rows",
                "ClickHouse",
            ),
            (
                "20260501 10:00:00,db1,app,10.0.0.5,5,10,QUERY,shop,'SELECT 1',0",
                "audit",
            ),
            (
                "2026-05-01T09:00:00.123456Z\t    8 Prepare\tSELECT ?",
                "general query log",
            ),
            (
                "2026-05-01T09:00:00.123456Z\t    8 Init DB\tshop\n\t    8 Quit\t",
                "general query log",
            ),
            (
                "\"2026-05-01 09:00:01.123456\",\"app[app] @ h [::1]\",5,1,\"Query\",\"SELECT 1\"",
                "general query log",
            ),
            (
                "2026-05-01  9:00:00 0 [ERROR] mysqld: Table 'x' is marked as crashed",
                "error log of MySQL",
            ),
            ("260501 10:00:00 [ERROR] mysqld: x", "error log of MySQL"),
            (
                "2026-05-01 10:00:00 5 [Warning] Aborted connection 5 to db: 'x'",
                "error log of MySQL",
            ),
            (
                "Reading mysql slow query log from slow.log\nCount: 5  Time=2.00s (10s)  Lock=0.00s (0s)",
                "mysqldumpslow",
            ),
            (
                "# 180ms user time, 20ms system time, 25.37M rss, 70.67M vsz\n# Overall: 5 total, 1 unique",
                "pt-query-digest",
            ),
            (
                "\"2026-05-01 09:00:01.123456\",\"app[app] @ [::1]\",\"00:00:02.000123\",\"00:00:00\",1,1",
                "mysql.slow_log",
            ),
            (
                "2026-05-01 10:00:00.000 CEST [1] DZIENNIK:  czas trwania: 12.345 ms",
                "lc_messages",
            ),
            (
                "2026-05-01 10:00:00.000 CEST [1] LOGG:  varaktighet: 12.345 ms",
                "lc_messages",
            ),
            (
                "2026-05-01 10:00:00.000 MSK [1] СООБЩЕНИЕ:  оператор: SELECT 1",
                "lc_messages",
            ),
            (
                "2026-05-01 10:00:00.000 MSK [1] a@db ОШИБКА:  отношение \"x\" не существует",
                "lc_messages",
            ),
            (
                r#"{"events": [{"timestamp": 1777629600000, "message": "2026-05-01 10:00:00 UTC:10.0.0.5(5432):a@b:[4711]:LOG:  duration: 10.000 ms  statement: SELECT 1"}]}"#,
                "jq -r '.events[].message' FILE",
            ),
        ] {
            expect(log.as_bytes(), &[words]);
            let message = find(log.as_bytes(), &Hints::default()).expect_err("an unknown log");
            assert!(!message.contains("the first line"), "{message}");
        }
        let haproxy = "May  1 10:00:00 lb haproxy[1]: 10.0.1.2:33313 [01/May/2026:10:00:00.655] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0";
        expect(haproxy.as_bytes(), &["TCP log", "option httplog"]);
    }

    #[test]
    fn other_logs_are_not_taken_for_those_of_databases() {
        for log in [
            "2026-05-01 10:00:00 [ERROR] the application failed",
            "2026-05-01 10:00:00 CRITICAL:  the application failed",
            "2026-05-01 10:00:00,123 INFO  [main] started",
            "hello",
        ] {
            assert_eq!(ForeignLog::from_lines(&[log.as_bytes()]), None, "{log}");
        }
    }

    proptest! {
        #[test]
        fn any_input_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            ForeignLog::from_bytes(&bytes);
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b',').collect();
            ForeignLog::from_lines(&lines);
        }
    }
}
