// SPDX-License-Identifier: Apache-2.0
//! Messages between coordinator and agent, for all kinds of work.

use crate::clock::ClockReading;
use crate::limits::ResourceLimits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From the coordinator to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// The first message, once the coordinator knows that the agent is the right program.
    Welcome {
        /// The limits of the coordinator's process.
        limits: ResourceLimits,
        /// After so much silence the coordinator counts as gone, ns.
        silence_ns: u64,
    },
    /// A sign of life.
    Beat,
    /// A question for the time.
    Clock {
        /// The question's number, which comes back with the answer.
        number: u64,
    },
    /// Work.
    Work(Value),
    /// Work up to this number is to end at once.
    Stop {
        /// The number of the last work that ends.
        number: u64,
    },
    /// There is no more work.
    End,
}

/// From an agent to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// The first message.
    Hello(Hello),
    /// A sign of life.
    Beat,
    /// The answer to a question for the time.
    Clock {
        /// The question's number.
        number: u64,
        /// When the question was received.
        received: ClockReading,
        /// When it was answered.
        answered: ClockReading,
    },
    /// The result of work.
    Work(Value),
    /// The work cannot be done.
    Failed(String),
}

/// How an agent introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The lab's version.
    pub version: String,
    /// Its program's SHA-256, if it was requested.
    pub sha256: Option<String>,
    /// Its process id on its machine.
    pub pid: i32,
    /// Its machine's name.
    pub machine: String,
    /// An identification of its machine; `None`: there is none.
    #[serde(default)]
    pub machine_id: Option<String>,
}
