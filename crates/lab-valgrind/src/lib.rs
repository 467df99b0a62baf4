// SPDX-License-Identifier: Apache-2.0
//! Parses the output files of Valgrind 3.15 and newer: Massif, Cachegrind, Callgrind and DHAT.
//!
//! Files are read line by line. Memory use grows with the number of distinct items in a file, up to fixed limits, and
//! not with the length of the file.

mod cachegrind;
mod callgrind;
mod churn;
mod costs;
mod dhat;
mod error;
mod hot_lines;
mod join;
mod lines;
mod massif;
mod names;
mod stacks;

pub use cachegrind::read as read_cachegrind;
pub use callgrind::{CallgrindReader, read as read_callgrind};
pub use churn::{Churn, churn};
pub use costs::{Call, CostProfile, Function, LineCosts};
pub use dhat::{AllocationPoint, Dhat, read as read_dhat};
pub use error::ProfileError;
pub use hot_lines::HotLine;
pub use join::{FunctionPair, LinePair, join, join_lines};
pub use massif::{AllocationSite, Massif, Snapshot, TimeUnit, read as read_massif};
pub use names::{Frame, base_name, clean, has_symbol};
pub use stacks::Stack;

/// Valgrind options that set the simulated caches, so that results do not depend on the host's caches.
///
/// The values are size, ways and bytes per line of I1, D1 and the last level.
pub const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=49152,12,64", "--LL=8388608,16,64"];

/// The Valgrind option that disables the debugger's pipes, which would remain on disk if Valgrind were killed.
pub const NO_DEBUGGER: &str = "--vgdb=no";
