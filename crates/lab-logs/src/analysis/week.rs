// SPDX-License-Identifier: Apache-2.0
//! Finds when requests arrive: the hours of a week, and hours that stand out from their usual rate.
//!
//! An hour's requests vary around the usual rate of that weekday and hour for two reasons: random
//! arrivals (Poisson) and differences between weeks. The variance between weeks is one number for
//! the log. It is estimated from the median absolute deviation, so that spikes do not raise it. The
//! usual rate is the median of the other weeks. The intervals hold simultaneously for all tested
//! hours (Bonferroni) and assume that the logarithms are normally distributed.

use super::ALPHA;
use lab_model::{Counts, Interval, LogAnalysis, LogHour};
use lab_stats::{normal, order};
use std::collections::BTreeMap;

/// The minimum number of weeks for testing single hours. Fewer weeks do not show the usual rate of
/// an hour of the week.
pub const WEEKS: usize = 4;
/// The minimum number of weeks for finding hours that stand out week after week.
pub const MIN_WEEKS: usize = 2;
/// The minimum ratio of a spike's requests to the usual number. A smaller increase is never reported.
pub const MIN_SPIKE: f64 = 1.5;
/// The variance of the median of normal values divided by the variance of their mean (Kenney &
/// Keeping, 1962).
const MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
/// The median absolute value of a standard normal distribution.
const MAD: f64 = 0.6745;
/// The number of hours in a week.
const HOURS_PER_WEEK: i64 = 7 * 24;
/// The number of days in a week, and the number of hours in a day.
pub const SLOTS: (usize, usize) = (7, 24);

/// An hour of the week, summed over all weeks.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// The number of times that the log contains this hour of the week.
    pub hours: usize,
    /// The number of requests in this hour of the week.
    pub requests: u64,
    /// The number of failed requests.
    pub errors: u64,
    /// The number of requests by duration in ns.
    times: BTreeMap<u64, u64>,
}

impl Slot {
    /// Returns the requests per second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / (self.hours.max(1) as f64 * 3600.0)
    }

    /// Returns the 95th percentile of the durations, in ns.
    pub fn p95(&self) -> Option<u64> {
        Counts(self.times.iter().map(|(v, n)| (*v, *n)).collect()).quantile(0.95)
    }
}

/// Returns the hours of the week, from Monday 0:00 in the log's time.
pub fn slots(analysis: &LogAnalysis) -> Vec<Vec<Slot>> {
    let mut slots = vec![vec![Slot::default(); SLOTS.1]; SLOTS.0];
    for hour in stretches(&analysis.hours).iter().flatten() {
        let (day, of_day) = slot_of(hour.local_s);
        slots[day][of_day].hours += 1;
    }
    for hour in &analysis.hours {
        let (day, of_day) = slot_of(hour.start_s + i64::from(hour.offset_s));
        let slot = &mut slots[day][of_day];
        slot.requests += hour.requests;
        slot.errors += hour.errors;
        for (value, count) in &hour.times.0 {
            *slot.times.entry(*value).or_default() += count;
        }
    }
    slots
}

/// Returns the weekday, counted from Monday, and the hour of a local time.
///
/// `local_s` is in seconds since 1970-01-01, which was a Thursday.
fn slot_of(local_s: i64) -> (usize, usize) {
    let (day, hour) = (
        local_s.div_euclid(86_400),
        local_s.rem_euclid(86_400) / 3600,
    );
    ((day + 3).rem_euclid(7) as usize, hour as usize)
}

/// The hours that have more requests than usual.
#[derive(Clone, Debug, Default)]
pub struct Spikes {
    /// The number of whole weeks in the log.
    pub weeks: usize,
    /// The number of single hours that were tested. It is 0 if there are too few weeks.
    pub tested: usize,
    /// Hours of the week that stand out from the same hour of other days, week after week.
    pub weekly: Vec<Weekly>,
    /// Single hours that stand out from the same hour of the week in other weeks, largest first.
    pub single: Vec<Single>,
}

/// An hour of the week that stands out.
#[derive(Clone, Debug)]
pub struct Weekly {
    /// The weekday, where 0 is Monday.
    pub weekday: usize,
    /// The hour of the day, 0 to 23.
    pub hour: usize,
    /// The ratio of the requests to the requests at the same hour of other days.
    pub ratio: Interval,
    /// The requests per second.
    pub rate: f64,
}

/// A single hour that stands out.
#[derive(Clone, Debug)]
pub struct Single {
    /// The start of the hour, in seconds since 1970.
    pub start_s: i64,
    /// The start of the hour by the log's clock, in seconds since 1970.
    pub local_s: i64,
    /// The ratio of the requests to the usual number.
    pub ratio: Interval,
    /// The number of requests.
    pub requests: u64,
}

/// Tests all hours except the first and the last of each stretch, which can be incomplete.
///
/// With fewer than [`WEEKS`] weeks, only hours that stand out in each week are found.
pub fn spikes(analysis: &LogAnalysis) -> Spikes {
    let stretches = stretches(&analysis.hours);
    let covered: usize = stretches.iter().map(Vec::len).sum();
    let hours: Vec<&TestedHour> = stretches.iter().flat_map(|all| inner(all)).collect();
    let mut spikes = Spikes {
        weeks: covered / HOURS_PER_WEEK as usize,
        ..Spikes::default()
    };
    if spikes.weeks < MIN_WEEKS {
        return spikes;
    }
    let week = Week::new(&hours);
    if spikes.weeks >= WEEKS {
        spikes.tested = week.values.iter().flatten().map(Vec::len).sum();
    }
    let family = spikes.tested + SLOTS.0 * SLOTS.1;
    let reach = normal::upper_quantile(ALPHA / 2.0 / family as f64);
    for weekday in 0..SLOTS.0 {
        for hour in 0..SLOTS.1 {
            spikes.weekly.extend(week.weekly(weekday, hour, reach));
        }
    }
    let is_weekly = |single: &Single| {
        let (weekday, hour) = slot_of(single.local_s);
        spikes
            .weekly
            .iter()
            .any(|w| (w.weekday, w.hour) == (weekday, hour))
    };
    let tested = hours.iter().filter(|_| spikes.tested > 0);
    let singles = tested.filter_map(|hour| week.single(hour, reach));
    let mut singles: Vec<Single> = singles.filter(|single| !is_weekly(single)).collect();
    singles.sort_by(|a, b| b.ratio.estimate.total_cmp(&a.ratio.estimate));
    spikes.single = singles;
    spikes
}

struct TestedHour {
    start_s: i64,
    local_s: i64,
    requests: u64,
}

impl TestedHour {
    /// Returns the next hour, without requests, if it ends before `hour` begins.
    fn next_before(&self, hour: &LogHour) -> Option<TestedHour> {
        let next = TestedHour {
            start_s: self.start_s + 3600,
            local_s: self.local_s + 3600,
            requests: 0,
        };
        (next.start_s + 3600 <= hour.start_s).then_some(next)
    }

    fn log(&self) -> f64 {
        (self.requests as f64 + 0.5).ln()
    }
}

/// Returns the number of hours that the log covers, including hours without requests.
pub fn covered_hours(analysis: &LogAnalysis) -> usize {
    stretches(&analysis.hours).iter().map(Vec::len).sum()
}

/// Returns the stretches of time that the log covers, with hours without requests filled in.
///
/// A gap of more than a week ends a stretch. It is a time that the logs do not cover, or a time before
/// or after a wrong timestamp, rather than a time without requests.
fn stretches(hours: &[LogHour]) -> Vec<Vec<TestedHour>> {
    let mut stretches: Vec<Vec<TestedHour>> = Vec::new();
    for hour in hours {
        let last = stretches.last().and_then(|stretch| stretch.last());
        let gap = last.map(|last| (hour.start_s - last.start_s) / 3600 - 1);
        if gap.is_none_or(|gap| gap > HOURS_PER_WEEK) {
            stretches.push(Vec::new());
        }
        let Some(stretch) = stretches.last_mut() else {
            continue;
        };
        while let Some(empty) = stretch.last().and_then(|last| last.next_before(hour)) {
            stretch.push(empty);
        }
        stretch.push(TestedHour {
            start_s: hour.start_s,
            local_s: hour.start_s + i64::from(hour.offset_s),
            requests: hour.requests,
        });
    }
    stretches
}

/// Returns a stretch without its first and its last hour.
fn inner(stretch: &[TestedHour]) -> &[TestedHour] {
    let last = stretch.len().saturating_sub(1);
    stretch.get(1..last).unwrap_or_default()
}

/// The logarithms of the hourly requests by weekday and hour of the day, and their scatter.
struct Week {
    values: Vec<Vec<Vec<f64>>>,
    /// The variance of the logarithms between weeks.
    between_weeks: f64,
}

impl Week {
    fn new(hours: &[&TestedHour]) -> Week {
        let mut values = vec![vec![Vec::new(); SLOTS.1]; SLOTS.0];
        for hour in hours {
            let (weekday, of_day) = slot_of(hour.local_s);
            values[weekday][of_day].push(hour.log());
        }
        let mut week = Week {
            values,
            between_weeks: 0.0,
        };
        let slots = week
            .values
            .iter()
            .flatten()
            .filter(|slot| slot.len() >= MIN_WEEKS);
        let deviations: Vec<(f64, f64, f64)> = slots
            .flat_map(|slot| (0..slot.len()).filter_map(|i| deviation(slot, i)))
            .collect();
        // Find the smallest variance between weeks at which the median standardized deviation
        // matches the median of a normal distribution.
        let is_enough = |between: f64| {
            let scaled = deviations.iter().map(|(deviation, expected, factor)| {
                deviation.abs() / ((between + poisson(*expected)) * factor).sqrt()
            });
            order::median(&scaled.collect::<Vec<f64>>()).is_none_or(|median| median <= MAD)
        };
        let (mut low, mut high) = (0.0, 4.0);
        if !is_enough(low) {
            for _ in 0..40 {
                let middle = (low + high) / 2.0;
                if is_enough(middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            week.between_weeks = high;
        }
        week
    }

    /// Returns the variance of an hour's logarithm, given the usual logarithm.
    fn variance(&self, expected: f64) -> f64 {
        self.between_weeks + poisson(expected)
    }

    fn single(&self, hour: &TestedHour, reach: f64) -> Option<Single> {
        let (weekday, of_day) = slot_of(hour.local_s);
        let slot = &self.values[weekday][of_day];
        let index = slot.iter().position(|v| *v == hour.log())?;
        let (deviation, expected, factor) =
            deviation(slot, index).filter(|_| slot.len() >= WEEKS)?;
        let ratio = ratio(deviation, reach * (self.variance(expected) * factor).sqrt())?;
        Some(Single {
            start_s: hour.start_s,
            local_s: hour.local_s,
            ratio,
            requests: hour.requests,
        })
    }

    fn weekly(&self, weekday: usize, hour: usize, reach: f64) -> Option<Weekly> {
        let values = &self.values[weekday][hour];
        let other_days = (0..SLOTS.0).filter(|day| *day != weekday);
        let others: Vec<f64> = other_days
            .filter_map(|day| order::median(&self.values[day][hour]))
            .collect();
        if values.len() < MIN_WEEKS || others.len() < SLOTS.0 - 1 {
            return None;
        }
        let (level, expected) = (order::median(values)?, order::median(&others)?);
        let of_others = 1.0 + MEDIAN / others.len() as f64;
        // A single spike moves the median of two or three weeks, so each week must stand out.
        let each = reach * (self.variance(expected) * of_others).sqrt();
        let few = values.len() < WEEKS - 1;
        if few
            && values
                .iter()
                .any(|value| ratio(value - expected, each).is_none())
        {
            return None;
        }
        let n = values.len() as f64;
        let variance = self.variance(expected) * MEDIAN / n * of_others;
        Some(Weekly {
            weekday,
            hour,
            ratio: ratio(level - expected, reach * variance.sqrt())?,
            rate: level.exp() / 3600.0,
        })
    }
}

/// Compares a value with the median of the other values.
///
/// Returns the difference, the median, and the variance of the difference as a multiple of an
/// hour's variance.
fn deviation(slot: &[f64], index: usize) -> Option<(f64, f64, f64)> {
    let others: Vec<f64> = slot
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != index)
        .map(|(_, v)| *v)
        .collect();
    let expected = order::median(&others)?;
    Some((
        slot[index] - expected,
        expected,
        1.0 + median_variance(others.len()),
    ))
}

/// Returns the variance of the median of `n` normal values, as a multiple of one value's variance.
fn median_variance(n: usize) -> f64 {
    // The median of up to two values is their mean.
    let factor = if n <= 2 { 1.0 } else { MEDIAN };
    factor / n as f64
}

/// Returns the variance of the logarithm of a Poisson count, given the logarithm of its mean (delta
/// method).
fn poisson(expected: f64) -> f64 {
    1.0 / expected.exp().max(1.0)
}

/// Returns the ratio of a spike, given its logarithm and the half-width of the logarithm's
/// interval.
///
/// Returns `None` if the ratio is not a spike.
fn ratio(log: f64, half: f64) -> Option<Interval> {
    let is_spike = log - half > 0.0 && log >= MIN_SPIKE.ln();
    is_spike.then(|| Interval {
        estimate: log.exp(),
        low: (log - half).exp(),
        high: (log + half).exp(),
        level: 1.0 - ALPHA,
    })
}
