// SPDX-License-Identifier: Apache-2.0
//! The chi-square distribution, by which the scatter of normal values is uncertain.

use crate::normal;

/// The value below which chi-square lies with chance `p`.
///
/// Source: Wilson & Hilferty, *The distribution of chi-square*, PNAS 17 (1931).
pub(crate) fn quantile(freedom: f64, p: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    let root = 1.0 - part + normal::upper_quantile(1.0 - p) * part.sqrt();
    freedom * root.max(0.05).powi(3)
}
