// SPDX-License-Identifier: Apache-2.0
//! What can go wrong with a server, and what to do about it.

use crate::Kind;
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
    #[error("{kind} cannot use the folder {}: {why}", folder.display())]
    Folder {
        /// Which server.
        kind: Kind,
        /// The folder.
        folder: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Its data directory has no room left.
    #[error(
        "{kind} has no room: {} MiB are free in {}; `--scratch DIR` puts its data elsewhere{log}",
        free_bytes >> 20, folder.display()
    )]
    Full {
        /// Which server.
        kind: Kind,
        /// Its folder.
        folder: PathBuf,
        /// What is free there.
        free_bytes: u64,
        /// The last lines of its log.
        log: Log,
    },
    /// Every port that was free a moment ago was taken when the server wanted it.
    #[error("{kind} found no free port on 127.0.0.1, tried: {tried:?}")]
    Port {
        /// Which server.
        kind: Kind,
        /// The ports.
        tried: Vec<u16>,
    },
    /// It does not accept a setting.
    #[error("{kind} refuses a setting of `--service-set`: {words}")]
    Setting {
        /// Which server.
        kind: Kind,
        /// The server's own words, or the lab's.
        words: String,
    },
    /// It ended although nobody asked for it.
    #[error("{kind} ended with {status}{log}")]
    Ended {
        /// Which server, or which program of it.
        kind: Kind,
        /// How.
        status: String,
        /// The last lines of its log.
        log: Log,
    },
    /// It does not answer in time.
    #[error("{kind} has not answered within {seconds} s{log}")]
    Silent {
        /// Which server.
        kind: Kind,
        /// So long.
        seconds: u64,
        /// The last lines of its log.
        log: Log,
    },
    /// An address that is none.
    #[error("`--service {}=URL`: {why}; it has the form {}", kind.name(), kind.form())]
    Url {
        /// Which server.
        kind: Kind,
        /// What is wrong.
        why: String,
    },
    /// Nobody answers there, or not as this kind of server does.
    #[error("no {kind} server at {place}: {why}")]
    Unreachable {
        /// Which server.
        kind: Kind,
        /// Where.
        place: String,
        /// What the connection met.
        why: String,
    },
    /// The server refuses the user or the password.
    #[error("{kind} at {place} refuses the login of `{user}`: {words}{}", hint(*kind))]
    Login {
        /// Which server.
        kind: Kind,
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// The server's own words.
        words: String,
    },
    /// The server wants TLS, which the subjects do without.
    #[error(
        "{kind} at {place} takes no connection without TLS, and the experiment measures without: \
         allow user `{user}` to connect in the clear, or leave `--service` out and a private server \
         is started ({words})"
    )]
    Tls {
        /// Which server.
        kind: Kind,
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// The server's own words.
        words: String,
    },
    /// A server of another make, or too old.
    #[error("the server at {place} is {found}: benchlab needs {}", kind.oldest())]
    Version {
        /// What was asked for.
        kind: Kind,
        /// Where.
        place: String,
        /// What it says of itself.
        found: String,
    },
    /// The user may not do what the experiment needs.
    #[error("{kind} at {place}: {why}")]
    Rights {
        /// Which server.
        kind: Kind,
        /// Where.
        place: String,
        /// What is missing, and what to do.
        why: String,
    },
    /// The server refused a statement, or the connection broke.
    #[error("{kind}: {words}")]
    Statement {
        /// Which server.
        kind: Kind,
        /// The server's own words.
        words: String,
    },
    /// The operating system refused something.
    #[error("{kind}: {what}: {error}")]
    System {
        /// Which server.
        kind: Kind,
        /// What the lab was about to do.
        what: String,
        /// Why not.
        error: io::Error,
    },
}

fn hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgresql => "",
        Kind::Mariadb => {
            "; MariaDB says so of a user who must use TLS, too, and under require_secure_transport: the \
             experiment measures without"
        }
    }
}

/// The software of a server is not there, or only in a version that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Missing {
    /// Of which server.
    pub kind: Kind,
    /// What is there instead: programs and their versions.
    pub found: Vec<String>,
}

impl Missing {
    /// The Debian packages that hold it.
    pub fn packages(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Postgresql => &["postgresql"],
            Kind::Mariadb => &["mariadb-server-core"],
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, packages) = (self.kind, self.packages().join(" "));
        match &self.found[..] {
            [] => write!(f, "{kind} is not installed")?,
            found => write!(
                f,
                "{} is needed, and there is {}",
                kind.oldest(),
                found.join(", ")
            )?,
        }
        write!(f, "; on Debian: apt-get install {packages}")
    }
}

/// The last lines of a server's log; displayed behind a message, each on a line of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(pub Vec<String>);

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}
