// SPDX-License-Identifier: Apache-2.0
//! The CPU time of a private PostgreSQL server's exited processes, and the number of connections
//! that it accepted.
//!
//! `/proc` counts the CPU time of exited children in ticks of 10 ms. This is too coarse for
//! `connect`, where each operation is a process of 2 ms. A small library (`tally.c`) is preloaded
//! into the server's main process only. It counts the CPU time in microseconds in a page of shared
//! memory.

use crate::processes::EndedProcesses;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The library, built from `tally.c`.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tally.so"));

/// The page that `tally.c` writes.
#[repr(C)]
struct TallyPage {
    present: AtomicU64,
    sequence: AtomicU64,
    cpu_us: AtomicU64,
    accepted: AtomicU64,
}

/// The maximum number of attempts to get a consistent reading. An attempt fails if a process exits
/// in the meantime.
const MAX_READINGS: usize = 1000;

const BYTES: NonZeroUsize = NonZeroUsize::new(size_of::<TallyPage>()).unwrap();

/// The page that this process shares with the server.
pub(crate) struct SharedTally {
    page: NonNull<c_void>,
    file: File,
    library: File,
}

// SAFETY: the page consists of atomic numbers.
unsafe impl Send for SharedTally {}
// SAFETY: as above.
unsafe impl Sync for SharedTally {}

impl SharedTally {
    /// Creates the page and the library in memory only, because the scratch directory may be
    /// mounted `noexec`.
    pub fn new() -> io::Result<SharedTally> {
        let file = File::from(memfd_create("benchlab-tally", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(BYTES.get() as u64)?;
        let mut library = File::from(memfd_create("benchlab-tally.so", MFdFlags::MFD_CLOEXEC)?);
        library.write_all(LIBRARY)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: this is a new mapping of a file that has this length.
        let page = unsafe { mmap(None, BYTES, access, MapFlags::MAP_SHARED, &file, 0)? };
        Ok(SharedTally {
            page,
            file,
            library,
        })
    }

    /// Makes a command load the library into the program that it starts.
    pub fn preload_into(&self, command: &mut Command) {
        let files = [self.file.as_raw_fd(), self.library.as_raw_fd()];
        command.env("LD_PRELOAD", format!("/proc/self/fd/{}", files[1]));
        command.env("BENCHLAB_TALLY", format!("{} {}", files[0], files[1]));
        // SAFETY: only async-signal-safe calls are made between fork and exec.
        unsafe {
            command.pre_exec(move || {
                for file in files {
                    if libc::fcntl(file, libc::F_SETFD, 0) != 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
                Ok(())
            });
        }
    }

    /// Returns true if the server has loaded the library.
    pub fn is_loaded(&self) -> bool {
        self.page().present.load(SeqCst) != 0
    }

    fn page(&self) -> &TallyPage {
        // SAFETY: the page is mapped as long as this object lives, is zero-initialized, and is
        // large enough.
        unsafe { self.page.cast().as_ref() }
    }
}

impl EndedProcesses for SharedTally {
    /// Uses the previous reading if the server died during a write, which leaves the sequence
    /// number odd.
    fn cpu_ns_with(&self, living: &dyn Fn() -> Option<u64>) -> Option<u64> {
        let page = self.page();
        for _ in 0..MAX_READINGS {
            let sequence = page.sequence.load(SeqCst);
            let ended_us = page.cpu_us.load(SeqCst);
            let sum = living();
            if sequence.is_multiple_of(2) && page.sequence.load(SeqCst) == sequence {
                return Some(1000 * ended_us + sum?);
            }
            std::thread::yield_now();
        }
        Some(1000 * page.cpu_us.load(SeqCst) + living()?)
    }

    fn accepted(&self) -> u64 {
        self.page().accepted.load(SeqCst)
    }
}

impl Drop for SharedTally {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the page anymore.
        let _ = unsafe { munmap(self.page, BYTES.get()) };
    }
}
