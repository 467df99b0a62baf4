// SPDX-License-Identifier: Apache-2.0
//! Tests the conclusions drawn from files: explanations of misses, sources, and gates.

use lab_profile::report::totals;
use lab_profile::{
    EventRanges, GateCondition, GateResult, Inconclusive, Profile, Sources, Tool, explain, wording,
};
use lab_valgrind::{TimeUnit, read_cachegrind, read_dhat, read_massif};
use proptest::prelude::*;

const CACHEGRIND: &str = "desc: I1 cache: 32768 B, 64 B, 8-way associative\n\
    desc: D1 cache: 49152 B, 64 B, 12-way associative\ncmd: ./prog x\nevents: Ir Dr D1mr\n\
    fl=/src/a.c\nfn=main\n3 10 4 1\n4 5\nfn=helper.constprop.0\n9 7 . 2\nfl=???\nfn=???\n0 1 1 1\n\
    summary: 23 5 4\n";

const MASSIF: &str = "desc: (none)\ncmd: ./prog\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\ntime=0\n\
    mem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=1\n#-----------\n\
    time=99\nmem_heap_B=1000\nmem_heap_extra_B=24\nmem_stacks_B=0\nheap_tree=peak\n\
    n2: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n1: 900 0x10: make (a.c:7)\n\
    \x20 n0: 900 0x11: main (a.c:9)\n n0: 100 in 2 places, all below massif's threshold (1.00%)\n";

const DHAT_2: &str = r#"{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs",
    "Mtu":"Minstr","tuth":500,"cmd":"./prog","pid":7,"te":900,"tg":50,
    "pps":[{"tb":133169152,"tbk":127,"tl":9,"mb":1048576,"mbk":1,"gb":1048576,"gbk":1,"eb":0,"ebk":0,"rb":5,
    "wb":133169152,"acc":[-4,1],"fs":[1,2]}],"ftbl":["[root]","0x1: malloc (vg_replace_malloc.c:381)",
    "0x2: make_table (sax-symbols.adb:99)"]}"#;

/// The published example: 127 × 16,384 lines = 2,080,768 write misses.
#[test]
fn write_misses_are_explained_by_churn_that_does_not_fit_into_the_cache() {
    let file = "desc: D1 cache: 49152 B, 64 B, 12-way associative\ncmd: ./prog\nevents: Ir Dw D1mw\nfl=a.adb\n\
                fn=make_table\n99 20000000 16646144 2090768\nfn=main\n1 10 10 380000\nsummary: 20000010 16646154 2470768\n";
    let profile = Profile {
        cachegrind: Some(read_cachegrind(file.as_bytes()).expect("a profile")),
        dhat: Some(read_dhat(DHAT_2.as_bytes()).expect("a profile")),
        ..Profile::default()
    };
    let found = explain(&profile);
    assert_eq!(
        (found[0].lines, found[0].predicted, found[0].simulated),
        (16_384, 2_080_768, 2_090_768)
    );
    let sentence = wording::explanation(&found[0]);
    assert_eq!(
        sentence,
        "127 allocations at sax-symbols.adb:99, 1.00 MiB each, 21 times the size of D1: 16,384 lines written per allocation, 127 × \
         16,384 = 2,080,768 write misses, 84 % of the total; the simulation counts 2,090,768 in make_table."
    );
}

#[test]
fn sources_are_found_by_the_names_in_the_profile() {
    let profile = Profile {
        cachegrind: Some(read_cachegrind(CACHEGRIND.as_bytes()).expect("a profile")),
        ..Profile::default()
    };
    let read = |name: &str| (name == "/src/a.c").then(|| "one\ntwo\nthree  \nfour".to_owned());
    let sources = Sources::read_with(&profile, read);
    assert_eq!(sources.line("/src/a.c", 3), Some("three"));
    assert_eq!(
        sources.line("a.c", 4),
        Some("four"),
        "only one file has this name"
    );
    assert_eq!(
        (
            sources.line("a.c", 0),
            sources.line("a.c", 9),
            sources.line("b.c", 1)
        ),
        (None, None, None)
    );
}

fn gate(text: &str) -> GateCondition {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn gates_judge_values_and_changes() {
    let profile = |ir: u64| Profile {
        cachegrind: Some(
            read_cachegrind(
                format!("desc: x\ncmd: a\nevents: Ir\nfl=a\nfn=f\n1 {ir}\nsummary: {ir}\n")
                    .as_bytes(),
            )
            .expect("a profile"),
        ),
        massif: Some(read_massif(MASSIF.as_bytes()).expect("a profile")),
        ..Profile::default()
    };
    let (old, new) = (profile(1000), profile(1051));
    let judge = |text: &str| gate(text).judge(&old, Some(&new));
    assert!(matches!(judge("Ir>+5%"), GateResult::Failed(_)));
    assert!(matches!(judge("Ir > +6%"), GateResult::Passed(_)));
    assert!(matches!(judge("peak>1kB"), GateResult::Failed(_)));
    assert!(matches!(judge("peak>1KiB"), GateResult::Passed(_)));
    assert!(matches!(judge("D1mw>5"), GateResult::Inconclusive(_)));
    assert!(matches!(
        gate("Ir>+5%").judge(&old, None),
        GateResult::Inconclusive(_)
    ));
    for bad in [
        "", "peak", "peak>", "peak>2", "Ir>2MB", "Ir>5%", "foo>1", "Ir>+x%", "Ir>+nan%",
    ] {
        assert!(bad.parse::<GateCondition>().is_err(), "{bad}");
    }
}

#[test]
fn a_profile_of_a_part_of_a_program_decides_no_condition_and_has_no_totals() {
    let profile = |partial: &[Tool]| Profile {
        cachegrind: Some(read_cachegrind(CACHEGRIND.as_bytes()).expect("a profile")),
        massif: Some(read_massif(MASSIF.as_bytes()).expect("a profile")),
        dhat: Some(read_dhat(DHAT_2.as_bytes()).expect("a profile")),
        partial: partial.to_vec(),
        ..Profile::default()
    };
    let whole = profile(&[]);
    let heap = Tool::Massif(TimeUnit::Instructions);
    for (tool, figures) in [
        (Tool::Cachegrind, &["Ir", "D1mr"][..]),
        (Tool::Dhat, &["total", "allocations"]),
        (heap, &["peak"]),
    ] {
        let partial = profile(&[tool]);
        for figure in ["Ir", "D1mr", "total", "allocations", "peak"] {
            let is_partial = figures.contains(&figure);
            let condition = gate(&format!("{figure}>+5%"));
            let after = condition.judge(&whole, Some(&partial));
            let before = condition.judge(&partial, Some(&whole));
            let reasons = [Inconclusive::Partial, Inconclusive::PartialBefore];
            for (result, reason) in [after, before].into_iter().zip(reasons) {
                let inconclusive = GateResult::Inconclusive(reason);
                assert_eq!(result == inconclusive, is_partial, "{figure}: {result:?}");
            }
            let mut totals = totals(&partial).into_iter();
            let has_total = totals.any(|(metric, _)| metric.id == figure);
            assert_eq!(has_total, !is_partial, "{figure}");
        }
    }
    // Programs with different exit statuses did different work.
    let ended = |status: i32| Profile {
        statuses: vec![(Tool::Cachegrind, status)],
        ..profile(&[])
    };
    let change = gate("Ir>+5%");
    let differ = GateResult::Inconclusive(Inconclusive::StatusesDiffer);
    assert_eq!(change.judge(&ended(0), Some(&ended(1))), differ);
    assert_ne!(change.judge(&ended(1), Some(&ended(1))), differ);
    assert_ne!(gate("Ir>5").judge(&ended(0), Some(&ended(1))), differ);
    // A program without ranges is judged by its profile.
    let costs = read_cachegrind(CACHEGRIND.as_bytes()).expect("a profile");
    let ranges = [
        EventRanges::from_profiles(&[&costs]),
        EventRanges::default(),
    ];
    assert_eq!(gate("Ir>+5%").judge_ranges(&ranges), None);
}

proptest! {
    #[test]
    fn no_condition_panics(text in ".{0,40}") {
        let _ = text.parse::<GateCondition>();
    }
}
