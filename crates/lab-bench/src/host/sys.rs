// SPDX-License-Identifier: Apache-2.0
//! Clocks, cores and signals of the operating system.

use lab_host::cores::{allowed_cores, allowed_set};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Waits until at least one of `files` is readable. Returns false on timeout.
pub fn wait_readable<'f>(
    files: impl IntoIterator<Item = BorrowedFd<'f>>,
    time: Duration,
) -> nix::Result<bool> {
    let files = files.into_iter();
    let files = files.map(|file| PollFd::new(file, PollFlags::POLLIN));
    let time = PollTimeout::try_from(time.as_millis() + 1).unwrap_or(PollTimeout::MAX);
    Ok(poll(&mut files.collect::<Vec<_>>(), time)? > 0)
}

/// Returns the time of CLOCK_MONOTONIC in ns.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has CLOCK_MONOTONIC");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// Returns the time since 1970 in seconds.
pub fn unix_seconds() -> f64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.map(|d| d.as_secs_f64()).unwrap_or_default()
}

/// Pins this thread to one of `parts` equal groups of cores. `part` is the index of the group.
/// Threads and processes that this thread starts inherit the cores.
///
/// Has no effect if there are fewer cores than groups. Must be called before the cores are first
/// queried.
pub fn keep_to_part(part: usize, parts: usize) -> io::Result<()> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let cores = (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false));
    let cores: Vec<usize> = cores.collect();
    if cores.len() >= parts {
        pin(Pid::from_raw(0), &cores[part_of(cores.len(), part, parts)])
    } else {
        Ok(())
    }
}

fn part_of(cores: usize, part: usize, parts: usize) -> std::ops::Range<usize> {
    part * cores / parts..(part + 1) * cores / parts
}

/// Returns a function that lets a new process use all cores again. The function is called between
/// fork and exec.
///
/// Without it, a subject's helper threads would inherit benchlab's pinning.
pub fn all_cores() -> io::Result<impl Fn() -> io::Result<()> + Send + Sync + use<>> {
    let set = allowed_set()?;
    Ok(move || Ok(sched_setaffinity(Pid::from_raw(0), &set)?))
}

/// Pins a thread to the given cores.
pub fn pin(thread: Pid, cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok(sched_setaffinity(thread, &set)?)
}

/// Pins all threads of a process to the given cores. Threads started later inherit the cores.
pub fn pin_all(process: Pid, cores: &[usize]) -> io::Result<()> {
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let name = task?.file_name();
        let thread = name.to_str().and_then(|n| n.parse().ok());
        // A thread may exit after the directory was listed.
        match thread.map(|thread| pin(Pid::from_raw(thread), cores)) {
            Some(Err(e)) if e.raw_os_error() != Some(libc::ESRCH) => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// Pins benchlab itself to the measured core.
///
/// benchlab sleeps while a batch runs, and the subject sleeps while benchlab works, so the two
/// never compete. Switching between processes on one core takes a fifth of the time that it takes
/// to wake another core.
pub fn pin_to_core(core: usize) {
    // Without permission, the scheduler decides. benchlab then responds more slowly, but results stay correct.
    let _ = pin(Pid::from_raw(0), &[core]);
}

/// Lets the calling thread, which inherited the measured core, use all cores.
pub fn leave_measured_core() {
    if let Ok(cores) = allowed_cores() {
        let _ = pin(Pid::from_raw(0), &cores);
    }
}

/// Runs an action with this thread pinned to the given cores. Threads and processes that the action
/// starts stay pinned.
pub fn on_cores<T>(cores: &[usize], action: impl FnOnce() -> T) -> T {
    let this_thread = Pid::from_raw(0);
    let before = sched_getaffinity(this_thread);
    // Without permission the scheduler decides.
    let _ = pin(this_thread, cores);
    let result = action();
    let _ = before.map(|before| sched_setaffinity(this_thread, &before));
    result
}

/// Wakes a process group.
pub fn wake(group: Pid) -> io::Result<()> {
    Ok(killpg(group, Signal::SIGCONT)?)
}

/// Freezes a process group. Returns when its leader, a child of this process, has stopped or exited.
pub fn freeze(group: Pid) -> io::Result<()> {
    killpg(group, Signal::SIGSTOP)?;
    let events = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(group), events) {
            Err(nix::errno::Errno::EINTR) => continue,
            other => return Ok(other.map(drop)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_cores_cover_each_core_once() {
        for (all, parts) in [(1, 1), (8, 3), (7, 7), (64, 5)] {
            let cores = (0..parts).flat_map(|part| part_of(all, part, parts));
            assert!(cores.eq(0..all), "{all} {parts}");
        }
    }
}
