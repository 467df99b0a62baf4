// SPDX-License-Identifier: Apache-2.0
//! Profiles from Valgrind's files.

use lab_profile::Profile;
use lab_valgrind::{read_cachegrind, read_dhat, read_massif};

/// Of 127 tables of so many bytes, each freed before the next, with so many write misses.
pub fn parsers((bytes, write_misses): (u64, u64)) -> Profile {
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
        heaps: Vec::new(),
        massif: Some(read_massif(massif.as_bytes()).expect("Massif's file")),
        dhat: Some(read_dhat(dhat.as_bytes()).expect("DHAT's file")),
        cachegrind: Some(read_cachegrind(cachegrind.as_bytes()).expect("Cachegrind's file")),
        callgrind: None,
    }
}
