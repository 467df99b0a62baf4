// SPDX-License-Identifier: Apache-2.0
//! Finds lasting changes in the history of a metric over many runs.
//!
//! The changes are change points. Their penalty limits how often a history without any change
//! appears to contain a change.
//!
//! Without a change, every order of the runs is equally likely. The penalty of a change point is
//! therefore chosen so that at most a fraction `alpha` of random permutations of the values show a
//! change. This requires neither normally distributed values nor an estimate of their spread. The
//! method does not cover values that depend on earlier values.
//!
//! Sources: change points by PELT ([`change_points`]) with at least two runs in a segment, since a
//! single outlier is not a lasting change; the permutation test of Matteson & James, *A
//! nonparametric approach for multiple change point analysis of multivariate data*, JASA 109
//! (2014), applied to histories of benchmarks by Daly et al., *The use of change point detection to
//! identify software performance regressions*, ICPE 2020; a penalty that controls the level without
//! changes as in Frick, Munk & Sieling, *Multiscale change point inference*, JRSS B 76 (2014).

use crate::bootstrap::SplitMix64;
use crate::normal;
use crate::warmup::change_points;
use lab_model::Interval;

/// The minimum number of runs in a segment.
const MIN_RUNS: usize = 2;

/// The minimum number of random orders, and the number of random orders that are expected to exceed
/// the penalty.
const ORDERS: (usize, f64) = (999, 25.0);

/// Returns the minimum number of runs with which a change can be found at level `1 - alpha`, if
/// half of the runs are on each side of the change.
pub fn runs_needed(alpha: f64) -> usize {
    let orders = |n: usize| (1..=n / 2).fold(1.0, |c, i| c * (n - n / 2 + i) as f64 / i as f64);
    (2 * MIN_RUNS..1000)
        .find(|&n| 2.0 / orders(n) <= alpha)
        .unwrap_or(1000)
}

/// Returns the index of the first value after each change.
///
/// At most a fraction `alpha` of histories without a change return an index. The result is empty
/// for fewer values than [`runs_needed`].
pub fn shifts(values: &[f64], alpha: f64) -> Vec<usize> {
    let n = values.len();
    let spread = values.iter().any(|v| *v != values[0]);
    if n < runs_needed(alpha) || !spread || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    // Convert the values to units of the history's standard deviation.
    let mean = values.iter().sum::<f64>() / n as f64;
    let scale = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let values: Vec<f64> = values.iter().map(|v| (v - mean) / scale).collect();
    let changes =
        |values: &[f64], penalty: f64| change_points(values, penalty / (n as f64).ln(), MIN_RUNS);
    let has_changes = |values: &[f64], penalty: f64| !changes(values, penalty).is_empty();
    let own_penalty = greatest_penalty(n, |penalty| has_changes(&values, penalty));
    let Some(others) = in_other_orders(&values, alpha, |order| has_changes(order, own_penalty))
    else {
        return Vec::new();
    };
    // Further changes must be as large as the first, and larger than the changes in most random
    // orders.
    let most = (alpha * others.len() as f64) as usize;
    let penalty = greatest_penalty(n, |penalty| {
        others
            .iter()
            .filter(|order| has_changes(order, penalty))
            .count()
            > most
    });
    changes(&values, penalty.min(own_penalty))
}

/// Draws random orders of the values and returns them.
///
/// Returns `None` as soon as `shows` is true for more than a fraction `alpha` of the orders,
/// including the observed order.
fn in_other_orders(
    values: &[f64],
    alpha: f64,
    shows: impl Fn(&[f64]) -> bool,
) -> Option<Vec<Vec<f64>>> {
    let orders = ORDERS.0.max((ORDERS.1 / alpha) as usize);
    // The observed order counts as one of the orders.
    let most = (alpha * (orders + 1) as f64) as usize;
    let mut random = SplitMix64::new(values.len() as u64);
    let (mut all, mut as_great) = (Vec::new(), 1);
    for _ in 0..orders {
        let mut order = values.to_vec();
        for i in (1..order.len()).rev() {
            order.swap(i, random.next_below(i + 1));
        }
        as_great += usize::from(shows(&order));
        if as_great > most {
            return None;
        }
        all.push(order);
    }
    Some(all)
}

/// Returns the largest penalty with which a change is still found, accurate to a thousandth of the
/// total sum of squares.
fn greatest_penalty(sum: usize, has_changes: impl Fn(f64) -> bool) -> f64 {
    let (mut with, mut without) = (0.0, sum as f64 * 1.001);
    for _ in 0..10 {
        let middle = 0.5 * (with + without);
        if has_changes(middle) {
            with = middle;
        } else {
            without = middle;
        }
    }
    with
}

/// A lasting change in the history of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryShift {
    /// The index of the first value after the change.
    pub at: usize,
    /// The mean of the values between the previous change and this change. It is the geometric
    /// mean, or the arithmetic mean if a value of the history is 0.
    pub before: f64,
    /// The mean of the values between this change and the next change, of the same kind as
    /// `before`.
    pub after: f64,
    /// `after / before` with an interval from Student's t. The spread is estimated from the
    /// deviations of all values from the means between changes. `None` if a value of the history is
    /// 0, because it then has no ratio to other values.
    pub change: Option<Interval>,
}

/// Returns the changes of each series of one history.
///
/// If nothing changed, the probability that any series shows a change is at most `alpha`.
pub fn of_history(series: &[Vec<f64>], alpha: f64) -> Vec<Vec<HistoryShift>> {
    let alpha = alpha_per_series(series, alpha);
    let of_series = |values: &Vec<f64>| history_shifts(values, alpha);
    series.iter().map(of_series).collect()
}

/// Returns the changes of one series, whose values are not negative.
///
/// Values are compared by their ratios. If one of them is 0, which has no logarithm, they are
/// compared by their differences.
fn history_shifts(values: &[f64], alpha: f64) -> Vec<HistoryShift> {
    let has_ratios = values.iter().all(|value| *value > 0.0);
    let scaled: Vec<f64> = match has_ratios {
        true => values.iter().map(|value| value.ln()).collect(),
        false => values.to_vec(),
    };
    let unscaled = |mean: f64| if has_ratios { mean.exp() } else { mean };
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let found = shifts(&scaled, alpha);
    let starts = || [0].into_iter().chain(found.iter().copied());
    let parts = starts().zip(found.iter().copied().chain([scaled.len()]));
    let squares: f64 = parts
        .map(|(start, end)| {
            let part = &scaled[start..end];
            let mean = mean(part);
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        })
        .sum();
    let freedom = (scaled.len() as f64 - found.len() as f64 - 1.0).max(1.0);
    let spread = (squares / freedom).sqrt();
    let ends = found.iter().copied().skip(1).chain([scaled.len()]);
    let all = found.iter().zip(ends).zip(starts());
    all.map(|((&at, end), start)| {
        let (before, after) = (mean(&scaled[start..at]), mean(&scaled[at..end]));
        let (before, after) = (unscaled(before), unscaled(after));
        let error = spread * (1.0 / (at - start) as f64 + 1.0 / (end - at) as f64).sqrt();
        let half = error * normal::student_upper_quantile(freedom, alpha / 2.0);
        let estimate = after / before;
        HistoryShift {
            at,
            before,
            after,
            change: has_ratios.then(|| Interval {
                estimate,
                low: estimate * (-half).exp(),
                high: estimate * half.exp(),
                level: 1.0 - alpha,
            }),
        }
    })
    .collect()
}

/// Returns the minimum number of runs with which [`of_history`] finds a change in a series.
pub fn runs_needed_per_series(series: &[Vec<f64>], alpha: f64) -> usize {
    runs_needed(alpha_per_series(series, alpha))
}

/// Returns the minimum number of runs for finding a change, or `None` if some series is long
/// enough.
pub fn too_few(series: &[Vec<f64>], alpha: f64) -> Option<usize> {
    let needed = runs_needed_per_series(series, alpha);
    series
        .iter()
        .all(|values| values.len() < needed)
        .then_some(needed)
}

/// Returns the alpha of each series (Bonferroni).
fn alpha_per_series(series: &[Vec<f64>], alpha: f64) -> f64 {
    alpha / series.len().max(1) as f64
}
