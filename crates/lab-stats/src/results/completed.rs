// SPDX-License-Identifier: Apache-2.0
//! Adds the warnings and comparisons to the results of a run on one target.

use super::Results;
use super::compare::Pair;
use super::judge::Basis;
use super::warnings::{self, WarningBasis};

pub(super) fn completed(basis: Basis, pairs: Vec<Pair>, mut results: Results) -> Results {
    results.warnings = warnings::of_batches(&WarningBasis {
        basis: &basis,
        cells: &results.cells,
        controls: &results.controls,
        pairs: &pairs,
        depending: &[],
        ages: &[],
        errors: &[],
    });
    results.comparisons = pairs.into_iter().map(|pair| pair.comparison).collect();
    results.exclusions = basis.exclusions;
    results
}
