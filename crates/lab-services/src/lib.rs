// SPDX-License-Identifier: Apache-2.0
//! The database servers that an experiment needs: private ones, started for a run and gone after it,
//! or the reader's own. It says what they use and counts what they execute, so that a query is charged
//! with the server's part and a subject is not taken at its word.

mod abandoned;
mod address;
mod admin;
mod counters;
mod diagnosis;
mod error;
mod external;
mod facts;
mod installed;
mod mariadb;
mod place;
mod postgresql;
mod process;
mod service;
mod shared_memory;
mod starting;
mod statements;
mod status;
mod tally;
mod usage;

pub use abandoned::clear;
pub use admin::Admin;
pub use counters::Counters;
pub use error::{Log, Missing, ServiceError};
pub use installed::missing;
pub use service::Service;
pub use starting::{Request, Starting};

use std::fmt;

/// A database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// PostgreSQL 13 or later.
    Postgresql,
    /// MariaDB 10.6 or later.
    Mariadb,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Postgresql, Kind::Mariadb];

    /// As experiments, options and URLs write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgresql => "postgresql",
            Kind::Mariadb => "mariadb",
        }
    }

    /// The oldest version that is supported.
    fn oldest(self) -> &'static str {
        match self {
            Kind::Postgresql => "PostgreSQL 13 or later",
            Kind::Mariadb => "MariaDB 10.6 or later",
        }
    }

    fn supports(self, version: (u32, u32)) -> bool {
        match self {
            Kind::Postgresql => version >= (13, 0),
            Kind::Mariadb => version >= (10, 6),
        }
    }

    fn form(self) -> &'static str {
        match self {
            Kind::Postgresql => "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
            Kind::Mariadb => "mariadb://USER:PASSWORD@HOST:PORT/",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Postgresql => "PostgreSQL",
            Kind::Mariadb => "MariaDB",
        })
    }
}

/// How a subject reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, on the loopback interface if the server is on this machine.
    Tcp,
    /// A Unix socket.
    Unix,
}
