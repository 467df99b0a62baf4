// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and an agent, for all kinds of work.

use crate::clock::ClockReading;
use crate::limits::ResourceLimits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message from the coordinator to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// The first message. The coordinator verifies the agent's program before it sends this
    /// message.
    Welcome {
        /// The resource limits of the coordinator's process, which the agent adopts.
        limits: ResourceLimits,
        /// The time of silence, in ns, after which the coordinator counts as unreachable.
        silence_ns: u64,
    },
    /// A heartbeat, which shows that the coordinator is running.
    Beat,
    /// A clock request.
    Clock {
        /// The number of the request, which the response repeats.
        number: u64,
    },
    /// Work for the agent.
    Work(Value),
    /// A request to immediately stop all work up to and including a number.
    Stop {
        /// The number of the last work to stop.
        number: u64,
    },
    /// There is no more work.
    End,
}

/// A message from an agent to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// The first message, in which the agent introduces itself.
    Hello(Hello),
    /// A heartbeat, which shows that the agent is running.
    Beat,
    /// The response to a clock request.
    Clock {
        /// The number of the request.
        number: u64,
        /// The time at which the request was received.
        received: ClockReading,
        /// The time at which the response was created.
        answered: ClockReading,
    },
    /// The result of the agent's work.
    Work(Value),
    /// The agent cannot do the work. Contains the reason.
    Failed(String),
}

/// The introduction of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of benchlab.
    pub version: String,
    /// The SHA-256 of the agent's program, if it was requested.
    pub sha256: Option<String>,
    /// The process ID on the agent's machine.
    pub pid: i32,
    /// The name of the agent's machine.
    pub machine: String,
    /// An ID of the agent's machine, or `None` if the machine has no ID.
    #[serde(default)]
    pub machine_id: Option<String>,
}
