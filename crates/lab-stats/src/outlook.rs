// SPDX-License-Identifier: Apache-2.0
//! The chance that a new run with some number of blocks resolves a comparison that this run leaves open.
//!
//! Assurance: the truth is as uncertain as this run leaves it, and so is the scatter of blocks (A. O'Hagan
//! and others, *Assurance in clinical trial design*, Pharmaceutical Statistics 4, 2005). The new run has an
//! interval of its own: by the method, the alpha and the family that it will have with its number of blocks.

use crate::chi_square;
use crate::family;
use crate::normal;
use lab_model::Interval;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// The chance for which a number of blocks is computed; `tests/stats/deciding.rs` counts how many runs
/// resolve the comparison.
pub(crate) const DECIDING_CHANCE: f64 = 0.85;

/// Greater numbers of blocks are not computed.
pub(crate) const MAX_BLOCKS: u32 = 100_000;

/// The fraction of the degrees of freedom with which the scatter of blocks counts as known, since blocks do
/// not scatter quite normally. Chosen by the simulations of this crate, with heavy tails and outlying blocks.
const FREEDOM_SHARE: f64 = 0.6;

/// The number of equally probable values that replace the distribution of a scatter.
const SCATTERS: usize = 10;

/// Flips' intervals are by so much wider than Student's t of the same level, and by so much divided by the number of
/// flips that may be as far out. From simulated intervals of 1 to 320 comparisons, alpha 1.25 % to 5 %.
const FLIP_EXCESS: [f64; 2] = [0.01, 0.16];

/// The uncertainty of a comparison, and the family that shares its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The standard error of the ratio's logarithm.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// The number of degrees of freedom that come from other comparisons.
    pub borrowed: f64,
    /// How many comparisons hold together, at least 1.
    pub family: u32,
    /// 1 - the level at which they do.
    pub alpha: f64,
}

impl Certainty {
    /// An interval of a ratio from `values` values that scatter normally, which holds together with `family` others at
    /// a level of 1 - `alpha`.
    pub(crate) fn of_interval(
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
    /// Values behind it, and blocks in each.
    pub values: (u32, u32),
    /// The least number of blocks that a run needs.
    pub least: u32,
    /// An interval of logarithms that has none of these says that there is a difference.
    pub difference: Range<f64>,
    /// An interval of logarithms that lies within these says that there is none that matters.
    pub equivalence: Range<f64>,
}

/// Values, family, and the bits of the borrowed degrees of freedom and of alpha.
type CriticalKey = (u32, u32, [u64; 2]);

/// Computes chances, and caches intermediate results that comparisons share.
pub struct Outlook<'a> {
    /// The alpha of a new run by its number of blocks / that of this run.
    relative_alpha: &'a dyn Fn(u32) -> f64,
    criticals: RefCell<HashMap<CriticalKey, f64>>,
    scatters: RefCell<HashMap<u64, Vec<f64>>>,
}

/// New runs have the alpha of this one.
pub const SAME_ALPHA: &dyn Fn(u32) -> f64 = &|_| 1.0;

impl<'a> Outlook<'a> {
    /// `relative_alpha`: the alpha of a new run by its number of blocks / that of this run.
    pub fn new(relative_alpha: &'a dyn Fn(u32) -> f64) -> Outlook<'a> {
        Outlook {
            relative_alpha,
            criticals: RefCell::default(),
            scatters: RefCell::default(),
        }
    }

    /// The number of blocks with which a new run decides a comparison with a chance of [`DECIDING_CHANCE`]. `None`:
    /// more than [`MAX_BLOCKS`].
    pub fn blocks(&self, open: &Open) -> Option<u32> {
        let least = open.least.max(1);
        // Without an interval only the number of blocks that one needs is known.
        if !open.certainty.error.is_finite() {
            return (open.least < u32::MAX).then_some(least);
        }
        first(least, MAX_BLOCKS, |blocks| {
            self.chance(open, blocks) >= DECIDING_CHANCE
        })
    }

    /// The chance that a new run of `blocks` blocks resolves a comparison.
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
            .scatters(FREEDOM_SHARE * freedom)
            .into_iter()
            .flat_map(|truth| {
                // The scatter that the run's estimate understates or overstates.
                let deviation = deviation / truth;
                let error = deviation * now.hypot(then);
                of_new_run
                    .iter()
                    .map(move |seen| open.decided(deviation * seen * then * critical, error))
            });
        chances.sum::<f64>() / (SCATTERS * SCATTERS) as f64
    }

    /// Half of a new run's interval, in standard errors as that run sees them.
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

    /// Values of an estimated deviation / the true one, which are equally probable.
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
    /// The chance that an interval of this half width decides, whose center is normal about the estimate.
    fn decided(&self, half: f64, error: f64) -> f64 {
        let below = |x: f64| normal::cdf((x - self.estimate) / error.max(f64::MIN_POSITIVE));
        let (first, last) = (self.difference.start - half, self.difference.end + half);
        let within =
            (self.equivalence.start + half).max(first)..(self.equivalence.end - half).min(last);
        let within = (below(within.end) - below(within.start)).max(0.0);
        1.0 - (below(last) - below(first)) + within
    }
}

/// Half of the width of an interval from `values` values, in standard errors: by flips, or by Student's t
/// where they are too few.
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

/// The least number from `least` to `most` that is enough, where all greater ones are.
pub(crate) fn first(least: u32, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    // Few blocks are enough far more often than many.
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
