// SPDX-License-Identifier: Apache-2.0
//! Results of gates (`--fail-if`) in sentences.

use lab_model::{Unit, trimmed};
use lab_stats::load::threshold::{Crossed, Undecided, UndecidedReason};

/// Describes a crossed threshold with the value, and adds a caveat if another run may not cross it.
pub fn crossed(crossed: &Crossed) -> String {
    let Crossed {
        threshold,
        value,
        unit,
        doubt,
        ..
    } = crossed;
    if value.is_infinite() {
        return format!(
            "{threshold}: the server was overloaded, so response times grow for as long as the load lasts and exceed any \
             limit"
        );
    }
    let doubt = doubt.map_or(String::new(), |interval| {
        format!(
            ", but its interval, {} to {}, contains the threshold: another run may not cross it",
            formatted(interval.low, unit),
            formatted(interval.high, unit)
        )
    });
    format!(
        "{threshold}: the value is {}{doubt}",
        formatted(*value, unit)
    )
}

/// Describes an inconclusive threshold and the reason.
pub fn undecided(undecided: &Undecided) -> String {
    let reason = match undecided.reason {
        UndecidedReason::NothingMeasured => "nothing was measured".into(),
        UndecidedReason::NothingServed => "nothing was served".into(),
        UndecidedReason::NothingEnded => "no request completed".into(),
        UndecidedReason::Overloaded => "the server was overloaded and has no percentiles".into(),
        UndecidedReason::TooFewRequests { responses } => {
            format!("{responses} requests are too few")
        }
        UndecidedReason::ServerUnknown => {
            "the resources that the server uses are unknown; name its process with --server-pid"
                .into()
        }
        UndecidedReason::ErrorsHide { failed } => format!(
            "{failed} requests failed, which is more than lie beyond this percentile, and their response times are \
             unknown"
        ),
    };
    format!("{}: {reason}", undecided.threshold)
}

fn formatted(value: f64, unit: &Unit) -> String {
    let in_unit = |units: &[(&str, f64)]| {
        let fits = units.iter().find(|(_, scale)| value >= *scale);
        let (unit, scale) = fits.or(units.last()).copied().unwrap_or(("", 1.0));
        format!("{} {unit}", digits(value / scale))
    };
    match unit {
        Unit::Nanoseconds => in_unit(&[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)]),
        Unit::Bytes => in_unit(&[
            ("GiB", 1_073_741_824.0),
            ("MiB", 1_048_576.0),
            ("KiB", 1024.0),
            ("B", 1.0),
        ]),
        Unit::Share => format!("{} %", digits(100.0 * value)),
        Unit::PerSecond(_) => format!("{} per second", digits(value)),
        Unit::Count(_) | Unit::Ratio => digits(value),
    }
}

/// Formats a value with three significant digits, or with its whole integer part if that is longer.
fn digits(value: f64) -> String {
    let exponent = value.abs().max(1e-3).log10().floor() as i32;
    let text = format!("{value:.*}", (2 - exponent).clamp(0, 5) as usize);
    trimmed(&text).to_string()
}
