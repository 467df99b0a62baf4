// SPDX-License-Identifier: Apache-2.0
//! `benchlab profile`: programs run under Valgrind's tools, what their files say together, and gates on it.

pub mod agreement;
mod explain;
mod files;
mod gate;
pub mod heap;
pub mod report;
mod runs;
mod source;
mod valgrind;
pub mod wording;

pub use explain::{Access, Cache, Explanation, d1, explain};
pub use files::{FilesError, ProfileFiles};
pub use gate::{ConditionError, Found, GateCondition, GateResult, Undecided};
pub use runs::{ProgramRuns, RunRecord, RunWarning};
pub use source::{HOTTEST, Sources};
pub use valgrind::{Ending, Profiled, Step, Tool, ValgrindRun, valgrind};

use lab_valgrind::{CostProfile, Dhat, Massif};

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
