// SPDX-License-Identifier: Apache-2.0
//! Additional parts of an audit, from measurements and observations rather than from files.

use crate::value::AuditObject;
use lab_model::audit::{EvidenceBars, EvidenceTable};

/// The parts that `--measure` (the speed of disks) and `--watch` (the use of directories) add to an
/// audit.
#[derive(Debug, Default)]
pub struct Extra {
    /// The objects that rules judge.
    pub objects: Vec<AuditObject>,
    /// Facts about how the observations were made.
    pub facts: Vec<(String, String)>,
    /// The results as tables.
    pub tables: Vec<EvidenceTable>,
    /// A chart that replaces the chart of findings by area.
    pub chart: Option<EvidenceBars>,
}
