// SPDX-License-Identifier: Apache-2.0
//! Helpers for line-oriented formats.

use crate::error::Problem;

/// Parses a finite number that is not negative.
///
/// Commas are accepted as separators of thousands only if the number also has a decimal point, or
/// more than one comma: in `0,123` and in `1,234`, the comma may be a decimal comma.
pub fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = match text.contains(',') {
        true => without_separators(text)?.parse::<f64>().ok(),
        false => text.parse::<f64>().ok(),
    };
    number.filter(|n| n.is_finite() && *n >= 0.0)
}

/// Removes separators of thousands. Returns `None` if the commas may be something else.
fn without_separators(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let groups: Vec<&str> = whole.split(',').collect();
    let (first, others) = groups.split_first()?;
    let is_number = |digits: &&str| digits.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = matches!(first.len(), 1..=3)
        && is_number(first)
        && !first.starts_with('0')
        && others
            .iter()
            .all(|group| group.len() == 3 && is_number(group));
    let is_clear = fraction.is_some_and(|digits| !digits.contains(',')) || others.len() > 1;
    (is_grouped && is_clear).then(|| text.replace(',', ""))
}

/// Parses an amount on a line.
pub fn amount_on(line: usize, text: &str) -> Result<f64, Problem> {
    amount(text).ok_or_else(|| {
        Problem::on_line(line, format!("expected a number, found `{}`", short(text)))
    })
}

/// Truncates text that is quoted in a message.
pub fn short(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() > 40 {
        text.chars().take(40).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn a_comma_separates_thousands_only_where_it_cannot_be_a_decimal_comma() {
        for (text, value) in [
            ("12", 12.0),
            (" 0.5 ", 0.5),
            ("1e-7", 1e-7),
            ("1,234.567", 1234.567),
            ("12,345,678", 12_345_678.0),
            ("1,234,567.8", 1_234_567.8),
        ] {
            assert_eq!(amount(text), Some(value), "{text}");
        }
        for text in [
            "0,123",
            "1,234",
            "12,5",
            "0,123.4",
            "1,23,456.7",
            "1234,567.8",
            "1.5,6",
            ",5",
            "-1",
            "NaN",
            "inf",
            "",
        ] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}
