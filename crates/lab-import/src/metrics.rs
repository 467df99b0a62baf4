// SPDX-License-Identifier: Apache-2.0
//! Metrics for the units of other tools.

use lab_model::{Direction, Metric, Unit};
use std::borrow::Cow;

/// Returns the number of nanoseconds in a unit of time, such as `us`.
pub fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" | "day" => 86_400e9,
        _ => return None,
    })
}

/// Parses a time such as `12.3ms`, `1m30s` or `635.91us` and returns nanoseconds.
pub fn duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, others) = after.split_at(end);
        total += number.parse::<f64>().ok()? * nanoseconds(unit.trim())?;
        rest = others;
    }
    (!text.trim().is_empty()).then_some(total)
}

/// Returns a metric with a name. Its ID is the name with all characters replaced by `_`, except for
/// letters, digits, `-` and `.`. If benchlab has a metric with this ID, another `_` is appended,
/// since the values of a counter named `wall` are not times.
pub fn named(name: &str, unit: Unit, better: Direction) -> Metric {
    let mut id: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if Metric::KNOWN.iter().any(|known| known.id == id) {
        id.push('_');
    }
    Metric {
        id: Cow::Owned(id),
        title: Cow::Owned(name.to_owned()),
        unit,
        better,
    }
}

/// Returns a metric that counts events per second. `counted` names the events, such as `requests`.
pub fn rate(counted: &str) -> Metric {
    Metric {
        unit: Unit::PerSecond(Cow::Owned(counted.to_owned())),
        ..Metric::THROUGHPUT
    }
}

/// Returns the metric of a percentile such as 99 or 99.9. Returns a predefined metric if there is
/// one for `percent`.
pub fn percentile(percent: f64) -> Metric {
    let known = [
        (50.0, Metric::P50),
        (75.0, Metric::P75),
        (90.0, Metric::P90),
        (99.0, Metric::P99),
        (99.9, Metric::P999),
        (99.99, Metric::P9999),
    ];
    let name = format!("p{percent}");
    let known = known.into_iter().find(|(p, _)| *p == percent);
    known.map_or_else(
        || named(&name, Unit::Nanoseconds, Direction::Less),
        |(_, metric)| metric,
    )
}
