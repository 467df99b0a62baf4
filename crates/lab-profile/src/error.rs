// SPDX-License-Identifier: Apache-2.0
//! Why a file could not be read.

/// What was wrong with a file, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A line is not as the format has it.
    #[error("line {line}: {reason}")]
    Line {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file ends too early.
    #[error("it ends too early: {0}; was the program or Valgrind killed while it was written?")]
    Truncated(String),
    /// It is something else.
    #[error("it is no file of {tool}'s{hint}")]
    Foreign {
        /// Which tool's was wanted.
        tool: &'static str,
        /// Whose it is, after a colon, or empty.
        hint: String,
    },
    /// It is of a version that is not known.
    #[error(
        "it has version {found} of {tool}'s format, and up to version {supported} is known: update benchlab"
    )]
    TooNew {
        /// Whose format.
        tool: &'static str,
        /// What the file says.
        found: String,
        /// The newest that is known.
        supported: u32,
    },
    /// It holds more than fits into memory.
    #[error("it holds more than {most} {items}: profile a shorter part of the program")]
    TooMuch {
        /// The limit.
        most: usize,
        /// Of what.
        items: &'static str,
    },
    /// The disk or the pipe.
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
