// SPDX-License-Identifier: Apache-2.0
//! Finds patterns in the heap: repeated rises and falls, and memory that is never freed.

use lab_valgrind::{Dhat, Frame, Massif};

/// The minimum number of rises and falls that are reported as a pattern.
const MIN_TEETH: usize = 3;

/// A heap that rises and falls repeatedly, as Massif's snapshots show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sawtooth {
    /// The number of times that the heap rises again after a fall.
    pub teeth: usize,
    /// The smallest fall in bytes.
    pub fall: u64,
    /// The location with the most bytes at the peak.
    pub largest: Option<Frame>,
}

/// Memory that was still allocated when the program ended.
#[derive(Clone, Debug, PartialEq)]
pub struct NeverFreed {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The location that allocated most of this memory.
    pub site: Frame,
    /// The number of bytes that this location allocated and never freed.
    pub unfreed_bytes: u64,
}

/// Finds repeated rises and falls of a heap.
pub fn sawtooth(massif: &Massif) -> Option<Sawtooth> {
    let (teeth, fall) = massif.sawtooth();
    let sites = massif.sites.iter().filter(|site| site.depth == 1);
    let largest = sites.max_by_key(|site| site.bytes);
    (teeth >= MIN_TEETH).then(|| Sawtooth {
        teeth,
        fall,
        largest: largest.and_then(|site| site.frame.clone()),
    })
}

/// Finds memory that was never freed.
pub fn never_freed(dhat: &Dhat) -> Option<NeverFreed> {
    let bytes = dhat.sum(|point| point.end_bytes);
    let max_point = dhat.points.iter().max_by_key(|point| point.end_bytes)?;
    let site = dhat.site(max_point)?.clone();
    (bytes > 0).then(|| NeverFreed {
        blocks: dhat.sum(|point| point.end_blocks),
        bytes,
        site,
        unfreed_bytes: max_point.end_bytes,
    })
}
