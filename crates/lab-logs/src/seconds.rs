// SPDX-License-Identifier: Apache-2.0
//! Counts the requests of every second.
//!
//! Unlike peaks, these counts can be added to the counts of another log. The peaks of two logs
//! cannot be added, because the busiest seconds of the logs can be at different times.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The number of seconds in an hour.
const HOUR: usize = 3600;
/// The maximum number of stored hours: 90 days, which take 31 MB.
const MAX_HOURS: usize = 90 * 24;

/// The number of requests in each second.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(i64, u32)>", into = "Vec<(i64, u32)>")]
pub struct Seconds {
    hours: BTreeMap<i64, Box<[u32]>>,
    /// True if there were more hours than can be stored.
    is_cut: bool,
}

impl Seconds {
    /// Counts a request.
    #[inline]
    pub fn add(&mut self, time: i64) {
        self.add_many(time, 1);
    }

    /// Adds the counts of another log.
    pub fn merge(&mut self, other: &Seconds) {
        self.is_cut |= other.is_cut;
        for (time, n) in other.all() {
            self.add_many(time, n);
        }
    }

    fn add_many(&mut self, time: i64, n: u32) {
        let hour = time.div_euclid(HOUR as i64);
        if self.hours.len() >= MAX_HOURS && !self.hours.contains_key(&hour) {
            self.is_cut = true;
            return;
        }
        let empty = || vec![0; HOUR].into_boxed_slice();
        let counts = self.hours.entry(hour).or_insert_with(empty);
        let count = &mut counts[time.rem_euclid(HOUR as i64) as usize];
        *count = count.saturating_add(n);
    }

    /// Returns the start of the busiest second in seconds since 1970, and its number of requests.
    ///
    /// The earliest second wins a tie. Returns `None` if there are no requests or if some hours were
    /// not stored.
    pub fn highest(&self) -> Option<(i64, u64)> {
        let highest = self.all().max_by_key(|(time, n)| (*n, Reverse(*time)));
        let highest = highest.map(|(time, n)| (time, u64::from(n)));
        highest.filter(|_| !self.is_cut)
    }

    /// Returns each second that has requests, in seconds since 1970, with its number of requests.
    fn all(&self) -> impl Iterator<Item = (i64, u32)> {
        let seconds = self.hours.iter().flat_map(|(hour, counts)| {
            let begin = hour * HOUR as i64;
            let numbered = counts.iter().zip(begin..);
            numbered.map(|(n, time)| (time, *n))
        });
        seconds.filter(|(_, n)| *n > 0)
    }
}

/// The time that marks dropped hours in the serialized form. No log contains it.
const CUT: i64 = i64::MIN;

impl From<Seconds> for Vec<(i64, u32)> {
    fn from(seconds: Seconds) -> Self {
        let cut = seconds.is_cut.then_some((CUT, 1));
        seconds.all().chain(cut).collect()
    }
}

impl From<Vec<(i64, u32)>> for Seconds {
    fn from(all: Vec<(i64, u32)>) -> Seconds {
        let mut seconds = Seconds::default();
        for (time, n) in all {
            match time {
                CUT => seconds.is_cut = true,
                time => seconds.add_many(time, n),
            }
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_second_of_two_logs_comes_from_their_sum() {
        let (mut one, mut other) = (Seconds::default(), Seconds::default());
        [10, 10, 10, 61, 61].into_iter().for_each(|t| one.add(t));
        [61, 61, 80, 4000].into_iter().for_each(|t| other.add(t));
        assert_eq!(one.highest(), Some((10, 3)));
        one.merge(&other);
        assert_eq!(one.highest(), Some((61, 4)));
        let text = serde_json::to_string(&one).unwrap();
        let again: Seconds = serde_json::from_str(&text).unwrap();
        assert_eq!(again.highest(), Some((61, 4)));
    }

    #[test]
    fn dropped_hours_are_not_guessed() {
        let mut seconds = Seconds::default();
        (0..MAX_HOURS as i64 + 1).for_each(|hour| seconds.add(hour * 3600));
        assert_eq!(seconds.highest(), None);
        let mut other = Seconds::default();
        other.add(5);
        other.merge(&seconds);
        assert_eq!(other.highest(), None);
    }
}
