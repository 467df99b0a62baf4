// SPDX-License-Identifier: Apache-2.0
//! Agents: benchlab processes that do part of a run's work, on this machine or on other machines.

use crate::Host;
use serde::{Deserialize, Serialize};

/// An agent that took part in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// The host on which the agent was started, such as `gen1`. It is unique among agents that were
    /// started together.
    pub name: String,
    /// The launcher that started the agent: `local`, `netns`, `ssh`, `slurm` or `k8s`.
    pub launcher: String,
    /// The host name that the agent's machine reports.
    pub machine: String,
    /// The version of benchlab that the agent runs. It equals the coordinator's version.
    pub version: String,
    /// The agent's machine, and the conditions on it that disturb measurements.
    pub host: Host,
    /// The offset of the agent's clock from the coordinator's clock when the agent was started.
    /// Both clocks are in UTC.
    pub clock: ClockOffset,
    /// The message that explains the loss of the agent, or `None` if the agent was not lost.
    pub lost: Option<String>,
    /// True if the user excluded the agent from all results.
    #[serde(default)]
    pub is_left_out: bool,
}

/// The offset of a clock relative to another clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The estimated offset, in ns. It is negative if the clock is behind the other clock.
    pub ahead_ns: i64,
    /// The maximum error of the estimate, in ns.
    pub error_ns: u64,
    /// The shortest round-trip time of a message, in ns.
    pub round_trip_ns: u64,
}
