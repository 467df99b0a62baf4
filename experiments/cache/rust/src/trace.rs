// SPDX-License-Identifier: Apache-2.0
//! The keys that the operations of a batch access.

use super::maps::ReadMap;
use lab_kit::Inputs;
use std::iter::StepBy;
use std::ops::Range;

/// The number of keys that [`zipf`] draws from.
pub const ZIPF_KEYS: u64 = 10_000;

/// One operation of a trace.
#[derive(Clone, Copy)]
pub struct Access {
    /// The key that is read or written.
    pub key: u64,
    /// True for a read, and false for a write.
    pub reads: bool,
}

/// Draws keys from a Zipf distribution, in integer arithmetic, which all languages support.
///
/// Key i has the weight 2^32 / (i + 1). `read_percentage` is the percentage of operations that read.
pub fn zipf(inputs: &Inputs, read_percentage: u64) -> Inputs<Access> {
    let sums: Vec<u64> = (1..=ZIPF_KEYS)
        .scan(0, |sum, i| {
            *sum += (1 << 32) / i;
            Some(*sum)
        })
        .collect();
    let total = sums[sums.len() - 1];
    inputs.map(|input| Access {
        key: sums.partition_point(|&sum| sum <= input % total) as u64,
        reads: (input >> 32) % 100 < read_percentage,
    })
}

/// Reads the key of each of `operations`, and returns the sum of the values.
pub fn read_all(map: &dyn ReadMap, trace: &Inputs<Access>, operations: StepBy<Range<u64>>) -> u64 {
    operations
        .map(|k| map.get(trace.at(k).key).unwrap_or(0))
        .sum()
}

/// Draws keys below `bound` with equal probability.
pub fn uniform(inputs: &Inputs, bound: u64) -> Inputs<u64> {
    inputs.map(|input| input % bound)
}
