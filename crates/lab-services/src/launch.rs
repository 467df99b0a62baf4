// SPDX-License-Identifier: Apache-2.0
//! Starts a daemon whose data directory exists, for the first time or after the daemon was killed.

use crate::daemon::Daemon;
use crate::folder::Folder;
use crate::process::{DaemonProcess, PAUSE};
use crate::{DaemonOptions, ServiceError, Software};
use nix::sys::wait::WaitStatus;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The timeout for the installation of a daemon, and also for its start.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(180);

/// The command that starts a daemon.
pub(crate) struct Launch {
    pub request: DaemonOptions,
    pub program: PathBuf,
    pub folder: Folder,
}

impl Launch {
    pub fn software(&self) -> &'static Software {
        self.folder.software
    }

    /// Starts the daemon and waits until it responds. Returns `None` if the port was in use.
    pub fn start_and_wait<D: Daemon + ?Sized>(
        &self,
        daemon: &mut D,
        port: u16,
    ) -> Result<Option<DaemonProcess>, ServiceError> {
        let command = daemon.start(&self.folder, &self.program, port, &self.request.settings);
        let started =
            command.and_then(|command| DaemonProcess::start(command, self.software().ending));
        let operation = format!("cannot start {}", self.program.display());
        let process = started.map_err(|e| self.system(&operation, e))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if daemon.ready(&self.folder) {
                return Ok(Some(process));
            }
            if let Some(status) = process.end() {
                if self.folder.logged("Address already in use") {
                    return Ok(None);
                }
                return Err(self.exit_error(status));
            }
            self.wait(deadline)?;
        }
    }

    /// Waits briefly. Returns an error if the user stops benchlab or the deadline has passed.
    pub fn wait(&self, deadline: Instant) -> Result<(), ServiceError> {
        if (self.request.interrupted)() {
            return Err(ServiceError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(ServiceError::Silent {
                software: self.software(),
                seconds: TIMEOUT.as_secs(),
                log: self.folder.last_log(),
            });
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }

    /// Returns an error that explains the exit of one of the daemon's programs.
    pub fn exit_error(&self, status: WaitStatus) -> ServiceError {
        self.folder.exit_error(&self.request.settings, status)
    }

    /// Converts an error of the operating system. If the daemon's disk is full, returns the error
    /// for a full disk instead.
    pub fn system(&self, operation: &str, error: io::Error) -> ServiceError {
        let software = self.software();
        let system_error = |error| ServiceError::System {
            software,
            operation: operation.to_owned(),
            error,
        };
        self.folder
            .no_space_error()
            .unwrap_or_else(|| system_error(error))
    }
}
