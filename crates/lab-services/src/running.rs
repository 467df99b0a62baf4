// SPDX-License-Identifier: Apache-2.0
//! A daemon from its first response to its exit.

use crate::daemon::Daemon;
use crate::launch::Launch;
use crate::process::DaemonProcess;
use crate::{LogTail, ServiceError};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

/// A daemon that benchlab has started and that has responded. Dropping it ends the daemon and
/// removes its data.
pub struct RunningDaemon {
    // The fields are dropped in this order: the process ends before its folder is removed.
    // `process` is the main process, or `None` after the main process was killed.
    pub(crate) process: Option<DaemonProcess>,
    pub(crate) port: u16,
    pub(crate) launch: Launch,
}

impl RunningDaemon {
    /// Returns true if the main process is running.
    pub fn is_alive(&self) -> bool {
        self.process.as_ref().is_some_and(DaemonProcess::is_alive)
    }

    /// Returns the process ID of the main process, or `None` if the process was killed.
    pub fn pid(&self) -> Option<Pid> {
        self.process.as_ref().map(DaemonProcess::pid)
    }

    /// Kills all of the daemon's processes immediately, and waits until they have exited.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
            // PostgreSQL's other processes are in their own groups, and a process that is computing
            // does not notice the exit of the main process.
            self.launch.folder.kill_processes();
        }
    }

    /// Starts the daemon again on its port, and waits until it responds.
    pub fn start_again<D: Daemon + ?Sized>(&mut self, daemon: &mut D) -> Result<(), ServiceError> {
        let process = self.launch.start_and_wait(daemon, self.port)?;
        self.process = process;
        match self.process {
            Some(_) => daemon.after_restart(),
            None => Err(ServiceError::Port {
                software: self.launch.software(),
                tried: vec![self.port],
            }),
        }
    }

    /// Returns the cause of the daemon's failure, if known: the daemon exited, or its disk is full.
    pub fn failure(&self) -> Option<ServiceError> {
        let exit_error = |status: WaitStatus| self.launch.exit_error(status);
        let status = self.process.as_ref().and_then(DaemonProcess::end);
        status
            .map(exit_error)
            .or_else(|| self.launch.folder.no_space_error())
    }

    /// Returns the last lines of the log.
    pub fn last_log(&self) -> LogTail {
        self.launch.folder.last_log()
    }

    /// Returns a description of where the data is: `in memory` or `on a disk`.
    pub(crate) fn data_storage(&self) -> &'static str {
        if self.launch.folder.in_memory() {
            "in memory"
        } else {
            "on a disk"
        }
    }
}
