// SPDX-License-Identifier: Apache-2.0
//! The interface of SQL servers: administration and counters.

use crate::address::{Form, ServiceAddress};
use crate::counters::Counters;
use crate::daemon::Daemon;
use crate::processes::{LabConnection, Processes};
use crate::{ServiceError, Software, Transport};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::time::Duration;

/// The connection timeout.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A kind of SQL server.
pub struct DatabaseKind {
    /// The server software: its names, packages and programs.
    pub software: Software,
    /// The syntax of the server's addresses.
    pub(crate) form: Form,
    /// Returns the `target=` argument for subjects that use a schema, or `None` if the server does
    /// not support the transport.
    pub(crate) target: fn(&ServiceAddress, Transport, &str) -> Option<String>,
    /// Creates a private server with new passwords. The server is not started yet.
    pub(crate) private: fn() -> io::Result<Box<dyn Database>>,
    /// Connects to a running server.
    pub(crate) connect: fn(ServiceAddress) -> Result<Box<dyn Database>, ServiceError>,
}

/// Rows of values as text. `None` is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDescription {
    /// The name of the column.
    pub name: String,
    /// The type: `integer`, `boolean`, `float`, `decimal`, `text`, `bytes`, `date` or `timestamp`.
    /// For any other type, this is the server's own name of the type.
    pub kind: String,
}

/// An SQL server with benchlab's own connection. benchlab connects to a private server as the
/// superuser, and to an external server as the user in its URL.
pub trait Database: Daemon {
    /// Returns the kind of server.
    fn kind(&self) -> &'static DatabaseKind;

    /// Returns the server's address for subjects.
    fn address(&self) -> &ServiceAddress;

    /// Executes a statement.
    fn run(&mut self, statement: &str) -> Result<(), ServiceError>;

    /// Returns the rows of a query as text.
    fn query(&mut self, query: &str) -> Result<Rows, ServiceError>;

    /// Creates an empty schema for the subjects.
    fn create_schema(&mut self, name: &str) -> Result<(), ServiceError>;

    /// Drops a schema with its content, if it exists.
    fn drop_schema(&mut self, name: &str) -> Result<(), ServiceError>;

    /// Executes a statement as the owner of a schema, who then owns the objects that the statement
    /// creates. Unqualified names refer to this schema.
    fn run_in(&mut self, schema: &str, statement: &str) -> Result<(), ServiceError>;

    /// Makes unqualified names refer to a schema from now on. `None` restores the default.
    fn use_schema(&mut self, schema: Option<&str>) -> Result<(), ServiceError>;

    /// Returns the columns of a statement's result without executing the statement. The statement
    /// contains the server's own placeholders.
    fn describe(&mut self, statement: &str) -> Result<Vec<ColumnDescription>, ServiceError>;

    /// Quotes a name as an identifier.
    fn quoted(&self, name: &str) -> String;

    /// Returns a query for the number of rows in a table and a checksum of the given columns. The
    /// checksum does not depend on the order of the rows.
    fn checksum(&self, table: &str, columns: &[String]) -> String;

    /// Runs the maintenance that is due after a table is filled, so that the server does not run it
    /// during the first queries.
    fn analyze(&mut self, table: &str) -> Result<(), ServiceError>;

    /// Sets the maximum time, in seconds, that benchlab's statements wait for locks.
    fn limit_lock_waits(&mut self, seconds: u32) -> Result<(), ServiceError>;

    /// Returns the names of the settings that a run records in addition to the settings that the
    /// user gives.
    fn facts(&self) -> &'static [&'static str];

    /// Returns the values of the named settings.
    fn settings(&mut self, names: &[String]) -> Result<Vec<(String, String)>, ServiceError>;

    /// Returns the work that the server has done, without benchlab's own statements.
    fn counters(&mut self, processes: Option<&Processes>) -> Result<Counters, ServiceError>;

    /// Makes the next readings of the counters as fast as possible, without resetting the counts.
    /// Subjects must be idle.
    fn shorten_counters(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Returns a row for each normalized statement: the text, the numbers of calls and errors, and
    /// the total and maximum time in ns.
    ///
    /// Returns an error with instructions if the server does not count statements.
    fn statement_totals(&mut self) -> Result<Rows, ServiceError>;

    /// Checks that the user of an external server has the rights that benchlab needs.
    fn check_rights(&mut self) -> Result<(), ServiceError>;

    /// Returns the thread or process that serves benchlab's connection on the server's machine.
    fn lab_connection(&mut self) -> Option<LabConnection>;

    /// Returns the process ID of the server's main process on its own machine.
    fn main_process(&mut self) -> Option<i32>;

    /// Returns the seconds since the server started, as reported by the server.
    fn uptime(&mut self) -> Option<f64>;
}

impl dyn Database + '_ {
    /// Returns the first column of a query's first row. The value is empty if it is NULL or
    /// missing.
    pub fn value(&mut self, query: &str) -> Result<String, ServiceError> {
        Ok(first_value(self.query(query)?))
    }

    /// Returns the server's version, and the values of the recorded and given settings.
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

/// Returns the first column of the first row. The value is empty if it is NULL or missing.
pub(crate) fn first_value(rows: Rows) -> String {
    let first = rows.into_iter().next();
    first
        .and_then(|row| row.into_iter().next().flatten())
        .unwrap_or_default()
}

/// Converts rows of two columns to names and values.
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

/// The cause of a failed attempt to connect to a server.
pub(crate) enum ConnectionRefusal {
    Unreachable(String),
    Login(String),
    Tls(String),
    Other(String),
}

impl ConnectionRefusal {
    pub fn with_address(self, address: &ServiceAddress, hint: &'static str) -> ServiceError {
        let software = address.software;
        let (address, user) = (address.to_string(), address.user.clone());
        match self {
            ConnectionRefusal::Unreachable(reason) => ServiceError::Unreachable {
                software,
                address,
                reason,
            },
            ConnectionRefusal::Login(message) => ServiceError::Login {
                software,
                address,
                user,
                message,
                hint,
            },
            ConnectionRefusal::Tls(message) => ServiceError::Tls {
                software,
                address,
                user,
                message,
            },
            ConnectionRefusal::Other(reason) => ServiceError::Rights {
                software,
                address,
                reason,
            },
        }
    }
}

/// Checks that the version of a server is supported. `banner` is the result of `SELECT version()`.
/// `other_make` is the name to show for a server that is a different product.
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
        address: address.to_string(),
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
