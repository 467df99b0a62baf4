// SPDX-License-Identifier: Apache-2.0
//! Memory, swap and huge pages.

use super::machine::{AuditedMachine, Probe, bracketed_word, field};
use crate::value::{AuditObject, Value};
use lab_host::Root;

pub struct Memory;

const HUGE: &str = "sys/kernel/mm/transparent_hugepage";
/// The page size in bytes that `/proc/vmstat` uses as its unit.
const PAGE: u64 = 4096;

/// The values that come from `/proc/meminfo`.
const MEMINFO: [&str; 7] = [
    "memory",
    "available",
    "available_share",
    "swap",
    "swap_used_share",
    "huge_reserved",
    "huge_idle_share",
];

impl Probe for Memory {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let root = &machine.root;
        let mut host = machine.host();
        match root.text("proc/meminfo") {
            Ok(text) => meminfo(&text, &mut host),
            Err(reason) => host.set_unknown(&MEMINFO, &format!("{reason}.")),
        }
        host.set_result("swap_on_disk", swap_on_disk(root), Value::Flag);
        let swappiness = root.required_number("proc/sys/vm/swappiness");
        host.set_result("swappiness", swappiness, |n| Value::count(n, ""));
        let vmstat = root
            .text("proc/vmstat")
            .map_err(|reason| format!("{reason}."));
        let counted = |name: &str| {
            let text = vmstat.clone()?;
            field(&text, name).ok_or_else(|| format!("/proc/vmstat does not contain {name}."))
        };
        host.set_result("swapped_in", counted("pswpin"), |pages| {
            Value::bytes(pages * PAGE)
        });
        host.set_result("oom_kills", counted("oom_kill"), |n| {
            Value::count(n, "programs")
        });
        let mode = |name: &str| {
            root.line(&format!("{HUGE}/{name}"))
                .and_then(|line| bracketed_word(&line))
        };
        host.set_some("huge_pages", mode("enabled").map(Value::Word));
        host.set_some("huge_defrag", mode("defrag").map(Value::Word));
        host.set_result("dirty_most", dirty_limit(root, &host), Value::bytes);
        vec![host]
    }
}

fn meminfo(text: &str, host: &mut AuditObject) {
    let bytes = |name: &str| field(text, name).map(|kib| kib * 1024);
    let fraction = |used: u64, whole: u64| Value::fraction(used as f64 / whole.max(1) as f64);
    let total = bytes("MemTotal");
    host.set_some("memory", total.map(Value::bytes));
    host.set_some("available", bytes("MemAvailable").map(Value::bytes));
    let available = bytes("MemAvailable").zip(total);
    host.set_some(
        "available_share",
        available.map(|(available, total)| fraction(available, total)),
    );
    let swap = bytes("SwapTotal");
    host.set_some("swap", swap.map(Value::bytes));
    let free = bytes("SwapFree").zip(swap).filter(|(_, swap)| *swap > 0);
    host.set_some(
        "swap_used_share",
        free.map(|(free, swap)| fraction(swap.saturating_sub(free), swap)),
    );
    let pages = field(text, "HugePages_Total");
    host.set_some("huge_reserved", pages.map(|n| Value::count(n, "pages")));
    let idle = field(text, "HugePages_Free").zip(bytes("Hugepagesize"));
    let idle = idle.map(|(pages, size)| pages * size);
    host.set_some("huge_idle", idle.map(Value::bytes));
    host.set_some(
        "huge_idle_share",
        idle.zip(total).map(|(idle, total)| fraction(idle, total)),
    );
}

/// Returns true if any swap is on a disk rather than in compressed memory (zram). The error states
/// why this is unknown.
fn swap_on_disk(root: &Root) -> Result<bool, String> {
    let text = root
        .text("proc/swaps")
        .map_err(|reason| format!("{reason}."))?;
    let mut devices = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    Ok(devices.any(|device| !device.starts_with("/dev/zram")))
}

/// Returns the limit for dirty memory in bytes, or the reason the limit is unknown.
///
/// The limit is `vm.dirty_bytes`. If `vm.dirty_bytes` is 0, it is `vm.dirty_ratio` percent of the
/// available memory.
fn dirty_limit(root: &Root, host: &AuditObject) -> Result<u64, String> {
    match root.required_number("proc/sys/vm/dirty_bytes")? {
        0 => {
            let ratio = root.required_number("proc/sys/vm/dirty_ratio")? as f64 / 100.0;
            match host.values.get("available") {
                Some(Value::Number(available, _)) => Ok((available * ratio) as u64),
                _ => Err("/proc/meminfo does not contain the available memory.".into()),
            }
        }
        bytes => Ok(bytes),
    }
}
