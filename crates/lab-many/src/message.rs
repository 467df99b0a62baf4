// SPDX-License-Identifier: Apache-2.0
//! What coordinator and agent tell each other, whatever the work is.

use crate::clock::Reading;
use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From the coordinator to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// First of all, once the coordinator knows that it is the program that it should be.
    Welcome {
        /// Of the coordinator's process.
        limits: Limits,
        /// Who hears nothing for so long is alone, ns.
        silence_ns: u64,
    },
    /// The coordinator is there.
    Beat,
    /// What time is it? `number`: which question it is.
    Clock {
        /// Comes back with the answer.
        number: u64,
    },
    /// Work.
    Work(Value),
    /// Work up to this number is to end at once.
    Stop {
        /// Of the last work that ends.
        number: u64,
    },
    /// There is no more work.
    End,
}

/// From an agent to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// First of all.
    Hello(Hello),
    /// The agent is there.
    Beat,
    /// When a question for the time came, and when it was answered.
    Clock {
        /// Of the question.
        number: u64,
        /// It came.
        received: Reading,
        /// It was answered.
        answered: Reading,
    },
    /// What came of work.
    Work(Value),
    /// The work cannot be done.
    Failed(String),
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The lab's version.
    pub version: String,
    /// Its program's SHA-256, if it was asked for.
    pub sha256: Option<String>,
    /// Its process, as its machine numbers it.
    pub pid: i32,
    /// Its machine's name.
    pub machine: String,
    /// What tells its machine from others; `None`: it cannot tell.
    #[serde(default)]
    pub machine_id: Option<String>,
}
