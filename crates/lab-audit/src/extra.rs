// SPDX-License-Identifier: Apache-2.0
//! Measurements and observations in addition to files.

use crate::value::Thing;
use lab_model::audit::{EvidenceBars, EvidenceTable};

/// Measurements and observations in addition to files.
#[derive(Debug, Default)]
pub struct Extra {
    /// For rules.
    pub things: Vec<Thing>,
    /// How it was seen.
    pub facts: Vec<(String, String)>,
    /// The figures.
    pub tables: Vec<EvidenceTable>,
    /// In place of the findings by area.
    pub chart: Option<EvidenceBars>,
}
