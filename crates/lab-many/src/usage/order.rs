// SPDX-License-Identifier: Apache-2.0
//! What an agent beside a server is asked for, and tells.

use lab_bench::Usage;
use serde::{Deserialize, Serialize};

/// What an agent beside a server is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// From now on watch this process and all that descend from it.
    Process(i32),
    /// From now on watch those that listen on this port, and all that descend from them.
    Port(u16),
    /// Tell what they have used.
    Read,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// They are watched.
    Watched,
    /// What they have used by now.
    Used(Usage),
}
