// SPDX-License-Identifier: Apache-2.0
//! Changes: pages that became slower or faster on a day, or with a release, or little by little.
//!
//! A day's value is the geometric mean of a page's durations. Change points are those of PELT on the days' logarithms;
//! one is told only if the days before and behind it differ by a two-sample interval that holds together over all pages
//! and all days on which it could have been. Releases are compared in the same way over the days between them.

use super::{ALPHA, DAY, daily, offset_s};
use lab_model::{Interval, LogAnalysis, LogPage};
use lab_stats::change::change;
use lab_stats::ratio::Level;
use lab_stats::warmup::change_points;
use lab_stats::{normal, order};
use std::ops::Range;

/// The fewest days of a page on which changes are sought.
pub const FEWEST: usize = 10;
/// The fewest days on each side of a change.
const LEAST: usize = 3;
/// The cost of a change point, × ln(days), in units of the noise's variance.
const PENALTY: f64 = 8.0;
/// The least scale of noise of logarithms.
const MIN_NOISE: f64 = 0.002;
/// Days before a release and after it that are compared.
const AROUND: i64 = 28;
/// A smaller change, as a logarithm, is not reported.
const MATTERS: f64 = 0.05;

/// A page that changed.
#[derive(Clone, Debug)]
pub struct ChangedPage<'w> {
    /// The page.
    pub page: &'w LogPage,
    /// The first day of the new level: its beginning in seconds since 1970, log's time.
    pub at_s: i64,
    /// Durations after it as a multiple of those before.
    pub ratio: Interval,
    /// Days before and after that were compared.
    pub days: (usize, usize),
    /// The release of that day or of the day before, if there was one.
    pub release: Option<String>,
}

/// A page that changes little by little.
#[derive(Clone, Debug)]
pub struct Trend<'w> {
    /// The page.
    pub page: &'w LogPage,
    /// Durations of a week as a multiple of those of the week before.
    pub per_week: Interval,
}

/// Before and after a release.
#[derive(Clone, Debug)]
pub struct Released<'w> {
    /// Its name.
    pub name: String,
    /// When it was, in seconds since 1970.
    pub at_s: i64,
    /// Pages with enough days on both sides; those that changed most first.
    pub pages: Vec<ChangedPage<'w>>,
    /// The number of pages with too few days.
    pub too_few: usize,
}

/// All that changed.
#[derive(Clone, Debug, Default)]
pub struct Changes<'w> {
    /// Pages with enough days.
    pub tested: usize,
    /// Days of the page that has most.
    pub days: usize,
    /// Change points, those of the greatest change first.
    pub points: Vec<ChangedPage<'w>>,
    /// Trends of pages without change points.
    pub trends: Vec<Trend<'w>>,
    /// Release by release.
    pub releases: Vec<Released<'w>>,
}

type Series<'w> = (&'w LogPage, Vec<(i64, f64)>);

/// Finds what changed.
pub fn changes(analysis: &LogAnalysis) -> Changes<'_> {
    let used = analysis.pages.iter().filter(|p| p.kind.is_use());
    let series: Vec<Series> = used.map(|page| (page, daily(analysis, page))).collect();
    let long: Vec<&Series> = series
        .iter()
        .filter(|(_, days)| days.len() >= FEWEST)
        .collect();
    let days = series.iter().map(|(_, days)| days.len()).max().unwrap_or(0);
    let mut changes = Changes {
        tested: long.len(),
        days,
        releases: release_changes(analysis, &series),
        ..Changes::default()
    };
    let level = Level {
        alpha: ALPHA,
        family: (long.len() * days).max(1),
    };
    for (page, days) in long {
        let points = certain_points(analysis, page, days, level);
        if points.is_empty() {
            changes.trends.extend(trend(page, days, changes.tested));
        }
        changes.points.extend(points);
    }
    changes
        .points
        .sort_by(|a, b| log_distance(&b.ratio).total_cmp(&log_distance(&a.ratio)));
    changes
}

fn log_distance(ratio: &Interval) -> f64 {
    ratio.estimate.ln().abs()
}

fn is_change(ratio: &Interval) -> bool {
    ratio.level > 0.0 && (ratio.low > 1.0 || ratio.high < 1.0) && log_distance(ratio) >= MATTERS
}

fn certain_points<'w>(
    analysis: &LogAnalysis,
    page: &'w LogPage,
    days: &[(i64, f64)],
    level: Level,
) -> Vec<ChangedPage<'w>> {
    let values: Vec<f64> = days.iter().map(|(_, v)| *v).collect();
    let noise = noise(&values);
    let indexes = change_points(&values, PENALTY * noise * noise, LEAST);
    let mut edges = vec![0];
    edges.extend(&indexes);
    edges.push(values.len());
    let mut points = Vec::new();
    for bounds in edges.windows(3) {
        let (before, after) = (&values[bounds[0]..bounds[1]], &values[bounds[1]..bounds[2]]);
        let Some(ratio) = change(before, after, level) else {
            continue;
        };
        if ratio.supports_verdict() && is_change(&ratio.interval) {
            let at_s = days[bounds[1]].0 * DAY - offset_s(analysis);
            points.push(ChangedPage {
                page,
                at_s,
                ratio: ratio.interval,
                days: (before.len(), after.len()),
                release: release_at(analysis, at_s),
            });
        }
    }
    points
}

/// The release that can be behind a change from that day on: it was on that day or on the day before.
fn release_at(analysis: &LogAnalysis, at_s: i64) -> Option<String> {
    let is_near = |(time, _): &&(i64, String)| (at_s - DAY..at_s + DAY).contains(time);
    analysis
        .releases
        .iter()
        .rev()
        .find(is_near)
        .map(|(_, name)| name.clone())
}

/// The scale of the days' scatter.
fn noise(values: &[f64]) -> f64 {
    order::scatter_of_steps(values).max(MIN_NOISE)
}

/// A line through the days' logarithms by least squares, if its slope is certain and matters.
fn trend<'w>(page: &'w LogPage, days: &[(i64, f64)], family: usize) -> Option<Trend<'w>> {
    let n = days.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = days
        .iter()
        .map(|(day, v)| ((*day - days[0].0) as f64, *v))
        .unzip();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (mx, my) = (mean(&x), mean(&y));
    let sxx: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = sxy / sxx;
    let residuals: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| y - my - slope * (x - mx))
        .collect();
    let squares: f64 = residuals.iter().map(|o| o * o).sum();
    // Days that depend on their neighbours count as fewer (Bayley & Hammersley 1946, first order).
    let lag = residuals
        .windows(2)
        .map(|pair| pair[0] * pair[1])
        .sum::<f64>()
        / squares.max(f64::MIN_POSITIVE);
    let inflation = ((1.0 + lag) / (1.0 - lag).max(0.05)).max(1.0);
    let error = (squares / (n - 2.0) / sxx * inflation).sqrt();
    let freedom = ((n - 2.0) / inflation).max(1.0);
    let t = normal::student_upper_quantile(freedom, ALPHA / 2.0 / family.max(1) as f64);
    let week = |slope: f64| (7.0 * slope).exp();
    let per_week = Interval {
        estimate: week(slope),
        low: week(slope - t * error),
        high: week(slope + t * error),
        level: 1.0 - ALPHA,
    };
    let total_change = (slope * (x[x.len() - 1] - x[0])).abs();
    let is_certain = per_week.low > 1.0 || per_week.high < 1.0;
    (is_certain && total_change >= MATTERS).then_some(Trend { page, per_week })
}

/// Days before each release and after it, up to the next ones.
fn release_changes<'w>(analysis: &LogAnalysis, series: &[Series<'w>]) -> Vec<Released<'w>> {
    let offset = offset_s(analysis);
    let level = Level {
        alpha: ALPHA,
        family: (series.len() * analysis.releases.len()).max(1),
    };
    let releases = analysis.releases.iter().enumerate();
    let release = |(i, (at_s, name)): (usize, &(i64, String))| {
        let day = |time: i64| (time + offset).div_euclid(DAY);
        let release_day = day(*at_s);
        let earliest = i
            .checked_sub(1)
            .map_or(i64::MIN, |i| day(analysis.releases[i].0) + 1)
            .max(release_day - AROUND);
        let latest = analysis
            .releases
            .get(i + 1)
            .map_or(i64::MAX, |next| day(next.0))
            .min(release_day + AROUND + 1);
        // A release at midnight has its whole day behind it; any other day is of both.
        let first = if (at_s + offset).rem_euclid(DAY) == 0 {
            release_day
        } else {
            release_day + 1
        };
        let mut released = Released {
            name: name.clone(),
            at_s: *at_s,
            pages: Vec::new(),
            too_few: 0,
        };
        let ranges = [earliest..release_day, first..latest];
        for (page, days) in series {
            released.add(page, days, &ranges, level);
        }
        released.pages.sort_by(|a, b| {
            let rank = |c: &ChangedPage| (is_change(&c.ratio), log_distance(&c.ratio));
            let (a, b) = (rank(a), rank(b));
            b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        released
    };
    releases.map(release).collect()
}

impl<'w> Released<'w> {
    /// Compares a page's days before and after the release; `ranges`: both as numbers of days since 1970.
    fn add(
        &mut self,
        page: &'w LogPage,
        days: &[(i64, f64)],
        ranges: &[Range<i64>; 2],
        level: Level,
    ) {
        let [before, after] = ranges.each_ref().map(|range| -> Vec<f64> {
            let in_range = days.iter().filter(|(day, _)| range.contains(day));
            in_range.map(|(_, v)| *v).collect()
        });
        if before.len() < LEAST || after.len() < LEAST {
            self.too_few += 1;
        } else if let Some(ratio) = change(&before, &after, level) {
            self.pages.push(ChangedPage {
                page,
                at_s: self.at_s,
                ratio: ratio.interval,
                days: (before.len(), after.len()),
                release: Some(self.name.clone()),
            });
        }
    }
}

impl ChangedPage<'_> {
    /// True if the interval says that it changed, by enough to matter.
    pub fn is_certain(&self) -> bool {
        is_change(&self.ratio)
    }
}
