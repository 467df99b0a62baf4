// SPDX-License-Identifier: Apache-2.0
//! The host: what it is, whether it is fit to measure on, and what it does while measuring.

use crate::kernel;
use lab_audit::host::{self as audit, AuditedMachine, HostActivity};
use lab_audit::{Measuring, Root};
use lab_model::audit::{Fix, State};
use lab_model::host::HostFinding;
use lab_model::{Disturbance, Host};
use lab_services::procfs;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long other programs are watched before a run.
const WATCH: Duration = Duration::from_millis(300);

/// Reads the machine's facts and what would disturb a measurement that needs so many cores. Watches other programs
/// for 0.3 s.
pub fn inspect(cores_needed: usize) -> Host {
    let machine = watched();
    let has_cores = machine
        .watched
        .cores
        .is_some_and(|cores| cores >= cores_needed as u64);
    let mut findings = findings(&machine);
    if has_cores {
        findings.retain(|(rule, _)| rule != "cpu-cores");
    }
    Host {
        facts: facts(),
        findings: findings.into_iter().map(|(_, finding)| finding).collect(),
    }
}

/// The machine's facts alone, for what is no measurement.
pub fn describe() -> Host {
    Host {
        facts: facts(),
        findings: Vec::new(),
    }
}

/// This machine for an audit: its files, and what it did while it was watched.
pub fn watched() -> AuditedMachine {
    let gauge = Gauge::start();
    std::thread::sleep(WATCH);
    let idle = gauge.read();
    let cores = crate::sys::allowed_cores().ok();
    AuditedMachine {
        root: Root::live(),
        watched: HostActivity {
            steal: Some(idle.steal),
            foreign: Some(idle.foreign),
            cores: cores.map(|cores| cores.len() as u64),
            ..audit::called()
        },
    }
}

fn facts() -> Vec<(String, String)> {
    let cpuinfo = text("/proc/cpuinfo");
    let meminfo = text("/proc/meminfo");
    let os = text("/etc/os-release");
    let release = os
        .lines()
        .find_map(|l| l.strip_prefix("PRETTY_NAME="))
        .unwrap_or("")
        .trim_matches('"');
    let cores = crate::sys::allowed_cores().map(|c| c.len()).unwrap_or(0);
    let memory = procfs::field(&meminfo, "MemTotal") as f64 / 1024.0 / 1024.0;
    let mut facts = vec![
        ("cpu", cpu_field(&cpuinfo, "model name")),
        ("cores", cores.to_string()),
        ("memory", format!("{memory:.1} GiB")),
        ("system", release.to_owned()),
        (
            "kernel",
            format!("Linux {}", text("/proc/sys/kernel/osrelease").trim()),
        ),
        (
            "virtual machine",
            if virtual_machine(&cpuinfo) {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ),
        (
            "clock source",
            first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        (
            "frequency governor",
            first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ),
        (
            "huge pages",
            chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        (
            "address randomisation",
            first_line("/proc/sys/kernel/randomize_va_space"),
        ),
    ];
    for name in [
        "LD_PRELOAD",
        "JAVA_TOOL_OPTIONS",
        "PYTHONPATH",
        "MALLOC_ARENA_MAX",
    ] {
        if let Ok(value) = std::env::var(name) {
            facts.push((name, value));
        }
    }
    facts
        .into_iter()
        .filter(|(_, v)| !v.is_empty())
        .map(|(k, v)| (k.to_owned(), v))
        .collect()
}

/// The findings of the rules that concern measuring, by the rule's name.
fn findings(machine: &AuditedMachine) -> Vec<(String, HostFinding)> {
    let mut rules = audit::rules().expect("a test reads all rules that are built in");
    rules.retain(|rule| rule.measuring != Measuring::Nothing);
    let judged = lab_audit::judge(&rules, &audit::observe(machine), &audit::CLASSES);
    let objections = judged
        .into_iter()
        .filter(|f| matches!(f.state, State::Bad | State::Advice));
    let unfit = |id: &str| {
        let has_id = |rule: &&lab_audit::Rule| rule.id == id;
        rules.iter().find(has_id).map(|rule| rule.measuring) == Some(Measuring::Unfit)
    };
    objections
        .map(|judgement| {
            let finding = HostFinding {
                unfit: unfit(&judgement.rule),
                what: clause(&judgement.seen),
                advice: advice(&judgement.fixes),
            };
            (judgement.rule, finding)
        })
        .collect()
}

/// A sentence in the form of a clause: without a capital and a full stop.
fn clause(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// A fix in one line.
fn advice(fixes: &[Fix]) -> String {
    let lines = fixes.iter().flat_map(|fix| &fix.lines);
    let lines: Vec<&str> = lines
        .map(|line| line.trim_start_matches("# ").trim_end_matches(':'))
        .collect();
    lines.join("; ")
}

/// The host's counters at the moment when it was started.
pub struct Gauge {
    began: Instant,
    before: HostCounters,
}

#[derive(Clone, Copy, Default)]
struct HostCounters {
    /// Ticks of all cores: busy, idle and stolen.
    all: u64,
    busy: u64,
    steal: u64,
    /// Ticks of the lab, its descendants, and the kernel's threads that work for them.
    lab: u64,
    memory_pressure_us: u64,
    swapped_pages: u64,
    throttled: u64,
}

impl Gauge {
    /// Reads the counters.
    pub fn start() -> Gauge {
        adopt_orphans();
        Gauge {
            began: Instant::now(),
            before: counters(),
        }
    }

    /// What the host did since. The lab, its descendants since then, and the kernel's work for them do not count as
    /// foreign.
    pub fn read(&self) -> Disturbance {
        let (now, before) = (counters(), self.before);
        let part = |ticks: u64| ticks as f64 / (now.all - before.all).max(1) as f64;
        let foreign = (now.busy - before.busy).saturating_sub(now.lab.saturating_sub(before.lab));
        // Times of the lab's own are rounded down to ticks, one per process at the most.
        let foreign = foreign.saturating_sub(4);
        let us = (self.began.elapsed().as_micros() as f64).max(1.0);
        Disturbance {
            steal: part(now.steal - before.steal),
            foreign: part(foreign),
            memory_pressure: (now.memory_pressure_us - before.memory_pressure_us) as f64 / us,
            swapped_pages: now.swapped_pages - before.swapped_pages,
            throttled: now.throttled - before.throttled,
        }
    }

    /// What the host did since, without the CPU time of a server on this machine that serves the lab.
    /// `None`: that time is unknown, and no foreign time is counted.
    pub fn read_beside(&self, server_cpu_ns: Option<u64>) -> Disturbance {
        let disturbance = self.read();
        let all = counters().all - self.before.all;
        let all_ns = all as f64 * 1e9 / procfs::ticks_per_second() as f64;
        let server = server_cpu_ns.map_or(1.0, |ns| ns as f64 / all_ns.max(1.0));
        Disturbance {
            foreign: (disturbance.foreign - server).max(0.0),
            ..disturbance
        }
    }
}

fn counters() -> HostCounters {
    let stat = text("/proc/stat");
    let total: Vec<u64> = stat
        .lines()
        .next()
        .unwrap_or("")
        .split_whitespace()
        .skip(1)
        .map(|f| f.parse().unwrap_or(0))
        .collect();
    // user nice system idle iowait irq softirq steal
    let ticks = |i: usize| total.get(i).copied().unwrap_or(0);
    let vmstat = text("/proc/vmstat");
    let swap = |name: &str| {
        let line = vmstat
            .lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    HostCounters {
        all: (0..8).map(ticks).sum(),
        busy: ticks(0) + ticks(1) + ticks(2) + ticks(5) + ticks(6),
        steal: ticks(7),
        lab: own_ticks() + kernel::ticks(),
        memory_pressure_us: memory_pressure_us(),
        swapped_pages: swap("pswpin") + swap("pswpout"),
        throttled: throttled(),
    }
}

/// Makes processes that descend from the lab its children when their parents end: else what they used would be lost, and
/// what they use would be another program's. Those that end stay zombies as long as the lab runs, which keeps their times.
fn adopt_orphans() {
    // Without it orphans count as other programs.
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// CPU time of the lab, of the processes that descend from it, and of those that they waited for, in ticks. Servers
/// work in processes of their own: a connection to PostgreSQL has one.
fn own_ticks() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let ticks = procfs::ticks_per_second() as i64;
    let ticks_of = |who| {
        let Ok(usage) = getrusage(who) else { return 0 };
        [usage.user_time(), usage.system_time()]
            .iter()
            .map(|t| (t.tv_sec() * ticks + t.tv_usec() * ticks / 1_000_000) as u64)
            .sum::<u64>()
    };
    let descendants = procfs::with_descendants(Pid::this()).into_iter().skip(1);
    let alive: u64 = descendants.map(procfs::ticks).sum();
    ticks_of(UsageWho::RUSAGE_SELF) + ticks_of(UsageWho::RUSAGE_CHILDREN) + alive
}

/// Time in which some task waited for memory (pressure stall information, Documentation/accounting/psi).
fn memory_pressure_us() -> u64 {
    let pressure = text("/proc/pressure/memory");
    let some = pressure
        .lines()
        .find(|l| l.starts_with("some"))
        .unwrap_or("");
    some.rsplit_once("total=")
        .and_then(|(_, n)| n.trim().parse().ok())
        .unwrap_or(0)
}

fn throttled() -> u64 {
    let Ok(cores) = fs::read_dir("/sys/devices/system/cpu") else {
        return 0;
    };
    let count = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    cores
        .flatten()
        .filter_map(|c| count(&c.path().join("thermal_throttle/core_throttle_count")))
        .sum()
}

fn virtual_machine(cpuinfo: &str) -> bool {
    cpu_field(cpuinfo, "flags")
        .split(' ')
        .any(|flag| flag == "hypervisor")
}

fn cpu_field(cpuinfo: &str, name: &str) -> String {
    let line = cpuinfo.lines().find(|l| l.starts_with(name));
    line.and_then(|l| l.split_once(':'))
        .map_or(String::new(), |(_, v)| v.trim().to_owned())
}

/// The word in brackets of `always [madvise] never`.
fn chosen(path: &str) -> String {
    let options = text(path);
    options
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("", |(word, _)| word)
        .to_owned()
}

fn first_line(path: &str) -> String {
    text(path).lines().next().unwrap_or("").trim().to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, kill};
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    /// As a server's processes are, of which each connection has one.
    #[test]
    fn what_a_grandchild_uses_is_the_labs_own() {
        what_a_descendant_uses_is_the_labs_own("while :; do :; done & echo $!; wait");
    }

    #[test]
    fn what_an_orphan_uses_is_the_labs_own() {
        adopt_orphans();
        what_a_descendant_uses_is_the_labs_own("while :; do :; done & echo $!");
    }

    fn what_a_descendant_uses_is_the_labs_own(script: &str) {
        let before = own_ticks();
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let worker = Pid::from_raw(line.trim().parse().unwrap());
        let used = loop {
            let used = procfs::ticks(worker);
            if used >= 20 {
                break used;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        let alive = own_ticks() - before;
        kill(worker, Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        let own = alive.min(own_ticks() - before);
        // Processes of other tests that end meanwhile lose parts of ticks.
        assert!(
            own >= used / 2,
            "{own} ticks, of which {used} are the grandchild's"
        );
    }
}
