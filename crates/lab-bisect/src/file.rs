// SPDX-License-Identifier: Apache-2.0
//! The directory of a bisection: its state in `bisection.json`, next to the run files of its measurements.

use crate::bisection::Bisection;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The name of the file with the state.
const STATE: &str = "bisection.json";

/// The name of the file format, which is stored in the file.
const FORMAT: &str = "benchlab-bisection";
/// The version of the file format, which is stored in the file.
const VERSION: u32 = 1;

/// The maximum size of a state file, in bytes. A range of 100,000 commits needs about a tenth of
/// this size.
const MAX_BYTES: u64 = 256 << 20;

/// The directory that stores a bisection.
#[derive(Clone, Debug)]
pub struct BisectionFile {
    folder: PathBuf,
}

/// An error in reading or writing a bisection.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system returned an error.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// The file is not the state of a bisection. Contains the file's path, and the reason with its
    /// position in the file.
    #[error("{0} is not the state of a bisection: {1}")]
    Invalid(PathBuf, String),
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: String,
    version: u32,
    #[serde(flatten)]
    bisection: Bisection,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl BisectionFile {
    /// Creates the directory of a new bisection.
    ///
    /// # Errors
    /// Returns an error if the directory exists or cannot be created.
    pub fn create(folder: &Path) -> Result<BisectionFile, FileError> {
        fs::create_dir(folder).map_err(|e| FileError::Io(folder.into(), e))?;
        Ok(BisectionFile {
            folder: folder.into(),
        })
    }

    /// Returns the bisection at a path, which may be its directory or the state file in that
    /// directory.
    ///
    /// Returns `None` for any other path.
    pub fn find(path: &Path) -> Option<BisectionFile> {
        let folder = match path.file_name() {
            Some(name) if name == STATE && path.is_file() => path.parent()?,
            _ if path.join(STATE).is_file() => path,
            _ => return None,
        };
        Some(BisectionFile {
            folder: folder.into(),
        })
    }

    /// Returns the path of the directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the state.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is too large, or is not the state of a bisection.
    pub fn load(&self) -> Result<Bisection, FileError> {
        let path = self.folder.join(STATE);
        let io = |e| FileError::Io(path.clone(), e);
        let invalid = |reason: String| FileError::Invalid(path.clone(), reason);
        let mut text = String::new();
        let file = File::open(&path).map_err(io)?;
        let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
        read.map_err(io)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(invalid(format!("the file has more than {MAX_BYTES} bytes")));
        }
        let header: Header = serde_json::from_str(&text).map_err(|e| invalid(e.to_string()))?;
        if header.format != FORMAT || header.version != VERSION {
            let (format, version) = (header.format, header.version);
            return Err(invalid(format!(
                "expected {FORMAT}, version {VERSION}, got {format}, version {version}"
            )));
        }
        let stored: Stored = serde_json::from_str(&text).map_err(|e| invalid(e.to_string()))?;
        if !stored.bisection.is_sound() {
            return Err(invalid("a commit's index is out of range".into()));
        }
        Ok(stored.bisection)
    }

    /// Writes the state. After a crash, the file contains either the old or the new state.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, bisection: &Bisection) -> Result<(), FileError> {
        let path = self.folder.join(STATE);
        let new = self.folder.join(format!("{STATE}.new"));
        let stored = Stored {
            format: FORMAT.into(),
            version: VERSION,
            bisection: bisection.clone(),
        };
        let write = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            serde_json::to_writer_pretty(&mut file, &stored)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|e| FileError::Io(path.clone(), e))
    }
}
