// SPDX-License-Identifier: Apache-2.0
//! The batch at which a fresh process becomes steady: change points and their meaning.
//!
//! Sources: change points by PELT (Killick, Fearnhead & Eckley, *Optimal detection of changepoints with a
//! linear computational cost*, JASA 107, 2012); classes after Barrett et al., *Virtual Machine Warmup Blows
//! Hot and Cold*, OOPSLA 2017. Differences from the latter: a few hundred batches instead of 2000 iterations;
//! logarithms, so that changes count in relation to the time; a change of the mean in noise of a scale that
//! is estimated once; and machines whose speed goes up and down by itself: levels that the second half visits
//! in both directions are all steady.

use crate::order;
use lab_model::WarmUp;

/// The penalty of an added change point: this × ln(batches), in units of the noise's variance. The value of
/// Barrett et al.
const PENALTY: f64 = 15.0;
/// Levels within this of each other, in logarithms, are the same level.
const SAME_LEVEL: f64 = 0.02;
/// A process that is not steady for this part of its batches has no steady state.
const STEADY_PART: f64 = 0.25;
/// The least scale of noise, in logarithms: that of the clock.
const MIN_NOISE: f64 = 0.001;
/// A batch that lies this many scales of noise off its neighbours on both sides is a spike.
const SPIKE: f64 = 5.0;
/// Neighbors on each side that distinguish a spike from a step.
const NEIGHBOURS: usize = 3;

/// How batch times behave, and from when on they are steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The class.
    pub class: WarmUp,
    /// The first batch that is steady, from 0; `None` without a steady state.
    pub steady_from: Option<usize>,
}

/// Classifies the times of one operation, in the order of the batches of a fresh process, in any unit. Single
/// spikes, such as timer interrupts, change nothing. Fewer than 4 batches count as flat.
pub fn classify(times: &[f64]) -> Behaviour {
    if times.len() < 4 {
        return Behaviour {
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

/// The first indices of the segments after the first, in the least costly division of `values`
/// into segments of constant mean, each of at least `least` values: the cost is the sum of squared deviations from
/// the segments' means, plus `penalty` · ln(n) for each change.
pub fn change_points(values: &[f64], penalty: f64, least: usize) -> Vec<usize> {
    let sums = Sums::new(values);
    let penalty = penalty * (values.len() as f64).ln();
    // best[end]: the least cost of values[..end] and the last change before end.
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
        // PELT: a start that is already worse than a change here can never become the best, unless a segment from
        // here would be too short for a while.
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

/// A stretch of batches of one level.
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

fn class_of(segments: &[WarmUpSegment], batches: usize) -> Behaviour {
    let (low, high) = steady_band(segments, batches);
    let steady = |s: &WarmUpSegment| s.mean >= low - SAME_LEVEL && s.mean <= high + SAME_LEVEL;
    let unsteady = segments.iter().rposition(|segment| !steady(segment));
    let from = unsteady.map_or(0, |last| segments[last].end);
    if ((batches - from) as f64) < STEADY_PART * batches as f64 {
        return Behaviour {
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
    Behaviour {
        class,
        steady_from: Some(from),
    }
}

/// The levels that count as steady: that of the last segment, or where the second half goes both
/// up and down, all that it visits.
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

/// The values with spikes replaced by the median of their neighbours. A value that stands off one
/// side only is a step, and the first value is never a spike: it may be the cold one.
fn without_spikes(values: &[f64], noise: f64) -> Vec<f64> {
    let smoothed = |i: usize| {
        let before = order::median(&values[i.saturating_sub(NEIGHBOURS)..i])?;
        let after = &values[i + 1..values.len().min(i + 1 + NEIGHBOURS)];
        let after = order::median(after).unwrap_or(before);
        let is_far_from = |level: f64| (values[i] - level).abs() > (SPIKE * noise).max(SAME_LEVEL);
        let same_side = (values[i] > before) == (values[i] > after);
        (is_far_from(before) && is_far_from(after) && same_side).then_some(0.5 * (before + after))
    };
    (0..values.len())
        .map(|i| smoothed(i).unwrap_or(values[i]))
        .collect()
}

/// The logarithm of a time; times that are not positive numbers count as the least there is.
fn log(time: f64) -> f64 {
    if time.is_finite() {
        time.max(f64::MIN_POSITIVE).ln()
    } else {
        f64::MIN_POSITIVE.ln()
    }
}

/// Running sums, from which the cost of any segment follows at once.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn new(values: &[f64]) -> Sums {
        // Sums are about the median, so that the difference of two sums loses no digits.
        let centre = order::median(values).unwrap_or(0.0);
        let mut sums = vec![(0.0, 0.0)];
        let mut sum = (0.0, 0.0);
        for value in values.iter().map(|value| value - centre) {
            sum = (sum.0 + value, sum.1 + value * value);
            sums.push(sum);
        }
        Sums(sums)
    }

    /// The sum of squared deviations of values[start..end] from their mean.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let sum = self.0[end].0 - self.0[start].0;
        let squares = self.0[end].1 - self.0[start].1;
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}
