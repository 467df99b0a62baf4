// SPDX-License-Identifier: Apache-2.0
//! The options for starting a daemon.

use crate::diagnosis::plain;
use crate::{ServiceError, Software};
use std::path::PathBuf;

/// The options for starting a daemon.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    /// The run's scratch directory, in which the daemon gets its own directory.
    pub folder: PathBuf,
    /// Settings and their values, in addition to the daemon's defaults. The daemon's manual defines
    /// the names of the settings.
    pub settings: Vec<(String, String)>,
    /// A function that returns true if the user requested a stop. Called while benchlab waits for
    /// the daemon.
    pub interrupted: fn() -> bool,
}

impl DaemonOptions {
    /// Creates options without any settings.
    pub fn new(folder: impl Into<PathBuf>) -> DaemonOptions {
        DaemonOptions {
            folder: folder.into(),
            settings: Vec::new(),
            interrupted: || false,
        }
    }

    /// Returns an error for names that the daemon would interpret differently, and for settings
    /// that benchlab sets itself.
    pub(crate) fn check(&self, software: &'static Software) -> Result<(), ServiceError> {
        for (name, value) in &self.settings {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let can_begin = |c: char| c.is_ascii_alphabetic() || c == '_';
            let reason = if !name.chars().all(is_allowed) || !name.starts_with(can_begin) {
                "is not a valid setting name"
            } else if software.reserved.contains(&plain(name).as_str()) {
                "is set by benchlab itself"
            } else if value.contains('\0') {
                "has a value with a NUL character"
            } else {
                continue;
            };
            let message = format!("`{}.{name}` {reason}", software.name);
            return Err(ServiceError::Setting { software, message });
        }
        Ok(())
    }
}
