// SPDX-License-Identifier: Apache-2.0
//! Why a log could not be read.

use std::io::{self, BufReader, Read};

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It could not be read on; what was read is counted.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Its format is not known.
    #[error("{0}")]
    Format(String),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// At most so many bytes of an input; error: there are more.
pub(crate) fn limited(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    BufReader::new(input)
        .take(most + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(io::Error::other(format!(
            "it has more than {} MiB",
            most >> 20
        )))
    } else {
        Ok(bytes)
    }
}
