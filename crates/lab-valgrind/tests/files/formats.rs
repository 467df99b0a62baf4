// SPDX-License-Identifier: Apache-2.0
//! Rare but documented elements of the formats, and files that are broken, hostile or from another tool.

use lab_valgrind::{
    CallgrindReader, CostProfile, Frame, Massif, ProfileError, TimeUnit, churn, clean, join,
    read_cachegrind, read_callgrind, read_dhat, read_massif,
};
use proptest::prelude::*;

const CACHEGRIND: &str = "desc: I1 cache: 32768 B, 64 B, 8-way associative\n\
    desc: D1 cache: 49152 B, 64 B, 12-way associative\ncmd: ./prog x\nevents: Ir Dr D1mr\n\
    fl=/src/a.c\nfn=main\n3 10 4 1\n4 5\nfn=helper.constprop.0\n9 7 . 2\nfl=???\nfn=???\n0 1 1 1\n\
    summary: 23 5 4\n";

/// A Callgrind file with two parts, compressed names and positions, inlined code, calls and jumps.
const CALLGRIND: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: ./prog\npart: 1\n\
    desc: Trigger: x\npositions: instr line\nevents: Ir Dr\nsummary: 126 8\n\n\
    ob=(1) /bin/prog\nfl=(1) a.c\nfn=(1) main\n0x100 3 10 4\n+4 +2 6\nfi=(2) b.h\n+4 20 7 1\nfe=(1)\n* * 1\n\
    cob=(1)\ncfi=(3) c.c\ncfn=(2) work\ncalls=2 0x200 40\n+2 5 100 3\njump=3 +8 +1\n* *\njcnd=1/2 +2 -1\n* *\n\n\
    fl=(3)\nfn=(2)\n0x200 40 100 3\n-2 -1 2\n\ntotals: 126 8\n\
    part: 2\nevents: Ir Dr\n\nfl=(3)\nfn=(2)\n0x200 40 1 1\ntotals: 1 1\n";

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

const DHAT_1: &str = r#"{"dhatFileVersion":1,"cmd":"./prog","pid":7,"mi":50,"ei":900,
    "aps":[{"tb":64,"tbk":2,"tli":9,"mb":32,"mbk":1,"gb":32,"gbk":1,"fb":32,"fbk":1,"rb":5,"wb":6,"fs":[1]}],
    "ftbl":["[root]","0x2: main (a.c:3)"]}"#;

fn function(profile: &CostProfile, file: &str, name: &str) -> Option<Vec<u64>> {
    let found = profile
        .functions()
        .find(|f| (f.file, f.name) == (file, name));
    found.map(|f| f.costs.to_vec())
}

#[test]
fn cachegrind_omits_zeros() {
    let profile = read_cachegrind(CACHEGRIND.as_bytes()).expect("a profile");
    assert_eq!(profile.command, "./prog x");
    assert_eq!(profile.totals, [23, 5, 4]);
    assert_eq!(function(&profile, "/src/a.c", "main"), Some(vec![15, 4, 1]));
    assert_eq!(
        function(&profile, "/src/a.c", "helper.constprop.0"),
        Some(vec![7, 0, 2])
    );
    let lines: Vec<_> = profile.lines().map(|l| (l.number, l.costs[0])).collect();
    assert_eq!(lines, [(3, 10), (4, 5), (9, 7), (0, 1)]);
    assert_eq!(profile.total_of("D1"), None, "D1mw was not recorded");
}

#[test]
fn callgrind_is_read_with_parts_compression_inlining_calls_and_jumps() {
    let profile = read_callgrind(CALLGRIND.as_bytes()).expect("a profile");
    assert_eq!(profile.totals, [127, 9]);
    assert_eq!(function(&profile, "a.c", "main"), Some(vec![17, 4]));
    assert_eq!(
        function(&profile, "b.h", "main"),
        Some(vec![7, 1]),
        "inlined from b.h"
    );
    assert_eq!(
        function(&profile, "c.c", "work"),
        Some(vec![103, 4]),
        "the sum of both parts"
    );
    let calls: Vec<_> = profile
        .calls()
        .map(|c| (c.caller.1, c.callee, c.count, c.costs[0]))
        .collect();
    assert_eq!(calls, [("main", ("c.c", "work"), 2, 100)]);
    let lines: Vec<_> = profile.lines().map(|l| (l.file, l.number)).collect();
    assert_eq!(
        lines,
        [
            ("a.c", 3),
            ("a.c", 5),
            ("b.h", 20),
            ("a.c", 20),
            ("c.c", 40),
            ("c.c", 39)
        ]
    );

    let mut reader = CallgrindReader::default();
    reader.add(CALLGRIND.as_bytes()).expect("a part");
    reader.add(CALLGRIND.as_bytes()).expect("another part");
    assert_eq!(reader.done().expect("both").totals, [254, 18]);
}

#[test]
fn callgrind_with_caller_suffixes_is_parsed() {
    let file = "version: 1\ncmd: a\nevents: Ir\nfl=(1) a.c\nfrfn=(1) main\nfn=(2) f\n3 5\nfrfn=(spontaneous)\nfn=(1)\n\
                4 1\ntotals: 6\n";
    let profile = read_callgrind(file.as_bytes()).expect("a profile");
    assert_eq!(function(&profile, "a.c", "main"), Some(vec![1]));
}

/// Since Valgrind 3.21, a file describes the caches only if they were simulated.
#[test]
fn cachegrind_without_caches_is_read() {
    let file = "cmd: a\nevents: Ir\nfl=a.c\nfn=f\n3 5\nsummary: 5\n";
    assert_eq!(
        read_cachegrind(file.as_bytes()).expect("a profile").totals,
        [5]
    );
}

#[test]
fn massif_has_snapshots_and_the_sites_of_its_peak() {
    let massif = read_massif(MASSIF.as_bytes()).expect("a profile");
    assert_eq!(
        (massif.time_unit, massif.peak_bytes()),
        (TimeUnit::Instructions, 1024)
    );
    let sites: Vec<_> = massif
        .sites
        .iter()
        .map(|s| (s.depth, s.bytes, s.frame.as_ref().map(Frame::location)))
        .collect();
    let place = |text: &str| Some(text.to_owned());
    assert_eq!(
        sites,
        [
            (1, 900, place("a.c:7")),
            (2, 900, place("a.c:9")),
            (1, 100, None)
        ]
    );
}

#[test]
fn a_sawtooth_is_detected() {
    let snapshots = [0u64, 100, 10, 95, 12, 99, 15, 98];
    let snapshots = snapshots.map(|heap| lab_valgrind::Snapshot {
        heap,
        ..Default::default()
    });
    let massif = Massif {
        snapshots: snapshots.into(),
        ..Massif::default()
    };
    assert_eq!(massif.sawtooth(), (3, 83));
}

#[test]
fn dhat_of_both_versions_and_churn() {
    let old = read_dhat(DHAT_1.as_bytes()).expect("a profile");
    assert_eq!(
        (old.end, old.points[0].end_bytes, old.points[0].end_blocks),
        (900, 32, 1)
    );
    let dhat = read_dhat(DHAT_2.as_bytes()).expect("a profile");
    let found = churn(&dhat);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].blocks, found[0].size(), found[0].at_once),
        (127, 1 << 20, 1)
    );
    assert_eq!(found[0].site.location(), "sax-symbols.adb:99");
}

#[test]
fn stacks_are_bounded_if_costs_do_not_add_up() {
    // In each layer, both functions call both functions of the next layer, each for half of their own inclusive cost:
    // 2^40 paths.
    let mut text = String::from("# callgrind format\nevents: Ir\nfl=a.c\n");
    for layer in 0..40 {
        for function in 0..2 {
            text += &format!("fn=f{layer}_{function}\n1 1\n");
            for callee in 0..2 {
                let (next, cost) = (layer + 1, 1_u64 << (62 - layer));
                text += &format!("cfn=f{next}_{callee}\ncalls=1 1\n1 {cost}\n");
            }
        }
    }
    let profile = read_callgrind(text.as_bytes()).expect("a profile");
    let stacks = profile.stacks("Ir");
    assert!(stacks.len() <= 60 * 2000, "{}", stacks.len());
}

/// The cost of a function with two callers is divided in proportion to the cost of their calls. A recursion
/// terminates.
#[test]
fn calls_become_stacks() {
    let file = "version: 1\ncmd: a\nevents: Ir\nfl=a.c\nfn=main\n1 10\ncfn=f\ncalls=1 2\n1 300\ncfn=g\ncalls=1 3\n1 100\n\
                fn=f\n2 100\ncfn=shared\ncalls=2 4\n2 200\nfn=g\n3 50\ncfn=shared\ncalls=1 4\n3 50\nfn=shared\n4 250\n\
                totals: 410\n";
    let profile = read_callgrind(file.as_bytes()).expect("a profile");
    let stacks = profile.stacks("Ir");
    let stacks: Vec<(String, u64)> = stacks
        .into_iter()
        .map(|(s, cost)| (s.join(";"), cost))
        .collect();
    let expected = [
        ("main", 10),
        ("main;f", 100),
        ("main;f;shared", 200),
        ("main;g", 50),
        ("main;g;shared", 50),
    ];
    assert_eq!(
        stacks,
        expected.map(|(stack, cost)| (stack.to_owned(), cost))
    );
    let dhat = read_dhat(DHAT_2.as_bytes()).expect("a profile");
    let stacks = dhat.stacks(|point| point.bytes);
    assert_eq!(stacks, [(vec!["make_table".to_owned()], 133_169_152)]);
}

#[test]
fn the_lines_that_cost_most_are_first() {
    let costs = read_cachegrind(CACHEGRIND.as_bytes()).expect("a profile");
    let hottest = costs.hottest("Ir", 2);
    let hottest: Vec<_> = hottest
        .iter()
        .map(|line| (line.number, line.costs[0]))
        .collect();
    assert_eq!(hottest, [(3, 10), (9, 7)]);
}

#[test]
fn functions_match_despite_changed_suffixes_and_directories() {
    let read = |text: &str| read_cachegrind(text.as_bytes()).expect("a profile");
    let before = read(
        "desc: x\ncmd: a\nevents: Ir\nfl=/old/a.c\nfn=f.constprop.0\n1 5\nfn=f.part.1.cold\n2 1\nfn=gone\n3 2\nsummary: 8\n",
    );
    let after = read(
        "desc: x\ncmd: a\nevents: Ir\nfl=/new/a.c\nfn=f.isra.0.lto_priv.3\n8 4\nfl=/new/b.c\nfn=come\n3 9\nsummary: 13\n",
    );
    let mut joined = join(&before, &after);
    joined.sort_by(|a, b| a.name.cmp(&b.name));
    let all: Vec<_> = joined
        .into_iter()
        .map(|j| (j.name, j.before, j.after))
        .collect();
    let name = |text: &str| text.to_owned();
    assert_eq!(
        all,
        [
            (name("come"), None, Some(vec![9])),
            (name("f"), Some(vec![6]), Some(vec![4])),
            (name("gone"), Some(vec![2]), None),
        ]
    );
}

#[test]
fn names_lose_what_compilers_append_and_nothing_else() {
    for (name, expected) in [
        ("f.constprop.0", "f"),
        ("f.part.1.isra.2.cold", "f"),
        ("f.lto_priv.0", "f"),
        ("pack__inner.4321", "pack__inner"),
        ("a::b::h0123456789abcdef", "a::b"),
        ("walk'2", "walk"),
        ("pthread_mutex_lock@@GLIBC_2.34", "pthread_mutex_lock"),
        ("f(int) [clone .cold]", "f(int)"),
        ("operator.", "operator."),
        (".5", ".5"),
        ("lib.so", "lib.so"),
        ("???", "???"),
    ] {
        assert_eq!(clean(name), expected, "{name}");
    }
}

#[test]
fn truncated_files_are_reported() {
    type Read = fn(&[u8]) -> Result<(), ProfileError>;
    let all: [(&str, Read, usize); 3] = [
        (CACHEGRIND, |b| read_cachegrind(b).map(drop), 1),
        (MASSIF, |b| read_massif(b).map(drop), 120),
        (DHAT_2, |b| read_dhat(b).map(drop), 2),
    ];
    for (text, read, from) in all {
        let mut cut = 0;
        for end in from..text.trim_end().len() {
            match read(&text.as_bytes()[..end]) {
                Err(ProfileError::Truncated(_)) => cut += 1,
                Err(ProfileError::Line { .. } | ProfileError::Foreign { .. }) | Ok(()) => {}
                Err(other) => panic!("{end}: {other}"),
            }
        }
        assert!(cut * 2 > text.len() - from, "{cut} of {}", text.len());
    }
}

#[test]
fn files_of_other_tools_and_versions_are_named() {
    let message = |error: Result<(), ProfileError>| error.expect_err("no such file").to_string();
    assert!(message(read_massif(CACHEGRIND.as_bytes()).map(drop)).contains("--cachegrind"));
    assert!(message(read_cachegrind(CALLGRIND.as_bytes()).map(drop)).contains("--callgrind"));
    assert!(message(read_callgrind(DHAT_2.as_bytes()).map(drop)).contains("--dhat"));
    assert!(message(read_dhat(MASSIF.as_bytes()).map(drop)).contains("--massif"));
    assert!(message(read_cachegrind(&b""[..]).map(drop)).contains("empty"));
    let newer = DHAT_2.replace("Version\":2", "Version\":3");
    assert!(message(read_dhat(newer.as_bytes()).map(drop)).contains("version 3"));
    let newer = CALLGRIND.replace("version: 1", "version: 2");
    assert!(message(read_callgrind(newer.as_bytes()).map(drop)).contains("version 2"));
    let ad_hoc = DHAT_2.replace("\"heap\"", "\"ad-hoc\"");
    assert!(message(read_dhat(ad_hoc.as_bytes()).map(drop)).contains("ad-hoc"));
    let changed = CACHEGRIND.replace("3 10 4 1", "3 11 4 1");
    assert!(message(read_cachegrind(changed.as_bytes()).map(drop)).contains("changed"));
    let long = [b"desc: ".to_vec(), vec![b'x'; 2 << 20]].concat();
    assert!(message(read_cachegrind(&long[..]).map(drop)).contains("longer"));
}

/// Returns a file with some bytes changed, text duplicated and the end cut off.
fn damaged(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..12);
    changes.prop_map(move |changes| {
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte, change) in changes {
            let at = place.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"0123456789+-*=:()"[usize::from(byte) % 17]),
                2 => drop(bytes.remove(at)),
                _ => {
                    let copy = bytes[at..].to_vec();
                    bytes.extend(copy.into_iter().take(usize::from(byte)));
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn no_file_panics(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..400),
            damaged(CACHEGRIND),
            damaged(CALLGRIND),
            damaged(MASSIF),
            damaged(DHAT_1),
            damaged(DHAT_2),
        ]
    ) {
        if let Ok(profile) = read_cachegrind(&bytes[..]) {
            prop_assert_eq!(&profile.totals, &profile.summed());
            prop_assert!(join(&profile, &profile).iter().all(|j| j.before == j.after));
        }
        let _ = read_callgrind(&bytes[..]).map(|profile| profile.calls().count());
        let _ = read_massif(&bytes[..]).map(|massif| massif.sawtooth());
        let _ = read_dhat(&bytes[..]).map(|dhat| churn(&dhat).len());
        let text = String::from_utf8_lossy(&bytes);
        let _ = (clean(&text).len(), Frame::parse(&text).location());
    }
}
