// SPDX-License-Identifier: Apache-2.0
//! A directory for a run's target files or worktrees. It is removed at the end of the run.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

const PREFIX: &str = "benchlab-";
const LOCK: &str = "in-use";
const TEMPORARY: &str = "temporary";
/// The pause between two attempts to remove a directory.
const PAUSE: Duration = Duration::from_millis(50);

/// The scratch directory of a run. Dropping it removes the directory. If benchlab is killed, the
/// next run removes it.
pub struct Scratch {
    folder: PathBuf,
    memory: bool,
    _lock: Flock<File>,
}

impl Scratch {
    /// Creates a directory in `parent`. If `parent` is `None`, creates it in shared memory or in
    /// the temporary directory.
    pub fn new(parent: Option<&Path>) -> io::Result<Scratch> {
        let shared = Path::new("/dev/shm");
        let parent = match parent {
            Some(parent) => parent.to_path_buf(),
            None if has_space(shared) => shared.to_path_buf(),
            None => std::env::temp_dir(),
        };
        clear_abandoned(&parent);
        fs::create_dir_all(&parent)?;
        let (folder, lock) = create(&parent)?;
        fs::create_dir(folder.join(TEMPORARY))?;
        let memory = in_memory(&folder);
        Ok(Scratch {
            folder,
            memory,
            _lock: lock,
        })
    }

    /// Returns the path of the directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the subdirectory for temporary files of subjects. Files of killed subjects stay there until the run
    /// ends.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join(TEMPORARY)
    }

    /// Returns true if the directory is in memory, so that a commit does not wait for a disk.
    pub fn in_memory(&self) -> bool {
        self.memory
    }

    /// Returns true if a path is in a scratch directory that no longer exists. Checks only scratch
    /// directories in the parent of this directory.
    pub fn is_abandoned(&self, path: &Path) -> bool {
        let is_sibling = |folder: &&Path| folder.parent() == self.folder.parent();
        let folder = path.ancestors().find(is_sibling);
        folder.is_some_and(|folder| is_ours(folder) && !folder.exists())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes a directory. Tries repeatedly, because a killed process may still complete a system call
/// that creates a file.
fn remove(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => sleep(PAUSE),
            Err(_) => break,
        }
    }
    // This file makes the next run remove the directory.
    let _ = File::create(folder.join(LOCK));
}

/// Creates a directory and locks it.
///
/// Another benchlab process may remove the directory before it is locked. In this case, tries the
/// next name.
fn create(parent: &Path) -> io::Result<(PathBuf, Flock<File>)> {
    for number in 0.. {
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        }
        let lock = File::create(folder.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, e)| e)?;
        if lock.metadata()?.nlink() > 0 {
            return Ok((folder, lock));
        }
    }
    unreachable!("there are infinitely many numbers")
}

/// Removes the scratch directories of killed runs. The directories of killed runs are those that no
/// process has locked.
fn clear_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.map(|e| e.path()).filter(|f| is_ours(f)) {
        let Ok(lock) = File::open(folder.join(LOCK)) else {
            continue;
        };
        let Ok(held) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
            continue;
        };
        // A lock file without links belongs to a run that has just ended. The directory of this name may already belong
        // to another run.
        if held.metadata().is_ok_and(|m| m.nlink() > 0) {
            // Servers leave processes and files in other locations, too.
            lab_services::clear(&folder);
            remove(&folder);
        }
    }
}

fn is_ours(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|n| n.to_str());
    name.is_some_and(|n| n.starts_with(PREFIX))
}

/// Returns true if a directory is writable and has 256 MiB free.
fn has_space(folder: &Path) -> bool {
    use nix::unistd::{AccessFlags, access};
    let free = nix::sys::statvfs::statvfs(folder).map(|s| s.blocks_available() * s.fragment_size());
    free.is_ok_and(|bytes| bytes >= 256 << 20) && access(folder, AccessFlags::W_OK).is_ok()
}

fn in_memory(folder: &Path) -> bool {
    use nix::sys::statfs::{TMPFS_MAGIC, statfs};
    statfs(folder).is_ok_and(|s| s.filesystem_type() == TMPFS_MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_created_during_removal_are_removed_too() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(Some(parent.path())).unwrap();
        let (folder, first) = (scratch.folder().to_path_buf(), scratch.folder().join("0"));
        let writer = std::thread::spawn(move || {
            let write = |n: u32| fs::write(folder.join(n.to_string()), "x").is_ok();
            (0..5_000).take_while(|&n| write(n)).count()
        });
        while !first.exists() {}
        drop(scratch);
        writer.join().unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    /// Creates directories in multiple threads while other threads remove abandoned directories.
    #[test]
    fn concurrent_starts_get_different_directories() {
        let parent = tempfile::tempdir().unwrap();
        let work = || {
            for _ in 0..200 {
                let scratch = Scratch::new(Some(parent.path())).unwrap();
                fs::write(scratch.folder().join("database"), "x").unwrap();
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn paths_in_removed_directories_are_abandoned() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(Some(parent.path())).unwrap();
        let is_abandoned = |path: &str| scratch.is_abandoned(&parent.path().join(path));
        assert!(is_abandoned("benchlab-1-0/a"));
        assert!(!is_abandoned("other/a"));
        assert!(!is_abandoned("deeper/benchlab-1-0/a"));
        assert!(!scratch.is_abandoned(&scratch.folder().join("a")));
        assert!(!scratch.is_abandoned(Path::new("/benchlab-1-0/a")));
    }
}
