// SPDX-License-Identifier: Apache-2.0
//! The operating system's clocks, cores and signals as the measuring needs them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::io;

/// CLOCK_MONOTONIC, ns.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has CLOCK_MONOTONIC");
    nanoseconds(now)
}

/// Seconds since 1970.
pub fn unix_seconds() -> f64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.map(|d| d.as_secs_f64()).unwrap_or_default()
}

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
        Ok(nanoseconds(clock_gettime(self.0)?))
    }
}

/// The cores that this process may use, ascending.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect())
}

/// Keeps a thread on one core.
pub fn pin(thread: Pid, core: usize) -> io::Result<()> {
    allow(thread, &[core])
}

/// Lets a thread run on these cores.
pub fn allow(thread: Pid, cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok(sched_setaffinity(thread, &set)?)
}

/// Wakes a process group.
pub fn wake(group: Pid) -> io::Result<()> {
    Ok(killpg(group, Signal::SIGCONT)?)
}

/// Freezes a process group and returns when its leader, a child of this process, stands still
/// or is gone.
pub fn freeze(group: Pid) -> io::Result<()> {
    killpg(group, Signal::SIGSTOP)?;
    let seen = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(group), seen) {
            Err(nix::errno::Errno::EINTR) => continue,
            other => return Ok(other.map(drop)?),
        }
    }
}

fn nanoseconds(t: TimeSpec) -> u64 {
    t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64
}
