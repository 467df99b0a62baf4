// SPDX-License-Identifier: Apache-2.0
//! Compares the results with `cg_annotate`, `cg_diff`, `callgrind_annotate`, `ms_print` and `dh_view`, to the last
//! digit.
//!
//! The files are written by the installed Valgrind from programs that every Debian system has.

use lab_valgrind::{
    CostProfile, Massif, clean, join, read_cachegrind, read_callgrind, read_dhat, read_massif,
};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An input file for some of the programs.
const INPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../appserver/java/pom.xml");

/// Debian programs, each with two different command lines: before and after a change.
const PROGRAMS: [[&[&str]; 2]; 11] = [
    [&["gzip", "-c", INPUT], &["gzip", "-1", "-c", SOURCE]],
    [&["sort", INPUT], &["sort", "-r", SOURCE]],
    [
        &["perl", "-e", "$h{$_ % 99} .= $_ for 1 .. 2000; print %h"],
        &["perl", "-e", "$h{$_ % 9} .= $_ for 1 .. 500; print keys %h"],
    ],
    [
        &["bash", "-c", "for i in {1..100}; do s=$s$i; done; echo $s"],
        &["bash", "-c", "for ((i = 0; i < 50; i++)); do s+=$i; done"],
    ],
    [
        &["openssl", "dgst", "-sha256", INPUT],
        &["openssl", "dgst", "-md5", SOURCE],
    ],
    [
        &[
            "curl",
            "-s",
            concat!("file://", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ],
        &[
            "curl",
            "-s",
            "-I",
            concat!("file://", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ],
    ],
    [
        &[
            "sqlite3",
            "-batch",
            ":memory:",
            "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select max(b) from t",
        ],
        &[
            "sqlite3",
            "-batch",
            ":memory:",
            "create table t(a); create index i on t(a); insert into t values (3); select a from t",
        ],
    ],
    [
        &["xmllint", "--xpath", "count(//*)", PAGE],
        &["xmllint", "--noout", PAGE],
    ],
    [
        &[
            "git",
            "--no-pager",
            "diff",
            "--no-index",
            "--stat",
            INPUT,
            INPUT,
        ],
        &["git", "hash-object", SOURCE],
    ],
    [
        &[
            "/usr/bin/python3",
            "-I",
            "-S",
            "-c",
            "print(sum(range(100)))",
        ],
        &[
            "/usr/bin/python3",
            "-I",
            "-S",
            "-c",
            "print(sorted('some words'.split()))",
        ],
    ],
    [
        &["/usr/lib/postgresql/15/bin/postgres", "--describe-config"],
        &["/usr/lib/postgresql/15/bin/postgres", "--version"],
    ],
];

fn open(path: &Path) -> BufReader<File> {
    BufReader::new(File::open(path).expect("a file"))
}

/// Runs a program under a tool, and returns the output file.
fn run(folder: &TempDir, tool: &str, options: &[&str], words: &[&str]) -> PathBuf {
    let number = std::fs::read_dir(folder).expect("a folder").count();
    let path = folder.path().join(format!("{tool}-{number}"));
    let output = Command::new("valgrind")
        .args([
            "-q",
            &format!("--tool={tool}"),
            &format!("--{tool}-out-file={}", path.display()),
        ])
        .args(options)
        .args(words)
        .envs([("LC_ALL", "C"), ("HOME", "/nonexistent")])
        .output();
    let status = output
        .expect("valgrind, which tests/setup.sh installs")
        .status;
    assert!(status.success(), "{tool} of {words:?}: {status}");
    path
}

/// Runs a tool and returns its output.
fn output_of(words: &[&str], files: &[&Path]) -> String {
    let output = Command::new(words[0])
        .args(&words[1..])
        .args(files)
        .output();
    let output = output.unwrap_or_else(|e| panic!("{}: {e}", words[0]));
    assert!(
        output.status.success(),
        "{words:?} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Parses the rows of the annotating tools: counts followed by a name, such as `1,234 (56.7%)  . (0.0%)  file:name`.
fn rows(text: &str, columns: usize) -> HashMap<String, Vec<i64>> {
    let mut found = HashMap::new();
    for line in text.lines() {
        let words = line
            .split_whitespace()
            .filter(|w| !w.starts_with('(') || !w.ends_with(')'));
        // `( 0.03%)` contains a blank.
        let words: Vec<&str> = words.filter(|w| !w.ends_with("%)") && *w != "(").collect();
        let number = |word: &&str| match *word {
            "." => Some(0),
            word => word.replace(',', "").parse().ok(),
        };
        let numbers: Option<Vec<i64>> = words.iter().take(columns).map(number).collect();
        let name = words.get(columns..).unwrap_or_default().join(" ");
        let numbers = numbers.filter(|numbers| numbers.len() == columns);
        if let (Some(numbers), false) = (numbers, name.is_empty()) {
            found.insert(name, numbers);
        }
    }
    found
}

fn signed(costs: &[u64]) -> Vec<i64> {
    costs.iter().map(|cost| *cost as i64).collect()
}

/// Asserts that the tool prints each function of a profile with the same counts, and nothing else.
///
/// Functions are compared as `file:name`, without the object in brackets.
fn compare(profile: &CostProfile, mut printed: HashMap<String, Vec<i64>>, context: &str) {
    let totals = printed.remove("PROGRAM TOTALS");
    assert_eq!(totals, Some(signed(&profile.totals)), "{context}");
    let bare = |name: &str| match name.rsplit_once(" [") {
        Some((name, _)) => name.to_owned(),
        None => name.to_owned(),
    };
    let printed: BTreeMap<String, Vec<i64>> = printed
        .into_iter()
        .map(|(name, figures)| (bare(&name), figures))
        .collect();
    let mut figures_of = BTreeMap::new();
    for function in profile
        .functions()
        .filter(|f| f.costs.iter().any(|cost| *cost > 0))
    {
        let name = format!("{}:{}", function.file, function.name);
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        figures_of.insert(bare(&name), signed(function.costs));
    }
    assert_eq!(figures_of.len(), printed.len(), "{context}");
    for (name, figures) in &printed {
        assert_eq!(figures_of.get(name), Some(figures), "{context}: {name}");
    }
}

const CACHES: [&str; 2] = ["--cache-sim=yes", "--branch-sim=yes"];
const ANNOTATE: [&str; 3] = ["cg_annotate", "--threshold=0", "--auto=no"];

#[test]
fn costs_and_differences_match_cg_annotate() {
    let folder = TempDir::new().expect("a folder");
    for programs in PROGRAMS {
        let paths = programs.map(|words| run(&folder, "cachegrind", &CACHES, words));
        let context = format!("{:?}", programs[0]);
        let profiles = paths.each_ref().map(|path| {
            let profile = read_cachegrind(open(path)).unwrap_or_else(|e| panic!("{context}: {e}"));
            let printed = rows(&output_of(&ANNOTATE, &[path]), profile.events.len());
            compare(&profile, printed, &context);
            profile
        });
        // Before Valgrind 3.21, `cg_annotate --diff` was the separate program `cg_diff`.
        let difference = folder
            .path()
            .join(format!("difference-{}", paths[0].display()).replace('/', "_"));
        std::fs::write(
            &difference,
            output_of(&["cg_diff"], &[&paths[0], &paths[1]]),
        )
        .expect("a file");
        let printed = rows(
            &output_of(&ANNOTATE, &[&difference]),
            profiles[0].events.len(),
        );
        compare_differences(&profiles, printed, &context);
    }
}

/// The tool lists compiler-made copies of a function separately. Here their costs are added up.
fn compare_differences(
    [before, after]: &[CostProfile; 2],
    mut printed: HashMap<String, Vec<i64>>,
    context: &str,
) {
    let differs = |old: &[u64], new: &[u64]| -> Vec<i64> {
        let pairs = old.iter().zip(new);
        pairs.map(|(old, new)| *new as i64 - *old as i64).collect()
    };
    let totals = differs(&before.totals, &after.totals);
    assert_eq!(printed.remove("PROGRAM TOTALS"), Some(totals), "{context}");
    let none = vec![0; before.events.len()];
    let mut printed_sums: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (name, figures) in printed {
        let (file, function) = name.split_once(':').expect("file:function");
        let sums = printed_sums.entry(format!("{file}:{}", clean(function)));
        let sums = sums.or_insert_with(|| vec![0; figures.len()]);
        sums.iter_mut()
            .zip(figures)
            .for_each(|(sum, figure)| *sum += figure);
    }
    let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for joined in join(before, after) {
        let [old, new] = [&joined.before, &joined.after].map(|c| c.as_ref().unwrap_or(&none));
        expected.insert(
            format!("{}:{}", joined.file, joined.name),
            differs(old, new),
        );
    }
    let changed = |all: BTreeMap<String, Vec<i64>>| -> BTreeMap<String, Vec<i64>> {
        let changed = all
            .into_iter()
            .filter(|(_, figures)| figures.iter().any(|f| *f != 0));
        changed.collect()
    };
    let (expected, printed_sums) = (changed(expected), changed(printed_sums));
    assert!(!printed_sums.is_empty(), "{context}: nothing differs");
    for (name, figures) in &printed_sums {
        assert_eq!(expected.get(name), Some(figures), "{context}: {name}");
    }
    assert_eq!(expected.len(), printed_sums.len(), "{context}");
}

#[test]
fn functions_and_calls_match_callgrind_annotate() {
    let folder = TempDir::new().expect("a folder");
    for [words, _] in PROGRAMS {
        let options = ["--dump-instr=yes", "--collect-jumps=yes", "--cache-sim=yes"];
        let path = run(&folder, "callgrind", &options, words);
        let profile = read_callgrind(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let all = ["callgrind_annotate", "--threshold=100", "--auto=no"];
        let printed = rows(&output_of(&all, &[&path]), profile.events.len());
        compare(&profile, printed, &format!("{words:?}"));
        assert!(profile.calls().any(|call| call.count > 0), "{words:?}");
    }
}

#[test]
fn snapshots_match_ms_print_and_blocks_match_dh_view() {
    let folder = TempDir::new().expect("a folder");
    for [words, _] in PROGRAMS {
        let path = run(&folder, "massif", &[], words);
        let massif = read_massif(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        assert_eq!(
            snapshots(&massif),
            printed_snapshots(&output_of(&["ms_print"], &[&path])),
            "{words:?}"
        );

        let path = run(&folder, "dhat", &[], words);
        let dhat = read_dhat(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let expected = [
            dhat.sum(|p| p.bytes),
            dhat.sum(|p| p.blocks),
            dhat.sum(|p| p.peak_bytes),
            dhat.sum(|p| p.peak_blocks),
            dhat.sum(|p| p.end_bytes),
            dhat.sum(|p| p.end_blocks),
            dhat.sum(|p| p.read_bytes),
            dhat.sum(|p| p.written_bytes),
        ];
        let printed = output_of(&["node", "-e", VIEW], &[&path]);
        let printed: Vec<u64> = printed
            .split_whitespace()
            .map(|n| n.parse().expect("a number"))
            .collect();
        assert_eq!(printed, expected, "{words:?}");
    }
}

/// A script that runs DHAT's own viewer without a browser and prints the totals of its root.
const VIEW: &str = r#"
    const fs = require('fs'), vm = require('vm');
    const viewer = ['/usr/libexec/valgrind', '/usr/lib/valgrind', '/usr/local/libexec/valgrind']
        .map((folder) => folder + '/dh_view.js').find((file) => fs.existsSync(file));
    const page = vm.createContext({ document: { title: '' }, performance, console });
    page.file = fs.readFileSync(process.argv[1], 'utf8');
    vm.runInContext(fs.readFileSync(viewer, 'utf8') + `
        gSelect = { selectedIndex: 0, childNodes: gSelectData.map(() => ({})) };
        gData = JSON.parse(file);
        buildTree();
        console.log([gRoot._totalBytes, gRoot._totalBlocks, gRoot._atTGmaxBytes, gRoot._atTGmaxBlocks,
            gRoot._atTEndBytes, gRoot._atTEndBlocks, gRoot._readsBytes, gRoot._writesBytes].join(' '));`, page);
"#;

fn snapshots(massif: &Massif) -> Vec<[u64; 5]> {
    let all = massif.snapshots.iter();
    all.map(|s| [s.time, s.total(), s.heap, s.extra, s.stacks])
        .collect()
}

/// Parses rows such as `  1  84,123  1,016  1,000  16  0`.
fn printed_snapshots(text: &str) -> Vec<[u64; 5]> {
    let row = |line: &str| {
        let numbers = line
            .split_whitespace()
            .map(|word| word.replace(',', "").parse::<u64>());
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
        let [_, time, total, heap, extra, stacks] = numbers[..] else {
            return None;
        };
        Some([time, total, heap, extra, stacks])
    };
    text.lines().filter_map(row).collect()
}
