// SPDX-License-Identifier: Apache-2.0
//! MariaDB 10.6 or later: installing and starting a private server, and administration.

mod status;

use crate::address::{self, Form, LAB, SUBJECTS, ServiceAddress};
use crate::counters::Counters;
use crate::daemon::Daemon;
use crate::database::{
    ColumnDescription, ConnectionRefusal, Database, DatabaseKind, Rows, TIMEOUT, check_version,
    error_with_sources, first_value, pairs,
};
use crate::folder::Folder;
use crate::processes::{LabConnection, Processes};
use crate::software::leading_version;
use crate::{ServiceError, Software, Transport};
use mysql::Conn;
use mysql::prelude::Queryable;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use sha1::{Digest, Sha1};
use status::Status;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The SQL server MariaDB.
pub static MARIADB: DatabaseKind = DatabaseKind {
    software: Software {
        name: "mariadb",
        title: "MariaDB",
        oldest: (10, 6),
        packages: &["mariadb-server-core"],
        // benchlab also searches for MySQL's server, to report that it is not MariaDB.
        programs: &["mariadbd", "mysqld"],
        installers: &["mariadb-install-db", "mysql_install_db"],
        own_installer: false,
        folders: || {
            ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"]
                .map(PathBuf::from)
                .into()
        },
        version,
        user: "mysql",
        reserved: RESERVED,
        // The data is temporary, and the server holds no resources outside of its directory.
        ending: Signal::SIGKILL,
        installer_ending: Signal::SIGKILL,
        complains,
        advises: true,
        incomplete: None,
        release: |_| (),
    },
    form: Form {
        text: "mariadb://USER:PASSWORD@HOST:PORT/",
        schemes: &["mariadb", "mysql"],
        port: 3306,
        set,
        complete,
    },
    target,
    private: || Ok(Box::new(Mariadb::private()?)),
    connect: |address| Ok(Box::new(Mariadb::connect(address)?)),
};

/// The file with statements that the server executes before it accepts connections.
const FIRST_STATEMENTS: &str = "first-statements";

/// Other causes of a rejected login that the server's message does not mention.
const LOGIN_HINT: &str = "; MariaDB also reports this if the user must use TLS, or with \
                          require_secure_transport, but the experiment measures without TLS";

/// Settings that benchlab sets itself.
const RESERVED: &[&str] = &[
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

/// Settings that a run records in addition to the settings that the user gives.
const FACTS: &[&str] = &[
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

/// A MariaDB server and benchlab's connection to the server.
struct Mariadb {
    /// The address for benchlab.
    lab: ServiceAddress,
    /// The address for subjects.
    subjects: ServiceAddress,
    connection: Option<Conn>,
    status: Status,
    /// The number of statements sent so far, excluding the statements of the login.
    sent: u64,
    /// The owner of new schemas, or `None` if benchlab's user owns them.
    owner: Option<&'static str>,
}

impl Mariadb {
    fn new(lab: ServiceAddress, subjects: ServiceAddress, owner: Option<&'static str>) -> Mariadb {
        Mariadb {
            lab,
            subjects,
            connection: None,
            status: Status::default(),
            sent: 0,
            owner,
        }
    }

    fn private() -> io::Result<Mariadb> {
        let [lab, subjects] =
            [LAB, SUBJECTS].map(|user| ServiceAddress::private(&MARIADB.software, user));
        Ok(Mariadb::new(lab?, subjects?, Some(SUBJECTS)))
    }

    /// Connects to a running server, as the subjects' user.
    fn connect(address: ServiceAddress) -> Result<Mariadb, ServiceError> {
        let mut server = Mariadb::new(address.clone(), address, None);
        server.log_in()?;
        Ok(server)
    }

    fn log_in(&mut self) -> Result<(), ServiceError> {
        let connection =
            log_in(&self.lab).map_err(|refusal| refusal.with_address(&self.lab, LOGIN_HINT))?;
        (self.connection, self.sent) = (Some(connection), 0);
        let version = first_value(self.query("SELECT version()")?);
        check_version(&self.lab, &version, "MySQL ")
    }

    fn value(&mut self, query: &str) -> Result<String, ServiceError> {
        Ok(first_value(self.query(query)?))
    }

    /// Returns the connection, and adds 1 to the number of statements sent.
    fn connection(&mut self) -> &mut Conn {
        self.sent += 1;
        self.connection.as_mut().expect("benchlab is connected")
    }
}

impl Daemon for Mariadb {
    fn software(&self) -> &'static Software {
        &MARIADB.software
    }

    fn install(&mut self, folder: &Folder, installer: &Path) -> io::Result<Command> {
        let mut command = folder.command(installer)?;
        command.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]);
        command.args(["--skip-name-resolve", "--force"]);
        command.arg(option("datadir", folder.data()));
        // Otherwise, the installer would delete other programs' files in the shared temporary directory.
        command.arg(option("tmpdir", &folder.path));
        Ok(command)
    }

    /// Writes the statements that delete all users and create new users for benchlab and the
    /// subjects.
    fn after_install(&mut self, folder: &Folder) -> io::Result<()> {
        let create = |user: &str, host: &str, password: &str| {
            let password_hash = hash(password);
            format!("CREATE USER '{user}'@'{host}' IDENTIFIED BY PASSWORD '{password_hash}';")
        };
        let statements = [
            "DELETE FROM mysql.global_priv WHERE User IN ('', 'root');".to_owned(),
            "FLUSH PRIVILEGES;".to_owned(),
            create(LAB, "localhost", &self.lab.password),
            format!("GRANT ALL PRIVILEGES ON *.* TO '{LAB}'@'localhost' WITH GRANT OPTION;"),
            create(SUBJECTS, "%", &self.subjects.password),
        ];
        folder.write(FIRST_STATEMENTS, &(statements.join("\n") + "\n"))?;
        Ok(())
    }

    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Command> {
        let socket = folder.sockets.join("socket");
        let mut command = folder.command(program)?;
        command.arg("--no-defaults");
        command.arg(option("datadir", folder.data()));
        command.arg(option("tmpdir", &folder.path));
        command.arg(option("socket", &socket));
        command.arg(option("pid-file", folder.path.join("pid")));
        let statements = folder.path.join(FIRST_STATEMENTS);
        if statements.exists() {
            command.arg(option("init-file", statements));
        }
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
        for address in [&mut self.lab, &mut self.subjects] {
            (address.port, address.socket) = (port, Some(socket.clone()));
        }
        Ok(command)
    }

    fn ready(&mut self, folder: &Folder) -> bool {
        let is_ready = self.log_in().is_ok();
        if is_ready {
            let _ = fs::remove_file(folder.path.join(FIRST_STATEMENTS));
        }
        is_ready
    }

    fn processes(&mut self, main: Pid) -> Processes {
        Processes {
            lab_connection: self.lab_connection(),
            ..Processes::new(main)
        }
    }

    fn socket(&self, _: u16) -> Option<String> {
        Some("socket".into())
    }
}

impl Database for Mariadb {
    fn kind(&self) -> &'static DatabaseKind {
        &MARIADB
    }

    fn address(&self) -> &ServiceAddress {
        &self.subjects
    }

    fn run(&mut self, statement: &str) -> Result<(), ServiceError> {
        self.connection()
            .query_drop(statement)
            .map_err(statement_error)
    }

    fn query(&mut self, query: &str) -> Result<Rows, ServiceError> {
        let rows: Vec<mysql::Row> = self.connection().query(query).map_err(statement_error)?;
        let text = |value| match value {
            mysql::Value::NULL => None,
            mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(true)),
        };
        let texts = rows
            .into_iter()
            .map(|row| row.unwrap().into_iter().map(text).collect());
        Ok(texts.collect())
    }

    /// Creates a database, which is MariaDB's name for a schema.
    fn create_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        let schema = quoted(name);
        self.run(&format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"))?;
        let Some(owner) = self.owner else {
            return Ok(());
        };
        // In a grant, `_` and `%` are wildcards.
        let pattern = schema.replace('_', "\\_").replace('%', "\\%");
        self.run(&format!("GRANT ALL PRIVILEGES ON {pattern}.* TO {owner}"))
    }

    fn drop_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        self.run(&format!("DROP DATABASE IF EXISTS {}", quoted(name)))
    }

    fn run_in(&mut self, schema: &str, statement: &str) -> Result<(), ServiceError> {
        self.run(&format!("USE {}", quoted(schema)))?;
        self.run(statement)
    }

    fn use_schema(&mut self, schema: Option<&str>) -> Result<(), ServiceError> {
        let use_ = |schema: &str| format!("USE {}", quoted(schema));
        schema.map_or(Ok(()), |schema| self.run(&use_(schema)))
    }

    fn describe(&mut self, statement: &str) -> Result<Vec<ColumnDescription>, ServiceError> {
        // The server counts neither the preparation nor the closing of a statement as a statement
        // sent.
        let connection = self.connection.as_mut().expect("benchlab is connected");
        let prepared = connection.prep(statement).map_err(statement_error)?;
        let columns = prepared.columns();
        let described = columns.iter().map(|column| ColumnDescription {
            name: column.name_str().into_owned(),
            kind: kind_of(column),
        });
        let described = described.collect();
        connection.close(prepared).map_err(statement_error)?;
        Ok(described)
    }

    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    fn checksum(&self, table: &str, columns: &[String]) -> String {
        let texts: Vec<String> = columns
            .iter()
            .map(|name| format!("QUOTE({name})"))
            .collect();
        format!(
            "SELECT CONCAT(COUNT(*), '/', COALESCE(SUM(CRC32(CONCAT_WS(',', {}))), 0)) FROM {table}",
            if texts.is_empty() {
                "''".to_owned()
            } else {
                texts.join(", ")
            }
        )
    }

    fn analyze(&mut self, table: &str) -> Result<(), ServiceError> {
        // The statement returns rows.
        self.query(&format!("ANALYZE TABLE {table}")).map(drop)
    }

    fn limit_lock_waits(&mut self, seconds: u32) -> Result<(), ServiceError> {
        self.run(&format!("SET lock_wait_timeout = {seconds}"))
    }

    fn facts(&self) -> &'static [&'static str] {
        FACTS
    }

    fn settings(&mut self, names: &[String]) -> Result<Vec<(String, String)>, ServiceError> {
        let list: Vec<String> = names
            .iter()
            .map(|name| format!("'{}'", name.replace('-', "_")))
            .collect();
        let query = format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
            list.join(",")
        );
        Ok(pairs(self.query(&query)?))
    }

    fn counters(&mut self, _: Option<&Processes>) -> Result<Counters, ServiceError> {
        let connection = self.connection.as_mut().expect("benchlab is connected");
        self.status
            .read(connection, &mut self.sent)
            .map_err(statement_error)
    }

    fn statement_totals(&mut self) -> Result<Rows, ServiceError> {
        let (address, user) = (self.lab.to_string(), quoted(&self.lab.user));
        let rights = |reason: String| ServiceError::Rights {
            software: &MARIADB.software,
            address,
            reason,
        };
        if self.value("SELECT @@performance_schema")? != "1" {
            let reason =
                "the performance schema is off: start the server with performance_schema=ON";
            return Err(rights(reason.into()));
        }
        // Times are in picoseconds.
        let totals = "SELECT DIGEST_TEXT, COUNT_STAR, SUM_ERRORS, SUM_TIMER_WAIT DIV 1000, \
                      MAX_TIMER_WAIT DIV 1000 \
                      FROM performance_schema.events_statements_summary_by_digest \
                      WHERE DIGEST_TEXT IS NOT NULL \
                      AND DIGEST_TEXT NOT LIKE '%events_statements_summary_by_digest%'";
        self.query(totals).map_err(|e| {
            rights(format!(
                "{e}: GRANT SELECT ON performance_schema.* TO {user}"
            ))
        })
    }

    /// Checks that the user may create databases.
    fn check_rights(&mut self) -> Result<(), ServiceError> {
        let name = format!("benchlab_check_{}", std::process::id());
        let created = self.create_schema(&name);
        let _ = self.drop_schema(&name);
        created.map_err(|error| ServiceError::Rights {
            software: &MARIADB.software,
            address: self.lab.to_string(),
            reason: format!(
                "user `{0}` may not create databases ({error}): GRANT ALL ON *.* TO {0}",
                self.lab.user
            ),
        })
    }

    /// Returns the thread that serves benchlab's connection, if the server uses one thread per
    /// connection.
    fn lab_connection(&mut self) -> Option<LabConnection> {
        let query = "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID() \
                     AND @@thread_handling = 'one-thread-per-connection'";
        let number = self.value(query).ok()?.parse().ok()?;
        Some(LabConnection::Thread(Pid::from_raw(number)))
    }

    fn main_process(&mut self) -> Option<i32> {
        let rows = self.query("SELECT @@pid_file, @@datadir").ok()?;
        let [Some(file), Some(data)] = &rows.first()?[..] else {
            return None;
        };
        let number = fs::read_to_string(Path::new(data).join(file)).ok()?;
        number.trim().parse().ok()
    }

    fn uptime(&mut self) -> Option<f64> {
        let query = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
                     WHERE VARIABLE_NAME = 'Uptime'";
        self.value(query).ok()?.parse().ok()
    }
}

fn version(banner: &str) -> Option<(u32, u32)> {
    let (prefix, _) = banner.split_once("-MariaDB")?;
    leading_version(prefix.rsplit(' ').next()?)
}

/// Returns true if a line reports a failure or a rejected setting.
fn complains(line: &str) -> bool {
    let complaints = [
        "[ERROR]",
        "unknown variable",
        "Unknown suffix",
        "Error while setting",
        "ERROR: ",
    ];
    complaints.iter().any(|complaint| line.contains(complaint))
        || (line.contains("option '") && line.contains(" adjusted to "))
}

fn set(address: &mut ServiceAddress, name: &str, value: String) -> Result<bool, String> {
    match name {
        "socket" => address.socket = Some(value.into()),
        _ => return Ok(false),
    }
    Ok(true)
}

fn complete(address: &mut ServiceAddress) -> Result<(), String> {
    if address.socket.is_some() {
        // If there is a socket, the URL's host has no meaning.
        address.host = None;
    } else if address.host.as_deref() == Some("localhost") {
        // In MariaDB's own client library, `localhost` means the Unix socket.
        address.host = Some("127.0.0.1".into());
    }
    Ok(())
}

fn target(address: &ServiceAddress, transport: Transport, schema: &str) -> Option<String> {
    let (login, schema) = (address.login(), address::encoded(schema));
    Some(match transport {
        Transport::Tcp => format!(
            "mariadb://{login}@{}:{}/{schema}",
            address.url_host()?,
            address.port
        ),
        Transport::Unix => format!(
            "mariadb://{login}@localhost/{schema}?socket={}",
            address.url_socket()?
        ),
    })
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn option(name: &str, path: impl AsRef<Path>) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--{name}="));
    option.push(path.as_ref());
    option
}

/// Returns the `mysql_native_password` hash of a password, so that the password itself appears in
/// no file or log.
fn hash(password: &str) -> String {
    let digest = Sha1::digest(Sha1::digest(password));
    let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("*{}", digits.concat())
}

fn log_in(address: &ServiceAddress) -> Result<Conn, ConnectionRefusal> {
    let mut options = mysql::OptsBuilder::new()
        .user(Some(&address.user))
        .pass(Some(&address.password))
        .tcp_connect_timeout(Some(TIMEOUT))
        .prefer_socket(false);
    options = match (&address.socket, &address.host) {
        (Some(socket), _) => options.socket(socket.to_str()),
        (None, host) => options
            .ip_or_hostname(host.as_deref())
            .tcp_port(address.port),
    };
    Conn::new(options).map_err(|error| {
        let code = match &error {
            mysql::Error::MySqlError(e) => Some(e.code),
            _ => None,
        };
        let message = message_of(error);
        // MariaDB's error codes: access denied, unknown plugin, TLS required.
        match code {
            None => ConnectionRefusal::Unreachable(message),
            Some(1044 | 1045 | 1130 | 1698) => ConnectionRefusal::Login(message),
            Some(3159) => ConnectionRefusal::Tls(message),
            Some(_) => ConnectionRefusal::Other(message),
        }
    })
}

/// Returns the server's error message, or the client's error with its causes.
fn message_of(error: mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(e) => format!("{} ({})", e.message, e.code),
        other => error_with_sources(&other),
    }
}

/// The ID of the character set that marks columns of bytes.
const BINARY: u16 = 63;

/// Returns the type of a column as in [`ColumnDescription::kind`].
fn kind_of(column: &mysql::Column) -> String {
    use mysql::consts::ColumnType as Type;
    let is_bytes = column.character_set() == BINARY;
    let kind = match column.column_type() {
        Type::MYSQL_TYPE_TINY
        | Type::MYSQL_TYPE_SHORT
        | Type::MYSQL_TYPE_INT24
        | Type::MYSQL_TYPE_LONG
        | Type::MYSQL_TYPE_LONGLONG => "integer",
        Type::MYSQL_TYPE_DOUBLE => "float",
        Type::MYSQL_TYPE_DECIMAL | Type::MYSQL_TYPE_NEWDECIMAL => "decimal",
        Type::MYSQL_TYPE_VARCHAR
        | Type::MYSQL_TYPE_VAR_STRING
        | Type::MYSQL_TYPE_STRING
        | Type::MYSQL_TYPE_TINY_BLOB
        | Type::MYSQL_TYPE_MEDIUM_BLOB
        | Type::MYSQL_TYPE_LONG_BLOB
        | Type::MYSQL_TYPE_BLOB => {
            if is_bytes {
                "bytes"
            } else {
                "text"
            }
        }
        Type::MYSQL_TYPE_DATE | Type::MYSQL_TYPE_NEWDATE => "date",
        Type::MYSQL_TYPE_DATETIME
        | Type::MYSQL_TYPE_DATETIME2
        | Type::MYSQL_TYPE_TIMESTAMP
        | Type::MYSQL_TYPE_TIMESTAMP2 => "timestamp",
        other => {
            let name = format!("{other:?}");
            return name.trim_start_matches("MYSQL_TYPE_").to_ascii_lowercase();
        }
    };
    kind.to_owned()
}

fn statement_error(error: mysql::Error) -> ServiceError {
    ServiceError::Statement {
        software: &MARIADB.software,
        message: message_of(error),
    }
}

#[cfg(test)]
mod tests {
    /// The hash that `SELECT PASSWORD('secret')` returns.
    #[test]
    fn the_hash_is_the_servers() {
        assert_eq!(
            super::hash("secret"),
            "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7"
        );
    }
}
