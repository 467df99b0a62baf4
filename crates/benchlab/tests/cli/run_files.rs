// SPDX-License-Identifier: Apache-2.0
//! Files that are not valid runs. The message describes the problem, and the file is not changed.

use crate::project::{BENCHLAB, Project, outcome};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

#[test]
fn files_that_are_not_runs_are_errors() {
    let (project, valid_bytes) = project_with_run();
    let folder = project.join("files");
    fs::create_dir(&folder).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    put("empty.lab", b"");
    put("text.lab", &b"# not a run\n".repeat(100));
    for length in [
        1,
        99,
        100,
        4096,
        valid_bytes.len() / 2,
        valid_bytes.len() - 1,
    ] {
        put(&format!("cut-{length}.lab"), &valid_bytes[..length]);
    }
    let mut newer = valid_bytes.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    put("newer.lab", &newer);
    fs::create_dir(folder.join("folder.lab")).unwrap();
    for mode in ["delete", "wal"] {
        let db = Connection::open(folder.join(format!("{mode}.lab"))).unwrap();
        db.execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE sample (x); PRAGMA user_version = 1"
        ))
        .unwrap();
    }
    let cut = format!(
        "is damaged or truncated: it has 4096 of {} bytes. The file was not changed",
        valid_bytes.len()
    );
    for (name, message) in [
        (
            "missing.lab",
            "missing.lab: no such file; `benchlab list --runs` shows the runs in runs/",
        ),
        (
            "empty.lab",
            "empty.lab is not a run file: it is not an SQLite database. The file was not changed",
        ),
        (
            "text.lab",
            "text.lab is not a run file: it is not an SQLite database. The file was not changed",
        ),
        (
            "cut-1.lab",
            "cut-1.lab is not a run file: it is not an SQLite database",
        ),
        (
            "cut-99.lab",
            "cut-99.lab is not a run file: it is not an SQLite database",
        ),
        (
            "cut-100.lab",
            "cut-100.lab is damaged or truncated: it has 100 of ",
        ),
        ("cut-4096.lab", &cut),
        (
            &format!("cut-{}.lab", valid_bytes.len() / 2),
            "is damaged or truncated: it has ",
        ),
        (
            &format!("cut-{}.lab", valid_bytes.len() - 1),
            "is damaged or truncated: it has ",
        ),
        (
            "newer.lab",
            "newer.lab has run file version 99, but this benchlab reads versions up to 1: use a newer benchlab",
        ),
        (
            "folder.lab",
            "folder.lab is not a run file: it is a directory or a device",
        ),
        (
            "delete.lab",
            "delete.lab is not a run file: it is an SQLite database of another program",
        ),
        (
            "wal.lab",
            "wal.lab is not a run file: it is an SQLite database of another program",
        ),
    ] {
        let before = contents(&folder);
        let file = folder.join(name);
        let file = file.to_str().expect("UTF-8");
        for args in [
            &["report", file][..],
            &["report", file, "--format", "json"],
            &["resume", file],
        ] {
            let outcome = project.call(args);
            outcome.expect(2).says(&["benchlab: ", message]);
            assert_eq!(outcome.stdout, "", "{args:?}");
            assert!(contents(&folder) == before, "{args:?} changed something");
        }
    }
}

/// A run file with random changes causes a report or an error, but not a crash.
#[test]
fn damaged_run_files_do_not_crash() {
    let (project, valid_bytes) = project_with_run();
    let file = project.join("damaged.lab");
    let mut state = 7u64;
    for _ in 0..40 {
        let mut bytes = valid_bytes.clone();
        for _ in 0..20 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let at = 100 + (state >> 33) as usize % (bytes.len() - 100);
            bytes[at] = (state >> 20) as u8;
        }
        fs::write(&file, &bytes).unwrap();
        let outcome = project.call(&["report", file.to_str().expect("UTF-8")]);
        assert!(matches!(outcome.code, Some(0 | 2)), "{outcome:?}");
        assert!(fs::read(&file).unwrap() == bytes, "the file was changed");
    }
}

/// Rows that a person or a script changed: they have invalid values or refer to missing rows.
#[test]
fn invalid_rows_are_errors() {
    let (project, valid_bytes) = project_with_run();
    let file = project.join("edited.lab");
    for sql in [
        "UPDATE sample SET subject = 99",
        "UPDATE sample SET point = 99",
        "UPDATE sample SET operations = 0",
        "UPDATE sample SET wall_ns = -1",
        "UPDATE sample SET pass = 4000000000",
        "UPDATE sample SET wall_ns = 'long'",
        "UPDATE block SET state = 'perfect'",
        "UPDATE block SET number = 7",
        "UPDATE pilot SET subject = subject + 99",
        "UPDATE pilot SET class = 'odd'",
        "UPDATE setting SET subject = 99, point = 99",
        "INSERT INTO failure VALUES (99, 99, 99, 'crash', 'x', '')",
        "UPDATE meta SET value = 'soon' WHERE key = 'ending'",
        "UPDATE meta SET value = '{}' WHERE key = 'plan'",
        "UPDATE meta SET value = replace(value, '\"baseline\":0', '\"baseline\":99') WHERE key = 'plan'",
        "UPDATE meta SET value = replace(value, '\"case\":0', '\"case\":99') WHERE key = 'plan'",
        "DELETE FROM meta",
        "DELETE FROM sample",
        "DELETE FROM block",
        "DELETE FROM pilot",
        "DROP TABLE interim_analysis",
    ] {
        fs::write(&file, &valid_bytes).unwrap();
        let db = Connection::open(&file).unwrap();
        db.execute_batch(sql).unwrap();
        drop(db);
        let before = fs::read(&file).unwrap();
        assert!(before != valid_bytes, "{sql} changed nothing");
        for format in ["terminal", "json"] {
            let outcome =
                project.call(&["report", file.to_str().expect("UTF-8"), "--format", format]);
            assert!(matches!(outcome.code, Some(0 | 2)), "{sql}: {outcome:?}");
        }
        assert!(
            fs::read(&file).unwrap() == before,
            "the file was changed after {sql}"
        );
    }
}

#[test]
fn unreadable_files_are_errors() {
    let (project, valid_bytes) = project_with_run();
    let file = project.join("secret.lab");
    fs::write(&file, &valid_bytes).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(project.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Root can read every file, so benchlab runs as another user, in a directory that this user can
    // access.
    let program = project.join("benchlab");
    fs::copy(BENCHLAB, &program).unwrap();
    let mut command = Command::new(&program);
    command
        .arg("--project")
        .arg(project.path())
        .arg("report")
        .arg(&file)
        .current_dir("/");
    if nix::unistd::Uid::effective().is_root() {
        command.uid(65534).gid(65534);
    }
    outcome(command.output().unwrap())
        .expect(2)
        .says(&["secret.lab: Permission denied"]);
    assert!(
        fs::read_dir(project.path())
            .unwrap()
            .flatten()
            .all(|e| !e.file_name().to_string_lossy().contains("-wal"))
    );
}

/// Returns a project with a run, and the bytes of its file.
fn project_with_run() -> (Project, Vec<u8>) {
    let project = Project::noop(&[]);
    project.run(&[]).expect(0);
    let valid_bytes = fs::read(project.file()).unwrap();
    (project, valid_bytes)
}

/// Returns the names and bytes of all files in a directory.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|e| {
            (
                e.file_name().to_string_lossy().into_owned(),
                fs::read(e.path()).unwrap_or_default(),
            )
        })
        .collect()
}
