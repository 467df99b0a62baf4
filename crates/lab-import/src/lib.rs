// SPDX-License-Identifier: Apache-2.0
//! Results of other tools: reads their files, and reports what they show.
//!
//! Each format has a file in [`format`] and an entry in [`FORMATS`]. What a tool measured in several processes (forks,
//! runs, launches) gets intervals and verdicts, with the process as the unit of replication. What it measured in one
//! process gets neither, and the report says so.
//!
//! Files are untrusted. They are read with limits on their size, their depth and the number of values, and an error
//! names the line or the path within the file. What a file contains but is not imported is listed as a remark.

mod error;
pub mod format;
mod json;
mod limits;
mod metrics;
mod read;
pub mod report;
mod source;
mod subject;
mod text;
mod wording;

pub use error::{ImportError, Problem};
pub use format::{FORMATS, ImportFormat};
pub use limits::Limits;
pub use read::{ImportedFile, join, parse, read};
