// SPDX-License-Identifier: Apache-2.0
//! A measured target: a scratch file in a directory, or a device or file that is opened read-only.

use crate::wording;
use lab_host::disk::disk_of;
use lab_host::{Medium, Root};
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The size of the scratch file in bytes, larger than the caches of most disks.
pub const SCRATCH: u64 = 512 << 20;
/// The block size for sequential reads and for filling the scratch file, in bytes.
pub const LARGE: usize = 1 << 20;
/// The block size for random reads and for writes, in bytes.
pub const SMALL: usize = 4096;

/// A file or device that is opened for direct I/O.
pub struct StorageTarget {
    /// The name as given by the user.
    pub name: String,
    /// The underlying disk, such as `sda`, or `None` if it cannot be determined.
    pub disk: Option<String>,
    /// `nvme`, `flash`, `spinning`, `virtual`, `file`, `memory`, or `unknown`.
    pub medium: String,
    /// True if the target is benchlab's own scratch file, which may be written.
    pub scratch: bool,
    /// The size in bytes.
    pub size: u64,
    pub(super) file: File,
}

/// A buffer aligned for direct I/O.
pub struct Aligned {
    bytes: Vec<u8>,
    begin: usize,
    length: usize,
}

impl Aligned {
    /// Allocates a buffer of `length` bytes.
    pub fn new(length: usize) -> Aligned {
        let bytes = vec![0; length + SMALL];
        let begin = bytes.as_ptr().align_offset(SMALL);
        Aligned {
            bytes,
            begin,
            length,
        }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.begin + self.length]
    }
}

impl StorageTarget {
    /// Opens a target.
    ///
    /// For a directory, creates a scratch file of `scratch_bytes` bytes that disappears when the process exits. Any
    /// other target is opened read-only.
    ///
    /// # Errors
    ///
    /// Returns a message if the target cannot be opened, does not support direct I/O, or has too little free space.
    pub fn open(path: &Path, scratch_bytes: u64) -> Result<StorageTarget, String> {
        let error_at_path = |e: io::Error| format!("{}: {}", path.display(), error_text(&e));
        let metadata = path.metadata().map_err(error_at_path)?;
        let scratch = metadata.is_dir();
        let device = if scratch || metadata.rdev() == 0 {
            metadata.dev()
        } else {
            metadata.rdev()
        };
        let disk = disk_of(device);
        let file = if scratch {
            scratch_file(path, scratch_bytes)?
        } else {
            OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_DIRECT)
                .open(path)
                .map_err(error_at_path)?
        };
        let size = (&file).seek(SeekFrom::End(0)).map_err(error_at_path)?;
        if size < 4 * LARGE as u64 {
            return Err(wording::unusable(
                &path.display().to_string(),
                wording::TOO_SMALL,
            ));
        }
        let mut probe = Aligned::new(SMALL);
        file.read_exact_at(probe.as_mut_slice(), 0)
            .map_err(error_at_path)?;
        Ok(StorageTarget {
            name: path.display().to_string(),
            medium: medium_of(disk.as_deref(), path),
            disk,
            scratch,
            size,
            file,
        })
    }
}

fn error_text(e: &io::Error) -> String {
    match e.raw_os_error() {
        Some(libc::EINVAL) => wording::NO_DIRECT_IO.into(),
        Some(libc::EACCES | libc::EPERM) => wording::UNREADABLE.into(),
        _ => e.to_string(),
    }
}

/// Creates an unnamed file (O_TMPFILE) filled with incompressible data.
fn scratch_file(folder: &Path, bytes: u64) -> Result<File, String> {
    let error_at_path = |e: io::Error| format!("{}: {}", folder.display(), error_text(&e));
    // A filesystem that cannot hold user files, such as /proc, reports a missing file.
    let unwritable =
        |e: io::Error| wording::unusable(&folder.display().to_string(), &wording::unwritable(&e));
    let unnamed = tempfile::tempfile_in(folder).map_err(unwritable)?;
    let free = free_bytes(&unnamed).map_err(error_at_path)?;
    if free < 2 * bytes {
        let [needed, free] = [2 * bytes, free].map(|bytes| bytes >> 20);
        let reason = wording::too_little_space(free, needed);
        return Err(wording::unusable(&folder.display().to_string(), &reason));
    }
    let reopened = PathBuf::from(format!("/proc/self/fd/{}", unnamed.as_raw_fd()));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(reopened)
        .map_err(error_at_path)?;
    let (mut random, mut block) = (SmallRng::seed_from_u64(1), Aligned::new(LARGE));
    for at in (0..bytes).step_by(LARGE) {
        random.fill_bytes(block.as_mut_slice());
        file.write_all_at(block.as_mut_slice(), at)
            .map_err(error_at_path)?;
    }
    file.sync_all().map_err(error_at_path)?;
    Ok(file)
}

fn free_bytes(file: &File) -> io::Result<u64> {
    let space = nix::sys::statvfs::fstatvfs(file)?;
    Ok(space.blocks_available() * space.fragment_size())
}

fn medium_of(disk: Option<&str>, path: &Path) -> String {
    const TMPFS: i64 = 0x0102_1994;
    let kind = nix::sys::statfs::statfs(path).map(|s| s.filesystem_type().0);
    match disk {
        None if kind == Ok(TMPFS) => "memory".into(),
        None => "unknown".into(),
        Some(disk) => Medium::detect(&Root::live(), disk).word().into(),
    }
}
