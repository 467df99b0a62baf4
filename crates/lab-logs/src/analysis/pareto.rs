// SPDX-License-Identifier: Apache-2.0
//! Ranks the pages that take most of the time.
//!
//! A ranking contains each page's fraction of the total, the smallest set of pages that reaches 80
//! % of the total, the confidence interval of the set's size, and the time that an optimization of
//! each page would save.

use super::{ALPHA, DAY};
use lab_model::{Interval, LogAnalysis, LogPage, PageKind};
use lab_stats::bootstrap;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The fraction of the time that the smallest set must reach.
pub const RANKED_FRACTION: f64 = 0.8;
/// The minimum number of blocks of time for an interval.
const MIN_BLOCKS: usize = 8;
/// The maximum number of pages that the bootstrap handles individually. The other pages are summed.
const MAX_SEPARATE: usize = 300;
/// The number of top pages whose fractions get intervals.
pub const WITH_INTERVALS: usize = 15;
/// The seed of the bootstrap.
const SEED: u64 = 0x7761_7463;

/// The quantity by which pages are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageOrder {
    /// By total duration.
    Time,
    /// By number of requests, because no durations are known.
    Requests,
}

/// The pages of a kind, largest first.
#[derive(Clone, Debug)]
pub struct PageRanking<'w> {
    /// The order of the pages.
    pub by: PageOrder,
    /// The pages, largest first.
    pub pages: Vec<RankedPage<'w>>,
    /// The size of the smallest set that reaches [`RANKED_FRACTION`] of the total: the first pages
    /// of [`PageRanking::pages`].
    pub smallest: usize,
    /// The interval of the set's size. `None` means that there are too few blocks of time.
    pub interval: Option<Interval>,
    /// The length of the bootstrap's blocks in seconds, and the number of blocks.
    pub blocks: (i64, usize),
}

/// A page with its fraction of the total, and its ranks.
#[derive(Clone, Debug)]
pub struct RankedPage<'w> {
    /// The page with its counts.
    pub page: &'w LogPage,
    /// The page's fraction of the total.
    pub fraction: f64,
    /// The interval of the fraction. Only the first [`WITH_INTERVALS`] pages can have an interval.
    pub fraction_interval: Option<Interval>,
    /// The combined fraction of this page and all pages with a lower index.
    pub cumulative: f64,
    /// The fraction of the total time that would be saved if the page's mean became the median of
    /// the other pages' means.
    pub saving: f64,
    /// The rank by requests, from 1.
    pub by_requests: usize,
    /// The rank by mean duration, from 1. `None` without durations.
    pub by_mean: Option<usize>,
}

/// Ranks the pages of a kind. Returns `None` if there are no such pages.
pub fn ranking(analysis: &LogAnalysis, kind: PageKind) -> Option<PageRanking<'_>> {
    let mut pages = super::pages(analysis, kind);
    let has_time = pages.iter().any(|p| p.total_ns > 0);
    let by = if has_time {
        PageOrder::Time
    } else {
        PageOrder::Requests
    };
    let amount = |p: &LogPage| if has_time { p.total_ns } else { p.requests };
    pages.retain(|p| p.requests > 0);
    pages.sort_by(|a, b| amount(b).cmp(&amount(a)).then_with(|| a.name.cmp(&b.name)));
    let total: f64 = pages.iter().map(|p| amount(p) as f64).sum();
    if pages.is_empty() || total <= 0.0 {
        return None;
    }
    let requests = ranks(&pages, |p| p.requests as f64);
    let means = ranks(&pages, |p| p.mean_ns().unwrap_or(0.0));
    let middle = median_mean(&pages);
    let mut cumulative = 0.0;
    let mut ranked: Vec<RankedPage> = Vec::new();
    for (i, page) in pages.iter().enumerate() {
        cumulative += amount(page) as f64;
        let above = page
            .mean_ns()
            .map_or(0.0, |mean| (mean - middle(i)).max(0.0));
        ranked.push(RankedPage {
            page,
            fraction: amount(page) as f64 / total,
            fraction_interval: None,
            cumulative: cumulative / total,
            saving: if has_time {
                above * page.timed as f64 / total
            } else {
                0.0
            },
            by_requests: requests[i],
            by_mean: page.mean_ns().map(|_| means[i]),
        });
    }
    let smallest = ranked
        .iter()
        .position(|r| r.cumulative >= RANKED_FRACTION - 1e-12)
        .map_or(pages.len(), |at| at + 1);
    let matrix = Matrix::new(analysis, &pages, has_time);
    let intervals = matrix.intervals();
    if let Some(bounds) = &intervals {
        for (ranked, interval) in ranked.iter_mut().zip(&bounds[1..]) {
            ranked.fraction_interval = Some(*interval);
        }
    }
    Some(PageRanking {
        by,
        pages: ranked,
        smallest,
        interval: intervals.map(|bounds| bounds[0]),
        blocks: (matrix.length, matrix.blocks),
    })
}

/// Returns each page's rank by a value. The page with the largest value has rank 1.
fn ranks(pages: &[&LogPage], value: impl Fn(&LogPage) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pages.len()).collect();
    order.sort_by(|a, b| value(pages[*b]).total_cmp(&value(pages[*a])));
    let mut ranks = vec![0; pages.len()];
    for (index, page) in order.into_iter().enumerate() {
        ranks[page] = index + 1;
    }
    ranks
}

/// Returns a function that computes the median of all known means, excluding the mean of one page.
///
/// The page must have a mean.
fn median_mean(pages: &[&LogPage]) -> impl Fn(usize) -> f64 {
    let mean = |p: &&LogPage| p.mean_ns().unwrap_or(0.0);
    let means: Vec<f64> = pages.iter().map(mean).collect();
    let mut sorted: Vec<f64> = pages.iter().filter_map(|p| p.mean_ns()).collect();
    sorted.sort_by(f64::total_cmp);
    move |page| {
        let n = sorted.len().saturating_sub(1);
        if n == 0 {
            return means[page];
        }
        // The index of the excluded page's mean.
        let at = sorted.partition_point(|m| *m < means[page]);
        let other = |i: usize| sorted[if i < at { i } else { i + 1 }];
        (other((n - 1) / 2) + other(n / 2)) / 2.0
    }
}

/// The time of each page in each block of the log.
struct Matrix {
    length: i64,
    blocks: usize,
    /// One row per page.
    amounts: Vec<Vec<f64>>,
    /// The summed rows of all pages after the first [`MAX_SEPARATE`].
    rest: Vec<f64>,
}

impl Matrix {
    fn new(analysis: &LogAnalysis, pages: &[&LogPage], has_time: bool) -> Matrix {
        let lengths = [7 * DAY, DAY, 3600, 60];
        let starts = |length: i64| -> BTreeSet<i64> {
            let cells = pages.iter().flat_map(|p| &p.cells);
            cells.map(|c| c.start_s.div_euclid(length)).collect()
        };
        // Try days first and weeks last, because traffic repeats daily.
        let order = [lengths[1], lengths[2], lengths[3], lengths[0]];
        let fits = order
            .into_iter()
            .filter(|length| *length >= analysis.cell_s);
        let blocks = fits
            .map(|length| (length, starts(length)))
            .find(|(_, s)| s.len() >= MIN_BLOCKS);
        let (length, starts) = blocks.unwrap_or_default();
        let index: BTreeMap<i64, usize> = starts
            .into_iter()
            .enumerate()
            .map(|(i, s)| (s, i))
            .collect();
        let amount = |ns: u64, requests: u64| if has_time { ns } else { requests } as f64;
        let add_cells = |row: &mut [f64], page: &LogPage| {
            for cell in &page.cells {
                if let Some(&index_of_start) = index.get(&cell.start_s.div_euclid(length.max(1))) {
                    row[index_of_start] += amount(cell.total_ns, cell.requests);
                }
            }
        };
        let mut known_amounts = vec![0.0; index.len()];
        pages
            .iter()
            .for_each(|page| add_cells(&mut known_amounts, page));
        let all_known = known_amounts.iter().sum::<f64>().max(1.0);
        let add = |row: &mut [f64], page: &LogPage| {
            if !page.cells.is_empty() {
                return add_cells(row, page);
            }
            // A page without cells is assumed to be distributed over time like the other pages.
            let part = amount(page.total_ns, page.requests) / all_known;
            let amounts = row.iter_mut().zip(&known_amounts);
            amounts.for_each(|(sum, known)| *sum += part * known);
        };
        let row = |page: &&LogPage| {
            let mut row = vec![0.0; index.len()];
            add(&mut row, page);
            row
        };
        let separate = pages.len().min(MAX_SEPARATE);
        let mut rest = vec![0.0; index.len()];
        pages[separate..]
            .iter()
            .for_each(|page| add(&mut rest, page));
        Matrix {
            length,
            blocks: index.len(),
            amounts: pages[..separate].iter().map(row).collect(),
            rest,
        }
    }

    /// Computes the intervals of the smallest set's size and of the first pages' fractions.
    fn intervals(&self) -> Option<[Interval; WITH_INTERVALS + 1]> {
        if self.blocks < MIN_BLOCKS {
            return None;
        }
        let mut intervals =
            bootstrap::intervals(self.blocks, SEED, ALPHA, |counts| self.draw(counts))?;
        // A set has a whole number of pages.
        intervals[0].low = intervals[0].low.floor();
        intervals[0].high = intervals[0].high.ceil();
        Some(intervals)
    }

    fn draw(&self, counts: &[u32]) -> Option<[f64; WITH_INTERVALS + 1]> {
        let sum = |row: &Vec<f64>| -> f64 {
            row.iter().zip(counts).map(|(a, n)| a * f64::from(*n)).sum()
        };
        let mut sums: Vec<f64> = self.amounts.iter().map(sum).collect();
        let total: f64 = sums.iter().sum::<f64>() + sum(&self.rest);
        if total <= 0.0 {
            return None;
        }
        let mut values = [0.0; WITH_INTERVALS + 1];
        for (value, sum) in values[1..].iter_mut().zip(&sums) {
            *value = sum / total;
        }
        sums.sort_by(|a, b| b.total_cmp(a));
        let mut sum_so_far = 0.0;
        let last_needed = sums.iter().position(|sum| {
            sum_so_far += sum;
            sum_so_far >= RANKED_FRACTION * total
        });
        values[0] = last_needed.map_or(sums.len(), |at| at + 1) as f64;
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::LogCell;

    fn page(name: &str, ns: u64, days: i64) -> LogPage {
        let cell = |day| LogCell {
            start_s: day * DAY,
            requests: 1,
            timed: 1,
            total_ns: ns / 10,
            ..LogCell::default()
        };
        LogPage {
            name: name.into(),
            requests: 10,
            timed: 10,
            total_ns: ns,
            cells: (0..days).map(cell).collect(),
            ..LogPage::default()
        }
    }

    #[test]
    fn pages_without_durations_are_not_in_the_median() {
        let unknown = LogPage {
            timed: 0,
            total_ns: 0,
            ..page("/unknown", 0, 0)
        };
        let saving = |pages: &[LogPage]| {
            let analysis = LogAnalysis {
                pages: pages.to_vec(),
                ..LogAnalysis::default()
            };
            ranking(&analysis, PageKind::Page).expect("pages").pages[0].saving
        };
        let (slow, fast) = (page("/slow", 9_000, 0), page("/fast", 1_000, 0));
        assert_eq!(saving(&[slow.clone(), unknown.clone()]), 0.0);
        // 8,000 of 10,000 ns, with and without the other page.
        assert_eq!(saving(&[slow.clone(), fast.clone()]), 0.8);
        assert_eq!(saving(&[slow, fast, unknown]), 0.8);
    }

    #[test]
    fn a_page_without_cells_counts_in_the_interval() {
        let analysis = LogAnalysis {
            cell_s: DAY,
            pages: vec![page("/large", 9_000, 0), page("/small", 1_000, 10)],
            ..LogAnalysis::default()
        };
        let ranking = ranking(&analysis, PageKind::Page).expect("pages");
        let interval = ranking.interval.expect("enough days");
        assert_eq!(ranking.smallest, 1);
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
    }
}
