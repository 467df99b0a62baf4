// SPDX-License-Identifier: Apache-2.0
//! Reads the memory, threads and times of processes from `/proc/PID` (proc(5)).

use nix::unistd::{Pid, SysconfVar, sysconf};
use std::fs;
use std::io;
use std::ops::RangeInclusive;

/// The resource usage of a process, from `/proc/PID`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessUsage {
    /// VmRSS, in bytes.
    pub rss_bytes: u64,
    /// VmHWM: the peak since the program was executed, in bytes.
    pub peak_rss_bytes: u64,
    /// The number of running threads.
    pub threads: u32,
    /// User time of all threads, in ns.
    pub user_ns: u64,
    /// System time of all threads, in ns.
    pub sys_ns: u64,
    /// Voluntary context switches of all running threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all running threads.
    pub involuntary_switches: u64,
    /// Page faults of all threads that did not require reading from a disk.
    pub minor_faults: u64,
    /// Page faults of all threads that required reading from a disk.
    pub major_faults: u64,
}

/// Reads the resource usage of a process.
///
/// # Errors
/// Returns an error if the process has exited.
pub fn usage(pid: Pid) -> io::Result<ProcessUsage> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (user_ns, sys_ns) = times(&stat);
    let mut usage = ProcessUsage {
        rss_bytes: field(&status, "VmRSS") * 1024,
        peak_rss_bytes: field(&status, "VmHWM") * 1024,
        threads: field(&status, "Threads") as u32,
        user_ns,
        sys_ns,
        minor_faults: sum(&stat, 7..=7),
        major_faults: sum(&stat, 9..=9),
        ..ProcessUsage::default()
    };
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may exit between the listing and the reading.
        let Ok(status) = fs::read_to_string(task?.path().join("status")) else {
            continue;
        };
        usage.voluntary_switches += field(&status, "voluntary_ctxt_switches");
        usage.involuntary_switches += field(&status, "nonvoluntary_ctxt_switches");
    }
    Ok(usage)
}

/// Returns the number in a line such as `Name:  123 kB`, or 0 if there is no such line.
pub fn field(text: &str, name: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Returns the fields of `/proc/PID/stat`, starting with the third.
///
/// These are the fields after the last `)`. The field before it, the program's name, may contain
/// spaces and parentheses.
fn fields(stat: &str) -> Vec<&str> {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().collect()
}

/// Returns the sum of the fields in a range. Index 0 is the third field of `/proc/PID/stat`.
fn sum(stat: &str, indexes: RangeInclusive<usize>) -> u64 {
    let fields = fields(stat);
    let times = indexes.filter_map(|i| fields.get(i)?.parse::<u64>().ok());
    times.sum()
}

fn stat(pid: Pid) -> String {
    fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default()
}

/// Returns the user and system time (utime and stime) from `/proc/PID/stat`, in ns.
fn times(stat: &str) -> (u64, u64) {
    (
        sum(stat, 11..=11) * tick_ns(),
        sum(stat, 12..=12) * tick_ns(),
    )
}

/// Returns true if a thread of the process is running or waiting for a core.
pub fn is_runnable(pid: Pid) -> bool {
    let mut tasks = tasks(pid).into_iter();
    tasks.any(|task| is_thread_runnable(pid, task))
}

/// Returns true if a thread of a process is running or waiting for a core.
pub fn is_thread_runnable(pid: Pid, thread: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat"));
    stat.is_ok_and(|stat| fields(&stat).first() == Some(&"R"))
}

/// Returns the numeric names in a directory, as process IDs.
fn numbered(folder: &str) -> Vec<Pid> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.filter_map(number).map(Pid::from_raw).collect()
}

/// Returns all processes that are visible to this process.
pub fn all() -> Vec<Pid> {
    numbered("/proc")
}

/// Returns the threads of a process.
pub fn tasks(pid: Pid) -> Vec<Pid> {
    numbered(&format!("/proc/{pid}/task"))
}

/// Returns the CPU time of a thread in ns. Returns 0 if the thread has exited or the kernel does
/// not count the time.
pub fn ran_ns(pid: Pid, task: Pid) -> u64 {
    let schedstat =
        fs::read_to_string(format!("/proc/{pid}/task/{task}/schedstat")).unwrap_or_default();
    let first = schedstat.split_whitespace().next();
    first.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Returns the name of a process or kernel thread, or an empty string if it has exited.
pub fn name(pid: Pid) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.strip_suffix('\n').unwrap_or(&name).to_owned()
}

/// Returns the processes that a thread has started, unless they have been reaped.
pub fn started_by(pid: Pid, task: Pid) -> Vec<Pid> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{task}/children"));
    let list = list.unwrap_or_default();
    let pids = list.split_whitespace().filter_map(|n| n.parse().ok());
    pids.map(Pid::from_raw).collect()
}

/// Returns the children of a process.
pub fn children(pid: Pid) -> Vec<Pid> {
    let tasks = tasks(pid).into_iter();
    tasks.flat_map(|task| started_by(pid, task)).collect()
}

/// Returns a process and all of its descendants.
pub fn with_descendants(pid: Pid) -> Vec<Pid> {
    let mut pids = vec![pid];
    let mut next = 0;
    while let Some(&pid) = pids.get(next) {
        next += 1;
        pids.extend(children(pid));
    }
    pids
}

/// Returns the parent of a process.
pub fn parent(pid: Pid) -> Option<Pid> {
    let parent = fields(&stat(pid)).get(1)?.parse().ok()?;
    Some(Pid::from_raw(parent))
}

/// Returns the start time of a process in ticks since boot, or `None` if it has exited or is a
/// zombie.
pub fn start_ticks(pid: Pid) -> Option<u64> {
    let stat = stat(pid);
    let fields = fields(&stat);
    let is_alive = !fields.first()?.starts_with(['Z', 'X']);
    fields.get(19).filter(|_| is_alive)?.parse().ok()
}

/// Fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug)]
pub struct ProcessStat {
    /// The start time of the process, in ticks since boot.
    pub start_ticks: u64,
    /// CPU time of reaped children, including the children that they reaped, in ns.
    pub waited_for_ns: u64,
    /// Minor page faults of reaped children, including the children that they reaped.
    pub child_faults: u64,
}

/// Reads the stat file of a process. A zombie still has a stat file. Returns `None` if the process
/// does not exist.
pub fn process_stat(pid: Pid) -> Option<ProcessStat> {
    let stat = stat(pid);
    Some(ProcessStat {
        start_ticks: fields(&stat).get(19)?.parse().ok()?,
        waited_for_ns: sum(&stat, 13..=14) * tick_ns(),
        child_faults: sum(&stat, 8..=8),
    })
}

/// Returns the CPU time of a process and its reaped children in ticks, or 0 if the process has
/// exited.
pub fn ticks(pid: Pid) -> u64 {
    sum(&stat(pid), 11..=14)
}

/// Returns the number of threads of a process, or 0 if it has exited.
pub fn threads(pid: Pid) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    field(&status, "Threads") as u32
}

/// Returns the resident memory of a process in bytes, or `None` if it has exited.
pub fn resident_bytes(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(1024 * field(&status, "VmRSS"))
}

/// Returns the resident memory of a set of processes in bytes (proportional set size).
///
/// Memory that n processes share counts as one n-th for each of them. Returns `None` if the first
/// process has exited, or if this user may not read its memory.
pub fn shared_bytes(pids: &[Pid]) -> Option<u64> {
    let pss_bytes = |pid: &Pid| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        Some(1024 * field(&rollup, "Pss"))
    };
    let (main, others) = pids.split_first()?;
    Some(pss_bytes(main)? + others.iter().filter_map(pss_bytes).sum::<u64>())
}

/// Returns the length of a tick in ns. A tick is the unit of the times in `/proc`.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / ticks_per_second()
}

/// Returns the number of ticks per second. A tick is the unit of the times in `/proc`.
pub fn ticks_per_second() -> u64 {
    match sysconf(SysconfVar::CLK_TCK) {
        Ok(Some(ticks)) if ticks > 0 => ticks as u64,
        _ => 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_read() {
        let usage = usage(Pid::this()).expect("this process exists");
        assert!(usage.rss_bytes > 100_000 && usage.peak_rss_bytes >= usage.rss_bytes);
        assert!(usage.threads >= 1);
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194304 1 2 3 4 500 300 0 0 20 0 1 0";
        assert_eq!(times(stat), (500 * tick_ns(), 300 * tick_ns()));
        assert_eq!(times(""), (0, 0));
    }
}
