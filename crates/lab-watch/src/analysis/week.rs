// SPDX-License-Identifier: Apache-2.0
//! When: the hours of a week, and hours that stand out from the same hour of other days.
//!
//! An hour's requests scatter around what is usual at that weekday and hour by the chance of arrivals (Poisson) and by
//! what the weeks differ in; the latter is one number for the log, estimated from the median absolute deviation, so that
//! spikes do not raise it. What is usual is the median of the other weeks. Intervals hold together over all hours that are
//! tested (Bonferroni), and take the logarithms to scatter normally.

use super::ALPHA;
use lab_model::{Counts, Watched, WatchedHour};
use lab_stats::analysis::Interval;
use lab_stats::{normal, order};
use std::collections::BTreeMap;

/// Weeks that are needed to tell what is usual at an hour of the week.
pub const WEEKS: usize = 4;
/// An hour with fewer times what is usual is no spike, however certain.
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
    /// The durations.
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
pub fn slots(watched: &Watched) -> Vec<Vec<Slot>> {
    let mut slots = vec![vec![Slot::default(); SLOTS.1]; SLOTS.0];
    for hour in &watched.hours {
        let (day, of_day) = place(hour.start_s + i64::from(hour.offset_s));
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
fn place(local_s: i64) -> (usize, usize) {
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
    /// From Monday.
    pub weekday: usize,
    /// From 0.
    pub hour: usize,
    /// Requests as a multiple of those at the same hour of other days.
    pub ratio: Interval,
    /// Requests per second.
    pub rate: f64,
}

/// An hour that stands out.
#[derive(Clone, Debug)]
pub struct Single {
    /// When it began, in seconds since 1970, and in the log's time.
    pub start_s: i64,
    /// The same as the log's clock showed it.
    pub local_s: i64,
    /// Requests as a multiple of what is usual.
    pub ratio: Interval,
    /// Requests.
    pub requests: u64,
}

/// Tests all hours but the first and the last, which can be cut off.
pub fn spikes(watched: &Watched) -> Spikes {
    let hours = filled(&watched.hours);
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
        let (weekday, hour) = place(single.local_s);
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
struct Tested {
    start_s: i64,
    local_s: i64,
    requests: u64,
}

impl Tested {
    fn log(&self) -> f64 {
        (self.requests as f64 + 0.5).ln()
    }
}

/// All hours but the first and the last, those without requests too.
fn filled(hours: &[WatchedHour]) -> Vec<Tested> {
    let mut filled: Vec<Tested> = Vec::new();
    for hour in hours {
        // A gap of years is none of a log.
        const LONGEST: i64 = 366 * 24;
        if let Some(last) = filled.last() {
            let gap = (hour.start_s - last.start_s) / 3600 - 1;
            let (from, offset) = (last.start_s, last.local_s - last.start_s);
            for i in 1..=gap.min(LONGEST) {
                filled.push(Tested {
                    start_s: from + i * 3600,
                    local_s: from + i * 3600 + offset,
                    requests: 0,
                });
            }
        }
        filled.push(Tested {
            start_s: hour.start_s,
            local_s: hour.start_s + i64::from(hour.offset_s),
            requests: hour.requests,
        });
    }
    if filled.len() > 2 {
        filled.pop();
        filled.remove(0);
    }
    filled
}

/// The logarithms of the requests by weekday and hour, and how much they scatter.
struct Week {
    values: Vec<Vec<Vec<f64>>>,
    /// The variance that weeks differ by, of logarithms.
    between: f64,
}

impl Week {
    fn new(hours: &[Tested]) -> Week {
        let mut values = vec![vec![Vec::new(); SLOTS.1]; SLOTS.0];
        for hour in hours {
            let (weekday, of_day) = place(hour.local_s);
            values[weekday][of_day].push(hour.log());
        }
        let mut week = Week {
            values,
            between: 0.0,
        };
        let slots = week
            .values
            .iter()
            .flatten()
            .filter(|slot| slot.len() >= WEEKS - 1);
        let off: Vec<(f64, f64, f64)> = slots
            .flat_map(|slot| (0..slot.len()).filter_map(|i| off(slot, i)))
            .collect();
        // The least variance between weeks with which the median of the standardized differences is a normal's.
        let is_enough = |between: f64| {
            let scaled = off.iter().map(|(off, usual, factor)| {
                off.abs() / ((between + poisson(*usual)) * factor).sqrt()
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
            week.between = high;
        }
        week
    }

    /// The variance of an hour's logarithm where this is usual.
    fn variance(&self, usual: f64) -> f64 {
        self.between + poisson(usual)
    }

    fn single(&self, hour: &Tested, reach: f64) -> Option<Single> {
        let (weekday, of_day) = place(hour.local_s);
        let slot = &self.values[weekday][of_day];
        let own = slot.iter().position(|v| *v == hour.log())?;
        let (off, usual, factor) = off(slot, own).filter(|_| slot.len() >= WEEKS)?;
        let ratio = ratio(off, reach * (self.variance(usual) * factor).sqrt())?;
        Some(Single {
            start_s: hour.start_s,
            local_s: hour.local_s,
            ratio,
            requests: hour.requests,
        })
    }

    fn weekly(&self, weekday: usize, hour: usize, reach: f64) -> Option<Weekly> {
        let mine = &self.values[weekday][hour];
        let other_days = (0..SLOTS.0).filter(|day| *day != weekday);
        let others: Vec<f64> = other_days
            .filter_map(|day| order::median(&self.values[day][hour]))
            .collect();
        if mine.len() < WEEKS - 1 || others.len() < SLOTS.0 - 1 {
            return None;
        }
        let (level, usual) = (order::median(mine)?, order::median(&others)?);
        let n = mine.len() as f64;
        let variance = self.variance(usual) * MEDIAN / n * (1.0 + MEDIAN / others.len() as f64);
        Some(Weekly {
            weekday,
            hour,
            ratio: ratio(level - usual, reach * variance.sqrt())?,
            rate: level.exp() / 3600.0,
        })
    }
}

/// How far a value lies off the median of the others, that median, and by what the variance of an hour is multiplied for
/// the difference.
fn off(slot: &[f64], own: usize) -> Option<(f64, f64, f64)> {
    let others: Vec<f64> = slot
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != own)
        .map(|(_, v)| *v)
        .collect();
    let usual = order::median(&others)?;
    Some((slot[own] - usual, usual, 1.0 + MEDIAN / others.len() as f64))
}

/// The variance of the logarithm of a number of arrivals around this one (delta method).
fn poisson(usual: f64) -> f64 {
    1.0 / usual.exp().max(1.0)
}

/// A ratio that is a spike; `None`: it is none.
fn ratio(log: f64, half: f64) -> Option<Interval> {
    let is_spike = log - half > 0.0 && log >= LEAST.ln();
    is_spike.then(|| Interval {
        estimate: log.exp(),
        low: (log - half).exp(),
        high: (log + half).exp(),
        level: 1.0 - ALPHA,
    })
}
