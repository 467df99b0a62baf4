// SPDX-License-Identifier: Apache-2.0
//! The profile of one program.

use crate::valgrind::Tool;
use lab_valgrind::{CostProfile, Dhat, Massif, TimeUnit};

/// The profile of one program: the results of each tool, if available.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The heap over time.
    pub massif: Option<Massif>,
    /// The heap over time in other units, from additional Massif runs.
    pub heaps: Vec<Massif>,
    /// Cachegrind's results: instructions, memory accesses and cache misses.
    pub cachegrind: Option<CostProfile>,
    /// Callgrind's results: the same events as Cachegrind, with calls.
    pub callgrind: Option<CostProfile>,
    /// DHAT's results: heap blocks, and the locations that allocated them.
    pub dhat: Option<Dhat>,
    /// The tools whose results cover only a part of the program: it exceeded the time limit, a signal
    /// terminated it, or its child processes did a part of the work.
    pub partial: Vec<Tool>,
    /// The exit status of the program under each tool.
    pub statuses: Vec<(Tool, i32)>,
}

impl Profile {
    /// Returns the costs from Cachegrind or, without Cachegrind, from Callgrind.
    pub fn costs(&self) -> Option<&CostProfile> {
        self.cachegrind.as_ref().or(self.callgrind.as_ref())
    }

    /// Returns the peak of the heap in bytes.
    ///
    /// Massif's value includes the allocator's overhead, as in `ms_print`. Without Massif, the value comes from DHAT.
    pub fn peak(&self) -> Option<u64> {
        let massif = self.massif.as_ref().map(Massif::peak_bytes);
        massif.or_else(|| self.dhat.as_ref().map(|dhat| dhat.sum(|p| p.peak_bytes)))
    }

    /// Returns the command line that the files report.
    pub fn command(&self) -> &str {
        let costs = self.costs().map(|c| &c.command);
        let heap = self.massif.as_ref().map(|m| &m.command);
        let blocks = self.dhat.as_ref().map(|d| &d.command);
        costs.or(heap).or(blocks).map_or("", String::as_str)
    }

    /// Returns a value by name: `peak`, `total`, `allocations`, an event such as `D1mw`, or a sum of events such as
    /// `D1`. The value may cover only a part of the program.
    pub fn figure(&self, name: &str) -> Option<u64> {
        match name {
            "peak" => self.peak(),
            "total" => self.dhat.as_ref().map(|d| d.sum(|p| p.bytes)),
            "allocations" => self.dhat.as_ref().map(|d| d.sum(|p| p.blocks)),
            event => self.costs()?.total_of(event),
        }
    }

    /// Returns [`Profile::figure`] if it covers the whole program, otherwise `None`.
    pub fn whole_figure(&self, name: &str) -> Option<u64> {
        let tool = self.tool_of(name);
        self.figure(name).filter(|_| !self.partial.contains(&tool))
    }

    /// Returns the exit status of the program under the tool that counts a value. Returns `None` for
    /// values from files, and for a program that did not exit.
    pub fn exit_status(&self, name: &str) -> Option<i32> {
        let tool = self.tool_of(name);
        let mut statuses = self.statuses.iter();
        statuses.find_map(|(of, status)| (*of == tool).then_some(*status))
    }

    /// Returns the tool that counts a value.
    fn tool_of(&self, name: &str) -> Tool {
        match name {
            "peak" if self.massif.is_some() => Tool::Massif(TimeUnit::Instructions),
            "peak" | "total" | "allocations" => Tool::Dhat,
            _ if self.cachegrind.is_some() => Tool::Cachegrind,
            _ => Tool::Callgrind,
        }
    }
}
