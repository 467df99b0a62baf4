// SPDX-License-Identifier: Apache-2.0
//! Tests the measurements and observations of `audit host`: the rules about them, and their results
//! for real files.

use lab_audit::host::{self, CLASSES};
use lab_audit::hot::{self, WatchedFolders};
use lab_audit::storage::{self, StorageTarget, cache};
use lab_audit::{AuditObject, Value, judge};
use lab_model::Unit;
use lab_model::audit::{EvidenceValue, State};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

fn ms(ms: f64) -> Value {
    Value::ns(ms * 1e6)
}

fn ratio(n: f64) -> Value {
    Value::Number(n, Unit::Ratio)
}

/// The classes whose rules are tested here. `host` tests the rules of all other classes.
pub const MEASURED: [&str; 3] = ["storage", "folder", "watch"];

type StateCase = (
    &'static str,
    &'static str,
    Vec<(&'static str, Value)>,
    State,
);

fn cases() -> Vec<StateCase> {
    let word = |text: &str| Value::word(text);
    let days = |n: f64| Value::ns(n * 86_400e9);
    let fsync = |medium: &str, time: f64| vec![("medium", word(medium)), ("fsync_p50", ms(time))];
    let depth = |medium: &str, n: f64| vec![("medium", word(medium)), ("deep_gain", ratio(n))];
    let place = |name: &str| vec![("fast", word("/mnt/ssd")), ("place", word(name))];
    vec![
        (
            "storage-cache",
            "storage",
            vec![("cache", word("nothing"))],
            State::Good,
        ),
        (
            "storage-cache",
            "storage",
            vec![("cache", word("all reads"))],
            State::Advice,
        ),
        (
            "storage-cache",
            "storage",
            vec![
                ("cache", word("all reads")),
                ("page_cache", Value::Flag(true)),
            ],
            State::Advice,
        ),
        (
            "storage-cache",
            "storage",
            vec![("cache", word("repeated reads"))],
            State::Advice,
        ),
        (
            "storage-cache",
            "storage",
            vec![("cache", Value::Unknown("new".into()))],
            State::Unknown,
        ),
        ("storage-depth", "storage", depth("flash", 9.0), State::Good),
        ("storage-depth", "storage", depth("flash", 1.1), State::Bad),
        (
            "storage-depth",
            "storage",
            depth("memory", 1.1),
            State::NotApplicable,
        ),
        ("storage-fsync", "storage", fsync("flash", 0.5), State::Good),
        (
            "storage-fsync",
            "storage",
            fsync("spinning", 0.5),
            State::Bad,
        ),
        (
            "storage-fsync",
            "storage",
            fsync("spinning", 9.0),
            State::Advice,
        ),
        ("storage-fsync", "storage", fsync("flash", 40.0), State::Bad),
        (
            "storage-tail",
            "storage",
            vec![("tail", ratio(3.0))],
            State::Good,
        ),
        (
            "storage-tail",
            "storage",
            vec![("tail", ratio(30.0))],
            State::Advice,
        ),
        ("folder-fast", "folder", place("here"), State::Good),
        ("folder-fast", "folder", place("fast"), State::Advice),
        ("folder-fast", "folder", place("no room"), State::Advice),
        ("folder-off", "folder", place("slow"), State::Advice),
        ("folder-off", "folder", place("off"), State::Good),
        ("folder-off", "folder", place("here"), State::NotApplicable),
        (
            "folder-endurance",
            "folder",
            vec![("endurance_lasts", days(9000.0))],
            State::Good,
        ),
        (
            "folder-endurance",
            "folder",
            vec![("endurance_lasts", days(1000.0))],
            State::Advice,
        ),
        (
            "folder-endurance",
            "folder",
            vec![("endurance_lasts", days(100.0))],
            State::Bad,
        ),
        ("folder-memory", "folder", place("here"), State::Good),
        ("folder-memory", "folder", place("memory"), State::Advice),
        (
            "watch-way",
            "watch",
            vec![("way", word("fanotify")), ("complete", Value::Flag(true))],
            State::Good,
        ),
        (
            "watch-way",
            "watch",
            vec![("way", word("fanotify")), ("complete", Value::Flag(false))],
            State::Advice,
        ),
        (
            "watch-way",
            "watch",
            vec![("way", word("times of files"))],
            State::Advice,
        ),
    ]
}

#[test]
fn every_rule_on_measurements_has_a_good_and_a_bad_case() {
    let rules = host::rules().expect("rules");
    let mut tested = BTreeSet::new();
    for (rule, class, values, expected) in cases() {
        let mut object = AuditObject::new(class, "it");
        values
            .into_iter()
            .for_each(|(name, value)| object.set(name, value));
        let findings = judge(&rules, &[object], &CLASSES);
        let finding = findings.iter().find(|f| f.rule == rule).expect("a finding");
        assert_eq!(finding.state, expected, "{rule}");
        tested.insert((rule.to_owned(), expected));
    }
    for rule in rules.iter().filter(|r| MEASURED.contains(&r.of.as_str())) {
        for state in rule
            .cases
            .iter()
            .map(|case| case.state)
            .chain([State::Good])
        {
            let tested = tested.contains(&(rule.id.clone(), state));
            assert!(tested, "{} {state:?}", rule.id);
        }
    }
}

#[test]
fn latencies_below_those_of_the_medium_come_from_a_cache() {
    let cache_of = |medium: &str, scratch, read, twice| cache(medium, scratch, read, twice).text();
    assert_eq!(cache_of("flash", false, 80e3, [85e3, 80e3]), "nothing");
    assert_eq!(cache_of("flash", true, 9e3, [9e3, 9e3]), "all reads");
    assert_eq!(
        cache_of("spinning", true, 0.2e6, [0.3e6, 0.2e6]),
        "all reads"
    );
    assert_eq!(
        cache_of("spinning", false, 9e6, [9e6, 0.2e6]),
        "repeated reads"
    );
    assert_eq!(
        cache_of("virtual", false, 300e3, [300e3, 60e3]),
        "repeated reads"
    );
    assert_eq!(cache_of("virtual", true, 300e3, [300e3, 300e3]), "unknown");
    assert_eq!(cache_of("memory", true, 1e3, [1e3, 1e3]), "nothing");
}

/// Benchlab writes its scratch file but not the user's file, and leaves no files behind.
#[test]
fn a_folder_and_a_file_are_measured_side_by_side() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = folder.path().join("mine");
    let content = vec![7; 8 << 20];
    fs::write(&file, &content).expect("a file");
    let open = |path| StorageTarget::open(path, 16 << 20);
    let targets = match [open(folder.path()), open(&file)] {
        [Ok(scratch), Ok(file)] => vec![scratch, file],
        [Err(why), _] | [_, Err(why)] if why.contains("direct I/O") => {
            return println!("skipped: {why}");
        }
        [Err(why), _] | [_, Err(why)] => panic!("{why}"),
    };
    let measured = storage::measure(targets, 6, &mut |_| {}).expect("figures");
    let extra = storage::extra(&measured);
    let [scratch, mine] = &extra.objects[..] else {
        panic!("{extra:?}")
    };
    for name in ["read_mb", "read_p50", "deep_rate", "again", "cache"] {
        assert!(
            scratch.values.contains_key(name) && mine.values.contains_key(name),
            "{name}"
        );
    }
    for name in ["write_p50", "fsync_p50", "commits"] {
        assert!(
            scratch.values.contains_key(name) && !mine.values.contains_key(name),
            "{name}"
        );
    }
    for row in extra.tables.iter().flat_map(|table| &table.rows) {
        let numbers: Vec<f64> = row
            .iter()
            .filter_map(|cell| match cell {
                EvidenceValue::Number(n, _) => Some(*n),
                _ => None,
            })
            .collect();
        let [estimate, low, high] = numbers[..] else {
            panic!("{row:?}")
        };
        assert!(0.0 < low && low <= estimate && estimate <= high, "{row:?}");
    }
    assert_eq!(fs::read(&file).expect("the file"), content);
    assert_eq!(fs::read_dir(folder.path()).expect("names").count(), 1);
    for (path, why) in [("/proc/version", ""), ("nowhere", "No such file")] {
        let refused = StorageTarget::open(path.as_ref(), 1 << 20)
            .err()
            .expect("refused");
        assert!(refused.contains(why), "{refused}");
    }
}

/// Reads by `cat` and writes by `dd` are attributed to their directories, with and without fanotify.
#[test]
fn read_and_written_directories_are_distinguished() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let under = folder.path().canonicalize().expect("a path");
    for name in ["hot", "log", "idle"] {
        fs::create_dir(under.join(name)).expect("a folder");
        fs::write(under.join(name).join("file"), vec![1; 2 << 20]).expect("a file");
    }
    // File times are compared in whole seconds.
    std::thread::sleep(Duration::from_millis(1100));
    let machine = host::AuditedMachine {
        root: lab_audit::Root::live(),
        watched: host::HostActivity::default(),
    };
    let scope = WatchedFolders::new(&under, host::mounts(&machine));
    let mut busy = Some(under.clone());
    let watched = hot::watch(&scope, Duration::from_secs(20), &mut |been| {
        if let Some(under) = busy.take_if(|_| been > Duration::from_millis(300)) {
            let run = |program: &str, words: &[String]| {
                let status = Command::new(program)
                    .args(words)
                    .output()
                    .expect("a program");
                assert!(status.status.success());
            };
            for _ in 0..3 {
                run("cat", &[under.join("hot/file").display().to_string()]);
            }
            let activity_of = format!("of={}", under.join("log/new").display());
            run(
                "dd",
                &[
                    "if=/dev/zero".into(),
                    activity_of,
                    "bs=1M".into(),
                    "count=5".into(),
                ],
            );
        }
        been > Duration::from_millis(1500)
    });
    let (extra, script) = hot::extra(&watched, None, 0);
    assert_eq!(
        script,
        Err("no fast filesystem was given; use --fast DIR".into())
    );
    let activity_of = |name: &str| {
        extra
            .objects
            .iter()
            .find(|t| t.class == "folder" && t.name.ends_with(name))
    };
    let bytes = |object: &AuditObject, name: &str| match &object.values[name] {
        Value::Number(n, _) => *n,
        other => panic!("{other:?}"),
    };
    let log = activity_of("/log").expect("the log");
    assert!(
        bytes(log, "written") >= 5e6 && bytes(log, "read") < 1e6,
        "{log:?}"
    );
    assert!(activity_of("/idle").is_none());
    let method = extra
        .objects
        .iter()
        .find(|t| t.class == "watch")
        .expect("a watch");
    if method.values["way"] == Value::word("fanotify") {
        let hot = activity_of("/hot").expect("the run contains an audit");
        assert!(
            bytes(hot, "read") >= 3.0 * 2e6 && bytes(hot, "opens") >= 3.0,
            "{hot:?}"
        );
        assert_eq!(bytes(hot, "written"), 0.0);
    }
}
