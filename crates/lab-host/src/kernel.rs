// SPDX-License-Identifier: Apache-2.0
//! Kernel threads that work for subjects: what they use is no foreign load.

use crate::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;

/// How the names begin of kernel threads that take in packets, find and free memory, and write files.
const HELPERS: [&str; 7] = [
    "ksoftirqd/",
    "kworker/",
    "rcu_",
    "kswapd",
    "khugepaged",
    "kcompactd",
    "jbd2/",
];

/// The parent of all threads of the kernel.
const KTHREADD: Pid = Pid::from_raw(2);

/// True if a process of this name is such a thread.
pub fn is_helper(name: &str) -> bool {
    HELPERS.iter().any(|helper| name.starts_with(helper))
}

/// CPU time of each such thread, in ticks.
pub fn ticks() -> HashMap<Pid, u64> {
    if procfs::name(KTHREADD) != "kthreadd" {
        return HashMap::new();
    }
    let threads = procfs::children(KTHREADD).into_iter();
    let helpers = threads.filter(|&pid| is_helper(&procfs::name(pid)));
    helpers.map(|pid| (pid, procfs::ticks(pid))).collect()
}
