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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_found_where_they_are_visible() {
        let comm = std::fs::read_to_string("/proc/2/comm").unwrap_or_default();
        let can_list = std::path::Path::new("/proc/2/task/2/children").exists();
        let is_visible = comm.trim() == "kthreadd" && can_list;
        assert_eq!(!ticks().is_empty(), is_visible);
    }

    #[test]
    fn helpers_are_recognized_by_their_names() {
        for helper in [
            "ksoftirqd/0",
            "kworker/0:1-events",
            "rcu_preempt",
            "jbd2/sda1-8",
        ] {
            assert!(is_helper(helper), "{helper}");
        }
        assert!(!is_helper("kthreadd"));
        let own = procfs::name(Pid::this());
        assert_eq!(own, own.trim());
        assert!(!own.is_empty());
    }
}
