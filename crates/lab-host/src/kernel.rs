// SPDX-License-Identifier: Apache-2.0
//! Kernel threads that work for subjects. Their CPU time does not count as foreign activity.

use crate::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;

/// Name prefixes of kernel threads that receive packets, allocate or free memory, or write files.
const HELPERS: [&str; 7] = [
    "ksoftirqd/",
    "kworker/",
    "rcu_",
    "kswapd",
    "khugepaged",
    "kcompactd",
    "jbd2/",
];

/// The parent of all kernel threads.
const KTHREADD: Pid = Pid::from_raw(2);

/// Returns true if the name belongs to a kernel thread that works for subjects.
pub fn is_helper(name: &str) -> bool {
    HELPERS.iter().any(|helper| name.starts_with(helper))
}

/// Returns the CPU time of each kernel thread that works for subjects, in ticks.
pub fn ticks() -> HashMap<Pid, u64> {
    if procfs::name(KTHREADD) != "kthreadd" {
        return HashMap::new();
    }
    let threads = procfs::children(KTHREADD).into_iter();
    let helpers = threads.filter(|&pid| is_helper(&procfs::name(pid)));
    helpers.map(|pid| (pid, procfs::ticks(pid))).collect()
}
