// SPDX-License-Identifier: Apache-2.0
//! Parses option values: durations, rates, percentages. Options and configuration files share these
//! parsers.

use crate::Stage;
use std::time::Duration;

/// Parses a number of requests per second, from 0.001 to 10,000,000.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|r| (0.001..=1e7).contains(r));
    rate.ok_or("expected a number of requests per second from 0.001 to 10000000".into())
}

/// Parses a time such as `1.5s`, `500ms`, `2m` or `1h`, from 1 ms to 720 h.
pub fn time(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 30s, 2m or 1h".into()),
    };
    let seconds = number
        .parse::<f64>()
        .ok()
        .map(|n| n * scale)
        .filter(|s| (0.001..=86_400.0 * 30.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or("expected a time from 1ms to 720h".into())
}

/// Parses a stage such as `0:1000:5s`: a change of the rate from 0 to 1,000 requests per second
/// within 5 s.
pub fn stage(text: &str) -> Result<Stage, String> {
    let usage = "expected FROM:TO:TIME, such as 0:1000:5s";
    let words: Vec<&str> = text.split(':').collect();
    let [from, to, length] = words[..] else {
        return Err(usage.into());
    };
    let rate = |text: &str| match text.parse() {
        Ok(0.0) => Ok(0.0),
        _ => rate(text),
    };
    Ok(Stage {
        from: rate(from)?,
        to: rate(to)?,
        length_ns: time(length)?.as_nanos() as u64,
    })
}

/// Parses a fraction between 0 and 1, exclusive, such as `2%` or `0.02`.
pub fn fraction(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
        None => text.parse(),
    };
    let fraction = number.ok().filter(|p| *p > 0.0 && *p < 1.0);
    fraction.ok_or("expected a percentage such as 2% or a fraction such as 0.02".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_fractions_are_read() {
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(fraction("2%"), Ok(0.02));
        assert_eq!(fraction("0.02"), Ok(0.02));
        let stage = |text| stage(text).map(|s| (s.from, s.to, s.length_ns));
        assert_eq!(stage("0:1000:5s"), Ok((0.0, 1000.0, 5_000_000_000)));
        for bad in [
            "", "1:2", "1:2:3", "-1:2:3s", "a:2:3s", "1:2:3s:4", "1:inf:3s",
        ] {
            assert!(stage(bad).is_err(), "{bad}");
        }
        for bad in ["", "5", "s", "-1s", "1e9h", "1 s", "0s"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        for bad in ["", "%", "0", "-1%", "100%", "nan"] {
            assert!(fraction(bad).is_err(), "{bad}");
        }
    }
}
