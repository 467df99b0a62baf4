// SPDX-License-Identifier: Apache-2.0
//! Counts of events in different layouts of one program. A layout is a build, or an environment of
//! a certain size.
//!
//! The addresses of code and data affect some counts although the program is the same. Examples are
//! all counts of cache misses, and the instructions of string functions, which handle aligned data
//! differently (Mytkowicz et al., *Producing Wrong Data Without Doing Anything Obviously Wrong*,
//! ASPLOS 2009). A change is judged by the range of the counts. A change is real if it exceeds the
//! differences between layouts.

use lab_model::{Decision, Interval, Relation};
use lab_valgrind::CostProfile;
use serde::{Deserialize, Serialize};

/// Metrics that a condition may name.
pub(crate) static FIGURES: [&str; 24] = [
    "peak",
    "total",
    "allocations",
    "Ir",
    "Dr",
    "Dw",
    "D",
    "I1mr",
    "D1mr",
    "D1mw",
    "ILmr",
    "DLmr",
    "DLmw",
    "I1",
    "D1",
    "LL",
    "Bc",
    "Bcm",
    "Bi",
    "Bim",
    "mispredicts",
    "Ge",
    "sysCount",
    "sysTime",
];

/// The lowest and the highest count of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRange {
    /// The lowest count.
    pub least: u64,
    /// The highest count.
    pub most: u64,
}

/// The kind and number of layouts in which a program's instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layouts {
    /// The number of builds of each command.
    Builds(usize),
    /// The number of environments of different sizes. Each command has one build.
    Environments(usize),
}

impl Layouts {
    /// Returns the number of layouts of each command.
    pub fn count(self) -> usize {
        match self {
            Layouts::Builds(count) | Layouts::Environments(count) => count,
        }
    }
}

/// For each event of a program, the range of its counts over all layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRanges {
    /// The number of layouts.
    pub layouts: usize,
    /// The events and sums of events, by name.
    pub events: Vec<(String, CountRange)>,
}

impl CountRange {
    /// Returns the range of counts, or `None` without counts.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Option<CountRange> {
        let counts: Vec<u64> = counts.into_iter().collect();
        Some(CountRange {
            least: *counts.iter().min()?,
            most: *counts.iter().max()?,
        })
    }

    /// Returns the relative change from an earlier range as an interval.
    ///
    /// The lower bound is the change from the earlier maximum to the later minimum, and the upper
    /// bound is the change from the earlier minimum to the later maximum. The confidence level is
    /// 1, because the interval contains the change between any two layouts.
    pub fn change_from(self, before: CountRange) -> Interval {
        let change = |before: u64, after: u64| match (before, after) {
            (0, 0) => 0.0,
            _ => after as f64 / before as f64 - 1.0,
        };
        Interval {
            estimate: change(before.middle(), self.middle()),
            low: change(before.most, self.least),
            high: change(before.least, self.most),
            level: 1.0,
        }
    }

    /// Decides whether the change from an earlier range satisfies a condition in all layouts.
    pub fn judge(self, before: CountRange, relation: Relation, bound: f64) -> Decision {
        Decision::for_interval(relation, &self.change_from(before), bound, 1.0)
    }

    /// Decides whether the count satisfies a condition in all layouts.
    pub fn judge_value(self, relation: Relation, bound: f64) -> Decision {
        let interval = Interval {
            estimate: self.middle() as f64,
            low: self.least as f64,
            high: self.most as f64,
            level: 1.0,
        };
        Decision::for_interval(relation, &interval, bound, 1.0)
    }

    fn middle(self) -> u64 {
        self.least.midpoint(self.most)
    }
}

impl EventRanges {
    /// Returns the ranges of the events that occur in all layouts.
    pub fn from_profiles(layouts: &[&CostProfile]) -> EventRanges {
        let range = |name: &&str| {
            let counts: Option<Vec<u64>> =
                layouts.iter().map(|costs| costs.total_of(name)).collect();
            Some(((*name).to_owned(), CountRange::from_counts(counts?)?))
        };
        EventRanges {
            layouts: layouts.len(),
            events: FIGURES.iter().filter_map(range).collect(),
        }
    }

    /// Returns the range of an event or a sum of events.
    pub fn get(&self, name: &str) -> Option<CountRange> {
        let found = self.events.iter().find(|(known, _)| known == name);
        found.map(|(_, range)| *range)
    }
}
