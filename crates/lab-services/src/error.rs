// SPDX-License-Identifier: Apache-2.0
//! Errors of servers, with remedies.

use crate::{MissingSoftware, Software};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no server, or no longer one.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its software is not installed.
    #[error(transparent)]
    Missing(#[from] MissingSoftware),
    /// The reader wants the lab to stop.
    #[error("interrupted")]
    Interrupted,
    /// A folder cannot be used.
    #[error("{software} cannot use the folder {}: {reason}", folder.display())]
    Folder {
        /// The daemon's software.
        software: &'static Software,
        /// The folder.
        folder: PathBuf,
        /// The fault and its remedy.
        reason: String,
    },
    /// Its data directory has no room left.
    #[error(
        "{software} has no room: {} MiB are free in {}; `--scratch DIR` puts its data elsewhere{log}",
        free_bytes >> 20, folder.display()
    )]
    Full {
        /// The daemon's software.
        software: &'static Software,
        /// Its folder.
        folder: PathBuf,
        /// Free bytes there.
        free_bytes: u64,
        /// The last lines of its log.
        log: LogTail,
    },
    /// Every port that was free a moment ago was taken when the server wanted it.
    #[error("{software} found no free port on 127.0.0.1, tried: {tried:?}")]
    Port {
        /// The daemon's software.
        software: &'static Software,
        /// The ports.
        tried: Vec<u16>,
    },
    /// It does not accept a setting.
    #[error("{software} refuses a setting of `--service-set`: {message}")]
    Setting {
        /// The daemon's software.
        software: &'static Software,
        /// The server's message, or the lab's.
        message: String,
    },
    /// It ended by itself.
    #[error("{software} ended with {status}{log}")]
    Ended {
        /// The daemon's software.
        software: &'static Software,
        /// Its exit status or signal, in words.
        status: String,
        /// The last lines of its log.
        log: LogTail,
    },
    /// It does not answer in time.
    #[error("{software} has not answered within {seconds} s{log}")]
    Silent {
        /// The daemon's software.
        software: &'static Software,
        /// How long it was waited for, s.
        seconds: u64,
        /// The last lines of its log.
        log: LogTail,
    },
    /// The URL is malformed.
    #[error("`--service {}=URL`: {reason}; it has the form {form}", software.name)]
    Url {
        /// The daemon's software.
        software: &'static Software,
        /// The form of its addresses.
        form: &'static str,
        /// The fault.
        reason: String,
    },
    /// No server of this kind answers there.
    #[error("no {software} server at {place}: {reason}")]
    Unreachable {
        /// The daemon's software.
        software: &'static Software,
        /// Its address.
        place: String,
        /// The error of the connection.
        reason: String,
    },
    /// The server refuses the user or the password.
    #[error("{software} at {place} refuses the login of `{user}`: {message}{hint}")]
    Login {
        /// The daemon's software.
        software: &'static Software,
        /// Its address.
        place: String,
        /// The user.
        user: String,
        /// The server's message.
        message: String,
        /// Another cause of such a message; may be empty.
        hint: &'static str,
    },
    /// The server requires TLS, which the subjects do not use.
    #[error(
        "{software} at {place} takes no connection without TLS, and the experiment measures without: \
         allow user `{user}` to connect in the clear, or leave `--service` out and a private server \
         is started ({message})"
    )]
    Tls {
        /// The daemon's software.
        software: &'static Software,
        /// Its address.
        place: String,
        /// The user.
        user: String,
        /// The server's message.
        message: String,
    },
    /// A server of another make, or too old.
    #[error("the server at {place} is {version}: benchlab needs {}", software.needed())]
    Version {
        /// The software that is needed.
        software: &'static Software,
        /// Its address.
        place: String,
        /// The version that the server reports, with its make.
        version: String,
    },
    /// The user may not do what the experiment needs.
    #[error("{software} at {place}: {reason}")]
    Rights {
        /// The daemon's software.
        software: &'static Software,
        /// Its address.
        place: String,
        /// The missing software and the remedy.
        reason: String,
    },
    /// The server refused a statement, or the connection broke.
    #[error("{software}: {message}")]
    Statement {
        /// The daemon's software.
        software: &'static Software,
        /// The server's message.
        message: String,
    },
    /// The operating system refused something.
    #[error("{software}: {operation}: {error}")]
    System {
        /// The daemon's software.
        software: &'static Software,
        /// The operation that failed.
        operation: String,
        /// The system's error.
        error: io::Error,
    },
}

/// The last lines of a server's log; displayed behind a message, each on a line of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail(pub Vec<String>);

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}
