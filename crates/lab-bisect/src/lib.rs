// SPDX-License-Identifier: Apache-2.0
//! Bisections: the request, the measured commits with their results, and the report.
//!
//! A [`Bisection`] is the content of a file. It holds all results, so the search can be replayed
//! from it after an interruption ([`Bisection::search`]), and its report needs nothing else.
//! `lab-stats` decides which commit is next and when a probe is conclusive. `benchlab` checks out,
//! builds and measures commits.

mod bisection;
mod file;
mod report;
pub mod wording;

pub use bisection::{
    Bisection, BisectionCommit, BisectionRequest, BisectionStep, CommandText, ConfirmedRatio,
    EndsResult, NextMeasurement, ProbeResult, SkippedCommit, StepConfirmation,
};
pub use file::{BisectionFile, FileError};
pub use report::document;
