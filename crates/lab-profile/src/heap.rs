// SPDX-License-Identifier: Apache-2.0
//! How a heap grows and shrinks over time, and how much of it is never freed.

use lab_valgrind::{Dhat, Frame, Massif};

/// Fewer rises and falls are not a pattern.
const MIN_TEETH: usize = 3;

/// A heap that rises and falls, as seen in snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct Sawtooth {
    /// How often it rises again.
    pub teeth: usize,
    /// The smallest fall, bytes.
    pub fall: u64,
    /// The location that holds most at the peak.
    pub largest: Option<Frame>,
}

/// Memory that was not freed at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct NeverFreed {
    /// Blocks.
    pub blocks: u64,
    /// Bytes.
    pub bytes: u64,
    /// The location that allocated most of it.
    pub site: Frame,
    /// Bytes from there.
    pub most_bytes: u64,
}

/// The rises and falls of a heap, if there are enough.
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

/// Memory that was never freed, if any.
pub fn never_freed(dhat: &Dhat) -> Option<NeverFreed> {
    let bytes = dhat.sum(|point| point.end_bytes);
    let most = dhat.points.iter().max_by_key(|point| point.end_bytes)?;
    let site = dhat.site(most)?.clone();
    (bytes > 0).then(|| NeverFreed {
        blocks: dhat.sum(|point| point.end_blocks),
        bytes,
        site,
        most_bytes: most.end_bytes,
    })
}
