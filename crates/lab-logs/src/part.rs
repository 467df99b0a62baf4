// SPDX-License-Identifier: Apache-2.0
//! The counts from some of the logs, in the form in which agents send them for merging.

use crate::hour::Hour;
use crate::join::Join;
use crate::page::{CellWidth, Page};
use crate::seconds::Seconds;
use serde::{Deserialize, Serialize};
use std::io::Read;

/// The maximum size of the decompressed counts, in bytes.
const MAX_BYTES: u64 = 4 << 30;

/// The compression level. A fast level suffices, because the data is mostly names and small
/// numbers.
const LEVEL: i32 = 3;

/// The counts of a tally, without the state that is needed only while counting.
#[derive(Debug, Serialize, Deserialize)]
pub struct TallyPart {
    pub(crate) pages: Vec<Page>,
    pub(crate) width: CellWidth,
    pub(crate) first_s: i64,
    pub(crate) last_s: i64,
    pub(crate) hours: Vec<Hour>,
    pub(crate) seconds: Option<Seconds>,
    pub(crate) clock_jumps: u64,
    pub(crate) merged: u64,
    pub(crate) join: Join,
}

impl TallyPart {
    /// Serializes and compresses the counts. Returns an error if memory runs out.
    pub fn pack(&self) -> Result<Vec<u8>, String> {
        let mut packed = zstd::Encoder::new(Vec::new(), LEVEL).map_err(|e| e.to_string())?;
        serde_json::to_writer(&mut packed, self).map_err(|e| e.to_string())?;
        packed.finish().map_err(|e| e.to_string())
    }

    /// Decompresses and parses the counts. Returns an error if the bytes are invalid.
    pub fn unpack(bytes: &[u8]) -> Result<TallyPart, String> {
        let unpacked = zstd::Decoder::new(bytes).map_err(|e| e.to_string())?;
        serde_json::from_reader(std::io::BufReader::new(unpacked.take(MAX_BYTES)))
            .map_err(|e| e.to_string())
    }
}
