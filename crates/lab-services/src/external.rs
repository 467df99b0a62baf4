// SPDX-License-Identifier: Apache-2.0
//! Finds the processes of an external server on this machine.

use crate::database::Database;
use crate::processes::Processes;
use lab_host::procfs;
use nix::unistd::Pid;
use std::fs;
use std::time::SystemTime;

/// The maximum difference between the start times reported by the server and by its process, in
/// seconds.
///
/// If the difference is larger, the process belongs to a different server. For example, the process
/// ID that the server reports may be valid only in the server's container.
const SAME_SECONDS: f64 = 3.0;

/// Returns the server's processes, or `None` if the server is not known to run on this machine.
pub(crate) fn processes(database: &mut dyn Database) -> Option<Processes> {
    let main = Pid::from_raw(database.main_process()?);
    let uptime = database.uptime()?;
    let name = procfs::name(main);
    let is_program = database.software().programs.contains(&name.as_str());
    let is_same = is_program && (age(main)? - uptime).abs() < SAME_SECONDS;
    is_same.then(|| Processes {
        lab_connection: database.lab_connection(),
        ..Processes::new(main)
    })
}

/// Returns the seconds since a process started, based on `btime` in `/proc/stat`.
fn age(pid: Pid) -> Option<f64> {
    let ticks = procfs::start_ticks(pid)? as f64;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let mut lines = stat.lines();
    let boot = lines.find_map(|line| line.strip_prefix("btime "))?;
    let boot: f64 = boot.parse().ok()?;
    let now = SystemTime::UNIX_EPOCH.elapsed().ok()?.as_secs_f64();
    Some(now - boot - ticks / procfs::ticks_per_second() as f64)
}
