// SPDX-License-Identifier: Apache-2.0
//! Requests to the agents on the hosts that have the logs, and the agents' responses.

use lab_logs::LogsRead;
use serde::{Deserialize, Serialize};

/// The logs that an agent reads, specified as on the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogsOrder {
    /// The names of the log files.
    pub logs: Vec<String>,
    /// True to also read the rotated files of the logs.
    pub rotated: bool,
    /// The format, or `None` to detect it.
    pub format: Option<String>,
    /// The unit of durations in ns, if the format does not state it.
    pub unit: Option<u64>,
    /// The names of fields, for formats in which fields have names.
    pub fields: Option<String>,
    /// The time zone of timestamps without an offset.
    pub zone: Option<String>,
    /// The text of a rule file.
    pub rules: Option<String>,
}

/// The result of an order. The counts are in the body of the message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogsReport {
    /// The logs that were read.
    pub read: LogsRead,
    /// Logs that could not be read completely, with the reasons.
    pub failed: Vec<String>,
    /// Files that were skipped as duplicates, with one sentence for each.
    pub skipped: Vec<String>,
}
