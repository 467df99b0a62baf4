// SPDX-License-Identifier: Apache-2.0
//! Orders to agents on the hosts of logs, and their reports.

use lab_logs::LogsRead;
use serde::{Deserialize, Serialize};

/// The logs that an agent reads, in the words of the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogsOrder {
    /// The files.
    pub logs: Vec<String>,
    /// True if to read their rotated predecessors, too.
    pub rotated: bool,
    /// Their format; `None`: it is detected.
    pub format: Option<String>,
    /// The unit of durations where the format does not state it, ns.
    pub unit: Option<u64>,
    /// The names of fields, for lines whose fields have names.
    pub fields: Option<String>,
    /// The time zone of times without an offset.
    pub zone: Option<String>,
    /// The text of a file of rules.
    pub rules: Option<String>,
}

/// The result of an order; the counts are the body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogsReport {
    /// The logs that were read.
    pub read: LogsRead,
    /// Logs that could not be read to their end, and why.
    pub failed: Vec<String>,
    /// Files that were named before, a sentence each.
    pub skipped: Vec<String>,
}
