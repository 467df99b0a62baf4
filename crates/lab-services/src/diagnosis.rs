// SPDX-License-Identifier: Apache-2.0
//! Why a private server does not work, by its log and its disk.

use crate::folder::Folder;
use crate::process::described;
use crate::{Log, Missing, ServiceError};
use nix::sys::wait::WaitStatus;

/// Less than this is no room, bytes.
const ROOM: u64 = 1 << 20;
/// How the servers say that there is none; 28 is ENOSPC.
const NO_ROOM: [&str; 5] = [
    "No space left on device",
    "Disk full",
    "disk full",
    "error 28",
    "rror number 28",
];
/// Last lines of a log shown with a failure.
const LAST_LOG_LINES: usize = 10;

impl Folder {
    /// Why a program of the server ended that was given these settings.
    pub(crate) fn ended(&self, settings: &[(String, String)], status: WaitStatus) -> ServiceError {
        let full = self.full();
        let known = full
            .or_else(|| self.refused(settings))
            .or_else(|| self.incomplete());
        known.unwrap_or_else(|| ServiceError::Ended {
            software: self.software,
            status: described(status),
            log: self.last_log(),
        })
    }

    /// The error of a server that found no room, if that is what happened.
    pub fn full(&self) -> Option<ServiceError> {
        let free_bytes = self.free_bytes();
        let logged = || NO_ROOM.iter().any(|words| self.logged(words));
        (free_bytes < ROOM || logged()).then(|| ServiceError::Full {
            software: self.software,
            folder: self.path.clone(),
            free_bytes,
            log: self.last_log(),
        })
    }

    /// A line of the log that complains and names a setting that was given.
    pub fn refused(&self, settings: &[(String, String)]) -> Option<ServiceError> {
        let names: Vec<String> = settings.iter().map(|(name, _)| plain(name)).collect();
        let mut lines = self.log_lines().into_iter();
        let names_one = |line: &str| names.iter().any(|name| plain(line).contains(name));
        let line = lines.find(|line| self.complains(line) && names_one(line))?;
        Some(ServiceError::Setting {
            software: self.software,
            words: line.trim().to_owned(),
        })
    }

    fn incomplete(&self) -> Option<ServiceError> {
        let (words, what) = self.software.incomplete?;
        self.logged(words).then(|| {
            ServiceError::Missing(Missing {
                software: self.software,
                found: vec![what.into()],
            })
        })
    }

    /// The last lines of the log.
    pub fn last_log(&self) -> Log {
        let mut lines = self.log_lines();
        if self.software.advises && lines.iter().any(|line| self.complains(line)) {
            lines.retain(|line| self.complains(line));
        }
        Log(lines.split_off(lines.len().saturating_sub(LAST_LOG_LINES)))
    }

    /// Whether these words are in the log.
    pub fn logged(&self, words: &str) -> bool {
        self.log_lines().iter().any(|line| line.contains(words))
    }

    fn complains(&self, line: &str) -> bool {
        (self.software.complains)(line)
    }
}

/// A setting's name as it is compared: MariaDB takes `-` for `_`.
pub(crate) fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}
