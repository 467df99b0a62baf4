// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and the agents of a load.

use lab_load::{GeneratorLoad, Request};
use lab_model::{ErrorKind, Host, LoadSpec, Slice, SubjectId};
use serde::{Deserialize, Serialize};

/// An order from the coordinator to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LoadOrder {
    /// Find the servers, and send one request to each.
    Find {
        /// The load. It refers to no files of the coordinator's machine.
        load: Box<LoadSpec>,
        /// The requests to each of the plan's subjects, including secrets.
        requests: Vec<Vec<Request>>,
        /// The maximum number of connections that the agent will have open at the same time.
        connections: u64,
        /// The seed that determines the order of the requests.
        seed: u64,
    },
    /// Open the connections to a server.
    Open {
        /// The server to which the connections are opened.
        server: SubjectId,
        /// The agent's fraction of the load.
        share: GeneratorLoad,
    },
    /// Generate load on a server to which connections are open.
    Load {
        /// The number of the load, counted from 1.
        number: u64,
        /// The server that receives the load.
        server: SubjectId,
        /// The start time on the agent's CLOCK_MONOTONIC, in ns.
        begin_ns: i64,
        /// The duration in ns.
        length_ns: u64,
        /// The length of the slices in ns.
        slice_ns: u64,
    },
    /// Close the connections to a server.
    Close {
        /// The server whose connections are closed.
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
        /// For each server, the errors of the agent's first request.
        first: Vec<Vec<(ErrorKind, Option<String>)>>,
    },
    /// The connections are open. Connections that could not be opened are retried later.
    Opened,
    /// A slice of load. Its distributions are the body of the message.
    Slice {
        /// The number of the load, as in [`LoadOrder::Load`].
        number: u64,
        /// The delay with which the load started, in ns.
        late_ns: u64,
        /// The slice without its distributions.
        slice: Box<Slice>,
        /// The first error of each kind.
        errors: Vec<(ErrorKind, String)>,
    },
    /// A load has ended.
    Ended {
        /// The number of the load, as in [`LoadOrder::Load`].
        number: u64,
    },
}
