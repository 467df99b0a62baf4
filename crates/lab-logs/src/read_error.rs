// SPDX-License-Identifier: Apache-2.0
//! The errors of reading a log.

use std::io::{self, BufReader, Read};

/// The reason why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed. The entries before the failure are counted.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format is unknown or invalid.
    #[error("{0}")]
    Format(String),
    /// The user stopped the program.
    #[error("stopped")]
    Stopped,
}

/// Reads at most `most` bytes. Returns an error if the input is longer.
pub(crate) fn limited(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    BufReader::new(input)
        .take(most + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(io::Error::other(format!(
            "the input is larger than {} MiB",
            most >> 20
        )))
    } else {
        Ok(bytes)
    }
}
