// SPDX-License-Identifier: Apache-2.0
//! `benchlab explain`: the events that one operation of each subject costs, and where subjects differ in them. The driver
//! counts the events; nothing here starts a process.

mod counting;
mod differences;
mod figures;
mod report;
pub mod wording;

pub use counting::{CountFailure, CountedUnit};
pub use differences::{Cause, Difference, SettingDifference, differences};
pub use report::{ExplainReport, document};
