// SPDX-License-Identifier: Apache-2.0
//! The same work, proven on the servers: who does other work than it should is caught by what the
//! server counted or by the settings that it read back, on both databases, and the honest go on.

use crate::project::{Project, assert_failures, without_servers};
use lab_model::{Kind, Run, parts};

pub const POINT: &str = r#"
[[case]]
name = "point"
work = "SELECT value WHERE id = ?"
unit = "row"
factor.statement = ["prepared", "text"]
statements = { select = 1 }
"#;
pub const INSERT: &str = r#"
[[case]]
name = "insert"
work = "INSERT of one row, autocommitted"
unit = "row"
factor.statement = ["prepared", "text"]
check = "writes"
empty = true
writes = { rows = 1, transactions = 1 }
statements = { insert = 1 }
"#;
pub const INSERT_TX: &str = r#"
[[case]]
name = "insert_tx"
work = "one transaction of n rows"
unit = "row"
sweep.rows_tx = [3]
check = "writes"
empty = true
writes = { rows = "rows_tx", transactions = 1 }
statements = { insert = "rows_tx", commit = 1 }
"#;
pub const CONNECT: &str = r#"
[[case]]
name = "connect"
work = "open a connection, SELECT 1, close"
unit = "row"
check = "opens"
"#;

/// A cheat, and the failure that it must have: kind and a part of the message.
type Caught<'a> = (&'a str, &'a str, &'a str);

#[test]
fn reads_that_are_not_the_reads_asked_for_are_caught() {
    let alike = [
        ("cached", "statements", "× SELECT; the server counted 0"),
        ("half-cached", "statements", "× SELECT; the server counted "),
        (
            "sets",
            "statements",
            "must execute 0 × SET; the server counted ",
        ),
        ("wrong-check", "check", "check="),
        (
            "other-way",
            "statements",
            "its statements must be sent as text; the server ",
        ),
        (
            "transaction-around",
            "statements",
            "must execute 0 × BEGIN; the server counted 1",
        ),
    ];
    let postgresql = [
        ("pings", "statements", "× SELECT; the server counted 2"),
        ("by-name", "statements", "the server planned 0 for"),
    ];
    let mariadb = [
        (
            "pings",
            "statements",
            "must execute 0 × ADMIN; the server counted 1",
        ),
        (
            "by-name",
            "statements",
            "must execute 0 × OTHER; the server counted 1",
        ),
    ];
    assert_caught(
        POINT,
        &["--set", "statement=text"],
        &alike,
        &postgresql,
        &mariadb,
    );
}

#[test]
fn inserts_that_are_not_the_inserts_asked_for_are_caught() {
    let alike = [
        // Of one operation it is the same.
        ("multi-row", "statements", "× INSERT; the server counted 1"),
        (
            "one-transaction",
            "statements",
            "must execute 0 × BEGIN; the server counted 1",
        ),
        (
            "rolled-back",
            "statements",
            "must execute 0 × BEGIN; the server counted 1",
        ),
        (
            "no-rows",
            "writes",
            "1 operations must add 1 rows; 0 are there",
        ),
        ("wrong-values", "writes", "the rows added hold a sum of"),
        (
            "shadow",
            "writes",
            "1 operations must add 1 rows; 0 are there",
        ),
    ];
    assert_caught(INSERT, &["--set", "statement=text"], &alike, &[], &[]);
}

#[test]
fn transactions_that_are_not_those_asked_for_are_caught() {
    let alike = [
        ("one-commit", "statements", "× COMMIT; the server counted 1"),
        (
            "no-commit",
            "statements",
            "1 operations must execute 1 × COMMIT; the server counted 0",
        ),
    ];
    assert_caught(INSERT_TX, &[], &alike, &[], &[]);
}

#[test]
fn connecting_other_than_once_and_not_preparing_are_caught() {
    let alike = [
        (
            "reused",
            "opens",
            "1 operations must open 1 connections; the server counted 0",
        ),
        (
            "connects-twice",
            "opens",
            "1 operations must open 1 connections; the server counted 2",
        ),
    ];
    let planned = "a prepared statement must be planned once; the server planned ";
    let postgresql = [("other-way", "statements", planned)];
    let mariadb = [(
        "other-way",
        "statements",
        "1 prepared statements; the server counted 0",
    )];
    let cases = [CONNECT, POINT].concat();
    assert_caught(
        &cases,
        &["--set", "statement=prepared"],
        &alike,
        &postgresql,
        &mariadb,
    );
}

#[test]
fn settings_that_differ_are_named_and_not_compared() {
    if without_servers() {
        return;
    }
    let variants = [
        "isolation",
        "asynchronous",
        "time-zone",
        "charset",
        "autocommit",
        "socket",
        "tls",
        "not-logged",
    ];
    let run = measured(
        &Project::servers(&[POINT], &variants),
        &["--set", "statement=text"],
    );
    assert_failures(
        &run,
        &[
            // A setting of the whole server, which is not the subject's to change.
            (
                "asynchronous on mariadb",
                "error",
                "Access denied; you need (at least one of) the SUPER",
            ),
            // The private servers have no TLS.
            (
                "tls on postgresql",
                "error",
                "server does not support SSL, but SSL was required",
            ),
            ("tls on mariadb", "error", "SSL"),
        ],
    );
    let [postgresql, mariadb] = [0, 1].map(|target| refused(&parts(&run)[target].run));
    assert_eq!(postgresql, [""; 0]);
    assert_eq!(mariadb, [""; 0]);
}

/// Who is not compared because of its settings.
fn refused(run: &Run) -> Vec<String> {
    let plan = run.plan.as_ref().expect("a plan");
    let refusals = lab_stats::analyse(run).refusals;
    let words = |why: &str| Some(why.strip_prefix("not the same settings: ")?.to_owned());
    let named = |r: &lab_stats::analysis::Refusal| {
        Some(format!(
            "{}: {}",
            plan.subjects[r.subject].name,
            words(&r.why)?
        ))
    };
    refusals.iter().filter_map(named).collect()
}

/// Measures a case with cheats on both databases, each of which must be caught; the honest subjects are
/// there to the end.
#[track_caller]
fn assert_caught(
    case: &str,
    more: &[&str],
    alike: &[Caught],
    postgresql: &[Caught],
    mariadb: &[Caught],
) {
    if without_servers() {
        return;
    }
    let mut wanted = Vec::new();
    for (kind, own) in [(Kind::Postgresql, postgresql), (Kind::Mariadb, mariadb)] {
        let caught = alike.iter().chain(own);
        wanted.extend(
            caught.map(|&(name, failure, text)| {
                (format!("{name} on {}", kind.name()), failure, text)
            }),
        );
    }
    let own: &[Caught] = if postgresql.is_empty() {
        mariadb
    } else {
        postgresql
    };
    let variants: Vec<&str> = alike.iter().chain(own).map(|(name, ..)| *name).collect();
    let run = measured(&Project::servers(&[case], &variants), more);
    let wanted: Vec<Caught> = wanted
        .iter()
        .map(|(name, kind, text)| (&name[..], *kind, *text))
        .collect();
    assert_failures(&run, &wanted);
}

/// One block: each subject's pilot, judge and one turn.
fn measured(project: &Project, more: &[&str]) -> Run {
    project.call(&[&SHORT[..], more].concat()).expect(0);
    project.load()
}

pub const SHORT: [&str; 10] = [
    "run",
    "t",
    "--quick",
    "--blocks",
    "1",
    "--pairs",
    "1",
    "--no-control",
    "--seed",
    "7",
];
