// SPDX-License-Identifier: Apache-2.0
//! Errors with their location in the file.

use std::fmt;

/// A problem at a location in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The location, such as `line 3, column 7` or `results[2].times[0]`. Empty for the whole file.
    pub location: String,
    /// The defect, and how to repair it.
    pub message: String,
}

impl Problem {
    /// Creates a problem with the whole file.
    pub fn whole(message: impl Into<String>) -> Problem {
        Problem::with_location("", message)
    }

    /// Creates a problem at a location.
    pub fn with_location(location: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem {
            location: location.into(),
            message: message.into(),
        }
    }

    /// Creates a problem on a line, starting at 1.
    pub fn on_line(line: usize, message: impl Into<String>) -> Problem {
        Problem::with_location(format!("line {line}"), message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location.as_str() {
            "" => write!(f, "{}", self.message),
            location => write!(f, "{location}: {}", self.message),
        }
    }
}

/// An error that prevents the import of a file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The path of the unreadable file.
        path: String,
        /// The error that the operating system reported.
        source: std::io::Error,
    },
    /// The file is not in a known format.
    #[error(
        "{path}: not a file of a known tool ({known}); use --from FORMAT to see why it is not in that format"
    )]
    Unknown {
        /// The path of the unrecognized file.
        path: String,
        /// The names of all formats.
        known: String,
    },
    /// The file is damaged, has an unsupported version, or is too large.
    #[error("{path}: {problem} (read as {format})")]
    Invalid {
        /// The path of the invalid file.
        path: String,
        /// The problem with its location.
        problem: Problem,
        /// The format's name.
        format: &'static str,
    },
    /// Files of different tools are to be joined.
    #[error("cannot join files of different tools: {0} and {1}")]
    DifferentTools(&'static str, &'static str),
}
