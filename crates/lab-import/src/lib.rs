// SPDX-License-Identifier: Apache-2.0
//! Results of other tools: reads their files and reports on them.
//!
//! Each format has a file in [`format`] and an entry in [`FORMATS`]. Benchmarks that a tool
//! measured in multiple processes (forks, runs, launches) get intervals and verdicts, with the
//! process as the unit of replication. Benchmarks that were measured in one process get neither,
//! and the report says so.
//!
//! Files are untrusted. They are read with limits on their size, their depth and the number of
//! values, and an error names the line or the path within the file. Content that is not imported is
//! listed as a remark.

mod error;
pub mod format;
mod json;
mod limits;
mod metrics;
mod read;
pub mod report;
mod responses;
mod shorten;
mod source;
mod subject;
mod text;
mod wording;

pub use error::{ImportError, Problem};
pub use format::{FORMATS, ImportFormat};
pub use limits::Limits;
pub use read::{ImportedFile, parse, read, read_joined};
