// SPDX-License-Identifier: Apache-2.0
//! Errors while reading or writing run files, with messages that explain what to do.

use std::path::{Path, PathBuf};

/// An error while reading or writing a run file. A failed read leaves the file unchanged.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error("{0}: no such file; `benchlab list --runs` shows the runs in runs/")]
    Missing(PathBuf),
    /// The file is not a run file.
    #[error("{0} is not a run file: {1}. The file was not changed")]
    NotARun(PathBuf, String),
    /// The file has a newer version.
    #[error(
        "{0} has run file version {1}, but this benchlab reads versions up to {2}: use a newer benchlab. The \
         file was not changed"
    )]
    Newer(PathBuf, i64, i64),
    /// The file is truncated or damaged.
    #[error(
        "{0} is damaged or truncated: {1}. The file was not changed; `sqlite3 FILE .recover` may recover \
         some of its data"
    )]
    Damaged(PathBuf, String),
    /// Another benchlab process is writing the file.
    #[error("another benchlab process is writing {0}: wait until it finishes, or stop it")]
    Busy(PathBuf),
    /// The disk is full. The file contains everything up to the last complete sample.
    #[error(
        "the disk is full: {0} contains everything up to the last complete sample. Free some space, \
         then continue with `benchlab resume {0}`"
    )]
    Full(PathBuf),
    /// The disk is full, and no file was created.
    #[error("{0}: the disk is full; free some space, or use another directory")]
    NoRoom(PathBuf),
    /// Any other error.
    #[error("{0}: {1}")]
    Other(PathBuf, String),
}

impl StoreError {
    pub(crate) fn new(path: &Path, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::*;
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(DiskFull) => StoreError::Full(path),
            // A full filesystem can also cause this kind of failed write.
            Some(SystemIoFailure) if no_room(&path) => StoreError::Full(path),
            Some(NotADatabase) => StoreError::NotARun(path, "it is not an SQLite database".into()),
            Some(DatabaseCorrupt) => StoreError::Damaged(path, error.to_string()),
            Some(DatabaseBusy | DatabaseLocked) => StoreError::Busy(path),
            _ => StoreError::Other(path, error.to_string()),
        }
    }
}

fn no_room(path: &Path) -> bool {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    nix::sys::statvfs::statvfs(folder)
        .is_ok_and(|s| s.blocks_available() * s.fragment_size() < 65_536)
}
