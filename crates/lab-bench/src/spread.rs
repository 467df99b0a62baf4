// SPDX-License-Identifier: Apache-2.0
//! The threads that work at once in a subject, each kept on a core of its own, where there are cores enough. The
//! scheduler moves one of two away from a shared core only after some milliseconds: a batch is over by then, and its
//! threads ran one after the other.

use crate::sys;
use lab_host::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;

/// A thread works if it used at least this part of the CPU time of the one that used most: helpers do not.
const WORKS: f64 = 0.5;

/// Where no thread used more CPU time than this, workers cannot be distinguished from the thread that waits for them.
const MIN_NS: u64 = 1_000_000;

/// The CPU times and cores of a process's threads.
#[derive(Default)]
pub struct ThreadSpread {
    /// CPU time of each thread at the last reading.
    ran_ns: HashMap<Pid, u64>,
    /// Threads that are kept on a core.
    pinned: HashMap<Pid, usize>,
}

impl ThreadSpread {
    /// Notes what the threads of a process did so far.
    pub fn new(process: Pid) -> ThreadSpread {
        let threads = procfs::tasks(process).into_iter();
        ThreadSpread {
            ran_ns: threads.map(|t| (t, procfs::ran_ns(process, t))).collect(),
            pinned: HashMap::new(),
        }
    }

    /// After a run: keeps the threads that worked in it apart, and frees those that no longer work.
    pub fn after_run(&mut self, process: Pid, cores: &[usize]) {
        let mut pins = HashMap::new();
        let Some(working) = self.working(process) else {
            return;
        };
        if (2..=cores.len()).contains(&working.len()) {
            pins.extend(working.into_iter().zip(cores.iter().copied()));
        }
        // A thread may have ended; without permission the scheduler decides.
        for thread in self.pinned.keys().filter(|t| !pins.contains_key(t)) {
            let _ = sys::pin(*thread, cores);
        }
        for (thread, core) in &pins {
            if self.pinned.get(thread) != Some(core) {
                let _ = sys::pin(*thread, &[*core]);
            }
        }
        self.pinned = pins;
    }

    /// The threads that worked since the last reading, in the order of their start; `None`: for too short a time.
    fn working(&mut self, process: Pid) -> Option<Vec<Pid>> {
        let threads = procfs::tasks(process).into_iter();
        let now: HashMap<Pid, u64> = threads.map(|t| (t, procfs::ran_ns(process, t))).collect();
        let before = std::mem::replace(&mut self.ran_ns, now);
        let used = |thread: &Pid| {
            let earlier = before.get(thread).copied().unwrap_or(0);
            self.ran_ns[thread].saturating_sub(earlier)
        };
        let most = self.ran_ns.keys().map(used).max().unwrap_or(0);
        if most < MIN_NS {
            return None;
        }
        let works = |thread: &&Pid| used(thread) as f64 >= WORKS * most as f64;
        let mut working: Vec<Pid> = self.ran_ns.keys().filter(works).copied().collect();
        working.sort();
        Some(working)
    }
}
