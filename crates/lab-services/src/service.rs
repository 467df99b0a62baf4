// SPDX-License-Identifier: Apache-2.0
//! A database server: started for a run and removed after it, or the reader's own.

use crate::address::ServiceAddress;
use crate::counters::Counters;
use crate::database::{Database, DatabaseKind};
use crate::processes::Processes;
use crate::running::RunningDaemon;
use crate::terminate::Terminator;
use crate::{DaemonOptions, LogTail, ServiceError, Starting, Transport, external};
use nix::unistd::Pid;
use std::fmt;
use std::net::Ipv4Addr;

/// A database server that answers. Dropping a private one ends it and removes its data.
pub struct Service {
    database: Box<dyn Database>,
    /// `None`: it is not known to be on this machine.
    processes: Option<Processes>,
    facts: Vec<(String, String)>,
    /// `None`: it is the reader's own.
    private: Option<RunningDaemon>,
}

impl Service {
    /// Begins to start a private server.
    pub fn begin(
        kind: &'static DatabaseKind,
        request: &DaemonOptions,
    ) -> Result<Starting<dyn Database>, ServiceError> {
        let database = (kind.private)().map_err(|error| ServiceError::System {
            software: &kind.software,
            operation: "no password can be made".into(),
            error,
        })?;
        Starting::new(database, request)
    }

    /// Waits until a private server answers.
    pub fn finish(starting: Starting<dyn Database>) -> Result<Service, ServiceError> {
        let (mut database, running) = starting.finish()?;
        let processes = running.pid().map(|main| database.processes(main));
        let mut facts = vec![("server".to_owned(), "private".to_owned())];
        facts.push(("data directory".to_owned(), running.data_place().to_owned()));
        facts.extend(database.read_back(&running.launch.request.settings)?);
        Ok(Service {
            database,
            processes,
            facts,
            private: Some(running),
        })
    }

    /// Starts a private server.
    pub fn start(
        kind: &'static DatabaseKind,
        request: &DaemonOptions,
    ) -> Result<Service, ServiceError> {
        Service::finish(Service::begin(kind, request)?)
    }

    /// Connects to a running server, by a URL of the form in [`ServiceError::Url`]; subjects connect as the same user.
    pub fn external(kind: &'static DatabaseKind, url: &str) -> Result<Service, ServiceError> {
        let address = ServiceAddress::parse(&kind.software, &kind.form, url).map_err(|reason| {
            ServiceError::Url {
                software: &kind.software,
                form: kind.form.text,
                reason,
            }
        })?;
        let mut database = (kind.connect)(address)?;
        database.check_rights()?;
        let processes = external::processes(database.as_mut());
        let place = match processes {
            Some(_) => "on this machine",
            None => "not known to be on this machine",
        };
        let mut facts = vec![("server".to_owned(), format!("the reader's own, {place}"))];
        facts.extend(database.read_back(&[])?);
        Ok(Service {
            database,
            processes,
            facts,
            private: None,
        })
    }

    /// The kind of server.
    pub fn kind(&self) -> &'static DatabaseKind {
        self.database.kind()
    }

    /// The `target=` of subjects, as experiments/sql/README.md describes it, with the password; `None`: the server
    /// cannot be reached by this transport.
    pub fn target(&self, transport: Transport, schema: &str) -> Option<String> {
        (self.kind().target)(self.database.address(), transport, schema)
    }

    /// The `target=` of subjects that reach it by TCP over a proxy on a port of the loopback interface.
    pub fn target_over(&self, port: u16, schema: &str) -> Option<String> {
        let mut address = self.database.address().clone();
        address.host = Some(Ipv4Addr::LOCALHOST.to_string());
        address.port = port;
        (self.kind().target)(&address, Transport::Tcp, schema)
    }

    /// The host and port at which subjects reach it by TCP.
    pub fn endpoint(&self) -> Option<(String, u16)> {
        let address = self.database.address();
        Some((address.host.clone()?, address.port))
    }

    /// Something that can end its connections from another thread.
    pub fn terminator(&self) -> Terminator {
        Terminator::new(self.kind(), self.database.address().clone())
    }

    /// Kills all processes of a private server at once, as a crash does. False: it is the reader's own.
    pub fn kill(&mut self) -> bool {
        self.private.as_mut().map(RunningDaemon::kill).is_some()
    }

    /// Starts a private server that was killed on its port again, waits until it answers, and connects.
    pub fn start_again(&mut self) -> Result<(), ServiceError> {
        if let Some(running) = &mut self.private {
            running.start_again(self.database.as_mut())?;
            self.processes = running.pid().map(|main| self.database.processes(main));
        }
        Ok(())
    }

    /// True if its main process runs; always true for a server that is not private.
    pub fn is_alive(&self) -> bool {
        let private = self.private.as_ref();
        private.is_none_or(RunningDaemon::is_alive)
    }

    /// Why the server does not work any more, if that is known: it ended, or its disk is full.
    pub fn failure(&self) -> Option<ServiceError> {
        self.private.as_ref()?.failure()
    }

    /// All of its processes, the main one first; none if it is gone or not known to be on this machine.
    pub fn pids(&self) -> Vec<Pid> {
        let processes = self.processes.as_ref();
        processes.map(Processes::pids).unwrap_or_default()
    }

    /// CPU time of all its processes, ns, ended ones included: to 1 µs for each, or to 10 ms in all for a PostgreSQL
    /// that is not private. The process or thread of the lab's own connection is left out. `None`: not known.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.processes.as_ref()?.cpu_ns()
    }

    /// Memory of all its processes, bytes: the proportional set size, in which shared memory counts once.
    /// `None`: not known.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.processes.as_ref()?.memory_bytes()
    }

    /// Keeps a private server, with all that it will start, on some cores.
    pub fn pin(&self, cores: &[usize]) {
        if let (Some(_), Some(processes)) = (&self.private, &self.processes) {
            processes.pin(cores);
        }
    }

    /// Its version, its owner, the place of its data, and recorded settings.
    pub fn facts(&self) -> &[(String, String)] {
        &self.facts
    }

    /// The last lines of a private server's log.
    pub fn last_log(&self) -> LogTail {
        let private = self.private.as_ref();
        private.map(RunningDaemon::last_log).unwrap_or_default()
    }

    /// The lab's own connection.
    pub fn admin(&mut self) -> &mut dyn Database {
        self.database.as_mut()
    }

    /// The work that it has done. Subjects must be idle: a statement may be counted a moment after its client
    /// got the last row.
    pub fn counters(&mut self) -> Result<Counters, ServiceError> {
        let counters = self.database.counters(self.processes.as_ref());
        counters.map_err(|error| self.failure().unwrap_or(error))
    }

    /// Makes the next readings of [`Service::counters`] as short as they can be: called when a subject begins with
    /// statements that are not those of before. Subjects must be idle.
    pub fn shorten_counters(&mut self) -> Result<(), ServiceError> {
        let shortened = self.database.shorten_counters();
        shortened.map_err(|error| self.failure().unwrap_or(error))
    }

    /// Ends a private server and removes its data.
    pub fn stop(self) {}
}

/// Shows kind and address without the password.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind(), self.database.address())
    }
}
