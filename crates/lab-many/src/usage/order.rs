// SPDX-License-Identifier: Apache-2.0
//! What an agent beside a server is asked to do, and its reports.

use lab_bench::Usage;
use serde::{Deserialize, Serialize};

/// What an agent beside a server is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsageOrder {
    /// Watch this process and its descendants.
    Process(i32),
    /// Watch the processes that listen on this port, and their descendants.
    Port(u16),
    /// Report what they have used.
    Read,
}

/// The result of an order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum UsageReport {
    /// The processes are watched.
    Watched,
    /// What they have used by now.
    Used(Usage),
}
