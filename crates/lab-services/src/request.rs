// SPDX-License-Identifier: Apache-2.0
//! What a daemon is started with.

use crate::diagnosis::plain;
use crate::{ServiceError, Software};
use std::path::PathBuf;

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct Request {
    /// The run's scratch folder, in which the daemon gets one of its own.
    pub folder: PathBuf,
    /// Settings and their values beyond the daemon's defaults, as its manual names them.
    pub settings: Vec<(String, String)>,
    /// Whether the reader wants the lab to stop: asked while the daemon is waited for.
    pub interrupted: fn() -> bool,
}

impl Request {
    /// With the daemon's defaults.
    pub fn new(folder: impl Into<PathBuf>) -> Request {
        Request {
            folder: folder.into(),
            settings: Vec::new(),
            interrupted: || false,
        }
    }

    /// A name that would be read as something else, and one that the lab needs as it sets it.
    pub(crate) fn check(&self, software: &'static Software) -> Result<(), ServiceError> {
        for (name, value) in &self.settings {
            let good = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
            let why = if !name.chars().all(good) || !name.starts_with(begins) {
                "is no setting's name"
            } else if software.reserved.contains(&plain(name).as_str()) {
                "is set by benchlab itself"
            } else if value.contains('\0') {
                "has a value with a NUL"
            } else {
                continue;
            };
            let words = format!("`{}.{name}` {why}", software.name);
            return Err(ServiceError::Setting { software, words });
        }
        Ok(())
    }
}
