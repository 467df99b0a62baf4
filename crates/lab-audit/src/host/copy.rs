// SPDX-License-Identifier: Apache-2.0
//! Whether a copy of a machine's files holds what they say.

use super::{Machine, Probe};
use crate::root::Root;
use crate::value::{Class, Thing, Value};

/// A copy of a machine's files.
pub const COPY: Class = Class {
    name: "copy",
    none: "This machine itself was looked at, not a copy of its files.",
    values: &[("hollow", "what has nothing in it, and should have")],
};

/// What every machine has, and what is never empty there.
const FULL: [&str; 12] = [
    "sys/block",
    "proc/cpuinfo",
    "proc/loadavg",
    "proc/meminfo",
    "proc/mounts",
    "proc/net/netstat",
    "proc/net/snmp",
    "proc/self/limits",
    "proc/swaps",
    "proc/sys/kernel/hostname",
    "proc/sys/kernel/osrelease",
    "proc/vmstat",
];
/// So many are named.
const NAMED: usize = 3;

/// Probes a copy.
pub struct Copy;

impl Probe for Copy {
    fn observe(&self, machine: &Machine) -> Vec<Thing> {
        if machine.root.is_live() {
            return Vec::new();
        }
        let mut thing = Thing::new("copy", "the copy");
        thing.set("hollow", Value::Word(hollow(&machine.root)));
        vec![thing]
    }
}

fn hollow(root: &Root) -> String {
    let paths =
        |paths: Vec<&str>| -> Vec<String> { paths.into_iter().map(str::to_owned).collect() };
    let has = |path: &&str| root.has(path);
    let (there, missing): (Vec<&str>, Vec<&str>) = FULL.into_iter().partition(has);
    let is_empty = |path: &&str| root.text(path).is_ok_and(|text| text.is_empty());
    let empty = there.into_iter().filter(is_empty).collect();
    // Of a disk there is a folder, or a link to it.
    let lost = |disk: &String| !root.has(&format!("sys/block/{disk}"));
    let disks = root.names("sys/block").into_iter().filter(lost);
    let disks: Vec<String> = disks.map(|disk| format!("sys/block/{disk}")).collect();
    let told = [
        named(&paths(empty), "empty"),
        named(&paths(missing), "not there"),
        named(&disks, "a link that leads nowhere"),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    if told.is_empty() {
        "nothing".into()
    } else {
        told.join(", ")
    }
}

/// `proc/meminfo, proc/mounts and 4 more (empty)`
fn named(paths: &[String], what: &str) -> Option<String> {
    let shown = paths[..paths.len().min(NAMED)].join(", ");
    match paths.len().saturating_sub(NAMED) {
        _ if paths.is_empty() => None,
        0 => Some(format!("{shown} ({what})")),
        more => Some(format!("{shown} and {more} more ({what})")),
    }
}
