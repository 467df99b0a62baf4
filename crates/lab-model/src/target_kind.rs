// SPDX-License-Identifier: Apache-2.0
//! The kinds of targets: databases and directories.

use crate::Placeholder;
use serde::{Deserialize, Serialize};

/// The kind of database or directory on which subjects work.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A fresh SQLite database file for each visit.
    #[default]
    Sqlite,
    /// A PostgreSQL server.
    Postgresql,
    /// A MariaDB server.
    Mariadb,
    /// A private directory in each measured location. It is created once per run.
    Folder,
}

impl TargetKind {
    /// All kinds.
    pub const ALL: [TargetKind; 4] = [
        TargetKind::Sqlite,
        TargetKind::Postgresql,
        TargetKind::Mariadb,
        TargetKind::Folder,
    ];

    /// Returns the name of the kind in experiments and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "sqlite",
            TargetKind::Postgresql => "postgresql",
            TargetKind::Mariadb => "mariadb",
            TargetKind::Folder => "folder",
        }
    }

    /// Returns the display name.
    pub fn title(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "SQLite",
            TargetKind::Postgresql => "PostgreSQL",
            TargetKind::Mariadb => "MariaDB",
            TargetKind::Folder => "folder",
        }
    }

    /// Returns true for a database, which contains tables.
    pub fn is_database(self) -> bool {
        self != TargetKind::Folder
    }

    /// Returns true for a service: a server that runs alongside the subjects.
    pub fn is_service(self) -> bool {
        matches!(self, TargetKind::Postgresql | TargetKind::Mariadb)
    }

    /// Returns the syntax of parameters in the text of a statement.
    pub fn placeholder(self) -> Placeholder {
        match self {
            TargetKind::Postgresql => Placeholder::Numbered,
            TargetKind::Sqlite | TargetKind::Mariadb | TargetKind::Folder => Placeholder::Question,
        }
    }
}
