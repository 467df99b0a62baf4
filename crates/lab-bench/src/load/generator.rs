// SPDX-License-Identifier: Apache-2.0
//! What puts load on a server, as the workload sees it; a test has another one.

use lab_load::Record;
use lab_model::{AgentId, ErrorKind, PointId, Slice, SubjectId};
use std::time::Duration;

/// What puts load on one server at one point, its connections open.
pub trait Generator: Send {
    /// Puts load on for a length and tells of every slice of it, in the order of time; `false` stops it.
    /// Error: it cannot, and why.
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), String>;
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
    /// One for a server and a point, started in this block, its connections open. Error: it cannot be had, and why.
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, String>;
}

/// The first error of each kind in a record, where there is more to say than its kind.
pub fn first_errors(record: &Record) -> Vec<(ErrorKind, String)> {
    let kinds = ErrorKind::ALL.into_iter().zip(&record.words);
    kinds
        .filter_map(|(kind, words)| Some((kind, words.clone()?)))
        .collect()
}
