// SPDX-License-Identifier: Apache-2.0
//! Detects the batch at which a fresh process becomes steady, using change points.
//!
//! Sources: change points by PELT (Killick, Fearnhead & Eckley, *Optimal detection of changepoints
//! with a linear computational cost*, JASA 107, 2012); classes after Barrett et al., *Virtual
//! Machine Warmup Blows Hot and Cold*, OOPSLA 2017. Differences from Barrett et al.:
//!
//! - A few hundred batches are used instead of 2000 iterations.
//! - Times are converted to logarithms, so that changes are relative to the time.
//! - Only changes of the mean are detected. The scale of the noise is estimated once.
//! - The speed of some machines goes up and down on its own. If the second half of the batches
//!   moves in both directions, all levels in that half are steady.

use crate::order;
use lab_model::WarmUp;

/// The penalty of each change point, as a multiple of ln(batches) times the variance of the noise.
///
/// Source of the value: Barrett et al.
const PENALTY: f64 = 15.0;
/// The maximum difference between the logarithms of two levels that count as the same level.
const SAME_LEVEL: f64 = 0.02;
/// The minimum fraction of batches in which a process must be steady to have a steady state.
const MIN_STEADY_FRACTION: f64 = 0.25;
/// The minimum scale of noise, in logarithms: the noise of the clock.
const MIN_NOISE: f64 = 0.001;
/// The minimum difference, in noise scales, between a spike and its neighbors on both sides.
const SPIKE: f64 = 5.0;
/// The number of neighbors on each side with which a value is compared to distinguish a spike from
/// a step.
const NEIGHBORS: usize = 3;

/// The warm-up class of a process, and its first steady batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behavior {
    /// The class of the process's warm-up.
    pub class: WarmUp,
    /// The index of the first steady batch. `None` means that there is no steady state.
    pub steady_from: Option<usize>,
}

/// Classifies the batch times of a fresh process.
///
/// The times are per operation, in chronological order and in any unit. Single spikes, such as
/// timer interrupts, are ignored. Fewer than 4 batches count as flat.
pub fn classify(times: &[f64]) -> Behavior {
    if times.len() < 4 {
        return Behavior {
            class: WarmUp::Flat,
            steady_from: Some(0),
        };
    }
    let logs: Vec<f64> = times.iter().map(|&time| log(time)).collect();
    let noise = noise(&logs);
    let calm = without_spikes(&logs, noise);
    let segments = segments(&calm, &change_points(&calm, PENALTY * noise * noise, 1));
    class_of(&segments, times.len())
}

/// Returns the start of each segment after the first, for the division of `values` into segments
/// that has the lowest cost.
///
/// Each segment has a constant mean and at least `least` values. The cost is the sum of squared
/// deviations from the segments' means, plus `penalty` · ln(n) for each change.
pub fn change_points(values: &[f64], penalty: f64, least: usize) -> Vec<usize> {
    let sums = Sums::new(values);
    let penalty = penalty * (values.len() as f64).ln();
    // best[end] is the lowest cost of values[..end] together with the last change before `end`.
    let mut best = vec![(-penalty, 0)];
    let mut candidates = vec![0];
    for end in 1..=values.len() {
        let cost = |start: usize| best[start].0 + sums.cost(start, end);
        let long = |start: &&usize| end - **start >= least;
        let costs = candidates.iter().filter(long).map(|&at| (cost(at), at));
        let found = costs.fold(
            (f64::INFINITY, 0),
            |best, one| {
                if one.0 < best.0 { one } else { best }
            },
        );
        // PELT: a start that is already worse than a change here can never become the best. This
        // does not hold if segments have a minimum length, because a segment from here may be too
        // short for some time.
        if least == 1 {
            candidates.retain(|&start| best[start].0 + sums.cost(start, end) <= found.0 + penalty);
        }
        best.push((found.0 + penalty, found.1));
        candidates.push(end);
    }
    let mut changes: Vec<usize> =
        std::iter::successors(Some(best[values.len()].1), |&at| Some(best[at].1))
            .take_while(|&at| at > 0)
            .collect();
    changes.reverse();
    changes
}

/// Consecutive batches whose times are at one level.
struct WarmUpSegment {
    start: usize,
    end: usize,
    mean: f64,
}

fn segments(values: &[f64], changes: &[usize]) -> Vec<WarmUpSegment> {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain(std::iter::once(values.len()));
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    starts
        .zip(ends)
        .map(|(start, end)| WarmUpSegment {
            start,
            end,
            mean: mean(&values[start..end]),
        })
        .collect()
}

fn class_of(segments: &[WarmUpSegment], batches: usize) -> Behavior {
    let (low, high) = steady_band(segments, batches);
    let steady = |s: &WarmUpSegment| s.mean >= low - SAME_LEVEL && s.mean <= high + SAME_LEVEL;
    let unsteady = segments.iter().rposition(|segment| !steady(segment));
    let from = unsteady.map_or(0, |last| segments[last].end);
    if ((batches - from) as f64) < MIN_STEADY_FRACTION * batches as f64 {
        return Behavior {
            class: WarmUp::NoSteadyState,
            steady_from: None,
        };
    }
    let before = segments.iter().filter(|segment| !steady(segment));
    let excess: f64 = before
        .map(|s| ((s.mean - high).max(0.0) + (s.mean - low).min(0.0)) * (s.end - s.start) as f64)
        .sum();
    let class = match from {
        0 => WarmUp::Flat,
        _ if excess > 0.0 => WarmUp::Warming,
        _ => WarmUp::Slowing,
    };
    Behavior {
        class,
        steady_from: Some(from),
    }
}

/// Returns the range of levels that count as steady.
///
/// Usually, this is the level of the last segment. If the times in the second half go both up and
/// down, the range spans all levels of the second half.
fn steady_band(segments: &[WarmUpSegment], batches: usize) -> (f64, f64) {
    let late: Vec<f64> = segments
        .iter()
        .filter(|s| 2 * s.start >= batches)
        .map(|s| s.mean)
        .collect();
    let last = segments[segments.len() - 1].mean;
    let steps = || late.windows(2).map(|two| two[1] - two[0]);
    let wanders = steps().any(|step| step > SAME_LEVEL) && steps().any(|step| step < -SAME_LEVEL);
    if !wanders {
        return (last, last);
    }
    late.iter().fold((last, last), |(low, high), &mean| {
        (low.min(mean), high.max(mean))
    })
}

fn noise(values: &[f64]) -> f64 {
    order::scatter_of_steps(values).max(MIN_NOISE)
}

/// Returns the values with each spike replaced by the median of its neighbors.
///
/// A value that differs only from the neighbors on one side is a step. The first value is never a
/// spike, because the process may be cold.
fn without_spikes(values: &[f64], noise: f64) -> Vec<f64> {
    let smoothed = |i: usize| {
        let before = order::median(&values[i.saturating_sub(NEIGHBORS)..i])?;
        let after = &values[i + 1..values.len().min(i + 1 + NEIGHBORS)];
        let after = order::median(after).unwrap_or(before);
        let is_far_from = |level: f64| (values[i] - level).abs() > (SPIKE * noise).max(SAME_LEVEL);
        let same_side = (values[i] > before) == (values[i] > after);
        (is_far_from(before) && is_far_from(after) && same_side).then_some(0.5 * (before + after))
    };
    (0..values.len())
        .map(|i| smoothed(i).unwrap_or(values[i]))
        .collect()
}

/// Returns the logarithm of a time.
///
/// A time that is not a positive number counts as the smallest positive number.
fn log(time: f64) -> f64 {
    if time.is_finite() {
        time.max(f64::MIN_POSITIVE).ln()
    } else {
        f64::MIN_POSITIVE.ln()
    }
}

/// Running sums from which the cost of any segment is computed in constant time.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn new(values: &[f64]) -> Sums {
        // Values are centered on the median, so that differences of sums do not lose digits.
        let center = order::median(values).unwrap_or(0.0);
        let mut sums = vec![(0.0, 0.0)];
        let mut sum = (0.0, 0.0);
        for value in values.iter().map(|value| value - center) {
            sum = (sum.0 + value, sum.1 + value * value);
            sums.push(sum);
        }
        Sums(sums)
    }

    /// Returns the sum of squared deviations of values[start..end] from their mean.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let sum = self.0[end].0 - self.0[start].0;
        let squares = self.0[end].1 - self.0[start].1;
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}
