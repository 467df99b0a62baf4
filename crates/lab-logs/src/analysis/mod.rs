// SPDX-License-Identifier: Apache-2.0
//! Analyzes logs: finds the few pages that matter, the times when they were slow, changes, and the
//! headroom.
//!
//! All functions are pure.

pub mod between;
pub mod capacity;
pub mod changes;
pub mod gate;
pub mod pareto;
pub mod week;

use lab_model::{LogAnalysis, LogPage, PageKind};
use std::collections::BTreeMap;

/// The length of a day, in seconds.
pub const DAY: i64 = 86_400;
/// One minus the simultaneous confidence level.
pub const ALPHA: f64 = 0.05;

/// Returns true if `part` is more than 5 % of `of`, which is too large to be ignored.
pub fn is_notable(part: u64, of: u64) -> bool {
    part.saturating_mul(20) > of
}

/// Returns the pages of a kind.
pub fn pages(analysis: &LogAnalysis, kind: PageKind) -> Vec<&LogPage> {
    analysis.pages.iter().filter(|p| p.kind == kind).collect()
}

/// Returns the offset of the log's clock from UTC, in seconds: the most frequent offset among its
/// hours.
pub fn offset_s(analysis: &LogAnalysis) -> i64 {
    let mut offsets: BTreeMap<i32, usize> = BTreeMap::new();
    analysis
        .hours
        .iter()
        .for_each(|h| *offsets.entry(h.offset_s).or_default() += 1);
    let most = offsets.into_iter().max_by_key(|(_, n)| *n);
    most.map_or(0, |(offset, _)| offset.into())
}

/// Returns the start of the first hour and the end of the last hour, in seconds since 1970.
pub fn span(analysis: &LogAnalysis) -> Option<(i64, i64)> {
    let (first, last) = (analysis.hours.first()?, analysis.hours.last()?);
    Some((first.start_s, last.start_s + 3600))
}

/// The days of an analysis.
///
/// They are days of the log's clock. If cells are days, which begin at midnight UTC, a cell is the
/// day of the log's clock that contains the middle of the cell.
pub struct Calendar {
    offset_s: i64,
    has_day_cells: bool,
}

impl Calendar {
    /// Creates the calendar of an analysis.
    pub fn new(analysis: &LogAnalysis) -> Calendar {
        Calendar {
            offset_s: offset_s(analysis),
            has_day_cells: analysis.cell_s == DAY,
        }
    }

    /// Returns the day that contains a time, counted since 1970 in the log's time.
    pub fn day(&self, time_s: i64) -> i64 {
        (self.start(time_s) + DAY / 2 + self.offset_s).div_euclid(DAY)
    }

    /// Returns the first day that begins at or after a time.
    pub fn first_day_from(&self, time_s: i64) -> i64 {
        self.day(time_s) + i64::from(self.start(time_s) != time_s)
    }

    /// Returns the start of the day that contains a time, in seconds since 1970.
    fn start(&self, time_s: i64) -> i64 {
        let offset_s = if self.has_day_cells { 0 } else { self.offset_s };
        (time_s + offset_s).div_euclid(DAY) * DAY - offset_s
    }
}

/// Returns the typical duration of a page on each day that had enough requests.
///
/// Each item contains the day, counted since 1970 in the log's time, and the logarithm of the
/// geometric mean in ns.
pub fn daily(analysis: &LogAnalysis, page: &LogPage) -> Vec<(i64, f64)> {
    /// The minimum number of requests per day. Fewer requests show little about the day.
    const MIN_REQUESTS_PER_DAY: u64 = 20;
    if analysis.cell_s > DAY {
        return Vec::new();
    }
    let calendar = Calendar::new(analysis);
    let mut days: BTreeMap<i64, (u64, f64)> = BTreeMap::new();
    for cell in &page.cells {
        let day = days.entry(calendar.day(cell.start_s)).or_default();
        day.0 += cell.timed;
        day.1 += cell.sum_ln;
    }
    let enough = days
        .into_iter()
        .filter(|(_, (n, _))| *n >= MIN_REQUESTS_PER_DAY);
    enough
        .map(|(day, (n, sum))| (day, sum / n as f64))
        .collect()
}
