// SPDX-License-Identifier: Apache-2.0
//! Pins each thread that works concurrently in a subject to its own core, if there are enough
//! cores.
//!
//! When two threads share a core, the scheduler needs some milliseconds to move one of them away.
//! By then, a batch may be over, with its threads having run one after another.

use crate::host::sys;
use lab_host::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;

/// The minimum CPU time of a working thread, as a fraction of the busiest thread's CPU time. Helper
/// threads use less.
const MIN_WORKING_FRACTION: f64 = 0.5;

/// The minimum CPU time of the busiest thread, in ns. Below it, working threads cannot be
/// distinguished from the thread that waits for them.
const MIN_NS: u64 = 1_000_000;

/// The CPU times and cores of a process's threads.
#[derive(Default)]
pub struct ThreadSpread {
    /// The CPU time of each thread at the last reading.
    ran_ns: HashMap<Pid, u64>,
    /// Threads that are pinned to a core.
    pinned: HashMap<Pid, usize>,
}

impl ThreadSpread {
    /// Reads the CPU times of a process's threads so far.
    pub fn new(process: Pid) -> ThreadSpread {
        let threads = procfs::tasks(process).into_iter();
        ThreadSpread {
            ran_ns: threads.map(|t| (t, procfs::ran_ns(process, t))).collect(),
            pinned: HashMap::new(),
        }
    }

    /// Pins the threads that worked in the last run to separate cores, and unpins threads that no longer work.
    pub fn after_run(&mut self, process: Pid, cores: &[usize]) {
        let mut pins = HashMap::new();
        let Some(working) = self.working(process) else {
            return;
        };
        if (2..=cores.len()).contains(&working.len()) {
            pins.extend(working.into_iter().zip(cores.iter().copied()));
        }
        // Ignore errors: a thread may have exited, and without permission the scheduler decides.
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

    /// Returns the threads that worked since the last reading, in the order of their start.
    ///
    /// Returns `None` if they used too little CPU time to be identified.
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
        let works = |thread: &&Pid| used(thread) as f64 >= MIN_WORKING_FRACTION * most as f64;
        let mut working: Vec<Pid> = self.ran_ns.keys().filter(works).copied().collect();
        working.sort();
        Some(working)
    }
}
