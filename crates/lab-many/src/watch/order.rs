// SPDX-License-Identifier: Apache-2.0
//! What agents beside logs are asked for, and tell.

use lab_watch::LogsRead;
use serde::{Deserialize, Serialize};

/// What an agent is to read, in the words of the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Files.
    pub logs: Vec<String>,
    /// Their rotated predecessors, too.
    pub rotated: bool,
    /// Their format; `None`: it is found out.
    pub format: Option<String>,
    /// The unit of durations where the format does not tell it, ns.
    pub unit: Option<u64>,
    /// Of times without an offset.
    pub zone: Option<String>,
    /// The text of a file of rules.
    pub rules: Option<String>,
}

/// What came of it; what was counted is the body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The logs.
    pub read: LogsRead,
    /// Those that could not be read to their end, and why.
    pub failed: Vec<String>,
}
