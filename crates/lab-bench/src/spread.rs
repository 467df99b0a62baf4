// SPDX-License-Identifier: Apache-2.0
//! The threads that work at once in a subject, each kept on a core of its own, where there are cores enough. The
//! scheduler moves one of two away from a shared core only after some milliseconds: a batch is over by then, and its
//! threads ran one after the other.

use crate::sys;
use lab_services::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;

/// A thread works if it used at least this part of the CPU time of the one that used most: helpers do not.
const WORKS: f64 = 0.5;

/// Where nobody used more CPU time than this, the run does not tell workers from the thread that waits for them.
const SHORTEST_NS: u64 = 1_000_000;

/// Where the threads of a process work.
#[derive(Default)]
pub struct Spread {
    /// CPU time of each thread at the last look.
    ran_ns: HashMap<Pid, u64>,
    /// Threads that are kept on a core.
    kept: HashMap<Pid, usize>,
}

impl Spread {
    /// Notes what the threads of a process did so far.
    pub fn new(process: Pid) -> Spread {
        let threads = procfs::tasks(process).into_iter();
        Spread {
            ran_ns: threads.map(|t| (t, procfs::ran_ns(process, t))).collect(),
            kept: HashMap::new(),
        }
    }

    /// After a run: keeps the threads that worked in it apart, and frees those that no longer work.
    pub fn after_run(&mut self, process: Pid, cores: &[usize]) {
        let mut wanted = HashMap::new();
        let Some(working) = self.working(process) else {
            return;
        };
        if (2..=cores.len()).contains(&working.len()) {
            wanted.extend(working.into_iter().zip(cores.iter().copied()));
        }
        // A thread may have ended; where it is not allowed the scheduler decides.
        for thread in self.kept.keys().filter(|t| !wanted.contains_key(t)) {
            let _ = sys::pin(*thread, cores);
        }
        for (thread, core) in &wanted {
            if self.kept.get(thread) != Some(core) {
                let _ = sys::pin(*thread, &[*core]);
            }
        }
        self.kept = wanted;
    }

    /// The threads that worked since the last look, in the order in which they were started; `None`: too short.
    fn working(&mut self, process: Pid) -> Option<Vec<Pid>> {
        let threads = procfs::tasks(process).into_iter();
        let now: HashMap<Pid, u64> = threads.map(|t| (t, procfs::ran_ns(process, t))).collect();
        let before = std::mem::replace(&mut self.ran_ns, now);
        let used = |thread: &Pid| {
            let earlier = before.get(thread).copied().unwrap_or(0);
            self.ran_ns[thread].saturating_sub(earlier)
        };
        let most = self.ran_ns.keys().map(used).max().unwrap_or(0);
        if most < SHORTEST_NS {
            return None;
        }
        let works = |thread: &&Pid| used(thread) as f64 >= WORKS * most as f64;
        let mut working: Vec<Pid> = self.ran_ns.keys().filter(works).copied().collect();
        working.sort();
        Some(working)
    }
}
