// SPDX-License-Identifier: Apache-2.0
//! Counts what one operation of a subject costs in system calls, round trips, switches, faults, allocations,
//! instructions and misses, outside of all measuring. A batch and one of twice its length are set against each
//! other, so that the start, the opening and the protocol cost nothing.

mod allocations;
mod commands;
mod counting;
mod explainer;
mod serving;
mod simulated;
mod trace;

pub use commands::CommandExplainer;
pub use explainer::Explainer;
pub use serving::ServerExplainer;
pub use trace::{TraceError, read_trace};

use std::path::PathBuf;

/// The path of strace, if it is installed.
pub fn tracer() -> Option<PathBuf> {
    crate::build::in_path("strace")
}
