// SPDX-License-Identifier: Apache-2.0
//! Files written by four versions of Valgrind for the same two programs (`tests/valgrind/README.md`).
//!
//! The expected values are the output of each version's `cg_annotate`, `callgrind_annotate` and `ms_print`.

use lab_valgrind::{CostProfile, churn, read_cachegrind, read_callgrind, read_dhat, read_massif};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Valgrind versions, each with the D1 write misses of the whole program. The misses depend on where the stack
/// begins.
const VERSIONS: [(&str, u64); 4] = [
    ("3.16.1", 10_182),
    ("3.19.0", 10_178),
    ("3.24.0", 10_182),
    ("3.27.1", 10_182),
];

fn open(version: &str, name: &str) -> BufReader<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/valgrind");
    BufReader::new(File::open(folder.join(version).join(name)).expect("a file"))
}

fn cost(profile: &CostProfile, function: &str, event: &str) -> Option<u64> {
    let mut functions = profile.functions();
    let function = functions.find(|f| f.name == function)?;
    assert_eq!(function.file, "/src/small.c");
    profile.value(event, function.costs)
}

#[test]
fn cachegrind_of_every_version() {
    for (version, misses) in VERSIONS {
        let without = read_cachegrind(open(version, "cachegrind.out")).expect(version);
        assert_eq!(without.total_of("Ir"), Some(2_646_722), "{version}");
        assert_eq!(cost(&without, "fill", "Ir"), Some(2_621_470), "{version}");
        assert_eq!(cost(&without, "depth", "Ir"), Some(25_195), "{version}");

        let with = read_cachegrind(open(version, "cachegrind-caches.out")).expect(version);
        assert_eq!(with.total_of("Ir"), Some(2_646_722), "{version}");
        assert_eq!(with.total_of("D1mr"), Some(91), "{version}");
        assert_eq!(with.total_of("D1mw"), Some(misses), "{version}");
        assert_eq!(with.total_of("mispredicts"), Some(57), "{version}");
        assert_eq!(cost(&with, "fill", "D1mw"), Some(10_176), "{version}");
        let line = with.lines().find(|line| line.number == 15);
        let line = line.and_then(|line| with.value("DLmw", line.costs));
        assert_eq!(line, Some(2_048), "{version}");
    }
}

#[test]
fn callgrind_of_every_version() {
    for (version, misses) in VERSIONS {
        let profile = read_callgrind(open(version, "callgrind.out")).expect(version);
        assert_eq!(profile.total_of("Ir"), Some(2_646_722), "{version}");
        assert_eq!(profile.total_of("D1mw"), Some(misses), "{version}");
        assert_eq!(cost(&profile, "fill", "Ir"), Some(2_621_470), "{version}");
        assert_eq!(cost(&profile, "depth'2", "Ir"), Some(25_140), "{version}");
        let mut calls = profile.calls();
        let fill = calls.find(|call| call.callee.1 == "fill");
        let fill = fill.map(|call| (call.count, call.costs[0]));
        assert_eq!(fill, Some((5, 2_621_470)), "{version}");
    }
}

#[test]
fn heaps_of_every_version() {
    for (version, _) in VERSIONS {
        let massif = read_massif(open(version, "massif.out")).expect(version);
        assert_eq!(massif.peak_bytes(), 262_152, "{version}");
        let site = massif.sites[0].frame.as_ref().map(|frame| frame.location());
        assert_eq!(site.as_deref(), Some("heap.c:7"), "{version}");

        let dhat = read_dhat(open(version, "dhat.out")).expect(version);
        assert_eq!(dhat.sum(|point| point.bytes), 5_442_880, "{version}");
        assert_eq!(dhat.sum(|point| point.peak_bytes), 262_144, "{version}");
        assert_eq!(dhat.sum(|point| point.end_blocks), 1, "{version}");
        // The hundred simultaneously live blocks are not churn, even if `mbk` is wrong.
        let found = churn(&dhat);
        let found = found
            .iter()
            .map(|c| (c.site.location(), c.blocks, c.at_once));
        let found: Vec<_> = found.collect();
        assert_eq!(found, [("heap.c:7".to_owned(), 20, 1)], "{version}");
        let one_size = dhat.points.iter().filter(|point| point.has_one_size());
        assert_eq!(one_size.count(), 2, "{version}");
    }
}
