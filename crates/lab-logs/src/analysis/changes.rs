// SPDX-License-Identifier: Apache-2.0
//! Finds pages that became slower or faster on a certain day, with a release, or gradually.
//!
//! A day's value is the geometric mean of a page's durations. PELT finds change points in the
//! logarithms of these values. A change point is reported only if a two-sample interval shows that
//! the days before and after the change point differ. The intervals hold simultaneously for all
//! pages and all days on which a change was possible. Releases are compared in the same way, using
//! the days between releases.

use super::{ALPHA, Calendar, DAY, daily, offset_s};
use lab_model::{Interval, LogAnalysis, LogPage};
use lab_stats::change::change;
use lab_stats::ratio::Level;
use lab_stats::warmup::change_points;
use lab_stats::{normal, order};
use std::ops::Range;

/// The minimum number of days with a value that a page needs for the search for changes.
pub const MIN_DAYS: usize = 10;
/// The minimum number of days on each side of a change.
const MIN_DAYS_PER_SIDE: usize = 3;
/// The factor in the cost of a change point: the cost is this factor times ln(days) times the
/// variance of the noise.
const PENALTY: f64 = 8.0;
/// The minimum scale of the noise in the daily logarithms.
const MIN_NOISE: f64 = 0.002;
/// The maximum number of days on each side of a release that are compared.
const MAX_DAYS_PER_SIDE: i64 = 28;
/// The smallest change that is reported, as a logarithm.
const MIN_LOG_CHANGE: f64 = 0.05;

/// A page whose durations changed on a certain day.
#[derive(Clone, Debug)]
pub struct ChangedPage<'w> {
    /// The page with its counts.
    pub page: &'w LogPage,
    /// The start of the first day at the new level by the log's clock, in seconds since 1970.
    pub at_s: i64,
    /// The durations after the change divided by the durations before the change.
    pub ratio: Interval,
    /// The number of compared days before the change, and the number of compared days after it.
    pub days: (usize, usize),
    /// The release on the day of the change or on the previous day, if any.
    pub release: Option<String>,
}

/// A page that changes gradually.
#[derive(Clone, Debug)]
pub struct Trend<'w> {
    /// The page with its counts.
    pub page: &'w LogPage,
    /// One week's durations divided by the previous week's durations.
    pub per_week: Interval,
}

/// The changes around one release.
#[derive(Clone, Debug)]
pub struct Released<'w> {
    /// The name of the release.
    pub name: String,
    /// The time of the release, in seconds since 1970.
    pub at_s: i64,
    /// Pages with enough days before and after the release, largest change first.
    pub pages: Vec<ChangedPage<'w>>,
    /// The number of pages with too few days before or after the release.
    pub too_few: usize,
}

/// All changes in a log.
#[derive(Clone, Debug, Default)]
pub struct Changes<'w> {
    /// The number of pages with enough days to be tested.
    pub tested: usize,
    /// The number of days of the page with the most days.
    pub days: usize,
    /// Change points, largest change first.
    pub points: Vec<ChangedPage<'w>>,
    /// Trends of pages without change points.
    pub trends: Vec<Trend<'w>>,
    /// The changes of each release.
    pub releases: Vec<Released<'w>>,
}

type Series<'w> = (&'w LogPage, Vec<(i64, f64)>);

/// Finds the changes in a log.
pub fn changes(analysis: &LogAnalysis) -> Changes<'_> {
    let used = analysis.pages.iter().filter(|p| p.kind.is_use());
    let series: Vec<Series> = used.map(|page| (page, daily(analysis, page))).collect();
    let long: Vec<&Series> = series
        .iter()
        .filter(|(_, days)| days.len() >= MIN_DAYS)
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
    ratio.level > 0.0
        && (ratio.low > 1.0 || ratio.high < 1.0)
        && log_distance(ratio) >= MIN_LOG_CHANGE
}

fn certain_points<'w>(
    analysis: &LogAnalysis,
    page: &'w LogPage,
    days: &[(i64, f64)],
    level: Level,
) -> Vec<ChangedPage<'w>> {
    let values: Vec<f64> = days.iter().map(|(_, v)| *v).collect();
    let noise = noise(&values);
    let indexes = change_points(&values, PENALTY * noise * noise, MIN_DAYS_PER_SIDE);
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

/// Returns the release that can explain a change: a release on the day of the change or on the day
/// before.
fn release_at(analysis: &LogAnalysis, at_s: i64) -> Option<String> {
    let is_near = |(time, _): &&(i64, String)| (at_s - DAY..at_s + DAY).contains(time);
    analysis
        .releases
        .iter()
        .rev()
        .find(is_near)
        .map(|(_, name)| name.clone())
}

/// Estimates the scale of the day-to-day noise.
fn noise(values: &[f64]) -> f64 {
    order::scatter_of_steps(values).max(MIN_NOISE)
}

/// Fits a line to the days' logarithms by least squares.
///
/// Returns a trend if its slope is statistically significant and large enough to matter.
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
    // Autocorrelated days count as fewer days (Bayley & Hammersley 1946, first order).
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
    (is_certain && total_change >= MIN_LOG_CHANGE).then_some(Trend { page, per_week })
}

/// Compares the days before and after each release, up to the neighboring releases.
fn release_changes<'w>(analysis: &LogAnalysis, series: &[Series<'w>]) -> Vec<Released<'w>> {
    let calendar = Calendar::new(analysis);
    let level = Level {
        alpha: ALPHA,
        family: (series.len() * analysis.releases.len()).max(1),
    };
    let releases = analysis.releases.iter().enumerate();
    let release = |(i, (at_s, name)): (usize, &(i64, String))| {
        let release_day = calendar.day(*at_s);
        let earliest = i
            .checked_sub(1)
            .map_or(i64::MIN, |i| {
                calendar.first_day_from(analysis.releases[i].0)
            })
            .max(release_day - MAX_DAYS_PER_SIDE);
        let latest = analysis
            .releases
            .get(i + 1)
            .map_or(i64::MAX, |next| calendar.day(next.0))
            .min(release_day + MAX_DAYS_PER_SIDE + 1);
        // A day during which a release took place mixes both versions.
        let first = calendar.first_day_from(*at_s);
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
    /// Compares a page's days before and after the release.
    ///
    /// `ranges` contains both ranges in days since 1970.
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
        if before.len() < MIN_DAYS_PER_SIDE || after.len() < MIN_DAYS_PER_SIDE {
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
    /// Returns true if the interval shows a change, and the change is large enough to matter.
    pub fn is_certain(&self) -> bool {
        is_change(&self.ratio)
    }
}
