// SPDX-License-Identifier: Apache-2.0
//! The interface of daemons, which benchlab starts for a run and stops after it. A new daemon is one file
//! that implements [`Daemon`].

use crate::folder::Folder;
use crate::processes::Processes;
use crate::{ServiceError, Software};
use nix::unistd::Pid;
use std::io;
use std::path::Path;
use std::process::Command;

/// How one daemon is installed, started and asked whether it answers.
pub trait Daemon: Send {
    /// The daemon's software.
    fn software(&self) -> &'static Software;

    /// The command that creates its data directory. Called where one of [`Software::installers`] was found.
    fn install(&mut self, folder: &Folder, installer: &Path) -> io::Result<Command> {
        let _ = folder;
        Ok(Command::new(installer))
    }

    /// Called once its data directory is created.
    fn after_install(&mut self, folder: &Folder) -> io::Result<()> {
        let _ = folder;
        Ok(())
    }

    /// The command that starts the program, listening on a port of 127.0.0.1, with its own defaults but for what the
    /// lab needs and the given settings.
    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Command>;

    /// True if it answers; called until it does.
    fn ready(&mut self, folder: &Folder) -> bool;

    /// Creates what its users need. Called once, when it answers.
    fn provision(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Called when a daemon that was killed answers again.
    fn after_restart(&mut self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Its processes; `main` is the first of them.
    fn processes(&mut self, main: Pid) -> Processes {
        Processes::of(main)
    }

    /// The name of its Unix socket in [`Folder::sockets`], where it has one.
    fn socket(&self, port: u16) -> Option<String> {
        let _ = port;
        None
    }
}
