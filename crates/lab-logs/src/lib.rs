// SPDX-License-Identifier: Apache-2.0
//! Everything about `benchlab logs`: formats, routes, counts and times in constant memory; the analysis that shows which
//! few pages matter, when, and how much room is left; and the reports.
//!
//! [`read`] reads a log into a [`Tally`]; [`Tally::analysis`] is what a run file keeps; [`analysis`] computes the results,
//! with intervals; [`report`] makes documents of them. [`Records`] keeps the entries themselves as Parquet files.

mod advice;
mod agent;
pub mod analysis;
mod documents;
mod entry;
pub mod format;
mod hour;
mod join;
mod learn;
mod logs_read;
mod named;
mod page;
mod part;
mod peak;
pub mod query;
pub mod read;
mod read_error;
mod records;
mod registers;
pub mod report;
mod rotation;
pub mod route;
mod rules;
mod seconds;
mod sketch;
mod sql;
mod tally;
mod time;
mod zone_words;

pub use advice::Advice;
pub use entry::{Entry, LineKind};
pub use format::{FieldMap, Hints, LogReader};
pub use logs_read::{LogsRead, UniqueFiles, files};
pub use named::{NOT_FOUND, OTHERS};
pub use part::TallyPart;
pub use read::ServerLog;
pub use read_error::ReadError;
pub use records::Records;
pub use rules::Rules;
pub use tally::Tally;
pub use time::Zone;
