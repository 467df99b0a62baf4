// SPDX-License-Identifier: Apache-2.0
//! Measured runs, logs and histories as documents ([`kind`]), which `lab-document` renders.
//! Pure functions from values to documents: nothing here opens a file, a socket or a process.

pub mod kind;
mod words;

pub use crate::kind::history::{NamedRuns, RunSummary};

use lab_model::Run;
use lab_stats::between::Between;
use lab_stats::results::{Results, results};

/// What a report of a run is made from.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The run.
    pub run: &'a Run,
    /// What its samples say.
    pub results: Results,
    /// Runs whose imported figures are shown beside this one's, marked as having no intervals. Their
    /// own measurements are not shown.
    pub others: &'a [Run],
    /// Where the run file is, for people; the run's name if the caller has nothing better.
    pub file: &'a str,
}

impl<'a> Report<'a> {
    /// Of a run, which it analyses, in a file of that name.
    pub fn new(run: &'a Run, file: &'a str) -> Report<'a> {
        Report {
            run,
            results: results(run),
            others: &[],
            file,
        }
    }
}

/// What a report on two runs is made from.
#[derive(Clone, Copy, Debug)]
pub struct BetweenReport<'a> {
    /// What changed from the first to the second.
    pub between: &'a Between,
    /// The first and the second.
    pub runs: [&'a Run; 2],
    /// Where their files are, for people.
    pub files: [&'a str; 2],
}
