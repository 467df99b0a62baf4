// SPDX-License-Identifier: Apache-2.0
//! Figures equal those of `cg_annotate`, `cg_diff`, `callgrind_annotate`, `ms_print` and `dh_view`, to the last digit, on files
//! that Valgrind writes here of programs that every Debian has.

use lab_profile::{
    CostProfile, Massif, clean, join, read_cachegrind, read_callgrind, read_dhat, read_massif,
};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What they read.
const INPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");

/// Programs of Debian, with what they do.
const PROGRAMS: [&[&str]; 10] = [
    &["true"],
    &["gzip", "-c", INPUT],
    &["sort", INPUT],
    &["grep", "-c", "name", INPUT],
    &["sed", "s/name/NAME/", INPUT],
    &["awk", "{ n += NF } END { print n }", INPUT],
    &["tar", "-cf", "/dev/null", INPUT],
    &["ls", "-l", "/usr/bin"],
    &[
        "perl",
        "-e",
        "my %h; $h{$_ % 99} .= $_ for 1 .. 5000; print scalar keys %h",
    ],
    &["sha256sum", INPUT],
];

fn open(path: &Path) -> BufReader<File> {
    BufReader::new(File::open(path).expect("a file"))
}

/// Runs a program under a tool, and returns the file.
fn run(folder: &TempDir, tool: &str, options: &[&str], words: &[&str]) -> PathBuf {
    // Valgrind gives `%` in a file's name a meaning.
    let name = words
        .join("-")
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let path = folder.path().join(format!("{tool}-{name}"));
    let status = Command::new("valgrind")
        .args([
            "-q",
            &format!("--tool={tool}"),
            &format!("--{tool}-out-file={}", path.display()),
        ])
        .args(options)
        .args(words)
        .env("LC_ALL", "C")
        .output();
    let status = status
        .expect("valgrind, which tests/setup.sh installs")
        .status;
    assert!(status.success(), "{tool} of {words:?}: {status}");
    path
}

/// What a tool prints.
fn said(words: &[&str], files: &[&Path]) -> String {
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

/// Rows of figures in front of a name, as the annotating tools print them: `1,234 (56.7%)  . (0.0%)  file:name`.
fn rows(text: &str, columns: usize) -> HashMap<String, Vec<i64>> {
    let mut found = HashMap::new();
    for line in text.lines() {
        let words = line
            .split_whitespace()
            .filter(|w| !w.starts_with('(') || !w.ends_with(')'));
        // `( 0.03%)` has a blank in it.
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

/// The functions of a profile as an annotating tool names them: `file:name`, without the object in brackets.
fn compared(profile: &CostProfile, printed: &HashMap<String, Vec<i64>>, what: &str) -> usize {
    let mut own: HashMap<String, Vec<i64>> = HashMap::new();
    for function in profile.functions() {
        let name = format!("{}:{}", function.file, function.name);
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        own.insert(name, signed(function.costs));
    }
    let mut matched = 0;
    for (name, figures) in printed {
        let bare = name
            .rsplit_once(" [")
            .map_or(name.as_str(), |(name, _)| name);
        if let Some(costs) = own.get(bare).or_else(|| own.get(name.as_str())) {
            assert_eq!(costs, figures, "{what}: {name}");
            matched += 1;
        }
    }
    matched
}

#[test]
fn functions_and_totals_are_those_of_cg_annotate_and_callgrind_annotate() {
    let folder = TempDir::new().expect("a folder");
    for words in PROGRAMS {
        let options = ["--cache-sim=yes", "--branch-sim=yes"];
        let path = run(&folder, "cachegrind", &options, words);
        let profile = read_cachegrind(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let printed = rows(
            &said(&["cg_annotate", "--threshold=0", "--auto=no"], &[&path]),
            profile.events.len(),
        );
        assert_eq!(
            printed["PROGRAM TOTALS"],
            signed(&profile.totals),
            "{words:?}"
        );
        let matched = compared(&profile, &printed, "cg_annotate");
        assert!(
            matched * 10 >= profile.functions().count() * 9,
            "{words:?}: {matched} matched"
        );

        let path = run(
            &folder,
            "callgrind",
            &["--dump-instr=yes", "--collect-jumps=yes", "--cache-sim=yes"],
            words,
        );
        let profile = read_callgrind(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let all = ["callgrind_annotate", "--threshold=100", "--auto=no"];
        let printed = rows(&said(&all, &[&path]), profile.events.len());
        assert_eq!(
            printed["PROGRAM TOTALS"],
            signed(&profile.totals),
            "{words:?}"
        );
        let matched = compared(&profile, &printed, "callgrind_annotate");
        assert!(
            matched * 10 >= profile.functions().count() * 9,
            "{words:?}: {matched} matched"
        );
        assert!(profile.calls().any(|call| call.count > 0), "{words:?}");
    }
}

#[test]
fn differences_are_those_of_cg_diff() {
    let folder = TempDir::new().expect("a folder");
    let paths = [5000, 500].map(|n| {
        let program = format!("my %h; $h{{$_ % 99}} .= $_ for 1 .. {n}; print scalar keys %h");
        run(
            &folder,
            "cachegrind",
            &["--cache-sim=yes"],
            &["perl", "-e", &program],
        )
    });
    let [before, after] =
        [&paths[0], &paths[1]].map(|path| read_cachegrind(open(path)).expect("a profile"));
    let difference = folder.path().join("difference");
    std::fs::write(&difference, said(&["cg_diff"], &[&paths[0], &paths[1]])).expect("a file");
    let printed = rows(
        &said(
            &["cg_annotate", "--threshold=0", "--auto=no"],
            &[&difference],
        ),
        before.events.len(),
    );
    let differs = |old: &[u64], new: &[u64]| -> Vec<i64> {
        old.iter()
            .zip(new)
            .map(|(old, new)| *new as i64 - *old as i64)
            .collect()
    };
    assert_eq!(
        printed["PROGRAM TOTALS"],
        differs(&before.totals, &after.totals)
    );
    let none = vec![0; before.events.len()];
    let mut matched = 0;
    for joined in join(&before, &after) {
        let copies = |profile: &CostProfile| {
            profile
                .functions()
                .filter(|f| clean(f.name) == joined.name && f.file == joined.file)
                .count()
        };
        // The tool does not add up the copies that a compiler made.
        let name = format!("{}:{}", joined.file, joined.name);
        if let (Some(figures), true, true) =
            (printed.get(&name), copies(&before) < 2, copies(&after) < 2)
        {
            let [old, new] =
                [&joined.before, &joined.after].map(|costs| costs.as_ref().unwrap_or(&none));
            assert_eq!(&differs(old, new), figures, "{name}");
            matched += 1;
        }
    }
    assert!(matched > 50, "{matched} matched");
}

#[test]
fn snapshots_are_those_of_ms_print_and_blocks_those_of_dh_view() {
    let folder = TempDir::new().expect("a folder");
    for words in PROGRAMS {
        let path = run(&folder, "massif", &["--stacks=yes"], words);
        let massif = read_massif(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        assert_eq!(
            snapshots(&massif),
            printed_snapshots(&said(&["ms_print"], &[&path])),
            "{words:?}"
        );

        let path = run(&folder, "dhat", &[], words);
        let dhat = read_dhat(open(&path)).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let own = [
            dhat.sum(|p| p.bytes),
            dhat.sum(|p| p.blocks),
            dhat.sum(|p| p.peak_bytes),
            dhat.sum(|p| p.peak_blocks),
            dhat.sum(|p| p.end_bytes),
            dhat.sum(|p| p.end_blocks),
            dhat.sum(|p| p.read_bytes),
            dhat.sum(|p| p.written_bytes),
        ];
        let shown = said(&["node", "-e", VIEW], &[&path]);
        let shown: Vec<u64> = shown
            .split_whitespace()
            .map(|n| n.parse().expect("a number"))
            .collect();
        assert_eq!(shown, own, "{words:?}");
    }
}

/// Runs DHAT's own viewer without a browser, and prints the figures of its root.
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

/// `  1  84,123  1,016  1,000  16  0`
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
