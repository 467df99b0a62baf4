// SPDX-License-Identifier: Apache-2.0
//! The library of `benchlab logs`: parses logs, counts requests and times in constant memory, and
//! analyzes and reports the results.
//!
//! A [`LogsSession`] reads logs into a [`Tally`]. A run file stores the result of
//! [`Tally::analysis`]. [`analysis`] computes the results with their intervals: the few pages that
//! matter, when they were slow, and the headroom. [`report`] turns the results into documents, and
//! [`gates`] judges the results. [`Records`] writes the individual entries to Parquet files.

mod agent;
pub mod analysis;
mod csv_numbers;
mod decompression;
mod documents;
mod entry;
pub mod finding;
mod follow;
pub mod format;
pub mod gates;
mod hour;
mod join;
mod learn;
mod log_source;
mod logs_error;
mod logs_read;
mod monitor_fetch;
mod named;
mod page;
mod part;
mod peak;
pub mod query;
pub mod read;
mod read_error;
mod records;
mod registers;
mod releases;
pub mod report;
mod rotation;
pub mod route;
mod rules;
mod seconds;
mod session;
mod sketch;
mod sql;
mod statements;
mod tally;
mod time;
pub mod wording;
mod zone_words;

pub use entry::{Entry, LineKind};
pub use follow::Follower;
pub use format::{FieldMap, Hints, LogReader};
pub use log_source::{LogSource, LogSources, check_files};
pub use logs_error::LogsError;
pub use logs_read::{LogFiles, LogsRead, UniqueFiles, files};
pub use named::{NOT_FOUND, OTHERS};
pub use part::TallyPart;
pub use read::ServerLog;
pub use read_error::ReadError;
pub use records::Records;
pub use rules::Rules;
pub use session::{LogsSession, Progress, SessionOptions};
pub use tally::Tally;
pub use time::Zone;
