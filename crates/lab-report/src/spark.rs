// SPDX-License-Identifier: Apache-2.0
//! A row of numbers as small bars, one character each: `▁▃▂▇`.

use crate::distribution::EIGHTHS;

/// The bars of values between `low` and `high`, with a dot where there is none.
pub fn bars(values: impl IntoIterator<Item = Option<f64>>, low: f64, high: f64) -> String {
    let step = |value: f64| (value - low) / (high - low) * EIGHTHS.len() as f64;
    // A range of nothing makes no number, which becomes the lowest bar.
    let bar = |value: f64| EIGHTHS[(step(value) as usize).min(EIGHTHS.len() - 1)];
    let bars = values.into_iter().map(|value| value.map_or('·', bar));
    bars.collect()
}

#[cfg(test)]
mod tests {
    use super::bars;

    #[test]
    fn bars_stand_for_eighths_of_the_range() {
        let values = [1.0, 1.99, 2.0, 5.0, 8.99, 9.0].map(Some);
        assert_eq!(bars(values, 1.0, 9.0), "▁▁▂▅██");
        assert_eq!(bars([Some(1.0), None, Some(1.0)], 1.0, 1.0), "▁·▁");
        let outside = [-5.0, 99.0, f64::NAN, f64::INFINITY].map(Some);
        assert_eq!(bars(outside, 1.0, 9.0), "▁█▁█");
    }
}
