// SPDX-License-Identifier: Apache-2.0
//! Why a private server does not work, by its log and its disk.

use crate::place::Place;
use crate::{Kind, Log, Missing, ServiceError, mariadb, postgresql};

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
/// How PostgreSQL says that it comes without the statistics of statements.
const NO_STATISTICS: &str = "could not access file \"pg_stat_statements\"";
/// Last lines of a log shown with a failure.
const LAST_LOG_LINES: usize = 10;

impl Place {
    /// Why a program of the server ended that was given these settings.
    pub fn ended(&self, settings: &[(String, String)], status: String) -> ServiceError {
        let full = self.full();
        let known = full
            .or_else(|| self.refused(settings))
            .or_else(|| self.incomplete());
        known.unwrap_or_else(|| ServiceError::Ended {
            kind: self.kind,
            status,
            log: self.last_log(),
        })
    }

    /// The error of a server that found no room, if that is what happened.
    pub fn full(&self) -> Option<ServiceError> {
        let free_bytes = self.free_bytes();
        let said = || NO_ROOM.iter().any(|words| self.has_said(words));
        (free_bytes < ROOM || said()).then(|| ServiceError::Full {
            kind: self.kind,
            folder: self.folder.clone(),
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
            kind: self.kind,
            words: line.trim().to_owned(),
        })
    }

    fn incomplete(&self) -> Option<ServiceError> {
        self.has_said(NO_STATISTICS).then(|| {
            ServiceError::Missing(Missing {
                kind: self.kind,
                found: vec!["one without pg_stat_statements".into()],
            })
        })
    }

    /// The last lines of the log. MariaDB's installer ends with advice for those who run it by hand:
    /// where there are complaints, they are all that is of interest.
    pub fn last_log(&self) -> Log {
        let mut lines = self.log_lines();
        if self.kind == Kind::Mariadb && lines.iter().any(|line| self.complains(line)) {
            lines.retain(|line| self.complains(line));
        }
        Log(lines.split_off(lines.len().saturating_sub(LAST_LOG_LINES)))
    }

    /// Whether these words are in the log.
    pub fn has_said(&self, words: &str) -> bool {
        self.log_lines().iter().any(|line| line.contains(words))
    }

    fn complains(&self, line: &str) -> bool {
        match self.kind {
            Kind::Postgresql => postgresql::complains(line),
            Kind::Mariadb => mariadb::complains(line),
        }
    }
}

/// A setting's name as it is compared: MariaDB takes `-` for `_`.
pub(crate) fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}
