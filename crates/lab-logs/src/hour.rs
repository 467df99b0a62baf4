// SPDX-License-Identifier: Apache-2.0
//! Counts of requests for each hour of a log.

use crate::sketch::Sketch;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// The counts of one hour over all pages that people use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hour {
    /// The start of the hour, in seconds since 1970.
    pub(crate) start_s: i64,
    pub(crate) offset_s: i32,
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    pub(crate) total_ns: u64,
    pub(crate) times: Sketch,
    pub(crate) minutes: Minutes,
}

/// The number of minutes in an hour.
const MINUTES: usize = 60;

/// The requests in each minute of an hour.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub(crate) struct Minutes([u32; MINUTES]);

impl Minutes {
    /// Counts requests in a minute, 0 to 59.
    #[inline]
    pub(crate) fn add(&mut self, minute: u8, requests: u32) {
        if let Some(count) = self.0.get_mut(usize::from(minute)) {
            *count = count.saturating_add(requests);
        }
    }
}

impl Default for Minutes {
    fn default() -> Minutes {
        Minutes([0; MINUTES])
    }
}

impl From<Minutes> for Vec<u32> {
    fn from(minutes: Minutes) -> Vec<u32> {
        minutes.0.into()
    }
}

impl TryFrom<Vec<u32>> for Minutes {
    type Error = &'static str;

    fn try_from(counts: Vec<u32>) -> Result<Minutes, &'static str> {
        let counts = counts.try_into();
        counts.map(Minutes).map_err(|_| "an hour has 60 minutes")
    }
}

impl Hour {
    /// Returns the busiest minute: its start in seconds since 1970 and its number of requests.
    ///
    /// The earliest minute wins a tie. Returns `None` if no minute has requests.
    pub(crate) fn busiest_minute(&self) -> Option<(i64, u64)> {
        let busiest = self
            .minutes()
            .max_by_key(|(start, n)| (*n, Reverse(*start)));
        busiest.map(|(start, n)| (start, u64::from(n)))
    }

    /// Returns each minute with requests: its start in seconds since 1970, and its number of
    /// requests.
    pub(crate) fn minutes(&self) -> impl Iterator<Item = (i64, u32)> {
        let starts = (0..).map(|minute| self.start_s + minute * 60);
        let counts = starts.zip(self.minutes.0.iter().copied());
        counts.filter(|(_, n)| *n > 0)
    }
}
