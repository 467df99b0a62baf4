// SPDX-License-Identifier: Apache-2.0
//! Estimates the duration of a run with more blocks from its existing blocks.

use lab_model::Run;
use serde::Serialize;

/// The minimum duration of a proposed run, in s.
const MIN_S: f64 = 5.0;

/// A time budget for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum TimeBudget {
    /// A number of seconds.
    Seconds(u32),
    /// A number of minutes.
    Minutes(u32),
}

impl TimeBudget {
    /// Formats the time as a command-line option value, such as `60s` or `15m`.
    pub fn option(&self) -> String {
        match self {
            TimeBudget::Seconds(seconds) => format!("{seconds}s"),
            TimeBudget::Minutes(minutes) => format!("{minutes}m"),
        }
    }
}

impl From<TimeBudget> for String {
    fn from(time: TimeBudget) -> String {
        time.option()
    }
}

/// Estimates the time budget for a run of the same plan with `replicates` replicates.
///
/// Replicates are blocks, or sets of processes that serve multiple blocks. The estimate is the time
/// before the first block, plus `replicates` times the mean time per replicate. This mean includes
/// redone blocks. A tenth is added, and the sum is rounded up. Returns `None` without a complete
/// block, or if the estimate exceeds a day.
pub fn time_for(run: &Run, replicates: u32) -> Option<TimeBudget> {
    let complete = run.replicate_count();
    let all: f64 = run.blocks.iter().map(|b| b.duration_ns as f64 / 1e9).sum();
    let pilot = run.blocks.first()?.started_unix_s - run.started_unix_s;
    let seconds = pilot.max(0.0) + all / complete as f64 * f64::from(replicates);
    let with_reserve = (seconds * 1.1).max(MIN_S);
    (with_reserve <= 86_400.0).then(|| rounded_up(with_reserve))
}

/// Rounds up a number of seconds. The result is in seconds up to 90 s and in minutes above. A
/// result above 10 is a multiple of 5.
fn rounded_up(seconds: f64) -> TimeBudget {
    let minutes = seconds > 90.0;
    let value = if minutes { seconds / 60.0 } else { seconds };
    let step = if value > 10.0 { 5.0 } else { 1.0 };
    let number = ((value / step).ceil() * step) as u32;
    if minutes {
        TimeBudget::Minutes(number)
    } else {
        TimeBudget::Seconds(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_round_and_never_less_than_needed() {
        for (seconds, text) in [
            (5.0, "5s"),
            (7.2, "8s"),
            (11.0, "15s"),
            (90.0, "90s"),
            (91.0, "2m"),
            (590.0, "10m"),
            (601.0, "15m"),
        ] {
            assert_eq!(rounded_up(seconds).option(), text);
        }
    }
}
