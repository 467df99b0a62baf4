// SPDX-License-Identifier: Apache-2.0
//! Waivers: findings that a user accepts until a date, with a reason.

use crate::wording;
use jiff::civil::Date;
use lab_model::audit::{Audit, Waiver};

/// Checks waivers before an audit. `rules` contains the IDs of the audit's rules.
///
/// # Errors
///
/// Returns a sentence about the first waiver that has no reason, has an invalid date, or is for an
/// unknown rule.
pub fn check(waivers: &[Waiver], rules: &[&str]) -> Result<(), String> {
    for waiver in waivers {
        if waiver.reason.trim().is_empty() {
            return Err(wording::waiver_without_reason(&waiver.rule));
        }
        if parse_date(&waiver.until).is_none() {
            return Err(wording::waiver_date(&waiver.rule, &waiver.until));
        }
        if !rules.contains(&waiver.rule.as_str()) {
            return Err(wording::waiver_rule(&waiver.rule, rules));
        }
    }
    Ok(())
}

/// Applies waivers to an audit that was made on the date `today`. A waiver is valid up to and
/// including its date.
pub fn apply(audit: &mut Audit, waivers: &[Waiver], today: Date) {
    let is_valid = |waiver: &&Waiver| parse_date(&waiver.until).is_some_and(|until| today <= until);
    let (valid, expired) = waivers.iter().partition::<Vec<&Waiver>, _>(is_valid);
    audit.waivers = valid.into_iter().cloned().collect();
    audit.expired_waivers = expired.into_iter().cloned().collect();
}

/// Parses a date such as `2027-03-31`.
fn parse_date(text: &str) -> Option<Date> {
    let is_day = text.len() == 10;
    text.parse().ok().filter(|_| is_day)
}
