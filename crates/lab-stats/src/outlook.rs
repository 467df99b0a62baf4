// SPDX-License-Identifier: Apache-2.0
//! The probability that a new run with a given number of blocks resolves an inconclusive
//! comparison.
//!
//! The method is assurance (A. O'Hagan and others, *Assurance in clinical trial design*,
//! Pharmaceutical Statistics 4, 2005): the true ratio and the true spread of the blocks are treated
//! as uncertain, with distributions estimated from this run. The interval of the new run is
//! computed by the method that applies to its number of blocks, and with the corresponding alpha
//! and family.

use crate::chi_square;
use crate::family;
use crate::normal;
use lab_model::Interval;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// The probability with which a proposed number of blocks must resolve a comparison.
///
/// `tests/stats/deciding.rs` counts the runs that actually resolve the comparison.
pub(crate) const DECIDING_CHANCE: f64 = 0.85;

/// The maximum number of blocks that is considered.
pub(crate) const MAX_BLOCKS: u32 = 100_000;

/// The degrees of freedom are multiplied by this fraction, because blocks are not quite normally
/// distributed.
///
/// The value was chosen by the simulations of this crate, with heavy tails and outlying blocks.
const FREEDOM_FRACTION: f64 = 0.6;

/// The number of equally probable values that approximate the distribution of the spread.
const SCATTERS: usize = 10;

/// The excess of the width of sign-flip intervals over the width of Student's t intervals at the
/// same level, as a fraction.
///
/// The excess is the first value, plus the second value divided by the number of flips that may be
/// at least as extreme as the observed signs. Both values were fitted to simulated intervals of 1
/// to 320 comparisons with an alpha of 1.25% to 5%.
const FLIP_EXCESS: [f64; 2] = [0.01, 0.16];

/// The precision of a comparison, and the family of comparisons to which its confidence level
/// refers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The standard error of the ratio's logarithm.
    pub error: f64,
    /// The degrees of freedom of the error.
    pub freedom: f64,
    /// The degrees of freedom that other comparisons contribute.
    pub borrowed: f64,
    /// The number of comparisons in the family, at least 1.
    pub family: u32,
    /// 1 minus the simultaneous confidence level of the family.
    pub alpha: f64,
}

impl Certainty {
    /// Creates the certainty of a ratio from its interval.
    ///
    /// The interval comes from `values` normally distributed values. It is one of a family of
    /// `family` intervals with a simultaneous level of 1 - `alpha`.
    pub(crate) fn for_interval(
        interval: &Interval,
        values: u32,
        family: u32,
        alpha: f64,
    ) -> Certainty {
        let freedom = f64::from(values.max(2)) - 1.0;
        let tail = alpha / 2.0 / f64::from(family.max(1));
        let half = 0.5 * (logarithm(interval.high) - logarithm(interval.low));
        Certainty {
            error: half / normal::student_upper_quantile(freedom, tail.clamp(1e-12, 0.49)),
            freedom,
            borrowed: 0.0,
            family,
            alpha,
        }
    }
}

/// An inconclusive comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The logarithm of the ratio's estimate.
    pub estimate: f64,
    /// The uncertainty of the ratio.
    pub certainty: Certainty,
    /// The number of values, and the number of blocks in each value.
    pub values: (u32, u32),
    /// The minimum number of blocks that a new run can have.
    pub least: u32,
    /// The interval shows a difference if the whole interval lies outside of this range of
    /// logarithms.
    pub difference: Range<f64>,
    /// The interval shows that there is no relevant difference if the whole interval lies within
    /// this range of logarithms.
    pub equivalence: Range<f64>,
}

/// The key of a cached half-width: the number of values, the size of the family, and the bits of
/// the borrowed degrees of freedom and of alpha.
type CriticalKey = (u32, u32, [u64; 2]);

/// Computes the probabilities of results of new runs. Caches intermediate results that comparisons
/// share.
pub struct Outlook<'a> {
    /// Maps the number of blocks of a new run to the alpha of the new run divided by the alpha of
    /// the existing run.
    relative_alpha: &'a dyn Fn(u32) -> f64,
    criticals: RefCell<HashMap<CriticalKey, f64>>,
    scatters: RefCell<HashMap<u64, Vec<f64>>>,
}

/// The relative alpha of new runs that have the same alpha as the existing run.
pub const SAME_ALPHA: &dyn Fn(u32) -> f64 = &|_| 1.0;

impl<'a> Outlook<'a> {
    /// Creates an outlook.
    ///
    /// `relative_alpha` maps the number of blocks of a new run to the alpha of the new run divided
    /// by the alpha of the existing run.
    pub fn new(relative_alpha: &'a dyn Fn(u32) -> f64) -> Outlook<'a> {
        Outlook {
            relative_alpha,
            criticals: RefCell::default(),
            scatters: RefCell::default(),
        }
    }

    /// Returns the number of blocks with which a new run resolves a comparison with probability
    /// [`DECIDING_CHANCE`].
    ///
    /// Returns `None` if more than [`MAX_BLOCKS`] are needed.
    pub fn blocks(&self, open: &Open) -> Option<u32> {
        let least = open.least.max(1);
        // Without an interval, only the number of blocks needed for an interval is known.
        if !open.certainty.error.is_finite() {
            return (open.least < u32::MAX).then_some(least);
        }
        first(least, MAX_BLOCKS, |blocks| {
            self.chance(open, blocks) >= DECIDING_CHANCE
        })
    }

    /// Returns the probability that a new run with `blocks` blocks resolves a comparison.
    pub fn chance(&self, open: &Open, blocks: u32) -> f64 {
        let Certainty {
            error,
            freedom,
            borrowed,
            ..
        } = open.certainty;
        let (values_now, width) = open.values;
        let values = blocks / width.max(1);
        if blocks < open.least || values < 2 || !error.is_finite() {
            return 0.0;
        }
        let critical = self.critical(open, blocks, values);
        let deviation = error * f64::from(values_now.max(1)).sqrt();
        let [now, then] = [values_now.max(1), values].map(|n| 1.0 / f64::from(n).sqrt());
        let of_new_run = self.scatters(f64::from(values) - 1.0 + borrowed);
        let chances = self
            .scatters(FREEDOM_FRACTION * freedom)
            .into_iter()
            .flat_map(|truth| {
                // Correct for the run's estimate being too small or too large.
                let deviation = deviation / truth;
                let error = deviation * now.hypot(then);
                of_new_run
                    .iter()
                    .map(move |seen| open.decided(deviation * seen * then * critical, error))
            });
        chances.sum::<f64>() / (SCATTERS * SCATTERS) as f64
    }

    /// Returns the half-width of a new run's interval, in units of the standard error that the new
    /// run estimates.
    fn critical(&self, open: &Open, blocks: u32, values: u32) -> f64 {
        let Certainty {
            borrowed,
            family,
            alpha,
            ..
        } = open.certainty;
        let alpha = alpha * (self.relative_alpha)(blocks);
        let key = (values, family, [borrowed.to_bits(), alpha.to_bits()]);
        let compute = || critical(values, borrowed, family, alpha);
        *self
            .criticals
            .borrow_mut()
            .entry(key)
            .or_insert_with(compute)
    }

    /// Returns equally probable values of the ratio between an estimated standard deviation and the
    /// true standard deviation.
    fn scatters(&self, freedom: f64) -> Vec<f64> {
        let compute = || {
            let tail = |i: usize| (i as f64 + 0.5) / SCATTERS as f64;
            let square = |i| chi_square::quantile(freedom, tail(i)) / freedom;
            (0..SCATTERS).map(|i| square(i).sqrt()).collect()
        };
        let mut known = self.scatters.borrow_mut();
        known
            .entry(freedom.to_bits())
            .or_insert_with(compute)
            .clone()
    }
}

impl Open {
    /// Returns the probability that an interval with the half-width `half` resolves the comparison.
    ///
    /// The center of the interval is normally distributed around the estimate, with the standard
    /// deviation `error`.
    fn decided(&self, half: f64, error: f64) -> f64 {
        let below = |x: f64| normal::cdf((x - self.estimate) / error.max(f64::MIN_POSITIVE));
        let (first, last) = (self.difference.start - half, self.difference.end + half);
        let within =
            (self.equivalence.start + half).max(first)..(self.equivalence.end - half).min(last);
        let within = (below(within.end) - below(within.start)).max(0.0);
        1.0 - (below(last) - below(first)) + within
    }
}

/// Returns the half-width of an interval from `values` values, in standard errors.
///
/// The interval uses sign flips, or Student's t if there are too few values.
fn critical(values: u32, borrowed: f64, family: u32, alpha: f64) -> f64 {
    let freedom = f64::from(values) - 1.0;
    let tail = |alpha: f64| alpha / 2.0 / f64::from(family.max(1));
    if family::blocks_needed(alpha, 1).is_none_or(|needed| values < needed) {
        return normal::student_upper_quantile(freedom + borrowed, tail(alpha).max(1e-12));
    }
    let flips = family::flip_count(values as usize) as f64;
    let as_far_out = (alpha * flips + 1e-9).floor().max(1.0);
    let [always, of_few] = FLIP_EXCESS;
    let excess = 1.0 + always + of_few / as_far_out;
    excess * normal::student_upper_quantile(freedom, tail(as_far_out / flips).max(1e-12))
}

/// Returns the smallest number from `least` to `most` for which `is_enough` is true.
///
/// If `is_enough` is true for a number, it must be true for all larger numbers.
pub(crate) fn first(least: u32, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    // Usually, a small number of blocks is enough.
    let (mut too_few, mut enough) = (least - 1, least);
    while !is_enough(enough) {
        if enough >= most {
            return None;
        }
        too_few = enough;
        enough = enough.saturating_mul(2).min(most);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

pub(crate) fn logarithm(x: f64) -> f64 {
    x.max(f64::MIN_POSITIVE).ln()
}
