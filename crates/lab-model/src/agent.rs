// SPDX-License-Identifier: Apache-2.0
//! Agents: processes of the lab that do a part of its work, on this machine or on others.

use crate::Host;
use serde::{Deserialize, Serialize};

/// An agent that took part in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Where it was started, such as `gen1`; unique among those that were started together.
    pub name: String,
    /// The launcher that starts it: `local`, `netns`, `ssh`, `slurm`, `k8s`.
    pub launcher: String,
    /// The name of its machine, as that says.
    pub machine: String,
    /// The lab's version there; the coordinator's own.
    pub version: String,
    /// Its machine, and what would disturb a measurement there.
    pub host: Host,
    /// How far its clock (UTC) was ahead of the coordinator's when it was started.
    pub clock: ClockOffset,
    /// Why it was lost; `None`: it was there to the end.
    pub lost: Option<String>,
    /// The reader left it out of all figures.
    #[serde(default)]
    pub is_left_out: bool,
}

/// How far one clock is ahead of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Estimate, ns; negative: behind.
    pub ahead_ns: i64,
    /// The most that the estimate is off, ns.
    pub error_ns: u64,
    /// The shortest round trip of a message, ns.
    pub round_trip_ns: u64,
}
