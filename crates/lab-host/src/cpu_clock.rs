// SPDX-License-Identifier: Apache-2.0
//! The CPU clock of a process (clock_getcpuclockid(3)).

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::io;

/// The CPU clock of a process: the time that all its threads used, those that ended included.
#[derive(Clone, Copy, Debug)]
pub struct CpuClock(ClockId);

impl CpuClock {
    /// The clock of a process that is alive.
    pub fn of(pid: Pid) -> io::Result<Self> {
        Ok(CpuClock(clock_getcpuclockid(pid)?))
    }

    /// ns since the process began.
    pub fn now_ns(self) -> io::Result<u64> {
        let now = clock_gettime(self.0)?;
        Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
    }
}
