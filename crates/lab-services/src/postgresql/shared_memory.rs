// SPDX-License-Identifier: Apache-2.0
//! Removes the shared memory that a killed or aborted PostgreSQL server could not release.
//!
//! PostgreSQL itself finds the memory in the same way when it is restarted in the same data
//! directory.

use std::fs::{self, Metadata};
use std::mem::size_of;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The content of the small System V segment that identifies the data directory (PostgreSQL's
/// source code, pg_shmem.h).
#[repr(C)]
#[derive(Clone, Copy)]
struct SegmentHeader {
    magic: i32,
    creator: i32,
    total: usize,
    free: usize,
    /// The ID of the segment in `/dev/shm` that lists all other segments.
    control: u32,
    index: usize,
    device: u64,
    inode: u64,
}

const MAGIC: i32 = 679_834_894;

/// Removes the shared memory segments that belong to a data directory. All processes of the server
/// must have exited.
pub(crate) fn remove(data: &Path) {
    let Ok(data) = fs::metadata(data) else {
        return;
    };
    for id in unused_segments(data.uid()) {
        let Some(header) = header(id) else { continue };
        if header.magic == MAGIC && (header.device, header.inode) == (data.dev(), data.ino()) {
            remove_listed(header.control, &data);
            // SAFETY: the call accesses no memory.
            unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}

/// Returns a user's System V segments that are large enough and not attached to any process.
fn unused_segments(owner: u32) -> Vec<i32> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let lines = table.lines().skip(1).filter_map(|line| {
        let columns: Vec<u64> = line
            .split_whitespace()
            .filter_map(|c| c.parse().ok())
            .collect();
        // Key, ID, permissions, size, creator, last user, attached, owner: proc_sysvipc(5).
        let &[_, id, _, size, _, _, attached, user, ..] = &columns[..] else {
            return None;
        };
        let is_candidate = size as usize >= size_of::<SegmentHeader>()
            && attached == 0
            && user == u64::from(owner);
        is_candidate.then_some(id as i32)
    });
    lines.collect()
}

fn header(id: i32) -> Option<SegmentHeader> {
    // SAFETY: the segment is attached at an address chosen by the system, read within its size, and detached.
    unsafe {
        let address = libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY);
        if address as isize == -1 {
            return None;
        }
        let header = address.cast::<SegmentHeader>().read();
        libc::shmdt(address);
        Some(header)
    }
}

/// Removes the segment that lists other segments, and the listed segments that belong to the same
/// user.
///
/// The length of a list entry depends on the version, so every number in the list is treated as an
/// ID. IDs are random, so other segments are not removed by chance.
fn remove_listed(control: u32, data: &Metadata) {
    let path = |number: u32| PathBuf::from(format!("/dev/shm/PostgreSQL.{number}"));
    let list = fs::read(path(control)).unwrap_or_default();
    let numbers = list
        .chunks_exact(4)
        .map(|four| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]));
    for number in numbers.chain([control]).filter(|&number| number != 0) {
        if fs::metadata(path(number)).is_ok_and(|segment| segment.uid() == data.uid()) {
            let _ = fs::remove_file(path(number));
        }
    }
}
