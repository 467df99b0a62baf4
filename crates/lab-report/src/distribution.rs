// SPDX-License-Identifier: Apache-2.0
//! How the times of all runs of each command are spread at a point, on one axis for all commands.

use crate::view::View;
use lab_model::{PointId, SubjectId};

/// The eighths of a character cell, from the bottom.
pub const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The times of a point. The axis is logarithmic: equal steps are equal ratios.
pub struct Distribution {
    /// Where the axis begins, ns, more than 0.
    pub low: f64,
    /// Where it ends, ns, more than `low`.
    pub high: f64,
    /// For each command, control included: its times in ns, ascending; at least one.
    pub times: Vec<(SubjectId, Vec<f64>)>,
}

impl Distribution {
    /// Of the complete blocks; `None` where no command was measured.
    ///
    /// The axis spans what lies within three interquartile ranges of a command's quartiles, in
    /// logarithms (the outer fences of J. Tukey, *Exploratory Data Analysis*, 1977): single runs
    /// far out do not squeeze the others.
    pub fn of(view: &View, point: PointId) -> Option<Distribution> {
        let samples = view.run.complete_blocks().flat_map(|b| &b.samples);
        let here: Vec<_> = samples.filter(|s| s.point == point).collect();
        let of_subject = |subject| {
            view.cell(subject, point)?;
            let mine = here.iter().filter(|s| s.subject == subject);
            let per_run =
                |b: &lab_model::Batch| b.wall_ns.max(1) as f64 / b.operations.max(1) as f64;
            let mut times: Vec<f64> = mine.map(|s| per_run(&s.batch)).collect();
            times.sort_by(f64::total_cmp);
            (!times.is_empty()).then_some((subject, times))
        };
        let times: Vec<_> = view.with_controls().filter_map(of_subject).collect();
        let spans = times.iter().map(|(_, times)| fences(times));
        let (low, high) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some(match low < high {
            true => Distribution { low, high, times },
            false => Distribution {
                low: low / 1.01,
                high: high * 1.01,
                times,
            },
        })
    }

    /// How many of some times fall into each of `bins` equal steps; those beyond the ends count in
    /// the outermost.
    pub fn bins(&self, times: &[f64], bins: usize) -> Vec<usize> {
        let mut counts = vec![0; bins];
        for &time in times {
            let bin = (self.place(time) * bins as f64).floor();
            counts[(bin.max(0.0) as usize).min(bins - 1)] += 1;
        }
        counts
    }

    /// Where a time is on the axis: 0 at its beginning, 1 at its end.
    pub fn place(&self, time: f64) -> f64 {
        (time / self.low).ln() / (self.high / self.low).ln()
    }

    /// Runs beyond the ends of the axis, and all runs.
    pub fn beyond(&self) -> (usize, usize) {
        let all = || self.times.iter().flat_map(|(_, times)| times);
        let out = all().filter(|t| **t < self.low || **t > self.high);
        (out.count(), all().count())
    }
}

/// Bars of block characters, the highest for the largest count; a space for none.
pub fn bars(counts: &[usize]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| match count {
        0 => ' ',
        n => EIGHTHS[(n * EIGHTHS.len()).div_ceil(most) - 1],
    };
    counts.iter().map(bar).collect()
}

/// The least and the greatest of ascending times that lie within the outer fences.
fn fences(times: &[f64]) -> (f64, f64) {
    let quartile = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize].ln();
    let (first, third) = (quartile(0.25), quartile(0.75));
    let reach = 3.0 * (third - first);
    let within = |t: &&f64| (first - reach..=third + reach).contains(&t.ln());
    let inner: Vec<f64> = times.iter().filter(within).copied().collect();
    match inner.as_slice() {
        [] => (times[0], times[times.len() - 1]),
        inner => (inner[0], inner[inner.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(times: Vec<f64>) -> Distribution {
        let (low, high) = fences(&times);
        Distribution {
            low,
            high,
            times: vec![(0, times)],
        }
    }

    #[test]
    fn every_run_is_in_one_column_and_far_ones_in_the_outermost() {
        let mut times: Vec<f64> = (0..99).map(|i| 100.0 + f64::from(i)).collect();
        times.push(1e6);
        let spread = alone(times);
        let (_, times) = &spread.times[0];
        assert_eq!((spread.low, spread.high), (100.0, 198.0));
        assert_eq!(spread.beyond(), (1, 100));
        let counts = spread.bins(times, 18);
        assert_eq!(counts.iter().sum::<usize>(), 100);
        assert!(counts[17] > counts[16], "{counts:?}");
    }

    #[test]
    fn bars_show_every_count_that_is_not_zero() {
        assert_eq!(bars(&[0, 1, 800, 400, 0]), " ▁█▄ ");
        assert_eq!(bars(&[0, 0]), "  ");
        assert_eq!(bars(&[1]), "█");
    }
}
