// SPDX-License-Identifier: Apache-2.0
//! `audit host`: describes a machine from `/proc`, `/sys` and `/etc`.

mod copy;
mod cpu;
mod disks;
mod filesystems;
mod fitness;
mod memory;
mod network;
mod system;

pub use fitness::inspect;

use crate::extra::Extra;
use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{Class, Thing, Value};
use lab_host::{Gauge, Root};
use lab_model::audit::{Audit, AuditKind, EvidenceTable, EvidenceValue};
use serde::Deserialize;
use std::time::Duration;

/// How long other programs are observed before a run.
const WATCH: Duration = Duration::from_millis(300);

/// Observes one area of a machine.
pub trait Probe {
    /// Returns things of one or more classes. Multiple probes may set values of the same thing.
    fn observe(&self, machine: &AuditedMachine) -> Vec<Thing>;
}

/// The input of the probes.
#[derive(Debug)]
pub struct AuditedMachine {
    /// The machine's files.
    pub root: Root,
    /// Observations that are not in files.
    pub watched: HostActivity,
}

/// Observations that require a running machine.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostActivity {
    /// The fraction of the cores' time that the hypervisor gave to other machines, 0 to 1.
    pub steal: Option<f64>,
    /// The fraction of the cores' time that other programs used, 0 to 1.
    pub foreign: Option<f64>,
    /// The number of cores that benchlab may use.
    pub cores: Option<u64>,
    /// The time to read CLOCK_MONOTONIC once, in ns.
    pub clock_read_ns: Option<f64>,
    /// Whether the kernel considers its clock synchronized (adjtimex(2), STA_UNSYNC).
    pub synchronised: Option<bool>,
    /// The maximum error of the clock according to the kernel, in ns.
    pub time_error_ns: Option<f64>,
    /// The connections per second that the last `benchlab load` on this machine opened.
    pub load_connects: Option<f64>,
}

const PROBES: [&dyn Probe; 7] = [
    &copy::Copy,
    &cpu::Cpu,
    &disks::Disks,
    &filesystems::Filesystems,
    &memory::Memory,
    &network::HostNetwork,
    &system::System,
];

/// The classes of things in a host audit.
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
    none: "There is no host.",
    values: &[
        ("cores", "cores that the lab may use"),
        ("governor", "frequency governor of the cores"),
        ("turbo", "whether clocks above the nominal are on"),
        ("smt", "whether several threads share a core"),
        ("virtual_machine", "whether it runs under a hypervisor"),
        (
            "throttled",
            "times that a core was throttled for its heat since the start",
        ),
        (
            "quota_throttled",
            "times that a limit of CPU time stopped the group of programs that this one is in",
        ),
        (
            "steal",
            "part of the cores' time that the hypervisor gave to others",
        ),
        (
            "foreign",
            "part of the cores' time that other programs took",
        ),
        ("numa_nodes", "NUMA nodes"),
        (
            "numa_balancing",
            "whether the kernel moves pages between nodes",
        ),
        ("zone_reclaim", "vm.zone_reclaim_mode"),
        ("clock_source", "clock source in use"),
        ("clock_sources", "clock sources that there are"),
        ("clock_read", "time of one reading of the clock"),
        ("reading", "the same in words"),
        ("synchronised", "whether the clock is synchronised"),
        (
            "time_error",
            "how far off the clock is at most, as the kernel takes it",
        ),
        ("memory", "memory"),
        ("available", "memory that programs could still get"),
        ("available_share", "the same as a part of all memory"),
        ("swap", "size of swap"),
        ("swap_used_share", "part of swap that is in use"),
        (
            "swap_on_disk",
            "whether swap is on a disk, not in compressed memory",
        ),
        ("swappiness", "vm.swappiness"),
        ("swapped_in", "bytes read from swap since the start"),
        (
            "huge_pages",
            "transparent huge pages: always, madvise or never",
        ),
        (
            "huge_defrag",
            "when a program waits for huge pages to be made",
        ),
        ("huge_reserved", "huge pages that are reserved"),
        ("huge_idle", "bytes of reserved huge pages that nobody uses"),
        ("huge_idle_share", "the same as a part of all memory"),
        (
            "dirty_most",
            "bytes that may be unwritten before writers wait",
        ),
        (
            "oom_kills",
            "programs killed for lack of memory since the start",
        ),
        ("ports", "local ports of outgoing connections"),
        (
            "ports_per_second",
            "connections per second to one server at which the ports run out",
        ),
        (
            "load_connects",
            "connections per second that the last benchlab load opened",
        ),
        ("load_share", "the same as a part of ports_per_second"),
        ("time_wait", "how long a connection is in TIME_WAIT"),
        ("rest", "how long a port rests after a connection"),
        ("time_wait_now", "connections in TIME_WAIT now"),
        ("time_wait_most", "connections that may be in TIME_WAIT"),
        (
            "time_wait_overflows",
            "connections that were ended without TIME_WAIT, for there were too many",
        ),
        ("tw_reuse", "net.ipv4.tcp_tw_reuse"),
        ("tw_recycle", "where net.ipv4.tcp_tw_recycle is set"),
        (
            "somaxconn",
            "most connections that wait for a server to accept them",
        ),
        ("syn_backlog", "most connections that are being opened"),
        (
            "listen_overflows",
            "connections refused since the start, for a server did not accept in time",
        ),
        (
            "listen_drops",
            "the same and others that were dropped on opening",
        ),
        ("syncookies", "net.ipv4.tcp_syncookies"),
        (
            "conntrack_share",
            "part of the connection table of the firewall that is in use",
        ),
        (
            "retransmitted",
            "part of sent segments that were sent again",
        ),
        (
            "slow_start_after_idle",
            "net.ipv4.tcp_slow_start_after_idle",
        ),
        ("congestion", "congestion control"),
        ("open_files", "most open files of a program, soft limit"),
        (
            "open_files_hard",
            "most open files of a program, hard limit",
        ),
        (
            "files_share",
            "part of the machine's open files that are in use",
        ),
        (
            "pids_share",
            "part of the machine's processes and threads that are in use",
        ),
        ("entropy", "bits of entropy in the pool"),
        ("kernel", "the kernel's version"),
        (
            "kernel_5_18",
            "whether random numbers never wait once the machine is up",
        ),
        ("trim_timer", "whether fstrim runs by a timer"),
        ("randomised", "address randomisation: 0, 1 or 2"),
        (
            "preloaded",
            "what LD_PRELOAD or /etc/ld.so.preload puts into each program",
        ),
    ],
};

/// Returns the mount points of the filesystems that are on disks.
pub fn mounts(machine: &AuditedMachine) -> Vec<std::path::PathBuf> {
    let things = filesystems::Filesystems.observe(machine);
    let is_listed = |thing: &&Thing| matches!(thing.values.get("device"), Some(Value::Word(_)));
    let filesystems = things.iter().filter(is_listed);
    filesystems.map(|thing| thing.name.clone().into()).collect()
}

/// Returns the memory that is available to programs, in bytes.
pub fn available(machine: &AuditedMachine) -> u64 {
    let text = machine.root.text("proc/meminfo").unwrap_or_default();
    field(&text, "MemAvailable").map_or(0, |kib| kib * 1024)
}

/// Returns all things that the probes observe, with the values of all probes merged.
pub fn observe(machine: &AuditedMachine) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    for thing in PROBES.iter().flat_map(|probe| probe.observe(machine)) {
        let is_same =
            |earlier: &&mut Thing| earlier.class == thing.class && earlier.name == thing.name;
        match things.iter_mut().find(is_same) {
            Some(earlier) => earlier.values.extend(thing.values),
            None => things.push(thing),
        }
    }
    things
}

/// Returns the machine's host name.
pub fn name(root: &Root) -> String {
    let name = root
        .line("proc/sys/kernel/hostname")
        .or_else(|| root.line("etc/hostname"));
    name.unwrap_or_else(|| "this host".into())
}

impl AuditedMachine {
    /// Observes this machine: its files, and its activity during 0.3 s.
    pub fn live() -> AuditedMachine {
        let gauge = Gauge::start();
        std::thread::sleep(WATCH);
        let idle = gauge.read();
        let cores = lab_host::allowed_cores().ok();
        AuditedMachine {
            root: Root::live(),
            watched: HostActivity {
                steal: Some(idle.steal),
                foreign: Some(idle.foreign),
                cores: cores.map(|cores| cores.len() as u64),
                ..called()
            },
        }
    }

    /// Reads a copy of a machine's files from a directory, with observations in its `watched.toml`.
    ///
    /// # Errors
    ///
    /// Returns an error if that file exists and is invalid.
    pub fn copy(root: Root) -> Result<AuditedMachine, String> {
        let watched = match root.text("watched.toml") {
            Ok(text) => toml::from_str(&text).map_err(|e| format!("watched.toml: {e}"))?,
            Err(_) => HostActivity::default(),
        };
        Ok(AuditedMachine { root, watched })
    }

    /// Creates the single thing of the class `host`.
    fn host(&self) -> Thing {
        Thing::new("host", name(&self.root))
    }

    /// Returns a value that only a running machine has, which is unknown in a copy.
    fn live_value(&self, value: Option<Value>) -> Value {
        value.unwrap_or_else(|| {
            Value::Unknown("A copy of files does not show what a machine does.".into())
        })
    }
}

/// Observes the machine with system calls, which take about a millisecond.
fn called() -> HostActivity {
    let (synchronised, time_error_ns) = kernel_clock();
    HostActivity {
        clock_read_ns: Some(clock_read_ns()),
        synchronised,
        time_error_ns,
        ..HostActivity::default()
    }
}

/// Measures the time of one clock reading in ns, as the minimum of five means, so that an interruption does not count.
fn clock_read_ns() -> f64 {
    const READS: u32 = 1000;
    let mean = |_| {
        let began = std::time::Instant::now();
        for _ in 0..READS {
            std::hint::black_box(std::time::Instant::now());
        }
        began.elapsed().as_nanos() as f64 / f64::from(READS)
    };
    (0..5).map(mean).fold(f64::INFINITY, f64::min)
}

fn kernel_clock() -> (Option<bool>, Option<f64>) {
    // SAFETY: all zeros is a valid timex, and modes = 0 only reads (adjtimex(2)).
    let (state, clock) = unsafe {
        let mut clock: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&mut clock), clock)
    };
    match state {
        -1 => (None, None),
        _ => {
            let synchronised = clock.status & libc::STA_UNSYNC == 0;
            (Some(synchronised), Some(clock.maxerror as f64 * 1000.0))
        }
    }
}

/// Returns the number after a name at the beginning of a line, as in `/proc/meminfo` and `/proc/vmstat`.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.strip_prefix(':').or_else(|| rest.strip_prefix(' '))
    })?;
    value.split_whitespace().next()?.parse().ok()
}

/// Returns the word in brackets, as in `always [madvise] never`.
fn bracketed_word(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Audits a machine with the given rules.
pub fn audit(machine: &AuditedMachine, rules: &[Rule], extras: Vec<Extra>) -> Audit {
    let mut things = observe(machine);
    let mut facts = facts(machine, &things);
    let (mut tables, mut chart) = (Vec::new(), None);
    for extra in extras {
        things.extend(extra.things);
        facts.extend(extra.facts);
        tables.extend(extra.tables);
        chart = extra.chart.or(chart);
    }
    tables.extend([
        disks::table(&things),
        disks::partitions_table(&things),
        filesystems::table(&things),
    ]);
    Audit {
        kind: AuditKind::Host,
        targets: vec![name(&machine.root)],
        facts,
        findings: judge(rules, &things, &CLASSES),
        tables,
        chart,
    }
}

/// Returns the built-in rules.
///
/// # Errors
///
/// Returns an error if a rule is invalid, which a test rules out.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("host", &CLASSES)
}

fn facts(machine: &AuditedMachine, things: &[Thing]) -> Vec<(String, String)> {
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
    let host = things.iter().find(|thing| thing.class == "host");
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
            "looked at",
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

/// Builds a table of values of all things of a class, one row each.
fn table(things: &[Thing], class: &str, title: &str, columns: &[(&str, &str)]) -> EvidenceTable {
    let headings = columns.iter().map(|(_, heading)| (*heading).to_owned());
    let members = things.iter().filter(|thing| thing.class == class);
    let row = |thing: &Thing| {
        let name = EvidenceValue::Word(thing.name.clone());
        let values = columns.iter().skip(1).map(|(name, _)| {
            thing
                .values
                .get(name)
                .map_or(EvidenceValue::Nothing, Value::evidence)
        });
        std::iter::once(name).chain(values).collect()
    };
    EvidenceTable {
        title: title.into(),
        caption: String::new(),
        columns: headings.collect(),
        rows: members.map(row).collect(),
    }
}
