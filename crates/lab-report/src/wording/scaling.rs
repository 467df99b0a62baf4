// SPDX-License-Identifier: Apache-2.0
//! Scalability laws, in sentences.

use lab_stats::results::NoLaw;

/// Explains why a subject has no scalability law.
pub fn no_law(subject: &str, reason: &NoLaw) -> String {
    match reason {
        NoLaw::TooFewPoints { needed, points } => {
            format!("{subject}: the law needs {needed} points, and there are {points}.")
        }
        NoLaw::NoCompleteBlock => format!("{subject}: no block has all points."),
    }
}
