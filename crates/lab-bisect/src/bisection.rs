// SPDX-License-Identifier: Apache-2.0
//! A bisection: the request, the commits, and all results so far.

use lab_stats::bisection::{
    BisectedMetric, BisectionSearch, Ends, FoundChange, HalfChange, Judgment, LogInterval,
    NextStep, Segment, error_parts, min_change,
};
use serde::{Deserialize, Serialize};

/// The state of a bisection, which its directory stores in `bisection.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// The options of the command line.
    pub request: BisectionRequest,
    /// The version of benchlab that started the bisection.
    pub benchlab_version: String,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// A description of the machine.
    pub host: String,
    /// The commits in order, from the good commit to the bad commit.
    pub commits: Vec<BisectionCommit>,
    /// The results so far, in chronological order.
    pub steps: Vec<BisectionStep>,
}

/// The options with which the user started a bisection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BisectionRequest {
    /// The name of the measured command, such as the program's name.
    pub name: String,
    /// The absolute path of the directory where the command runs, in the repository.
    pub folder: String,
    /// The good revision, as written by the user.
    pub good: String,
    /// The bad revision, as written by the user.
    pub bad: String,
    /// The measured command, as written by the user.
    pub command: CommandText,
    /// The command that builds a commit.
    pub setup: Option<String>,
    /// The command that runs before each process.
    pub prepare: Option<String>,
    /// The command that runs after the last process of a measurement.
    pub cleanup: Option<String>,
    /// The file for standard input.
    pub input: Option<String>,
    /// The metric by which commits are compared.
    pub metric: BisectedMetric,
    /// The smallest relative change to search for, such as 0.02 for 2 %. If the ends differ by less
    /// than three times the margin, the search uses a third of their difference instead.
    pub margin: f64,
    /// The allowed probability of a wrong result, from 0 to 1.
    pub alpha: f64,
    /// The maximum duration of each measurement, in ns.
    pub budget_ns: u64,
    /// The maximum time of one process, in ns.
    pub time_limit_ns: u64,
    /// The maximum number of repetitions of a disturbed block.
    pub redo: u32,
    /// The seed for the order of turns.
    pub seed: u64,
}

/// A command in the form in which the user specified it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandText {
    /// A line for a shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// A commit in the range of the bisection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BisectionCommit {
    /// The full hash.
    pub id: String,
    /// A unique prefix of the hash.
    pub short: String,
    /// The first line of the message.
    pub subject: String,
}

/// A completed step of a bisection, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum BisectionStep {
    /// Both ends were compared.
    Ends(EndsResult),
    /// A commit was compared with both ends of its range.
    Probe(ProbeResult),
    /// A commit cannot be measured.
    Skipped(SkippedCommit),
    /// The measurement of a detected change was repeated.
    Confirmed(StepConfirmation),
}

/// The result of comparing both ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndsResult {
    /// The number of analyzed blocks. Each block measured both ends.
    pub blocks: u32,
    /// The decision about the ends, or [`Ends::Open`] if the decision requires more blocks.
    pub judgment: Ends,
    /// The natural logarithm of the bad commit's value divided by the good commit's value.
    pub log_ratio: LogInterval,
}

/// The result of a probe, which compares a commit with both ends of its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// The index of the measured commit before the range.
    pub low: usize,
    /// The index of the last commit of the range, which is also measured.
    pub high: usize,
    /// The index of the probed commit, which is between `low` and `high`.
    pub at: usize,
    /// The number of analyzed blocks. Each block measured `low`, `at` and `high`.
    pub blocks: u32,
    /// The decisions about the half of the range before the commit and the half after it.
    pub judgment: Judgment,
}

/// A commit that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedCommit {
    /// The index of the commit.
    pub commit: usize,
    /// The stage that failed: `checkout` or `setup`, or else the kind of the command's failure.
    pub kind: String,
    /// The error, followed by the last lines that the command wrote.
    pub message: String,
}

/// A change that was measured again, with new data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepConfirmation {
    /// The index of the commit before the change.
    pub low: usize,
    /// The index of the commit after the change.
    pub high: usize,
    /// The number of blocks of the new measurement, or 0 if a commit could not be measured again.
    pub blocks: u32,
    /// The value after the change divided by the value before it. `None` if a commit could not be
    /// measured again.
    pub ratio: Option<ConfirmedRatio>,
    /// The decision about the change, or [`HalfChange::Open`] if the decision requires more blocks.
    /// `None` if a commit could not be measured again.
    #[serde(default)]
    pub change: Option<HalfChange>,
    /// The lines of `git show --stat`. Empty if more than one commit may have caused the change.
    pub stat: Vec<String>,
    /// The number of parents of the commit. A merge has more than one parent.
    pub parents: usize,
}

impl StepConfirmation {
    /// Returns true if the new measurement shows a change: its interval excludes 1.
    pub fn is_confirmed(&self) -> bool {
        self.ratio.is_some_and(|r| r.low > 1.0 || r.high < 1.0)
    }

    /// Returns true if the new measurement shows neither that there is a change nor that there is
    /// none. More time may then help.
    pub fn is_open(&self) -> bool {
        self.change == Some(HalfChange::Open) && !self.is_confirmed()
    }
}

/// A ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfirmedRatio {
    /// The estimated ratio.
    pub estimate: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The confidence level of the interval, from 0 to 1.
    pub level: f64,
}

/// The measurement that a bisection needs next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextMeasurement {
    /// Compare both ends.
    Ends {
        /// The allowed error probability.
        alpha: f64,
    },
    /// Compare a commit with both ends of its range.
    Probe {
        /// The range that the commit splits.
        segment: Segment,
        /// The index of the commit.
        at: usize,
        /// The allowed error probability.
        alpha: f64,
        /// The smallest change to search for, as the natural logarithm of a ratio.
        min_change: f64,
    },
    /// Repeat the measurement of a change that was found.
    Confirm(FoundChange),
    /// The bisection is complete.
    Done,
}

impl Bisection {
    /// Returns the result of comparing both ends, or `None` if they have not been compared.
    pub fn ends(&self) -> Option<&EndsResult> {
        self.steps.iter().rev().find_map(|step| match step {
            BisectionStep::Ends(ends) => Some(ends),
            _ => None,
        })
    }

    /// Returns all probes, in chronological order.
    pub fn probes(&self) -> impl Iterator<Item = &ProbeResult> {
        self.steps.iter().filter_map(|step| match step {
            BisectionStep::Probe(probe) => Some(probe),
            _ => None,
        })
    }

    /// Returns the commits that cannot be measured, in chronological order.
    pub fn skipped(&self) -> impl Iterator<Item = &SkippedCommit> {
        self.steps.iter().filter_map(|step| match step {
            BisectionStep::Skipped(skipped) => Some(skipped),
            _ => None,
        })
    }

    /// Returns the confirmations of changes, in the order of their commits.
    pub fn confirmed(&self) -> Vec<&StepConfirmation> {
        let confirmed = self.steps.iter().filter_map(|step| match step {
            BisectionStep::Confirmed(confirmation) => Some(confirmation),
            _ => None,
        });
        let mut confirmed: Vec<_> = confirmed.collect();
        confirmed.sort_by_key(|c| c.low);
        confirmed
    }

    /// Replays the search from all results. Returns `None` if the ends are not known to differ.
    ///
    /// The order in which probes were measured does not matter, because a probe is identified by
    /// its range and commit.
    pub fn search(&self) -> Option<BisectionSearch> {
        self.ends().filter(|ends| ends.judgment == Ends::Differ)?;
        let last = self.commits.len() - 1;
        let (_, alpha) = error_parts(last, self.request.alpha);
        let mut search = BisectionSearch::new(last, alpha);
        while let NextStep::Probe { segment, at, .. } = search.next_step() {
            if self.skipped().any(|skipped| skipped.commit == at) {
                search.skip(at);
                continue;
            }
            let is_same =
                |p: &&ProbeResult| (p.low, p.high, p.at) == (segment.low, segment.high, at);
            match self.probes().filter(is_same).last() {
                Some(probe) => search.judged(&probe.judgment),
                None => break,
            }
        }
        Some(search)
    }

    /// Returns the next measurement.
    pub fn next(&self) -> NextMeasurement {
        let (ends_alpha, _) = error_parts(self.commits.len() - 1, self.request.alpha);
        let Some(ends) = self.ends() else {
            return NextMeasurement::Ends { alpha: ends_alpha };
        };
        let Some(search) = self.search() else {
            return NextMeasurement::Done;
        };
        if let NextStep::Probe { segment, at, alpha } = search.next_step() {
            let min_change = min_change(ends.log_ratio.estimate, self.request.margin);
            return NextMeasurement::Probe {
                segment,
                at,
                alpha,
                min_change,
            };
        }
        let confirmed = self.confirmed();
        let is_confirmed = |found: &FoundChange| {
            confirmed
                .iter()
                .any(|c| (c.low, c.high) == (found.low, found.high))
        };
        match search
            .found()
            .into_iter()
            .find(|found| !is_confirmed(found))
        {
            Some(found) => NextMeasurement::Confirm(found),
            None => NextMeasurement::Done,
        }
    }

    /// Returns true if a measurement was inconclusive. More time may then help.
    pub fn is_inconclusive(&self) -> bool {
        let ends = self.ends().is_some_and(|ends| ends.judgment == Ends::Open);
        ends || self.probes().any(|probe| !probe.judgment.is_decided())
            || self.confirmed().iter().any(|c| c.is_open())
    }

    /// Removes inconclusive results, so that their measurements continue.
    pub fn reopen(&mut self) {
        self.steps.retain(|step| match step {
            BisectionStep::Ends(ends) => ends.judgment != Ends::Open,
            BisectionStep::Probe(probe) => probe.judgment.is_decided(),
            BisectionStep::Confirmed(confirmation) => !confirmation.is_open(),
            BisectionStep::Skipped(_) => true,
        });
    }

    /// Returns true if all indexes are valid. Indexes can be invalid if someone edited the file.
    pub fn is_sound(&self) -> bool {
        let commits = self.commits.len();
        let holds = |step: &BisectionStep| match step {
            BisectionStep::Ends(_) => true,
            BisectionStep::Probe(p) => p.low < p.at && p.at < p.high && p.high < commits,
            BisectionStep::Skipped(s) => s.commit < commits,
            BisectionStep::Confirmed(c) => c.low < c.high && c.high < commits,
        };
        commits >= 2 && self.steps.iter().all(holds)
    }
}
