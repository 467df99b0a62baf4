// SPDX-License-Identifier: Apache-2.0
//! Compares the time of each page in two logs.

use super::gate::{missing_durations, translated_messages, unread_lines, untimed};
use super::{ALPHA, daily};
use crate::finding::{ComparedLog, UnknownChange};
use crate::query;
use lab_model::{
    AssumptionKind, Interval, LogAdvice, LogAnalysis, LogAssumption, LogPage, PageKind,
};
use lab_stats::change::change;
use lab_stats::ratio::Level;
use std::collections::HashMap;

/// The minimum number of days in each log for an interval.
pub const MIN_DAYS_PER_LOG: usize = 3;
/// The smallest fraction of the total time, in either log, at which a page can make the result
/// inconclusive.
const MIN_FRACTION: f64 = 0.01;

/// A page that occurs in both logs.
#[derive(Clone, Debug)]
pub struct CommonPage<'w> {
    /// The page in the first and in the second log.
    pub pages: [&'w LogPage; 2],
    /// The fraction of the total time that the page takes in each log.
    pub fractions: [f64; 2],
    /// The typical duration in the second log divided by the typical duration in the first log.
    ///
    /// `None` means that there are too few days.
    pub ratio: Option<Interval>,
}

/// The pages of two logs.
#[derive(Clone, Debug, Default)]
pub struct BetweenLogs<'w> {
    /// Pages in both logs, in descending order of the larger of their two fractions of the time.
    pub both: Vec<CommonPage<'w>>,
    /// Pages found only in the first log and pages found only in the second log, each in descending
    /// order of total time.
    pub alone: [Vec<&'w LogPage>; 2],
}

/// The result of the search for pages that are slower in the second log.
#[derive(Clone, Debug, PartialEq)]
pub enum SlowerPages {
    /// The slower pages and their ratios. Empty if no page that takes a relevant fraction of the
    /// time is slower.
    Known(Vec<(String, Interval)>),
    /// The reasons why the result is inconclusive.
    Unknown(Vec<UnknownChange>),
}

/// Finds the pages that took longer in the second log than in the first by more than the fraction
/// `change`.
///
/// Checks only the page `only`, if it is given. The result is unknown if the data are insufficient,
/// or if the result depends on an assumption about a log.
pub fn slower_pages(
    first: &LogAnalysis,
    second: &LogAnalysis,
    only: Option<&str>,
    change: f64,
) -> SlowerPages {
    let limit = 1.0 + change;
    if let Some(reason) = assumed(first, second) {
        return SlowerPages::Unknown(vec![reason]);
    }
    let mut both = match_pages(first, second).both;
    let mut assumptions = [first, second].into_iter().flat_map(|log| &log.assumptions);
    if assumptions.any(is_of_statements) {
        both.retain(|page| page.pages[0].kind == PageKind::Page);
    }
    if let Some(only) = only {
        both.retain(|page| page.pages[0].name == only);
        if both.is_empty() {
            return SlowerPages::Unknown(vec![UnknownChange::NotInBoth(only.into())]);
        }
    }
    if both.iter().all(|page| page.known().is_none()) {
        return SlowerPages::Unknown(vec![UnknownChange::NoDays]);
    }
    let slower = both.iter().filter(|page| page.is_slower(limit));
    let slower = slower.filter_map(|page| Some((page.pages[0].name.clone(), *page.known()?)));
    let slower: Vec<(String, Interval)> = slower.collect();
    let min_fraction = if only.is_some() { 0.0 } else { MIN_FRACTION };
    let open = both.iter();
    let mut open: Vec<UnknownChange> = open
        .filter_map(|page| page.why_open(limit, min_fraction))
        .collect();
    let has_queries = both
        .iter()
        .any(|page| page.pages[0].kind == PageKind::Query);
    open.extend(unread(first, ComparedLog::First, has_queries));
    open.extend(unread(second, ComparedLog::Second, has_queries));
    if slower.is_empty() && !open.is_empty() {
        SlowerPages::Unknown(open)
    } else {
        SlowerPages::Known(slower)
    }
}

/// Returns the first assumption about a log on which all changes depend.
fn assumed(first: &LogAnalysis, second: &LogAnalysis) -> Option<UnknownChange> {
    let find = |which: ComparedLog, log: &LogAnalysis| {
        let has_pages = log.pages.iter().any(|page| page.kind == PageKind::Page);
        let affects = |a: &&LogAssumption| {
            let is_on_durations =
                !matches!(a.kind(), AssumptionKind::Times | AssumptionKind::Requests);
            let is_on_others = has_pages && is_of_statements(a);
            is_on_durations && !is_on_others
        };
        let assumption = log.assumptions.iter().find(affects)?;
        Some(UnknownChange::Assumed(which, assumption.clone()))
    };
    find(ComparedLog::First, first).or_else(|| find(ComparedLog::Second, second))
}

/// Returns the reasons why a log may lack entries that could change the result.
///
/// `has_queries` is true if the result concerns queries.
fn unread(log: &LogAnalysis, which: ComparedLog, has_queries: bool) -> Vec<UnknownChange> {
    let malformed = unread_lines(log).map(|lines| UnknownChange::Malformed {
        log: which,
        lines,
        of: log.lines.all,
    });
    let translated = translated_messages(log).filter(|_| has_queries);
    let translated = translated.map(|messages| UnknownChange::Translated {
        log: which,
        messages,
    });
    let cut_off = log.advice.iter().filter_map(|advice| match advice {
        LogAdvice::Unread { reason } => Some(UnknownChange::Unread(which, reason.clone())),
        _ => None,
    });
    malformed
        .into_iter()
        .chain(translated)
        .chain(cut_off)
        .collect()
}

/// Returns true if only queries depend on the assumption.
fn is_of_statements(assumption: &LogAssumption) -> bool {
    matches!(assumption, LogAssumption::UntimedStatements { .. })
}

impl CommonPage<'_> {
    /// Returns the interval of the ratio, or `None` if there are too few days.
    fn known(&self) -> Option<&Interval> {
        self.ratio.as_ref().filter(|ratio| ratio.level > 0.0)
    }

    fn is_slower(&self, limit: f64) -> bool {
        let is_slower = self.known().is_some_and(|ratio| ratio.low > limit);
        is_slower && self.missing().is_none()
    }

    /// Returns the log in which many of the page's requests have no duration, if any.
    fn missing(&self) -> Option<UnknownChange> {
        let [first, second] = self.pages.map(missing_durations);
        let first = first.map(|a| (ComparedLog::First, a));
        let (log, assumption) = first.or_else(|| Some((ComparedLog::Second, second?)))?;
        Some(UnknownChange::PageAssumed {
            page: self.pages[0].name.clone(),
            log,
            assumption,
        })
    }

    /// Returns the fraction of the total time that the page takes in a log, if its requests without a
    /// duration take as long as the others.
    fn fraction(&self, log: usize) -> f64 {
        let timed = self.pages[log].timed.max(1);
        let (untimed, _) = untimed(self.pages[log]);
        self.fractions[log] * (timed.saturating_add(untimed) as f64 / timed as f64)
    }

    /// Explains why the data cannot show whether the page is slower.
    ///
    /// Returns `None` if the data show it, or if the page takes too small a fraction of the time to
    /// matter.
    fn why_open(&self, limit: f64, min_fraction: f64) -> Option<UnknownChange> {
        let fraction = f64::max(self.fraction(0), self.fraction(1));
        if fraction < min_fraction || self.is_slower(limit) {
            return None;
        }
        if let Some(missing) = self.missing() {
            return Some(missing);
        }
        let page = self.pages[0].name.clone();
        match self.known() {
            None => Some(UnknownChange::TooFewDays(page)),
            Some(ratio) if ratio.high > limit => Some(UnknownChange::Open {
                page,
                low: ratio.low,
                high: ratio.high,
            }),
            Some(_) => None,
        }
    }
}

/// Matches the pages of two logs.
pub fn match_pages<'w>(first: &'w LogAnalysis, second: &'w LogAnalysis) -> BetweenLogs<'w> {
    let logs = [first, second];
    let used = |log: &'w LogAnalysis| log.pages.iter().filter(|p| p.kind.is_use());
    // A query can have another spelling in the other log.
    let name = |page: &LogPage| match page.kind {
        PageKind::Query => query::key(&page.name),
        _ => page.name.clone(),
    };
    let named = |log: &'w LogAnalysis| -> HashMap<(PageKind, String), &'w LogPage> {
        used(log)
            .map(|page| ((page.kind, name(page)), page))
            .collect()
    };
    let pages_by_name = logs.map(named);
    let find =
        |log: usize, page: &LogPage| pages_by_name[log].get(&(page.kind, name(page))).copied();
    let totals = logs.map(|log| {
        let total_of = |kind| {
            used(log)
                .filter(|p| p.kind == kind)
                .map(|p| p.total_ns as f64)
                .sum::<f64>()
        };
        move |kind| f64::max(total_of(kind), 1.0)
    });
    let pairs: Vec<[&LogPage; 2]> = used(first)
        .filter_map(|page| Some([page, find(1, page)?]))
        .collect();
    let level = Level {
        alpha: ALPHA,
        family: pairs.len().max(1),
    };
    let common_page = |pages: [&'w LogPage; 2]| {
        let days: Vec<Vec<f64>> = (0..2)
            .map(|i| {
                daily(logs[i], pages[i])
                    .into_iter()
                    .map(|(_, v)| v)
                    .collect()
            })
            .collect();
        let has_enough_days = days.iter().all(|d: &Vec<f64>| d.len() >= MIN_DAYS_PER_LOG);
        let ratio = has_enough_days
            .then(|| change(&days[0], &days[1], level))
            .flatten();
        CommonPage {
            pages,
            fractions: [0, 1].map(|i| pages[i].total_ns as f64 / totals[i](pages[i].kind)),
            ratio: ratio.map(|r| r.interval),
        }
    };
    let mut both: Vec<CommonPage> = pairs.into_iter().map(common_page).collect();
    both.sort_by(|a, b| {
        let most = |b: &CommonPage| b.fractions[0].max(b.fractions[1]);
        most(b).total_cmp(&most(a))
    });
    let alone = [(first, 1), (second, 0)].map(|(mine, other)| {
        let mut alone: Vec<&LogPage> = used(mine).filter(|p| find(other, p).is_none()).collect();
        alone.sort_by_key(|p| std::cmp::Reverse((p.total_ns, p.requests)));
        alone
    });
    BetweenLogs { both, alone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::DAY;
    use lab_model::LogCell;

    fn page(name: &str, total_ns: u64) -> LogPage {
        LogPage {
            name: name.into(),
            total_ns,
            ..LogPage::default()
        }
    }

    /// Judges a page that takes `fraction` of the time. Returns two flags: true if the page is
    /// slower, and true if that is unknown.
    fn judged(fraction: f64, ratio: Option<(f64, f64)>) -> (bool, bool) {
        let one = page("/a", 1);
        let common = CommonPage {
            pages: [&one, &one],
            fractions: [0.0, fraction],
            ratio: ratio.map(|(low, high)| Interval {
                estimate: (low * high).sqrt(),
                low,
                high,
                level: 0.95,
            }),
        };
        (
            common.is_slower(1.02),
            common.why_open(1.02, MIN_FRACTION).is_some(),
        )
    }

    /// Returns a log of ten days in which `/report` has 1,000 requests, `timed` of them with a
    /// duration.
    fn log(timed: u64, times: f64) -> LogAnalysis {
        let page = |name: &str, timed: u64| {
            let cell = |day: i64| LogCell {
                start_s: day * DAY,
                timed: timed / 10,
                sum_ln: (timed / 10) as f64 * (16.0 + times.ln() + 0.001 * (day % 3) as f64),
                ..LogCell::default()
            };
            LogPage {
                requests: 1_000,
                timed,
                cells: (0..10).map(cell).collect(),
                ..page(name, timed * 9_000_000)
            }
        };
        LogAnalysis {
            cell_s: DAY,
            pages: vec![page("/report", timed), page("/a", 1_000)],
            ..LogAnalysis::default()
        }
    }

    #[test]
    fn a_page_with_missing_durations_is_inconclusive() {
        let (april, may) = (log(1_000, 1.0), log(600, 0.9));
        let none = SlowerPages::Known(Vec::new());
        assert_eq!(slower_pages(&april, &april, None, 0.05), none);
        let missing = SlowerPages::Unknown(vec![UnknownChange::PageAssumed {
            page: "/report".into(),
            log: ComparedLog::Second,
            assumption: LogAssumption::MissingDurations {
                requests: 400,
                of: 1_000,
            },
        }]);
        for only in [None, Some("/report")] {
            assert_eq!(slower_pages(&april, &may, only, 0.05), missing, "{only:?}");
        }
        assert_eq!(slower_pages(&april, &may, Some("/a"), 0.05), none);
    }

    #[test]
    fn lines_that_were_not_read_leave_a_comparison_open() {
        let april = log(1_000, 1.0);
        let mut may = april.clone();
        may.lines.all = 100;
        may.lines.malformed = 50;
        let malformed = UnknownChange::Malformed {
            log: ComparedLog::First,
            lines: 50,
            of: 100,
        };
        let open = SlowerPages::Unknown(vec![malformed]);
        assert_eq!(slower_pages(&may, &april, None, 0.05), open);
        let slower = slower_pages(&may, &log(1_000, 2.0), Some("/a"), 0.05);
        assert!(matches!(slower, SlowerPages::Known(pages) if pages.len() == 1));
        may.lines.malformed = 0;
        let reason = String::from("b.log: Permission denied");
        may.advice = vec![LogAdvice::Unread {
            reason: reason.clone(),
        }];
        let open = SlowerPages::Unknown(vec![UnknownChange::Unread(ComparedLog::Second, reason)]);
        assert_eq!(slower_pages(&april, &may, Some("/a"), 0.05), open);
    }

    #[test]
    fn a_change_that_the_interval_allows_is_inconclusive() {
        let (fine, slower, open) = ((false, false), (true, false), (false, true));
        for (ratio, expected) in [
            (Some((0.9, 1.01)), fine),
            (Some((0.5, 0.9)), fine),
            (Some((1.03, 3.0)), slower),
            (Some((0.5, 3.0)), open),
            (Some((1.01, 1.03)), open),
            (None, open),
        ] {
            assert_eq!(judged(0.5, ratio), expected, "{ratio:?}");
            // A page that takes almost no time does not make the result inconclusive.
            assert_eq!(judged(0.001, ratio), (expected.0, false), "{ratio:?}");
        }
        let alone = Interval::from_single_block(0.5);
        let one = page("/a", 1);
        let common = CommonPage {
            pages: [&one, &one],
            fractions: [1.0, 1.0],
            ratio: Some(alone),
        };
        assert!(!common.is_slower(1.02) && common.why_open(1.02, MIN_FRACTION).is_some());
    }
}
