// SPDX-License-Identifier: Apache-2.0
//! The work that is counted, and subjects that could not be counted.

use lab_model::Plan;

/// A subject that could not be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountFailure {
    /// Its name.
    pub subject: String,
    /// The label of the point; `None`: the subject cannot run at all.
    pub point: Option<String>,
    /// The reason, without a full stop.
    pub reason: String,
}

/// The piece of work that each figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedUnit {
    /// An operation of a batch.
    Operation,
    /// A request to a server.
    Request,
    /// A run of a whole command.
    Run,
}

impl CountedUnit {
    /// The unit of a plan.
    pub fn new(plan: &Plan) -> CountedUnit {
        match (plan.commands(), plan.serving()) {
            (Some(_), _) => CountedUnit::Run,
            (_, Some(_)) => CountedUnit::Request,
            _ => CountedUnit::Operation,
        }
    }
}
