// SPDX-License-Identifier: Apache-2.0
//! The lab on more than one machine. A coordinator starts agents, which are its own program, through what can start
//! programs on other machines; gives them work, collects the results, and ends them.
//!
//! A [`launcher::Launcher`] starts the command to whose standard input and output an agent is connected, so that
//! nothing listens anywhere. [`Agents`] are the coordinator's end, [`agent`] is theirs; [`wire`] and [`message`] are
//! between them. The kinds of work are in modules of their own, each with both ends.

pub mod agent;
mod agents;
pub mod clock;
pub mod experiment;
pub mod launcher;
mod limits;
mod link;
pub mod load;
pub mod logs;
pub mod message;
mod program;
mod serve;
pub mod usage;
pub mod wire;
pub mod work;

pub use agents::{AgentStart, Agents, StartError};
pub use link::AgentEvent;
pub use serve::serve;
