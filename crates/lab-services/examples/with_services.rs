// SPDX-License-Identifier: Apache-2.0
//! Runs a command with private database servers: `with_services [--only KIND] COMMAND ARGUMENTS…`.
//!
//! `LAB_POSTGRESQL` and `LAB_MARIADB` contain URLs with a schema `lab_tests`. Their role may create
//! schemas and databases, see all statistics, and reset PostgreSQL's statement statistics. A
//! variable is set only if its server is requested and installed. The program exits with the
//! command's exit status.

use lab_services::{
    DATABASES, DaemonOptions, DatabaseKind, MissingSoftware, Service, ServiceError, Transport,
};
use nix::fcntl::{Flock, FlockArg};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

const SCHEMA: &str = "lab_tests";

/// The signal that asked this program to stop, or 0.
static STOP_SIGNAL: AtomicI32 = AtomicI32::new(0);

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let (only, words) = match &words[..] {
        [option] if option == "--only" => (Some(""), &[][..]),
        [option, kind, words @ ..] if option == "--only" => (kind.to_str(), words),
        words => (None, words),
    };
    let kinds: Vec<&DatabaseKind> = DATABASES
        .into_iter()
        .filter(|kind| only.is_none_or(|name| name == kind.name))
        .collect();
    let (false, Some((program, arguments))) = (kinds.is_empty(), words.split_first()) else {
        eprintln!("usage: with_services [--only postgresql|mariadb] COMMAND ARGUMENTS…");
        return ExitCode::from(2);
    };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let note = move || STOP_SIGNAL.store(signal, Ordering::Relaxed);
        // SAFETY: the handler only stores a number.
        unsafe { signal_hook::low_level::register(signal, note) }.expect("signals can be handled");
    }
    let mut command = Command::new(program);
    command.args(arguments);
    for kind in DATABASES {
        command.env_remove(variable(kind.name));
    }
    match run(&mut command, &kinds) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("with_services: {error}");
            match STOP_SIGNAL.load(Ordering::Relaxed) {
                0 => ExitCode::from(2),
                signal => ExitCode::from(128 + signal as u8),
            }
        }
    }
}

fn run(
    command: &mut Command,
    kinds: &[&'static DatabaseKind],
) -> Result<u8, Box<dyn std::error::Error>> {
    let scratch = tempfile::Builder::new().prefix("benchlab-").tempdir()?;
    let _lock = lock(scratch.path())?;
    let mut starting = Vec::new();
    for kind in kinds {
        let mut request = DaemonOptions::new(scratch.path());
        request.interrupted = || STOP_SIGNAL.load(Ordering::Relaxed) != 0;
        match Service::begin(kind, &request) {
            Err(ServiceError::Missing(missing)) => report_missing(&missing),
            starting_service => starting.push(starting_service?),
        }
    }
    let mut services = Vec::new();
    for starting_service in starting {
        let mut service = Service::finish(starting_service)?;
        service.admin().create_schema(SCHEMA)?;
        let rights = rights(service.kind().name);
        service.admin().run(rights)?;
        // The extension pg_stat_statements is in the schema `public`.
        let path = match service.kind().name {
            "postgresql" => format!("{SCHEMA},public"),
            _ => SCHEMA.into(),
        };
        let target = service
            .target(Transport::Tcp, &path)
            .expect("a private server has a port");
        command.env(variable(service.kind().name), target);
        services.push(service);
    }
    finish(command)
}

/// Marks the directory as in use, as benchlab does. If this program is killed, the next benchlab
/// process removes the directory.
fn lock(folder: &Path) -> io::Result<Flock<File>> {
    let file = File::create(folder.join("lock"))?;
    let lock = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error)?;
    fs::rename(folder.join("lock"), folder.join("in-use"))?;
    Ok(lock)
}

fn report_missing(missing: &MissingSoftware) {
    let name = variable(missing.software.name);
    eprintln!("with_services: {missing}; {name} is not set");
}

fn variable(kind: &str) -> &'static str {
    match kind {
        "postgresql" => "LAB_POSTGRESQL",
        _ => "LAB_MARIADB",
    }
}

fn rights(kind: &str) -> &'static str {
    match kind {
        "postgresql" => {
            "GRANT CREATE ON DATABASE benchlab TO benchlab; GRANT pg_read_all_stats TO benchlab; \
             GRANT EXECUTE ON FUNCTION pg_stat_statements_reset TO benchlab"
        }
        _ => "GRANT ALL PRIVILEGES ON *.* TO benchlab",
    }
}

/// Runs a command until it exits. In a terminal, Ctrl-C reaches the command directly. Forwards
/// other signals to the command.
fn finish(command: &mut Command) -> Result<u8, Box<dyn std::error::Error>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .spawn()
        .map_err(|e| format!("cannot start {name}: {e}"))?;
    loop {
        if let Some(status) = child.try_wait()? {
            let signal = || 128 + status.signal().unwrap_or(0);
            return Ok(status.code().unwrap_or_else(signal) as u8);
        }
        let signal = STOP_SIGNAL.swap(0, Ordering::Relaxed);
        if signal != 0 && signal != SIGINT {
            // SAFETY: the system call takes two numbers, and the child has not been reaped yet.
            unsafe { libc::kill(child.id() as i32, signal) };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
