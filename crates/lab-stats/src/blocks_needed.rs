// SPDX-License-Identifier: Apache-2.0
//! How many blocks a new run takes to decide a ratio that this one leaves open.

use crate::normal;
use crate::ratio::Ratio;
use std::ops::Range;

/// The chance that a number of blocks is computed for. The scatter, too, is only known from the blocks there are, and
/// so some 80 % of new runs decide (`tests/deciding.rs`).
pub(crate) const DECIDING_CHANCE: f64 = 0.9;

/// If more blocks than these would be needed, there is no forecast.
const MOST_BLOCKS: u32 = 100_000;

/// The number of blocks with which a new run decides a ratio with a chance of [`DECIDING_CHANCE`]: its interval lies
/// outside `difference`, or within `equivalence`, ranges of the ratio's logarithm. `None`: hardly any number does.
///
/// The truth is as uncertain as this run leaves it: assurance, A. O'Hagan and others, *Assurance in clinical trial
/// design*, Pharmaceutical Statistics 4 (2005).
pub fn blocks_needed(
    ratio: &Ratio,
    difference: Range<f64>,
    equivalence: Range<f64>,
) -> Option<u32> {
    let least = (ratio.needed != u32::MAX).then_some(ratio.needed * ratio.width)?;
    let least = if ratio.unresolved { 2 * least } else { least };
    if !ratio.sufficient {
        return Some(least);
    }
    let log = |x: f64| x.max(f64::MIN_POSITIVE).ln();
    let estimate = log(ratio.interval.estimate);
    let half_now = 0.5 * (log(ratio.interval.high) - log(ratio.interval.low));
    let blocks_now = f64::from(ratio.values * ratio.width);
    // At a higher level the half width is more standard errors, and this estimate is too great.
    let error_now = half_now / normal::upper_quantile(0.025);
    let decides = |blocks: u32| {
        let part = blocks_now / f64::from(blocks);
        let half = half_now * part.sqrt();
        let error = error_now * (1.0 + part).sqrt();
        let below = |x: f64| normal::cdf((x - estimate) / error);
        let (first, last) = (difference.start - half, difference.end + half);
        let within = (equivalence.start + half).max(first)..(equivalence.end - half).min(last);
        let within = (below(within.end) - below(within.start)).max(0.0);
        1.0 - (below(last) - below(first)) + within >= DECIDING_CHANCE
    };
    let (mut too_few, mut enough) = (least.max(1) - 1, MOST_BLOCKS);
    if !decides(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if decides(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}
