// SPDX-License-Identifier: Apache-2.0
//! Finds the maximum number of requests in a second or a minute, for logs in nearly chronological
//! order.

/// The number of intervals that are counted concurrently. A later interval replaces an earlier
/// interval, which is then finished.
const SLOTS: usize = 64;

/// A counter of the requests per interval that remembers the busiest interval.
#[derive(Clone, Debug)]
pub struct CountPeak {
    /// The length of an interval, in seconds.
    length: i64,
    /// The finished interval with the highest count, followed by the open intervals.
    slots: [(i64, u64); SLOTS + 1],
}

impl CountPeak {
    /// Creates a counter for intervals of `length` seconds.
    pub fn new(length: i64) -> CountPeak {
        CountPeak {
            length,
            slots: [(i64::MIN, 0); SLOTS + 1],
        }
    }

    /// Counts a request in an interval, given the interval's number since 1970.
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

    /// Returns the start of the busiest interval in seconds since 1970, and its requests.
    pub fn highest(&self) -> Option<(i64, u64)> {
        let counted = self.slots.iter().filter(|(_, n)| *n > 0);
        // The earliest interval wins a tie.
        let highest = counted.max_by_key(|(start, n)| (*n, std::cmp::Reverse(*start)));
        highest.map(|(start, n)| (start * self.length, *n))
    }
}
