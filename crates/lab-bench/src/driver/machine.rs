// SPDX-License-Identifier: Apache-2.0
//! The machine that a session runs on: its clock, and the disturbances of a block.

use crate::host::sys;
use lab_host::{CpuClock, Gauge, procfs};
use lab_model::Disturbance;
use nix::unistd::Pid;

/// The machine that runs a session. Tests use a simulated machine.
pub trait Machine {
    /// Returns the monotonic clock's time in ns.
    fn now_ns(&self) -> u64;

    /// Returns the time since 1970 in seconds.
    fn unix_seconds(&self) -> f64;

    /// Starts monitoring disturbances of a block.
    fn watch(&self) -> Box<dyn HostWatch>;

    /// Returns benchlab's own CPU time in ns and peak resident memory in bytes, or `None` if they
    /// cannot be read.
    fn lab_cost(&self) -> Option<(u64, u64)>;
}

/// Monitors a host, starting when the monitor is created.
pub trait HostWatch {
    /// Returns the host's activity since the monitor was created. For `outside_cpu_ns` see
    /// [`crate::Workload::outside_cpu_ns`].
    fn disturbance(&self, outside_cpu_ns: Option<u64>) -> Disturbance;
}

/// The machine that runs benchlab.
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
        let cpu_ns = CpuClock::open(process).ok()?.now_ns().ok()?;
        Some((cpu_ns, usage.peak_rss_bytes))
    }
}

impl HostWatch for Gauge {
    fn disturbance(&self, outside_cpu_ns: Option<u64>) -> Disturbance {
        self.read_without_server(outside_cpu_ns)
    }
}
