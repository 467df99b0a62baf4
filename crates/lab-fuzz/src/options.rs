// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for values of command-line options.

use option_values::{expected_statuses, fraction, rate, stage, time};
use std::time::Duration;

#[path = "../../benchlab/src/option_values.rs"]
mod option_values;

/// Parses a duration, a rate, a stage of rates, a percentage, or exit statuses.
pub fn option_value(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let durations = Duration::from_millis(1)..=Duration::from_secs(30 * 86_400);
    if let Ok(duration) = time(text) {
        assert!(durations.contains(&duration), "{text}: {duration:?}");
        let shown = format!("{}s", duration.as_secs_f64());
        assert_eq!(time(&shown), Ok(duration), "{text}");
    }
    let rates = 0.001..=1e7;
    if let Ok(rate) = rate(text) {
        assert!(rates.contains(&rate), "{text}: {rate}");
        assert_eq!(stage(&format!("0:{text}:1s")).map(|s| s.to), Ok(rate));
    }
    if let Ok(stage) = stage(text) {
        let is_rate = |rate| rate == 0.0 || rates.contains(&rate);
        assert!(is_rate(stage.from) && is_rate(stage.to), "{stage:?}");
        let length = Duration::from_nanos(stage.length_ns);
        assert!(durations.contains(&length), "{stage:?}");
    }
    if let Ok(parsed) = fraction(text) {
        assert!(parsed > 0.0 && parsed < 1.0, "{text}: {parsed}");
        assert_eq!(fraction(&parsed.to_string()), Ok(parsed), "{text}");
    }
    if let Ok(statuses) = expected_statuses(text) {
        let words: Vec<String> = statuses.0.iter().map(i32::to_string).collect();
        assert!(words.is_empty() == (text == "any"), "{text}");
        assert!(words.is_empty() || expected_statuses(&words.join(",")) == Ok(statuses));
    }
}
