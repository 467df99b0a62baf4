// SPDX-License-Identifier: Apache-2.0
//! The user's directories (XDG Base Directory Specification).

use std::path::{Path, PathBuf};

/// Returns the user's data directory: `benchlab` in `XDG_DATA_HOME` or `~/.local/share`. Returns
/// `None` if `HOME` is not set.
pub fn data() -> Option<PathBuf> {
    user("XDG_DATA_HOME", ".local/share")
}

/// Returns the user's configuration directory: `benchlab` in `XDG_CONFIG_HOME` or `~/.config`.
/// Returns `None` if `HOME` is not set.
pub fn config() -> Option<PathBuf> {
    user("XDG_CONFIG_HOME", ".config")
}

fn user(variable: &str, default: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    // The specification requires relative paths to be ignored.
    let given = folder(variable).filter(|path| path.is_absolute());
    let parent = given.or_else(|| Some(folder("HOME")?.join(default)))?;
    Some(parent.join("benchlab"))
}

/// Returns the run files in a directory, sorted by name, or an empty list if the directory does not
/// exist.
pub fn run_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "lab"))
        .collect();
    paths.sort();
    paths
}
