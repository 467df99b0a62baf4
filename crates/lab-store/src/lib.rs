// SPDX-License-Identifier: Apache-2.0
//! The run file: one SQLite database that holds a run, whole or in the making.
//!
//! While a run is measured its file is in WAL mode and every record is committed before the next
//! one is taken, so a killed lab loses nothing that was complete. A block's end is forced to the
//! disk. A finished file is one plain file. The tables are described in `docs/run-file.md`.
//!
//! Distributions of times are kept as HdrHistograms; [`hlog()`] writes them as such tools' log.

mod consistency;
mod error;
pub mod histogram;
mod hlog;
mod in_file;
mod log_analysis;
mod merge;
mod read;
mod record;
mod schema;
mod values;
mod write;

pub use error::StoreError;
pub use hlog::hlog;
pub use read::{
    Heading, RunProgress, command_line, connects_per_s, is_measured, load, recorded_hashes,
};
pub use write::{BlockWriter, RunWriter};
