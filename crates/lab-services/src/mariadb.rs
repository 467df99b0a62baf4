// SPDX-License-Identifier: Apache-2.0
//! How a private MariaDB server is made and started.

use crate::address::Address;
use crate::address::{LAB, SUBJECTS};
use crate::admin::Admin;
use crate::place::Place;
use crate::{Kind, ServiceError, facts};
use nix::sys::signal::Signal;
use sha1::{Digest, Sha1};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Nothing of its data is kept, and it holds nothing outside of its folder.
pub(crate) const DEATH: Signal = Signal::SIGKILL;

/// The statements that the server executes before it answers anybody.
const FIRST_STATEMENTS: &str = "first-statements";

/// Settings that the lab needs as they are.
pub(crate) const RESERVED: &[&str] = &[
    "basedir",
    "bind_address",
    "datadir",
    "init_file",
    "log_error",
    "pid_file",
    "port",
    "skip_grant_tables",
    "skip_networking",
    "socket",
    "tmpdir",
    "user",
];

/// Settings that are read back, with those that were given.
pub(crate) const FACTS: &[&str] = &[
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "innodb_flush_method",
    "log_bin",
    "sync_binlog",
    "autocommit",
    "tx_isolation",
    "transaction_isolation",
    "max_connections",
    "thread_handling",
    "thread_cache_size",
    "query_cache_type",
    "performance_schema",
    "character_set_server",
    "collation_server",
    "time_zone",
    "default_storage_engine",
];

/// Makes the data directory.
pub(crate) fn install(place: &Place, script: &Path) -> io::Result<Command> {
    let mut command = place.command(script)?;
    command.args([
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
    ]);
    command.args(["--skip-name-resolve", "--force"]);
    command.arg(option("datadir", place.data()));
    // It removes what others left in a common one, or are just using.
    command.arg(option("tmpdir", &place.folder));
    Ok(command)
}

/// The server itself, with its own defaults but for these settings and the given ones.
pub(crate) fn serve(
    place: &Place,
    server: &Path,
    port: u16,
    settings: &[(String, String)],
) -> io::Result<Command> {
    let mut command = place.command(server)?;
    command.arg("--no-defaults");
    command.arg(option("datadir", place.data()));
    command.arg(option("tmpdir", &place.folder));
    command.arg(option("socket", place.socket(port)));
    command.arg(option("pid-file", place.folder.join("pid")));
    command.arg(option("init-file", place.folder.join(FIRST_STATEMENTS)));
    command.arg(format!("--port={port}"));
    command.args([
        "--bind-address=127.0.0.1",
        "--skip-ssl",
        "--max-connections=400",
    ]);
    command.args([
        "--character-set-server=utf8mb4",
        "--default-time-zone=+00:00",
    ]);
    for (name, value) in settings {
        command.arg(format!("--{name}={value}"));
    }
    Ok(command)
}

fn option(name: &str, path: impl AsRef<Path>) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--{name}="));
    option.push(path.as_ref());
    option
}

/// Writes the statements that make the lab's and the subjects' users the only ones.
pub(crate) fn furnish(place: &Place, lab: &Address, subjects: &Address) -> io::Result<()> {
    let create = |user: &str, host: &str, password: &str| {
        let secret = hash(password);
        format!("CREATE USER '{user}'@'{host}' IDENTIFIED BY PASSWORD '{secret}';")
    };
    let statements = [
        "DELETE FROM mysql.global_priv WHERE User IN ('', 'root');".to_owned(),
        "FLUSH PRIVILEGES;".to_owned(),
        create(LAB, "localhost", &lab.password),
        format!("GRANT ALL PRIVILEGES ON *.* TO '{LAB}'@'localhost' WITH GRANT OPTION;"),
        create(SUBJECTS, "%", &subjects.password),
    ];
    place.write(FIRST_STATEMENTS, &(statements.join("\n") + "\n"))?;
    Ok(())
}

/// What `mysql_native_password` keeps of a password, so that it reaches neither file nor log.
fn hash(password: &str) -> String {
    let twice = Sha1::digest(Sha1::digest(password));
    let digits: Vec<String> = twice.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("*{}", digits.concat())
}

/// The lab's connection, if the server answers already.
pub(crate) fn connect(place: &Place, lab: &Address) -> Result<Admin, ServiceError> {
    let admin = Admin::connect(lab, Some(SUBJECTS))?;
    let _ = fs::remove_file(place.folder.join(FIRST_STATEMENTS));
    Ok(admin)
}

/// Whether a line of the log says that the server could not do as it was told, or would not.
pub(crate) fn complains(line: &str) -> bool {
    let sure = [
        "[ERROR]",
        "unknown variable",
        "Unknown suffix",
        "Error while setting",
        "ERROR: ",
    ];
    sure.iter().any(|words| line.contains(words))
        || (line.contains("option '") && line.contains(" adjusted to "))
}

/// The values of settings.
pub(crate) fn settings(
    admin: &mut Admin,
    names: &[String],
) -> Result<Vec<(String, String)>, ServiceError> {
    let list: Vec<String> = names
        .iter()
        .map(|name| format!("'{}'", name.replace('-', "_")))
        .collect();
    let query = format!(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
        list.join(",")
    );
    Ok(facts::pairs(admin.query(&query)?))
}

/// On a server that is not private: whether the user may make databases.
pub(crate) fn check_rights(admin: &mut Admin, address: &Address) -> Result<(), ServiceError> {
    let name = format!("benchlab_check_{}", std::process::id());
    let made = admin.create_schema(&name);
    let _ = admin.drop_schema(&name);
    made.map_err(|error| ServiceError::Rights {
        kind: Kind::Mariadb,
        place: address.to_string(),
        why: format!(
            "user `{0}` may not create databases ({error}): GRANT ALL ON *.* TO {0}",
            address.user
        ),
    })
}

#[cfg(test)]
mod tests {
    /// As `SELECT PASSWORD('secret')` prints it.
    #[test]
    fn the_hash_is_the_servers() {
        assert_eq!(
            super::hash("secret"),
            "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7"
        );
    }
}
