// SPDX-License-Identifier: Apache-2.0
//! The input of reports.

use lab_model::{OnInconclusive, Run};
use lab_stats::between::Between;
use lab_stats::gate::ChangeCondition;
use lab_stats::results::{Results, results};

/// The input for the report of one run.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The run that the report shows.
    pub run: &'a Run,
    /// The analysis of the run's samples.
    pub results: Results,
    /// Other runs. Reports show the imported values of these runs, marked as having no intervals,
    /// but not their measurements.
    pub others: &'a [Run],
    /// The path of the run file as users should see it, or the run's name if the caller has no path.
    pub file: &'a str,
}

impl<'a> Report<'a> {
    /// Analyzes a run from the given file.
    pub fn new(run: &'a Run, file: &'a str) -> Report<'a> {
        Report {
            run,
            results: results(run),
            others: &[],
            file,
        }
    }
}

/// The input for the comparison of two runs.
#[derive(Clone, Copy, Debug)]
pub struct BetweenReport<'a> {
    /// The changes from the first run to the second.
    pub between: &'a Between,
    /// The first and the second run.
    pub runs: [&'a Run; 2],
    /// The paths of both run files as users should see them.
    pub files: [&'a str; 2],
    /// The conditions of gates on the changes.
    pub conditions: &'a [ChangeCondition],
    /// The effect of an inconclusive gate on the exit code.
    pub on_inconclusive: OnInconclusive,
}
