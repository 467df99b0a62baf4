// SPDX-License-Identifier: Apache-2.0
//! Formats quantities for people, with a suitable unit and with no more digits than the interval justifies.

use crate::document::{Precision, Quantity};
use lab_model::{Unit, grouped, trimmed};

/// The minimum ratio between the bounds at which the estimate and each bound are rounded
/// independently.
const FAR_APART: f64 = 20.0;

/// The ratio between the bounds above which a positive interval is not informative. Such an
/// interval is described as very uncertain.
const MAX_INFORMATIVE_RATIO: f64 = 1e4;

/// The range of scaled values for which a column can use one magnitude.
const COMMON_RANGE: std::ops::Range<f64> = 0.01..10_000.0;

/// The smallest number that is written with an exponent. Such large numbers are not plausible
/// measurements.
const MIN_IMPLAUSIBLE: f64 = 1e18;

/// A divisor for numbers of a unit, and the name of the resulting unit, such as 1,000 and `µs` for nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Magnitude {
    /// The divisor, greater than 0.
    pub divisor: f64,
    /// The name, such as `µs` or `requests/s`. Empty for ratios.
    pub name: String,
}

/// Formats an estimate with its interval for use in a sentence: `12.34 µs (12.29 to 12.41)`.
pub fn sentence(quantity: &Quantity) -> String {
    Digits::new(quantity, &magnitude(&quantity.unit, size(quantity))).sentence()
}

/// Formats an estimate with its interval for the label of a chart: `41,200/s (40,900 to 41,500)`.
///
/// The axis title names the counted objects, so the label does not.
pub fn label(quantity: &Quantity) -> String {
    Digits::new(quantity, &unnamed(&quantity.unit, size(quantity))).sentence()
}

/// Formats a value without its interval, with as many digits as the interval justifies: `12.34 µs`.
pub fn alone(quantity: &Quantity) -> String {
    Digits::new(quantity, &magnitude(&quantity.unit, size(quantity))).with_unit()
}

/// Formats a value without its interval for the label of a chart: `41,200/s`.
///
/// The axis title names the counted objects, so the label does not.
pub fn short(quantity: &Quantity) -> String {
    Digits::new(quantity, &unnamed(&quantity.unit, size(quantity))).with_unit()
}

/// Formats an axis tick. `max` is a value of the same axis that determines the unit.
///
/// Whole counts are written in full, because they may be the user's own numbers. Other texts have at
/// most four digits. The text contains neither trailing zeros nor the name of the counted objects.
pub fn tick(value: f64, unit: &Unit, max: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = unnamed(unit, max);
    let scaled = value / magnitude.divisor;
    let decimals = match unit {
        Unit::Count(_) if value.fract() == 0.0 => 0,
        _ => significant(scaled, 4),
    };
    let text = digits(scaled, decimals, unit);
    magnitude.with_unit(trimmed(&text))
}

/// Formats a count: `1,234,567`.
pub fn integer(count: u64) -> String {
    grouped(count)
}

/// Formats a confidence level such as 0.95 as `95 %`. The level is never rounded up.
pub fn level(level: f64) -> String {
    let percent = (level * 1e4 + 1e-6).floor() / 100.0;
    format!("{percent} %")
}

/// Returns the magnitude that makes a value easy to read.
pub fn magnitude(unit: &Unit, value: f64) -> Magnitude {
    let mut all = magnitudes(unit);
    // A value that rounds up to the next magnitude uses that magnitude: 999.7 ns is 1.00 µs.
    let fits = |m: &Magnitude| value.abs() >= m.divisor * 0.9995;
    let index = all.iter().position(fits).unwrap_or(all.len() - 1);
    all.swap_remove(index)
}

/// Returns the magnitude that suits a value, without the name of the counted objects.
fn unnamed(unit: &Unit, value: f64) -> Magnitude {
    let magnitude = magnitude(unit, value);
    let name = match unit {
        Unit::Count(_) => String::new(),
        Unit::PerSecond(counted) if counted != "bytes" => "/s".into(),
        _ => magnitude.name,
    };
    Magnitude { name, ..magnitude }
}

/// Returns the common magnitude for all quantities of a column.
///
/// Returns `None` if the values are too far apart for one magnitude, or if no quantity has this
/// unit.
pub fn common_magnitude<'q>(
    unit: &Unit,
    quantities: impl IntoIterator<Item = &'q Quantity>,
) -> Option<Magnitude> {
    let of_unit = quantities.into_iter().filter(|q| q.unit == *unit);
    let values: Vec<f64> = of_unit.map(size).collect();
    let mut all = magnitudes(unit);
    if values.is_empty() || all.len() == 1 {
        return all.pop().filter(|_| !values.is_empty());
    }
    let is_scalable = |v: &&f64| **v > 0.0 && v.is_finite();
    let count = |m: &Magnitude, range: std::ops::Range<f64>| {
        let scaled = values.iter().filter(is_scalable).map(|v| v / m.divisor);
        scaled.filter(|v| range.contains(v)).count()
    };
    let scalable = values.iter().filter(is_scalable).count();
    all.retain(|m| count(m, COMMON_RANGE) == scalable);
    all.into_iter().max_by_key(|m| count(m, 1.0..1000.0))
}

/// Formats a value and its interval as separate texts: `12.34` and `[12.29, 12.41] µs`, or `12.34 µs` and an empty
/// text.
///
/// The unit is omitted if the whole column shares a magnitude, because the heading contains the unit.
pub fn parts(quantity: &Quantity, column: Option<&Magnitude>) -> (String, String) {
    let digits = match column {
        Some(magnitude) => Digits::in_column(quantity, magnitude),
        None => Digits::new(quantity, &magnitude(&quantity.unit, size(quantity))),
    };
    match &digits.interval {
        ShownInterval::None => (digits.with_unit(), String::new()),
        ShownInterval::Unknown => (digits.with_unit(), "(no interval)".into()),
        ShownInterval::Wide => (digits.with_unit(), "(very wide)".into()),
        ShownInterval::Known(low, high) => {
            let interval = digits.magnitude.with_unit(&format!("[{low}, {high}]"));
            (digits.value, interval)
        }
    }
}

/// A formatted quantity.
struct Digits {
    value: String,
    interval: ShownInterval,
    /// The magnitude. Its name is empty if each number includes its own unit, or if the column's
    /// heading contains the unit.
    magnitude: Magnitude,
}

enum ShownInterval {
    None,
    Unknown,
    /// An interval whose bounds differ by more than a factor of [`MAX_INFORMATIVE_RATIO`].
    Wide,
    Known(String, String),
}

impl Digits {
    /// Formats a quantity in one unit. If the bounds are far apart, each number has its own unit.
    fn new(quantity: &Quantity, magnitude: &Magnitude) -> Digits {
        let unit = &quantity.unit;
        Digits::format(quantity, magnitude.clone(), |number| {
            let suited = match magnitude.name.as_str() {
                "/s" | "" => unnamed(unit, number),
                _ => self::magnitude(unit, number),
            };
            suited.with_unit(&reading(number / suited.divisor, unit))
        })
    }

    /// Formats a quantity in a column's magnitude, without the unit.
    fn in_column(quantity: &Quantity, column: &Magnitude) -> Digits {
        let nameless = Magnitude {
            name: String::new(),
            ..*column
        };
        Digits::format(quantity, nameless, |number| {
            reading(number / column.divisor, &quantity.unit)
        })
    }

    /// Formats a quantity. If the bounds are far apart, `far` formats each number.
    fn format(quantity: &Quantity, magnitude: Magnitude, far: impl Fn(f64) -> String) -> Digits {
        let Quantity { value, unit, .. } = quantity;
        let scaled = value / magnitude.divisor;
        match quantity.bounds() {
            Some((low, high)) if low > 0.0 && high > MAX_INFORMATIVE_RATIO * low => Digits {
                value: reading(scaled, unit),
                interval: ShownInterval::Wide,
                magnitude,
            },
            Some((low, high)) if far_apart(*value, low, high) => Digits {
                value: far(*value),
                interval: ShownInterval::Known(far(low), far(high)),
                magnitude: Magnitude {
                    divisor: 1.0,
                    name: String::new(),
                },
            },
            Some((low, high)) => {
                let [low, high] = [low, high].map(|bound| bound / magnitude.divisor);
                let decimals = supported(scaled, low, high);
                let [value, low, high] = [scaled, low, high].map(|v| digits(v, decimals, unit));
                Digits {
                    value,
                    interval: ShownInterval::Known(low, high),
                    magnitude,
                }
            }
            None => Digits {
                value: reading(scaled, unit),
                interval: match quantity.precision {
                    Precision::Exact => ShownInterval::None,
                    Precision::Within { .. } => ShownInterval::Unknown,
                },
                magnitude,
            },
        }
    }

    fn with_unit(&self) -> String {
        self.magnitude.with_unit(&self.value)
    }

    fn sentence(&self) -> String {
        let value = self.with_unit();
        match &self.interval {
            ShownInterval::None => value,
            ShownInterval::Unknown => format!("{value} (no interval)"),
            ShownInterval::Wide => format!("{value} (very uncertain)"),
            ShownInterval::Known(low, high) => format!("{value} ({low} to {high})"),
        }
    }
}

impl Magnitude {
    /// Appends the unit to a number.
    fn with_unit(&self, number: &str) -> String {
        match self.name.as_str() {
            "" => number.into(),
            "/s" => format!("{number}/s"),
            name => format!("{number} {name}"),
        }
    }
}

/// Lists the magnitudes of a unit, largest first.
fn magnitudes(unit: &Unit) -> Vec<Magnitude> {
    let named = |all: &[(f64, &str)]| {
        let all = all.iter().map(|&(divisor, name)| Magnitude {
            divisor,
            name: name.into(),
        });
        all.collect()
    };
    match unit {
        Unit::Nanoseconds => named(&[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]),
        Unit::Bytes => named(&[
            (f64::from(1 << 30), "GiB"),
            (f64::from(1 << 20), "MiB"),
            (f64::from(1 << 10), "KiB"),
            (1.0, "B"),
        ]),
        // Disk and network speeds use powers of 1,000, memory sizes powers of 1,024.
        Unit::PerSecond(what) if what == "bytes" => {
            named(&[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])
        }
        Unit::PerSecond(what) if what.is_empty() => named(&[(1.0, "per s")]),
        Unit::PerSecond(what) => named(&[(1.0, &format!("{what}/s"))]),
        Unit::Count(what) => named(&[(1.0, what)]),
        Unit::Share => named(&[(0.01, "%")]),
        Unit::Ratio => named(&[(1.0, "")]),
    }
}

/// Returns the number that determines the magnitude: the value, or the half-width of an interval
/// around 0 if the half-width is larger.
fn size(quantity: &Quantity) -> f64 {
    let half = quantity.bounds().filter(|(low, _)| *low <= 0.0);
    let half = half.map_or(0.0, |(low, high)| half_width(quantity.value, low, high));
    quantity.value.abs().max(half)
}

fn far_apart(value: f64, low: f64, high: f64) -> bool {
    let min = if low > 0.0 { low } else { value };
    low >= 0.0 && min > 0.0 && high / min >= FAR_APART
}

/// Returns the larger half-width of an interval.
fn half_width(value: f64, low: f64, high: f64) -> f64 {
    (high - value).max(value - low)
}

/// Returns the number of decimals that an interval justifies.
fn supported(value: f64, low: f64, high: f64) -> i32 {
    let half = half_width(value, low, high);
    if half <= 0.0 {
        return significant(value, 3);
    }
    // A nonzero bound is not rounded to 0 if two significant digits of the value suffice to show it.
    let bound = if low > 0.0 {
        significant(low, 1).min(significant(value, 2))
    } else {
        i32::MIN
    };
    let max = if value == 0.0 {
        9
    } else {
        significant(value, 6)
    };
    decimals_for_half_width(half).max(bound).min(max)
}

/// Returns the number of decimals that show a half-width with one significant digit, or with two if the first digit is
/// 1 or 2. This is a simplified form of the Particle Data Group's rule.
///
/// The result is negative if the number must be rounded to tens, hundreds, and so on.
fn decimals_for_half_width(half: f64) -> i32 {
    let exponent = half.log10().floor();
    let first = half / 10f64.powf(exponent);
    -exponent as i32 + i32::from(first < 2.95)
}

/// Returns the number of decimals that show `n` significant digits, where `n` is 1 to 9.
///
/// The result is negative if the integer part has more than `n` digits.
fn significant(value: f64, n: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let exponent = value.abs().log10().floor() as i32;
    // 9.996 rounds to 10.0, which has one more digit before the decimal point.
    let rounds_up = value.abs() >= 10f64.powi(exponent + 1) * (1.0 - 0.5 * 10f64.powi(-n));
    n - 1 - exponent - i32::from(rounds_up)
}

/// Formats a number without an interval. Counts are written in full, other numbers to three significant digits.
fn reading(value: f64, unit: &Unit) -> String {
    let is_whole = value.fract() == 0.0 && matches!(unit, Unit::Count(_) | Unit::Ratio);
    let decimals = match unit {
        _ if is_whole => 0,
        // Percentages just below 100 % are not rounded up to 100 %: 99.996 % stays 99.996 %.
        Unit::Share if value < 100.0 => significant(value, 3).max(significant(100.0 - value, 1)),
        _ => significant(value, 3),
    };
    digits(value, decimals, unit)
}

/// Formats a number with the given number of decimals. Zero is never written as `-0`.
///
/// If `decimals` is negative, counts and rates are rounded to tens, hundreds, and so on.
fn digits(value: f64, decimals: i32, unit: &Unit) -> String {
    match value {
        value if value.is_nan() => return "?".into(),
        f64::INFINITY => return "∞".into(),
        f64::NEG_INFINITY => return "-∞".into(),
        value if value.abs() >= MIN_IMPLAUSIBLE => return format!("{value:.1e}"),
        _ => {}
    }
    // Bounds that are extremely far apart do not justify any digit, so the number of decimals is clamped.
    let decimals = decimals.clamp(-17, 9);
    let coarse = matches!(unit, Unit::Count(_) | Unit::PerSecond(_)) && decimals < 0;
    let value = if coarse {
        let step = 10f64.powi(-decimals);
        (value / step).round() * step
    } else {
        value
    };
    let text = format!("{value:.*}", decimals.max(0) as usize);
    if text.trim_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').into()
    } else {
        grouped(&text)
    }
}
