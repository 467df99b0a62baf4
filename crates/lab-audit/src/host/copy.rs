// SPDX-License-Identifier: Apache-2.0
//! Checks that a copy of a machine's files is complete enough for an audit.

use super::machine::{AuditedMachine, Probe};
use crate::value::{AuditObject, Class, Value};
use lab_host::Root;

/// The class of copies of a machine's files.
pub const COPY: Class = Class {
    name: "copy",
    none: "The audit examined this machine, not a copy of its files.",
    values: &[("hollow", "files that are empty or missing")],
};

/// Files and directories that exist on every machine and are never empty.
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
/// The maximum number of paths that a finding lists. Further paths are only counted.
const MAX_NAMED: usize = 3;

/// The probe that checks a copy for missing and empty files.
pub struct Copy;

impl Probe for Copy {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        if machine.root.is_live() {
            return Vec::new();
        }
        let mut object = AuditObject::new("copy", "the copy");
        object.set("hollow", Value::Word(hollow_paths(&machine.root)));
        vec![object]
    }
}

fn hollow_paths(root: &Root) -> String {
    let paths =
        |paths: Vec<&str>| -> Vec<String> { paths.into_iter().map(str::to_owned).collect() };
    let exists = |path: &&str| root.has(path);
    let (existing, missing): (Vec<&str>, Vec<&str>) = FULL.into_iter().partition(exists);
    let is_empty = |path: &&str| root.text(path).is_ok_and(|text| text.is_empty());
    let empty = existing.into_iter().filter(is_empty).collect();
    // A disk is a directory, or a link to a directory that must be in the copy, too.
    let is_dangling = |disk: &String| !root.has(&format!("sys/block/{disk}"));
    let disks = root.names("sys/block").into_iter().filter(is_dangling);
    let disks: Vec<String> = disks.map(|disk| format!("sys/block/{disk}")).collect();
    let defects = [
        path_list(&paths(empty), "empty"),
        path_list(&paths(missing), "missing"),
        path_list(&disks, "a dangling link"),
    ];
    let defects: Vec<String> = defects.into_iter().flatten().collect();
    if defects.is_empty() {
        "nothing".into()
    } else {
        defects.join(", ")
    }
}

/// Formats a list of paths: `proc/meminfo, proc/mounts and 4 more (empty)`.
fn path_list(paths: &[String], defect: &str) -> Option<String> {
    let listed = paths[..paths.len().min(MAX_NAMED)].join(", ");
    match paths.len().saturating_sub(MAX_NAMED) {
        _ if paths.is_empty() => None,
        0 => Some(format!("{listed} ({defect})")),
        more => Some(format!("{listed} and {more} more ({defect})")),
    }
}
