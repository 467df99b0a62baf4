// SPDX-License-Identifier: Apache-2.0
//! Resources that a program may leak when it starts other programs: open descriptors and child processes.

use std::fs;
use std::io;

/// Returns the number of open descriptors of this process.
pub fn descriptors() -> io::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count() - 1) // without the descriptor of the directory itself
}

/// Returns the number of child processes, including zombies.
pub fn children() -> io::Result<usize> {
    let mut count = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        // A thread may have exited in the meantime.
        let list = fs::read_to_string(thread?.path().join("children")).unwrap_or_default();
        count += list.split_whitespace().count();
    }
    Ok(count)
}
