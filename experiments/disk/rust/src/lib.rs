// SPDX-License-Identifier: Apache-2.0
//! Code shared by the experiments `disk` and `io-scheduler`: files with known content, and
//! functions that read and write them.

pub mod background;
pub mod blocks;
pub mod foreground;
pub mod host;
pub mod reader;
pub mod tree;
pub mod why;

use lab_kit::{Failure, Opening};
use std::path::PathBuf;

/// Returns the private directory of the run, which `target=folder:PATH` specifies. All processes of the run share its
/// content.
pub fn folder(opening: &Opening) -> Result<PathBuf, Failure> {
    let target = opening.text("target")?;
    let path = target
        .strip_prefix("folder:")
        .filter(|path| path.starts_with('/'));
    match path.map(PathBuf::from) {
        Some(path) if path.is_dir() => Ok(path),
        _ => Err(Failure::usage(format!(
            "target={target}: expected folder:/PATH"
        ))),
    }
}
