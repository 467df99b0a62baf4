// SPDX-License-Identifier: Apache-2.0
//! Times in sentences, with two significant digits.

use lab_document::say::count;
use lab_stats::forecast::TimeBudget;

/// Formats a time budget, such as `60 seconds` or `1 minute`.
pub fn time_budget(time: TimeBudget) -> String {
    match time {
        TimeBudget::Seconds(seconds) => count(seconds as usize, "second"),
        TimeBudget::Minutes(minutes) => count(minutes as usize, "minute"),
    }
}

/// Formats a time for the option `--budget`, rounded up.
pub fn budget(seconds: f64) -> String {
    if seconds <= 90.0 {
        format!("{}s", (seconds / 10.0).ceil() * 10.0)
    } else {
        format!("{}m", (seconds / 60.0).ceil())
    }
}

/// Formats seconds, such as `2.0 s` or `41 s`.
pub fn seconds(seconds: f64) -> String {
    brief(seconds, "s")
}

/// Formats nanoseconds in microseconds, such as `4.5 µs` or `370 µs`.
pub fn microseconds(ns: f64) -> String {
    brief(ns / 1e3, "µs")
}

/// Formats a time in nanoseconds, in a unit that makes it easy to read.
pub fn short_time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => brief(ns, "ns"),
        ns if ns < 1e6 => brief(ns / 1e3, "µs"),
        ns if ns < 1e9 => brief(ns / 1e6, "ms"),
        ns => brief(ns / 1e9, "s"),
    }
}

fn brief(value: f64, unit: &str) -> String {
    if value < 9.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
