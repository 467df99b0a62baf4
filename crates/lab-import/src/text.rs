// SPDX-License-Identifier: Apache-2.0
//! Helpers for line-oriented formats.

use crate::error::Problem;

/// Parses a finite number that is not negative, with optional separators of thousands.
pub fn amount(text: &str) -> Option<f64> {
    let number = text.trim().replace(',', "").parse::<f64>().ok();
    number.filter(|n| n.is_finite() && *n >= 0.0)
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
