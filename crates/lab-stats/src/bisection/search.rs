// SPDX-License-Identifier: Apache-2.0
//! Chooses the next commit of a range to measure.
//!
//! The search proceeds level by level. It starts with the whole range, continues with the halves
//! that changed, and so on. Each level gets an equal part of the remaining error probability, which
//! is divided equally among the ranges of the level. A range is known before its probe is measured,
//! so the union bound holds over all probes, regardless of the number of changes.

use super::judgment::{HalfChange, Judgment};
use serde::Serialize;
use std::collections::{BTreeSet, VecDeque};

/// A range of commits between two measured commits.
///
/// Commits are numbered in order, and the good commit is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Segment {
    /// The measured commit before the range.
    pub low: usize,
    /// The last commit of the range, which is also measured.
    pub high: usize,
}

/// A detected change. A commit after `low`, up to and including `high`, caused it.
pub type FoundChange = Segment;

/// The next step of a search for changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextStep {
    /// Measure a commit in turns with both ends of a range.
    Probe {
        /// The range that the commit splits.
        segment: Segment,
        /// The index of the commit to measure.
        at: usize,
        /// The allowed error probability of the probe.
        alpha: f64,
    },
    /// The search is complete.
    Done,
}

/// A search for the commits that changed the time, after the ends are known to differ.
#[derive(Clone, Debug)]
pub struct BisectionSearch {
    alpha_left: f64,
    alpha_each: f64,
    skipped: BTreeSet<usize>,
    level: VecDeque<Segment>,
    next_level: Vec<Segment>,
    found: Vec<FoundChange>,
    gradual: Vec<Segment>,
    open: Vec<Segment>,
}

/// Returns the maximum number of probes needed to find a single change among `commits` commits, if
/// all of them build.
pub fn max_probes(commits: usize) -> u32 {
    usize::BITS - commits.saturating_sub(1).leading_zeros()
}

/// Divides the allowed error probability between the comparison of the ends and all probes, in this
/// order.
///
/// `commits` is the number of commits after the good commit.
pub fn error_parts(commits: usize, alpha: f64) -> (f64, f64) {
    let levels = f64::from(max_probes(commits));
    let of_ends = alpha / (levels + 1.0);
    (of_ends, alpha - of_ends)
}

impl BisectionSearch {
    /// Creates a search over commits 0 to `last`. Commit 0 is good, and commit `last` is bad.
    ///
    /// `alpha` is the allowed error probability of all probes together.
    pub fn new(last: usize, alpha: f64) -> BisectionSearch {
        let mut search = BisectionSearch {
            alpha_left: alpha,
            alpha_each: 0.0,
            skipped: BTreeSet::new(),
            level: VecDeque::new(),
            next_level: vec![Segment { low: 0, high: last }],
            found: Vec::new(),
            gradual: Vec::new(),
            open: Vec::new(),
        };
        search.advance();
        search
    }

    /// Returns the commit to probe next, or [`NextStep::Done`] if the search is complete.
    pub fn next_step(&self) -> NextStep {
        match self.level.front() {
            Some(&segment) => NextStep::Probe {
                segment,
                at: self.choose(segment),
                alpha: self.alpha_each,
            },
            None => NextStep::Done,
        }
    }

    /// Records the judgment of the commit that [`BisectionSearch::next_step`] returned.
    ///
    /// The search does not continue in a half without a decision.
    pub fn judged(&mut self, judgment: &Judgment) {
        let NextStep::Probe { segment, at, .. } = self.next_step() else {
            return;
        };
        self.level.pop_front();
        let low = Segment {
            high: at,
            ..segment
        };
        let high = Segment { low: at, ..segment };
        let halves = [(low, judgment.before.change), (high, judgment.after.change)];
        let is_open = halves.iter().all(|(_, change)| *change == HalfChange::Open);
        for (half, change) in halves {
            match change {
                HalfChange::Changed => self.next_level.push(half),
                HalfChange::Unchanged => {}
                HalfChange::Open if is_open => {}
                HalfChange::Open => self.open.push(half),
            }
        }
        if is_open {
            self.open.push(segment);
        }
        if halves
            .iter()
            .all(|(_, change)| *change == HalfChange::Unchanged)
        {
            self.gradual.push(segment);
        }
        self.advance();
    }

    /// Records that a commit cannot be measured.
    pub fn skip(&mut self, commit: usize) {
        self.skipped.insert(commit);
        self.collect_found();
        self.advance();
    }

    /// Returns the changes found so far, in the order of commits.
    pub fn found(&self) -> Vec<FoundChange> {
        sorted(&self.found)
    }

    /// Returns the ranges that changed although neither half of the range changed by at least the
    /// smallest change of interest.
    pub fn gradual(&self) -> Vec<Segment> {
        sorted(&self.gradual)
    }

    /// Returns the ranges for which there is no decision.
    pub fn open(&self) -> Vec<Segment> {
        sorted(&self.open)
    }

    /// Returns the commits that cannot be measured.
    pub fn skipped(&self) -> &BTreeSet<usize> {
        &self.skipped
    }

    /// Returns the commits that later steps may still need.
    pub fn needed(&self) -> BTreeSet<usize> {
        let waiting = self.level.iter().chain(&self.next_level);
        let all = waiting.chain(&self.found);
        all.flat_map(|segment| [segment.low, segment.high])
            .collect()
    }

    /// Returns the maximum number of remaining probes, if no further commit is skipped and each
    /// range contains one change.
    pub fn probes_left(&self) -> u32 {
        let waiting = self.level.iter().chain(&self.next_level);
        waiting
            .map(|segment| max_probes(self.testable(*segment).len() + 1))
            .sum()
    }

    /// Starts the next level when the current level is complete.
    fn advance(&mut self) {
        if !self.level.is_empty() {
            return;
        }
        self.level = std::mem::take(&mut self.next_level).into();
        self.collect_found();
        let levels = self
            .level
            .iter()
            .map(|segment| max_probes(self.testable(*segment).len() + 1))
            .max();
        if let Some(levels) = levels {
            let of_level = self.alpha_left / f64::from(levels.max(1));
            self.alpha_left -= of_level;
            // Open ranges may be decided later, if there is more time.
            self.alpha_each = of_level / (self.level.len() + 2 * self.open.len()) as f64;
        }
    }

    /// Adds the ranges in which no commit is left to measure to the changes found.
    fn collect_found(&mut self) {
        let (done, rest): (Vec<Segment>, Vec<Segment>) = std::mem::take(&mut self.level)
            .into_iter()
            .partition(|segment| self.testable(*segment).is_empty());
        self.found.extend(done);
        self.level = rest.into();
    }

    /// Returns the commits inside a range that may be measured.
    fn testable(&self, segment: Segment) -> Vec<usize> {
        let inner = segment.low + 1..segment.high;
        inner.filter(|at| !self.skipped.contains(at)).collect()
    }

    /// Chooses the middle commit of the range, if no commit of the range was skipped.
    ///
    /// After each skipped commit of the range, the choice moves to another fraction of the range
    /// (van der Corput's sequence), because the neighbors of a commit that does not build often do
    /// not build either.
    fn choose(&self, segment: Segment) -> usize {
        let testable = self.testable(segment);
        let inner = segment.low + 1..segment.high;
        let skipped = inner.filter(|at| self.skipped.contains(at)).count();
        let index = (testable.len() as f64 * van_der_corput(skipped + 1)) as usize;
        testable[index.min(testable.len() - 1)]
    }
}

/// Returns 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 … for 1, 2, 3 ….
fn van_der_corput(mut index: usize) -> f64 {
    let (mut value, mut fraction) = (0.0, 0.5);
    while index > 0 {
        value += fraction * (index % 2) as f64;
        index /= 2;
        fraction *= 0.5;
    }
    value
}

fn sorted(segments: &[Segment]) -> Vec<Segment> {
    let mut sorted = segments.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_commits_are_avoided_from_far_away() {
        let fractions = [1, 2, 3, 4, 5].map(van_der_corput);
        assert_eq!(fractions, [0.5, 0.25, 0.75, 0.125, 0.625]);
    }
}
