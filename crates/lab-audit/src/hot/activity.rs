// SPDX-License-Identifier: Apache-2.0
//! Counts of opens, reads and writes by directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The maximum number of directories that are reported.
pub const MAX_DIRECTORIES: usize = 20;
/// The number of seconds in a day.
pub const DAY: f64 = 86_400.0;

/// The activity of a directory's files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// The number of times that files were opened.
    pub opens: f64,
    /// The number of bytes read.
    pub read: f64,
    /// The number of bytes written.
    pub written: f64,
}

/// Activity by directory.
pub type Activities = HashMap<PathBuf, Activity>;

/// The files to watch, and the rule that maps each file to a directory.
#[derive(Clone, Debug)]
pub struct WatchedFolders {
    pub(super) under: PathBuf,
    pub(super) mounts: Vec<PathBuf>,
}

impl WatchedFolders {
    /// Selects all files below a directory that are on the given filesystems.
    pub fn new(under: &Path, mounts: Vec<PathBuf>) -> WatchedFolders {
        WatchedFolders {
            under: under.to_owned(),
            mounts,
        }
    }

    /// Returns the directory that a file's activity counts toward, or `None` if the file is not
    /// watched.
    ///
    /// The directory consists of the first three components of the file's path. If the watched
    /// directory or the mount point is deeper, the result is one level below the deeper of the two,
    /// because a mount point itself cannot be moved.
    pub fn folder(&self, path: &Path) -> Option<PathBuf> {
        let parent = path
            .parent()
            .filter(|parent| parent.starts_with(&self.under))?;
        let starts = self.mounts.iter().filter(|mount| parent.starts_with(mount));
        let starts = starts
            .chain([&self.under])
            .map(|path| path.components().count());
        let names = starts.max().unwrap_or(0) + 1;
        Some(parent.components().take(names.max(4)).collect())
    }

    /// Returns the directories in which a search finds all watched files.
    pub fn starts(&self) -> Vec<PathBuf> {
        if self.under.as_path() == Path::new("/") {
            self.mounts.clone()
        } else {
            vec![self.under.clone()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_below_its_mount_point() {
        let mounts = ["/", "/srv/shop/data"].map(PathBuf::from);
        let scope = WatchedFolders::new(Path::new("/srv"), mounts.into());
        let folder_of = |path: &str| {
            scope
                .folder(Path::new(path))
                .map(|folder| folder.display().to_string())
        };
        assert_eq!(
            folder_of("/srv/shop/logs/old/a").as_deref(),
            Some("/srv/shop/logs")
        );
        assert_eq!(
            folder_of("/srv/shop/data/tables/old/a").as_deref(),
            Some("/srv/shop/data/tables")
        );
        assert_eq!(
            folder_of("/srv/shop/data/a").as_deref(),
            Some("/srv/shop/data")
        );
        assert_eq!(folder_of("/home/a"), None);
    }
}
