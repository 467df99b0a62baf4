// SPDX-License-Identifier: Apache-2.0
//! Cores, clocks and NUMA nodes.

use super::machine::{AuditedMachine, Probe, field};
use crate::value::{AuditObject, Value};
use lab_host::{Root, is_virtual_machine};

pub struct Cpu;

const CPU: &str = "sys/devices/system/cpu";
const CLOCK: &str = "sys/devices/system/clocksource/clocksource0";

impl Probe for Cpu {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let (root, watched) = (&machine.root, &machine.watched);
        let mut host = machine.host();
        host.set(
            "cores",
            machine.live_value(watched.cores.map(|n| Value::count(n, "cores"))),
        );
        host.set(
            "steal",
            machine.live_value(watched.steal.map(Value::fraction)),
        );
        host.set(
            "foreign",
            machine.live_value(watched.foreign.map(Value::fraction)),
        );
        host.set(
            "clock_read",
            machine.live_value(watched.clock_read_ns.map(Value::ns)),
        );
        let reading = match watched.clock_read_ns {
            Some(ns) => format!("one reading takes {}", Value::ns(ns).text()),
            None => "a copy of files does not show how long one reading takes".into(),
        };
        host.set("reading", Value::Word(reading));
        host.set(
            "synchronized",
            machine.live_value(watched.synchronized.map(Value::Flag)),
        );
        host.set_some("time_error", watched.time_error_ns.map(Value::ns));
        host.set_some("governor", governor(root));
        host.set_some("turbo", turbo(root).map(Value::Flag));
        host.set_some("smt", flag(root, &format!("{CPU}/smt/active")));
        host.set_result("virtual_machine", is_virtual_machine(root), Value::Flag);
        host.set_some("throttled", throttled_fraction(root));
        host.set_some("quota_throttled", quota_throttled_fraction(root));
        host.set_result(
            "clock_source",
            root.required_line(&format!("{CLOCK}/current_clocksource")),
            Value::Word,
        );
        host.set_some(
            "clock_sources",
            root.line(&format!("{CLOCK}/available_clocksource"))
                .map(Value::Word),
        );
        host.set_some("numa_nodes", nodes(root));
        host.set_some(
            "numa_balancing",
            flag(root, "proc/sys/kernel/numa_balancing"),
        );
        host.set_some(
            "zone_reclaim",
            root.number("proc/sys/vm/zone_reclaim_mode")
                .map(|n| Value::count(n, "")),
        );
        vec![host]
    }
}

/// Reads a file that contains `0` or `1`.
fn flag(root: &Root, path: &str) -> Option<Value> {
    root.number(path).map(|n| Value::Flag(n != 0))
}

/// Returns the frequency governors of the cores, without duplicates.
fn governor(root: &Root) -> Option<Value> {
    let mut governors: Vec<String> = cores(root)
        .iter()
        .filter_map(|core| root.line(&format!("{CPU}/{core}/cpufreq/scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| Value::Word(governors.join(", ")))
}

fn turbo(root: &Root) -> Option<bool> {
    let boost = root
        .number(&format!("{CPU}/cpufreq/boost"))
        .map(|on| on != 0);
    boost.or_else(|| {
        root.number(&format!("{CPU}/intel_pstate/no_turbo"))
            .map(|off| off == 0)
    })
}

fn throttled_fraction(root: &Root) -> Option<Value> {
    let counts = cores(root).into_iter().filter_map(|core| {
        root.number(&format!(
            "{CPU}/{core}/thermal_throttle/core_throttle_count"
        ))
    });
    counts
        .reduce(|a, b| a + b)
        .map(|n| Value::count(n, "times"))
}

/// Returns the number of times that this process's cgroup was throttled at its CPU limit (cgroup
/// v2, cpu.stat).
fn quota_throttled_fraction(root: &Root) -> Option<Value> {
    let groups = root.text("proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let text = root.text(&format!("sys/fs/cgroup{path}/cpu.stat")).ok()?;
    field(&text, "nr_throttled").map(|n| Value::count(n, "times"))
}

fn cores(root: &Root) -> Vec<String> {
    numbered_entries(root, CPU, "cpu")
}

fn nodes(root: &Root) -> Option<Value> {
    let nodes = numbered_entries(root, "sys/devices/system/node", "node").len() as u64;
    (nodes > 0).then(|| Value::count(nodes, "nodes"))
}

/// Returns the names in a directory that consist of `word` and a number, such as `cpu12`.
fn numbered_entries(root: &Root, folder: &str, word: &str) -> Vec<String> {
    let is_numbered = |name: &String| {
        let number = name.strip_prefix(word);
        number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    root.names(folder).into_iter().filter(is_numbered).collect()
}
