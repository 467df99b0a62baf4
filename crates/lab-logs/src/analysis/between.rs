// SPDX-License-Identifier: Apache-2.0
//! Two logs: what each page took, and how that changed.

use super::{ALPHA, daily};
use crate::finding::{ComparedLog, UnknownChange};
use lab_model::{AssumptionKind, Interval, LogAnalysis, LogPage};
use lab_stats::change::change;
use lab_stats::ratio::Level;

/// The fewest days of each log from which there is an interval.
pub const FEWEST: usize = 3;
/// A page is slower if its interval lies above 1 by more than this.
const MARGIN: f64 = 0.02;
/// Pages with less of all time in both logs leave nothing undecided.
const MIN_SHARE: f64 = 0.01;

/// A page in both logs.
#[derive(Clone, Debug)]
pub struct CommonPage<'w> {
    /// The page in the first and in the second log.
    pub pages: [&'w LogPage; 2],
    /// Its part of all time in each.
    pub shares: [f64; 2],
    /// Typical durations of the second as a multiple of the first's; `None`: there are too few days.
    pub ratio: Option<Interval>,
}

/// The pages of two logs.
#[derive(Clone, Debug, Default)]
pub struct BetweenLogs<'w> {
    /// Pages of both, those that take most in either first.
    pub both: Vec<CommonPage<'w>>,
    /// Names of pages of the first alone, and of the second alone, those that take most first.
    pub alone: [Vec<&'w LogPage>; 2],
}

/// The result of looking for pages that take longer in the second log.
#[derive(Clone, Debug, PartialEq)]
pub enum SlowerPages {
    /// Those that are shown to; empty: no page with a relevant part of the time does.
    Known(Vec<String>),
    /// The reasons why it is not known.
    Unknown(Vec<UnknownChange>),
}

/// Looks for pages that take longer in the second log than in the first. That is not known where it depends on what is
/// assumed.
pub fn slower_pages(first: &LogAnalysis, second: &LogAnalysis) -> SlowerPages {
    for (which, log) in [(ComparedLog::First, first), (ComparedLog::Second, second)] {
        let mut assumptions = log.assumptions.iter();
        if let Some(assumption) = assumptions.find(|a| a.about() != AssumptionKind::Times) {
            let reason = UnknownChange::Assumed(which, assumption.clone());
            return SlowerPages::Unknown(vec![reason]);
        }
    }
    let both = between(first, second).both;
    if both.iter().all(|page| page.known().is_none()) {
        return SlowerPages::Unknown(vec![UnknownChange::NoDays]);
    }
    let slower = both.iter().filter(|page| page.is_slower());
    let slower: Vec<String> = slower.map(|page| page.pages[0].name.clone()).collect();
    let open: Vec<UnknownChange> = both.iter().filter_map(CommonPage::why_open).collect();
    if slower.is_empty() && !open.is_empty() {
        SlowerPages::Unknown(open)
    } else {
        SlowerPages::Known(slower)
    }
}

impl CommonPage<'_> {
    /// The interval of its ratio, if there is one.
    fn known(&self) -> Option<&Interval> {
        self.ratio.as_ref().filter(|ratio| ratio.level > 0.0)
    }

    fn is_slower(&self) -> bool {
        self.known().is_some_and(|ratio| ratio.low > 1.0 + MARGIN)
    }

    /// Why it is not known whether it is slower, if it takes a relevant part of the time.
    fn why_open(&self) -> Option<UnknownChange> {
        if self.shares[0].max(self.shares[1]) < MIN_SHARE || self.is_slower() {
            return None;
        }
        let page = self.pages[0].name.clone();
        match self.known() {
            None => Some(UnknownChange::TooFewDays(page)),
            Some(ratio) if ratio.high > 1.0 + MARGIN => Some(UnknownChange::Open {
                page,
                low: ratio.low,
                high: ratio.high,
            }),
            Some(_) => None,
        }
    }
}

/// Puts the pages of two logs side by side.
pub fn between<'w>(first: &'w LogAnalysis, second: &'w LogAnalysis) -> BetweenLogs<'w> {
    let logs = [first, second];
    let used = |log: &'w LogAnalysis| log.pages.iter().filter(|p| p.kind.is_use());
    let find = |log: &'w LogAnalysis, page: &LogPage| {
        used(log).find(|p| p.kind == page.kind && p.name == page.name)
    };
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
        .filter_map(|page| Some([page, find(second, page)?]))
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
        let has_enough_days = days.iter().all(|d: &Vec<f64>| d.len() >= FEWEST);
        let ratio = has_enough_days
            .then(|| change(&days[0], &days[1], level))
            .flatten();
        CommonPage {
            pages,
            shares: [0, 1].map(|i| pages[i].total_ns as f64 / totals[i](pages[i].kind)),
            ratio: ratio.map(|r| r.interval),
        }
    };
    let mut both: Vec<CommonPage> = pairs.into_iter().map(common_page).collect();
    both.sort_by(|a, b| {
        let most = |b: &CommonPage| b.shares[0].max(b.shares[1]);
        most(b).total_cmp(&most(a))
    });
    let alone = [(first, second), (second, first)].map(|(mine, other)| {
        let mut alone: Vec<&LogPage> = used(mine).filter(|p| find(other, p).is_none()).collect();
        alone.sort_by_key(|p| std::cmp::Reverse((p.total_ns, p.requests)));
        alone
    });
    BetweenLogs { both, alone }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, total_ns: u64) -> LogPage {
        LogPage {
            name: name.into(),
            total_ns,
            ..LogPage::default()
        }
    }

    /// The conclusion from an interval of one page that takes this share of the time.
    fn judged(share: f64, ratio: Option<(f64, f64)>) -> (bool, bool) {
        let one = page("/a", 1);
        let common = CommonPage {
            pages: [&one, &one],
            shares: [0.0, share],
            ratio: ratio.map(|(low, high)| Interval {
                estimate: (low * high).sqrt(),
                low,
                high,
                level: 0.95,
            }),
        };
        (common.is_slower(), common.why_open().is_some())
    }

    #[test]
    fn what_an_interval_does_not_exclude_is_open() {
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
            // A page that takes almost no time does not leave the judgment open.
            assert_eq!(judged(0.001, ratio), (expected.0, false), "{ratio:?}");
        }
        let alone = Interval::alone(0.5);
        let one = page("/a", 1);
        let common = CommonPage {
            pages: [&one, &one],
            shares: [1.0, 1.0],
            ratio: Some(alone),
        };
        assert!(!common.is_slower() && common.why_open().is_some());
    }
}
