// SPDX-License-Identifier: Apache-2.0
//! Numbers as people read them: a unit that fits, and no more digits than the interval supports.

use lab_stats::analysis::Interval;

/// What a number counts, with the units that it is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds, shown in ns, µs, ms or s.
    Time,
    /// Bytes, shown in B, KiB, MiB or GiB.
    Size,
    /// A number without a unit.
    Ratio,
    /// Operations per second, written out: `41,200/s`.
    Rate,
}

/// The bounds of an interval that spans this factor have a unit each.
const MAGNITUDES: f64 = 20.0;

/// An estimate with its interval in brackets: `12.34 [12.29, 12.41] µs`.
pub fn full(quantity: Quantity, interval: &Interval) -> String {
    within(quantity, interval, ["[", ", ", "]"])
}

/// The same for a sentence: `12.34 (12.29 to 12.41) µs`.
pub fn spoken(quantity: Quantity, interval: &Interval) -> String {
    within(quantity, interval, ["(", " to ", ")"])
}

fn within(quantity: Quantity, interval: &Interval, [open, between, close]: [&str; 3]) -> String {
    let shown = Shown::new(quantity, interval);
    if !shown.bounded {
        return format!("{} (no interval)", shown.with_unit());
    }
    if interval.low > 0.0 && interval.high / interval.low >= MAGNITUDES {
        let [estimate, low, high] =
            [interval.estimate, interval.low, interval.high].map(|value| single(quantity, value));
        return format!("{estimate} {open}{low}{between}{high}{close}");
    }
    let Shown {
        estimate,
        low,
        high,
        unit,
        ..
    } = shown;
    format!("{estimate} {open}{low}{between}{high}{close}{unit}")
}

/// A range, in one unit and to as many digits as its width supports: `1.008 to 1.019`.
pub fn range(quantity: Quantity, low: f64, high: f64) -> String {
    let middle = Interval {
        estimate: low + (high - low) / 2.0,
        low,
        high,
        level: 1.0,
    };
    let Shown {
        low, high, unit, ..
    } = Shown::new(quantity, &middle);
    format!("{low} to {high}{unit}")
}

/// The unit that suits positive numbers best of all: that of the middle of their range, in logarithms.
pub fn common_unit(quantity: Quantity, values: impl Iterator<Item = f64>) -> (f64, &'static str) {
    let all: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    quantity.unit((least * most).sqrt())
}

/// An estimate and the wider half of its interval in percent of it: `12.3 µs ±0.4%`.
pub fn short(quantity: Quantity, interval: &Interval) -> String {
    short_as(quantity, quantity.unit(interval.estimate), interval, 4)
}

/// The same of a time in a unit of the caller's: `scale` is what to divide by, `unit` what to write.
pub fn short_in(scale: f64, unit: &str, interval: &Interval) -> String {
    short_as(Quantity::Time, (scale, unit), interval, 4)
}

/// The same to three significant digits at the most, where there is little room.
pub fn brief_in(scale: f64, unit: &str, interval: &Interval) -> String {
    short_as(Quantity::Time, (scale, unit), interval, 3)
}

fn short_as(
    quantity: Quantity,
    (scale, unit): (f64, &str),
    interval: &Interval,
    most: i32,
) -> String {
    let estimate = interval.estimate / scale;
    let half = half_width(interval) / scale;
    if !bounded(interval) {
        return format!(
            "{}{unit} ±?",
            quantity.written(estimate, significant(estimate, 3))
        );
    }
    if estimate <= 0.0 {
        let [estimate, low, high] = [interval.estimate, interval.low, interval.high]
            .map(|value| quantity.written(value / scale, places(half)));
        return format!("{estimate} [{low}, {high}]{unit}");
    }
    let decimals = if half > 0.0 {
        -half.log10().floor() as i32
    } else {
        significant(estimate, 3)
    };
    // However wide the interval is, what is not 0 is not written as 0.
    let decimals = decimals.clamp(significant(estimate, 1), significant(estimate, most));
    let estimated = quantity.written(estimate, decimals);
    format!("{estimated}{unit} ±{}", percent(half / estimate))
}

/// The estimate alone, to as many digits as its interval supports: for labels beside a drawn
/// interval.
pub fn alone(quantity: Quantity, interval: &Interval) -> String {
    Shown::new(quantity, interval).with_unit()
}

/// A rate in a sentence, written out: `41,230 requests/s (40,900 to 41,500)`.
pub fn per_second(what: &str, rate: &Interval) -> String {
    if !bounded(rate) {
        let estimate = grouped(rate.estimate, significant(rate.estimate, 3));
        return format!("{estimate} {what}/s (no interval)");
    }
    // Never less than two digits, however wide the interval is.
    let two = 1 - rate.estimate.abs().max(1.0).log10().floor() as i32;
    let decimals = places(half_width(rate)).max(two.min(0));
    let [estimate, low, high] = [rate.estimate, rate.low, rate.high].map(|r| grouped(r, decimals));
    format!("{estimate} {what}/s ({low} to {high})")
}

/// A count: `1,234,567`.
pub fn whole(count: u64) -> String {
    grouped(count as f64, 0)
}

/// A number with a comma after each third digit, rounded to so many decimals, which can be negative.
fn grouped(value: f64, decimals: i32) -> String {
    let step = 10f64.powi(-decimals.min(0));
    let rounded = match decimals < 0 {
        true => (value / step).round() * step,
        false => value,
    };
    let text = digits(rounded, decimals.clamp(0, 9) as usize);
    let (number, fraction) = match text.split_once('.') {
        Some((number, fraction)) => (number, Some(fraction)),
        None => (text.as_str(), None),
    };
    let mut grouped = String::new();
    for (i, digit) in number.chars().enumerate() {
        if i > 0 && (number.len() - i) % 3 == 0 && grouped != "-" {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction
        .into_iter()
        .for_each(|f| grouped += &format!(".{f}"));
    grouped
}

/// A number that comes without an interval, to three significant digits. The caller marks it as a
/// single reading.
pub fn single(quantity: Quantity, value: f64) -> String {
    let (scale, unit) = quantity.unit(value);
    format!(
        "{}{unit}",
        quantity.written(value / scale, significant(value / scale, 3))
    )
}

/// A part of one in percent, to about one significant digit more than matters: `0.4%`, `3.2%`, `12%`.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if !percent.is_finite() {
        return "?%".into();
    }
    match percent {
        p if p >= 999.5 => ">999%".into(),
        p if p >= 9.95 => format!("{p:.0}%"),
        p if p >= 0.095 => format!("{p:.1}%"),
        p if p >= 0.0095 => format!("{p:.2}%"),
        p if p <= 0.0 => "0%".into(),
        _ => "0.01%".into(),
    }
}

/// A level such as 0.95 as `95 %`; below 99.95 % never rounded up to 100 %.
pub fn level(level: f64) -> String {
    let percent = (level * 1e4 + 1e-6).floor() / 100.0;
    format!("{percent} %")
}

/// Whether the interval says anything: with too few blocks there is none.
pub fn bounded(interval: &Interval) -> bool {
    interval.level > 0.0 && interval.low.is_finite() && interval.high.is_finite()
}

impl Quantity {
    /// What to divide a number of about this size by, and the unit that it is in then.
    pub fn unit(self, value: f64) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self {
            Quantity::Time => &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")],
            Quantity::Size => &[
                (f64::from(1 << 30), " GiB"),
                (f64::from(1 << 20), " MiB"),
                (f64::from(1 << 10), " KiB"),
                (1.0, " B"),
            ],
            Quantity::Ratio => &[(1.0, "")],
            Quantity::Rate => &[(1.0, "/s")],
        };
        let fits = units.iter().find(|(scale, _)| value.abs() >= *scale);
        *fits.unwrap_or(&units[units.len() - 1])
    }

    /// A number in one of its units. Rates are rounded before the point, too, where decimals are negative.
    fn written(self, value: f64, decimals: i32) -> String {
        match self {
            Quantity::Rate => grouped(value, decimals),
            _ => digits(value, decimals.clamp(0, 9) as usize),
        }
    }
}

/// The three numbers of an interval in one unit, to the same decimal.
struct Shown {
    estimate: String,
    low: String,
    high: String,
    unit: &'static str,
    bounded: bool,
}

impl Shown {
    fn new(quantity: Quantity, interval: &Interval) -> Self {
        let (scale, unit) = quantity.unit(interval.estimate);
        let bounded = bounded(interval);
        let estimate = interval.estimate / scale;
        let half = half_width(interval) / scale;
        let decimals = if bounded && half > 0.0 {
            // A bound that is not 0 is not written as 0, if two digits of the estimate are enough for it.
            let bound = match interval.low > 0.0 {
                true => significant(interval.low / scale, 1).min(significant(estimate, 2)),
                false => i32::MIN,
            };
            places(half).max(bound).min(significant(estimate, 6))
        } else {
            significant(estimate, 3)
        };
        Shown {
            estimate: quantity.written(estimate, decimals),
            low: quantity.written(interval.low / scale, decimals),
            high: quantity.written(interval.high / scale, decimals),
            unit,
            bounded,
        }
    }

    fn with_unit(&self) -> String {
        format!("{}{}", self.estimate, self.unit)
    }
}

/// The wider half, so that `±` never promises more than the interval does.
fn half_width(interval: &Interval) -> f64 {
    (interval.high - interval.estimate).max(interval.estimate - interval.low)
}

/// Decimals that keep one significant digit of a half-width, or two where the first is 1 or 2
/// (the rule of the Particle Data Group, simplified); negative where even whole numbers are too fine.
fn places(half: f64) -> i32 {
    if half <= 0.0 {
        return 0;
    }
    let exponent = half.log10().floor();
    let first = half / 10f64.powf(exponent);
    -exponent as i32 + i32::from(first < 2.95)
}

/// Decimals that show a number to `n` significant digits; negative where whole numbers have more.
fn significant(value: f64, n: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    n - 1 - value.abs().log10().floor() as i32
}

/// A number with that many decimals, never `-0`.
fn digits(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "?".into()
        } else if value > 0.0 {
            "∞".into()
        } else {
            "-∞".into()
        };
    }
    let text = format!("{value:.decimals$}");
    if text.trim_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, estimate: f64, high: f64) -> Interval {
        Interval {
            estimate,
            low,
            high,
            level: 0.95,
        }
    }

    #[test]
    fn digits_follow_the_interval() {
        let narrow = interval(12_290.0, 12_341.7, 12_410.0);
        assert_eq!(full(Quantity::Time, &narrow), "12.34 [12.29, 12.41] µs");
        assert_eq!(short(Quantity::Time, &narrow), "12.34 µs ±0.6%");
        assert_eq!(
            short(Quantity::Time, &interval(1950.0, 1979.0, 2008.0)),
            "1.98 µs ±1.5%"
        );
        let wide = interval(9_000.0, 12_341.7, 16_000.0);
        assert_eq!(full(Quantity::Time, &wide), "12 [9, 16] µs");
        assert_eq!(spoken(Quantity::Time, &narrow), "12.34 (12.29 to 12.41) µs");
        let ratio = interval(1.0081, 1.0132, 1.0193);
        assert_eq!(full(Quantity::Ratio, &ratio), "1.013 [1.008, 1.019]");
        assert_eq!(range(Quantity::Ratio, 1.0081, 1.0193), "1.008 to 1.019");
        assert_eq!(range(Quantity::Ratio, 1.5, 1.5), "1.50 to 1.50");
        let magnitudes = interval(410e3, 549e3, 555_745e3);
        assert_eq!(full(Quantity::Time, &magnitudes), "549 µs [410 µs, 556 ms]");
        assert_eq!(short(Quantity::Time, &magnitudes), "549 µs ±>999%");
        assert_eq!(range(Quantity::Time, 0.2e6, 8.3e6), "0.2 to 8.3 ms");
        let unknown = interval(0.25e6, 0.31e6, 1.4e6);
        assert_eq!(brief_in(1e6, "", &unknown), "0.3 ±352%");
    }

    #[test]
    fn rates_are_written_out_to_what_their_interval_supports() {
        let rate = interval(40_912.3, 41_234.4, 41_498.0);
        assert_eq!(
            per_second("requests", &rate),
            "41,200 requests/s (40,900 to 41,500)"
        );
        let low = interval(9.91, 10.02, 10.11);
        assert_eq!(
            per_second("requests", &low),
            "10.02 requests/s (9.91 to 10.11)"
        );
        let million = interval(1_234_000.0, 1_234_567.0, 1_235_000.0);
        assert_eq!(
            per_second("requests", &million),
            "1,234,600 requests/s (1,234,000 to 1,235,000)"
        );
        let wide = interval(17_123.0, 32_912.0, 63_456.0);
        assert_eq!(
            per_second("requests", &wide),
            "33,000 requests/s (17,000 to 63,000)"
        );
        let one = Interval { level: 0.0, ..rate };
        assert_eq!(
            per_second("requests", &one),
            "41,200 requests/s (no interval)"
        );
        assert_eq!([whole(0), whole(999), whole(1_000)], ["0", "999", "1,000"]);
        assert_eq!(short(Quantity::Rate, &rate), "41,200/s ±0.8%");
        assert_eq!(full(Quantity::Rate, &rate), "41,200 [40,900, 41,500]/s");
        assert_eq!(alone(Quantity::Rate, &low), "10.02/s");
        assert_eq!(single(Quantity::Rate, 1_234_567.0), "1,230,000/s");
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(single(Quantity::Time, 1.5e9), "1.50 s");
        assert_eq!(single(Quantity::Time, 250.0), "250 ns");
        assert_eq!(single(Quantity::Size, 12.0 * 1048576.0), "12.0 MiB");
        assert_eq!(single(Quantity::Time, 0.0), "0 ns");
        assert_eq!(
            alone(Quantity::Size, &interval(6e6, 6.1e6, 6.2e6)),
            "5.82 MiB"
        );
    }

    #[test]
    fn what_has_no_interval_says_so() {
        let none = Interval {
            estimate: 1234.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            level: 0.0,
        };
        assert_eq!(full(Quantity::Time, &none), "1.23 µs (no interval)");
        assert_eq!(short(Quantity::Time, &none), "1.23 µs ±?");
        assert!(single(Quantity::Ratio, f64::NAN).contains('?'));
    }

    #[test]
    fn negative_zero_and_negative_costs_are_plain() {
        assert_eq!(
            full(Quantity::Time, &interval(-20.0, -0.001, 20.0)),
            "0 [-20, 20] ns"
        );
        assert_eq!(
            short(Quantity::Time, &interval(-20.0, -4.0, 20.0)),
            "-4 [-20, 20] ns"
        );
    }

    #[test]
    fn a_level_is_not_rounded_up_to_certainty() {
        assert_eq!(level(0.95), "95 %");
        assert_eq!(level(0.9875), "98.75 %");
        assert_eq!(level(0.02), "2 %");
        assert_eq!(level(0.99999), "99.99 %");
    }

    #[test]
    fn percents_keep_what_matters() {
        assert_eq!(percent(0.0042), "0.4%");
        assert_eq!(percent(0.123), "12%");
        assert_eq!(percent(0.00031), "0.03%");
    }
}
