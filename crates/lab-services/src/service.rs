// SPDX-License-Identifier: Apache-2.0
//! A database server: a private server, or an external server that belongs to the user.

use crate::address::ServiceAddress;
use crate::counters::Counters;
use crate::database::{Database, DatabaseKind};
use crate::processes::Processes;
use crate::running::RunningDaemon;
use crate::{DaemonOptions, LogTail, ServiceError, Starting, Transport, external};
use nix::unistd::Pid;
use std::fmt;
use std::net::Ipv4Addr;

/// A running database server, private or external.
///
/// Dropping a private server stops it and removes its data.
pub struct Service {
    database: Box<dyn Database>,
    /// The processes, or `None` if the server is not known to run on this machine.
    processes: Option<Processes>,
    facts: Vec<(String, String)>,
    /// The daemon of a private server, or `None` for an external server.
    private: Option<RunningDaemon>,
}

impl Service {
    /// Starts a private server without waiting until it responds.
    pub fn begin(
        kind: &'static DatabaseKind,
        request: &DaemonOptions,
    ) -> Result<Starting<dyn Database>, ServiceError> {
        let database = (kind.private)().map_err(|error| ServiceError::System {
            software: &kind.software,
            operation: "cannot generate a password".into(),
            error,
        })?;
        Starting::new(database, request)
    }

    /// Waits until a private server responds.
    pub fn finish(starting: Starting<dyn Database>) -> Result<Service, ServiceError> {
        let (mut database, running) = starting.finish()?;
        let processes = running.pid().map(|main| database.processes(main));
        let mut facts = vec![("server".to_owned(), "private".to_owned())];
        facts.push((
            "data directory".to_owned(),
            running.data_storage().to_owned(),
        ));
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

    /// Connects to a running server, given a URL as in [`ServiceError::Url`]. Subjects connect as
    /// the same user.
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
        let location = match processes {
            Some(_) => "on this machine",
            None => "not known to be on this machine",
        };
        let mut facts = vec![("server".to_owned(), format!("the user's own, {location}"))];
        facts.extend(database.read_back(&[])?);
        Ok(Service {
            database,
            processes,
            facts,
            private: None,
        })
    }

    /// Returns the kind of server.
    pub fn kind(&self) -> &'static DatabaseKind {
        self.database.kind()
    }

    /// Returns the `target=` argument for subjects (experiments/sql/README.md). It contains the
    /// password.
    ///
    /// Returns `None` if the server does not support `transport`.
    pub fn target(&self, transport: Transport, schema: &str) -> Option<String> {
        (self.kind().target)(self.database.address(), transport, schema)
    }

    /// Returns the `target=` argument for subjects that connect over TCP through a proxy. The proxy
    /// listens on `port` of the loopback interface.
    pub fn target_over(&self, port: u16, schema: &str) -> Option<String> {
        let mut address = self.database.address().clone();
        address.host = Some(Ipv4Addr::LOCALHOST.to_string());
        address.port = port;
        (self.kind().target)(&address, Transport::Tcp, schema)
    }

    /// Returns the host and port for the TCP connections of subjects.
    pub fn endpoint(&self) -> Option<(String, u16)> {
        let address = self.database.address();
        Some((address.host.clone()?, address.port))
    }

    /// Kills all processes of a private server immediately, like a crash. Returns false for an external server.
    pub fn kill(&mut self) -> bool {
        self.private.as_mut().map(RunningDaemon::kill).is_some()
    }

    /// Restarts a killed private server on its port, waits until it responds, and connects.
    pub fn start_again(&mut self) -> Result<(), ServiceError> {
        if let Some(running) = &mut self.private {
            running.start_again(self.database.as_mut())?;
            self.processes = running.pid().map(|main| self.database.processes(main));
        }
        Ok(())
    }

    /// Returns true if the main process is running. Always true for an external server.
    pub fn is_alive(&self) -> bool {
        let private = self.private.as_ref();
        private.is_none_or(RunningDaemon::is_alive)
    }

    /// Returns the cause of a private server's failure, if known: the server exited, or its disk is
    /// full.
    pub fn failure(&self) -> Option<ServiceError> {
        self.private.as_ref()?.failure()
    }

    /// Returns all processes, the main process first. The list is empty if the server has exited or is
    /// not known to run on this machine.
    pub fn pids(&self) -> Vec<Pid> {
        let processes = self.processes.as_ref();
        processes.map(Processes::pids).unwrap_or_default()
    }

    /// Returns the CPU time of all processes in ns, including exited processes, or `None` if the
    /// time is unknown.
    ///
    /// The resolution is 1 µs for each process, or 10 ms in total for an external PostgreSQL. The
    /// process or thread that serves benchlab's own connection is excluded.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.processes.as_ref()?.cpu_ns()
    }

    /// Returns the memory of all processes in bytes, or `None` if it is unknown. This is the proportional set size,
    /// in which shared memory counts once.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.processes.as_ref()?.memory_bytes()
    }

    /// Pins a private server to the given cores. Processes that it starts later inherit the cores.
    pub fn pin(&self, cores: &[usize]) {
        if let (Some(_), Some(processes)) = (&self.private, &self.processes) {
            processes.pin(cores);
        }
    }

    /// Returns the server's version, its owner, the location of its data, and the recorded
    /// settings.
    pub fn facts(&self) -> &[(String, String)] {
        &self.facts
    }

    /// Returns the last lines of a private server's log.
    pub fn last_log(&self) -> LogTail {
        let private = self.private.as_ref();
        private.map(RunningDaemon::last_log).unwrap_or_default()
    }

    /// Returns benchlab's own connection.
    pub fn admin(&mut self) -> &mut dyn Database {
        self.database.as_mut()
    }

    /// Returns the work that the server has done.
    ///
    /// Subjects must be idle, because a statement may be counted a moment after its client has
    /// received the last row.
    pub fn counters(&mut self) -> Result<Counters, ServiceError> {
        let counters = self.database.counters(self.processes.as_ref());
        counters.map_err(|error| self.failure().unwrap_or(error))
    }

    /// Makes the next readings of [`Service::counters`] as fast as possible.
    ///
    /// Call this when a subject starts to use different statements. Subjects must be idle.
    pub fn shorten_counters(&mut self) -> Result<(), ServiceError> {
        let shortened = self.database.shorten_counters();
        shortened.map_err(|error| self.failure().unwrap_or(error))
    }

    /// Stops a private server and removes its data.
    pub fn stop(self) {}
}

/// Displays the kind and the address, without the password.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind(), self.database.address())
    }
}
