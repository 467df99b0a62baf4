// SPDX-License-Identifier: Apache-2.0
//! The most requests within a second or a minute, of a log whose lines are nearly in the order of time.

/// Stretches that are counted at the same time; later ones end those before.
const SLOTS: usize = 64;

/// The highest count so far.
#[derive(Clone, Debug)]
pub struct CountPeak {
    /// How long a stretch is, s.
    length: i64,
    /// The highest that ended, and those that are counted.
    slots: [(i64, u64); SLOTS + 1],
}

impl CountPeak {
    /// Counts by stretches of `length` s.
    pub fn new(length: i64) -> CountPeak {
        CountPeak {
            length,
            slots: [(i64::MIN, 0); SLOTS + 1],
        }
    }

    /// Counts a request in a stretch, by its number since 1970.
    #[inline]
    pub fn add(&mut self, start: i64) {
        let slot = &mut self.slots[1 + (start as usize & (SLOTS - 1))];
        if slot.0 == start {
            slot.1 += 1;
        } else {
            let ended = std::mem::replace(slot, (start, 1));
            if ended.1 > self.slots[0].1 {
                self.slots[0] = ended;
            }
        }
    }

    /// When the busiest stretch began, in seconds since 1970, and its requests.
    pub fn highest(&self) -> Option<(i64, u64)> {
        let counted = self.slots.iter().filter(|(_, n)| *n > 0);
        // Of equal ones the first.
        let highest = counted.max_by_key(|(start, n)| (*n, std::cmp::Reverse(*start)));
        highest.map(|(start, n)| (start * self.length, *n))
    }
}
