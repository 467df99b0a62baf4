// SPDX-License-Identifier: Apache-2.0
//! Load that multiple agents generate together, like a single load generator.
//!
//! The agents divide the rate and the connections among themselves, and start at the same time.
//! Their results are added up.

pub mod agent;
pub mod bytes;
mod gather;
mod generators;
mod order;

pub use generators::{LoadAgents, LoadStart};
pub use order::{LoadOrder, LoadReport};
