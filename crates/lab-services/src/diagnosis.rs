// SPDX-License-Identifier: Apache-2.0
//! Determines why a private server has failed, from its log and its disk.

use crate::folder::Folder;
use crate::process::describe;
use crate::{LogTail, MissingSoftware, ServiceError};
use nix::sys::wait::WaitStatus;

/// The free space below which a disk counts as full, in bytes.
const MIN_FREE_BYTES: u64 = 1 << 20;
/// Error messages of servers about a full disk. 28 is ENOSPC.
const DISK_FULL_MESSAGES: [&str; 5] = [
    "No space left on device",
    "Disk full",
    "disk full",
    "error 28",
    "rror number 28",
];
/// The number of last lines of the log to show with a failure.
const LAST_LOG_LINES: usize = 10;

impl Folder {
    /// Returns an error that explains the exit of one of the server's programs.
    pub(crate) fn exit_error(
        &self,
        settings: &[(String, String)],
        status: WaitStatus,
    ) -> ServiceError {
        let full = self.no_space_error();
        let cause = full
            .or_else(|| self.setting_error(settings))
            .or_else(|| self.incomplete());
        cause.unwrap_or_else(|| ServiceError::Ended {
            software: self.software,
            status: describe(status),
            log: self.last_log(),
        })
    }

    /// Returns an error if the server's disk is full.
    pub fn no_space_error(&self) -> Option<ServiceError> {
        let free_bytes = self.free_bytes();
        let is_logged = || DISK_FULL_MESSAGES.iter().any(|words| self.logged(words));
        (free_bytes < MIN_FREE_BYTES || is_logged()).then(|| ServiceError::Full {
            software: self.software,
            folder: self.path.clone(),
            free_bytes,
            log: self.last_log(),
        })
    }

    /// Returns an error if a line of the log complains about one of the given settings.
    pub fn setting_error(&self, settings: &[(String, String)]) -> Option<ServiceError> {
        let names: Vec<String> = settings.iter().map(|(name, _)| plain(name)).collect();
        let mut lines = self.log_lines().into_iter();
        let names_a_setting = |line: &str| names.iter().any(|name| plain(line).contains(name));
        let line = lines.find(|line| self.complains(line) && names_a_setting(line))?;
        Some(ServiceError::Setting {
            software: self.software,
            message: line.trim().to_owned(),
        })
    }

    fn incomplete(&self) -> Option<ServiceError> {
        let (words, missing) = self.software.incomplete?;
        self.logged(words).then(|| {
            ServiceError::Missing(MissingSoftware {
                software: self.software,
                unusable: vec![missing.into()],
            })
        })
    }

    /// Returns the last lines of the log.
    pub fn last_log(&self) -> LogTail {
        let mut lines = self.log_lines();
        if self.software.advises && lines.iter().any(|line| self.complains(line)) {
            lines.retain(|line| self.complains(line));
        }
        LogTail(lines.split_off(lines.len().saturating_sub(LAST_LOG_LINES)))
    }

    /// Returns true if a line of the log contains `words`.
    pub fn logged(&self, words: &str) -> bool {
        self.log_lines().iter().any(|line| line.contains(words))
    }

    fn complains(&self, line: &str) -> bool {
        (self.software.complains)(line)
    }
}

/// Normalizes the name of a setting for comparison, because MariaDB accepts `-` for `_`.
pub(crate) fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}
