// SPDX-License-Identifier: Apache-2.0
//! Snapshots of profile reports. Review the snapshots after each change. `INSTA_UPDATE=always`
//! updates them.

use crate::outline::outline;
use lab_document::{Answer, Document, Finding, Quantity, Row};
use lab_model::{Metric, Unit};
use lab_profile::report::{ProfileReport, document};
use lab_profile::{Profile, ProfiledPrograms};
use lab_valgrind::{read_cachegrind, read_dhat, read_massif};

/// Returns a profile with 127 tables of `bytes` bytes, each freed before the next, with `write_misses` write misses.
fn parsers((bytes, write_misses): (u64, u64)) -> Profile {
    let all = 127 * bytes;
    let massif = format!(
        "desc: (none)\ncmd: ./parsers\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\ntime=0\n\
         mem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=1\n\
         #-----------\ntime=5000\nmem_heap_B={bytes}\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak\n\
         n1: {bytes} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n \
         n0: {bytes} 0x11: _ada_parsers (parsers.adb:15)\n"
    );
    let dhat = format!(
        r#"{{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs",
        "Mtu":"Minstr","tuth":500,"cmd":"./parsers","pid":7,"te":9000,"tg":50,
        "pps":[{{"tb":{all},"tbk":127,"tl":9,"mb":{bytes},"mbk":1,"gb":{bytes},"gbk":1,"eb":0,"ebk":0,"rb":5,
        "wb":{all},"fs":[1,2]}}],"ftbl":["[root]","0x1: malloc (vg_replace_malloc.c:381)",
        "0x2: _ada_parsers (parsers.adb:15)"]}}"#
    );
    let instructions = 20_000_000 + all / 8;
    let cachegrind = format!(
        "desc: D1 cache: 49152 B, 64 B, 12-way associative\ncmd: ./parsers\nevents: Ir D1mw\n\
         fl=/src/parsers.adb\nfn=_ada_parsers\n15 {instructions} {write_misses}\n\
         fl=???\nfn=???\n0 1000 7\nsummary: {} {}\n",
        instructions + 1000,
        write_misses + 7
    );
    Profile {
        massif: Some(read_massif(massif.as_bytes()).expect("Massif's file")),
        dhat: Some(read_dhat(dhat.as_bytes()).expect("DHAT's file")),
        cachegrind: Some(read_cachegrind(cachegrind.as_bytes()).expect("Cachegrind's file")),
        ..Profile::default()
    }
}

/// 127 parsers, first with tables of 1 MiB each, then with tables of 16 KiB each.
#[test]
fn a_profile_before_and_after() {
    let profiles = [(1 << 20, 2_107_375), (1 << 14, 2_280)].map(parsers);
    let programs = ProfiledPrograms {
        names: vec!["before".into(), "after".into()],
        profiles: profiles.into(),
        facts: vec![("standard output".into(), "the same in all runs".into())],
        ..ProfiledPrograms::default()
    };
    let report = ProfileReport {
        programs: &programs,
        measured: None,
        made_unix_s: 1_795_425_300.0,
        file: Some("runs/parsers.lab"),
    };
    insta::assert_snapshot!(outline(&document(&report)));
}

/// The estimate is 2,000 cycles before and 1,000 + 12 × (10 + 100) = 2,320 after.
#[test]
fn the_simulation_and_the_clock_agree_or_not() {
    let file = |ir: u64, misses: u64| {
        let costs = format!("{ir} 0 0 0 {misses} {misses} 0 0 0 0 0 0 0");
        let text = format!(
            "desc: I1 cache: 32768 B, 64 B, 8-way associative\ncmd: a\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw \
             DLmw Bc Bcm Bi Bim\nfl=a.c\nfn=f\n1 {costs}\nsummary: {costs}\n"
        );
        Profile {
            cachegrind: Some(read_cachegrind(text.as_bytes()).expect("a profile")),
            ..Profile::default()
        }
    };
    let programs = ProfiledPrograms {
        names: vec!["before".into(), "after".into()],
        profiles: vec![file(2_000, 0), file(1_000, 12)],
        ..ProfiledPrograms::default()
    };
    let last_finding = |verdict: &str, ratio: f64| {
        let row = Row {
            ratio: Some(Quantity::exact(ratio, Unit::Ratio)),
            verdict: verdict.into(),
            ..Row::new("run", "after", Metric::WALL)
        };
        let measured = Document {
            answer: Answer {
                findings: vec![Finding::plain("The clock.")],
                ..Answer::default()
            },
            rows: vec![row],
            ..Document::default()
        };
        let report = ProfileReport {
            programs: &programs,
            measured: Some(measured),
            made_unix_s: 1_795_425_300.0,
            file: None,
        };
        let findings = document(&report).answer.findings.into_iter();
        findings.last().expect("a finding").text
    };
    let more = "The clock. The simulation predicts 1.16 times before's cycles";
    assert_eq!(
        last_finding("slower", 1.2),
        format!("{more}, and the measured time agrees.")
    );
    assert_eq!(
        last_finding("small-but-real", 1.01),
        format!("{more}, and the measured time agrees.")
    );
    let other = last_finding("faster", 0.8);
    assert!(
        other.starts_with(&format!("{more}, but the measured time disagrees.")),
        "{other}"
    );
    assert_eq!(
        last_finding("inconclusive", 1.1),
        format!("{more}; the measured time is inconclusive.")
    );
}
