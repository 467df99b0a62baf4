// SPDX-License-Identifier: Apache-2.0
//! A daemon from its first answer to its end.

use crate::daemon::Daemon;
use crate::launch::Launch;
use crate::process::DaemonProcess;
use crate::{LogTail, ServiceError};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

/// A daemon that the lab has started and that answers. Dropping it ends it and removes its data.
pub struct RunningDaemon {
    // The fields are dropped in this order: the process ends before its folder is removed.
    /// `None`: it was killed.
    pub(crate) process: Option<DaemonProcess>,
    pub(crate) port: u16,
    pub(crate) launch: Launch,
}

impl RunningDaemon {
    /// True if its main process runs.
    pub fn is_alive(&self) -> bool {
        self.process.as_ref().is_some_and(DaemonProcess::is_alive)
    }

    /// Its main process, unless it was killed.
    pub fn pid(&self) -> Option<Pid> {
        self.process.as_ref().map(DaemonProcess::pid)
    }

    /// Kills all of its processes at once, and waits for their ends.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
            // PostgreSQL's other processes are in groups of their own, and a computing one does not notice that the
            // main one is gone.
            self.launch.folder.kill_processes();
        }
    }

    /// Starts it again on its port, and waits until it answers.
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

    /// Why it does not work any more, if that is known: it ended, or its disk is full.
    pub fn failure(&self) -> Option<ServiceError> {
        let exit_error = |status: WaitStatus| self.launch.exit_error(status);
        let status = self.process.as_ref().and_then(DaemonProcess::end);
        status
            .map(exit_error)
            .or_else(|| self.launch.folder.no_space_error())
    }

    /// The last lines of its log.
    pub fn last_log(&self) -> LogTail {
        self.launch.folder.last_log()
    }

    /// `in memory` or `on a disk`: where its data are.
    pub(crate) fn data_place(&self) -> &'static str {
        if self.launch.folder.in_memory() {
            "in memory"
        } else {
            "on a disk"
        }
    }
}
