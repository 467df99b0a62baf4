// SPDX-License-Identifier: Apache-2.0
//! What private servers leave when the lab or they themselves are killed: processes, sockets, shared
//! memory and data. It is ended and removed, and nothing else is touched.

use crate::process::PAUSE;
use crate::procfs;
use crate::{DATABASES, Software};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// The data directory, within a daemon's folder.
pub(crate) const DATA: &str = "data";
/// Leads to the folder of the sockets where it is another one.
pub(crate) const SOCKETS: &str = "sockets";
/// How the folders of sockets are named that lie elsewhere.
pub(crate) const SHORT: &str = "benchlab-s";

const MOST_ROUNDS: usize = 5;
/// Servers that were asked to end may take this long.
const PATIENCE: Duration = Duration::from_secs(6);

/// Ends the private SQL servers that a killed lab left in its scratch folder, and removes their data. The
/// folder itself and all else in it stay. It must be sure that the lab is gone.
pub fn clear(folder: &Path) {
    clear_of(&DATABASES.map(|kind| &kind.software), folder);
}

/// The same of any daemons.
pub fn clear_of(known: &[&Software], folder: &Path) {
    let Ok(folder) = folder.canonicalize() else {
        return;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if let Some(software) = software_of(known, &path) {
            clear_folder(software, &path);
        }
    }
}

/// The software whose folder it is, by its name: `postgresql-0`.
fn software_of<'s>(known: &[&'s Software], path: &Path) -> Option<&'s Software> {
    let name = path.file_name()?.to_str()?;
    let (name, number) = name.rsplit_once('-')?;
    let real = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    let software = known.iter().find(|software| software.name == name)?;
    (real && number.parse::<u32>().is_ok()).then_some(software)
}

/// Clears the folder of one daemon. What makes a data directory may start one more process meanwhile.
pub(crate) fn clear_folder(software: &Software, folder: &Path) {
    for _ in 0..MOST_ROUNDS {
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

/// A server's process, held so that its number cannot become another's.
struct Running {
    process: OwnedFd,
    pid: i32,
}

impl Running {
    /// A process that runs a server's program in this folder, or ends just now and has no program any more; the servers
    /// work in their data directory.
    fn find(software: &Software, pid: i32, folder: &Path) -> Option<Running> {
        // SAFETY: a system call that takes two numbers and yields a new file or -1.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let process = i32::try_from(process).ok().filter(|&file| file >= 0)?;
        // SAFETY: it is new and nobody else's.
        let process = unsafe { OwnedFd::from_raw_fd(process) };
        let link = |name| fs::read_link(format!("/proc/{pid}/{name}"));
        let is_own = match link("exe") {
            Ok(program) => software.runs(&program),
            Err(e) => e.kind() == io::ErrorKind::NotFound,
        };
        (is_own && link("cwd").ok()?.starts_with(folder)).then_some(Running { process, pid })
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        let (file, signal) = (self.process.as_raw_fd(), signal as i32);
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a system call that is given a file of this process and no memory.
        match unsafe { libc::syscall(libc::SYS_pidfd_send_signal, file, signal, nothing, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn running(software: &Software, folder: &Path) -> Vec<Running> {
    let pids = procfs::all().into_iter().map(Pid::as_raw);
    pids.filter_map(|pid| Running::find(software, pid, folder))
        .collect()
}

/// Ends what runs in the folder of one daemon by this signal, and what does not end in time by SIGKILL.
pub(crate) fn end(software: &Software, folder: &Path, mut signal: Signal) {
    let deadline = Instant::now() + PATIENCE;
    let mut asked = Vec::new();
    loop {
        let running = running(software, folder);
        if running.is_empty() || Instant::now() > deadline + PATIENCE {
            return;
        }
        if Instant::now() > deadline && signal != Signal::SIGKILL {
            signal = Signal::SIGKILL;
            asked.clear();
        }
        for process in running
            .iter()
            .filter(|process| !asked.contains(&process.pid))
        {
            let _ = process.send(signal);
        }
        asked.extend(running.iter().map(|process| process.pid));
        std::thread::sleep(PAUSE);
    }
}
