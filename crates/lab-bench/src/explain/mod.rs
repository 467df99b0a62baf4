// SPDX-License-Identifier: Apache-2.0
//! Counts the events of one operation of a subject, separately from all measurements.
//!
//! The events are system calls, round trips, context switches, page faults, allocations,
//! instructions and cache misses. They are counted for a batch, and for another batch of twice the
//! length. In the difference, the costs of starting, of opening the case, and of the protocol
//! cancel out.

mod allocations;
mod commands;
mod counting;
mod explainer;
mod serving;
mod simulated;
mod trace;
mod unit_costs;

pub use commands::CommandExplainer;
pub use explainer::Explainer;
pub use serving::ServerExplainer;
pub use trace::{TraceError, read_trace};
pub use unit_costs::unit_costs;

use std::path::PathBuf;

/// Returns the path of strace if it is installed.
pub fn tracer() -> Option<PathBuf> {
    crate::build::in_path("strace")
}
