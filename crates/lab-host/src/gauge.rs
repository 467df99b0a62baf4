// SPDX-License-Identifier: Apache-2.0
//! The host's activity during a measurement.

use crate::{kernel, procfs};
use lab_model::Disturbance;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::Instant;

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
        Gauge {
            began: Instant::now(),
            before: counters(),
        }
    }

    /// The host's activity since then. Work of benchlab, of its descendants since then, and of the kernel for
    /// them does not count as foreign.
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

    /// The host's activity since then, without the CPU time of a server on this machine that serves benchlab.
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
        let before = own_ticks();
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done & echo $!; wait"])
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
        let own = own_ticks() - before;
        kill(worker, Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        // Processes of other tests that end meanwhile lose parts of ticks.
        assert!(
            own >= used / 2,
            "{own} ticks, of which {used} are the grandchild's"
        );
    }
}
