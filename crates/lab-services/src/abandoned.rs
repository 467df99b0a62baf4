// SPDX-License-Identifier: Apache-2.0
//! Removes the resources that private servers leave behind if they or benchlab are killed:
//! processes, sockets, shared memory and data.

use crate::process::PAUSE;
use crate::software::Software;
use lab_host::procfs;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// The data directory within a daemon's directory.
pub(crate) const DATA: &str = "data";
/// The name of the link to a socket directory that is outside of the daemon's directory.
pub(crate) const SOCKETS: &str = "sockets";
/// The name prefix of socket directories outside of the daemon's directory.
pub(crate) const SHORT: &str = "benchlab-s";

const MAX_ROUNDS: usize = 5;
/// The timeout for servers to exit after a signal.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Ends the daemons that a killed benchlab process left in its scratch directory, and removes their
/// data.
///
/// Affects only daemons of `kinds`. The caller must make sure that the benchlab process has exited.
pub fn clear_of(kinds: &[&Software], folder: &Path) {
    let Ok(folder) = folder.canonicalize() else {
        return;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if let Some(software) = software_of(kinds, &path) {
            clear_folder(software, &path);
        }
    }
}

/// Returns the software of a daemon's directory, based on the directory's name, such as
/// `postgresql-0`.
fn software_of<'s>(kinds: &[&'s Software], path: &Path) -> Option<&'s Software> {
    let name = path.file_name()?.to_str()?;
    let (name, number) = name.rsplit_once('-')?;
    let is_folder = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    let software = kinds.iter().find(|software| software.name == name)?;
    (is_folder && number.parse::<u32>().is_ok()).then_some(software)
}

/// Ends the processes in one daemon's directory and removes the directory.
///
/// Tries multiple times, because an installer that is still running may start another process.
pub(crate) fn clear_folder(software: &Software, folder: &Path) {
    for _ in 0..MAX_ROUNDS {
        end(software, folder, software.ending);
        (software.release)(&folder.join(DATA));
        if let Ok(sockets) = fs::read_link(folder.join(SOCKETS)) {
            let name = sockets.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(SHORT)) {
                let _ = fs::remove_dir_all(sockets);
            }
        }
        let removed = fs::remove_dir_all(folder).is_ok() || !folder.exists();
        if removed && running(software, folder).is_empty() {
            return;
        }
    }
}

/// A server process. It is identified by a file descriptor, so that a signal cannot reach another
/// process that reuses the process ID.
struct AbandonedProcess {
    process: OwnedFd,
    pid: i32,
}

impl AbandonedProcess {
    /// Returns the process with the ID `pid` if it runs a program of the server and has its working
    /// directory in `folder`.
    ///
    /// A process that is exiting counts, too, although it no longer has a program.
    fn find(software: &Software, pid: i32, folder: &Path) -> Option<AbandonedProcess> {
        // SAFETY: the system call takes two numbers, and returns a new file descriptor or -1.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let process = i32::try_from(process).ok().filter(|&file| file >= 0)?;
        // SAFETY: the descriptor is new and has no other owner.
        let process = unsafe { OwnedFd::from_raw_fd(process) };
        let link = |name| fs::read_link(format!("/proc/{pid}/{name}"));
        let is_of_software = match link("exe") {
            Ok(program) => software.runs(&program),
            Err(e) => e.kind() == io::ErrorKind::NotFound,
        };
        (is_of_software && link("cwd").ok()?.starts_with(folder))
            .then_some(AbandonedProcess { process, pid })
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        let (file, signal) = (self.process.as_raw_fd(), signal as i32);
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: the system call receives an open file descriptor and accesses no memory.
        match unsafe { libc::syscall(libc::SYS_pidfd_send_signal, file, signal, nothing, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn running(software: &Software, folder: &Path) -> Vec<AbandonedProcess> {
    let pids = procfs::all().into_iter().map(Pid::as_raw);
    pids.filter_map(|pid| AbandonedProcess::find(software, pid, folder))
        .collect()
}

/// Signals the processes in a daemon's directory, and sends SIGKILL to processes that do not exit
/// in time.
pub(crate) fn end(software: &Software, folder: &Path, mut signal: Signal) {
    let deadline = Instant::now() + TIMEOUT;
    let mut signaled = Vec::new();
    loop {
        let running = running(software, folder);
        if running.is_empty() || Instant::now() > deadline + TIMEOUT {
            return;
        }
        if Instant::now() > deadline && signal != Signal::SIGKILL {
            signal = Signal::SIGKILL;
            signaled.clear();
        }
        for process in running
            .iter()
            .filter(|process| !signaled.contains(&process.pid))
        {
            let _ = process.send(signal);
        }
        signaled.extend(running.iter().map(|process| process.pid));
        std::thread::sleep(PAUSE);
    }
}
