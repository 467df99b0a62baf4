// SPDX-License-Identifier: Apache-2.0
//! The interface of daemons. benchlab starts a daemon before a run and stops it after the run. A
//! new daemon is one file that implements [`Daemon`].

use crate::folder::Folder;
use crate::processes::Processes;
use crate::{ServiceError, Software};
use nix::unistd::Pid;
use std::io;
use std::path::Path;
use std::process::Command;

/// A daemon: how to install it, start it, and check that it is ready.
pub trait Daemon: Send {
    /// Returns the daemon's software.
    fn software(&self) -> &'static Software;

    /// Returns the command that creates the data directory. Called if one of
    /// [`Software::installers`] was found.
    fn install(&mut self, folder: &Folder, installer: &Path) -> io::Result<Command> {
        let _ = folder;
        Ok(Command::new(installer))
    }

    /// Completes the data directory, after the installer has created it. Does nothing by default.
    fn after_install(&mut self, folder: &Folder) -> io::Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Returns the command that starts the program, listening on a port of 127.0.0.1.
    ///
    /// The program uses its own defaults, except for the settings that benchlab needs and the
    /// settings that the user gives.
    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Command>;

    /// Returns true if the daemon responds. Called repeatedly until it does.
    fn ready(&mut self, folder: &Folder) -> bool;

    /// Creates the objects that users of the daemon need. Called once, after the daemon has
    /// responded.
    fn provision(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Restores benchlab's connection to the daemon, once the daemon responds again after it was
    /// killed and restarted. Does nothing by default.
    fn after_restart(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Returns the daemon's processes, given its main process.
    fn processes(&mut self, main: Pid) -> Processes {
        Processes::new(main)
    }

    /// Returns the name of the Unix socket in [`Folder::sockets`], or `None` if the daemon has no
    /// socket.
    fn socket(&self, port: u16) -> Option<String> {
        let _ = port;
        None
    }
}
