// SPDX-License-Identifier: Apache-2.0
//! The processes of a server that is not the lab's, if they are on this machine.

use crate::Kind;
use crate::admin::Admin;
use crate::usage::Processes;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// A server that started so much earlier or later than the process is another one, such as one in a
/// container, whose numbers of processes are its own.
const SAME_SECONDS: f64 = 3.0;

/// The server's processes; `None`: it is not known to be on this machine.
pub(crate) fn processes(admin: &mut Admin) -> Option<Processes> {
    let kind = admin.kind();
    let main = match kind {
        Kind::Postgresql => parent(admin.served_by()?.as_raw())?,
        Kind::Mariadb => {
            let rows = admin.query("SELECT @@pid_file, @@datadir").ok()?;
            let [Some(file), Some(data)] = &rows.first()?[..] else {
                return None;
            };
            fs::read_to_string(Path::new(data).join(file))
                .ok()?
                .trim()
                .parse()
                .ok()?
        }
    };
    let up = admin.value(match kind {
        Kind::Postgresql => "SELECT extract(epoch FROM now() - pg_postmaster_start_time())",
        Kind::Mariadb => {
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Uptime'"
        }
    });
    let up: f64 = up.ok()?.parse().ok()?;
    let programs: &[&str] = match kind {
        Kind::Postgresql => &["postgres", "postmaster"],
        Kind::Mariadb => &["mariadbd", "mysqld"],
    };
    let name = fs::read_to_string(format!("/proc/{main}/comm")).ok()?;
    let same = programs.contains(&name.trim()) && (age(main)? - up).abs() < SAME_SECONDS;
    same.then_some(Processes {
        kind,
        main: Pid::from_raw(main),
        tally: None,
        own: admin.served_by(),
    })
}

fn fields(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// The fourth field of `/proc/PID/stat`.
fn parent(pid: i32) -> Option<i32> {
    fields(pid)?.get(1)?.parse().ok()
}

/// Seconds since a process started, from the 22nd field of `/proc/PID/stat` and `btime`.
fn age(pid: i32) -> Option<f64> {
    let ticks: f64 = fields(pid)?.get(19)?.parse().ok()?;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot: f64 = stat
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    let now = SystemTime::UNIX_EPOCH.elapsed().ok()?.as_secs_f64();
    Some(now - boot - ticks / crate::usage::ticks_per_second() as f64)
}
