// SPDX-License-Identifier: Apache-2.0
//! When: the hours of a week, and hours that stand out from the same hour of other days.
//!
//! An hour's requests scatter around what is usual at that weekday and hour by the chance of arrivals (Poisson) and by
//! what the weeks differ in; the latter is one number for the log, estimated from the median absolute deviation, so
//! that spikes do not raise it. What is usual is the median of the other weeks. Intervals hold together over all hours
//! that are tested (Bonferroni), and take the logarithms to scatter normally.

use super::ALPHA;
use lab_model::{Counts, Interval, LogAnalysis, LogHour};
use lab_stats::{normal, order};
use std::collections::BTreeMap;

/// The fewest weeks from which the usual rate of an hour of the week is estimated.
pub const WEEKS: usize = 4;
/// An hour with less than this multiple of the usual requests is no spike, however certain.
pub const LEAST: f64 = 1.5;
/// The variance of a median of normal values as a multiple of that of their mean (Kenney & Keeping, 1962).
const MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
/// A standard normal's median absolute value.
const MAD: f64 = 0.6745;
/// Weekdays, and hours of a day.
pub const SLOTS: (usize, usize) = (7, 24);

/// An hour of the week, over all weeks.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// How many such hours the log has.
    pub hours: usize,
    /// Requests in them.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
    /// Durations in ns, with how many requests took each.
    times: BTreeMap<u64, u64>,
}

impl Slot {
    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / (self.hours.max(1) as f64 * 3600.0)
    }

    /// The 95th percentile of the durations, ns.
    pub fn p95(&self) -> Option<u64> {
        Counts(self.times.iter().map(|(v, n)| (*v, *n)).collect()).quantile(0.95)
    }
}

/// The hours of the week, from Monday 0:00 in the log's time.
pub fn slots(analysis: &LogAnalysis) -> Vec<Vec<Slot>> {
    let mut slots = vec![vec![Slot::default(); SLOTS.1]; SLOTS.0];
    for hour in &analysis.hours {
        let (day, of_day) = slot_of(hour.start_s + i64::from(hour.offset_s));
        let slot = &mut slots[day][of_day];
        slot.hours += 1;
        slot.requests += hour.requests;
        slot.errors += hour.errors;
        for (value, count) in &hour.times.0 {
            *slot.times.entry(*value).or_default() += count;
        }
    }
    slots
}

/// Weekday from Monday, and hour, of a local time in seconds since 1970, which was a Thursday.
fn slot_of(local_s: i64) -> (usize, usize) {
    let (day, hour) = (
        local_s.div_euclid(86_400),
        local_s.rem_euclid(86_400) / 3600,
    );
    ((day + 3).rem_euclid(7) as usize, hour as usize)
}

/// Hours that stand out.
#[derive(Clone, Debug, Default)]
pub struct Spikes {
    /// Whole weeks of the log.
    pub weeks: usize,
    /// Hours that were tested; 0: there are not enough weeks.
    pub tested: usize,
    /// Hours of the week that stand out from the same hour of other days, week after week.
    pub weekly: Vec<Weekly>,
    /// Single hours that stand out from the same hour of the week in other weeks; the greatest first.
    pub single: Vec<Single>,
}

/// An hour of the week that stands out.
#[derive(Clone, Debug)]
pub struct Weekly {
    /// The weekday: 0 is Monday.
    pub weekday: usize,
    /// The hour of the day, 0 to 23.
    pub hour: usize,
    /// Requests as a multiple of those at the same hour of other days.
    pub ratio: Interval,
    /// Requests per second.
    pub rate: f64,
}

/// An hour that stands out.
#[derive(Clone, Debug)]
pub struct Single {
    /// When it began, in seconds since 1970.
    pub start_s: i64,
    /// When it began by the log's clock, in seconds since 1970.
    pub local_s: i64,
    /// Requests as a multiple of what is usual.
    pub ratio: Interval,
    /// Requests.
    pub requests: u64,
}

/// Tests all hours but the first and the last, which can be cut off.
pub fn spikes(analysis: &LogAnalysis) -> Spikes {
    let hours = without_gaps(&analysis.hours);
    let mut spikes = Spikes {
        weeks: hours.len() / (7 * 24),
        ..Spikes::default()
    };
    if spikes.weeks < WEEKS {
        return spikes;
    }
    let week = Week::new(&hours);
    spikes.tested = week.values.iter().flatten().map(Vec::len).sum();
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
    let singles = hours.iter().filter_map(|hour| week.single(hour, reach));
    let mut singles: Vec<Single> = singles.filter(|single| !is_weekly(single)).collect();
    singles.sort_by(|a, b| b.ratio.estimate.total_cmp(&a.ratio.estimate));
    spikes.single = singles;
    spikes
}

/// An hour's requests, and when it was.
struct TestedHour {
    start_s: i64,
    local_s: i64,
    requests: u64,
}

impl TestedHour {
    fn log(&self) -> f64 {
        (self.requests as f64 + 0.5).ln()
    }
}

/// All hours but the first and the last, with those that the log lacks as hours without requests.
fn without_gaps(hours: &[LogHour]) -> Vec<TestedHour> {
    let mut hours_tested: Vec<TestedHour> = Vec::new();
    for hour in hours {
        // A longer gap comes from a wrong time, not from a quiet server.
        const LONGEST: i64 = 366 * 24;
        if let Some(last) = hours_tested.last() {
            let gap = (hour.start_s - last.start_s) / 3600 - 1;
            let (from, offset) = (last.start_s, last.local_s - last.start_s);
            for i in 1..=gap.min(LONGEST) {
                hours_tested.push(TestedHour {
                    start_s: from + i * 3600,
                    local_s: from + i * 3600 + offset,
                    requests: 0,
                });
            }
        }
        hours_tested.push(TestedHour {
            start_s: hour.start_s,
            local_s: hour.start_s + i64::from(hour.offset_s),
            requests: hour.requests,
        });
    }
    if hours_tested.len() > 2 {
        hours_tested.pop();
        hours_tested.remove(0);
    }
    hours_tested
}

/// The logarithms of the requests by weekday and hour, and how much they scatter.
struct Week {
    values: Vec<Vec<Vec<f64>>>,
    /// The variance between weeks, of logarithms.
    between_weeks: f64,
}

impl Week {
    fn new(hours: &[TestedHour]) -> Week {
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
            .filter(|slot| slot.len() >= WEEKS - 1);
        let deviations: Vec<(f64, f64, f64)> = slots
            .flat_map(|slot| (0..slot.len()).filter_map(|i| deviation(slot, i)))
            .collect();
        // The least variance between weeks with which the median of the standardized differences is a normal's.
        let is_enough = |between: f64| {
            let scaled = deviations.iter().map(|(deviation, usual, factor)| {
                deviation.abs() / ((between + poisson(*usual)) * factor).sqrt()
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

    /// The variance of an hour's logarithm, given the usual logarithm.
    fn variance(&self, usual: f64) -> f64 {
        self.between_weeks + poisson(usual)
    }

    fn single(&self, hour: &TestedHour, reach: f64) -> Option<Single> {
        let (weekday, of_day) = slot_of(hour.local_s);
        let slot = &self.values[weekday][of_day];
        let index = slot.iter().position(|v| *v == hour.log())?;
        let (deviation, usual, factor) = deviation(slot, index).filter(|_| slot.len() >= WEEKS)?;
        let ratio = ratio(deviation, reach * (self.variance(usual) * factor).sqrt())?;
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
        if values.len() < WEEKS - 1 || others.len() < SLOTS.0 - 1 {
            return None;
        }
        let (level, usual) = (order::median(values)?, order::median(&others)?);
        let n = values.len() as f64;
        let variance = self.variance(usual) * MEDIAN / n * (1.0 + MEDIAN / others.len() as f64);
        Some(Weekly {
            weekday,
            hour,
            ratio: ratio(level - usual, reach * variance.sqrt())?,
            rate: level.exp() / 3600.0,
        })
    }
}

/// The difference of a value from the median of the others, that median, and the factor by which the variance of the
/// difference exceeds that of an hour.
fn deviation(slot: &[f64], index: usize) -> Option<(f64, f64, f64)> {
    let others: Vec<f64> = slot
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != index)
        .map(|(_, v)| *v)
        .collect();
    let usual = order::median(&others)?;
    Some((
        slot[index] - usual,
        usual,
        1.0 + MEDIAN / others.len() as f64,
    ))
}

/// The variance of the logarithm of a number of arrivals around this one (delta method).
fn poisson(usual: f64) -> f64 {
    1.0 / usual.exp().max(1.0)
}

/// The ratio of a spike from its logarithm and half the width of its interval; `None`: it is no spike.
fn ratio(log: f64, half: f64) -> Option<Interval> {
    let is_spike = log - half > 0.0 && log >= LEAST.ln();
    is_spike.then(|| Interval {
        estimate: log.exp(),
        low: (log - half).exp(),
        high: (log + half).exp(),
        level: 1.0 - ALPHA,
    })
}
