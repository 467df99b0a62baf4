// SPDX-License-Identifier: Apache-2.0
//! Measurements and observations that do not come from files.

use crate::value::Thing;
use lab_model::audit::{EvidenceBars, EvidenceTable};

/// Measurements and observations that do not come from files.
#[derive(Debug, Default)]
pub struct Extra {
    /// The things for rules.
    pub things: Vec<Thing>,
    /// How the observations were made.
    pub facts: Vec<(String, String)>,
    /// The results as tables.
    pub tables: Vec<EvidenceTable>,
    /// A chart that replaces the chart of findings by area.
    pub chart: Option<EvidenceBars>,
}
