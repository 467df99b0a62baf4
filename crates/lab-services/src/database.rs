// SPDX-License-Identifier: Apache-2.0
//! Daemons that are SQL servers: how the lab administers them, and what they count.

use crate::address::{Form, ServiceAddress};
use crate::counters::Counters;
use crate::daemon::Daemon;
use crate::processes::{LabConnection, Processes};
use crate::{ServiceError, Software, Transport};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::time::Duration;

/// The longest time that a connection is waited for.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A kind of SQL server.
pub struct DatabaseKind {
    /// The database's software.
    pub software: Software,
    /// How its addresses are written.
    pub(crate) form: Form,
    /// The `target=` of subjects with a schema; `None`: the server cannot be reached by this transport.
    pub(crate) target: fn(&ServiceAddress, Transport, &str) -> Option<String>,
    /// Describes a server that is to be started, with new passwords.
    pub(crate) private: fn() -> io::Result<Box<dyn Database>>,
    /// Connects to a server that runs.
    pub(crate) connect: fn(ServiceAddress) -> Result<Box<dyn Database>, ServiceError>,
}

/// Rows of text; `None` is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// A SQL server with the lab's own connection: the superuser's to a private server, the given user's to
/// another.
pub trait Database: Daemon {
    /// The kind of server.
    fn kind(&self) -> &'static DatabaseKind;

    /// Its address, for subjects.
    fn address(&self) -> &ServiceAddress;

    /// Executes a statement.
    fn run(&mut self, statement: &str) -> Result<(), ServiceError>;

    /// The rows of a query, as text.
    fn query(&mut self, query: &str) -> Result<Rows, ServiceError>;

    /// Creates an empty schema for the subjects.
    fn create_schema(&mut self, name: &str) -> Result<(), ServiceError>;

    /// Removes a schema with its content, if it exists.
    fn drop_schema(&mut self, name: &str) -> Result<(), ServiceError>;

    /// Executes a statement as the schema's owner, who then owns what it creates; names without a schema are of this
    /// one.
    fn run_in(&mut self, schema: &str, statement: &str) -> Result<(), ServiceError>;

    /// A name as an identifier.
    fn quoted(&self, name: &str) -> String;

    /// Does for a table that was just filled what its first readers would do otherwise.
    fn analyze(&mut self, table: &str) -> Result<(), ServiceError>;

    /// Limits how long the lab's statements wait for a lock.
    fn limit_lock_waits(&mut self, seconds: u32) -> Result<(), ServiceError>;

    /// Ends the connection that comes from this TCP port of its client, if there is one.
    fn end_connection(&mut self, port: u16) -> Result<(), ServiceError>;

    /// The names of the settings that a run records, besides those that were given.
    fn facts(&self) -> &'static [&'static str];

    /// The values of settings.
    fn settings(&mut self, names: &[String]) -> Result<Vec<(String, String)>, ServiceError>;

    /// The work that it has done, without benchlab's statements.
    fn counters(&mut self, processes: Option<&Processes>) -> Result<Counters, ServiceError>;

    /// Makes the next readings of the counters as short as they can be. The counts go on. Subjects must be idle.
    fn shorten_counters(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// A row for each normalized text of statements: the text, calls, errors, time and longest time in ns. Error: it
    /// does not count them, and what to do.
    fn statement_totals(&mut self) -> Result<Rows, ServiceError>;

    /// Checks that the user of a server that is not private has the rights that benchlab needs.
    fn check_rights(&mut self) -> Result<(), ServiceError>;

    /// The thread or process that serves benchlab's connection on the server's machine.
    fn lab_connection(&mut self) -> Option<LabConnection>;

    /// The number of the server's main process on its own machine.
    fn main_process(&mut self) -> Option<i32>;

    /// Seconds since the server started, by its own account.
    fn uptime(&mut self) -> Option<f64>;
}

impl dyn Database + '_ {
    /// The first column of the first row of a query; empty if it is NULL or missing.
    pub fn value(&mut self, query: &str) -> Result<String, ServiceError> {
        Ok(first_value(self.query(query)?))
    }

    /// Its version, and the values of recorded and given settings.
    pub(crate) fn read_back(
        &mut self,
        settings: &[(String, String)],
    ) -> Result<Vec<(String, String)>, ServiceError> {
        let names = self.facts().iter().map(|&name| name.to_owned());
        let settings = settings.iter().map(|(name, _)| name.clone());
        let names: Vec<String> = names.chain(settings).collect();
        let mut facts = vec![("version".to_owned(), self.value("SELECT version()")?)];
        facts.extend(self.settings(&names)?);
        Ok(facts)
    }
}

/// The first column of the first row; empty if it is NULL or missing.
pub(crate) fn first_value(rows: Rows) -> String {
    let first = rows.into_iter().next();
    first
        .and_then(|row| row.into_iter().next().flatten())
        .unwrap_or_default()
}

/// Rows of a name and a value.
pub(crate) fn pairs(rows: Rows) -> Vec<(String, String)> {
    let pair = |row: Vec<Option<String>>| {
        let mut columns = row.into_iter().map(Option::unwrap_or_default);
        Some((columns.next()?, columns.next()?))
    };
    rows.into_iter().filter_map(pair).collect()
}

pub(crate) fn error_with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let source_text = error.to_string();
        if !text.contains(&source_text) {
            text = format!("{text}: {source_text}");
        }
        source = error.source();
    }
    text
}

/// Why a server did not let the lab in.
pub(crate) enum ConnectionRefusal {
    Unreachable(String),
    Login(String),
    Tls(String),
    Other(String),
}

impl ConnectionRefusal {
    pub fn at(self, address: &ServiceAddress, hint: &'static str) -> ServiceError {
        let software = address.software;
        let (place, user) = (address.to_string(), address.user.clone());
        match self {
            ConnectionRefusal::Unreachable(reason) => ServiceError::Unreachable {
                software,
                place,
                reason,
            },
            ConnectionRefusal::Login(message) => ServiceError::Login {
                software,
                place,
                user,
                message,
                hint,
            },
            ConnectionRefusal::Tls(message) => ServiceError::Tls {
                software,
                place,
                user,
                message,
            },
            ConnectionRefusal::Other(reason) => ServiceError::Rights {
                software,
                place,
                reason,
            },
        }
    }
}

/// Checks that a server of this version, as `SELECT version()` returns it, is supported. `other_make`: the
/// name to show if it is another product.
pub(crate) fn check_version(
    address: &ServiceAddress,
    banner: &str,
    other_make: &str,
) -> Result<(), ServiceError> {
    let software = address.software;
    let version = (software.version)(banner);
    if version.is_some_and(|version| software.supports(version)) {
        return Ok(());
    }
    let make = if version.is_none() {
        other_make.to_owned()
    } else if banner.starts_with(software.title) {
        String::new()
    } else {
        format!("{} ", software.title)
    };
    Err(ServiceError::Version {
        software,
        place: address.to_string(),
        version: format!("{make}{banner}"),
    })
}

impl Deref for DatabaseKind {
    type Target = Software;

    fn deref(&self) -> &Software {
        &self.software
    }
}

impl PartialEq for DatabaseKind {
    fn eq(&self, other: &DatabaseKind) -> bool {
        self.software == other.software
    }
}

impl Eq for DatabaseKind {}

impl fmt::Display for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.software.fmt(f)
    }
}

impl fmt::Debug for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.software, f)
    }
}
