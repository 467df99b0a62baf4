// SPDX-License-Identifier: Apache-2.0
//! Files of 4 KiB blocks, each of which contains its own number.

use lab_kit::Failure;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The size of a block in bytes.
pub const BLOCK: usize = 4096;
/// The size of a large read or write in bytes.
pub const LARGE: usize = 1 << 20;
/// The number of blocks in the large file: 256 MiB.
pub const BLOCKS: u64 = 1 << 16;

/// Memory that is aligned to a block boundary of any disk, as O_DIRECT requires.
pub struct Buffer(*mut u8, usize);

// SAFETY: the buffer owns its memory.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Allocates a zeroed buffer, whose size must be a multiple of 4 KiB.
    pub fn new(bytes: usize) -> Buffer {
        let layout = Layout::from_size_align(bytes, BLOCK).expect("sizes are small");
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Buffer(memory, bytes)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory belongs to this buffer, is initialized, and has this size.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, with an exclusive borrow.
        unsafe { std::slice::from_raw_parts_mut(self.0, self.1) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let layout = Layout::from_size_align(self.1, BLOCK).expect("as in `new`");
        // SAFETY: the memory was allocated with this layout.
        unsafe { dealloc(self.0, layout) }
    }
}

/// Mixes a number with SplitMix64, so that consecutive numbers yield positions all over a file.
pub fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Fills `memory` with blocks that are numbered from `first`. A block consists of incompressible
/// words, and has its number at both ends.
pub fn fill(memory: &mut [u8], first: u64) {
    for (block, number) in memory.chunks_exact_mut(BLOCK).zip(first..) {
        for (word, salt) in block.chunks_exact_mut(8).zip(number << 9..) {
            word.copy_from_slice(&mixed(salt).to_le_bytes());
        }
        block[..8].copy_from_slice(&number.to_le_bytes());
        block[BLOCK - 8..].copy_from_slice(&number.to_le_bytes());
    }
}

/// Returns an error unless both ends of each block contain its number. The first block has the
/// number `first`.
pub fn verify(memory: &[u8], first: u64) -> Result<(), Failure> {
    for (block, number) in memory.chunks_exact(BLOCK).zip(first..) {
        let own = number.to_le_bytes();
        if block[..8] != own || block[BLOCK - 8..] != own {
            return Err(Failure::failed(format!("block {number} has wrong content")));
        }
    }
    Ok(())
}

/// Returns the path of the large file `name` in a directory, creating the file if it is missing.
pub fn large_file(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let (path, making) = (folder.join(name), folder.join(format!("{name}.new")));
    if !path.exists() {
        let mut file = File::create(&making)?;
        let mut buffer = Buffer::new(LARGE);
        let in_buffer = (LARGE / BLOCK) as u64;
        for first in (0..BLOCKS).step_by(in_buffer as usize) {
            fill(&mut buffer, first);
            file.write_all(&buffer)?;
        }
        file.sync_all()?;
        fs::rename(making, &path)?;
    }
    Ok(path)
}

/// The method of bypassing the page cache when a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncached {
    /// The file system supports O_DIRECT.
    Direct,
    /// The file system does not support O_DIRECT: the file's pages are dropped before reads.
    Forgotten,
}

impl Uncached {
    /// Returns the name of the method, as reported to benchlab.
    pub fn name(self) -> &'static str {
        match self {
            Uncached::Direct => "O_DIRECT",
            Uncached::Forgotten => "fadvise",
        }
    }
}

/// Opens a file with O_DIRECT if the file system supports it.
pub fn open_uncached(options: &mut OpenOptions, path: &Path) -> io::Result<(File, Uncached)> {
    match options.custom_flags(libc::O_DIRECT).open(path) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
            let file = options.custom_flags(0).open(path)?;
            Ok((file, Uncached::Forgotten))
        }
        opened => Ok((opened?, Uncached::Direct)),
    }
}

/// Drops the written pages of a file from the page cache, so that the next read waits for the disk.
pub fn forget(file: &File) {
    // SAFETY: a system call on an open file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_by_its_number() {
        let mut buffer = Buffer::new(2 * BLOCK);
        assert_eq!(buffer.as_ptr() as usize % BLOCK, 0);
        fill(&mut buffer, 7);
        assert!(verify(&buffer, 7).is_ok());
        assert!(verify(&buffer, 8).is_err());
        buffer[2 * BLOCK - 1] ^= 1;
        assert!(verify(&buffer, 7).is_err(), "a torn block");
    }
}
