// SPDX-License-Identifier: Apache-2.0
//! The job of a generator.

use crate::expect::Expect;
use crate::requests::Requests;
use crate::tls::Tls;
use lab_model::{Arrivals, Protocol};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The job of a generator.
#[derive(Clone, Debug)]
pub struct LoadJob {
    /// Where the server listens.
    pub address: SocketAddr,
    /// The server's required identity, if TLS is spoken.
    pub tls: Option<Tls>,
    /// The requests.
    pub requests: Arc<Requests>,
    /// The expected response.
    pub expect: Arc<Expect>,
    /// Connections kept open at once, over all threads: from 1.
    pub connections: usize,
    /// Threads, from 1 to the number of connections.
    pub threads: usize,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// A connection serves one request after the other; else each request opens one of its own.
    pub keep_alive: bool,
    /// Requests that a connection has under way at the most: from 1.
    pub pipeline: usize,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// The least time between two sendings of a thread of an open loop, ns.
    pub tick_ns: u64,
    /// A request that takes longer has failed.
    pub timeout: Duration,
    /// Seed of the order of requests and of Poisson arrivals.
    pub seed: u64,
}

impl LoadJob {
    /// The same with the random arrivals of a run's block: others in each, the same for all servers.
    pub fn of_block(self, block: u32) -> LoadJob {
        let seed = self.seed.wrapping_add(u64::from(block) << 32);
        LoadJob { seed, ..self }
    }
}

/// Load from one time to another, ns, in slices.
#[derive(Clone, Copy, Default)]
pub struct LoadPeriod {
    /// How many loads the generator has had with this one.
    pub number: u64,
    pub begin_ns: u64,
    pub end_ns: u64,
    pub slice_ns: u64,
}
