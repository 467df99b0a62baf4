// SPDX-License-Identifier: Apache-2.0
//! Valgrind's files (3.15 and newer) as figures: Massif, Cachegrind, Callgrind and DHAT.
//! Files are read line by line; memory grows with what is distinct in a file, up to limits, never with its length.

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

/// Options of the caches that are simulated whatever the host has, so that figures do not depend on it: I1, D1 and last
/// level, each size, ways and bytes of a line.
pub const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=49152,12,64", "--LL=8388608,16,64"];

/// A killed Valgrind would leave behind the pipes by which a debugger reaches it.
pub const NO_DEBUGGER: &str = "--vgdb=no";
