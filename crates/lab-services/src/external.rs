// SPDX-License-Identifier: Apache-2.0
//! The processes of a server that is not the lab's, if they are on this machine.

use crate::database::Database;
use crate::processes::Processes;
use lab_host::procfs;
use nix::unistd::Pid;
use std::fs;
use std::time::SystemTime;

/// A server whose start differs so much from the process's is another one, such as one in a container with its own
/// process numbers.
const SAME_SECONDS: f64 = 3.0;

/// The server's processes; `None`: it is not known to be on this machine.
pub(crate) fn processes(database: &mut dyn Database) -> Option<Processes> {
    let main = Pid::from_raw(database.main_process()?);
    let uptime = database.uptime()?;
    let name = procfs::name(main);
    let is_program = database.software().programs.contains(&name.trim());
    let is_same = is_program && (age(main)? - uptime).abs() < SAME_SECONDS;
    is_same.then(|| Processes {
        lab_connection: database.lab_connection(),
        ..Processes::of(main)
    })
}

/// Seconds since a process started, with `btime` of `/proc/stat`.
fn age(pid: Pid) -> Option<f64> {
    let ticks = procfs::start_ticks(pid)? as f64;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let mut lines = stat.lines();
    let boot = lines.find_map(|line| line.strip_prefix("btime "))?;
    let boot: f64 = boot.parse().ok()?;
    let now = SystemTime::UNIX_EPOCH.elapsed().ok()?.as_secs_f64();
    Some(now - boot - ticks / procfs::ticks_per_second() as f64)
}
