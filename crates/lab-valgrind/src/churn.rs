// SPDX-License-Identifier: Apache-2.0
//! Churn: memory that a program allocates repeatedly. The program frees most blocks before it
//! allocates the next blocks.

use crate::dhat::Dhat;
use crate::names::Frame;
use std::collections::HashMap;

/// The minimum number of blocks that a location must allocate, in total and for each block that is
/// live at the same time.
const MIN_BLOCKS: u64 = 10;
/// The minimum fraction of the program's allocated bytes that a location must allocate.
const MIN_FRACTION: f64 = 0.01;

/// Memory that a location allocates and frees repeatedly.
#[derive(Clone, Debug, PartialEq)]
pub struct Churn {
    /// The allocating location.
    pub site: Frame,
    /// The total number of heap blocks that the location allocated.
    pub blocks: u64,
    /// The total number of bytes that the location allocated.
    pub bytes: u64,
    /// The maximum number of blocks that were live at once. This is DHAT's count or, if unknown, the number of blocks
    /// that fit into the peak of the whole heap.
    pub at_once: u64,
    /// True if all blocks have the same size.
    pub same_size: bool,
    /// The number of bytes written to the blocks.
    pub written: u64,
    /// The number of bytes read from the blocks.
    pub read: u64,
}

impl Churn {
    /// Returns the mean size of a block in bytes.
    pub fn size(&self) -> u64 {
        self.bytes / self.blocks.max(1)
    }
}

/// Finds the locations with churn, ordered by bytes in descending order.
pub fn churn(dhat: &Dhat) -> Vec<Churn> {
    let mut by_site: HashMap<&Frame, Vec<Churn>> = HashMap::new();
    for point in &dhat.points {
        let Some(site) = dhat.site(point) else {
            continue;
        };
        let one = Churn {
            site: site.clone(),
            blocks: point.blocks,
            bytes: point.bytes,
            at_once: point.max_blocks,
            same_size: point.has_one_size(),
            written: point.written_bytes,
            read: point.read_bytes,
        };
        let all = by_site.entry(site).or_default();
        // Blocks of the same site are counted separately if they have different fixed sizes, or if
        // their sizes vary.
        match all
            .iter_mut()
            .find(|c| c.same_size && one.same_size && c.size() == one.size())
        {
            Some(same) => {
                same.blocks = same.blocks.saturating_add(one.blocks);
                same.bytes = same.bytes.saturating_add(one.bytes);
                same.at_once = same.at_once.saturating_add(one.at_once);
                same.written = same.written.saturating_add(one.written);
                same.read = same.read.saturating_add(one.read);
            }
            None => all.push(one),
        }
    }
    let least = dhat.sum(|point| point.bytes) as f64 * MIN_FRACTION;
    let peak = dhat.sum(|point| point.peak_bytes);
    let bounded = |mut churn: Churn| {
        if !dhat.knows_most {
            let fit = peak.checked_div(churn.size());
            churn.at_once = fit.map_or(churn.blocks, |fit| fit.min(churn.blocks));
        }
        churn
    };
    let churns = |c: &Churn| c.blocks >= MIN_BLOCKS && c.at_once <= c.blocks / MIN_BLOCKS;
    let found = by_site.into_values().flatten();
    let mut found: Vec<Churn> = found
        .map(bounded)
        .filter(|c| churns(c) && c.bytes as f64 >= least)
        .collect();
    found.sort_by(|a, b| {
        b.bytes
            .cmp(&a.bytes)
            .then_with(|| a.site.location().cmp(&b.site.location()))
    });
    found
}
