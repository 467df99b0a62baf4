// SPDX-License-Identifier: Apache-2.0
//! Finds directories for subjects to work in, and the block device that contains each directory.

use lab_host::disk::{disk_of, whole_disk};
use lab_host::not_a_disk;
use std::fs;
use std::io;
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The minimum free space in a directory for subjects, in bytes. Multiple subjects write to it
/// concurrently.
const MIN_FREE: u64 = 2 << 30;

/// A directory, with its filesystem and disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedDirectory {
    /// The path of the directory.
    pub folder: PathBuf,
    /// The type of the filesystem, such as `ext4`.
    pub filesystem: String,
    /// The name of the whole disk in `/sys/block`, or `None` if the filesystem has no disk.
    pub disk: Option<String>,
}

impl MountedDirectory {
    /// Examines a directory, which must be writable. For a block device, finds a writable directory
    /// on one of its filesystems.
    ///
    /// Returns an error with the reason if no writable directory is found.
    pub fn examine(path: &Path) -> Result<MountedDirectory, String> {
        let with_path = |e: io::Error| format!("{}: {e}", path.display());
        let folder = path.canonicalize().map_err(with_path)?;
        let text = fs::read_to_string("/proc/self/mountinfo").map_err(with_path)?;
        let mut mounts = mounts(&text);
        let metadata = fs::metadata(&folder).map_err(with_path)?;
        if metadata.file_type().is_block_device() {
            let mut device_mounts = mounts.iter().filter(|mount| mount.is_on(&folder));
            let folder = device_mounts.find_map(|mount| writable_inside(&mount.folder));
            let folder = folder.ok_or_else(|| {
                format!(
                    "{}: no writable filesystem of this device is mounted, and benchlab does not write to devices directly",
                    path.display()
                )
            })?;
            return MountedDirectory::examine(&folder);
        }
        mounts.retain(|mount| folder.starts_with(&mount.folder));
        // If multiple filesystems are mounted on one directory, only the last is visible.
        let mount = mounts.iter().max_by_key(|m| m.folder.as_os_str().len());
        let mount = mount.ok_or_else(|| format!("{}: not on any filesystem", folder.display()))?;
        if !metadata.is_dir() {
            return Err(format!("{}: not a directory", folder.display()));
        }
        if !is_writable(&folder) {
            return Err(format!("{}: not writable", folder.display()));
        }
        Ok(MountedDirectory {
            disk: disk_below(&folder, &mount.source),
            filesystem: mount.kind.clone(),
            folder,
        })
    }

    /// Returns a directory on every disk with a writable filesystem, and a directory in memory as
    /// the reference.
    pub fn all() -> Vec<MountedDirectory> {
        let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let on_disks = mounts(&text);
        let on_disks = on_disks.iter().filter(|m| m.source.starts_with("/dev/"));
        let mut directories: Vec<MountedDirectory> = Vec::new();
        for directory in on_disks.filter_map(|mount| usable(&mount.folder)) {
            if directory.disk.is_some()
                && !directories.iter().any(|other| other.disk == directory.disk)
            {
                directories.push(directory);
            }
        }
        directories.extend(usable(Path::new("/dev/shm")).filter(MountedDirectory::is_in_memory));
        directories
    }

    /// Returns true if the files in the directory are stored in memory rather than on a disk.
    pub fn is_in_memory(&self) -> bool {
        ["tmpfs", "ramfs"].contains(&&*self.filesystem)
    }

    /// Describes the filesystem and disk.
    pub fn description(&self) -> String {
        match &self.disk {
            None if self.is_in_memory() => format!("{} in memory", self.filesystem),
            None => format!("{} on an unknown disk", self.filesystem),
            Some(disk) => match not_a_disk(disk) {
                Some(reason) => format!("{} on {disk}: {reason}", self.filesystem),
                None => format!("{} on {disk}", self.filesystem),
            },
        }
    }
}

struct Mount {
    folder: PathBuf,
    kind: String,
    source: String,
}

impl Mount {
    /// Returns true if the filesystem is on a device or one of its partitions.
    fn is_on(&self, device: &Path) -> bool {
        let device_number = fs::metadata(device).ok().map(|m| m.st_rdev());
        let mount_number = fs::metadata(&self.source).ok().map(|m| m.st_rdev());
        let name = device.file_name().and_then(|name| name.to_str());
        (device_number.is_some() && device_number == mount_number)
            || (name.is_some() && disk_below(&self.folder, &self.source).as_deref() == name)
    }
}

/// Parses the mounts in `/proc/self/mountinfo` (proc(5)). An example of a line is `36 35 98:0 /mnt1
/// /mnt2 rw,noatime master:1 - ext3 /dev/root rw`.
fn mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        Some(Mount {
            folder: unescaped(before.split(' ').nth(4)?).into(),
            kind: after.next()?.to_owned(),
            source: unescaped(after.next()?),
        })
    };
    text.lines().filter_map(mount).collect()
}

/// Replaces escape sequences such as `\040`.
fn unescaped(word: &str) -> String {
    let escapes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let word = word.to_owned();
    escapes
        .iter()
        .fold(word, |word, (from, to)| word.replace(from, to))
}

/// Returns a directory on the filesystem mounted at `mounted`, if the filesystem has enough space.
fn usable(mounted: &Path) -> Option<MountedDirectory> {
    let folder = writable_inside(mounted)?;
    let free = nix::sys::statvfs::statvfs(&folder).ok()?;
    let free = free.blocks_available() * free.fragment_size();
    let directory = MountedDirectory::examine(&folder).ok()?;
    (free >= MIN_FREE).then_some(directory)
}

/// Returns a writable directory on the filesystem mounted at `mounted`. For `/`, this is the directory for large
/// temporary files.
fn writable_inside(mounted: &Path) -> Option<PathBuf> {
    let device = fs::metadata(mounted).ok()?.st_dev();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let candidates = [
        Some(PathBuf::from("/var/tmp")),
        Some(mounted.to_path_buf()),
        home,
    ];
    let candidates = candidates
        .into_iter()
        .flatten()
        .filter(|folder| folder.starts_with(mounted));
    let mut candidates =
        candidates.filter(|folder| fs::metadata(folder).is_ok_and(|m| m.st_dev() == device));
    candidates.find(|folder| is_writable(folder))
}

fn is_writable(folder: &Path) -> bool {
    use nix::unistd::{AccessFlags, access};
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

/// Returns the whole disk that contains a directory.
///
/// Looks for the directory's device number first, and then for the mount's source, because btrfs
/// uses different numbers.
fn disk_below(folder: &Path, source: &str) -> Option<String> {
    let of_folder = fs::metadata(folder).ok().map(|m| m.st_dev());
    let of_source = fs::metadata(source).ok().map(|m| m.st_rdev());
    let numbers = [of_folder, of_source].into_iter().flatten();
    let mut disks = numbers.filter_map(disk_of);
    lowest(disks.next()?)
}

/// Returns the underlying disk of a device that consists of exactly one other device, such as an
/// encrypted device.
fn lowest(disk: String) -> Option<String> {
    let slaves = fs::read_dir(Path::new("/sys/block").join(&disk).join("slaves"))
        .into_iter()
        .flatten()
        .flatten();
    let slaves: Vec<PathBuf> = slaves.map(|entry| entry.path()).collect();
    match slaves.as_slice() {
        [only] => lowest(whole_disk(only)?),
        _ => Some(disk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_as_proc_5_shows_them() {
        let text = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw\n\
                    37 35 0:5 / /dev rw shared:2 shared:3 - devtmpfs udev rw\nnonsense\n";
        let mounts = super::mounts(text);
        let mounts: Vec<_> = mounts
            .iter()
            .map(|m| (m.folder.to_str().unwrap(), &*m.kind, &*m.source))
            .collect();
        assert_eq!(
            mounts,
            [
                ("/mnt 2", "ext3", "/dev/root"),
                ("/dev", "devtmpfs", "udev")
            ]
        );
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        assert!(MountedDirectory::examine(Path::new("/nonexistent/folder")).is_err());
        assert!(MountedDirectory::examine(Path::new("/proc/version")).is_err());
    }
}
