// SPDX-License-Identifier: Apache-2.0
//! What must be seen beside the figures of a load run: that the generator was the limit, that requests
//! failed, that fewer were served than offered.

use crate::load::{LoadView, warnings};
use lab_stats::load::analysis::LoadCell;

/// A sentence or two for each trouble, the gravest first.
pub fn alarms<'a>(view: &LoadView<'a>) -> Vec<&'a str> {
    let grave = warnings(view.analysis, true);
    grave.map(|warning| warning.text.as_str()).collect()
}

/// How many requests were not answered as they should be.
pub fn failed(cell: &LoadCell) -> u64 {
    let kinds = cell.errors.iter();
    kinds.fold(0, |sum, (_, n)| sum.saturating_add(*n))
}
