// SPDX-License-Identifier: Apache-2.0
//! Load generators on this machine.

use super::generator::{Generator, Generators, LoadFault, Piece, first_errors};
use crate::host::interrupt;
use lab_load::{Engine, GeneratorLoad, JobError, LoadJob, Request, SliceRecord};
use lab_model::{IdVec, LoadSpec, Plan, PointId, SubjectId};
use std::time::Duration;

/// The duration of the load that checks a server. Only one request is due in this time.
const CHECK: Duration = Duration::from_millis(1);

/// The servers of a load, with the addresses that this machine uses, in the order of the plan's
/// subjects.
pub struct LoadedServers(IdVec<SubjectId, LoadJob>);

impl LoadedServers {
    /// Looks up the servers' addresses.
    ///
    /// `requests` contains the requests to each server, including secrets. `seed` determines their order.
    ///
    /// # Errors
    /// Returns an error if a server is not found, if loading it is not allowed, or if its requests are invalid.
    pub fn find(
        load: &LoadSpec,
        requests: &[Vec<Request>],
        seed: u64,
    ) -> Result<LoadedServers, JobError> {
        let servers = (0..).map(SubjectId).zip(requests);
        let jobs = servers.map(|(server, requests)| LoadJob::find(load, server, requests, seed));
        Ok(LoadedServers(jobs.collect::<Result<_, _>>()?))
    }

    /// Returns true if all servers are reached over the loopback interface.
    pub fn are_here(&self) -> bool {
        self.0.iter().all(LoadJob::is_here)
    }

    /// Returns the IDs of the servers.
    pub fn ids(&self) -> impl Iterator<Item = SubjectId> + use<> {
        self.0.ids()
    }

    /// Creates a load generator with open connections to a server. Returns an error if the
    /// generator cannot be started.
    pub fn open(
        &self,
        server: SubjectId,
        generator_load: &GeneratorLoad,
    ) -> Result<Engine, String> {
        let job = self.job(server)?.with_generator_load(generator_load);
        Engine::start(job).map_err(|e| e.to_string())
    }

    /// Sends one request to a server and returns the result. Returns an error if the request cannot
    /// be sent.
    pub fn ask(&self, server: SubjectId) -> Result<SliceRecord, String> {
        let mut engine = Engine::start(self.job(server)?.once()).map_err(|e| e.to_string())?;
        let mut total = SliceRecord::new();
        let mut each = |record: &SliceRecord| {
            total.add(record);
            true
        };
        let asked = engine.load(CHECK, CHECK, &mut each);
        asked.map_err(|e| e.to_string())?;
        Ok(total)
    }

    fn job(&self, server: SubjectId) -> Result<&LoadJob, String> {
        let job = self.0.get(server);
        job.ok_or_else(|| format!("there is no server {server}"))
    }
}

/// Starts load generators in this process.
pub struct LocalGenerators<'a> {
    /// The plan, which contains a load.
    pub plan: &'a Plan,
    /// The plan's load.
    pub load: &'a LoadSpec,
    /// The plan's servers.
    pub servers: LoadedServers,
}

impl Generators for LocalGenerators<'_> {
    fn start(
        &self,
        subject: SubjectId,
        point: PointId,
        block: u32,
    ) -> Result<Box<dyn Generator>, LoadFault> {
        let generator_load = GeneratorLoad::all(self.plan, self.load, point, block);
        let engine = self.servers.open(subject, &generator_load);
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
                slice: Some(record.slice(PointId(0), SubjectId(0), 0)),
                errors: first_errors(record),
                ..Piece::default()
            })
        };
        let loaded = Engine::load(self, length, slice, &mut tell);
        loaded.map_err(|e| LoadFault::Failed(e.to_string()))
    }
}
