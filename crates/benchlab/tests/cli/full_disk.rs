// SPDX-License-Identifier: Apache-2.0
//! If the disk of the run file is full, the run stops with its samples intact. If the disk of the
//! databases is full, the subject that filled it fails.
//!
//! The small disks are mounted in a separate mount namespace, which requires root or user namespaces. Where
//! neither is permitted, BENCHLAB_NO_UNSHARE=1 skips these tests.

use crate::project::{BENCHLAB, INSERT, Project, SELECT, assert_failures, rows};
use std::fs;
use std::process::Command;

const SAMPLES: &str = "SELECT rowid, * FROM sample ORDER BY rowid";

#[test]
fn a_full_disk_stops_the_run_and_a_larger_one_finishes_it() {
    if cannot_mount() {
        return;
    }
    let project = Project::sql(&[SELECT], &[]);
    // A block needs more space than the disk has, because every sample is a transaction in the log.
    let script = r#"
        mkdir runs full && mount -t tmpfs -o size=700k none runs || exit 1
        "$BENCHLAB" --project . run t --quick --blocks 2 --pairs 150 --no-control --seed 7 \
            --set statement=text --scratch . > out 2> err; echo $? > code
        cp runs/* full/
        mount -o remount,size=64m none runs || exit 1
        "$BENCHLAB" --project . resume runs/*.lab --scratch . > out2 2> err2; echo $? > code2
        mkdir whole && cp runs/*.lab whole/
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    assert_eq!(read("code").trim(), "1", "{}", read("err"));
    let err = read("err");
    for text in [
        "benchlab: the disk is full: ",
        ".lab contains everything up to the last complete sample. Free some space, then continue with `benchlab resume ",
    ] {
        assert!(err.contains(text), "no `{text}` in {err}");
    }
    assert!(
        !err.contains("failed at"),
        "the full disk is not a failure of the subjects: {err}"
    );
    let lab = |folder: &str| {
        let files = fs::read_dir(project.join(folder))
            .unwrap()
            .flatten()
            .map(|e| e.path());
        let mut files = files.filter(|p| p.extension().is_some_and(|e| e == "lab"));
        files.next().expect("a run file")
    };
    let run = lab_store::load(&lab("full")).expect("the run file is valid");
    let before = rows(&lab("full"), SAMPLES);
    assert!(before.len() > 10, "{} samples", before.len());
    assert_eq!(
        before.len(),
        run.blocks.iter().map(|b| b.samples.len()).sum::<usize>()
    );
    assert_eq!(read("code2").trim(), "0", "{}", read("err2"));
    let after = rows(&lab("whole"), SAMPLES);
    assert_eq!(after[..before.len()], before);
    let run = lab_store::load(&lab("whole")).expect("the run file is valid");
    assert_failures(&run, &[]);
    assert_eq!(run.ending, Some(lab_model::Ending::Blocks));
}

#[test]
fn a_run_without_space_to_start_leaves_no_file() {
    if cannot_mount() {
        return;
    }
    let project = Project::noop(&[]);
    let script = r#"
        mkdir runs && mount -t tmpfs -o size=16k none runs || exit 1
        "$BENCHLAB" --project . run t --blocks 1 > out 2> err; echo $? > code
        ls runs > left
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    assert!(
        read("err").contains(".lab: the disk is full; free some space, or use another directory"),
        "{}",
        read("err")
    );
    assert_ne!(read("code").trim(), "0");
    assert_eq!(read("left"), "");
}

#[test]
fn a_subject_that_fills_the_database_disk_fails() {
    if cannot_mount() {
        return;
    }
    let project = Project::sql(&[INSERT], &["hog"]);
    let script = r#"
        mkdir small && mount -t tmpfs -o size=4m none small || exit 1
        "$BENCHLAB" --project . run t --quick --blocks 2 --pairs 2 --no-control --seed 7 \
            --set statement=text --scratch small > out 2> err; echo $? > code
        ls small > left
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    assert_eq!(read("code").trim(), "0", "{}", read("err"));
    assert_failures(
        &project.load(),
        &[("hog", "error", "failed: database or disk is full")],
    );
    assert_eq!(read("left"), "");
}

/// Runs a script in the project's directory in a separate mount namespace.
#[track_caller]
pub fn in_a_namespace(project: &Project, script: &str) {
    let mut command = unshare();
    command
        .args(["sh", "-uc", script])
        .current_dir(project.path())
        .env("BENCHLAB", BENCHLAB);
    let output = command
        .output()
        .expect("`unshare` (util-linux) is installed");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.arg(if nix::unistd::Uid::effective().is_root() {
        "-m"
    } else {
        "-rm"
    });
    command
}

/// Returns true if this machine permits no mounts and BENCHLAB_NO_UNSHARE=1 is set.
#[track_caller]
pub fn cannot_mount() -> bool {
    let script = "mount -t tmpfs -o size=16k none /mnt";
    let permitted = unshare()
        .args(["sh", "-c", script])
        .output()
        .is_ok_and(|o| o.status.success());
    let is_excluded = std::env::var_os("BENCHLAB_NO_UNSHARE").is_some_and(|v| v == "1");
    assert!(
        permitted || is_excluded,
        "a full disk cannot be tried out: `unshare -m` is permitted neither to root nor to this user. \
         Run as root, allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or set \
         BENCHLAB_NO_UNSHARE=1 to leave it out"
    );
    !permitted
}
