// SPDX-License-Identifier: Apache-2.0
//! The audit of a machine: probes observe the machine, and rules judge the observations.

use super::machine::{AuditedMachine, Probe, field, name};
use super::{copy, cpu, disks, filesystems, memory, network, system};
use crate::extra::Extra;
use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{AuditObject, Class, Value};
use lab_model::audit::{Audit, AuditKind};

const PROBES: [&dyn Probe; 7] = [
    &copy::Copy,
    &cpu::Cpu,
    &disks::Disks,
    &filesystems::Filesystems,
    &memory::Memory,
    &network::HostNetwork,
    &system::System,
];

/// The classes of objects in a host audit.
pub const CLASSES: [Class; 8] = [
    HOST,
    copy::COPY,
    disks::DISK,
    disks::PARTITION,
    filesystems::FILESYSTEM,
    crate::storage::STORAGE,
    crate::hot::WATCH,
    crate::hot::FOLDER,
];

const HOST: Class = Class {
    name: "host",
    none: "No host was examined.",
    values: &[
        ("cores", "cores that benchlab may use"),
        ("governor", "frequency governor of the cores"),
        ("turbo", "whether turbo frequencies are on"),
        ("smt", "whether multiple threads share a core"),
        (
            "virtual_machine",
            "whether the machine runs under a hypervisor",
        ),
        (
            "throttled",
            "times that a core was throttled because of heat since boot",
        ),
        (
            "quota_throttled",
            "times that a CPU quota throttled benchlab's control group",
        ),
        (
            "steal",
            "fraction of the cores' time that the hypervisor gave to other machines",
        ),
        (
            "foreign",
            "fraction of the cores' time that other programs used",
        ),
        ("numa_nodes", "NUMA nodes"),
        (
            "numa_balancing",
            "whether the kernel moves pages between nodes",
        ),
        ("zone_reclaim", "vm.zone_reclaim_mode"),
        ("clock_source", "clock source in use"),
        ("clock_sources", "available clock sources"),
        ("clock_read", "duration of one clock read"),
        ("reading", "clock_read in words"),
        ("synchronized", "whether the clock is synchronized"),
        (
            "time_error",
            "maximum error of the clock according to the kernel",
        ),
        ("memory", "size of memory"),
        ("available", "memory available to programs"),
        (
            "available_share",
            "available memory as a fraction of all memory",
        ),
        ("swap", "size of swap"),
        ("swap_used_share", "fraction of swap in use"),
        (
            "swap_on_disk",
            "whether swap is on a disk rather than in compressed memory",
        ),
        ("swappiness", "vm.swappiness"),
        ("swapped_in", "bytes read from swap since boot"),
        (
            "huge_pages",
            "transparent huge pages: always, madvise or never",
        ),
        ("huge_defrag", "when a program waits for huge pages"),
        ("huge_reserved", "reserved huge pages"),
        ("huge_idle", "bytes of unused reserved huge pages"),
        ("huge_idle_share", "huge_idle as a fraction of all memory"),
        ("dirty_most", "maximum unwritten bytes before writers wait"),
        ("oom_kills", "programs killed for lack of memory since boot"),
        ("ports", "local ports for outgoing connections"),
        (
            "ports_per_second",
            "connections per second to one server at which the ports run out",
        ),
        (
            "load_connects",
            "connections per second that the last benchlab load opened",
        ),
        (
            "load_share",
            "load_connects as a fraction of ports_per_second",
        ),
        ("time_wait", "how long a connection is in TIME_WAIT"),
        (
            "rest",
            "time after a connection closes before its port can be reused",
        ),
        ("time_wait_now", "connections in TIME_WAIT now"),
        ("time_wait_most", "maximum connections in TIME_WAIT"),
        (
            "time_wait_overflows",
            "connections closed without TIME_WAIT because there were too many",
        ),
        ("tw_reuse", "net.ipv4.tcp_tw_reuse"),
        ("tw_recycle", "where net.ipv4.tcp_tw_recycle is set"),
        (
            "somaxconn",
            "maximum connections that wait for a server to accept them",
        ),
        ("syn_backlog", "maximum half-open connections"),
        (
            "listen_overflows",
            "connections dropped since boot because a server did not accept in time",
        ),
        (
            "listen_drops",
            "all connections dropped before they were accepted, since boot",
        ),
        ("syncookies", "net.ipv4.tcp_syncookies"),
        (
            "conntrack_share",
            "fraction of the firewall's connection table in use",
        ),
        (
            "retransmitted",
            "fraction of sent segments that were retransmitted",
        ),
        (
            "slow_start_after_idle",
            "net.ipv4.tcp_slow_start_after_idle",
        ),
        ("congestion", "congestion control"),
        ("open_files", "maximum open files of a program, soft limit"),
        (
            "open_files_hard",
            "maximum open files of a program, hard limit",
        ),
        (
            "files_share",
            "fraction of the machine's maximum number of open files in use",
        ),
        (
            "pids_share",
            "fraction of the machine's maximum number of threads in use",
        ),
        ("entropy", "bits of entropy in the pool"),
        ("kernel", "the kernel's version"),
        (
            "kernel_5_18",
            "whether the kernel is 5.18 or later, in which reading random numbers waits only once, after boot",
        ),
        ("trim_timer", "whether a timer runs fstrim"),
        ("randomized", "address randomization: 0, 1 or 2"),
        ("preloaded", "libraries in LD_PRELOAD or /etc/ld.so.preload"),
    ],
};

/// Returns the mount points of all filesystems on disks.
pub fn mounts(machine: &AuditedMachine) -> Vec<std::path::PathBuf> {
    let objects = filesystems::Filesystems.observe(machine);
    let is_listed =
        |object: &&AuditObject| matches!(object.values.get("device"), Some(Value::Word(_)));
    let filesystems = objects.iter().filter(is_listed);
    filesystems
        .map(|object| object.name.clone().into())
        .collect()
}

/// Returns the memory available to programs, in bytes.
pub fn available(machine: &AuditedMachine) -> u64 {
    let text = machine.root.text("proc/meminfo").unwrap_or_default();
    field(&text, "MemAvailable").map_or(0, |kib| kib * 1024)
}

/// Returns all objects that the probes observed. If multiple probes observe the same object, their
/// values are merged.
pub fn observe(machine: &AuditedMachine) -> Vec<AuditObject> {
    let mut objects: Vec<AuditObject> = Vec::new();
    for object in PROBES.iter().flat_map(|probe| probe.observe(machine)) {
        let is_same = |earlier: &&mut AuditObject| {
            earlier.class == object.class && earlier.name == object.name
        };
        match objects.iter_mut().find(is_same) {
            Some(earlier) => earlier.values.extend(object.values),
            None => objects.push(object),
        }
    }
    objects
}

/// Audits a machine with the given rules.
pub fn audit(machine: &AuditedMachine, rules: &[Rule], extras: Vec<Extra>) -> Audit {
    let mut objects = observe(machine);
    let mut facts = facts(machine, &objects);
    let (mut tables, mut chart) = (Vec::new(), None);
    for extra in extras {
        objects.extend(extra.objects);
        facts.extend(extra.facts);
        tables.extend(extra.tables);
        chart = extra.chart.or(chart);
    }
    tables.extend([
        disks::table(&objects),
        disks::partitions_table(&objects),
        filesystems::table(&objects),
    ]);
    Audit {
        waivers: Vec::new(),
        expired_waivers: Vec::new(),
        kind: AuditKind::Host,
        targets: vec![name(&machine.root)],
        facts,
        findings: judge(rules, &objects, &CLASSES),
        tables,
        chart,
    }
}

/// Returns the built-in rules.
///
/// # Errors
///
/// Returns an error if a rule is invalid. A test checks that all rules are valid.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("host", &CLASSES)
}

fn facts(machine: &AuditedMachine, objects: &[AuditObject]) -> Vec<(String, String)> {
    let root = &machine.root;
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|rest| rest.trim_start_matches([' ', '\t', ':']).to_owned());
    let release = root.text("etc/os-release").unwrap_or_default();
    let system = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let host = objects.iter().find(|object| object.class == "host");
    let value = |name: &str| host.and_then(|host| host.values.get(name)).map(Value::text);
    let facts = [
        ("processor", model),
        ("cores", value("cores")),
        ("memory", value("memory")),
        (
            "system",
            system.map(|name| name.trim_matches('"').to_owned()),
        ),
        (
            "kernel",
            value("kernel").map(|kernel| format!("Linux {kernel}")),
        ),
        (
            "source",
            Some(if root.is_live() {
                "this machine".into()
            } else {
                "a copy of its /proc, /sys and /etc".into()
            }),
        ),
    ];
    let with_value = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
    facts.into_iter().filter_map(with_value).collect()
}
