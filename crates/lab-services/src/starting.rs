// SPDX-License-Identifier: Apache-2.0
//! From a request to a private server that answers.

use crate::address::{Address, LAB, SUBJECTS};
use crate::admin::Admin;
use crate::counters::Counter;
use crate::diagnosis::plain;
use crate::installed::{self, Installed};
use crate::place::Place;
use crate::process::{PAUSE, Process, described};
use crate::service::{Private, Service};
use crate::tally::Tally;
use crate::usage::Processes;
use crate::{Kind, ServiceError, facts, mariadb, postgresql};
use nix::sys::wait::WaitStatus;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Making and starting a server may take so long, each.
const PATIENCE: Duration = Duration::from_secs(60);
/// Ports that are tried.
const PORTS: usize = 5;

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
    /// server, too. The server inherits the cores that the thread may use.
    pub fn new(request: &Request) -> Result<Starting, ServiceError> {
        request.check()?;
        let kind = request.kind;
        let installed = installed::find(kind)?;
        let place = Place::new(kind, &request.folder)?;
        let begin = || {
            let (lab, subjects) = (
                Address::private(kind, LAB)?,
                Address::private(kind, SUBJECTS)?,
            );
            let (command, death) = match kind {
                Kind::Postgresql => (
                    postgresql::install(&place, &installed.installer, &lab)?,
                    postgresql::INSTALLERS_DEATH,
                ),
                Kind::Mariadb => (
                    mariadb::install(&place, &installed.installer)?,
                    mariadb::DEATH,
                ),
            };
            Ok((Process::start(command, death)?, lab, subjects))
        };
        let begun = begin().map_err(|error| ServiceError::System {
            kind,
            what: format!("{} cannot be started", installed.installer.display()),
            error,
        });
        let (installer, lab, subjects) = begun?;
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
    fn installation(&self) -> Result<(), ServiceError> {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.installer.end() {
                Some(status) => break status,
                None => self.wait(deadline)?,
            }
        };
        postgresql::forget_password(&self.place);
        match status {
            WaitStatus::Exited(_, 0) => Ok(()),
            status => Err(self.place.ended(&self.request.settings, described(status))),
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
        let (process, tally) = started.map_err(|e| self.system(&what, e))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let connected = match self.kind() {
                Kind::Postgresql => postgresql::connect(&self.lab),
                Kind::Mariadb => mariadb::connect(&self.place, &self.lab),
            };
            if let Ok(admin) = connected {
                return Ok(Some((process, tally, admin)));
            }
            if let Some(status) = process.end() {
                return match self.place.has_said("Address already in use") {
                    true => Ok(None),
                    false => Err(self.place.ended(settings, described(status))),
                };
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
        if let Some(refusal) = self.place.refused(&self.request.settings) {
            return Err(refusal);
        }
        let mut admin = match kind {
            Kind::Postgresql => postgresql::furnish(admin, &self.lab, &self.subjects)?,
            Kind::Mariadb => admin,
        };
        let place = if self.place.in_memory() {
            "in memory"
        } else {
            "on a disk"
        };
        let mut facts = vec![("server".to_owned(), "private".to_owned())];
        facts.push(("data directory".to_owned(), place.to_owned()));
        facts.extend(facts::read_back(&mut admin, &self.request.settings)?);
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

/// A port that nobody has at this moment.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
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
