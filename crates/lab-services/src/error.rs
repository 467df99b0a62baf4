// SPDX-License-Identifier: Apache-2.0
//! What can go wrong with a server, and what to do about it.

use crate::{Missing, Software};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no server, or no longer one.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its software is not there.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The reader wants the lab to stop.
    #[error("interrupted")]
    Interrupted,
    /// A folder cannot be used.
    #[error("{software} cannot use the folder {}: {reason}", folder.display())]
    Folder {
        /// Which daemon.
        software: &'static Software,
        /// The folder.
        folder: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Its data directory has no room left.
    #[error(
        "{software} has no room: {} MiB are free in {}; `--scratch DIR` puts its data elsewhere{log}",
        free_bytes >> 20, folder.display()
    )]
    Full {
        /// Which daemon.
        software: &'static Software,
        /// Its folder.
        folder: PathBuf,
        /// What is free there.
        free_bytes: u64,
        /// The last lines of its log.
        log: Log,
    },
    /// Every port that was free a moment ago was taken when the server wanted it.
    #[error("{software} found no free port on 127.0.0.1, tried: {tried:?}")]
    Port {
        /// Which daemon.
        software: &'static Software,
        /// The ports.
        tried: Vec<u16>,
    },
    /// It does not accept a setting.
    #[error("{software} refuses a setting of `--service-set`: {message}")]
    Setting {
        /// Which daemon.
        software: &'static Software,
        /// The server's own words, or the lab's.
        message: String,
    },
    /// It ended although nobody asked for it.
    #[error("{software} ended with {status}{log}")]
    Ended {
        /// Which daemon, or which program of it.
        software: &'static Software,
        /// How.
        status: String,
        /// The last lines of its log.
        log: Log,
    },
    /// It does not answer in time.
    #[error("{software} has not answered within {seconds} s{log}")]
    Silent {
        /// Which daemon.
        software: &'static Software,
        /// So long.
        seconds: u64,
        /// The last lines of its log.
        log: Log,
    },
    /// An address that is none.
    #[error("`--service {}=URL`: {reason}; it has the form {form}", software.name)]
    Url {
        /// Which daemon.
        software: &'static Software,
        /// The form of its addresses.
        form: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Nobody answers there, or not as this kind of server does.
    #[error("no {software} server at {place}: {reason}")]
    Unreachable {
        /// Which daemon.
        software: &'static Software,
        /// Where.
        place: String,
        /// What the connection met.
        reason: String,
    },
    /// The server refuses the user or the password.
    #[error("{software} at {place} refuses the login of `{user}`: {message}{hint}")]
    Login {
        /// Which daemon.
        software: &'static Software,
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// The server's own words.
        message: String,
        /// What else they can mean; may be empty.
        hint: &'static str,
    },
    /// The server wants TLS, which the subjects do without.
    #[error(
        "{software} at {place} takes no connection without TLS, and the experiment measures without: \
         allow user `{user}` to connect in the clear, or leave `--service` out and a private server \
         is started ({message})"
    )]
    Tls {
        /// Which daemon.
        software: &'static Software,
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// The server's own words.
        message: String,
    },
    /// A server of another make, or too old.
    #[error("the server at {place} is {version}: benchlab needs {}", software.needed())]
    Version {
        /// What was asked for.
        software: &'static Software,
        /// Where.
        place: String,
        /// What it says of itself.
        version: String,
    },
    /// The user may not do what the experiment needs.
    #[error("{software} at {place}: {reason}")]
    Rights {
        /// Which daemon.
        software: &'static Software,
        /// Where.
        place: String,
        /// What is missing, and what to do.
        reason: String,
    },
    /// The server refused a statement, or the connection broke.
    #[error("{software}: {message}")]
    Statement {
        /// Which daemon.
        software: &'static Software,
        /// The server's own words.
        message: String,
    },
    /// The operating system refused something.
    #[error("{software}: {operation}: {error}")]
    System {
        /// Which daemon.
        software: &'static Software,
        /// What the lab was about to do.
        operation: String,
        /// Why not.
        error: io::Error,
    },
}

/// The last lines of a server's log; displayed behind a message, each on a line of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(pub Vec<String>);

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}
