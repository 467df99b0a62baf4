// SPDX-License-Identifier: Apache-2.0
//! Compares the change that the simulation predicts with the measured time.

use crate::Profile;
use lab_document::{Document, Row};
use lab_model::Metric;
use std::cmp::Ordering;

/// The weights of KCachegrind's cycle estimation (`CEst` in its globalconfig.cpp): Ir + 10 × (first-level misses +
/// mispredicts) + 100 × last-level misses.
const CYCLES: [(&str, u64); 5] = [
    ("Ir", 1),
    ("I1", 10),
    ("D1", 10),
    ("mispredicts", 10),
    ("LL", 100),
];

/// The maximum relative change that counts as no change. It equals the default margin of a
/// comparison.
const MARGIN: f64 = 0.02;

/// Estimates the number of cycles. Returns `None` if an event was not simulated, or only in a part of
/// the program.
fn cycles(profile: &Profile) -> Option<f64> {
    let parts = CYCLES
        .iter()
        .map(|(event, each)| Some(profile.whole_figure(event)? as f64 * *each as f64));
    parts.sum::<Option<f64>>().filter(|cycles| *cycles > 0.0)
}

/// A predicted change, and its agreement with the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The later program's estimated cycles divided by the earlier program's estimated cycles.
    pub predicted: f64,
    /// The agreement between the prediction and the measured time.
    pub outlook: Outlook,
}

/// The agreement between the simulation's prediction and the measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The measured time changed in the predicted direction.
    Agrees,
    /// The measured time did not change in the predicted direction.
    Disagrees,
    /// The measured time is inconclusive.
    Inconclusive,
}

/// Compares the cycle estimates of two programs with their measured comparison.
///
/// Returns `None` if an estimate or the ratio of the measured times is missing.
pub fn agreement(before: &Profile, after: &Profile, measured: &Document) -> Option<Agreement> {
    let predicted = cycles(after)? / cycles(before)?;
    let is_measured =
        |row: &&Row| row.metric == Metric::WALL && row.role.is_empty() && row.ratio.is_some();
    let row = measured.rows.iter().find(is_measured)?;
    let clock = row.ratio.as_ref()?.value;
    let direction = if (predicted - 1.0).abs() <= MARGIN {
        Ordering::Equal
    } else {
        predicted.total_cmp(&1.0)
    };
    let agrees = match row.verdict.as_str() {
        "faster" => Some(direction == Ordering::Less),
        "slower" => Some(direction == Ordering::Greater),
        "equivalent" => Some(direction == Ordering::Equal),
        "small-but-real" => Some(direction == clock.total_cmp(&1.0)),
        _ => None,
    };
    Some(Agreement {
        predicted,
        outlook: match agrees {
            Some(true) => Outlook::Agrees,
            Some(false) => Outlook::Disagrees,
            None => Outlook::Inconclusive,
        },
    })
}
