// SPDX-License-Identifier: Apache-2.0
//! Daemons that an experiment needs, and their counters.
//!
//! benchlab starts a private daemon for a run and removes it afterward. An external daemon belongs
//! to the user. With the counters, benchlab can include the server's work in the cost of a query
//! and check the reports of subjects.
//!
//! A new daemon is one file that implements [`Daemon`]. A new SQL server also implements
//! [`Database`] and is listed in [`DATABASES`].

mod abandoned;
mod address;
mod counters;
mod daemon;
mod database;
mod databases;
mod diagnosis;
mod error;
mod external;
mod folder;
mod launch;
mod mariadb;
pub mod percent;
mod postgresql;
mod process;
mod processes;
mod request;
mod running;
mod service;
mod software;
mod starting;
mod statements;
mod transport;

pub use abandoned::clear_of;
pub use counters::Counters;
pub use daemon::Daemon;
pub use database::{ColumnDescription, Database, DatabaseKind, Rows};
pub use databases::{DATABASES, clear, database};
pub use error::{LogTail, ServiceError, shortened};
pub use folder::Folder;
pub use mariadb::MARIADB;
pub use postgresql::POSTGRESQL;
pub use processes::{LabConnection, Processes};
pub use request::DaemonOptions;
pub use running::RunningDaemon;
pub use service::Service;
pub use software::{MissingSoftware, Software};
pub use starting::Starting;
pub use statements::{StatementTotal, kind_of_url, statement_totals};
pub use transport::Transport;
