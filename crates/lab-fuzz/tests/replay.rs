// SPDX-License-Identifier: Apache-2.0
//! Runs every parser on every interesting input that fuzzing found.

use lab_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The path of an input. Dropping it during a panic prints the path.
struct Replayed(PathBuf);

impl Drop for Replayed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input is {}", self.0.display());
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Returns the paths in a directory, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let check = target.expect("a target").check;
    let inputs = entries(&folder().join("corpus").join(name));
    assert!(!inputs.is_empty(), "the corpus is empty");
    check(&[]);
    for path in inputs {
        let bytes = fs::read(&path).expect("an input");
        let _replayed = Replayed(path);
        check(&bytes);
    }
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
    };
}

replays! {
    access_log
    agent_message
    argument
    audit_rule
    cachegrind
    callgrind
    content_coding
    cookies
    dhat
    expected_json
    experiment
    har
    host_file
    html_page
    http_response
    imported_file
    imported_xml
    json_log
    load_argument
    log_file
    log_format
    massif
    option_value
    postgresql_log
    profile_condition
    request_file
    rotated_log
    run_file
    set_cookie
    slow_log
    smartctl
    sql
    strace
    subject_line
    tally_part
    times
    workload
}

#[test]
fn every_target_has_a_binary_and_is_replayed() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, REPLAYED.iter().copied().collect());
    let stems = |part: &str| -> BTreeSet<String> {
        let paths = entries(&folder().join(part)).into_iter();
        let stem = |path: PathBuf| {
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        paths.filter_map(stem).collect()
    };
    let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
    assert_eq!(stems("fuzz_targets"), names);
    assert_eq!(stems("corpus"), names);
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).expect("a manifest");
    for name in &names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
