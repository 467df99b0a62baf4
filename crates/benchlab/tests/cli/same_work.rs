// SPDX-License-Identifier: Apache-2.0
//! Subjects that do different work than the others. Such subjects are detected, and the honest
//! subjects continue to the end.

use crate::project::{CONNECT, DROP_CREATE, INSERT, Project, SELECT, assert_failures};
use lab_model::{Run, SubjectId};
use lab_report::wording;
use lab_stats::results::{Results, results};

#[test]
fn inserts_that_are_not_the_inserts_asked_for_are_caught() {
    let cheats = [
        "one-transaction",
        "fewer-rows",
        "wrong-values",
        "no-write",
        "extra-transaction",
        "rolled-back",
    ];
    let run = measure(
        &Project::sql(&[INSERT], &cheats),
        &["--set", "statement=prepared"],
    );
    assert_failures(
        &run,
        &[
            (
                "one-transaction",
                "writes",
                "the file's change counter grew by 1",
            ),
            (
                "fewer-rows",
                "writes",
                "1 operation must add 1 row; the subject added 0",
            ),
            ("wrong-values", "writes", "the added rows have a sum of"),
            (
                "no-write",
                "writes",
                "1 operation must commit 1 transaction; the file's change counter grew by 0",
            ),
            (
                "extra-transaction",
                "writes",
                "1 operation must commit 1 transaction; the file's change counter grew by 2",
            ),
            (
                "rolled-back",
                "writes",
                "the file's change counter grew by 0",
            ),
        ],
    );
}

#[test]
fn a_table_that_is_not_dropped_and_created_is_detected() {
    let cheats = [
        "keeps-table",
        "another-table",
        "one-transaction-for-both",
        "does-nothing",
    ];
    let run = measure(&Project::sql(&[DROP_CREATE], &cheats), &[]);
    assert_failures(
        &run,
        &[
            (
                "keeps-table",
                "writes",
                "must change the schema 2 times; the schema cookie grew by 0",
            ),
            (
                "another-table",
                "writes",
                "the table's definition is now `CREATE TABLE test_simple (id integer primary key, value integer)`",
            ),
            (
                "one-transaction-for-both",
                "writes",
                "the file's change counter grew by 1",
            ),
            (
                "does-nothing",
                "writes",
                "the file's change counter grew by 0",
            ),
        ],
    );
}

#[test]
fn wrong_reads_are_detected() {
    let cheats = [
        "writes-too",
        "prepared-answers",
        "fewer-units",
        "wrong-check",
        "wrong-in-run",
        "skips-in-run",
        "wal",
    ];
    let run = measure(
        &Project::sql(&[SELECT], &cheats),
        &["--set", "statement=text"],
    );
    assert_failures(
        &run,
        &[
            (
                "writes-too",
                "writes",
                "must commit 0 transactions; the file's change counter grew by 1",
            ),
            (
                "prepared-answers",
                "writes",
                "must commit 0 transactions; the file's change counter grew by 1",
            ),
            (
                "fewer-units",
                "check",
                "units=59 for 3 operations; the other subjects have 60",
            ),
            ("wrong-check", "check", "check="),
            ("wrong-in-run", "check", "check="),
            ("skips-in-run", "check", "units="),
            (
                "wal",
                "writes",
                "the file is in WAL mode, in which its commits cannot be counted; do not change journal_mode",
            ),
        ],
    );
    for (name, in_a_block) in [
        ("wrong-check", false),
        ("wrong-in-run", true),
        ("skips-in-run", true),
    ] {
        let failure = run
            .failures
            .iter()
            .find(|f| subject(&run, f.subject) == name)
            .expect("it failed");
        assert_eq!(failure.block.is_some(), in_a_block, "{failure:?}");
    }
}

#[test]
fn connecting_without_opening_the_file_is_detected() {
    let run = measure(
        &Project::sql(&[CONNECT], &["cached-handle", "cached-in-run"]),
        &[],
    );
    let text = "1 operation must open the file 1 time; it was opened 0 times";
    assert_failures(
        &run,
        &[
            ("cached-handle", "opens", text),
            ("cached-in-run", "opens", text),
        ],
    );
}

#[test]
fn settings_that_differ_are_named_and_not_compared() {
    let settings = [
        (
            "journal-mode",
            "journal_mode is truncate, but delete in honest",
        ),
        ("synchronous", "synchronous is 0, but 2 in honest"),
        ("autocommit", "autocommit is 0, but 1 in honest"),
        ("encoding", "encoding is UTF-16le, but UTF-8 in honest"),
        ("page-size", "page_size is 8192, but 4096 in honest"),
        ("cache-size", "cache_size is -64000, but -2000 in honest"),
    ];
    let project = Project::sql(&[SELECT], &settings.map(|(name, _)| name));
    let run = measure(&project, &["--set", "statement=text"]);
    assert_failures(&run, &[]);
    let results = results(&run);
    let excluded: Vec<(&str, String)> = results
        .exclusions
        .iter()
        .map(|r| (subject(&run, r.subject), wording::exclusion(&r.reason)))
        .collect();
    let expected = settings.map(|(name, reason)| (name, format!("different settings: {reason}")));
    assert_eq!(excluded, expected);
    assert_eq!(compared_subjects(&run, &results), ["second"]);
}

/// A cheating subject is not compared, but the honest subjects are.
#[test]
fn a_cheating_subject_is_excluded_and_the_others_are_compared() {
    let run = measure(
        &Project::sql(&[INSERT, SELECT], &["no-write"]),
        &["--set", "statement=prepared"],
    );
    let results = results(&run);
    let plan = run.plan().expect("a plan");
    let excluded: Vec<String> = results
        .exclusions
        .iter()
        .map(|r| {
            format!(
                "{} at {}: {}",
                subject(&run, r.subject),
                plan.label(r.point.expect("one point")),
                wording::exclusion(&r.reason)
            )
        })
        .collect();
    assert_eq!(excluded.len(), 1, "{excluded:?}");
    assert!(
        excluded[0].starts_with("no-write at insert statement=prepared: failed (writes): "),
        "{excluded:?}"
    );
    // The subject is compared at points where it works honestly.
    assert_eq!(
        compared_subjects(&run, &results),
        ["second", "second", "no-write"]
    );
}

fn measure(project: &Project, more: &[&str]) -> Run {
    let outcome = project.run(more);
    outcome.expect(0);
    let run = project.load();
    for failure in &run.failures {
        let name = subject(&run, failure.subject);
        outcome.says(&[
            &format!("benchlab: {name} failed at "),
            &format!(": {}: {}", failure.kind, failure.message),
        ]);
    }
    run
}

fn subject(run: &Run, id: SubjectId) -> &str {
    &run.plan().expect("a plan").subjects[id].name
}

/// Returns the subjects of all comparisons with a verdict, in the order of points.
fn compared_subjects<'r>(run: &'r Run, results: &Results) -> Vec<&'r str> {
    let judged = results.comparisons.iter().filter(|c| c.verdict.is_some());
    judged.map(|c| subject(run, c.key.subject)).collect()
}
