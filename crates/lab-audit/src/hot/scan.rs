// SPDX-License-Identifier: Apache-2.0
//! A scan of file times, for systems where the kernel reports no events. `find -amin` and `find -mmin` use the same
//! times.

use super::activity::{Activities, WatchedFolders};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The maximum duration of a scan.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Counts the files that were read or written after `began`. Returns false if the scan timed out.
pub fn scan(began: SystemTime, scope: &WatchedFolders, activities: &mut Activities) -> bool {
    let since = began
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_secs() as i64);
    let limit = Instant::now() + TIMEOUT;
    scope.starts().iter().all(|start| {
        walk(start, limit, &mut |path, metadata| {
            let Some(folder) = scope.folder(path) else {
                return;
            };
            let (read, written) = (metadata.atime() >= since, metadata.mtime() >= since);
            if read || written {
                let activity = activities.entry(folder).or_default();
                activity.opens += 1.0;
                activity.read += if read { metadata.size() as f64 } else { 0.0 };
                activity.written += if written { metadata.size() as f64 } else { 0.0 };
            }
        })
    })
}

/// Returns the size of a directory in bytes, excluding other filesystems mounted below the
/// directory.
///
/// Returns `None` if there are too many files to count.
pub fn size(folder: &Path) -> Option<u64> {
    let mut bytes = 0;
    let limit = Instant::now() + Duration::from_secs(3);
    walk(folder, limit, &mut |_, metadata| {
        bytes += metadata.blocks() * 512
    })
    .then_some(bytes)
}

/// Calls `file` for every file below a directory on the same filesystem.
///
/// Symbolic links are not followed. Returns false if the walk timed out.
fn walk(start: &Path, limit: Instant, file: &mut dyn FnMut(&Path, &fs::Metadata)) -> bool {
    let Ok(device) = fs::symlink_metadata(start).map(|metadata| metadata.dev()) else {
        return true;
    };
    let mut folders: Vec<PathBuf> = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        if Instant::now() > limit {
            return false;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() && metadata.dev() == device {
                folders.push(entry.path());
            } else if metadata.is_file() {
                file(&entry.path(), &metadata);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    /// Creates a file with the given access and modification times.
    fn file(path: &Path, bytes: usize, read: SystemTime, written: SystemTime) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, vec![0; bytes]).expect("written");
        let times = FileTimes::new().set_accessed(read).set_modified(written);
        let file = File::options().write(true).open(path).expect("a file");
        file.set_times(times).expect("times");
    }

    #[test]
    fn file_times_show_reads_and_writes() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let under = folder.path();
        let began = SystemTime::now();
        let (before, after) = (
            began - Duration::from_secs(100),
            began + Duration::from_secs(5),
        );
        file(&under.join("hot/a"), 3000, after, before);
        file(&under.join("hot/b"), 500, after, before);
        file(&under.join("log/new"), 7000, before, after);
        file(&under.join("idle/old"), 9000, before, before);
        let scope = WatchedFolders::new(under, vec![under.to_owned()]);
        let mut activities = Activities::new();
        assert!(
            scan(began, &scope, &mut activities),
            "the scan must be complete"
        );
        let activity_of = |name: &str| {
            let activity = activities.get(&under.join(name));
            activity.map(|a| (a.opens, a.read, a.written))
        };
        assert_eq!(activity_of("hot"), Some((2.0, 3500.0, 0.0)));
        assert_eq!(activity_of("log"), Some((1.0, 0.0, 7000.0)));
        assert_eq!(activity_of("idle"), None);
    }
}
