// SPDX-License-Identifier: Apache-2.0
//! Load that several agents put on together, as one generator: the rate and the connections are divided, all begin at
//! the same moment, and what they measured is added up.

pub mod agent;
pub mod bytes;
mod gather;
mod generators;

pub use generators::{LoadAgents, LoadStart};

use lab_bench::LoadShare;
use lab_load::ServerRequests;
use lab_model::{ErrorKind, Host, Slice, SubjectId};
use serde::{Deserialize, Serialize};

/// What an agent is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Find the servers, and ask each once.
    Find {
        /// In the order of the plan's subjects.
        servers: Vec<ServerRequests>,
        /// Its share of the load, for the one request.
        share: LoadShare,
    },
    /// Open the connections to a server.
    Open {
        /// Which.
        server: SubjectId,
        /// How much of the load is its own.
        share: LoadShare,
    },
    /// Put load on a server whose connections are open.
    Load {
        /// From 1, ascending.
        number: u64,
        /// Which server.
        server: SubjectId,
        /// When it begins, ns, by the agent's CLOCK_MONOTONIC.
        begin_ns: i64,
        /// How long it lasts.
        length_ns: u64,
        /// In slices of this length.
        slice_ns: u64,
    },
    /// Close the connections to a server.
    Close {
        /// Which.
        server: SubjectId,
    },
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The servers were found, and what each first answered.
    Found {
        /// Of the agent.
        host: Host,
        /// For each server the errors of the one request, in words.
        first: Vec<Vec<(ErrorKind, Option<String>)>>,
    },
    /// The connections are open, or will be tried again.
    Opened,
    /// A slice of load; its distributions are the body.
    Slice {
        /// Of which load.
        number: u64,
        /// How much later than planned the load began, ns.
        late_ns: u64,
        /// Without its distributions.
        slice: Box<Slice>,
        /// The first error of each kind.
        errors: Vec<(ErrorKind, String)>,
    },
    /// A load has ended.
    Ended {
        /// Which.
        number: u64,
    },
}
