// SPDX-License-Identifier: Apache-2.0
//! Whether the simulation and the clock say the same of a change.

use super::ProfilePair;
use crate::Profile;
use lab_document::say;
use lab_document::{Document, Row};
use lab_model::{Metric, Unit};
use std::cmp::Ordering;

/// KCachegrind's estimate of cycles: Ir + 10 × (first-level misses + mispredicts) + 100 × last-level misses (`CEst` in
/// its globalconfig.cpp).
const CYCLES: [(&str, u64); 5] = [
    ("Ir", 1),
    ("I1", 10),
    ("D1", 10),
    ("mispredicts", 10),
    ("LL", 100),
];

/// Changes within this are none, as the margin of a comparison.
const MARGIN: f64 = 0.02;

/// The estimate. `None`: some of its events were not simulated.
fn cycles(profile: &Profile) -> Option<f64> {
    let costs = profile.costs()?;
    let parts = CYCLES
        .iter()
        .map(|(event, each)| Some(costs.total_of(event)? as f64 * *each as f64));
    parts.sum::<Option<f64>>().filter(|cycles| *cycles > 0.0)
}

/// `The simulation predicts 0.62 times before's cycles: it agrees.`
pub fn sentence(pair: &ProfilePair, measured: &Document) -> Option<String> {
    let predicted = cycles(pair.after?)? / cycles(pair.before)?;
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
        "faster" => direction == Ordering::Less,
        "slower" => direction == Ordering::Greater,
        "equivalent" => direction == Ordering::Equal,
        "small-but-real" => direction == clock.total_cmp(&1.0),
        _ => {
            return Some(format!(
                "{}; the clock has not decided.",
                predicts(pair, predicted)
            ));
        }
    };
    let predicts = predicts(pair, predicted);
    Some(if agrees {
        format!("{predicts}: both agree.")
    } else {
        format!(
            "{predicts}: they do not agree. The simulated processor neither prefetches nor waits for the system."
        )
    })
}

fn predicts(pair: &ProfilePair, ratio: f64) -> String {
    let ratio = say::reading(ratio, &Unit::Ratio);
    format!(
        "The simulation predicts {ratio} times {}'s cycles",
        pair.names[0]
    )
}
