// SPDX-License-Identifier: Apache-2.0
//! What private servers leave when the lab or they themselves are killed: processes, sockets, shared
//! memory and data. It is ended and removed, and nothing else is touched.

use crate::Kind;
use crate::place::{SHORT, SOCKETS};
use crate::process::PAUSE;
use nix::sys::signal::Signal;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The names of the shared memory that PostgreSQL made when it started.
const SHARED: &str = "shared-memory";
/// How those names begin.
const SEGMENT: &str = "PostgreSQL.";
/// Servers that were asked to end may take this long.
const PATIENCE: Duration = Duration::from_secs(6);

/// Ends the private servers that a killed lab left in its scratch folder, and removes their data. The
/// folder itself and all else in it stay. It must be sure that the lab is gone.
pub fn clear(folder: &Path) {
    let Ok(folder) = folder.canonicalize() else {
        return;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for place in entries
        .map(|entry| entry.path())
        .filter(|path| is_place(path))
    {
        clear_place(&place);
    }
}

fn is_place(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    let number = Kind::ALL
        .iter()
        .find_map(|kind| name.strip_prefix(kind.name())?.strip_prefix('-'));
    let real = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    real && number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Clears the folder of one server.
pub(crate) fn clear_place(folder: &Path) {
    note_shared_memory(folder);
    end(folder);
    remove_shared_memory(folder);
    if let Ok(sockets) = fs::read_link(folder.join(SOCKETS)) {
        let name = sockets.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with(SHORT)) {
            let _ = fs::remove_dir_all(sockets);
        }
    }
    let _ = fs::remove_dir_all(folder);
}

/// A server's process, held so that its number cannot become another's.
struct Running {
    process: OwnedFd,
    pid: i32,
}

impl Running {
    /// A process that runs a server's program in this folder; the servers work in their data directory.
    fn find(pid: i32, folder: &Path) -> Option<Running> {
        // SAFETY: a system call that takes two numbers and yields a new file or -1.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let process = i32::try_from(process).ok().filter(|&file| file >= 0)?;
        // SAFETY: it is new and nobody else's.
        let process = unsafe { OwnedFd::from_raw_fd(process) };
        let link = |name| fs::read_link(format!("/proc/{pid}/{name}")).ok();
        let program = link("exe")?;
        let program = program
            .file_name()?
            .to_str()?
            .trim_end_matches(" (deleted)");
        let server = ["postgres", "initdb", "mariadbd", "mysqld"].contains(&program);
        (server && link("cwd")?.starts_with(folder)).then_some(Running { process, pid })
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

fn running(folder: &Path) -> Vec<Running> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Running::find(pid, folder)).collect()
}

/// SIGQUIT is PostgreSQL's immediate shutdown, which gives its shared memory back.
fn end(folder: &Path) {
    let postgresql = is_of(folder, Kind::Postgresql);
    let deadline = Instant::now() + PATIENCE;
    let mut signal = if postgresql {
        Signal::SIGQUIT
    } else {
        Signal::SIGKILL
    };
    let mut asked = Vec::new();
    loop {
        let running = running(folder);
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

fn is_of(folder: &Path, kind: Kind) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(kind.name()))
}

/// Writes down which shared memory a PostgreSQL server has, in case that it cannot remove it itself.
pub(crate) fn note_shared_memory(folder: &Path) {
    let mut names: Vec<String> = noted(folder);
    for process in running(folder) {
        let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
        let paths = maps.lines().filter_map(|line| line.split_once("/dev/shm/"));
        let segments = paths
            .map(|(_, name)| name)
            .filter(|name| name.starts_with(SEGMENT));
        names.extend(segments.map(|name| name.trim_end_matches(" (deleted)").to_owned()));
    }
    names.sort();
    names.dedup();
    if !names.is_empty() {
        let _ = fs::write(folder.join(SHARED), names.join("\n"));
    }
}

fn noted(folder: &Path) -> Vec<String> {
    let names = fs::read_to_string(folder.join(SHARED)).unwrap_or_default();
    names.lines().map(str::to_owned).collect()
}

/// Nothing is left of it after an orderly end.
fn remove_shared_memory(folder: &Path) {
    for name in noted(folder) {
        let number = name
            .strip_prefix(SEGMENT)
            .and_then(|n| n.parse::<u32>().ok());
        if number.is_some() {
            let _ = fs::remove_file(PathBuf::from("/dev/shm").join(name));
        }
    }
    // Its seventh line: key and number of the System V segment (PostgreSQL, pidfile.h).
    let lock = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    let numbers = lock.lines().nth(6).unwrap_or("").split_whitespace();
    let numbers: Vec<i64> = numbers.filter_map(|number| number.parse().ok()).collect();
    if let (&[key, id], Ok(owner)) = (&numbers[..], fs::metadata(folder)) {
        remove_segment(key as i32, id as i32, owner.uid());
    }
}

/// Unless it has become another's, or is in use.
fn remove_segment(key: i32, id: i32, owner: u32) {
    // SAFETY: the structure is plain numbers, and lives through both calls.
    unsafe {
        let mut segment: libc::shmid_ds = std::mem::zeroed();
        let known = libc::shmctl(id, libc::IPC_STAT, &mut segment) == 0;
        let same = segment.shm_perm.__key == key && segment.shm_perm.uid == owner;
        if known && same && segment.shm_nattch == 0 {
            libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
        }
    }
}
