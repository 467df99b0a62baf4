// SPDX-License-Identifier: Apache-2.0
//! Finds the maximum number of requests in a second, for logs whose lines are nearly in
//! chronological order.

use std::cmp::Reverse;

/// The number of seconds that are counted concurrently.
///
/// A second that is `SLOTS` seconds later replaces the earlier second, whose count is then final.
const SLOTS: usize = 4096;

/// A counter of the requests per second that remembers the busiest second.
#[derive(Clone, Debug)]
pub struct CountPeak {
    /// The finished second with the highest count: its start in seconds since 1970, and its number
    /// of requests.
    finished: (i64, u64),
    /// The seconds that are being counted, in the same form.
    slots: Box<[(i64, u64)]>,
    /// True if a second may have been counted in two parts, because the log went back by more than
    /// the counted seconds.
    is_split: bool,
}

impl CountPeak {
    /// Creates an empty counter.
    pub fn new() -> CountPeak {
        CountPeak {
            finished: (i64::MIN, 0),
            slots: vec![(i64::MIN, 0); SLOTS].into_boxed_slice(),
            is_split: false,
        }
    }

    /// Counts a request at a time in seconds since 1970.
    #[inline]
    pub fn add(&mut self, time_s: i64) {
        let slot = &mut self.slots[time_s as usize & (SLOTS - 1)];
        if slot.0 == time_s {
            slot.1 += 1;
        } else {
            let ended = std::mem::replace(slot, (time_s, 1));
            self.is_split |= ended.0 > time_s;
            if ended.1 > self.finished.1 {
                self.finished = ended;
            }
        }
    }

    /// Returns the start of the busiest second in seconds since 1970, and its number of requests.
    ///
    /// Returns `None` if it is unknown.
    pub fn highest(&self) -> Option<(i64, u64)> {
        let seconds = self.slots.iter().chain([&self.finished]);
        let counted = seconds.filter(|(_, n)| *n > 0 && !self.is_split);
        // The earliest second wins a tie.
        counted
            .max_by_key(|(start, n)| (*n, Reverse(*start)))
            .copied()
    }
}
