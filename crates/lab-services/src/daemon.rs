// SPDX-License-Identifier: Apache-2.0
//! The interface of daemons, which benchlab starts before a run and stops after it. A new daemon is one file that
//! implements [`Daemon`].

use crate::folder::Folder;
use crate::processes::Processes;
use crate::{ServiceError, Software};
use nix::unistd::Pid;
use std::io;
use std::path::Path;
use std::process::Command;

/// The installation, start and readiness check of one daemon.
pub trait Daemon: Send {
    /// The daemon's software.
    fn software(&self) -> &'static Software;

    /// Returns the command that creates the data directory. Called if one of [`Software::installers`] was found.
    fn install(&mut self, folder: &Folder, installer: &Path) -> io::Result<Command> {
        let _ = folder;
        Ok(Command::new(installer))
    }

    /// Called after the data directory was created.
    fn after_install(&mut self, folder: &Folder) -> io::Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Returns the command that starts the program, listening on a port of 127.0.0.1.
    ///
    /// The program uses its own defaults, apart from what benchlab needs and the given settings.
    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Command>;

    /// Returns true if the daemon responds. Called repeatedly until it does.
    fn ready(&mut self, folder: &Folder) -> bool;

    /// Creates the objects that users of the daemon need. Called once, when the daemon responds.
    fn provision(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Called when a daemon that was killed responds again.
    fn after_restart(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Returns the daemon's processes; `main` is the first of them.
    fn processes(&mut self, main: Pid) -> Processes {
        Processes::new(main)
    }

    /// Returns the name of the Unix socket in [`Folder::sockets`], if the daemon has one.
    fn socket(&self, port: u16) -> Option<String> {
        let _ = port;
        None
    }
}
