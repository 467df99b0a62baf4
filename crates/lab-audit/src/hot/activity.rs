// SPDX-License-Identifier: Apache-2.0
//! What is seen of folders in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Folders that are told of.
pub const MOST: usize = 20;
/// Seconds of a day.
pub const DAY: f64 = 86_400.0;

/// What was seen of a folder's files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// Times that a file was opened.
    pub opens: f64,
    /// Bytes read.
    pub read: f64,
    /// Bytes written.
    pub written: f64,
}

/// By folder.
pub type Activities = HashMap<PathBuf, Activity>;

/// Which files are watched, and which folder each is counted in.
#[derive(Clone, Debug)]
pub struct Scope {
    pub(super) under: PathBuf,
    pub(super) mounts: Vec<PathBuf>,
}

impl Scope {
    /// All files below a folder that are on these filesystems.
    pub fn new(under: &Path, mounts: Vec<PathBuf>) -> Scope {
        Scope {
            under: under.to_owned(),
            mounts,
        }
    }

    /// The first three names of its path, or one below that which is watched; `None`: it is not watched.
    pub fn folder(&self, path: &Path) -> Option<PathBuf> {
        let parent = path
            .parent()
            .filter(|parent| parent.starts_with(&self.under))?;
        let names = self.under.components().count() + 1;
        Some(parent.components().take(names.max(4)).collect())
    }

    /// Where to look.
    pub fn starts(&self) -> Vec<PathBuf> {
        if self.under.as_path() == Path::new("/") {
            self.mounts.clone()
        } else {
            vec![self.under.clone()]
        }
    }
}
