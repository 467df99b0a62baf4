// SPDX-License-Identifier: Apache-2.0
//! Valgrind's files (3.15 and newer) as figures: Massif, Cachegrind, Callgrind and DHAT.
//! Files are read line by line; memory grows with what is distinct in a file, up to limits, never with its length.

mod cachegrind;
mod callgrind;
mod churn;
mod costs;
mod dhat;
mod error;
mod explain;
mod gate;
mod join;
mod lines;
mod massif;
mod names;
mod source;
mod stacks;

pub use cachegrind::read as read_cachegrind;
pub use callgrind::{CallgrindReader, read as read_callgrind};
pub use churn::{Churn, churn};
pub use costs::{Call, CostProfile, Function, LineCosts};
pub use dhat::{AllocationPoint, Dhat, read as read_dhat};
pub use error::ProfileError;
pub use explain::{Access, Cache, Explanation, d1, explain};
pub use gate::{GateCondition, GateResult};
pub use join::{FunctionPair, LinePair, join, join_lines};
pub use massif::{AllocationSite, Massif, Snapshot, TimeUnit, read as read_massif};
pub use names::{Frame, base_name, clean, has_symbol};
pub use source::{HOTTEST, HotLine, Sources};
pub use stacks::Stack;

/// The profile of one program: a file of each tool, as far as there is one.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The heap over time.
    pub massif: Option<Massif>,
    /// The heap over other units of time.
    pub heaps: Vec<Massif>,
    /// Instructions, accesses and misses.
    pub cachegrind: Option<CostProfile>,
    /// Instructions, accesses and misses with calls.
    pub callgrind: Option<CostProfile>,
    /// Blocks and where they were allocated.
    pub dhat: Option<Dhat>,
}

impl Profile {
    /// The costs of Cachegrind, or else of Callgrind.
    pub fn costs(&self) -> Option<&CostProfile> {
        self.cachegrind.as_ref().or(self.callgrind.as_ref())
    }

    /// The most bytes that were allocated at once: of Massif with its administration, as `ms_print` has it, else of
    /// DHAT.
    pub fn peak(&self) -> Option<u64> {
        let massif = self.massif.as_ref().map(Massif::peak_bytes);
        massif.or_else(|| self.dhat.as_ref().map(|dhat| dhat.sum(|p| p.peak_bytes)))
    }

    /// The command line of one of the files.
    pub fn command(&self) -> &str {
        let costs = self.costs().map(|c| &c.command);
        let heap = self.massif.as_ref().map(|m| &m.command);
        let blocks = self.dhat.as_ref().map(|d| &d.command);
        costs.or(heap).or(blocks).map_or("", String::as_str)
    }

    /// A figure by its name: `peak`, `total`, `allocations`, an event such as `D1mw`, or a sum of events such as `D1`.
    pub fn figure(&self, name: &str) -> Option<u64> {
        match name {
            "peak" => self.peak(),
            "total" => self.dhat.as_ref().map(|d| d.sum(|p| p.bytes)),
            "allocations" => self.dhat.as_ref().map(|d| d.sum(|p| p.blocks)),
            event => self.costs()?.total_of(event),
        }
    }
}
