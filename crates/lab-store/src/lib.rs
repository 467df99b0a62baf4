// SPDX-License-Identifier: Apache-2.0
//! The run file: an SQLite database that contains a run, finished or in progress.
//!
//! While a run is in progress, its file is in WAL mode, and each record is committed before the
//! next record is measured. If benchlab is killed, no complete record is lost. At the end of a
//! block, the data is flushed to the disk. A finished run is a single plain file. The tables are
//! described in `docs/run-file.md`.
//!
//! Distributions of times are stored as HdrHistograms; [`hlog()`] exports them as an HdrHistogram
//! log.

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
    Heading, RunProgress, connects_per_s, is_measured, is_run_file, load, recorded_hashes,
};
pub use write::{BlockWriter, RunWriter};
