// SPDX-License-Identifier: Apache-2.0
//! How a private PostgreSQL server is made and started.

use crate::address::Address;
use crate::address::{LAB, SUBJECTS};
use crate::admin::Admin;
use crate::place::Place;
use crate::tally::Tally;
use crate::{Kind, ServiceError, facts};
use nix::sys::signal::Signal;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Ends it at once; nothing is written to the disk, and its shared memory is given back.
pub(crate) const DEATH: Signal = Signal::SIGQUIT;

/// Has the installer stop when the server that it runs has done its part.
pub(crate) const INSTALLERS_DEATH: Signal = Signal::SIGTERM;

/// The lab connects to this database, which is there from the start, to make the subjects' own.
const FIRST_DATABASE: &str = "postgres";

/// The file of the superuser's password, while the data directory is made.
const PASSWORD: &str = "password";

/// Settings that the lab needs as they are.
pub(crate) const RESERVED: &[&str] = &[
    "data_directory",
    "external_pid_file",
    "hba_file",
    "listen_addresses",
    "log_destination",
    "logging_collector",
    "pg_stat_statements.track",
    "pg_stat_statements.track_planning",
    "pg_stat_statements.track_utility",
    "port",
    "shared_preload_libraries",
    "unix_socket_directories",
];

/// Settings that are read back, with those that were given.
pub(crate) const FACTS: &[&str] = &[
    "shared_buffers",
    "huge_pages",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_level",
    "max_wal_size",
    "checkpoint_timeout",
    "data_checksums",
    "autovacuum",
    "jit",
    "max_connections",
    "default_transaction_isolation",
    "password_encryption",
    "server_encoding",
    "TimeZone",
    "shared_preload_libraries",
    "pg_stat_statements.track_planning",
];

/// Makes the data directory: in UTF-8, with comparisons by bytes, and passwords for everybody.
pub(crate) fn install(place: &Place, initdb: &Path, lab: &Address) -> io::Result<Command> {
    let mut command = place.command(initdb)?;
    command.arg("--pgdata").arg(place.data());
    command.args(["--username", LAB, "--auth", "scram-sha-256", "--pwfile"]);
    command.arg(place.write(PASSWORD, &lab.password)?);
    // What is left of a failure is removed by the lab, who finds the shared memory by it.
    command.args([
        "--no-locale",
        "--encoding",
        "UTF8",
        "--no-sync",
        "--no-clean",
    ]);
    Ok(command)
}

/// The installer has read it.
pub(crate) fn forget_password(place: &Place) {
    let _ = fs::remove_file(place.folder.join(PASSWORD));
}

/// The server itself, with its own defaults but for these settings and the given ones.
pub(crate) fn serve(
    place: &Place,
    server: &Path,
    port: u16,
    settings: &[(String, String)],
    tally: &Tally,
) -> io::Result<Command> {
    let mut command = place.command(server)?;
    command.arg("-D").arg(place.data());
    let mut set = |name: &str, value: &str| {
        command.arg("-c").arg(format!("{name}={value}"));
    };
    // A comma would separate folders but for the quotes.
    let sockets = place.sockets.display().to_string().replace('"', "\"\"");
    set("unix_socket_directories", &format!("\"{sockets}\""));
    set("listen_addresses", "127.0.0.1");
    set("port", &port.to_string());
    set("max_connections", "400");
    set("timezone", "UTC");
    set("log_timezone", "UTC");
    set("shared_preload_libraries", "pg_stat_statements");
    set("pg_stat_statements.track_planning", "on");
    set("pg_stat_statements.save", "off");
    for (name, value) in settings {
        set(name, value);
    }
    tally.preload_into(&mut command);
    Ok(command)
}

/// The lab's connection, if the server answers already.
pub(crate) fn connect(lab: &Address) -> Result<Admin, ServiceError> {
    let first = Address {
        database: FIRST_DATABASE.into(),
        ..lab.clone()
    };
    Admin::connect(&first, None)
}

/// Makes the subjects' role and database; yields the lab's connection to it.
pub(crate) fn furnish(
    mut first: Admin,
    lab: &Address,
    subjects: &Address,
) -> Result<Admin, ServiceError> {
    // Only what proves the password reaches the server, and so no log.
    let secret = postgres_protocol::password::scram_sha_256(subjects.password.as_bytes());
    first.run(&format!("CREATE ROLE {SUBJECTS} LOGIN PASSWORD '{secret}'"))?;
    first.run(&format!(
        "CREATE DATABASE {} OWNER {SUBJECTS}",
        lab.database
    ))?;
    let mut admin = Admin::connect(lab, Some(SUBJECTS))?;
    admin.run("CREATE EXTENSION pg_stat_statements")?;
    Ok(admin)
}

/// Whether a line of the log says that the server could not do as it was told.
pub(crate) fn complains(line: &str) -> bool {
    ["FATAL:", "PANIC:", "initdb: error:"]
        .iter()
        .any(|word| line.contains(word))
}

/// The values of settings.
pub(crate) fn settings(
    admin: &mut Admin,
    names: &[String],
) -> Result<Vec<(String, String)>, ServiceError> {
    let list: Vec<String> = names
        .iter()
        .map(|name| format!("lower('{name}')"))
        .collect();
    let rows = admin.query(&format!(
        "SELECT name, current_setting(name) FROM pg_settings WHERE lower(name) IN ({})",
        list.join(",")
    ))?;
    Ok(facts::pairs(rows))
}

/// What its own statements are counted by, on a server that is not private.
pub(crate) fn check_rights(admin: &mut Admin, address: &Address) -> Result<(), ServiceError> {
    let refused = |why: String| ServiceError::Rights {
        kind: Kind::Postgresql,
        place: address.to_string(),
        why,
    };
    let may = "SELECT has_database_privilege(current_database(), 'CREATE')";
    if admin.value(may)? != "t" {
        return Err(refused(format!(
            "user `{0}` may not create schemas: GRANT CREATE ON DATABASE {1} TO {0}",
            admin.quoted(&address.user),
            admin.quoted(&address.database)
        )));
    }
    let there = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'";
    if admin.value(there)? != "1" {
        return Err(refused(format!(
            "the extension pg_stat_statements, by which benchlab proves what was executed, is not in \
             database `{}`: set shared_preload_libraries = 'pg_stat_statements' and \
             pg_stat_statements.track_planning = on, restart the server, and CREATE EXTENSION \
             pg_stat_statements",
            address.database
        )));
    }
    admin
        .value("SELECT count(*) FROM pg_stat_statements(false)")
        .map(drop)
        .map_err(|e| {
            refused(format!(
                "pg_stat_statements cannot be read ({e}): set shared_preload_libraries = \
             'pg_stat_statements' and restart the server"
            ))
        })
}
