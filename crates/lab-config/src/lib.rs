// SPDX-License-Identifier: Apache-2.0
//! `benchlab.toml`: the comparisons, loads, logs and audits of a user's project, by name.
//!
//! Each key has the name of a command-line option and accepts the same values: `margin = "2%"` is
//! `--margin 2%`. An entry is converted to options, so each option is defined only once.

mod base;
mod detect;
mod entries;
mod options;
mod template;
mod texts;

pub use base::{Base, BaseSource, base_from_environment};
pub use detect::{Detected, detect};
pub use entries::{
    Audit, AuditKind, Ci, Compare, Config, Cores, Inconclusive, Load, Logs, Waiver, Words,
};
pub use options::OptionList;
pub use template::template;
pub use texts::{Condition, Date, GateMetric, Percent, Text, Time};

use lab_plan::PlanError;
use std::path::{Path, PathBuf};

/// The name of the configuration file.
pub const FILE: &str = "benchlab.toml";

/// The maximum size of the file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The file's path and content.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// The file's path.
    pub path: PathBuf,
    /// The parsed content.
    pub config: Config,
}

impl ConfigFile {
    /// Reads the file from a directory or its nearest parent directory that contains the file, or
    /// else from the user's configuration directory. Returns `None` if no such file exists.
    ///
    /// # Errors
    /// Returns an error with the position if the file cannot be read, or has an unknown key or an
    /// invalid value.
    pub fn find(folder: &Path, user: Option<&Path>) -> Result<Option<ConfigFile>, PlanError> {
        let folders = folder.ancestors().chain(user);
        let mut paths = folders.map(|folder| folder.join(FILE));
        match paths.find(|path| path.is_file()) {
            Some(path) => ConfigFile::read(&path).map(Some),
            None => Ok(None),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error with the position if the file cannot be read, or has an unknown key or an invalid value.
    pub fn read(path: &Path) -> Result<ConfigFile, PlanError> {
        let unreadable =
            |reason: String| PlanError::of_request(format!("{}: {reason}", path.display()));
        let size = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
        if size.len() > MAX_SIZE {
            return Err(unreadable(format!(
                "the file has more than {MAX_SIZE} bytes"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
        Ok(ConfigFile {
            path: path.to_path_buf(),
            config: parse(path, &text)?,
        })
    }

    /// Returns the directory of the file, in which its commands run.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

/// Parses the text of a file. `path` is for error messages.
///
/// # Errors
/// Returns an error for an unknown key or an invalid value, with its position and the nearest known
/// key.
pub fn parse(path: &Path, text: &str) -> Result<Config, PlanError> {
    let config: Config = toml::from_str(text).map_err(|e| PlanError::toml(path, text, &e))?;
    config.check().map_err(|(key, message)| {
        let at = text.find(&key).unwrap_or(0);
        PlanError::at_position(path, text, at..at + key.len(), message)
    })?;
    Ok(config)
}

/// Returns the JSON Schema of the file, for editors.
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Config);
    schema.insert("title".into(), FILE.into());
    schema.to_value()
}
