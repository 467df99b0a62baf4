// SPDX-License-Identifier: Apache-2.0
//! A server that is loaded, and the engines that do it.

use super::generator::{Generator, Generators, LoadFault, Piece, first_errors};
use crate::host::interrupt;
use lab_load::{Engine, Expect, JobError, LoadJob, Requests, ServerRequests, SliceRecord, Tls};
use lab_model::{Arrivals, Load, Plan, PointId, Protocol, Stage, SubjectId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long the one request of a check may be sent.
const CHECK: Duration = Duration::from_millis(1);

/// A server's address, the requests to it, and the answers that it must give.
#[derive(Clone, Debug)]
pub struct LoadedServer {
    /// Its address.
    pub address: SocketAddr,
    /// The parameters of TLS; `None`: connections are not encrypted.
    pub tls: Option<Tls>,
    /// The requests that are sent.
    pub requests: Arc<Requests>,
    /// The expected response.
    pub expect: Arc<Expect>,
}

/// The load that one generator puts on a server: all that is the same for all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadShare {
    /// Connections, at least 1.
    pub connections: usize,
    /// Threads at the most.
    pub threads: u32,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// A connection serves one request after the other.
    pub keep_alive: bool,
    /// Requests that a connection has under way at the most.
    pub pipeline: u32,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// The least time between two sendings of a thread of an open loop, ns.
    pub tick_ns: u64,
    /// A request that takes longer has failed.
    pub timeout_ns: u64,
    /// The seed of random arrivals.
    pub seed: u64,
}

impl LoadShare {
    /// All of a plan's load at a point, with the arrivals of a block.
    pub fn all(plan: &Plan, load: &Load, point: PointId, block: u32) -> LoadShare {
        LoadShare {
            connections: plan.connections(point),
            threads: load.threads,
            protocol: load.protocol,
            keep_alive: load.keep_alive,
            pipeline: load.pipeline,
            arrivals: load.arrivals.clone(),
            tick_ns: load.tick_ns(),
            timeout_ns: load.timeout_ns,
            // Other arrivals in each block, the same for all servers.
            seed: plan.seed.wrapping_add(u64::from(block) << 32),
        }
    }

    /// The share of one of several generators, which are numbered from 0; each has arrivals of its own.
    pub fn of(&self, generator: usize, generators: usize) -> LoadShare {
        let rest = usize::from(generator < self.connections % generators);
        let arrivals = self.arrivals.divided(generators);
        let load = Load {
            arrivals,
            threads: self.threads,
            ..Load::default()
        };
        LoadShare {
            connections: self.connections / generators + rest,
            tick_ns: load.tick_ns(),
            arrivals: load.arrivals,
            // The golden ratio's bits: neighbours are far apart.
            seed: self.seed ^ (generator as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            ..self.clone()
        }
    }
}

impl LoadedServer {
    /// Finds a server from this machine. Errors: it is not found, may not be loaded, or its requests cannot be made.
    pub fn find(server: &ServerRequests) -> Result<LoadedServer, JobError> {
        Ok(LoadedServer {
            tls: server.tls()?,
            requests: Arc::new(server.rendered()?),
            address: server.address()?,
            expect: Arc::new(server.expect.clone()),
        })
    }

    /// True if it is reached over the loopback interface.
    pub fn is_here(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// A generator with its connections open. Error: it cannot be started.
    pub fn engine(&self, share: &LoadShare) -> Result<Engine, String> {
        Engine::start(self.job(share)).map_err(|e| e.to_string())
    }

    /// Sends one request and returns what came of it. Error: it cannot be sent.
    pub fn ask(&self, share: &LoadShare) -> Result<SliceRecord, String> {
        // The first request of an even open loop is due at once, the second after a second.
        let once = Stage {
            from: 1.0,
            to: 1.0,
            length_ns: 1_000_000_000,
        };
        let mut engine = self.engine(&LoadShare {
            connections: 1,
            threads: 1,
            pipeline: 1,
            arrivals: Arrivals::Open {
                poisson: false,
                stages: vec![once],
            },
            ..share.clone()
        })?;
        let mut total = SliceRecord::new();
        let mut each = |record: &SliceRecord| {
            total.add(record);
            true
        };
        engine
            .load(CHECK, CHECK, &mut each)
            .map_err(|e| e.to_string())?;
        Ok(total)
    }

    fn job(&self, share: &LoadShare) -> LoadJob {
        LoadJob {
            address: self.address,
            tls: self.tls.clone(),
            requests: self.requests.clone(),
            expect: self.expect.clone(),
            connections: share.connections,
            threads: (share.threads as usize).min(share.connections),
            protocol: share.protocol,
            keep_alive: share.keep_alive,
            pipeline: share.pipeline as usize,
            arrivals: share.arrivals.clone(),
            tick_ns: share.tick_ns,
            timeout: Duration::from_nanos(share.timeout_ns),
            seed: share.seed,
        }
    }
}

/// The servers of a plan.
pub struct LoadedServers<'a> {
    plan: &'a Plan,
    load: &'a Load,
    servers: Vec<LoadedServer>,
}

impl<'a> LoadedServers<'a> {
    /// One for each subject of a plan with a load, in their order.
    pub fn new(plan: &'a Plan, servers: Vec<LoadedServer>) -> LoadedServers<'a> {
        let load = plan.load().expect("a plan with a load");
        LoadedServers {
            plan,
            load,
            servers,
        }
    }

    /// Sends one request to a server at a point and returns what came of it. Error: it cannot be sent.
    pub fn ask(&self, subject: SubjectId, point: PointId) -> Result<SliceRecord, String> {
        self.servers[subject].ask(&LoadShare::all(self.plan, self.load, point, 0))
    }
}

impl Generators for LoadedServers<'_> {
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault> {
        let share = LoadShare::all(self.plan, self.load, point, block);
        let engine = self.servers[subject].engine(&share);
        let mut engine = engine.map_err(LoadFault::Failed)?;
        engine.stop_when(interrupt::requested);
        Ok(Box::new(engine))
    }
}

impl Generator for Engine {
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault> {
        let mut tell = |record: &SliceRecord| {
            each(Piece {
                slice: Some(record.slice(0, 0, 0)),
                errors: first_errors(record),
                ..Piece::default()
            })
        };
        let loaded = Engine::load(self, length, slice, &mut tell);
        loaded.map_err(|e| LoadFault::Failed(e.to_string()))
    }
}
