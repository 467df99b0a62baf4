// SPDX-License-Identifier: Apache-2.0
//! The machine that a session runs on: the time, and the disturbances of a block.

use crate::sys;
use lab_host::{CpuClock, Gauge, procfs};
use lab_model::Disturbance;
use nix::unistd::Pid;

/// The machine, or what a test has in its place.
pub trait Machine {
    /// Since some moment in the past, ns; it never goes back.
    fn now_ns(&self) -> u64;

    /// Since 1970, s.
    fn unix_seconds(&self) -> f64;

    /// Begins to watch what disturbs a block.
    fn watch(&self) -> Box<dyn HostWatch>;

    /// The lab's own CPU time in ns and peak resident memory in bytes.
    fn lab_cost(&self) -> Option<(u64, u64)>;
}

/// Watches a host from a moment on.
pub trait HostWatch {
    /// The host's activity since then. `outside_cpu_ns`: see [`crate::Workload::outside_cpu_ns`].
    fn disturbance(&self, outside_cpu_ns: Option<u64>) -> Disturbance;
}

/// The machine that the lab runs on.
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn now_ns(&self) -> u64 {
        sys::monotonic_ns()
    }

    fn unix_seconds(&self) -> f64 {
        sys::unix_seconds()
    }

    fn watch(&self) -> Box<dyn HostWatch> {
        Box::new(Gauge::start())
    }

    fn lab_cost(&self) -> Option<(u64, u64)> {
        let process = Pid::this();
        let usage = procfs::usage(process).ok()?;
        let cpu_ns = CpuClock::of(process).ok()?.now_ns().ok()?;
        Some((cpu_ns, usage.peak_rss_bytes))
    }
}

impl HostWatch for Gauge {
    fn disturbance(&self, outside_cpu_ns: Option<u64>) -> Disturbance {
        self.read_beside(outside_cpu_ns)
    }
}
