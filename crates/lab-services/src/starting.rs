// SPDX-License-Identifier: Apache-2.0
//! Starts a daemon, up to its first response.

use crate::ServiceError;
use crate::daemon::Daemon;
use crate::folder::Folder;
use crate::launch::{Launch, TIMEOUT};
use crate::process::DaemonProcess;
use crate::request::DaemonOptions;
use crate::running::RunningDaemon;
use nix::sys::wait::WaitStatus;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Instant;

/// The maximum number of ports to try.
const PORTS: usize = 5;

/// A daemon whose data directory is being created. The data directories of multiple daemons can be
/// created concurrently.
pub struct Starting<D: Daemon + ?Sized> {
    launch: Launch,
    /// The installer, or `None` if the daemon needs no data directory.
    installer: Option<DaemonProcess>,
    daemon: Box<D>,
}

impl<D: Daemon + ?Sized> Starting<D> {
    /// Starts to create a daemon's data directory. The daemon inherits the cores of the calling
    /// thread.
    ///
    /// The calling thread must live as long as the daemon. When the thread exits, the kernel ends
    /// the daemon.
    pub fn new(mut daemon: Box<D>, request: &DaemonOptions) -> Result<Starting<D>, ServiceError> {
        let software = daemon.software();
        request.check(software)?;
        let installed = software.find()?;
        let socket = daemon.socket(u16::MAX).map_or(0, |name| name.len());
        let folder = Folder::new(software, &request.folder, socket)?;
        let installer = match &installed.installer {
            None => None,
            Some(program) => {
                let command = daemon.install(&folder, program);
                let process = command
                    .and_then(|command| DaemonProcess::start(command, software.installer_ending));
                Some(process.map_err(|error| ServiceError::System {
                    software,
                    operation: format!("cannot start {}", program.display()),
                    error,
                })?)
            }
        };
        Ok(Starting {
            launch: Launch {
                request: request.clone(),
                program: installed.program,
                folder,
            },
            installer,
            daemon,
        })
    }

    /// Starts the daemon once its data directory is created, and waits until it responds.
    pub fn finish(self) -> Result<(Box<D>, RunningDaemon), ServiceError> {
        self.finish_on(free_port)
    }

    fn finish_on(
        mut self,
        mut port: impl FnMut() -> io::Result<u16>,
    ) -> Result<(Box<D>, RunningDaemon), ServiceError> {
        self.installation()?;
        let mut tried = Vec::new();
        while tried.len() < PORTS {
            let port =
                port().map_err(|e| self.launch.system("cannot get a port on 127.0.0.1", e))?;
            tried.push(port);
            self.launch.folder.empty_log();
            if let Some(process) = self.launch.start_and_wait(self.daemon.as_mut(), port)? {
                return self.running(process, port);
            }
        }
        Err(ServiceError::Port {
            software: self.launch.software(),
            tried,
        })
    }

    /// Waits until the data directory is created.
    fn installation(&mut self) -> Result<(), ServiceError> {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            let Some(installer) = &self.installer else {
                break None;
            };
            match installer.end() {
                Some(status) => break Some(status),
                None => self.launch.wait(deadline)?,
            }
        };
        let prepared = self.daemon.after_install(&self.launch.folder);
        match status {
            None | Some(WaitStatus::Exited(_, 0)) => {
                prepared.map_err(|e| self.launch.system("cannot prepare the data directory", e))
            }
            Some(status) => Err(self.launch.exit_error(status)),
        }
    }

    fn running(
        mut self,
        process: DaemonProcess,
        port: u16,
    ) -> Result<(Box<D>, RunningDaemon), ServiceError> {
        // A daemon that adjusts a setting logs this and continues.
        let settings = &self.launch.request.settings;
        if let Some(refusal) = self.launch.folder.setting_error(settings) {
            return Err(refusal);
        }
        self.daemon.provision()?;
        let running = RunningDaemon {
            process: Some(process),
            port,
            launch: self.launch,
        };
        Ok((self.daemon, running))
    }
}

/// Returns a port that is currently free.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DATABASES, Database, DatabaseKind};

    fn starting(kind: &DatabaseKind) -> Option<(Starting<dyn Database>, tempfile::TempDir)> {
        let scratch = tempfile::tempdir().unwrap();
        match Starting::new(
            (kind.private)().unwrap(),
            &DaemonOptions::new(scratch.path()),
        ) {
            Err(ServiceError::Missing(missing)) => {
                println!("skipped: {missing}");
                None
            }
            starting_service => Some((starting_service.unwrap(), scratch)),
        }
    }

    #[test]
    fn a_port_that_was_taken_in_between_is_left_for_another() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken_port = || Ok(listener.local_addr()?.port());
        for kind in DATABASES {
            let Some((starting_service, _scratch)) = starting(kind) else {
                continue;
            };
            let mut attempts = 0;
            let service = starting_service.finish_on(|| {
                attempts += 1;
                if attempts < 3 {
                    taken_port()
                } else {
                    free_port()
                }
            });
            assert!(service.unwrap().1.is_alive());
            assert_eq!(attempts, 3);
            let Some((starting_service, _scratch)) = starting(kind) else {
                continue;
            };
            let Err(error) = starting_service.finish_on(taken_port) else {
                panic!("the server found a port")
            };
            let message = error.to_string();
            assert!(matches!(error, ServiceError::Port { .. }), "{message}");
            assert!(
                message.contains("no free port on 127.0.0.1, tried: ["),
                "{message}"
            );
        }
    }
}
