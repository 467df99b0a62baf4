// SPDX-License-Identifier: Apache-2.0
//! Parses option values.

pub use lab_model::option_value::{fraction, rate, stage, time};

/// The nonzero exit statuses that are allowed for a command. Empty means any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedStatuses(pub Vec<i32>);

/// Parses `1`, `1,2`, `137` or `any`.
pub fn expected_statuses(text: &str) -> Result<ExpectedStatuses, String> {
    if text == "any" {
        return Ok(ExpectedStatuses::default());
    }
    let statuses = text.split(',').map(|status| {
        let number = status.trim().parse().ok();
        number.filter(|number| (1..=255).contains(number))
    });
    let statuses: Option<Vec<i32>> = statuses.collect();
    statuses.map(ExpectedStatuses).ok_or(
        "expected exit statuses from 1 to 255, such as 1 or 1,2 (128 + N for a command that was killed by signal N)".into(),
    )
}
