// SPDX-License-Identifier: Apache-2.0
//! The interface of load generators. Tests have their own implementations.

use crate::driver::context::Stop;
use crate::driver::workload::StepError;
use crate::subject::fault::Fault;
use lab_load::SliceRecord;
use lab_model::{AgentId, ErrorKind, PointId, Slice, SubjectId};
use std::time::Duration;

/// Generates load on one server at one point, over connections that are already open.
pub trait Generator: Send {
    /// Applies load for `length`, and passes every slice to `each` in chronological order. If
    /// `each` returns false, the load stops.
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault>;
}

/// The reason for not applying load, or for ending it early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// Applying load failed. Contains the reason.
    Failed(String),
    /// Agents were lost, and the run cannot continue without them. Contains the reason.
    AgentsLost(String),
}

impl From<LoadFault> for StepError {
    fn from(fault: LoadFault) -> StepError {
        match fault {
            LoadFault::Failed(message) => Fault::Failed("load", message).into(),
            LoadFault::AgentsLost(message) => StepError::Stop(Stop::AgentsLost(message)),
        }
    }
}

/// A report of a generator. It contains a slice of load, notes for the user, or both.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// The slice. It lacks the subject, the point and the server's resource usage.
    pub slice: Option<Slice>,
    /// The first error of each kind in the slice.
    pub errors: Vec<(ErrorKind, String)>,
    /// Notes that the user must see now, one line each.
    pub notes: Vec<String>,
    /// Agents that were lost since the last report, and the reasons.
    pub lost: Vec<(AgentId, String)>,
}

/// Starts load generators, either on this machine or in agents.
pub trait Generators {
    /// Starts a generator for a server and a point in a block, and opens its connections.
    ///
    /// Returns an error if the generator cannot be started.
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault>;
}

/// Returns the first error of each kind in a record. Skips errors whose message only repeats the
/// kind.
pub fn first_errors(record: &SliceRecord) -> Vec<(ErrorKind, String)> {
    let kinds = ErrorKind::ALL.into_iter().zip(&record.words);
    kinds
        .filter_map(|(kind, words)| Some((kind, words.clone()?)))
        .collect()
}
