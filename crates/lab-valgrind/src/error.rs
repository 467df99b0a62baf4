// SPDX-License-Identifier: Apache-2.0
//! Why a file could not be read.

/// A file that cannot be read as a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A wrong line.
    #[error("line {line}: {reason}")]
    Line {
        /// The line number, from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// The file ends too early.
    #[error("it ends too early: {0}; was the program or Valgrind killed while it was written?")]
    Truncated(String),
    /// The file is not of this tool.
    #[error("it is no file of {tool}'s{hint}")]
    Foreign {
        /// The tool whose file was expected.
        tool: &'static str,
        /// The tool whose file it is, after a colon; or empty.
        hint: String,
    },
    /// The file's version is not supported.
    #[error(
        "it has version {found} of {tool}'s format, and up to version {supported} is known: update benchlab"
    )]
    TooNew {
        /// The tool of the format.
        tool: &'static str,
        /// The version of the file.
        found: String,
        /// The newest supported version.
        supported: u32,
    },
    /// The file has more items than the limit.
    #[error("it holds more than {most} {items}: profile a shorter part of the program")]
    TooMuch {
        /// The limit.
        most: usize,
        /// The items.
        items: &'static str,
    },
    /// Reading failed.
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// A file of another tool's than `tool`, told by its first line.
pub(crate) fn foreign(tool: &'static str, first: &[u8]) -> ProfileError {
    let begins = |text: &str| first.starts_with(text.as_bytes());
    let hint = if first.is_empty() {
        ": it is empty"
    } else if begins("{\"dhat") {
        ": it is DHAT's, give it with --dhat"
    } else if begins("# callgrind") || begins("version:") || begins("creator: callgrind") {
        ": it looks like Callgrind's, give it with --callgrind"
    } else if begins("desc: I1 cache") {
        ": it looks like Cachegrind's, give it with --cachegrind"
    } else if begins("desc:") {
        ": it looks like Massif's or Cachegrind's, give it with --massif or --cachegrind"
    } else if begins("==") {
        ": it looks like Valgrind's log"
    } else if begins("<?xml") {
        ": it is XML"
    } else {
        ""
    };
    ProfileError::Foreign {
        tool,
        hint: hint.into(),
    }
}
