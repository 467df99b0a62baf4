// SPDX-License-Identifier: Apache-2.0
//! The chi-square distribution, which describes the uncertainty of estimated variances.

use crate::normal;

/// Returns the quantile `p` of the chi-square distribution with `freedom` degrees of freedom.
///
/// Source: Wilson & Hilferty, *The distribution of chi-square*, PNAS 17 (1931).
pub(crate) fn quantile(freedom: f64, p: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    let root = 1.0 - part + normal::upper_quantile(1.0 - p) * part.sqrt();
    freedom * root.max(0.05).powi(3)
}
