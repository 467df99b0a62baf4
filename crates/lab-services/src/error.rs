// SPDX-License-Identifier: Apache-2.0
//! Errors of servers, with their remedies.

use crate::{MissingSoftware, Software};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error that occurs when benchlab starts a server, connects to it or uses it.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The software is not installed.
    #[error(transparent)]
    Missing(#[from] MissingSoftware),
    /// The user stopped benchlab.
    #[error("interrupted")]
    Interrupted,
    /// A directory cannot be used.
    #[error("{software} cannot use the directory {}: {reason}", folder.display())]
    Folder {
        /// The daemon's software.
        software: &'static Software,
        /// The directory that cannot be used.
        folder: PathBuf,
        /// The problem and its remedy.
        reason: String,
    },
    /// The disk of the data directory is full.
    #[error(
        "the disk of {software} is full: {} MiB are free in {}; use `--scratch DIR` to store its data in another directory{log}",
        free_bytes >> 20, folder.display()
    )]
    Full {
        /// The daemon's software.
        software: &'static Software,
        /// The daemon's directory.
        folder: PathBuf,
        /// The number of free bytes on the disk.
        free_bytes: u64,
        /// The last lines of the server's log.
        log: LogTail,
    },
    /// Each port that benchlab tried was free at first, but in use when the server opened it.
    #[error("{software} found no free port on 127.0.0.1, tried: {tried:?}")]
    Port {
        /// The daemon's software.
        software: &'static Software,
        /// The ports that benchlab tried.
        tried: Vec<u16>,
    },
    /// The server rejected a setting.
    #[error("{software} rejected a setting of `--service-set`: {message}")]
    Setting {
        /// The daemon's software.
        software: &'static Software,
        /// The message of the server or of benchlab.
        message: String,
    },
    /// The server exited.
    #[error("{software} exited unexpectedly with {status}{log}")]
    Ended {
        /// The daemon's software.
        software: &'static Software,
        /// The exit status or signal, in words.
        status: String,
        /// The last lines of the server's log.
        log: LogTail,
    },
    /// The server did not respond in time.
    #[error("{software} did not respond within {seconds} s{log}")]
    Silent {
        /// The daemon's software.
        software: &'static Software,
        /// The timeout in seconds.
        seconds: u64,
        /// The last lines of the server's log.
        log: LogTail,
    },
    /// The URL is malformed.
    #[error("`--service {}=URL`: {reason}; expected {form}", software.name)]
    Url {
        /// The daemon's software.
        software: &'static Software,
        /// The syntax of the addresses.
        form: &'static str,
        /// The mistake in the URL.
        reason: String,
    },
    /// No server of this kind responds at the address.
    #[error("no {software} server at {address}: {reason}")]
    Unreachable {
        /// The daemon's software.
        software: &'static Software,
        /// The server's address.
        address: String,
        /// The connection error.
        reason: String,
    },
    /// The server rejected the user or the password.
    #[error("{software} at {address} rejected the login of `{user}`: {message}{hint}")]
    Login {
        /// The daemon's software.
        software: &'static Software,
        /// The server's address.
        address: String,
        /// The database user whose login was rejected.
        user: String,
        /// The server's message.
        message: String,
        /// Another possible cause of the rejection, which the server's message does not mention.
        /// May be empty.
        hint: &'static str,
    },
    /// The server requires TLS, which the subjects do not use.
    #[error(
        "{software} at {address} requires TLS, but the experiment measures without TLS: \
         allow user `{user}` to connect without TLS, or omit `--service` to use a private server \
         ({message})"
    )]
    Tls {
        /// The daemon's software.
        software: &'static Software,
        /// The server's address.
        address: String,
        /// The database user that must be allowed to connect without TLS.
        user: String,
        /// The server's message.
        message: String,
    },
    /// The server is another product, or its version is too old.
    #[error("the server at {address} is {version}: benchlab needs {}", software.needed())]
    Version {
        /// The required software.
        software: &'static Software,
        /// The server's address.
        address: String,
        /// The version that the server reports, with the product.
        version: String,
    },
    /// The user lacks a right that the experiment needs.
    #[error("{software} at {address}: {reason}")]
    Rights {
        /// The daemon's software.
        software: &'static Software,
        /// The server's address.
        address: String,
        /// The missing permission, and how to grant it.
        reason: String,
    },
    /// The server rejected a statement, or the connection broke.
    #[error("{software}: {message}")]
    Statement {
        /// The daemon's software.
        software: &'static Software,
        /// The server's message.
        message: String,
    },
    /// The server rejected a statement of the user's workload.
    #[error("{origin}: {software}: {message}\n  {statement}")]
    Workload {
        /// The daemon's software.
        software: &'static Software,
        /// The position of the statement, such as `shop.toml:12`.
        origin: String,
        /// The statement, shortened.
        statement: String,
        /// The server's message.
        message: String,
    },
    /// A system call failed.
    #[error("{software}: {operation}: {error}")]
    System {
        /// The daemon's software.
        software: &'static Software,
        /// The operation that failed.
        operation: String,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl ServiceError {
    /// Adds the position and the text of a statement of the user's workload to the server's
    /// message.
    pub fn in_workload(self, origin: &str, statement: &str) -> ServiceError {
        match self {
            ServiceError::Statement { software, message } => ServiceError::Workload {
                software,
                origin: origin.to_owned(),
                statement: shortened(statement),
                message,
            },
            error => error,
        }
    }
}

/// The maximum length of a statement in a message, in characters.
const MAX_STATEMENT: usize = 300;

/// Returns a statement in one line, for messages.
pub fn shortened(statement: &str) -> String {
    let line = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_STATEMENT) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

/// The last lines of a server's log, displayed after a message on separate lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail(pub Vec<String>);

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}
