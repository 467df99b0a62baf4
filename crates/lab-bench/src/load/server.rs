// SPDX-License-Identifier: Apache-2.0
//! A server that is loaded, and the engines that do it.

use super::generator::{Generator, Generators};
use crate::interrupt;
use lab_load::{Engine, Expect, Job, Record, Requests, Tls};
use lab_model::{Arrivals, Load, Plan, PointId, Stage, SubjectId};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long the one request of a check may be sent.
const CHECK: Duration = Duration::from_millis(1);

/// Where a server is, what is asked of it, and what it must answer.
#[derive(Clone, Debug)]
pub struct LoadedServer {
    /// Its address.
    pub address: SocketAddr,
    /// What TLS needs, if it is spoken.
    pub tls: Option<Tls>,
    /// What is sent.
    pub requests: Arc<Requests>,
    /// What an answer must be.
    pub expect: Arc<Expect>,
}

impl LoadedServer {
    /// It is reached over the loopback interface.
    pub fn is_here(&self) -> bool {
        self.address.ip().is_loopback()
    }
}

/// The servers of a plan.
pub struct LoadedServers<'a> {
    plan: &'a Plan,
    how: &'a Load,
    servers: Vec<LoadedServer>,
}

impl<'a> LoadedServers<'a> {
    /// One for each subject of a plan with a load, in their order.
    pub fn new(plan: &'a Plan, servers: Vec<LoadedServer>) -> LoadedServers<'a> {
        let how = plan.load().expect("a plan with a load");
        LoadedServers { plan, how, servers }
    }

    /// Sends one request to a server at a point and tells what came of it. Error: it cannot be sent.
    pub fn ask(&self, subject: SubjectId, point: PointId) -> Result<Record, String> {
        // The first request of an even open loop is due at once, the second after a second.
        let once = Stage {
            from: 1.0,
            to: 1.0,
            length_ns: 1_000_000_000,
        };
        let job = Job {
            connections: 1,
            threads: 1,
            pipeline: 1,
            arrivals: Arrivals::Open {
                poisson: false,
                stages: vec![once],
            },
            ..self.job(subject, point)
        };
        let mut engine = Engine::start(job).map_err(|e| e.to_string())?;
        let mut came = Record::new();
        let mut each = |record: &Record| {
            came.add(record);
            true
        };
        engine
            .load(CHECK, CHECK, &mut each)
            .map_err(|e| e.to_string())?;
        Ok(came)
    }

    fn job(&self, subject: SubjectId, point: PointId) -> Job {
        let server = &self.servers[subject];
        let connections = self.plan.connections(point);
        Job {
            address: server.address,
            tls: server.tls.clone(),
            requests: server.requests.clone(),
            expect: server.expect.clone(),
            connections,
            threads: (self.how.threads as usize).min(connections),
            protocol: self.how.protocol,
            keep_alive: self.how.keep_alive,
            pipeline: self.how.pipeline as usize,
            arrivals: self.how.arrivals.clone(),
            tick_ns: self.how.tick_ns(),
            timeout: Duration::from_nanos(self.how.timeout_ns),
            seed: self.plan.seed,
        }
    }
}

impl Generators for LoadedServers<'_> {
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, String> {
        let job = self.job(subject, point).of_block(block);
        let mut engine = Engine::start(job).map_err(|e| e.to_string())?;
        engine.stop_when(interrupt::requested);
        Ok(Box::new(engine))
    }
}

impl Generator for Engine {
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(&Record) -> bool,
    ) -> Result<(), String> {
        Engine::load(self, length, slice, each).map_err(|e| e.to_string())
    }
}
