// SPDX-License-Identifier: Apache-2.0
//! A database server: started for a run and gone after it, or the reader's own.

use crate::address::Address;
use crate::admin::Admin;
use crate::counters::{Counter, Counters};
use crate::place::Place;
use crate::process::{Process, described};
use crate::usage::Processes;
use crate::{Kind, Log, Request, ServiceError, Starting, Transport};
use crate::{external, facts, mariadb, postgresql};
use nix::unistd::Pid;
use std::fmt;

/// A database server that answers. Dropping a private one ends it and removes its data.
pub struct Service {
    /// For subjects.
    pub(crate) address: Address,
    pub(crate) admin: Admin,
    pub(crate) counter: Counter,
    /// `None`: it is not known to be on this machine.
    pub(crate) processes: Option<Processes>,
    pub(crate) facts: Vec<(String, String)>,
    /// `None`: it is the reader's own.
    pub(crate) private: Option<Private>,
}

/// What is dropped in this order: the server ends before its folder goes.
pub(crate) struct Private {
    pub process: Process,
    pub settings: Vec<(String, String)>,
    pub place: Place,
}

impl Service {
    /// Starts a private server: [`Starting`] in one step.
    pub fn start(request: &Request) -> Result<Service, ServiceError> {
        Starting::new(request)?.finish()
    }

    /// Connects to a server that runs, by an URL of the form in [`ServiceError::Url`]; subjects connect
    /// as the same user.
    pub fn external(kind: Kind, url: &str) -> Result<Service, ServiceError> {
        let address = Address::parse(kind, url).map_err(|why| ServiceError::Url { kind, why })?;
        let mut admin = Admin::connect(&address, None)?;
        match kind {
            Kind::Postgresql => postgresql::check_rights(&mut admin, &address)?,
            Kind::Mariadb => mariadb::check_rights(&mut admin, &address)?,
        }
        let processes = external::processes(&mut admin);
        let place = match processes {
            Some(_) => "on this machine",
            None => "not known to be on this machine",
        };
        let mut facts = vec![("server".to_owned(), format!("the reader's own, {place}"))];
        facts.extend(facts::read_back(&mut admin, &[])?);
        Ok(Service {
            counter: Counter::new(&mut admin, &address.user)?,
            address,
            admin,
            processes,
            facts,
            private: None,
        })
    }

    /// Which server it is.
    pub fn kind(&self) -> Kind {
        self.address.kind
    }

    /// The `target=` of subjects, as experiments/sql/README.md describes it; `None`: the server is not
    /// known to be reachable so. It holds the password.
    pub fn target(&self, transport: Transport, schema: &str) -> Option<String> {
        self.address.target(transport, schema)
    }

    /// Whether its main process lives; of a server that is not private always true.
    pub fn alive(&self) -> bool {
        let private = self.private.as_ref();
        private.is_none_or(|private| private.process.alive())
    }

    /// Why the server does not work any longer, if that can be told: it ended, or has no room.
    pub fn failure(&self) -> Option<ServiceError> {
        let Private {
            process,
            settings,
            place,
        } = self.private.as_ref()?;
        match process.end() {
            None => place.full(),
            Some(status) => Some(place.ended(settings, described(status))),
        }
    }

    /// All of its processes now, the main one first; none if it is gone or not known to be on this
    /// machine.
    pub fn pids(&self) -> Vec<Pid> {
        let processes = self.processes.as_ref();
        processes.map(Processes::pids).unwrap_or_default()
    }

    /// CPU time of all its processes, ns, those that ended included: to 1 us of each, or to 10 ms in
    /// all for a PostgreSQL that is not private. What serves the lab's own connection is left out.
    /// `None`: not known.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.processes.as_ref()?.cpu_ns()
    }

    /// Memory of all its processes: the proportional set size, in which shared memory counts once.
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

    /// Its version, whose it is, where its data are, and settings read back.
    pub fn facts(&self) -> &[(String, String)] {
        &self.facts
    }

    /// The last lines of a private server's log.
    pub fn last_log(&self) -> Log {
        let private = self.private.as_ref();
        private
            .map(|private| private.place.last_log())
            .unwrap_or_default()
    }

    /// The lab's own connection.
    pub fn admin(&mut self) -> &mut Admin {
        &mut self.admin
    }

    /// What it has executed. Subjects must be idle: a statement may be counted a moment after its
    /// client had the last row.
    pub fn counters(&mut self) -> Result<Counters, ServiceError> {
        let counters = self.counter.read(&mut self.admin, self.processes.as_ref());
        counters.map_err(|error| self.failure().unwrap_or(error))
    }

    /// Ends a private server and removes its data.
    pub fn stop(self) {}
}

/// Without the password.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind(), self.address)
    }
}
