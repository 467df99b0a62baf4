// SPDX-License-Identifier: Apache-2.0
//! Load that several agents put on together, as one generator: the rate and the connections are divided, all begin at
//! the same moment, and their results are added up.

pub mod agent;
pub mod bytes;
mod gather;
mod generators;
mod order;

pub use generators::{LoadAgents, LoadStart};
pub use order::{LoadOrder, LoadReport};
