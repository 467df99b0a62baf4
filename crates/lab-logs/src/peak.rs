// SPDX-License-Identifier: Apache-2.0
//! Finds the maximum number of requests in a second or a minute, for logs whose lines are nearly in
//! chronological order.

/// The number of intervals that are counted concurrently.
///
/// An interval that is `SLOTS` intervals later replaces the earlier interval, whose count is then
/// final.
const SLOTS: usize = 64;

/// A counter of the requests per interval that remembers the busiest interval.
#[derive(Clone, Debug)]
pub struct CountPeak {
    /// The length of an interval, in seconds.
    length: i64,
    /// The finished interval with the highest count, followed by the open intervals.
    ///
    /// Each slot contains the number of an interval and the interval's number of requests.
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

    /// Counts a request in the interval with the number `start`, counted from 1970.
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

    /// Returns the start of the busiest interval in seconds since 1970, and the interval's number
    /// of requests.
    pub fn highest(&self) -> Option<(i64, u64)> {
        let counted = self.slots.iter().filter(|(_, n)| *n > 0);
        // The earliest interval wins a tie.
        let highest = counted.max_by_key(|(start, n)| (*n, std::cmp::Reverse(*start)));
        highest.map(|(start, n)| (start * self.length, *n))
    }
}
