// SPDX-License-Identifier: Apache-2.0
//! Attributes cache misses to churn: blocks too large for the cache that are written or read from end to end.

use crate::Profile;
use lab_valgrind::{Churn, churn, clean};

/// The maximum relative deviation between predicted and simulated misses.
const MAX_DEVIATION: f64 = 0.05;
/// The minimum fraction of all misses that an explanation must cover.
const MIN_FRACTION: f64 = 0.05;

/// A cache, as described in an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// The size in bytes.
    pub size: u64,
    /// The size of a line in bytes.
    pub line: u64,
}

/// The kind of access to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Blocks are written.
    Written,
    /// Blocks are read.
    Read,
}

impl Access {
    /// Returns the event that counts first-level data cache misses in Callgrind and Cachegrind.
    pub fn event(self) -> &'static str {
        match self {
            Access::Written => "D1mw",
            Access::Read => "D1mr",
        }
    }
}

/// Cache misses that are attributed to churn.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The churn that causes the misses.
    pub churn: Churn,
    /// The kind of access that causes the misses.
    pub touch: Access,
    /// The number of times that each block is written or read from end to end.
    pub passes: u64,
    /// The first-level data cache.
    pub cache: Cache,
    /// The number of cache lines of a block.
    pub lines: u64,
    /// The predicted number of misses: blocks × lines × passes.
    pub predicted: u64,
    /// The function whose simulated misses are closest to the prediction.
    pub function: String,
    /// The number of simulated misses in that function.
    pub simulated: u64,
    /// The predicted misses as a fraction of all misses of the same kind.
    pub fraction: f64,
}

/// Parses the description of the simulated first-level data cache: `D1 cache: 49152 B, 64 B, 12-way associative`.
pub fn d1(description: &[String]) -> Option<Cache> {
    let line = description
        .iter()
        .find_map(|line| line.strip_prefix("D1 cache:"))?;
    let mut numbers = line
        .split(',')
        .filter_map(|word| word.trim().strip_suffix(" B")?.parse().ok());
    let (size, line) = (numbers.next()?, numbers.next()?);
    (size > 0 && line > 0).then_some(Cache { size, line })
}

/// Finds churn that explains cache misses.
///
/// Explanations of write misses come first. The blocks must be too large for the cache, they must be written or read
/// completely, and a single function must have about as many simulated misses as predicted.
pub fn explain(profile: &Profile) -> Vec<Explanation> {
    let touches = [Access::Written, Access::Read].into_iter();
    touches.flat_map(|touch| of_touch(profile, touch)).collect()
}

fn of_touch(profile: &Profile, touch: Access) -> Vec<Explanation> {
    let (Some(costs), Some(dhat)) = (profile.costs(), &profile.dhat) else {
        return Vec::new();
    };
    let Some((event, cache)) = costs.event(touch.event()).zip(d1(&costs.description)) else {
        return Vec::new();
    };
    let total = costs.totals[event];
    let explained = churn(dhat).into_iter().filter_map(|churn| {
        let lines = churn.size() / cache.line;
        let touched = match touch {
            Access::Written => churn.written,
            Access::Read => churn.read,
        };
        // If a block is too large for the cache, each pass from end to end misses once per cache line.
        let passes = match touch {
            Access::Written => touched.checked_div(churn.bytes)?.min(1),
            Access::Read => touched.checked_div(churn.bytes)?,
        };
        let predicted = lines.checked_mul(churn.blocks)?.checked_mul(passes)?;
        let is_touched = passes > 0 && churn.size() >= cache.size;
        let fraction = predicted as f64 / total as f64;
        if !is_touched || !(MIN_FRACTION..=1.0 + MAX_DEVIATION).contains(&fraction) {
            return None;
        }
        let deviation = |misses: u64| (misses as f64 / predicted as f64 - 1.0).abs();
        let functions = costs.functions().map(|f| (f.name, f.costs[event]));
        let (name, simulated) =
            functions.min_by(|a, b| deviation(a.1).total_cmp(&deviation(b.1)))?;
        (deviation(simulated) <= MAX_DEVIATION).then(|| Explanation {
            churn,
            touch,
            passes,
            cache,
            lines,
            predicted,
            function: clean(name).into(),
            simulated,
            fraction,
        })
    });
    explained.collect()
}
