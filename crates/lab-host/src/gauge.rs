// SPDX-License-Identifier: Apache-2.0
//! Measures the activity of the host while benchlab measures.

use crate::tree_cpu::TreeCpu;
use crate::{kernel, procfs};
use lab_model::Disturbance;
use nix::unistd::Pid;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Measures the host's activity. Contains the host's counters at the time when the gauge was
/// started.
pub struct Gauge {
    began: Instant,
    before: HostCounters,
    lab: LabCpu,
}

/// The CPU time of benchlab, its descendants, and the kernel threads that work for them.
///
/// Descendants are included because a server may have many processes. PostgreSQL, for example, has
/// one process per connection.
struct LabCpu {
    own: TreeCpu,
    own_ns: u64,
    /// CPU time of each kernel thread, in ticks.
    kernel: HashMap<Pid, u64>,
}

#[derive(Clone, Copy, Default)]
struct HostCounters {
    /// Total ticks of all cores: busy, idle and stolen.
    all: u64,
    busy: u64,
    steal: u64,
    memory_pressure_us: u64,
    swapped_pages: u64,
    throttled: u64,
}

impl Gauge {
    /// Starts a gauge by reading the counters.
    pub fn start() -> Gauge {
        Gauge {
            began: Instant::now(),
            before: counters(),
            lab: LabCpu::start(),
        }
    }

    /// Returns the host's activity since the start.
    ///
    /// The CPU time of benchlab, its descendants, and the kernel threads that work for them does
    /// not count as foreign.
    pub fn read(&self) -> Disturbance {
        let (now, before) = (counters(), self.before);
        // The counters are 0 if they cannot be read, for example without a free file descriptor.
        let since =
            |counter: fn(&HostCounters) -> u64| counter(&now).saturating_sub(counter(&before));
        let part = |ticks: u64| ticks as f64 / since(|c| c.all).max(1) as f64;
        let foreign = since(|c| c.busy).saturating_sub(self.lab.ticks_since());
        // benchlab's own times are rounded down to ticks, by at most one tick per process.
        let foreign = foreign.saturating_sub(4);
        let us = (self.began.elapsed().as_micros() as f64).max(1.0);
        Disturbance {
            steal: part(since(|c| c.steal)),
            foreign: part(foreign),
            memory_pressure: since(|c| c.memory_pressure_us) as f64 / us,
            swapped_pages: since(|c| c.swapped_pages),
            throttled: since(|c| c.throttled),
        }
    }

    /// Returns the host's activity since the start. The CPU time of a local server under test does
    /// not count as foreign.
    ///
    /// If `server_cpu_ns` is `None`, the server's CPU time is unknown, and no CPU time counts as
    /// foreign.
    pub fn read_without_server(&self, server_cpu_ns: Option<u64>) -> Disturbance {
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
    // The columns are: user nice system idle iowait irq softirq steal
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
        memory_pressure_us: memory_pressure_us(),
        swapped_pages: swap("pswpin") + swap("pswpout"),
        throttled: throttled(),
    }
}

impl LabCpu {
    fn start() -> LabCpu {
        let mut own = TreeCpu::default();
        LabCpu {
            own_ns: own.read(&[Pid::this()]),
            own,
            kernel: kernel::ticks(),
        }
    }

    /// Returns the number of ticks used since the start.
    fn ticks_since(&self) -> u64 {
        let own_ns = self.own.clone().read(&[Pid::this()]) - self.own_ns;
        // The time of a kernel thread that has exited is unknown.
        let used = |(thread, now): (Pid, u64)| {
            let before = self.kernel.get(&thread).copied().unwrap_or(0);
            now.saturating_sub(before)
        };
        own_ns / procfs::tick_ns() + kernel::ticks().into_iter().map(used).sum::<u64>()
    }
}

/// Returns the total time during which at least one task waited for memory, in µs (pressure stall
/// information, Documentation/accounting/psi).
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

    /// A server's process for one connection does not count as foreign. A grandchild stands in for
    /// this process.
    #[test]
    fn cpu_time_of_a_grandchild_counts_as_the_programs_own() {
        let lab = LabCpu::start();
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
        let own = lab.ticks_since();
        kill(worker, Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        assert!(
            own >= used,
            "{own} ticks, of which {used} are the grandchild's"
        );
    }
}
