// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and the agents of a load.

use lab_bench::LoadShare;
use lab_load::ServerRequests;
use lab_model::{ErrorKind, Host, Slice, SubjectId};
use serde::{Deserialize, Serialize};

/// An agent's order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LoadOrder {
    /// Find the servers, and ask each once.
    Find {
        /// The servers, in the order of the plan's subjects.
        servers: Vec<ServerRequests>,
        /// Its share of the load, for the one request.
        share: LoadShare,
    },
    /// Open the connections to a server.
    Open {
        /// The server.
        server: SubjectId,
        /// The agent's share of the load.
        share: LoadShare,
    },
    /// Put load on a server whose connections are open.
    Load {
        /// The load's number, from 1, ascending.
        number: u64,
        /// The server.
        server: SubjectId,
        /// When it begins, ns, by the agent's CLOCK_MONOTONIC.
        begin_ns: i64,
        /// How long it lasts, ns.
        length_ns: u64,
        /// The length of its slices, ns.
        slice_ns: u64,
    },
    /// Close the connections to a server.
    Close {
        /// The server.
        server: SubjectId,
    },
}

/// The result of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LoadReport {
    /// The servers were found.
    Found {
        /// The agent's host.
        host: Host,
        /// For each server the errors of the one request, in words.
        first: Vec<Vec<(ErrorKind, Option<String>)>>,
    },
    /// The connections are open; failed ones are tried again later.
    Opened,
    /// A slice of load; its distributions are the body.
    Slice {
        /// The load's number.
        number: u64,
        /// How much later than planned the load began, ns.
        late_ns: u64,
        /// The slice without its distributions.
        slice: Box<Slice>,
        /// The first error of each kind.
        errors: Vec<(ErrorKind, String)>,
    },
    /// A load has ended.
    Ended {
        /// The load's number.
        number: u64,
    },
}
