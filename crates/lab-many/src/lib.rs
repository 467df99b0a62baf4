// SPDX-License-Identifier: Apache-2.0
//! benchlab on multiple machines.
//!
//! A coordinator starts agents, which run the same program. It assigns work to them, collects the
//! results, and ends them.
//!
//! A [`launcher::Launcher`] starts a command whose standard input and output connect to an agent,
//! so no port is opened. [`Agents`] is the coordinator's side of the connection, and [`agent`] is
//! the agent's side. [`wire`] and [`message`] define the messages between them. Each kind of work
//! is a module that contains both sides.

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
