// SPDX-License-Identifier: Apache-2.0
//! The most expensive source lines.

use crate::costs::{CostProfile, add};
use std::collections::HashMap;

/// A source line with its total costs, summed over all functions into which it was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotLine<'p> {
    /// The file name, as in the profile.
    pub file: &'p str,
    /// The line number, starting at 1.
    pub number: u32,
    /// Costs by event.
    pub costs: Vec<u64>,
}

impl CostProfile {
    /// Returns the `most` source lines with the highest cost for an event or a sum of events, highest first.
    pub fn hottest(&self, event: &str, most: usize) -> Vec<HotLine<'_>> {
        let mut sums: HashMap<(&str, u32), Vec<u64>> = HashMap::new();
        for line in self.lines().filter(|line| line.number > 0) {
            let sum = sums.entry((line.file, line.number));
            let sum = sum.or_insert_with(|| vec![0; self.events.len()]);
            add(sum, line.costs);
        }
        let cost = |costs: &[u64]| self.value(event, costs).unwrap_or(0);
        let lines = sums.into_iter().filter(|(_, costs)| cost(costs) > 0);
        let mut lines: Vec<HotLine> = lines
            .map(|((file, number), costs)| HotLine {
                file,
                number,
                costs,
            })
            .collect();
        lines.sort_by(|a, b| {
            let order = cost(&b.costs).cmp(&cost(&a.costs));
            order.then_with(|| (a.file, a.number).cmp(&(b.file, b.number)))
        });
        lines.truncate(most);
        lines
    }

    /// Returns the event by which lines are ranked: misses in the first-level data cache or, if not recorded, the first
    /// event.
    pub fn chosen_event(&self) -> &str {
        match self.total_of("D1") {
            Some(misses) if misses > 0 => "D1",
            _ => self.events.first().map_or("", String::as_str),
        }
    }
}
