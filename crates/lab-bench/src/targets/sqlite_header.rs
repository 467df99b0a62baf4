// SPDX-License-Identifier: Apache-2.0
//! Counters in the header of an SQLite file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The counters of changes to the file.
#[derive(Clone, Copy, Default)]
pub struct HeaderCounters {
    /// The number of commits so far.
    pub commits: u32,
    /// The number of tables created or dropped so far.
    pub schema_changes: u32,
}

/// An open SQLite file, for reading its header. Dropping it releases all locks of this process on the file.
pub struct SqliteHeader(pub File);

impl SqliteHeader {
    /// Reads the change counter (bytes 24 to 27; SQLite file format, 1.3.7) and the schema cookie (bytes 40 to 43;
    /// 1.3.9).
    ///
    /// Returns `None` in WAL mode (bytes 18 and 19 are 2), in which commits are not counted.
    pub fn counters(&self) -> io::Result<Option<HeaderCounters>> {
        let mut header = [0; 44];
        self.0.read_exact_at(&mut header, 0)?;
        let number = |offset: usize| {
            u32::from_be_bytes([
                header[offset],
                header[offset + 1],
                header[offset + 2],
                header[offset + 3],
            ])
        };
        let counters = HeaderCounters {
            commits: number(24),
            schema_changes: number(40),
        };
        Ok((header[18] != 2).then_some(counters))
    }
}
