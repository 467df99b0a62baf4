// SPDX-License-Identifier: Apache-2.0
//! The agent's end of a load: lab-load's engine, which begins when it is told to.

use super::{Order, Report, bytes};
use crate::agent::{Coordinator, begin_work, is_stopped};
use crate::clock::Reading;
use lab_bench::{LoadShare, LoadedServer, first_errors, give_back, host};
use lab_load::{Engine, Record, ServerRequests};
use lab_model::{ErrorKind, SubjectId};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

/// How long it sleeps at most before it looks whether the load is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// The servers that an agent loads, and the generators that are connected to them.
#[derive(Default)]
pub struct LoadAgent {
    servers: Vec<LoadedServer>,
    engines: HashMap<SubjectId, Engine>,
}

/// A load that was asked for.
struct RequestedLoad {
    number: u64,
    begin_ns: i64,
    length: Duration,
    slice: Duration,
}

impl LoadAgent {
    /// Does what is asked for. Error: it cannot be done, in words for people.
    pub fn carry_out(&mut self, order: Order, to: &Coordinator) -> Result<(), String> {
        match order {
            Order::Find { servers, share } => self.find(&servers, &share, to),
            Order::Open { server, share } => {
                // The connections before are closed first: a server may take only so many.
                self.engines.remove(&server);
                let mut engine = self.server(server)?.engine(&share)?;
                engine.stop_when(is_stopped);
                self.engines.insert(server, engine);
                give_back();
                to.say(&Report::Opened, &[])
            }
            Order::Load {
                number,
                server,
                begin_ns,
                length_ns,
                slice_ns,
            } => {
                let wanted = RequestedLoad {
                    number,
                    begin_ns,
                    length: Duration::from_nanos(length_ns),
                    slice: Duration::from_nanos(slice_ns),
                };
                self.load(server, &wanted, to)
            }
            Order::Close { server } => {
                self.engines.remove(&server);
                Ok(())
            }
        }
    }

    fn server(&self, server: SubjectId) -> Result<&LoadedServer, String> {
        let found = self.servers.get(server);
        found.ok_or_else(|| format!("there is no server {server}"))
    }

    fn find(
        &mut self,
        servers: &[ServerRequests],
        share: &LoadShare,
        to: &Coordinator,
    ) -> Result<(), String> {
        let found = servers.iter().map(LoadedServer::find);
        self.servers = found.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let asked = self.servers.iter().map(|server| server.ask(share));
        let first = asked.map(|came| came.map(|record| errors(&record)));
        let first = first.collect::<Result<_, _>>()?;
        let host = host::inspect(1);
        to.say(&Report::Found { host, first }, &[])
    }

    fn load(
        &mut self,
        server: SubjectId,
        wanted: &RequestedLoad,
        to: &Coordinator,
    ) -> Result<(), String> {
        let number = wanted.number;
        begin_work(number);
        let engine = self.engines.get_mut(&server);
        let engine = engine.ok_or("no connections are open to that server")?;
        wait_until(wanted.begin_ns);
        let late_ns = Reading::now().monotonic_ns - wanted.begin_ns;
        let late_ns = u64::try_from(late_ns).unwrap_or(0);
        let mut told = Ok(());
        if !is_stopped() {
            let loaded = engine.load(wanted.length, wanted.slice, &mut |record| {
                told = tell(record, (number, late_ns), to);
                told.is_ok() && !is_stopped()
            });
            loaded.map_err(|e| e.to_string())?;
        }
        told?;
        to.say(&Report::Ended { number }, &[])
    }
}

/// Until that time of CLOCK_MONOTONIC, or until the work is not wanted any more.
fn wait_until(begin_ns: i64) {
    loop {
        let left_ns = begin_ns - Reading::now().monotonic_ns;
        match u64::try_from(left_ns) {
            Ok(left) if left > 0 && !is_stopped() => {
                thread::sleep(Duration::from_nanos(left).min(LOOK));
            }
            _ => return,
        }
    }
}

fn tell(record: &Record, (number, late_ns): (u64, u64), to: &Coordinator) -> Result<(), String> {
    let mut slice = record.slice(0, 0, 0);
    let body = bytes::take(&mut slice)?;
    let report = Report::Slice {
        number,
        late_ns,
        slice: Box::new(slice),
        errors: first_errors(record),
    };
    to.say(&report, &body)
}

/// The kinds of errors that happened, with what there is to say of the first of each.
fn errors(record: &Record) -> Vec<(ErrorKind, Option<String>)> {
    let kinds = ErrorKind::ALL.into_iter();
    let happened = kinds.filter(|kind| record.errors[*kind as usize] > 0);
    happened
        .map(|kind| (kind, record.words[kind as usize].clone()))
        .collect()
}
