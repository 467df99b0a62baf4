// SPDX-License-Identifier: Apache-2.0
//! The unit of work for which events are counted, and the subjects for which counting failed.

use lab_model::{Plan, Work};

/// A subject that could not be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountFailure {
    /// The subject's name.
    pub subject: String,
    /// The label of the point, or `None` if the subject cannot run at all.
    pub point: Option<String>,
    /// The reason, without a period at the end.
    pub reason: String,
}

/// The unit of work to which each count refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedUnit {
    /// One operation of a batch.
    Operation,
    /// One request to a server.
    Request,
    /// One run of a whole command.
    Run,
}

impl CountedUnit {
    /// Returns the unit for a plan.
    pub fn new(plan: &Plan) -> CountedUnit {
        match plan.work {
            Work::Commands(_) => CountedUnit::Run,
            Work::Servers(_) | Work::Load(_) => CountedUnit::Request,
            Work::Batches => CountedUnit::Operation,
        }
    }
}
