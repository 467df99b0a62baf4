// SPDX-License-Identifier: Apache-2.0
//! The run file: one SQLite database that holds a run, whole or in the making.
//!
//! While a run is measured its file is in WAL mode and every record is committed before the next
//! one is taken, so a killed lab loses nothing that was complete. A block's end is forced to the
//! disk. A finished file is one plain file. The tables are described in `docs/run-file.md`.

mod error;
mod read;
mod schema;
mod sound;
mod write;

pub use error::StoreError;
pub use read::{Heading, load, recorded_hashes};
pub use write::{BlockWriter, RunWriter};
