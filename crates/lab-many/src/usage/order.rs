// SPDX-License-Identifier: Apache-2.0
//! Messages to an agent on a server's machine, and the reports that it sends back.

use lab_bench::Usage;
use serde::{Deserialize, Serialize};

/// An order to an agent on a server's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsageOrder {
    /// Monitor a process and its descendants. Contains the process ID.
    Process(i32),
    /// Monitor the processes that listen on a TCP port, and their descendants. Contains the port.
    Port(u16),
    /// Report the usage of the monitored processes.
    Read,
}

/// The result of an order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum UsageReport {
    /// The processes are monitored.
    Watched,
    /// The usage of the processes so far.
    Used(Usage),
}
