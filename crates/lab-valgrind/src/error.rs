// SPDX-License-Identifier: Apache-2.0
//! Errors that occur when a profile is read.

/// An error while reading a file as a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A line is invalid.
    #[error("line {line}: {reason}")]
    Line {
        /// The line number, starting at 1.
        line: u64,
        /// A description of the problem.
        reason: String,
    },
    /// The file is truncated.
    #[error("the file is truncated: {0}; was the program or Valgrind killed while writing it?")]
    Truncated(String),
    /// The file was not written by the expected tool.
    #[error("not a {tool} file{hint}")]
    Foreign {
        /// The tool whose file was expected.
        tool: &'static str,
        /// A colon and the name of the tool that wrote the file. Empty if unknown.
        hint: String,
    },
    /// The file's version is not supported.
    #[error(
        "version {found} of {tool}'s format is newer than the supported version {supported}: update benchlab"
    )]
    TooNew {
        /// The tool that wrote the file.
        tool: &'static str,
        /// The version of the file.
        found: String,
        /// The newest supported version.
        supported: u32,
    },
    /// The file has too many items of a kind.
    #[error("the file has more than {most} {items}: profile a shorter section of the program")]
    TooMuch {
        /// The maximum number of items of this kind.
        most: usize,
        /// The kind of items, in the plural.
        items: &'static str,
    },
    /// The file could not be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] std::io::Error),
}

/// Creates an error for a file that was not written by `tool`. The first line may reveal the actual tool.
pub(crate) fn foreign(tool: &'static str, first: &[u8]) -> ProfileError {
    let begins = |text: &str| first.starts_with(text.as_bytes());
    let hint = if first.is_empty() {
        ": it is empty"
    } else if begins("{\"dhat") {
        ": it is a DHAT file; pass it with --dhat"
    } else if begins("# callgrind") || begins("version:") || begins("creator: callgrind") {
        ": it looks like a Callgrind file; pass it with --callgrind"
    } else if begins("desc: I1 cache") {
        ": it looks like a Cachegrind file; pass it with --cachegrind"
    } else if begins("desc:") {
        ": it looks like a Massif or Cachegrind file; pass it with --massif or --cachegrind"
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
