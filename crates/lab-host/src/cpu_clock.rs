// SPDX-License-Identifier: Apache-2.0
//! The CPU clock of a process (clock_getcpuclockid(3)).

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::io;

/// The CPU clock of a process. It covers all threads, including threads that have exited.
#[derive(Clone, Copy, Debug)]
pub struct CpuClock(ClockId);

impl CpuClock {
    /// Opens the CPU clock of a running process.
    pub fn open(pid: Pid) -> io::Result<Self> {
        Ok(CpuClock(clock_getcpuclockid(pid)?))
    }

    /// Returns the CPU time since the process started, in ns.
    pub fn now_ns(self) -> io::Result<u64> {
        let now = clock_gettime(self.0)?;
        Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
    }
}
