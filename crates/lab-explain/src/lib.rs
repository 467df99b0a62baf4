// SPDX-License-Identifier: Apache-2.0
//! Implements `benchlab explain`: the events per operation of each subject, and the differences
//! between subjects.
//!
//! The driver in lab-bench counts the events. This crate does not start processes.

mod contributions;
mod counting;
mod differences;
mod figures;
mod report;
pub mod wording;

pub use contributions::{Contribution, Source, TimeDifference, time_differences};
pub use counting::{CountFailure, CountedUnit};
pub use differences::{Cause, Difference, OwnCount, SettingDifference, differences};
pub use report::{ExplainReport, document};
