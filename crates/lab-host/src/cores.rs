// SPDX-License-Identifier: Apache-2.0
//! The cores that this process may use.

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use std::io;
use std::sync::OnceLock;

/// Returns the cores that this process was allowed to use at the time of the first call, in
/// ascending order.
///
/// The first call must happen before benchlab pins itself to a core.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = allowed_set()?;
    Ok((0..CpuSet::count())
        .filter(|&core| set.is_set(core).unwrap_or(false))
        .collect())
}

/// Returns the allowed cores without `core`, or all of them if `core` is the only one. Returns an
/// empty list if the cores cannot be determined.
pub fn cores_except(core: Option<usize>) -> Vec<usize> {
    let all = allowed_cores().unwrap_or_default();
    let others: Vec<usize> = all.iter().copied().filter(|c| Some(*c) != core).collect();
    if others.is_empty() { all } else { others }
}

/// Returns the set of cores that this process was allowed to use at the time of the first call.
pub fn allowed_set() -> io::Result<CpuSet> {
    static FIRST: OnceLock<CpuSet> = OnceLock::new();
    if let Some(set) = FIRST.get() {
        return Ok(*set);
    }
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok(*FIRST.get_or_init(|| set))
}
