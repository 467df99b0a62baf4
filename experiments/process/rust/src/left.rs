// SPDX-License-Identifier: Apache-2.0
//! Resources that a program may leak when it starts others: open descriptors and children.

use std::fs;
use std::io;

/// Open descriptors of this process.
pub fn descriptors() -> io::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count() - 1) // without the folder's own
}

/// Its child processes, zombies included.
pub fn children() -> io::Result<usize> {
    let mut count = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        // A thread may have ended since.
        let list = fs::read_to_string(thread?.path().join("children")).unwrap_or_default();
        count += list.split_whitespace().count();
    }
    Ok(count)
}
