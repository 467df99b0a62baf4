// SPDX-License-Identifier: Apache-2.0
//! Random numbers, and logs with known ground truth.

use lab_logs::{Hints, Rules, ServerLog, Tally, read};
use lab_model::{
    AssumptionKind, LogAdvice, LogAnalysis, LogAssumption, LogCell, LogHour, LogPage, PageKind,
};

/// The random number generator SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a uniformly distributed number between 0 and 1, exclusive.
    pub fn part(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn next_below(&mut self, n: usize) -> usize {
        (self.part() * n as f64) as usize
    }

    /// Returns a number from the standard normal distribution (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.part().ln()).sqrt() * (std::f64::consts::TAU * self.part()).cos()
    }

    /// Returns a Poisson-distributed number. Uses the normal approximation for large means.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let (mut product, mut n) = (self.part(), 0);
        while product > (-mean).exp() {
            product *= self.part();
            n += 1;
        }
        n
    }
}

/// The Monday 2026-04-06 00:00 UTC, in seconds since 1970.
pub const MONDAY: i64 = 1_775_433_600;

/// Generates hourly request counts for some weeks, with a daily curve and quiet weekends.
///
/// Each count varies randomly by about 10%. `spike` returns a factor for each hour, counted from
/// the first Monday.
pub fn weeks(
    random: &mut Random,
    weeks: usize,
    busiest: f64,
    spike: impl Fn(usize) -> f64,
) -> LogAnalysis {
    let mut hours = Vec::new();
    // Adds an hour at each end, because the first and the last hour are not tested.
    for hour in 0..weeks * 168 + 2 {
        let of_day = (hour + 23) % 24;
        let day = (hour + 167) / 24 % 7;
        let daily = 0.15 + 0.85 * (std::f64::consts::PI * of_day as f64 / 24.0).sin().powi(2);
        let weekly = if day >= 5 { 0.5 } else { 1.0 };
        let factor = (0.1 * random.normal()).exp() * hour.checked_sub(1).map_or(1.0, &spike);
        let start_s = MONDAY + (hour as i64 - 1) * 3600;
        hours.push(LogHour {
            start_s,
            requests: random.poisson(busiest * daily * weekly * factor),
            ..LogHour::default()
        });
    }
    LogAnalysis {
        hours,
        cell_s: 3600,
        ..LogAnalysis::default()
    }
}

/// Generates a page with one cell per day.
///
/// Its typical duration varies by `noise` from day to day and is multiplied by the day's `factor`.
pub fn page(
    random: &mut Random,
    name: &str,
    days: usize,
    noise: f64,
    factor: impl Fn(usize) -> f64,
) -> LogPage {
    let level = 1e7 * (1.0 + random.part());
    let cell = |day: usize| {
        let requests = 200 + random.poisson(300.0);
        let typical = level * factor(day) * (noise * random.normal()).exp();
        let mean = typical * 1.3;
        LogCell {
            start_s: MONDAY + day as i64 * 86_400,
            requests,
            errors: 0,
            timed: requests,
            total_ns: (mean * requests as f64) as u64,
            sum_ln: typical.ln() * requests as f64,
        }
    };
    let cells: Vec<LogCell> = (0..days).map(cell).collect();
    LogPage {
        kind: PageKind::Page,
        name: name.into(),
        requests: cells.iter().map(|c| c.requests).sum(),
        timed: cells.iter().map(|c| c.timed).sum(),
        total_ns: cells.iter().map(|c| c.total_ns).sum(),
        cells,
        ..LogPage::default()
    }
}

/// Returns a line in combined log format, with `$request_time` in seconds to the microsecond.
pub fn line(time_s: i64, request: &str, status: u16, ns: u64, agent: &str) -> String {
    let time = clf(time_s);
    format!(
        "10.0.0.7 - - [{time} +0000] \"{request}\" {status} 512 \"-\" \"{agent}\" {}.{:06}\n",
        ns / 1_000_000_000,
        ns % 1_000_000_000 / 1000
    )
}

/// Returns a time in the common log format, without its zone.
pub fn clf(time_s: i64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (day, second) = (time_s.div_euclid(86_400), time_s.rem_euclid(86_400));
    let (mut year, mut left) = (1970, day);
    let leap = |y: i64| (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    while left >= 365 + i64::from(leap(year)) {
        left -= 365 + i64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + i64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{:02}/{}/{year}:{h:02}:{m:02}:{s:02}",
        left + 1,
        MONTHS[month]
    )
}

/// The results of reading a log, as far as they depend on its format.
pub struct ReadLog {
    pub analysis: LogAnalysis,
    pub malformed: u64,
    pub assumptions: Vec<LogAssumption>,
    pub advice: Vec<LogAdvice>,
}

impl ReadLog {
    /// Reads a log with `hints`.
    pub fn new(text: &str, hints: &Hints) -> ReadLog {
        let mut tally = Tally::new(Rules::default());
        let mut log = ServerLog::new("log", hints);
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        let facts = log.logs_read();
        ReadLog {
            malformed: log.lines.malformed,
            analysis: tally.analysis(Vec::new(), log.lines),
            assumptions: facts.assumptions,
            advice: facts.advice,
        }
    }

    /// Returns the number of requests with a duration, and the mean duration in µs.
    pub fn timed_and_mean_us(&self) -> (u64, u64) {
        let sum = |of: fn(&LogPage) -> u64| self.analysis.pages.iter().map(of).sum::<u64>();
        let timed = sum(|page| page.timed);
        (timed, sum(|page| page.total_ns) / timed.max(1) / 1_000)
    }

    /// Returns true if durations depend on an assumption, so that no gate on them is judged.
    pub fn has_assumed_durations(&self) -> bool {
        let mut assumptions = self.assumptions.iter();
        assumptions.any(|a| a.kind() == AssumptionKind::Durations)
    }

    /// Returns true if times depend on an assumption, so that no gate on the rate is judged.
    pub fn has_assumed_times(&self) -> bool {
        let mut assumptions = self.assumptions.iter();
        assumptions.any(|a| a.kind() == AssumptionKind::Times)
    }

    /// Returns the start of the log's first hour, in hours since `day_s`.
    pub fn first_hour(&self, day_s: i64) -> Option<i64> {
        let first = self.analysis.hours.first()?;
        Some((first.start_s - day_s).div_euclid(3_600))
    }
}
