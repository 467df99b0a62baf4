// SPDX-License-Identifier: Apache-2.0
//! A database server: started for a run and gone after it, or the reader's own.

use crate::address::Address;
use crate::admin::{Admin, Connection, Rows, postgresql_words};
use crate::counters::{Counter, Counters};
use crate::installed::{self, Installed};
use crate::place::Place;
use crate::process::{PAUSE, Process};
use crate::tally::Tally;
use crate::usage::Processes;
use crate::{Kind, Log, ServiceError, Transport, abandoned, external, mariadb, postgresql};
use nix::unistd::Pid;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The superuser, and the role that subjects connect as; its database has the same name.
pub(crate) const LAB: &str = "lab";
pub(crate) const SUBJECTS: &str = "benchlab";

/// Making and starting a server may take so long, each.
const PATIENCE: Duration = Duration::from_secs(60);
/// Ports that are tried.
const PORTS: usize = 5;
/// Closed connections are waited for no longer.
const SETTLED: Duration = Duration::from_millis(100);

/// A private server to start.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which one.
    pub kind: Kind,
    /// The run's scratch folder, in which the server gets one of its own.
    pub folder: PathBuf,
    /// Settings and their values beyond the server's defaults, as its manual names them.
    pub settings: Vec<(String, String)>,
    /// Whether the reader wants the lab to stop: asked while the server is waited for.
    pub interrupted: fn() -> bool,
}

impl Request {
    /// A server with its defaults.
    pub fn new(kind: Kind, folder: impl Into<PathBuf>) -> Request {
        Request {
            kind,
            folder: folder.into(),
            settings: Vec::new(),
            interrupted: || false,
        }
    }

    /// A name that would be read as something else, and one that the lab needs as it sets it.
    fn check(&self) -> Result<(), ServiceError> {
        let reserved = match self.kind {
            Kind::Postgresql => postgresql::RESERVED,
            Kind::Mariadb => mariadb::RESERVED,
        };
        for (name, value) in &self.settings {
            let good = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
            let why = if !name.chars().all(good) || !name.starts_with(begins) {
                "is no setting's name"
            } else if reserved.contains(&plain(name).as_str()) {
                "is set by benchlab itself"
            } else if value.contains('\0') {
                "has a value with a NUL"
            } else {
                continue;
            };
            let words = format!("`{}.{name}` {why}", self.kind.name());
            return Err(ServiceError::Setting {
                kind: self.kind,
                words,
            });
        }
        Ok(())
    }
}

/// As it is compared: MariaDB takes `-` for `_`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// A server whose data directory is being made. So several can be made at once.
pub struct Starting {
    request: Request,
    installed: Installed,
    installer: Process,
    place: Place,
    lab: Address,
    subjects: Address,
}

impl Starting {
    /// Begins. The calling thread must live as long as the server: with its end the system ends the
    /// server, too.
    pub fn new(request: &Request) -> Result<Starting, ServiceError> {
        request.check()?;
        let kind = request.kind;
        let installed = installed::find(kind)?;
        let place = Place::new(kind, &request.folder)?;
        let login = |user: &str| {
            Ok::<Address, ServiceError>(Address {
                kind,
                user: user.into(),
                password: random()?,
                host: Some(Ipv4Addr::LOCALHOST.to_string()),
                port: 0,
                socket: None,
                database: SUBJECTS.into(),
            })
        };
        let (lab, subjects) = (login(LAB)?, login(SUBJECTS)?);
        let command = match kind {
            Kind::Postgresql => postgresql::install(&place, &installed.installer, &lab),
            Kind::Mariadb => mariadb::install(&place, &installed.installer),
        };
        let start = |command: Command| Process::start(command, nix::sys::signal::Signal::SIGKILL);
        let installer = command
            .and_then(start)
            .map_err(|error| ServiceError::System {
                kind,
                what: format!("{} cannot be started", installed.installer.display()),
                error,
            })?;
        Ok(Starting {
            request: request.clone(),
            installed,
            installer,
            place,
            lab,
            subjects,
        })
    }

    /// Starts the server when its data directory is made, and waits until it answers.
    pub fn finish(self) -> Result<Service, ServiceError> {
        self.finish_on(free_port)
    }

    fn finish_on(
        mut self,
        mut port: impl FnMut() -> io::Result<u16>,
    ) -> Result<Service, ServiceError> {
        self.installation()?;
        if self.kind() == Kind::Mariadb {
            let written = mariadb::furnish(&self.place, &self.lab, &self.subjects);
            written.map_err(|e| self.system("its first statements cannot be written", e))?;
        }
        let mut tried = Vec::new();
        while tried.len() < PORTS {
            let port = port().map_err(|e| self.system("no port on 127.0.0.1", e))?;
            tried.push(port);
            self.place.empty_log();
            for address in [&mut self.lab, &mut self.subjects] {
                address.port = port;
                address.socket = Some(match self.place.kind {
                    Kind::Postgresql => self.place.sockets.clone(),
                    Kind::Mariadb => self.place.socket(port),
                });
            }
            if let Some((process, tally, admin)) = self.server(port)? {
                return self.service(process, tally, admin);
            }
        }
        let kind = self.kind();
        Err(ServiceError::Port { kind, tried })
    }

    fn kind(&self) -> Kind {
        self.place.kind
    }

    /// Waits until the data directory is made.
    fn installation(&mut self) -> Result<(), ServiceError> {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.installer.ended() {
                Some(status) => break status,
                None => self.wait(deadline)?,
            }
        };
        let _ = std::fs::remove_file(self.place.folder.join("password"));
        match status.success() {
            true => Ok(()),
            false => Err(ended(
                &self.place,
                &self.request.settings,
                status.to_string(),
            )),
        }
    }

    /// Starts it and waits until it answers; `None`: the port was taken.
    fn server(
        &mut self,
        port: u16,
    ) -> Result<Option<(Process, Option<Tally>, Admin)>, ServiceError> {
        let (place, server, settings) =
            (&self.place, &self.installed.server, &self.request.settings);
        let started = match place.kind {
            Kind::Postgresql => Tally::new().and_then(|tally| {
                let command = postgresql::serve(place, server, port, settings, &tally)?;
                Ok((Process::start(command, postgresql::DEATH)?, Some(tally)))
            }),
            Kind::Mariadb => mariadb::serve(place, server, port, settings)
                .and_then(|command| Ok((Process::start(command, mariadb::DEATH)?, None))),
        };
        let what = format!("{} cannot be started", server.display());
        let (mut process, tally) = started.map_err(|e| self.system(&what, e))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let connected = match self.kind() {
                Kind::Postgresql => postgresql::connect(&self.lab),
                Kind::Mariadb => mariadb::connect(&self.place, &self.lab),
            };
            if let Ok(admin) = connected {
                return Ok(Some((process, tally, admin)));
            }
            if let Some(status) = process.ended() {
                let taken = |line: &String| line.contains("Address already in use");
                if self.place.log_lines().iter().any(taken) {
                    return Ok(None);
                }
                return Err(ended(
                    &self.place,
                    &self.request.settings,
                    status.to_string(),
                ));
            }
            self.wait(deadline)?;
        }
    }

    fn service(
        self,
        process: Process,
        tally: Option<Tally>,
        admin: Admin,
    ) -> Result<Service, ServiceError> {
        let kind = self.kind();
        // A server that adjusts a setting says so, and goes on.
        if let Some(refusal) = refused(&self.place, &self.request.settings) {
            return Err(refusal);
        }
        let mut admin = match kind {
            Kind::Postgresql => postgresql::furnish(admin, &self.lab, &self.subjects)?,
            Kind::Mariadb => admin,
        };
        abandoned::note_shared_memory(&self.place.folder);
        let place = if self.place.in_memory() {
            "in memory"
        } else {
            "on a disk"
        };
        let mut facts = vec![("server".to_owned(), "private".to_owned())];
        facts.push(("data directory".to_owned(), place.to_owned()));
        facts.extend(read_back(&mut admin, &self.request.settings)?);
        Ok(Service {
            counter: Counter::new(&mut admin, SUBJECTS)?,
            processes: Some(Processes {
                kind,
                main: process.pid(),
                tally: tally.filter(Tally::present),
                own: admin.served_by(),
            }),
            admin,
            private: Some(Private {
                process,
                settings: self.request.settings,
                place: self.place,
            }),
            address: self.subjects,
            facts,
        })
    }

    /// A little; or the reader or the clock ends the waiting.
    fn wait(&self, deadline: Instant) -> Result<(), ServiceError> {
        if (self.request.interrupted)() {
            return Err(ServiceError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(ServiceError::Silent {
                kind: self.kind(),
                seconds: PATIENCE.as_secs(),
                log: self.place.last_log(),
            });
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }

    fn system(&self, what: &str, error: io::Error) -> ServiceError {
        let kind = self.kind();
        let other = |error| ServiceError::System {
            kind,
            what: what.to_owned(),
            error,
        };
        self.place.full().unwrap_or_else(|| other(error))
    }
}

/// A database server that answers. Dropping a private one ends it and removes its data.
pub struct Service {
    address: Address,
    counter: Counter,
    admin: Admin,
    processes: Option<Processes>,
    facts: Vec<(String, String)>,
    private: Option<Private>,
}

struct Private {
    process: Process,
    settings: Vec<(String, String)>,
    place: Place,
}

impl Service {
    /// Starts a private server: [`Starting`] in one step.
    pub fn start(request: &Request) -> Result<Service, ServiceError> {
        Starting::new(request)?.finish()
    }

    /// Connects to a server that runs, by an URL of the form in [`ServiceError::Url`]; subjects connect
    /// as the same user. `settings` are read back among the facts.
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
        facts.extend(read_back(&mut admin, &[])?);
        Ok(Service {
            counter: Counter::new(&mut admin, &address.user)?,
            admin,
            processes,
            facts,
            private: None,
            address,
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
        self.private
            .as_ref()
            .is_none_or(|private| private.process.alive())
    }

    /// Why the server does not work any longer, if that can be told: it ended, or has no room.
    pub fn failure(&self) -> Option<ServiceError> {
        let private = self.private.as_ref()?;
        match private.process.alive() {
            true => private.place.full(),
            false => Some(ended(
                &private.place,
                &private.settings,
                "nobody's asking".into(),
            )),
        }
    }

    /// All of its processes now, the main one first; none if it is gone or not known to be on this
    /// machine.
    pub fn pids(&self) -> Vec<Pid> {
        self.processes
            .as_ref()
            .map(Processes::pids)
            .unwrap_or_default()
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
        self.private
            .as_ref()
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
        // Before the statements are read: a connection that is gone by then has told what it did.
        let open = self.processes.as_ref().map(Processes::children);
        let read = self.counter.read(&mut self.admin);
        let mut counters = read.map_err(|error| self.failure().unwrap_or(error))?;
        if let (Counter::Postgresql(counter), Connection::Postgresql(client)) =
            (&self.counter, self.admin.connection())
        {
            let tally = self.processes.as_ref().and_then(|p| p.tally.as_ref());
            match (tally, open) {
                (Some(tally), Some(open)) => {
                    counters.connects = Some(tally.accepted());
                    counters.open = open.len() as u64;
                }
                (_, open) => {
                    let sessions = counter.sessions(client).map_err(postgresql_words);
                    let (connects, known) = sessions.map_err(|words| self.admin.refused(words))?;
                    counters.connects = connects;
                    counters.open = open.map_or(known, |open| open.len() as u64);
                }
            }
        }
        Ok(counters)
    }

    /// The counters when no more connections are open than before, so that what closed ones did and
    /// used is charged to the batch that made them; waits for that no longer than 100 ms.
    pub fn settle(&mut self, before: &Counters) -> Result<Counters, ServiceError> {
        let deadline = Instant::now() + SETTLED;
        let mut counters = self.counters()?;
        if counters.connects == before.connects && counters.open <= before.open {
            return Ok(counters);
        }
        while counters.open > before.open && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(200));
            counters = self.counters()?;
        }
        // A connection may have gone while the others were read: MariaDB adds up first, and then counts
        // the open ones.
        self.counters()
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

/// Version and settings.
fn read_back(
    admin: &mut Admin,
    given: &[(String, String)],
) -> Result<Vec<(String, String)>, ServiceError> {
    let names = |facts: &[&str]| {
        let given = given.iter().map(|(name, _)| name.clone());
        facts
            .iter()
            .map(|&name| name.to_owned())
            .chain(given)
            .collect::<Vec<String>>()
    };
    let mut facts = vec![("version".to_owned(), admin.value("SELECT version()")?)];
    facts.extend(match admin.kind() {
        Kind::Postgresql => postgresql::settings(admin, &names(postgresql::FACTS))?,
        Kind::Mariadb => mariadb::settings(admin, &names(mariadb::FACTS))?,
    });
    Ok(facts)
}

/// Rows of a name and a value.
pub(crate) fn pairs(rows: Rows) -> Vec<(String, String)> {
    let pair = |row: Vec<Option<String>>| {
        let mut columns = row.into_iter().map(Option::unwrap_or_default);
        Some((columns.next()?, columns.next()?))
    };
    rows.into_iter().filter_map(pair).collect()
}

/// Why a program of a server ended.
fn ended(place: &Place, settings: &[(String, String)], status: String) -> ServiceError {
    let other = || ServiceError::Ended {
        kind: place.kind,
        status,
        log: place.last_log(),
    };
    place
        .full()
        .or_else(|| refused(place, settings))
        .unwrap_or_else(other)
}

/// A line of the log that complains and names a setting that was given.
fn refused(place: &Place, settings: &[(String, String)]) -> Option<ServiceError> {
    let named = |line: &String| {
        settings
            .iter()
            .any(|(name, _)| plain(line).contains(&plain(name)))
    };
    let lines = place.log_lines();
    let line = lines
        .iter()
        .find(|line| place.complains(line) && named(line))?;
    Some(ServiceError::Setting {
        kind: place.kind,
        words: line.trim().to_owned(),
    })
}

/// A port that nobody has at this moment.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// 128 bits from the system, in hexadecimal digits.
pub(crate) fn random() -> Result<String, ServiceError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| ServiceError::System {
        kind: Kind::Postgresql,
        what: "/dev/urandom".into(),
        error,
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starting(kind: Kind) -> Option<(Starting, tempfile::TempDir)> {
        let scratch = tempfile::tempdir().unwrap();
        match Starting::new(&Request::new(kind, scratch.path())) {
            Err(ServiceError::Missing(missing)) => {
                println!("left out: {missing}");
                None
            }
            begun => Some((begun.unwrap(), scratch)),
        }
    }

    #[test]
    fn a_port_that_was_taken_in_between_is_left_for_another() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = || Ok(taken.local_addr()?.port());
        for kind in Kind::ALL {
            let Some((begun, _scratch)) = starting(kind) else {
                continue;
            };
            let mut times = 0;
            let service = begun.finish_on(|| {
                times += 1;
                if times < 3 { taken() } else { free_port() }
            });
            assert!(service.unwrap().alive());
            assert_eq!(times, 3);
            let Some((begun, _scratch)) = starting(kind) else {
                continue;
            };
            let error = begun.finish_on(taken).unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, ServiceError::Port { .. }), "{message}");
            assert!(
                message.contains("no free port on 127.0.0.1, tried: ["),
                "{message}"
            );
        }
    }
}
