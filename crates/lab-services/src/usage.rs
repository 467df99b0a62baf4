// SPDX-License-Identifier: Apache-2.0
//! What a server's processes use, from their CPU clocks and `/proc` (proc(5)).

use crate::Kind;
use crate::tally::Tally;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::collections::BTreeSet;
use std::fs;

/// The processes of a server on this machine.
pub(crate) struct Processes {
    pub kind: Kind,
    /// The one that started the others.
    pub main: Pid,
    /// What ended processes of it used; without, `/proc` tells it in ticks.
    pub tally: Option<Tally>,
    /// What serves the lab's own connection, and is not charged to anybody: a process of PostgreSQL, a
    /// thread of MariaDB.
    pub own: Option<Pid>,
}

impl Processes {
    /// All of them now, the main one first; none if it is gone.
    pub fn pids(&self) -> Vec<Pid> {
        if !fs::exists(format!("/proc/{}", self.main)).unwrap_or(false) {
            return Vec::new();
        }
        let mut pids = vec![self.main];
        pids.extend(self.children());
        pids
    }

    /// PostgreSQL has a process for every connection, and some for its own work; MariaDB has threads.
    /// A process that ended counts until the main one knows.
    pub fn children(&self) -> Vec<Pid> {
        if self.kind == Kind::Mariadb {
            return Vec::new();
        }
        let path = format!("/proc/{0}/task/{0}/children", self.main);
        let list = fs::read_to_string(path).unwrap_or_default();
        let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.map(Pid::from_raw).collect()
    }

    /// CPU time of all, those that ended included, ns. `None`: the server is gone.
    pub fn cpu_ns(&self) -> Option<u64> {
        if self.kind == Kind::Mariadb {
            let own = self.own.map_or(0, |thread| thread_ns(self.main, thread));
            return Some(clock_ns(self.main)?.saturating_sub(own));
        }
        // A clock that cannot be read is that of a process which ended just now.
        let living = || -> Option<u64> {
            let mut children = self.children();
            children.retain(|&child| Some(child) != self.own);
            let others: u64 = children.into_iter().filter_map(clock_ns).sum();
            Some(clock_ns(self.main)? + others)
        };
        match &self.tally {
            Some(tally) => {
                let (ended, living) = tally.with_ended(living);
                Some(ended + living?)
            }
            None => Some(self.ended_in_ticks() + living()?),
        }
    }

    /// User and system time of the children that the main process waited for; in units of 10 ms.
    fn ended_in_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.main)).unwrap_or_default();
        // The program's name may hold spaces and parentheses; the third field follows it.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let times = rest.split_whitespace().skip(13).take(2);
        let ticks: u64 = times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        ticks * (1_000_000_000 / ticks_per_second())
    }

    /// The sum of the proportional set sizes, so that shared memory counts once. `None`: this user may
    /// not know.
    pub fn memory_bytes(&self) -> Option<u64> {
        let pids = self.pids();
        let (main, others) = pids.split_first()?;
        let others: u64 = others.iter().filter_map(|&pid| pss_bytes(pid)).sum();
        Some(pss_bytes(*main)? + others)
    }

    /// Keeps all threads on some cores; new ones inherit it from those that start them.
    pub fn pin(&self, cores: &[usize]) {
        let mut set = CpuSet::new();
        if cores.iter().any(|&core| set.set(core).is_err()) {
            return;
        }
        let mut pinned = BTreeSet::new();
        // A thread that is not yet pinned may start another one meanwhile.
        loop {
            let tasks = self.pids().into_iter().flat_map(tasks);
            let new: Vec<Pid> = tasks.filter(|task| !pinned.contains(task)).collect();
            if new.is_empty() {
                return;
            }
            for task in new {
                let _ = sched_setaffinity(task, &set);
                pinned.insert(task);
            }
        }
    }
}

fn clock_ns(pid: Pid) -> Option<u64> {
    let now = clock_gettime(clock_getcpuclockid(pid).ok()?).ok()?;
    Some(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// CPU time of a thread that sleeps: the first number of its `schedstat`. A clock of another process's
/// thread cannot be read.
fn thread_ns(pid: Pid, thread: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat"));
    let first = |stat: String| stat.split_whitespace().next()?.parse().ok();
    stat.ok().and_then(first).unwrap_or(0)
}

fn tasks(pid: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    tasks
        .filter_map(|t| t.file_name().to_str()?.parse().ok())
        .map(Pid::from_raw)
        .collect()
}

fn pss_bytes(pid: Pid) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(1024 * kib)
}

pub(crate) fn ticks_per_second() -> u64 {
    match sysconf(SysconfVar::CLK_TCK) {
        Ok(Some(ticks)) if ticks > 0 => ticks as u64,
        _ => 100,
    }
}
