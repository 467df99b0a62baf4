// SPDX-License-Identifier: Apache-2.0
//! The interface of load generators; a test has one of its own.

use crate::driver::context::Stop;
use crate::driver::workload::StepError;
use crate::subject::fault::Fault;
use lab_load::SliceRecord;
use lab_model::{AgentId, ErrorKind, PointId, Slice, SubjectId};
use std::time::Duration;

/// A generator of load on one server at one point, with its connections open.
pub trait Generator: Send {
    /// Puts load on for a length and tells of every slice of it, in the order of time; `false` stops it.
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault>;
}

/// Why no load, or no more, is put on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// It cannot be put on: why.
    Failed(String),
    /// Agents are gone: all of them, or one where none may be; in a sentence.
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

/// A report of a generator: a slice of load, or a note that the user must see before the next one.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// The slice, without the subject, the point and the server's usage.
    pub slice: Option<Slice>,
    /// The first error of each kind in the slice.
    pub errors: Vec<(ErrorKind, String)>,
    /// Notes that the user must see now, one line each.
    pub notes: Vec<String>,
    /// Agents that were lost meanwhile, and why.
    pub lost: Vec<(AgentId, String)>,
}

/// Starts generators.
pub trait Generators {
    /// Starts one for a server and a point in a block, its connections open. Error: it cannot be started.
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault>;
}

/// The first error of each kind in a record, where there is more to say than its kind.
pub fn first_errors(record: &SliceRecord) -> Vec<(ErrorKind, String)> {
    let kinds = ErrorKind::ALL.into_iter().zip(&record.words);
    kinds
        .filter_map(|(kind, words)| Some((kind, words.clone()?)))
        .collect()
}
