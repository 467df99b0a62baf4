// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL 13 or later: installing and starting a private server, and administration.

mod shared_memory;
mod statements;
mod tally;

use crate::address::{self, Form, LAB, SUBJECTS, ServiceAddress};
use crate::counters::Counters;
use crate::daemon::Daemon;
use crate::database::{
    ColumnDescription, ConnectionRefusal, Database, DatabaseKind, Rows, TIMEOUT, check_version,
    error_with_sources, first_value, pairs,
};
use crate::folder::Folder;
use crate::processes::{EndedProcesses, LabConnection, Processes};
use crate::software::leading_version;
use crate::{ServiceError, Software, Transport};
use lab_host::procfs;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use postgres::error::SqlState;
use postgres::types::Type;
use postgres::{Client, SimpleQueryMessage};
use statements::Statements;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tally::SharedTally;

/// The SQL server PostgreSQL.
pub static POSTGRESQL: DatabaseKind = DatabaseKind {
    software: Software {
        name: "postgresql",
        title: "PostgreSQL",
        oldest: (13, 0),
        packages: &["postgresql"],
        programs: &["postgres"],
        installers: &["initdb"],
        own_installer: true,
        folders,
        version,
        user: "postgres",
        reserved: RESERVED,
        // Immediate shutdown: nothing is written to the disk, and the shared memory is released.
        ending: Signal::SIGQUIT,
        installer_ending: Signal::SIGTERM,
        complains,
        advises: false,
        incomplete: Some((
            "could not access file \"pg_stat_statements\"",
            "one without pg_stat_statements",
        )),
        release: shared_memory::remove,
    },
    form: Form {
        text: "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        schemes: &["postgresql", "postgres"],
        port: 5432,
        set,
        complete,
    },
    target,
    private: || Ok(Box::new(Postgresql::private()?)),
    connect: |address| Ok(Box::new(Postgresql::connect(address)?)),
};

/// The database that exists from the start. benchlab connects to this database to create the
/// subjects' database.
const FIRST_DATABASE: &str = "postgres";

/// The file with the superuser's password, which the installer reads.
const PASSWORD: &str = "password";

/// Settings that benchlab sets itself.
const RESERVED: &[&str] = &[
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

/// Settings that a run records in addition to the settings that the user gives.
const FACTS: &[&str] = &[
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

/// A PostgreSQL server and benchlab's connection to the server.
struct Postgresql {
    /// The address for benchlab.
    lab: ServiceAddress,
    /// The address for subjects.
    subjects: ServiceAddress,
    /// The CPU time of a private server's exited processes, and its number of accepted connections.
    /// `None` for an external server.
    tally: Option<Arc<SharedTally>>,
    client: Option<Client>,
    statements: Option<Statements>,
    /// The owner of new schemas, or `None` if benchlab's role owns them.
    owner: Option<&'static str>,
}

impl Postgresql {
    fn private() -> io::Result<Postgresql> {
        Ok(Postgresql {
            lab: ServiceAddress::private(&POSTGRESQL.software, LAB)?,
            subjects: ServiceAddress::private(&POSTGRESQL.software, SUBJECTS)?,
            tally: None,
            client: None,
            statements: None,
            owner: Some(SUBJECTS),
        })
    }

    /// Connects to a running server, as the subjects' user.
    fn connect(address: ServiceAddress) -> Result<Postgresql, ServiceError> {
        let mut server = Postgresql {
            lab: address.clone(),
            subjects: address,
            tally: None,
            client: None,
            statements: None,
            owner: None,
        };
        server.log_in(None)?;
        Ok(server)
    }

    /// Connects to the given database or, with `None`, to benchlab's database. Uses the Unix socket
    /// if the address contains one.
    fn log_in(&mut self, database: Option<&str>) -> Result<(), ServiceError> {
        let database = database.unwrap_or(&self.lab.database);
        let client =
            log_in(&self.lab, database).map_err(|refusal| refusal.with_address(&self.lab, ""))?;
        self.client = Some(client);
        let version = first_value(self.query("SELECT version()")?);
        check_version(&self.lab, &version, "")?;
        // Only superusers may change this setting. For other users, the marker in benchlab's
        // queries excludes these queries.
        let _ = self.run("SET pg_stat_statements.track = 'none'");
        Ok(())
    }

    fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("benchlab is connected")
    }

    fn value(&mut self, query: &str) -> Result<String, ServiceError> {
        Ok(first_value(self.query(query)?))
    }

    fn with_statements<T>(
        &mut self,
        work: impl FnOnce(&mut Statements, &mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, ServiceError> {
        let client = self.client.as_mut().expect("benchlab is connected");
        let statements = match &mut self.statements {
            Some(statements) => statements,
            empty => {
                empty.insert(Statements::new(client, &self.subjects.user).map_err(statement_error)?)
            }
        };
        work(statements, client).map_err(statement_error)
    }
}

impl Daemon for Postgresql {
    fn software(&self) -> &'static Software {
        &POSTGRESQL.software
    }

    /// Returns the installer's command. It selects UTF-8, comparison by bytes, and passwords for
    /// all users.
    fn install(&mut self, folder: &Folder, installer: &Path) -> io::Result<Command> {
        let mut command = folder.command(installer)?;
        command.arg("--pgdata").arg(folder.data());
        command.args(["--username", LAB, "--auth", "scram-sha-256", "--pwfile"]);
        command.arg(folder.write(PASSWORD, &self.lab.password)?);
        // After a failure, benchlab removes the data directory itself, because it needs the directory to find the
        // shared memory.
        command.args([
            "--no-locale",
            "--encoding",
            "UTF8",
            "--no-sync",
            "--no-clean",
        ]);
        Ok(command)
    }

    /// Removes the password file, because the installer has read it.
    fn after_install(&mut self, folder: &Folder) -> io::Result<()> {
        let _ = fs::remove_file(folder.path.join(PASSWORD));
        Ok(())
    }

    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> io::Result<Command> {
        let mut command = folder.command(program)?;
        command.arg("-D").arg(folder.data());
        let mut set = |name: &str, value: &str| {
            command.arg("-c").arg(format!("{name}={value}"));
        };
        // Without quotes, a comma would separate directories.
        let sockets = folder.sockets.display().to_string().replace('"', "\"\"");
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
        let tally = SharedTally::new()?;
        tally.preload_into(&mut command);
        self.tally = Some(Arc::new(tally));
        for address in [&mut self.lab, &mut self.subjects] {
            (address.port, address.socket) = (port, Some(folder.sockets.clone()));
        }
        Ok(command)
    }

    fn ready(&mut self, _: &Folder) -> bool {
        self.log_in(Some(FIRST_DATABASE)).is_ok()
    }

    /// Creates the subjects' role and database, and connects to the database.
    fn provision(&mut self) -> Result<(), ServiceError> {
        // Only a verifier of the password is sent to the server, so no log contains the password.
        let verifier =
            postgres_protocol::password::scram_sha_256(self.subjects.password.as_bytes());
        self.run(&format!(
            "CREATE ROLE {SUBJECTS} LOGIN PASSWORD '{verifier}'"
        ))?;
        self.run(&format!(
            "CREATE DATABASE {} OWNER {SUBJECTS}",
            self.lab.database
        ))?;
        self.log_in(None)?;
        self.run("CREATE EXTENSION pg_stat_statements")
    }

    fn after_restart(&mut self) -> Result<(), ServiceError> {
        self.statements = None;
        self.log_in(None)
    }

    fn processes(&mut self, main: Pid) -> Processes {
        Processes {
            ended_processes: self
                .tally
                .clone()
                .filter(|tally| tally.is_loaded())
                .map(|tally| tally as Arc<dyn EndedProcesses>),
            lab_connection: self.lab_connection(),
            ..Processes::new(main)
        }
    }

    fn socket(&self, port: u16) -> Option<String> {
        Some(format!(".s.PGSQL.{port}"))
    }
}

impl Database for Postgresql {
    fn kind(&self) -> &'static DatabaseKind {
        &POSTGRESQL
    }

    fn address(&self) -> &ServiceAddress {
        &self.subjects
    }

    /// Executes one or more statements.
    fn run(&mut self, statement: &str) -> Result<(), ServiceError> {
        self.client()
            .batch_execute(statement)
            .map_err(statement_error)
    }

    fn query(&mut self, query: &str) -> Result<Rows, ServiceError> {
        let messages = self.client().simple_query(query).map_err(statement_error)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let texts = rows.map(|row| {
            let columns = 0..row.len();
            columns.map(|i| row.get(i).map(str::to_owned)).collect()
        });
        Ok(texts.collect())
    }

    fn create_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        let owner = self.owner.map(|owner| format!(" AUTHORIZATION {owner}"));
        self.run(&format!(
            "CREATE SCHEMA {}{}",
            quoted(name),
            owner.unwrap_or_default()
        ))
    }

    fn drop_schema(&mut self, name: &str) -> Result<(), ServiceError> {
        self.run(&format!("DROP SCHEMA IF EXISTS {} CASCADE", quoted(name)))
    }

    fn run_in(&mut self, schema: &str, statement: &str) -> Result<(), ServiceError> {
        let role = self.owner.map(|owner| format!("SET LOCAL ROLE {owner};"));
        self.run(&format!(
            "BEGIN; SET LOCAL search_path = {}; {} {statement}; COMMIT",
            quoted(schema),
            role.unwrap_or_default()
        ))
        .inspect_err(|_| drop(self.run("ROLLBACK")))
    }

    fn use_schema(&mut self, schema: Option<&str>) -> Result<(), ServiceError> {
        match schema {
            Some(schema) => self.run(&format!("SET search_path = {}", quoted(schema))),
            None => self.run("RESET search_path"),
        }
    }

    fn describe(&mut self, statement: &str) -> Result<Vec<ColumnDescription>, ServiceError> {
        let prepared = self.client().prepare(statement).map_err(statement_error)?;
        let columns = prepared.columns().iter();
        let described = columns.map(|column| ColumnDescription {
            name: column.name().to_owned(),
            kind: kind_of(column.type_()).to_owned(),
        });
        Ok(described.collect())
    }

    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    fn checksum(&self, table: &str, columns: &[String]) -> String {
        format!(
            "SELECT count(*) || '/' || coalesce(sum(hashtextextended(ROW({})::text, 0)::numeric), 0) FROM {table}",
            columns.join(", ")
        )
    }

    fn analyze(&mut self, table: &str) -> Result<(), ServiceError> {
        self.run(&format!("VACUUM ANALYZE {table}"))
    }

    fn limit_lock_waits(&mut self, seconds: u32) -> Result<(), ServiceError> {
        self.run(&format!("SET lock_timeout = '{seconds}s'"))
    }

    fn facts(&self) -> &'static [&'static str] {
        FACTS
    }

    fn settings(&mut self, names: &[String]) -> Result<Vec<(String, String)>, ServiceError> {
        let list: Vec<String> = names
            .iter()
            .map(|name| format!("lower('{name}')"))
            .collect();
        let rows = self.query(&format!(
            "SELECT name, current_setting(name) FROM pg_settings WHERE lower(name) IN ({})",
            list.join(",")
        ))?;
        Ok(pairs(rows))
    }

    fn counters(&mut self, processes: Option<&Processes>) -> Result<Counters, ServiceError> {
        self.with_statements(|statements, client| statements.read(client, processes))
    }

    /// Clears a private server's statement statistics. Leaves the statistics of an external server
    /// unchanged.
    fn shorten_counters(&mut self) -> Result<(), ServiceError> {
        match self.tally {
            Some(_) => self.with_statements(Statements::clear),
            None => Ok(()),
        }
    }

    fn statement_totals(&mut self) -> Result<Rows, ServiceError> {
        let address = self.lab.to_string();
        let rights = |reason: String| ServiceError::Rights {
            software: &POSTGRESQL.software,
            address,
            reason,
        };
        let query = format!(
            "{} SELECT quote_ident(n.nspname) FROM pg_extension e \
             JOIN pg_namespace n ON n.oid = e.extnamespace \
             WHERE e.extname = 'pg_stat_statements'",
            statements::MARK
        );
        let home = self.value(&query)?;
        if home.is_empty() {
            return Err(rights(format!(
                "the extension pg_stat_statements is not installed in database `{}`: set shared_preload_libraries = \
                 'pg_stat_statements', restart the server, and run CREATE EXTENSION pg_stat_statements",
                self.lab.database
            )));
        }
        // The server hides statement texts from users without permission. Times are in ms. Errors
        // are not counted.
        let totals = format!(
            "{} SELECT query, calls, NULL, round(total_exec_time * 1e6)::bigint, \
             round(max_exec_time * 1e6)::bigint FROM {home}.pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND queryid IS NOT NULL AND query NOT LIKE '{}%'",
            statements::MARK,
            statements::MARK
        );
        self.query(&totals).map_err(|e| {
            rights(format!(
                "cannot read pg_stat_statements ({e}): GRANT pg_read_all_stats TO {}",
                quoted(&self.lab.user)
            ))
        })
    }

    /// Checks that the user may create schemas, and that statements are counted.
    fn check_rights(&mut self) -> Result<(), ServiceError> {
        let (user, database) = (self.lab.user.clone(), self.lab.database.clone());
        let address = self.lab.to_string();
        let rights_error = |reason: String| ServiceError::Rights {
            software: &POSTGRESQL.software,
            address: address.clone(),
            reason,
        };
        let can_create = "SELECT has_database_privilege(current_database(), 'CREATE')";
        if self.value(can_create)? != "t" {
            return Err(rights_error(format!(
                "user `{0}` may not create schemas: GRANT CREATE ON DATABASE {1} TO {0}",
                quoted(&user),
                quoted(&database)
            )));
        }
        let extensions = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'";
        if self.value(extensions)? != "1" {
            return Err(rights_error(format!(
                "the extension pg_stat_statements, which benchlab needs to verify executions, is not installed in \
                 database `{database}`: set shared_preload_libraries = 'pg_stat_statements' and \
                 pg_stat_statements.track_planning = on, restart the server, and run CREATE EXTENSION \
                 pg_stat_statements"
            )));
        }
        self.value("SELECT count(*) FROM pg_stat_statements(false)")
            .map(drop)
            .map_err(|e| {
                rights_error(format!(
                    "cannot read pg_stat_statements ({e}): set shared_preload_libraries = \
                     'pg_stat_statements' and restart the server"
                ))
            })
    }

    /// Returns the process that serves benchlab's connection.
    fn lab_connection(&mut self) -> Option<LabConnection> {
        let number = self.value("SELECT pg_backend_pid()").ok()?.parse().ok()?;
        Some(LabConnection::DaemonProcess(Pid::from_raw(number)))
    }

    fn main_process(&mut self) -> Option<i32> {
        match self.lab_connection()? {
            LabConnection::DaemonProcess(process) => procfs::parent(process).map(Pid::as_raw),
            LabConnection::Thread(_) => None,
        }
    }

    fn uptime(&mut self) -> Option<f64> {
        let query = "SELECT extract(epoch FROM now() - pg_postmaster_start_time())";
        self.value(query).ok()?.parse().ok()
    }
}

fn folders() -> Vec<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    versions
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect()
}

fn version(banner: &str) -> Option<(u32, u32)> {
    let (_, number) = banner.split_once("PostgreSQL")?;
    leading_version(number.trim_start_matches([')', ' ']))
}

fn complains(line: &str) -> bool {
    ["FATAL:", "PANIC:", "initdb: error:"]
        .iter()
        .any(|word| line.contains(word))
}

fn set(address: &mut ServiceAddress, name: &str, value: String) -> Result<bool, String> {
    match name {
        "host" if value.starts_with('/') => address.socket = Some(value.into()),
        "host" => address.host = Some(value),
        "port" => address.port = address::number(&value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn complete(address: &mut ServiceAddress) -> Result<(), String> {
    if address.database.is_empty() {
        return Err("the database is missing".into());
    }
    Ok(())
}

fn target(address: &ServiceAddress, transport: Transport, schema: &str) -> Option<String> {
    let (login, port) = (address.login(), address.port);
    let database = address::encoded(&address.database);
    let path = address::encoded(&format!("-csearch_path={schema}"));
    Some(match transport {
        Transport::Tcp => format!(
            "postgresql://{login}@{}:{port}/{database}?options={path}",
            address.url_host()?
        ),
        Transport::Unix => format!(
            "postgresql://{login}@/{database}?host={}&port={port}&options={path}",
            address.url_socket()?
        ),
    })
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn log_in(address: &ServiceAddress, database: &str) -> Result<Client, ConnectionRefusal> {
    let mut config = postgres::Config::new();
    match (&address.socket, &address.host) {
        (Some(folder), _) => config.host_path(folder),
        (None, host) => config.host(host.as_deref().unwrap_or_default()),
    };
    config
        .port(address.port)
        .user(&address.user)
        .password(&address.password)
        .dbname(database)
        .connect_timeout(TIMEOUT)
        .application_name("benchlab")
        .ssl_mode(postgres::config::SslMode::Disable);
    config.connect(postgres::NoTls).map_err(|error| {
        let login = [
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        ];
        let code = error.code().cloned();
        let message = message_of(&error);
        match code {
            None => ConnectionRefusal::Unreachable(message),
            Some(_) if message.contains("no encryption") || message.contains("SSL off") => {
                ConnectionRefusal::Tls(message)
            }
            Some(code) if login.contains(&code) => ConnectionRefusal::Login(message),
            Some(_) => ConnectionRefusal::Other(message),
        }
    })
}

/// Returns the server's error message, or the client's error with its causes.
fn message_of(error: &postgres::Error) -> String {
    let message = error.as_db_error().map(|e| match e.hint() {
        Some(hint) => format!("{}: {} ({hint})", e.severity(), e.message()),
        None => format!("{}: {}", e.severity(), e.message()),
    });
    message.unwrap_or_else(|| error_with_sources(error))
}

/// Returns the name of a type as in [`ColumnDescription::kind`].
fn kind_of(kind: &Type) -> &str {
    match *kind {
        Type::BOOL => "boolean",
        Type::INT2 | Type::INT4 | Type::INT8 => "integer",
        Type::FLOAT8 => "float",
        Type::NUMERIC => "decimal",
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => "text",
        Type::BYTEA => "bytes",
        Type::DATE => "date",
        Type::TIMESTAMP | Type::TIMESTAMPTZ => "timestamp",
        _ => kind.name(),
    }
}

fn statement_error(error: postgres::Error) -> ServiceError {
    ServiceError::Statement {
        software: &POSTGRESQL.software,
        message: message_of(&error),
    }
}
