// SPDX-License-Identifier: Apache-2.0
//! A folder for a run's target files, gone with the run.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "benchlab-";
const LOCK: &str = "in-use";

/// A run's folder. Dropping it removes it; what a killed lab left is removed by the next one.
pub struct Scratch {
    folder: PathBuf,
    memory: bool,
    _lock: Flock<File>,
}

impl Scratch {
    /// Makes a folder under `parent`, or else in shared memory, or else in the temporary folder.
    pub fn new(parent: Option<&Path>) -> io::Result<Scratch> {
        let shared = Path::new("/dev/shm");
        let parent = match parent {
            Some(parent) => parent.to_path_buf(),
            None if roomy(shared) => shared.to_path_buf(),
            None => std::env::temp_dir(),
        };
        clear_abandoned(&parent);
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let lock = File::create(folder.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e)?;
        let memory = in_memory(&folder);
        Ok(Scratch {
            folder,
            memory,
            _lock: lock,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it is in memory, so that a commit waits for no disk.
    pub fn in_memory(&self) -> bool {
        self.memory
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders of labs that were killed: theirs is a lock that nobody holds.
fn clear_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry
            .file_name()
            .to_str()
            .is_some_and(|n| n.starts_with(PREFIX));
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        if ours && Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// At least 256 MiB free, and writable.
fn roomy(folder: &Path) -> bool {
    use nix::unistd::{AccessFlags, access};
    let free = nix::sys::statvfs::statvfs(folder).map(|s| s.blocks_available() * s.fragment_size());
    free.is_ok_and(|bytes| bytes >= 256 << 20) && access(folder, AccessFlags::W_OK).is_ok()
}

fn in_memory(folder: &Path) -> bool {
    use nix::sys::statfs::{TMPFS_MAGIC, statfs};
    statfs(folder).is_ok_and(|s| s.filesystem_type() == TMPFS_MAGIC)
}
