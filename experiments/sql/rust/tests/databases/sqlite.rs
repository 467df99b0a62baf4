// SPDX-License-Identifier: Apache-2.0
//! The cases on SQLite, each test with a file of its own.

use crate::common::{Database, Subject, every_case, open, work_that_fails, wrong_arguments};
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sqlite");

/// A file that is gone at the end.
struct SqliteFile(PathBuf);

impl SqliteFile {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let path = folder.join(format!("{name} & {} %.db", std::process::id()));
        Connection::open(&path).unwrap();
        Self(path)
    }

    fn connection(&self) -> Connection {
        Connection::open(&self.0).unwrap()
    }
}

impl Drop for SqliteFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Database for SqliteFile {
    fn target(&self) -> String {
        format!("sqlite:{}", self.0.display())
    }

    fn table(&self) -> &str {
        "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)"
    }

    fn settings(&self) -> Option<&str> {
        None
    }

    fn mixed_columns(&self) -> &str {
        r#"id integer primary key, small integer, big integer, amount real, name text,
           "nothing" integer, moment text"#
    }

    fn execute(&self, statement: &str) {
        self.connection().execute_batch(statement).unwrap();
    }

    fn number(&self, query: &str) -> i64 {
        self.connection()
            .query_row(query, [], |row| row.get(0))
            .unwrap()
    }
}

#[test]
fn does_the_work_of_every_case() {
    every_case(&SqliteFile::new("cases"), PROGRAM, &[]);
}

#[test]
fn survives_work_that_fails() {
    work_that_fails(
        &SqliteFile::new("failures"),
        PROGRAM,
        "no%20such%20table:%20test_simple",
    );
}

#[test]
fn refuses_wrong_arguments() {
    wrong_arguments(&SqliteFile::new("arguments"), PROGRAM);
}

#[test]
fn makes_no_file_and_reads_none_that_is_no_database() {
    let file = SqliteFile::new("missing");
    let mut subject = Subject::start(PROGRAM);
    fs::write(&file.0, "This is no database. ".repeat(1000)).unwrap();
    subject.ask_for(
        "@lab error code=failed ",
        &open(&file, "select_1 statement=text"),
    );
    fs::remove_file(&file.0).unwrap();
    subject.ask_for("@lab error code=failed ", &open(&file, "connect"));
    assert!(!file.0.exists());
    subject.quit();
}

#[test]
fn rolls_a_failed_transaction_back() {
    let file = SqliteFile::new("rollback");
    file.execute("CREATE TABLE test_simple (id integer primary key, value integer CHECK (id < 6))");
    let mut subject = Subject::start(PROGRAM);
    subject.ask_for("@lab opened ", &open(&file, "insert_tx rows_tx=4"));
    let failed = subject.ask_for("@lab error code=failed ", "run operations=2");
    assert!(failed.contains("CHECK%20constraint%20failed"), "{failed}");
    assert_eq!(file.number("SELECT count(*) FROM test_simple"), 4);
    subject.quit();
}

#[test]
fn reads_back_the_defaults() {
    let file = SqliteFile::new("settings");
    let opened = Subject::start(PROGRAM).ask(&open(&file, "connect"));
    for setting in [
        "journal_mode=delete",
        "synchronous=2",
        "encoding=UTF-8",
        "page_size=4096",
        "cache_size=-2000",
        "autocommit=1",
    ] {
        assert!(
            opened.contains(&format!(" {setting}")),
            "{setting}: {opened}"
        );
    }
}
