// SPDX-License-Identifier: Apache-2.0
//! What puts load on a server, as the workload sees it; a test has another one.

use crate::context::Stop;
use crate::fault::Fault;
use crate::workload::StepError;
use lab_load::Record;
use lab_model::{AgentId, ErrorKind, PointId, Slice, SubjectId};
use std::time::Duration;

/// What puts load on one server at one point, its connections open.
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
    /// It cannot be: in words.
    Failed(String),
    /// Agents are gone: all of them, or one where none may be; in a sentence.
    AgentsLost(String),
}

impl From<LoadFault> for StepError {
    fn from(fault: LoadFault) -> StepError {
        match fault {
            LoadFault::Failed(why) => Fault::Failed("load", why).into(),
            LoadFault::AgentsLost(why) => StepError::Stop(Stop::AgentsLost(why)),
        }
    }
}

/// What a generator tells: a slice of load, or something that a reader must know before the next one.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// What happened; whose it is and what the server used the generator does not know.
    pub slice: Option<Slice>,
    /// Its first error of each kind.
    pub errors: Vec<(ErrorKind, String)>,
    /// What a reader must know now, a line each.
    pub notes: Vec<String>,
    /// Agents that were lost meanwhile, and why.
    pub lost: Vec<(AgentId, String)>,
}

/// Starts generators.
pub trait Generators {
    /// One for a server and a point, started in this block, its connections open. Error: it cannot be had.
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault>;
}

/// The first error of each kind in a record, where there is more to say than its kind.
pub fn first_errors(record: &Record) -> Vec<(ErrorKind, String)> {
    let kinds = ErrorKind::ALL.into_iter().zip(&record.words);
    kinds
        .filter_map(|(kind, words)| Some((kind, words.clone()?)))
        .collect()
}
