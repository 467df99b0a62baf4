// SPDX-License-Identifier: Apache-2.0
//! The job of a generator: a load, the address of the server, the rendered requests, and the
//! generator's fraction of the load.

use crate::error::JobError;
use crate::expect::Expect;
use crate::guard::LoadGuard;
use crate::requests::{Request, Requests};
use crate::target::Origin;
use crate::tls::{Tls, without_file};
use lab_model::{Arrivals, LoadSpec, Plan, PlannedBody, PointId, Protocol, Stage, SubjectId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Everything that a generator needs to run a load.
#[derive(Clone, Debug)]
pub struct LoadJob {
    /// The address of the server.
    pub address: SocketAddr,
    /// The TLS configuration, if the connections use TLS.
    pub tls: Option<Tls>,
    /// The requests to send.
    pub requests: Arc<Requests>,
    /// The expected response.
    pub expect: Arc<Expect>,
    /// The number of concurrent connections of all threads, at least 1.
    pub connections: usize,
    /// The number of threads, from 1 to the number of connections.
    pub threads: usize,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// True if connections are reused. False if each request opens its own connection.
    pub keep_alive: bool,
    /// The maximum number of requests in flight on a connection, at least 1.
    pub pipeline: usize,
    /// The schedule of the requests.
    pub arrivals: Arrivals,
    /// The minimum time between sends of one thread in an open loop, in ns.
    pub tick_ns: u64,
    /// The maximum time from sending a request to the end of its response, and from the end of a
    /// load to its last response.
    pub timeout: Duration,
    /// The seed that determines the first request in the order of requests, and the times of Poisson
    /// arrivals.
    pub seed: u64,
}

/// The fraction of a load that one generator sends at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorLoad {
    /// The number of connections, at least 1.
    pub connections: usize,
    /// The schedule of the requests.
    pub arrivals: Arrivals,
    /// The seed that determines the first request and the times of random arrivals.
    pub seed: u64,
}

impl GeneratorLoad {
    /// Returns the whole load of a plan at a point, with the arrivals of a block.
    pub fn all(plan: &Plan, load: &LoadSpec, point: PointId, block: u32) -> GeneratorLoad {
        GeneratorLoad {
            connections: plan.connections(point),
            arrivals: load.arrivals.clone(),
            // The first request and the arrivals differ between blocks, and are the same for all
            // servers.
            seed: plan.seed.wrapping_add(u64::from(block) << 32),
        }
    }

    /// Returns the fraction of the load that the generator with index `generator` sends, out of
    /// `generators` generators. The index starts at 0. Each generator has its own arrival times.
    pub fn divide(&self, generator: usize, generators: usize) -> GeneratorLoad {
        let rest = usize::from(generator < self.connections % generators);
        GeneratorLoad {
            connections: self.connections / generators + rest,
            arrivals: self.arrivals.divided(generators),
            // Multiplying by the bits of the golden ratio spreads the seeds of neighbors.
            seed: self.seed ^ (generator as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }
}

impl LoadJob {
    /// Resolves the server's address on this machine, and renders the requests.
    ///
    /// The job has one connection in a closed loop until [`LoadJob::with_generator_load`] sets a fraction of
    /// the load. `seed` determines the order of requests.
    ///
    /// # Errors
    /// Returns an error if the server is not found, if loading it is not allowed, or if its
    /// requests are invalid.
    pub fn find(
        load: &LoadSpec,
        server: SubjectId,
        requests: &[Request],
        seed: u64,
    ) -> Result<LoadJob, JobError> {
        let origin = Origin::shared(requests.iter().map(|request| &request.link))?;
        let trust = load.trust.clone().unwrap_or_default();
        let tls = origin
            .uses_tls()
            .then(|| Tls::new(&origin, load.protocol, &trust));
        let guard = LoadGuard::new(load.allowed_host.as_deref())?;
        Ok(LoadJob {
            tls: tls.transpose()?,
            requests: Requests::new(requests, load.keep_alive, seed)?.into(),
            address: origin.address(load.family(server), &guard)?,
            expect: Expect::parse(&load.expect)?.into(),
            connections: 1,
            threads: load.threads as usize,
            protocol: load.protocol,
            keep_alive: load.keep_alive,
            pipeline: load.pipeline as usize,
            arrivals: Arrivals::Closed,
            tick_ns: Arrivals::Closed.tick_ns(load.threads),
            timeout: Duration::from_nanos(load.timeout_ns),
            seed,
        })
    }

    /// Returns the job of a generator that sends only `generator_load`.
    pub fn with_generator_load(&self, generator_load: &GeneratorLoad) -> LoadJob {
        LoadJob {
            connections: generator_load.connections,
            threads: self.threads.min(generator_load.connections),
            arrivals: generator_load.arrivals.clone(),
            tick_ns: generator_load.arrivals.tick_ns(self.threads as u32),
            seed: generator_load.seed,
            ..self.clone()
        }
    }

    /// Returns a job that sends a single request.
    pub fn once(&self) -> LoadJob {
        // In an open loop with even arrivals, the first request is due immediately and the second one a second later.
        let once = Stage {
            from: 1.0,
            to: 1.0,
            length_ns: 1_000_000_000,
        };
        LoadJob {
            connections: 1,
            threads: 1,
            pipeline: 1,
            arrivals: Arrivals::Open {
                poisson: false,
                stages: vec![once],
            },
            ..self.clone()
        }
    }

    /// Returns true if the server is reached over the loopback interface.
    pub fn is_here(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Returns the job with the first request and the random arrival times of a block, which are the
    /// same for all servers.
    pub fn of_block(self, block: u32) -> LoadJob {
        let seed = self.seed.wrapping_add(u64::from(block) << 32);
        LoadJob { seed, ..self }
    }
}

/// Returns a load that does not refer to files of this machine, for generators on other machines.
///
/// # Errors
/// Returns an error if the file with the certificate authorities cannot be read.
pub fn load_without_files(load: &LoadSpec) -> Result<LoadSpec, JobError> {
    let body = load.body.clone();
    Ok(LoadSpec {
        body: body.map(|body| PlannedBody { file: None, ..body }),
        requests_file: None,
        trust: load.trust.clone().map(without_file).transpose()?,
        ..load.clone()
    })
}

/// The start, end and slices of a load. Times are in ns of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Default)]
pub struct LoadPeriod {
    /// The number of the load on this generator, counted from 1.
    pub number: u64,
    pub begin_ns: u64,
    pub end_ns: u64,
    pub slice_ns: u64,
}
