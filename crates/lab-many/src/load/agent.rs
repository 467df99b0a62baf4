// SPDX-License-Identifier: Apache-2.0
//! The agent's side of a load. Runs the engine of `lab-load`, starting at the time that the
//! coordinator sets.

use super::{LoadOrder, LoadReport, bytes};
use crate::agent::{Coordinator, begin_work, is_stopped};
use crate::clock::ClockReading;
use lab_bench::{LoadedServers, first_errors};
use lab_load::{Engine, SliceRecord, allow_files};
use lab_model::{ErrorKind, Host, PointId, SubjectId};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

/// The maximum interval between two checks for a request to stop the load.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The servers on which an agent generates load. There is an engine for each server with open
/// connections.
pub struct LoadAgent {
    inspect: fn(usize) -> Host,
    /// The servers, or `None` until the coordinator sends the load.
    servers: Option<LoadedServers>,
    engines: HashMap<SubjectId, Engine>,
}

struct RequestedLoad {
    number: u64,
    begin_ns: i64,
    length: Duration,
    slice: Duration,
}

impl LoadAgent {
    /// Creates an agent.
    ///
    /// `inspect` describes the host. Its argument is the number of cores that the load needs.
    pub fn new(inspect: fn(usize) -> Host) -> LoadAgent {
        LoadAgent {
            inspect,
            servers: None,
            engines: HashMap::new(),
        }
    }

    /// Executes an order.
    ///
    /// Returns an error with a message for the user if the order fails.
    pub fn run_order(&mut self, order: LoadOrder, coordinator: &Coordinator) -> Result<(), String> {
        match order {
            LoadOrder::Find {
                load,
                requests,
                connections,
                seed,
            } => {
                allow_files(connections).map_err(|e| e.to_string())?;
                let servers = LoadedServers::find(&load, &requests, seed);
                let servers = self.servers.insert(servers.map_err(|e| e.to_string())?);
                let responses = servers.ids().map(|server| servers.ask(server));
                let first = responses.map(|response| response.map(|record| errors(&record)));
                let first = first.collect::<Result<_, _>>()?;
                // The generator needs one core.
                let host = (self.inspect)(1);
                coordinator.report(&LoadReport::Found { host, first }, &[])
            }
            LoadOrder::Open { server, share } => {
                // Close the earlier connections first, because a server may limit the number of connections.
                self.engines.remove(&server);
                let servers = self
                    .servers
                    .as_ref()
                    .ok_or("the coordinator opened connections before it sent the load")?;
                let mut engine = servers.open(server, &share)?;
                engine.stop_when(is_stopped);
                self.engines.insert(server, engine);
                coordinator.report(&LoadReport::Opened, &[])
            }
            LoadOrder::Load {
                number,
                server,
                begin_ns,
                length_ns,
                slice_ns,
            } => {
                let request = RequestedLoad {
                    number,
                    begin_ns,
                    length: Duration::from_nanos(length_ns),
                    slice: Duration::from_nanos(slice_ns),
                };
                self.load(server, &request, coordinator)
            }
            LoadOrder::Close { server } => {
                self.engines.remove(&server);
                Ok(())
            }
        }
    }

    fn load(
        &mut self,
        server: SubjectId,
        request: &RequestedLoad,
        coordinator: &Coordinator,
    ) -> Result<(), String> {
        let number = request.number;
        begin_work(number);
        let engine = self.engines.get_mut(&server);
        let engine = engine.ok_or("no connections are open to that server")?;
        wait_until(request.begin_ns);
        let late_ns = ClockReading::now().monotonic_ns - request.begin_ns;
        let late_ns = u64::try_from(late_ns).unwrap_or(0);
        let mut sent = Ok(());
        if !is_stopped() {
            let loaded = engine.load(request.length, request.slice, &mut |record| {
                sent = send_slice(record, (number, late_ns), coordinator);
                sent.is_ok() && !is_stopped()
            });
            loaded.map_err(|e| e.to_string())?;
        }
        sent?;
        coordinator.report(&LoadReport::Ended { number }, &[])
    }
}

/// Sleeps until CLOCK_MONOTONIC reaches `begin_ns`, or until the work is stopped.
fn wait_until(begin_ns: i64) {
    loop {
        let left_ns = begin_ns - ClockReading::now().monotonic_ns;
        match u64::try_from(left_ns) {
            Ok(left) if left > 0 && !is_stopped() => {
                thread::sleep(Duration::from_nanos(left).min(POLL_INTERVAL));
            }
            _ => return,
        }
    }
}

fn send_slice(
    record: &SliceRecord,
    (number, late_ns): (u64, u64),
    coordinator: &Coordinator,
) -> Result<(), String> {
    let mut slice = record.slice(PointId(0), SubjectId(0), 0);
    let body = bytes::take(&mut slice)?;
    let report = LoadReport::Slice {
        number,
        late_ns,
        slice: Box::new(slice),
        errors: first_errors(record),
    };
    coordinator.report(&report, &body)
}

/// Returns each kind of error that occurred, with the description of its first error, if any.
fn errors(record: &SliceRecord) -> Vec<(ErrorKind, Option<String>)> {
    let kinds = ErrorKind::ALL.into_iter();
    let occurred = kinds.filter(|kind| record.errors[*kind as usize] > 0);
    occurred
        .map(|kind| (kind, record.words[kind as usize].clone()))
        .collect()
}
