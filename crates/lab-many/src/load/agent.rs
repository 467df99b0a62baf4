// SPDX-License-Identifier: Apache-2.0
//! The agent's end of a load: lab-load's engine, which begins at the coordinator's time.

use super::{LoadOrder, LoadReport, bytes};
use crate::agent::{Coordinator, begin_work, is_stopped};
use crate::clock::ClockReading;
use lab_bench::{LoadShare, LoadedServer, first_errors};
use lab_load::{Engine, ServerRequests, SliceRecord};
use lab_model::{ErrorKind, Host, SubjectId};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

/// The longest sleep before it checks whether the load is still requested.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The servers that an agent loads, and the generators that are connected to them.
pub struct LoadAgent {
    inspect: fn(usize) -> Host,
    servers: Vec<LoadedServer>,
    engines: HashMap<SubjectId, Engine>,
}

/// A load that the coordinator requests.
struct RequestedLoad {
    number: u64,
    begin_ns: i64,
    length: Duration,
    slice: Duration,
}

impl LoadAgent {
    /// An agent whose host `inspect` describes.
    pub fn new(inspect: fn(usize) -> Host) -> LoadAgent {
        LoadAgent {
            inspect,
            servers: Vec::new(),
            engines: HashMap::new(),
        }
    }

    /// Does what an order requests. Error: it cannot be done, in words for people.
    pub fn carry_out(&mut self, order: LoadOrder, coordinator: &Coordinator) -> Result<(), String> {
        match order {
            LoadOrder::Find { servers, share } => self.find(&servers, &share, coordinator),
            LoadOrder::Open { server, share } => {
                // Earlier connections are closed first: a server may accept only so many.
                self.engines.remove(&server);
                let mut engine = self.server(server)?.engine(&share)?;
                engine.stop_when(is_stopped);
                self.engines.insert(server, engine);
                coordinator.say(&LoadReport::Opened, &[])
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

    fn server(&self, server: SubjectId) -> Result<&LoadedServer, String> {
        let known_server = self.servers.get(server);
        known_server.ok_or_else(|| format!("there is no server {server}"))
    }

    fn find(
        &mut self,
        servers: &[ServerRequests],
        share: &LoadShare,
        coordinator: &Coordinator,
    ) -> Result<(), String> {
        let servers = servers.iter().map(LoadedServer::find);
        self.servers = servers
            .collect::<Result<_, _>>()
            .map_err(|e| e.to_string())?;
        let answers = self.servers.iter().map(|server| server.ask(share));
        let first = answers.map(|answer| answer.map(|record| errors(&record)));
        let first = first.collect::<Result<_, _>>()?;
        // One core: the generator's.
        let host = (self.inspect)(1);
        coordinator.say(&LoadReport::Found { host, first }, &[])
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
        coordinator.say(&LoadReport::Ended { number }, &[])
    }
}

/// Waits until that time of CLOCK_MONOTONIC, ns, or until the work is stopped.
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
    let mut slice = record.slice(0, 0, 0);
    let body = bytes::take(&mut slice)?;
    let report = LoadReport::Slice {
        number,
        late_ns,
        slice: Box::new(slice),
        errors: first_errors(record),
    };
    coordinator.say(&report, &body)
}

/// The kinds of errors that happened, with a description of the first of each.
fn errors(record: &SliceRecord) -> Vec<(ErrorKind, Option<String>)> {
    let kinds = ErrorKind::ALL.into_iter();
    let occurred = kinds.filter(|kind| record.errors[*kind as usize] > 0);
    occurred
        .map(|kind| (kind, record.words[kind as usize].clone()))
        .collect()
}
