// SPDX-License-Identifier: Apache-2.0
//! Agents: benchlab processes that do part of the work, on this machine or on others.

use crate::Host;
use serde::{Deserialize, Serialize};

/// An agent that took part in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// The host on which it was started, such as `gen1`; unique among agents that were started together.
    pub name: String,
    /// The launcher that started the agent: `local`, `netns`, `ssh`, `slurm` or `k8s`.
    pub launcher: String,
    /// The machine's own name for itself.
    pub machine: String,
    /// The version of benchlab there; the same as the coordinator's.
    pub version: String,
    /// Its machine, with the conditions that disturb a measurement there.
    pub host: Host,
    /// The offset between its clock (UTC) and the coordinator's when the agent was started.
    pub clock: ClockOffset,
    /// The reason why it was lost; `None` if it stayed until the end.
    pub lost: Option<String>,
    /// True if the user excluded the agent from all results.
    #[serde(default)]
    pub is_left_out: bool,
}

/// The offset of a clock relative to another clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The estimate in ns; negative if the clock is behind.
    pub ahead_ns: i64,
    /// The maximum error of the estimate, in ns.
    pub error_ns: u64,
    /// The shortest round trip of a message, ns.
    pub round_trip_ns: u64,
}
