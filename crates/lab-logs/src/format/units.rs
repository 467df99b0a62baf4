// SPDX-License-Identifier: Apache-2.0
//! Determines the unit of durations that are written without a unit.
//!
//! The values and the log's timestamps exclude some units.

use lab_model::{LogAdvice, LogAssumption};

/// The units that logs use, in ns: ns, µs, ms and s.
pub const UNITS: [u64; 4] = [1, 1_000, 1_000_000, 1_000_000_000];

/// The minimum number of durations needed to exclude a unit.
const MIN_DURATIONS: usize = 10;
/// The maximum plausible median of a server's durations, in ns.
///
/// Proxies and clients give up earlier.
const MAX_MEDIAN_NS: f64 = 30e9;
/// The maximum plausible 90th percentile of a server's durations, in ns.
const MAX_P90_NS: f64 = 300e9;
/// The maximum possible median of durations, in ns.
///
/// Long polling, WebSockets and responses of language models take minutes, so a unit with durations
/// above [`MAX_MEDIAN_NS`] is unlikely, but not excluded.
const MAX_POSSIBLE_MEDIAN_NS: f64 = 1_800e9;
/// The maximum possible 90th percentile of durations, in ns.
const MAX_POSSIBLE_P90_NS: f64 = 86_400e9;
/// The maximum median at which the unit of a known producer is more likely than any other, in ns.
const MAX_PRODUCER_MEDIAN_NS: f64 = 120e9;
/// The number of durations in a block.
const BLOCK: u64 = 500;
/// The minimum number of durations in the last block.
const MIN_LAST_BLOCK: u64 = 100;
/// The minimum ratio between the typical durations of two parts of a log at which the unit probably
/// changed.
const MIN_UNIT_CHANGE: f64 = 200.0;
/// The minimum plausible 90th percentile of a server's durations, in ns.
const MIN_P90_NS: f64 = 2e3;
/// The maximum plausible average number of concurrent requests in one log.
const MAX_CONCURRENCY: f64 = 10_000.0;
/// The minimum backward step in the timestamps of lines that counts as an inversion, in seconds.
///
/// Inversions show that lines contain the time of arrival rather than the time of completion.
const INVERSION_S: f64 = 2.0;
/// The minimum number of inversions that counts as evidence.
const MIN_INVERSIONS: usize = 3;

/// Returns the name of a unit.
pub fn unit_name(scale: u64) -> &'static str {
    match scale {
        1 => "ns",
        1_000 => "µs",
        1_000_000 => "ms",
        _ => "s",
    }
}

/// The durations of a log in an unknown unit, and other evidence about them.
#[derive(Clone, Debug, Default)]
pub struct UnitEvidence {
    /// The durations as written, each with its line's timestamp in seconds since 1970, in the order
    /// of the lines.
    durations: Vec<(f64, Option<f64>)>,
    /// For each line with two timestamps: the time between them in ns, and the duration as written.
    between: Vec<(f64, f64)>,
    /// True if any duration has a fraction.
    has_fraction: bool,
}

impl UnitEvidence {
    /// Adds a line's duration, as written, and its timestamp in seconds since 1970.
    pub fn add(&mut self, duration: f64, time_s: Option<f64>) {
        self.has_fraction |= duration.fract() != 0.0;
        self.durations.push((duration, time_s));
    }

    /// Adds the first and the last timestamp in a line, in ns since 1970, with its duration.
    pub fn add_times(&mut self, duration: f64, first_ns: i128, last_ns: i128) {
        if last_ns > first_ns && duration > 0.0 {
            self.between.push(((last_ns - first_ns) as f64, duration));
        }
    }

    /// Returns true if there are no durations.
    pub fn is_empty(&self) -> bool {
        self.durations.is_empty()
    }

    /// Returns true if any duration has a fraction.
    pub fn has_fraction(&self) -> bool {
        self.has_fraction
    }

    /// Returns true if most durations, as written, are below 1.
    pub fn is_mostly_below_one(&self) -> bool {
        let below = self
            .durations
            .iter()
            .filter(|(duration, _)| *duration < 1.0);
        below.count() * 2 > self.durations.len()
    }

    /// Returns the units that the evidence does not exclude, in ns.
    ///
    /// The result includes units in which the durations are unusually long.
    /// [`UnitEvidence::likely`] excludes these. Returns all `units` if the evidence excludes all of
    /// them or there is too little evidence.
    pub fn possible(&self, units: &[u64]) -> Vec<u64> {
        if self.durations.len() < MIN_DURATIONS {
            return units.to_vec();
        }
        if let Some(parts) = self.different_parts() {
            let fits = |unit: &&u64| parts.iter().any(|part| part.is_possible(**unit));
            let both: Vec<u64> = units.iter().filter(fits).copied().collect();
            return if both.is_empty() {
                units.to_vec()
            } else {
                both
            };
        }
        let is_possible = |unit: &&u64| self.is_possible(**unit);
        let left: Vec<u64> = units.iter().filter(is_possible).copied().collect();
        if let Some(unit) = self.unit_between_times().filter(|unit| left.contains(unit)) {
            return vec![unit];
        }
        let by_order = self.possible_by_order(&left);
        let left = if by_order.is_empty() { left } else { by_order };
        if left.is_empty() {
            units.to_vec()
        } else {
            left
        }
    }

    /// Splits the log into two parts if their durations differ as if the unit had changed in
    /// between, and if the durations of each part are plausible in some unit.
    fn different_parts(&self) -> Option<[UnitEvidence; 2]> {
        let cut = |tenths: usize| self.different_parts_at(self.durations.len() * tenths / 10);
        [5, 1, 2, 3, 4, 6, 7, 8, 9].into_iter().find_map(cut)
    }

    fn different_parts_at(&self, index: usize) -> Option<[UnitEvidence; 2]> {
        let (first, second) = self.durations.split_at(index);
        if first.len() < MIN_DURATIONS || second.len() < MIN_DURATIONS {
            return None;
        }
        let parts = [first, second].map(|durations| UnitEvidence {
            durations: durations.to_vec(),
            between: Vec::new(),
            has_fraction: durations.iter().any(|(d, _)| d.fract() != 0.0),
        });
        let [first, second] = parts.each_ref().map(UnitEvidence::median);
        let is_other = first.max(second) > first.min(second) * MIN_UNIT_CHANGE;
        let is_sure = first.min(second) > 0.0;
        let is_plausible = || {
            let any = |part: &UnitEvidence| UNITS.iter().any(|unit| part.is_plausible(*unit));
            parts.iter().all(any)
        };
        (is_other && is_sure && is_plausible()).then_some(parts)
    }

    fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.durations.iter().map(|(d, _)| *d).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }

    /// Returns the units, in ns, in which the durations are plausible for a server.
    ///
    /// A few durations are enough for this test.
    pub fn likely(&self, units: &[u64]) -> Vec<u64> {
        let likely = |unit: &&u64| !self.durations.is_empty() && self.is_plausible(**unit);
        units.iter().filter(likely).copied().collect()
    }

    /// Returns true if the durations are long in `unit`, in ns, but short enough for a client to
    /// wait.
    pub fn is_long_in(&self, unit: u64) -> bool {
        let median_ns = self.median() * unit as f64;
        (MAX_MEDIAN_NS..=MAX_PRODUCER_MEDIAN_NS).contains(&median_ns)
    }

    /// Returns true if the durations are implausible in `unit`, in ns, although other facts suggest
    /// that unit.
    pub fn contradicts(&self, unit: u64) -> bool {
        let median_ns = self.median() * unit as f64;
        let is_short = median_ns > 0.0 && median_ns < MIN_P90_NS;
        self.durations.len() >= MIN_DURATIONS && (median_ns > MAX_MEDIAN_NS || is_short)
    }

    /// Returns true if the durations are plausible for a server if their unit is `unit` ns.
    fn is_plausible(&self, unit: u64) -> bool {
        self.fits_within(unit, MAX_MEDIAN_NS, MAX_P90_NS)
    }

    /// Returns true if the durations are possible if their unit is `unit` ns, even if they are
    /// unusually long.
    fn is_possible(&self, unit: u64) -> bool {
        self.fits_within(unit, MAX_POSSIBLE_MEDIAN_NS, MAX_POSSIBLE_P90_NS)
    }

    fn fits_within(&self, unit: u64, max_median_ns: f64, max_p90_ns: f64) -> bool {
        let scale = unit as f64;
        let mut sorted: Vec<f64> = self.durations.iter().map(|(d, _)| d * scale).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize];
        let (median, p90) = (at(0.5), at(0.9));
        let is_too_fine = self.has_fraction && unit < 1_000_000;
        let is_long = median > max_median_ns || p90 > max_p90_ns;
        // A unit that is too coarse turns most durations into zeros.
        let is_short = p90 > 0.0 && p90 < MIN_P90_NS;
        !is_too_fine && !is_long && !is_short && self.concurrency(scale) <= MAX_CONCURRENCY
    }

    /// Returns the average number of concurrent requests if the unit of the durations is `scale`
    /// ns.
    fn concurrency(&self, scale: f64) -> f64 {
        let times = || self.durations.iter().filter_map(|(_, time)| *time);
        let (first, last) = times().fold((f64::MAX, f64::MIN), |(a, b), t| (a.min(t), b.max(t)));
        let sum: f64 = self.durations.iter().map(|(d, _)| d * scale / 1e9).sum();
        if first > last {
            0.0
        } else {
            sum / (last - first + 1.0)
        }
    }

    /// Returns the unit, in ns, in which most durations match the time between the first and the
    /// last time in their lines.
    fn unit_between_times(&self) -> Option<u64> {
        let is_close = |unit: u64, (ns, duration): (f64, f64)| {
            let ratio = ns / (duration * unit as f64);
            (0.5..2.0).contains(&ratio)
        };
        let fits = |unit: u64| {
            let close = self.between.iter().filter(|pair| is_close(unit, **pair));
            close.count() * 10 >= self.between.len() * 8
        };
        (self.between.len() >= MIN_DURATIONS)
            .then(|| UNITS.into_iter().find(|unit| fits(*unit)))
            .flatten()
    }

    /// Returns the units, in ns, that are consistent with the order of the lines.
    ///
    /// Servers write a line when its request ends. If lines contain the arrival time, then the sum
    /// of arrival time and duration increases from line to line, provided that the unit is right.
    fn possible_by_order(&self, units: &[u64]) -> Vec<u64> {
        let inversions = |scale: f64| {
            let mut latest = f64::MIN;
            let mut count = 0;
            for (duration, time) in &self.durations {
                let Some(time) = time else { continue };
                let end = time + duration * scale / 1e9;
                count += usize::from(end < latest - INVERSION_S);
                latest = latest.max(end);
            }
            count
        };
        let without = inversions(0.0);
        if without < MIN_INVERSIONS {
            return Vec::new();
        }
        let fits = |unit: &&u64| inversions(**unit as f64) * 4 <= without;
        units.iter().filter(fits).copied().collect()
    }
}

/// A check of the chosen unit over the whole log, with few counters so that parsing stays fast.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitCheck {
    all: u64,
    short: u64,
    long: u64,
    very_long: u64,
    absurd: u64,
    /// The number of durations above zero in the current block.
    block: u64,
    /// The sum of the binary logarithms of the current block's durations, in steps of
    /// [`LOGARITHM_STEPS`].
    block_sum: u64,
    /// The lowest and the highest mean logarithm of a block, or `None` if no block has ended.
    levels: Option<(f64, f64)>,
}

/// The duration above which only a wrong unit is a reasonable explanation, in ns.
const ABSURD_NS: u64 = 86_400_000_000_000;

/// The number of steps of [`logarithm`] per power of two.
const LOGARITHM_STEPS: u64 = 256;

/// Returns the binary logarithm of a positive number in steps of [`LOGARITHM_STEPS`], interpolated
/// linearly between powers of two.
#[inline]
fn logarithm(number: u64) -> u64 {
    let exponent = number.ilog2();
    let fraction = (number << (63 - exponent) << 1) >> 56;
    u64::from(exponent) * LOGARITHM_STEPS + fraction
}

impl UnitCheck {
    /// Counts a duration in ns.
    #[inline]
    pub fn count(&mut self, ns: u64) {
        self.all += 1;
        self.absurd += u64::from(ns > ABSURD_NS);
        if ns > 0 {
            self.block += 1;
            self.block_sum += logarithm(ns);
            if self.block == BLOCK {
                self.end_block();
            }
        }
        self.short += u64::from(ns < MIN_P90_NS as u64);
        self.long += u64::from(ns > MAX_MEDIAN_NS as u64);
        self.very_long += u64::from(ns > MAX_P90_NS as u64);
    }

    #[cold]
    fn end_block(&mut self) {
        self.levels = Some(self.levels_with_block());
        (self.block, self.block_sum) = (0, 0);
    }

    /// Returns the lowest and the highest mean logarithm of a block, including the current block.
    fn levels_with_block(&self) -> (f64, f64) {
        let level = self.block_sum as f64 / (self.block * LOGARITHM_STEPS) as f64;
        let (low, high) = self.levels.unwrap_or((level, level));
        (low.min(level), high.max(level))
    }

    /// Returns the ratio between the typical durations of two blocks of the log, or `None` if the
    /// ratio does not suggest that the unit changed.
    pub fn change(&self) -> Option<u64> {
        let (low, high) = match self.block {
            MIN_LAST_BLOCK.. => self.levels_with_block(),
            _ => self.levels?,
        };
        let ratio = (high - low).exp2();
        // The logarithms are exact only to a few percent.
        let digit = 10_f64.powf(ratio.log10().floor());
        (ratio >= MIN_UNIT_CHANGE).then(|| ((ratio / digit).round() * digit) as u64)
    }

    /// Returns true if most durations are longer than a day.
    pub fn is_absurd(&self) -> bool {
        self.all >= MIN_DURATIONS as u64 && self.absurd * 2 > self.all
    }

    /// Returns true if the number `durations` is too large for these durations to be exceptions.
    pub fn is_often(&self, durations: u64) -> bool {
        durations >= MIN_DURATIONS as u64 && durations * 1_000 > self.all
    }

    /// Returns true if most durations are too long for a server.
    pub fn is_too_long(&self) -> bool {
        self.all >= MIN_DURATIONS as u64 && self.long * 2 > self.all
    }

    /// Returns true if the durations of the whole log are implausible for a server.
    pub fn is_contradicted(&self) -> bool {
        self.is_too_long()
            || self.all >= MIN_DURATIONS as u64
                && (self.very_long * 10 > self.all || self.short * 10 > self.all * 9)
    }
}

/// Returns the assumption about the unit if the check of the whole log shows that the unit is
/// implausible or changed.
pub fn contradiction(check: &UnitCheck, field: &str, unit_ns: u64) -> Option<LogAssumption> {
    if let Some(times) = check.change() {
        return Some(LogAssumption::ChangedUnit {
            place: field.into(),
            unit_ns,
            times,
        });
    }
    check
        .is_contradicted()
        .then(|| doubted_unit(field, unit_ns))
}

/// Returns the assumption about the unit that the user specified if the unit is certainly wrong.
pub fn absurd_unit(check: &UnitCheck, field: &str, unit_ns: u64) -> Option<LogAssumption> {
    check
        .is_absurd()
        .then(|| LogAssumption::ImplausibleDurations {
            place: field.into(),
            unit_ns,
        })
}

/// A count of requests with and without a duration, for formats with a field for the duration.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimedCount {
    requests: u64,
    timed: u64,
}

impl TimedCount {
    /// Counts a request.
    pub fn add(&mut self, duration_ns: Option<u64>) {
        self.requests += 1;
        self.timed += u64::from(duration_ns.is_some());
    }

    /// Returns true if any request has a duration.
    pub fn has_any(&self) -> bool {
        self.timed > 0
    }

    /// Returns advice if no request has a duration.
    pub fn advice(&self, field: &str) -> Option<LogAdvice> {
        let is_empty = self.requests > 0 && self.timed == 0;
        is_empty.then(|| LogAdvice::NoDurationValues {
            field: field.into(),
        })
    }
}

/// Returns the assumption that a field's durations are in `unit_ns`, with the other possible units.
pub fn assumed_unit(field: &str, unit_ns: u64, possible: &[u64]) -> LogAssumption {
    LogAssumption::Unit {
        place: field.into(),
        unit_ns,
        others_ns: other_units(unit_ns, possible),
    }
}

/// Returns the possible units other than the assumed unit.
pub fn other_units(unit_ns: u64, possible: &[u64]) -> Vec<u64> {
    let others = possible.iter().copied().filter(|other| *other != unit_ns);
    others.collect()
}

/// Returns the assumption that a field's durations are in `unit_ns`, although the values of the
/// whole log contradict that unit.
pub fn doubted_unit(field: &str, unit_ns: u64) -> LogAssumption {
    LogAssumption::DoubtfulUnit {
        place: field.into(),
        unit_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(durations: &[f64], step_s: f64) -> UnitEvidence {
        let mut evidence = UnitEvidence::default();
        for (i, duration) in durations.iter().enumerate() {
            evidence.add(*duration, Some(1e9 + i as f64 * step_s));
        }
        evidence
    }

    #[test]
    fn values_exclude_units() {
        let possible = |value: f64| evidence(&[value; 20], 60.0).possible(&UNITS);
        // 8 min and 4 min are unusual, but possible.
        assert_eq!(possible(480.0), [1_000, 1_000_000, 1_000_000_000]);
        assert_eq!(possible(250_000.0), [1, 1_000, 1_000_000]);
        assert_eq!(possible(244.5), [1_000_000, 1_000_000_000]);
        assert_eq!(possible(48_000_000.0), [1, 1_000]);
        assert_eq!(possible(4_800.5), [1_000_000]);
        assert_eq!(possible(0.0009), [1_000_000_000]);
        assert_eq!(possible(0.25), [1_000_000, 1_000_000_000]);
        // Nothing fits, or there is too little evidence: all units remain.
        assert_eq!(possible(1e18), UNITS);
        assert_eq!(evidence(&[480.0; 3], 60.0).possible(&UNITS), UNITS);
    }

    #[test]
    fn a_change_of_the_unit_leaves_both_units() {
        for early in [10, 25, 90] {
            let values = [vec![480.5; early], vec![0.48; 100 - early]].concat();
            let possible = evidence(&values, 60.0).possible(&UNITS);
            assert_eq!(possible, [1_000_000, 1_000_000_000], "{early}");
        }
        let values = |first: f64, second: f64| [[first; 20], [second; 20]].concat();
        let possible = |first, second| evidence(&values(first, second), 60.0).possible(&UNITS);
        assert_eq!(possible(480.5, 0.48), [1_000_000, 1_000_000_000]);
        assert_eq!(possible(4_800.5, 2_500.5), [1_000_000]);
        assert_eq!(possible(480_000.5, 0.0), [1_000_000]);
        // No unit fits.
        let evidence = evidence(&values(4e9, 1e6), 60.0);
        assert_eq!(evidence.possible(&[1_000_000_000]), [1_000_000_000]);
    }

    #[test]
    fn too_much_concurrency_excludes_a_unit() {
        // 2,000 requests within 2 s: at 20 s each, 20,000 would run concurrently.
        let crowded = evidence(&[20.0; 2_000], 0.001);
        assert_eq!(crowded.possible(&[1_000_000, 1_000_000_000]), [1_000_000]);
    }

    #[test]
    fn arrivals_and_completions_determine_the_unit() {
        // Requests that arrived every second and took 1 ms or 9 s, in the order of their ends.
        let mut requests: Vec<(f64, f64)> = (0..60)
            .map(|i| (f64::from(i), if i % 5 == 0 { 9_000.0 } else { 1.0 }))
            .collect();
        requests.sort_by(|a, b| (a.0 + a.1 / 1e3).total_cmp(&(b.0 + b.1 / 1e3)));
        let mut evidence = UnitEvidence::default();
        requests
            .iter()
            .for_each(|(time, ms)| evidence.add(*ms, Some(*time)));
        assert_eq!(evidence.possible(&[1_000, 1_000_000]), [1_000_000]);
        let mut evidence = UnitEvidence::default();
        for i in 0..20_i128 {
            evidence.add(480.0, None);
            evidence.add_times(480.0, i, i + 481_000_000);
        }
        assert_eq!(evidence.possible(&UNITS), [1_000_000]);
    }

    #[test]
    fn the_whole_log_contradicts_a_unit() {
        let check = |ns: &[u64]| {
            let mut check = UnitCheck::default();
            ns.iter().for_each(|ns| check.count(*ns));
            check.is_contradicted()
        };
        assert!(check(&[60_000_000_000; 20]) && check(&[480; 20]));
        assert!(!check(&[250_000_000; 20]) && !check(&[480; 5]));
    }

    #[test]
    fn long_durations_rank_units_but_do_not_exclude_them() {
        for seconds in [31.25, 59.5, 119.25, 600.5, 1_500.5] {
            let evidence = evidence(&[seconds; 20], 30.0);
            assert_eq!(evidence.likely(&UNITS), [1_000_000], "{seconds}");
            let possible = evidence.possible(&UNITS);
            assert_eq!(possible, [1_000_000, 1_000_000_000], "{seconds}");
        }
        // 100 requests/s that take 5 min would be 30,000 concurrent requests.
        let busy = evidence(&[300.5; 5_000], 0.01);
        assert_eq!(busy.possible(&UNITS), [1_000_000]);
    }

    #[test]
    fn a_change_after_the_sample_is_found() {
        let change = |blocks: &[(u64, u64)]| {
            let mut check = UnitCheck::default();
            for (durations, ns) in blocks {
                (0..*durations).for_each(|i| check.count(ns + ns / 100 * (i % 50)));
            }
            check.change()
        };
        const MS: u64 = 1_000_000;
        assert_eq!(change(&[(1_500, 250 * MS), (1_500, 250_000)]), Some(1_000));
        assert_eq!(change(&[(1_500, 250_000), (1_500, 250 * MS)]), Some(1_000));
        assert_eq!(
            change(&[(5_000, 3 * MS), (120, 3_000_000 * MS)]),
            Some(1_000_000)
        );
        assert_eq!(change(&[(700, 250 * MS), (700, MS)]), Some(300));
        // Zeros are too short to be measured. A few lines are exceptions.
        assert_eq!(change(&[(1_500, 250 * MS), (1_500, 0)]), None);
        assert_eq!(change(&[(1_500, 250 * MS), (50, 250)]), None);
        assert_eq!(change(&[(1_500, 2 * MS), (1_500, 250 * MS)]), None);
    }

    #[test]
    fn values_contradict_the_unit_of_a_producer() {
        let contradicts = |value, unit| evidence(&[value; 20], 60.0).contradicts(unit);
        assert!(contradicts(250.5, 1_000_000_000) && !contradicts(250.5, 1_000_000));
        assert!(contradicts(250.0, 1) && !contradicts(0.0, 1_000_000));
        assert!(!evidence(&[250.5; 3], 60.0).contradicts(1_000_000_000));
    }
}
